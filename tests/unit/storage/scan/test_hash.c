/* Hashing on demand. */
#include "storage/catalog/write.h"
#include "storage/scan/scan.h"
#include "storage/text/time.h"
#include "storage/truth/damage.h"
#include "storage/truth/digests.h"
#include "tests/support/scan_root.h"

#include <criterion/criterion.h>

enum { PATIENCE_MS = 60000 };

static char *root, *state;
static struct hub_catalog *catalog;
static struct hub_truth *truth;
static struct hub_store *store;
static struct hub_digest_queue *hasher;

static char reported[1000]; /* of what is damaged, or could not be read */
static unsigned tellings;
static bool disk_fails;

static enum hub_status admit(void *user, uint32_t number, const char *path, const struct hub_stamp *stamp,
                             struct hub_error *err)
{
    return disk_fails ? hub_fail(err, HUB_IO, "the disk does not answer")
                      : hub_damage_admit(user, number, path, stamp, err);
}

static void tell(void *user, const char *id, const char *detail)
{
    (void)user;
    tellings++;
    snprintf(reported, sizeof reported, "%s|%s", id, detail);
}

static void start(bool idle)
{
    const struct hub_hasher_options options = {
        .catalog = catalog, .truth = truth, .store = store, .idle = idle, .damaged = tell, .unread = tell};
    cr_assert_eq(hub_digest_queue_start(&options, &hasher, NULL), HUB_OK);
}

static void set_up(void)
{
    root = scan_directory();
    state = scan_directory();
    *reported = '\0';
    tellings = 0;
    static struct hub_roots roots;
    const struct hub_catalog_options catalog_options = {.state = state};
    struct hub_store_options store_options = {.roots = &roots, .state = state, .admit = admit};
    hub_roots_dispose(&roots);
    cr_assert_eq(hub_roots_add(&roots, root, NULL, NULL), HUB_OK);
    cr_assert_eq(hub_catalog_open(&catalog_options, &catalog, NULL), HUB_OK);
    cr_assert_eq(hub_truth_open(&(struct hub_truth_options){.state = state}, &truth, NULL), HUB_OK);
    store_options.user = truth;
    cr_assert_eq(hub_store_open(&store_options, &store, NULL), HUB_OK);
    start(false);
}

static void tear_down(void)
{
    hub_digest_queue_stop(hasher);
    hub_store_close(store);
    hub_catalog_close(catalog);
    hub_truth_close(truth);
    scan_remove(root);
    scan_remove(state);
}

TestSuite(hash, .init = set_up, .fini = tear_down);

static struct hub_stamp stamp_of(const char *name)
{
    char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", root, name);
    cr_assert_eq(stat(path, &st), 0);
    return hub_stamp_of(&st);
}

static enum hub_status wait_for(const char *name, const struct hub_stamp *stamp, struct hub_file_digests *out)
{
    const int64_t end_ms = hub_time_mono_ms() + PATIENCE_MS;
    enum hub_status st;
    while ((st = hub_digest_find(truth, 0, name, stamp, out, NULL)) && hub_time_mono_ms() < end_ms)
        usleep(10000);
    return st;
}

static void count(void *jobs, const struct hub_scan_job *job)
{
    (void)job;
    ++*(unsigned *)jobs;
}

/* Until nothing is hashed or wanted. */
static void settle(void)
{
    const int64_t end_ms = hub_time_mono_ms() + PATIENCE_MS;
    unsigned jobs = 1;
    while (jobs) {
        cr_assert_lt(hub_time_mono_ms(), end_ms);
        usleep(10000);
        jobs = 0;
        hub_digest_queue_jobs(hasher, count, &jobs);
    }
}

Test(hash, what_is_wanted)
{
    struct hub_file_digests found;
    scan_write(root, "a/check.txt", "123456789");
    scan_write(root, "a/empty", "");
    const struct hub_stamp check = stamp_of("a/check.txt"), empty = stamp_of("a/empty");
    hub_digest_queue_want(hasher, 0, "a/empty", &empty);
    hub_digest_queue_want(hasher, 0, "a/check.txt", &check);
    hub_digest_queue_want(hasher, 0, "a/check.txt", &check);
    cr_assert_eq(wait_for("a/check.txt", &check, &found), HUB_OK);
    cr_expect_str_eq(found.sha256, "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225");
    cr_expect_str_eq(found.md5, "25f9e794323b453885f5181f1b624d0b");
    cr_expect_str_eq(found.crc32c, "e3069283");
    cr_assert_eq(wait_for("a/empty", &empty, &found), HUB_OK);
    cr_expect_str_eq(found.md5, "d41d8cd98f00b204e9800998ecf8427e");
}

Test(hash, what_cannot_be_read_is_reported_once)
{
    struct hub_file_digests found;
    char which[100];
    scan_write(root, "a/check.txt", "123456789");
    const struct hub_stamp stamp = stamp_of("a/check.txt");
    disk_fails = true;
    for (unsigned i = 0; i < 3; i++) {
        hub_digest_queue_want(hasher, 0, "a/check.txt", &stamp);
        settle();
    }
    cr_expect_eq(tellings, 1);
    cr_expect_str_eq(reported, "|a/check.txt: it could not be hashed: the disk does not answer");
    cr_expect(hub_digest_queue_unread(hasher, which, sizeof which));
    cr_expect_str_eq(which, "a/check.txt: it could not be hashed: the disk does not answer");
    disk_fails = false;
    hub_digest_queue_want(hasher, 0, "a/check.txt", &stamp);
    cr_expect_eq(wait_for("a/check.txt", &stamp, &found), HUB_OK);
    settle();
    cr_expect_not(hub_digest_queue_unread(hasher, which, sizeof which));
}

