#include "storage/transfer/spaces.h"

#include "place.h"

#include <sys/inotify.h>

TestSuite(spaces, .init = set_up, .fini = tear_down);

static const char file[] = "namespace_metadata.json";

/* The scanner takes files beside datasets for a dataset of loose files: of what appeared in a folder it may
 * see no name but this one and hidden ones. */
static unsigned seen_by_a_scanner(int watch)
{
    char events[16 * KIB] __attribute__((aligned(__alignof__(struct inotify_event))));
    unsigned count = 0;
    const ssize_t size = read(watch, events, sizeof events);
    for (ssize_t at = 0; at < size;) {
        const struct inotify_event *event = (const void *)(events + at);
        at += (ssize_t)(sizeof *event + event->len);
        if (event->name[0] == '.')
            continue;
        cr_expect_str_eq(event->name, file);
        count++;
    }
    return count;
}

Test(spaces, nothing_else_appears_beside_the_datasets)
{
    struct hub_names names = {0};
    write_file(in("D4RL/door/human-v2/data/x"), "x");
    write_file(in("from/space.json"), "{}");
    const int from = open(in("from"), O_RDONLY | O_DIRECTORY);
    const int watch = inotify_init1(IN_NONBLOCK);
    cr_assert_geq(inotify_add_watch(watch, in("D4RL"), IN_CREATE | IN_MOVED_TO), 0);
    cr_assert_geq(inotify_add_watch(watch, in("D4RL/door"), IN_CREATE | IN_MOVED_TO), 0);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(hub_space_put(&place, "D4RL/", from, "space.json", NULL), HUB_OK);
        cr_assert_eq(hub_space_put(&place, "D4RL/door/", from, "space.json", NULL), HUB_OK);
    }
    cr_expect_eq(seen_by_a_scanner(watch), 2);
    cr_expect(holds_text(in("D4RL/namespace_metadata.json"), "{}"));
    cr_expect(holds_text(in("D4RL/door/namespace_metadata.json"), "{}"));
    cr_assert_eq(hub_fs_list(AT_FDCWD, in(HUB_PRIVATE_DIR "/trash"), 10, &names, NULL), HUB_OK);
    cr_expect_eq(names.count, 0, "nothing is left");
    hub_names_dispose(&names);
    close(watch);
    close(from);
}

Test(spaces, one_that_is_there_stays)
{
    write_file(in("D4RL/namespace_metadata.json"), "theirs");
    write_file(in("from/space.json"), "{}");
    const int from = open(in("from"), O_RDONLY | O_DIRECTORY);
    cr_assert_eq(hub_space_put(&place, "D4RL/", from, "space.json", NULL), HUB_OK);
    cr_expect(holds_text(in("D4RL/namespace_metadata.json"), "theirs"));
    close(from);
}

/* ---- as Python Minari makes, changes, lists and deletes them ---- */

static enum hub_status write_space(const char *space, enum hub_space_mode mode, const char *text, bool *made)
{
    return hub_space_write(&place, space, mode, hub_view_of(text), made, NULL);
}

static enum hub_status remove_space(const char *space, size_t *left)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    const enum hub_status st = hub_space_remove(&place, space, &names, NULL);
    *left = st == HUB_EXISTS ? names.count : 0;
    return st;
}

static enum hub_status add_name(void *user, const char *space, struct hub_error *err)
{
    return hub_buf_addf(user, err, "%s ", space);
}

static void expect_names(const char *names)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf got = HUB_BUF_INIT(64 * KIB);
    cr_assert_eq(hub_spaces_each(folder, add_name, &got, NULL), HUB_OK);
    cr_expect_str_eq(got.size ? got.data : "", names);
}

