/* storage/scan/locks.c: what others hold is found, and nothing is taken where the list is complete. */
#include "storage/scan/locks.h"

#include "storage/text/time.h"
#include "tests/support/scan_root.h"

#include <criterion/criterion.h>
#include <sys/file.h>

static char *root;
static int held, asked;

static void set_up(void)
{
    char path[4096];
    root = scan_directory();
    scan_write(root, "file", "x");
    snprintf(path, sizeof path, "%s/file", root);
    held = open(path, O_RDWR | O_CLOEXEC);
    asked = open(path, O_RDONLY | O_CLOEXEC);
    cr_assert(held >= 0 && asked >= 0);
}

static void tear_down(void)
{
    close(held);
    close(asked);
    scan_remove(root);
}

TestSuite(locks, .init = set_up, .fini = tear_down);

static bool writer(void)
{
    struct hub_locks locks;
    hub_locks_read(&locks);
    const bool found = hub_locks_writer(&locks, asked);
    hub_locks_dispose(&locks);
    return found;
}

Test(locks, writers_are_found)
{
    cr_expect_not(writer());
    cr_assert_eq(flock(held, LOCK_EX | LOCK_NB), 0);
    cr_expect(writer());
    cr_assert_eq(flock(held, LOCK_SH | LOCK_NB), 0);
    cr_expect_not(writer(), "readers do not matter");
    cr_assert_eq(flock(held, LOCK_UN), 0);
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 1000, .l_len = 1};
    cr_assert_eq(fcntl(held, F_OFD_SETLK, &range), 0);
    cr_expect(writer(), "a range of it");
    cr_assert_eq(flock(held, LOCK_EX | LOCK_NB), 0, "nothing of ours is left");
}

Test(locks, a_complete_list_is_trusted)
{
    struct hub_locks none = {.complete = true}, some = {.complete = false};
    cr_assert_eq(flock(held, LOCK_EX | LOCK_NB), 0);
    cr_expect_not(hub_locks_writer(&none, asked), "so the file is not touched");
    cr_expect(hub_locks_writer(&some, asked));
}

Test(locks, the_list_names_who_holds_one)
{
    struct hub_locks locks;
    struct stat st;
    cr_assert_eq(fstat(held, &st), 0);
    cr_assert_eq(flock(held, LOCK_EX | LOCK_NB), 0);
    hub_locks_read(&locks);
    bool listed = false;
    for (size_t i = 0; i < locks.count; i++)
        listed = listed || locks.inodes[i] == st.st_ino;
    cr_expect(listed);
    hub_locks_dispose(&locks);
}

/* The kernel gives out such a list a page at a time. */
Test(locks, a_list_of_several_pages_is_read_whole)
{
    int others[200];
    for (size_t i = 0; i < HUB_COUNT(others); i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/other-%zu", root, i);
        others[i] = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        cr_assert(others[i] >= 0 && flock(others[i], LOCK_EX) == 0);
    }
    struct hub_locks locks;
    hub_locks_read(&locks);
    for (size_t i = 0; i < HUB_COUNT(others); i++) {
        struct stat st;
        bool listed = false;
        cr_assert_eq(fstat(others[i], &st), 0);
        for (size_t at = 0; at < locks.count; at++)
            listed = listed || locks.inodes[at] == st.st_ino;
        cr_expect(listed, "%zu", i);
        close(others[i]);
    }
    hub_locks_dispose(&locks);
}

/* Whether a lock is found by a list that was made so long ago, before it was taken. */
static bool is_found(int64_t age_ns, uint64_t changed_ns)
{
    struct hub_locks_recent recent = HUB_LOCKS_RECENT_INIT;
    struct hub_locks locks;
    recent.list.complete = true;
    recent.read_ns = hub_time_now_ns() - age_ns;
    hub_locks_read_recent(&recent, changed_ns, &locks);
    const bool found = hub_locks_writer(&locks, asked);
    hub_locks_dispose(&locks);
    hub_locks_recent_dispose(&recent);
    return found;
}

Test(locks, one_list_serves_many_inspections)
{
    bool shared = false;
    cr_assert_eq(flock(held, LOCK_EX | LOCK_NB), 0);
    for (int i = 0; i < 100 && !shared; i++) /* until this process was not kept waiting meanwhile */
        shared = !is_found(0, 0);
    cr_expect(shared);
    cr_expect(is_found(INT64_C(1000000000), 0), "not for long");
    cr_expect(is_found(0, (uint64_t)hub_time_now_ns() + 10000000000), "nor for files that changed since");
    cr_expect(is_found(-INT64_C(10000000000), 0), "nor one of a clock that was wrong");
}
