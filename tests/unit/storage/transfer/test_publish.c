#include "storage/transfer/publish.h"
#include "storage/transfer/record.h"
#include "storage/transfer/staging.h"

#include "place.h"

#include <sys/wait.h>

TestSuite(publish, .init = set_up, .fini = tear_down);

#define TREE "incoming/0123456789abcdef/tree"

static void make_tree(const char *text)
{
    write_file(in(HUB_PRIVATE_DIR "/" TREE "/data/x"), text);
}

static size_t in_the_trash(void)
{
    struct hub_names names = {0};
    const size_t count =
        hub_fs_list(AT_FDCWD, in(HUB_PRIVATE_DIR "/trash"), 100, &names, NULL) ? 0 : names.count;
    hub_names_dispose(&names);
    return count;
}

static bool is_there(const char *path)
{
    return access(in(path), F_OK) == 0;
}

Test(publish, a_new_one)
{
    make_tree("new");
    cr_assert_eq(hub_publish(&place, "D4RL/door/human-v2", TREE, false, false, NULL), HUB_OK);
    cr_assert(holds_text(in("D4RL/door/human-v2/data/x"), "new"));
}

Test(publish, does_not_replace_unasked)
{
    write_file(in("a-v0/data/x"), "old");
    make_tree("new");
    cr_assert_eq(hub_publish(&place, "a-v0", TREE, false, false, NULL), HUB_EXISTS);
    cr_assert(holds_text(in("a-v0/data/x"), "old"));
    cr_assert(holds_text(in(HUB_PRIVATE_DIR "/" TREE "/data/x"), "new"));
}

Test(publish, replaces)
{
    for (int pair = 0; pair < 2; pair++) {
        struct hub_error err = {0};
        write_file(in("a-v0/data/x"), "old");
        write_file(in("a-v0/data/only-in-the-old-one"), "old");
        make_tree("new");
        cr_assert_eq(hub_publish(&place, "a-v0", TREE, true, pair, &err), HUB_OK, "%s", err.detail);
        cr_assert(holds_text(in("a-v0/data/x"), "new"));
        cr_assert_neq(access(in("a-v0/data/only-in-the-old-one"), F_OK), 0, "no mixture");
        cr_assert_not(is_there(HUB_PRIVATE_DIR "/" TREE));
        cr_assert_eq(in_the_trash(), 1, "the old one stays until the next download");
        cr_assert_eq(hub_publish_recover(&place, NULL), HUB_OK);
        cr_assert_eq(in_the_trash(), 0);
    }
}

Test(publish, refuses_ids_that_leave)
{
    make_tree("new");
    cr_assert_eq(hub_publish(&place, "../x", TREE, true, false, NULL), HUB_INVALID);
    cr_assert_eq(hub_publish(&place, "/x", TREE, true, false, NULL), HUB_INVALID);
    cr_assert_eq(hub_withdraw(&place, "..", NULL, NULL), HUB_INVALID);
    cr_assert_eq(hub_withdraw(&place, HUB_PRIVATE_DIR, NULL, NULL), HUB_INVALID);
}

static void write_pair_journal(const char *id, const char *tree, const char *old)
{
    char text[2048];
    snprintf(text, sizeof text, "{\"id\":\"%s\",\"new\":\"%s\",\"old\":\"%s\"}", id, tree, old);
    write_file(in(HUB_PRIVATE_DIR "/replace/1-1.json"), text);
}

Test(publish, a_replacement_cut_between_its_renames_is_finished)
{
    write_pair_journal("a-v0", TREE, "1-1");
    write_file(in(HUB_PRIVATE_DIR "/trash/1-1/data/x"),
               "old"); /* the first rename happened, the second did not */
    make_tree("new");
    cr_assert_eq(hub_publish_recover(&place, NULL), HUB_OK);
    cr_assert(holds_text(in("a-v0/data/x"), "new"));
    cr_assert_not(is_there(HUB_PRIVATE_DIR "/replace/1-1.json"));
}

Test(publish, or_undone_when_the_new_one_is_gone)
{
    write_pair_journal("a-v0", TREE, "1-1");
    write_file(in(HUB_PRIVATE_DIR "/trash/1-1/data/x"), "old");
    cr_assert_eq(hub_publish_recover(&place, NULL), HUB_OK);
    cr_assert(holds_text(in("a-v0/data/x"), "old"));
}