Test(spaces, are_made_once_and_changed_again)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    bool made = false;
    cr_expect_eq(write_space("lab/arms", HUB_SPACE_OVER, "{}", &made), HUB_NOT_FOUND);
    cr_expect_eq(write_space("lab/arms", HUB_SPACE_NEW, "{\"description\": \"x\"}", &made), HUB_OK);
    cr_expect(made);
    cr_expect_eq(write_space("lab/arms", HUB_SPACE_NEW, "{}", &made), HUB_EXISTS);
    cr_expect(holds_text(in("lab/arms/namespace_metadata.json"), "{\"description\": \"x\"}"));
    cr_expect_eq(write_space("lab/arms", HUB_SPACE_OVER, "{\"k\": [1]}", &made), HUB_OK);
    cr_expect_not(made);
    cr_expect_eq(write_space("lab/arms", HUB_SPACE_ANY, "{\"k\": [2]}", &made), HUB_OK);
    cr_expect_eq(hub_space_read(folder, "lab/arms", &text, NULL), HUB_OK);
    cr_expect(hub_view_is(hub_buf_view(&text), "{\"k\":[2]}"));
    expect_names("lab/arms ");
    cr_expect_eq(hub_space_fill(&place, "lab", &made, NULL), HUB_OK);
    cr_expect_eq(hub_space_fill(&place, "lab/arms", &made, NULL), HUB_OK);
    cr_expect(holds_text(in("lab/namespace_metadata.json"), "{}"));
    cr_expect(holds_text(in("lab/arms/namespace_metadata.json"), "{\"k\": [2]}"));
    expect_names("lab lab/arms ");
}

Test(spaces, say_nothing_but_objects)
{
    static const char *const bad[] = {"", "[]", "\"x\"", "{", "{} {}", "{\"a\": NaN}"};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    bool made;
    for (size_t i = 0; i < HUB_COUNT(bad); i++)
        cr_expect_eq(write_space("lab", HUB_SPACE_ANY, bad[i], &made), HUB_INVALID, "%s", bad[i]);
    expect_names("");
    write_file(in("lab/namespace_metadata.json"), "[1]");
    cr_expect_eq(hub_space_read(folder, "lab", &text, NULL), HUB_CORRUPT);
    cr_expect_eq(hub_space_read(folder, "none", &text, NULL), HUB_NOT_FOUND);
}

/* A folder with "data" in it is a dataset: no namespace is in its place or in it. */
Test(spaces, are_not_datasets)
{
    bool made;
    size_t left;
    write_file(in("lab/arm-v0/data/x"), "x");
    cr_expect_eq(write_space("lab/arm-v0", HUB_SPACE_ANY, "{}", &made), HUB_EXISTS);
    cr_expect_eq(write_space("lab/arm-v0/sub", HUB_SPACE_ANY, "{}", &made), HUB_EXISTS);
    cr_expect_eq(write_space("new/data", HUB_SPACE_ANY, "{}", &made), HUB_INVALID);
    cr_expect_eq(write_space("lab", HUB_SPACE_ANY, "{}", &made), HUB_OK);
    write_file(in("lab/arm-v0/data/deep/namespace_metadata.json"), "{}");
    expect_names("lab ");
    cr_expect_eq(remove_space("lab", &left), HUB_EXISTS);
    cr_expect_eq(left, 1);
    cr_expect(holds_text(in("lab/namespace_metadata.json"), "{}"));
}

Test(spaces, are_removed_when_they_are_empty)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    bool made;
    size_t left;
    cr_assert_eq(write_space("lab/arms", HUB_SPACE_NEW, "{}", &made), HUB_OK);
    cr_expect_eq(remove_space("lab", &left), HUB_NOT_FOUND, "it has no file");
    cr_expect_eq(remove_space("none", &left), HUB_NOT_FOUND);
    cr_assert_eq(hub_space_fill(&place, "lab", &made, NULL), HUB_OK);
    cr_expect_eq(remove_space("lab", &left), HUB_EXISTS);
    cr_expect_eq(remove_space("lab/arms", &left), HUB_OK);
    cr_expect_eq(remove_space("lab", &left), HUB_OK);
    expect_names("");
    cr_assert_eq(hub_fs_list(AT_FDCWD, in(HUB_PRIVATE_DIR "/trash"), 10, &names, NULL), HUB_OK);
    cr_expect_eq(names.count, 0, "nothing is left");
}

Test(spaces, of_no_root_are_none)
{
    struct hub_error err = {0};
    cr_expect_eq(hub_spaces_each(in("none"), add_name, NULL, &err), HUB_OK);
}
