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