Test(publish, what_is_no_dataset_is_never_replaced_or_withdrawn)
{
    write_file(in("lab/precious-v3/data/x"), "keep");
    write_file(in("a-file"), "keep");
    cr_assert_eq(symlink(in("lab"), in("a-link")), 0);
    static const char *const ids[] = {"lab", "a-file", "a-link"};
    for (size_t i = 0; i < HUB_COUNT(ids); i++) {
        struct hub_error err = {0};
        make_tree("new");
        for (int pair = 0; pair < 2; pair++)
            cr_assert_eq(hub_publish(&place, ids[i], TREE, true, pair, &err), HUB_EXISTS, "%s", ids[i]);
        cr_assert_eq(err.problem, HUB_PROBLEM_NOT_A_DATASET);
        cr_assert_eq(hub_publish_replaceable(&place, ids[i], NULL), HUB_EXISTS);
        cr_assert_eq(hub_withdraw(&place, ids[i], NULL, NULL), HUB_NOT_FOUND);
    }
    cr_assert(holds_text(in("lab/precious-v3/data/x"), "keep"));
    cr_assert(holds_text(in("a-file"), "keep"));
    cr_assert_eq(hub_publish_replaceable(&place, "lab/precious-v3", NULL), HUB_OK);
    cr_assert_eq(hub_publish_replaceable(&place, "lab/none/at-all-v3", NULL), HUB_OK);
}

/* ---- a root that others can write in ---- */

Test(publish, nothing_is_done_through_a_linked_namespace)
{
    write_file(in("outside/a-v0/data/x"), "keep");
    cr_assert_eq(symlink(in("outside"), in("lab")), 0);
    make_tree("new");
    cr_assert_eq(hub_publish(&place, "lab/a-v0", TREE, true, false, NULL), HUB_DENIED);
    cr_assert_eq(hub_publish(&place, "lab/b-v0", TREE, true, false, NULL), HUB_DENIED);
    cr_assert_eq(hub_publish(&place, "lab/c/b-v0", TREE, true, false, NULL), HUB_DENIED);
    cr_assert_eq(hub_withdraw(&place, "lab/a-v0", NULL, NULL), HUB_DENIED);
    cr_assert(holds_text(in("outside/a-v0/data/x"), "keep"));
    cr_assert_not(is_there("outside/b-v0") || is_there("outside/c"));
}

Test(publish, a_linked_trash_or_journal_folder_is_refused)
{
    static const char *const names[] = {"trash", "replace"};
    write_file(in("victim/1-1/x"), "keep");
    write_file(in("victim/1-1.json"), "{}");
    for (size_t i = 0; i < HUB_COUNT(names); i++) {
        char link[64];
        snprintf(link, sizeof link, HUB_PRIVATE_DIR "/%s", names[i]);
        cr_assert_eq(symlink(in("victim"), in(link)), 0);
        cr_assert_eq(hub_publish_recover(&place, NULL), HUB_DENIED);
        cr_assert_eq(unlink(in(link)), 0);
    }
    cr_assert(is_there("victim/1-1/x") && is_there("victim/1-1.json"));
}

Test(publish, only_names_of_our_pattern_are_removed)
{
    static const char *const kept[] = {"thesis", "1", "1-", "-1", "1-1x", "x1-1", ".1-1", "1-1.json"};
    char path[64];
    for (size_t i = 0; i < HUB_COUNT(kept); i++) {
        snprintf(path, sizeof path, HUB_PRIVATE_DIR "/trash/%s/x", kept[i]);
        write_file(in(path), "keep");
    }
    write_file(in("victim"), "keep");
    cr_assert_eq(symlink(in("victim"), in(HUB_PRIVATE_DIR "/trash/2-2")), 0);
    write_file(in(HUB_PRIVATE_DIR "/trash/1-1/x"), "go");
    cr_assert_eq(hub_publish_recover(&place, NULL), HUB_OK);
    cr_assert_eq(in_the_trash(), HUB_COUNT(kept));
    cr_assert(is_there("victim"), "a link goes, not what it leads to");
}