Test(hash, not_of_another_state)
{
    struct hub_file_digests found;
    scan_write(root, "a.txt", "one");
    struct hub_stamp stamp = stamp_of("a.txt");
    stamp.mtime_ns--;
    hub_digest_queue_want(hasher, 0, "a.txt", &stamp);
    settle();
    cr_expect_eq(hub_digest_find(truth, 0, "a.txt", &stamp, &found, NULL), HUB_NOT_FOUND);
    hub_digest_queue_want(hasher, 0, "nothing", &stamp);
    for (unsigned i = 0; i < 3000; i++) { /* more than fit */
        char name[32];
        snprintf(name, sizeof name, "missing-%u", i);
        hub_digest_queue_want(hasher, 0, name, &stamp);
    }
    settle();
    cr_expect_eq(hub_digest_find(truth, 0, "a.txt", &stamp, &found, NULL), HUB_NOT_FOUND);
}

Test(hash, what_nobody_asked_for_while_idle)
{
    struct hub_file_digests found;
    hub_digest_queue_stop(hasher);
    scan_write(root, "set/a.bin", "123456789");
    scan_write(root, "set/b.bin", "");
    const struct hub_dataset_file files[] = {{"a.bin", stamp_of("set/a.bin")},
                                             {"b.bin", stamp_of("set/b.bin")}};
    const struct hub_draft draft = {.id = "set",
                                    .path = "set",
                                    .format = "files",
                                    .reason = "",
                                    .status = HUB_DATASET_READY,
                                    .files = files,
                                    .file_count = 2,
                                    .revision = ""};
    cr_assert_eq(hub_catalog_publish(catalog, &draft, NULL), HUB_OK);
    cr_assert_eq(hub_catalog_flush(catalog, NULL), HUB_OK);
    start(true);
    cr_assert_eq(wait_for("set/b.bin", &files[1].stamp, &found), HUB_OK);
    cr_assert_eq(wait_for("set/a.bin", &files[0].stamp, &found), HUB_OK);
    cr_expect_str_eq(found.crc32c, "e3069283");
}

/* Until so many more files are finished, well or not; one wait may see several. */
static void wait_for_more(uint64_t *seen, unsigned files)
{
    for (const uint64_t end = *seen + files; *seen < end;)
        cr_assert(hub_digest_queue_wait(hasher, seen, hub_time_mono_ms() + PATIENCE_MS));
}

Test(hash, what_came_with_a_crc_alone)
{
    const struct hub_file_digests good = {.crc32c = "e3069283"}, bad = {.crc32c = "e3069284"};
    struct hub_file_digests found;
    scan_write(root, "set/a.bin", "123456789");
    scan_write(root, "set/b.bin", "123456789");
    const struct hub_stamp a = stamp_of("set/a.bin"), b = stamp_of("set/b.bin");
    uint64_t seen = hub_digest_queue_finished(hasher);
    cr_assert_eq(hub_digest_store(truth, 0, "gone.bin", &a, &good, NULL), HUB_OK);
    cr_assert_eq(hub_digest_store(truth, 0, "set/a.bin", &a, &good, NULL), HUB_OK);
    cr_assert_eq(hub_digest_store(truth, 0, "set/b.bin", &b, &bad, NULL), HUB_OK);
    hub_digest_queue_resume(hasher);
    wait_for_more(&seen, 3);
    cr_assert_eq(hub_digest_find(truth, 0, "set/a.bin", &a, &found, NULL), HUB_OK);
    cr_expect_str_eq(found.sha256, "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225");
    cr_expect_str_eq(found.crc32c, "e3069283");
    cr_expect_str_eq(found.md5, "");
    cr_assert_eq(hub_digest_find(truth, 0, "set/b.bin", &b, &found, NULL), HUB_OK);
    cr_expect_str_eq(found.sha256, "", "it is not what came");
    cr_expect_str_eq(found.crc32c, "e3069284");
    cr_expect_eq(hub_damage_admit(truth, 0, "set/a.bin", &a, NULL), HUB_OK);
    cr_expect_eq(hub_damage_admit(truth, 0, "set/b.bin", &b, NULL), HUB_CORRUPT);
    cr_expect(strstr(reported, "|set/b.bin: its bytes changed without a change"), "%s", reported);
    cr_expect(strstr(reported, "(CRC-32C e3069283, it was e3069284)"), "%s", reported);
    hub_digest_queue_want(hasher, 0, "set/b.bin", &b);
    wait_for_more(&seen, 1);
    cr_expect_eq(tellings, 1, "once");
    cr_expect_eq(hub_damage_each(truth, 0, NULL, NULL, NULL), 1);
}

Test(hash, what_an_earlier_start_left)
{
    const struct hub_file_digests with_crc = {.crc32c = "e3069283"};
    struct hub_file_digests found = {0};
    hub_digest_queue_stop(hasher);
    scan_write(root, "a.bin", "123456789");
    const struct hub_stamp stamp = stamp_of("a.bin");
    cr_assert_eq(hub_digest_store(truth, 0, "a.bin", &stamp, &with_crc, NULL), HUB_OK);
    start(false);
    uint64_t seen = 0;
    wait_for_more(&seen, 1);
    cr_assert_eq(hub_digest_find(truth, 0, "a.bin", &stamp, &found, NULL), HUB_OK);
    cr_expect_str_eq(found.sha256, "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225");
}
