#include "client/lib/publish.h"
#include "client/lib/record.h"
#include "client/lib/staging.h"

#include "folder.h"

#include <sys/wait.h>

TestSuite(publish, .init = make_folder, .fini = remove_folder);

static void make_tree(const char *text)
{
    write_file(in(HUB_PRIVATE_DIR "/incoming/k/tree/data/x"), text);
}

static const char *tree(void)
{
    return in(HUB_PRIVATE_DIR "/incoming/k/tree");
}

static bool trash_is_empty(void)
{
    struct hub_names names = {0};
    const bool empty =
        hub_fs_list(AT_FDCWD, in(HUB_PRIVATE_DIR "/trash"), 100, &names, NULL) || names.count == 0;
    hub_names_dispose(&names);
    return empty;
}

Test(publish, a_new_one)
{
    make_tree("new");
    cr_assert_eq(hub_publish(folder, "D4RL/door/human-v2", tree(), false, false, NULL), HUB_OK);
    cr_assert(holds_text(in("D4RL/door/human-v2/data/x"), "new"));
}

Test(publish, does_not_replace_unasked)
{
    write_file(in("a-v0/data/x"), "old");
    make_tree("new");
    cr_assert_eq(hub_publish(folder, "a-v0", tree(), false, false, NULL), HUB_EXISTS);
    cr_assert(holds_text(in("a-v0/data/x"), "old"));
    cr_assert(holds_text(in(HUB_PRIVATE_DIR "/incoming/k/tree/data/x"), "new"));
}

Test(publish, replaces)
{
    for (int pair = 0; pair < 2; pair++) {
        struct hub_error err = {0};
        write_file(in("a-v0/data/x"), "old");
        write_file(in("a-v0/data/only-in-the-old-one"), "old");
        make_tree("new");
        cr_assert_eq(hub_publish(folder, "a-v0", tree(), true, pair, &err), HUB_OK, "%s", err.detail);
        cr_assert(holds_text(in("a-v0/data/x"), "new"));
        cr_assert_neq(access(in("a-v0/data/only-in-the-old-one"), F_OK), 0, "no mixture");
        cr_assert_neq(access(tree(), F_OK), 0);
        cr_assert(trash_is_empty());
    }
}

Test(publish, refuses_ids_that_leave)
{
    make_tree("new");
    cr_assert_eq(hub_publish(folder, "../x", tree(), true, false, NULL), HUB_INVALID);
    cr_assert_eq(hub_publish(folder, "/x", tree(), true, false, NULL), HUB_INVALID);
    cr_assert_eq(hub_withdraw(folder, "..", NULL), HUB_INVALID);
    cr_assert_eq(hub_withdraw(folder, HUB_PRIVATE_DIR, NULL), HUB_INVALID);
}

/* A pid that belonged to a process which is gone. */
static int dead_pid(void)
{
    const pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    return (int)pid;
}

static void write_pair_journal(int pid)
{
    char name[128], text[2048];
    snprintf(name, sizeof name, HUB_PRIVATE_DIR "/replace/%d-1.json", pid);
    snprintf(text, sizeof text, "{\"target\":\"%s\",\"new\":\"%s\",\"old\":\"%s\"}", in("a-v0"), tree(),
             in(HUB_PRIVATE_DIR "/trash/1-1"));
    write_file(in(name), text);
}

Test(publish, a_replacement_cut_between_its_renames_is_finished)
{
    write_pair_journal(dead_pid());
    write_file(in(HUB_PRIVATE_DIR "/trash/1-1/data/x"),
               "old"); /* the first rename happened, the second did not */
    make_tree("new");
    cr_assert_eq(hub_publish_recover(folder, NULL), HUB_OK);
    cr_assert(holds_text(in("a-v0/data/x"), "new"));
}

Test(publish, or_undone_when_the_new_one_is_gone)
{
    write_pair_journal(dead_pid());
    write_file(in(HUB_PRIVATE_DIR "/trash/1-1/data/x"), "old");
    cr_assert_eq(hub_publish_recover(folder, NULL), HUB_OK);
    cr_assert(holds_text(in("a-v0/data/x"), "old"));
}

Test(publish, leaves_the_work_of_the_living_alone)
{
    char name[128];
    write_pair_journal((int)getppid());
    snprintf(name, sizeof name, HUB_PRIVATE_DIR "/trash/%d-9/x", (int)getppid());
    write_file(in(name), "being removed by its owner");
    make_tree("new");
    cr_assert_eq(hub_publish_recover(folder, NULL), HUB_OK);
    cr_assert_neq(access(in("a-v0"), F_OK), 0);
    cr_assert_eq(access(in(name), F_OK), 0);
}

Test(publish, withdraws_and_tidies)
{
    write_file(in("D4RL/door/human-v2/data/x"), "x");
    write_file(in("D4RL/pen/human-v2/data/x"), "x");
    cr_assert_eq(hub_withdraw(folder, "D4RL/door/human-v2", NULL), HUB_OK);
    cr_assert_neq(access(in("D4RL/door"), F_OK), 0);
    cr_assert_eq(access(in("D4RL/pen/human-v2/data/x"), F_OK), 0);
    cr_assert_eq(hub_withdraw(folder, "D4RL/door/human-v2", NULL), HUB_NOT_FOUND);
}

Test(publish, the_record)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(1 * MIB);
    struct hub_remote_file files[] = {{.path = (char *)"data/a", .size = 7, .has_sha256 = true},
                                      {.path = (char *)"data/b", .size = 9}};
    const struct hub_remote_files plan = {
        .id = (char *)"a-v0", .revision = (char *)"r", .items = files, .count = 2};
    const uint8_t sums[2][HUB_SHA256_BYTES] = {{1, 2, 3}, {4, 5, 6}};
    struct hub_record record;
    cr_assert_eq(hub_record_read(folder, &record, NULL), HUB_NOT_FOUND);
    cr_assert_eq(hub_record_write(&plan, "http://hub", sums, &text, NULL), HUB_OK);
    write_file(in(HUB_RECORD_FILE), text.data);
    cr_assert_eq(hub_record_read(folder, &record, NULL), HUB_OK);
    cr_assert_str_eq(record.id, "a-v0");
    cr_assert_str_eq(record.remote, "http://hub");
    cr_assert_eq(record.count, 2);
    cr_assert(record.files[0].from_hub && record.files[0].size == 7 && record.files[0].sha256[1] == 2);
    cr_assert_not(record.files[1].from_hub);
    hub_record_dispose(&record);
    write_file(in(HUB_RECORD_FILE), "{\"record\":1,\"files\":[{\"path\":\"../x\",\"sha256\":\"\"}]}");
    cr_assert_eq(hub_record_read(folder, &record, NULL), HUB_CORRUPT);
}