Test(publish, forged_journals_move_nothing)
{
    static const struct {
        const char *id, *tree, *old;
    } forged[] = {
        {"/tmp/x", TREE, "1-1"},
        {"../x", TREE, "1-1"},
        {".minari-hub", TREE, "1-1"},
        {"a-v0", "../../secret", "1-1"},
        {"a-v0", "/etc/hostname", "1-1"},
        {"a-v0", "incoming/../../secret", "1-1"},
        {"a-v0", "incoming/0123/tree/../../../secret", "1-1"},
        {"a-v0", "trash/1-1", "1-1"},
        {"a-v0", TREE, "../../secret"},
        {"a-v0", TREE, "thesis"},
        {"a-v0", TREE, ""},
    };
    write_file(in("secret/data/x"), "keep");
    for (size_t i = 0; i < HUB_COUNT(forged); i++) {
        write_file(in(HUB_PRIVATE_DIR "/trash/thesis/x"), "keep");
        make_tree("new");
        write_pair_journal(forged[i].id, forged[i].tree, forged[i].old);
        cr_assert_eq(hub_publish_recover(&place, NULL), HUB_OK);
        cr_assert_not(is_there("a-v0"), "%s %s %s", forged[i].id, forged[i].tree, forged[i].old);
        cr_assert(is_there("secret/data/x") && is_there(HUB_PRIVATE_DIR "/" TREE "/data/x") &&
                  is_there(HUB_PRIVATE_DIR "/trash/thesis/x"));
    }
}

/* Opened anew, as the next program does. */
static const char *chosen_folder(void)
{
    hub_private_close(&place);
    const enum hub_status st = hub_private_open(folder, true, &place, NULL);
    return st == HUB_OK ? strrchr(place.path, '/') + 1 : st == HUB_DENIED ? "denied" : "failed";
}

Test(publish, the_private_folder_must_be_ours_alone)
{
    char own[48];
    struct stat st;
    snprintf(own, sizeof own, HUB_PRIVATE_DIR "-%u", (unsigned)geteuid());
    cr_assert(stat(in(HUB_PRIVATE_DIR), &st) == 0 && (st.st_mode & 0777) == 0700);
    cr_assert_str_eq(chosen_folder(), HUB_PRIVATE_DIR);
    cr_assert_eq(chmod(in(HUB_PRIVATE_DIR), 0770), 0);
    cr_assert_str_eq(chosen_folder(), own, "others can write in it");
    cr_assert_eq(rmdir(in(HUB_PRIVATE_DIR)), 0);
    cr_assert_eq(mkdir(in("victim"), 0700), 0);
    cr_assert_eq(symlink(in("victim"), in(HUB_PRIVATE_DIR)), 0);
    cr_assert_str_eq(chosen_folder(), own, "it is a link");
    cr_assert_eq(chmod(in(own), 0777), 0);
    cr_assert_str_eq(chosen_folder(), own);
    cr_assert(stat(in(own), &st) == 0 && (st.st_mode & 0777) == 0700, "it is closed to others");
    cr_assert_eq(rmdir(in(own)), 0);
    cr_assert_eq(symlink(in("victim"), in(own)), 0);
    cr_assert_str_eq(chosen_folder(), "denied");
}

Test(publish, waits_for_another_process_to_be_done)
{
    int lock = -1, status = 0;
    cr_assert_eq(hub_private_lock(&place, &lock, NULL), HUB_OK);
    write_file(in(HUB_PRIVATE_DIR "/trash/1-1/x"), "being removed by its owner");
    const pid_t child = fork();
    if (child == 0) { /* with descriptors of its own, as another program has */
        struct hub_private other;
        close(lock);
        _exit(hub_private_open(folder, true, &other, NULL) || hub_publish_recover(&other, NULL));
    }
    cr_assert_eq(in_the_trash(), 1);
    close(lock);
    cr_assert(waitpid(child, &status, 0) == child && status == 0);
    cr_assert_eq(in_the_trash(), 0);
}

Test(publish, withdraws_and_tidies)
{
    write_file(in("D4RL/door/human-v2/data/x"), "x");
    write_file(in("D4RL/pen/human-v2/data/x"), "x");
    cr_assert_eq(hub_withdraw(&place, "D4RL/door/human-v2", NULL, NULL), HUB_OK);
    cr_assert_neq(access(in("D4RL/door"), F_OK), 0);
    cr_assert_eq(access(in("D4RL/pen/human-v2/data/x"), F_OK), 0);
    cr_assert_eq(hub_withdraw(&place, "D4RL/door/human-v2", NULL, NULL), HUB_NOT_FOUND);
}

Test(publish, withdraws_what_was_fetched_and_no_more)
{
    static const struct hub_file_facts files[] = {
        {.path = "b/data/x"}, {.path = "data/x"}, {.path = "data/y"}};
    const struct hub_fetched fetched = {files, HUB_COUNT(files)};
    write_file(in("lab/a-v0/" HUB_RECORD_FILE), "{}");
    write_file(in("lab/a-v0/data/x"), "x");
    write_file(in("lab/a-v0/b/data/x"), "x");
    cr_assert_eq(hub_withdraw(&place, "lab/a-v0", &fetched, NULL), HUB_OK);
    cr_assert_not(is_there("lab"), "there was nothing else");
    write_file(in("lab/a-v0/" HUB_RECORD_FILE), "{}");
    write_file(in("lab/a-v0/data/x"), "x");
    write_file(in("lab/a-v0/b/data/x"), "x");
    write_file(in("lab/a-v0/b/c-v0/" HUB_RECORD_FILE), "{}");
    write_file(in("lab/a-v0/b/c-v0/data/x"), "of another copy");
    cr_assert_eq(hub_withdraw(&place, "lab/a-v0", &fetched, NULL), HUB_OK);
    cr_assert_not(is_there("lab/a-v0/data"));
    cr_assert_not(is_there("lab/a-v0/b/data"));
    cr_assert_not(is_there("lab/a-v0/" HUB_RECORD_FILE));
    cr_assert(is_there("lab/a-v0/b/c-v0/" HUB_RECORD_FILE));
    cr_assert(holds_text(in("lab/a-v0/b/c-v0/data/x"), "of another copy"));
    cr_assert_eq(hub_withdraw(&place, "lab/a-v0/b/c-v0", &(struct hub_fetched){files + 1, 2}, NULL), HUB_OK);
    cr_assert_not(is_there("lab"));
}

Test(publish, the_record)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(1 * MIB);
    struct hub_file_facts files[] = {{.path = "data/a",
                                      .size = 7,
                                      .has_sha256 = true,
                                      .sha256 = {1, 2, 3},
                                      .modified_ns = 1700000000123456789},
                                     {.path = "data/b",
                                      .has_sha256 = true,
                                      .computed = true,
                                      .sha256 = {4, 5, 6},
                                      .other = HUB_BY_CRC32C,
                                      .sum = {9, 8, 7, 6}},
                                     {.path = "data/c", .size = 9, .has_sha256 = true, .computed = true}};
    const struct hub_remote_files plan = {
        .id = (char *)"a-v0", .revision = (char *)"r", .items = files, .count = 3};
    struct hub_record record;
    cr_assert_eq(hub_record_read(folder, &record, NULL), HUB_NOT_FOUND);
    cr_assert_eq(hub_record_write(&plan, "http://hub", &text, NULL), HUB_OK);
    write_file(in(HUB_RECORD_FILE), text.data);
    cr_assert_eq(hub_record_read(folder, &record, NULL), HUB_OK);
    cr_assert_str_eq(record.id, "a-v0");
    cr_assert_str_eq(record.remote, "http://hub");
    cr_assert_eq(record.count, 3);
    cr_assert(!record.files[0].computed && record.files[0].size == 7 && record.files[0].sha256[1] == 2);
    cr_expect_eq(record.files[0].modified_ns, 1700000000123456789);
    cr_expect(!record.files[1].computed && record.files[1].other == HUB_BY_CRC32C);
    cr_expect_arr_eq(record.files[1].sum, files[1].sum, sizeof files[1].sum);
    cr_assert(record.files[2].computed);
    hub_record_dispose(&record);
    write_file(in(HUB_RECORD_FILE), "{\"record\":1,\"files\":[{\"path\":\"../x\",\"sha256\":\"\"}]}");
    cr_assert_eq(hub_record_read(folder, &record, NULL), HUB_CORRUPT);
}
