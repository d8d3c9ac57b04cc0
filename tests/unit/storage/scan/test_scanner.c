/* The scanner with the real inspector over temporary roots: what is listed, what is inspected again, what
 * waits. */
#include "storage/catalog/schema.h"
#include "storage/catalog/write.h"
#include "storage/read/read.h"
#include "storage/scan/scan.h"
#include "storage/sqlite/db.h"
#include "storage/text/time.h"
#include "tests/support/scan_root.h"
#include "tests/support/see_episode.h"
#include "tests/support/snapshot.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/file.h>

enum { PATIENCE_MS = 60000 };

struct hub {
    struct hub_catalog *catalog;
    struct hub_truth *truth;
    struct hub_store *store;
    struct hub_inspector *inspector;
    struct hub_scanner *scanner;
};

static char *root, *state;
static struct hub hub;

static void start(unsigned settle_ms, bool watch)
{
    struct hub_error err = {0};
    static struct hub_roots roots;
    hub_roots_dispose(&roots);
    cr_assert_eq(hub_roots_add(&roots, root, NULL, NULL), HUB_OK);
    const struct hub_catalog_options catalog = {.state = state};
    const struct hub_store_options store = {.roots = &roots, .state = state};
    const struct hub_truth_options known = {.state = state};
    cr_assert_eq(hub_truth_open(&known, &hub.truth, &err), HUB_OK, "%s", err.detail);
    cr_assert_eq(hub_catalog_open(&catalog, &hub.catalog, &err), HUB_OK, "%s", err.detail);
    cr_assert_eq(hub_store_open(&store, &hub.store, &err), HUB_OK, "%s", err.detail);
    hub.inspector = scan_inspector();
    const struct hub_scanner_options options = {.catalog = hub.catalog,
                                                .truth = hub.truth,
                                                .store = hub.store,
                                                .inspector = hub.inspector,
                                                .roots = &roots,
                                                .state = state,
                                                .settle_ms = settle_ms,
                                                .watch = watch,
                                                .jobs = 2};
    cr_assert_eq(hub_scanner_start(&options, &hub.scanner, &err), HUB_OK, "%s", err.detail);
}

static void stop(void)
{
    hub_scanner_stop(hub.scanner);
    hub_inspector_free(hub.inspector);
    hub_store_close(hub.store);
    hub_catalog_close(hub.catalog);
    hub_truth_close(hub.truth);
    hub = (struct hub){0};
}

static void set_up(void)
{
    root = scan_directory();
    state = scan_directory();
}

static void tear_down(void)
{
    if (hub.scanner)
        stop();
    scan_remove(root);
    scan_remove(state);
}

TestSuite(scanner, .init = set_up, .fini = tear_down, .timeout = 100);

static void settle(void)
{
    cr_assert(hub_scanner_wait(hub.scanner, PATIENCE_MS));
}

static void sweep(void)
{
    hub_scanner_sweep(hub.scanner);
    settle();
}

/* Exact after settle(): see hub_scanner_progress. */
static uint64_t inspected(void)
{
    struct hub_scan_progress progress;
    hub_scanner_progress(hub.scanner, &progress);
    return progress.inspected;
}

static const struct hub_summary *summary_of(const char *id)
{
    return hub_snapshot_find(snapshot_now(hub.catalog), hub_view_of(id));
}

static const char *in_root(const char *path)
{
    static char full[4096];
    snprintf(full, sizeof full, "%s/%s", root, path);
    return full;
}

static void expect_status(const char *id, enum hub_dataset_status status)
{
    const struct hub_summary *summary = summary_of(id);
    cr_assert_not_null(summary, "%s is not listed", id);
    cr_expect_eq(summary->status, status, "%s is %s: %s", id, hub_dataset_status_name(summary->status),
                 summary->reason);
}

static void expect_problem(const char *id, const char *text)
{
    struct hub_buf out = HUB_BUF_INIT(MIB);
    struct hub_state now;
    cr_assert_eq(hub_state_open(hub.catalog, summary_of(id), &now, NULL), HUB_OK);
    cr_assert_eq(hub_dataset_problems(&now, &out, NULL), HUB_OK);
    hub_state_close(&now);
    cr_expect(strstr(out.data, text), "%s: no %s in %s", id, text, out.data);
    hub_buf_dispose(&out);
}

Test(scanner, a_minari_root_is_listed)
{
    scan_copy("minari/root-traps", root);
    start(0, false);
    settle();
    const struct hub_snapshot *s = snapshot_now(hub.catalog);
    cr_expect_eq(s->count, 13); /* with the loose files of the root */
    expect_status("door-human-v1", HUB_DATASET_READY);
    expect_status("D4RL/pen/human-v2", HUB_DATASET_READY);
    expect_status("tmpq3k7x_1a", HUB_DATASET_BROKEN);
    cr_expect_str_eq(summary_of("tmpq3k7x_1a")->format, "data-collector");
    cr_expect_gt(summary_of("door-human-v1")->episodes, 0);
    expect_problem("other-id-v0", "\"id-mismatch\"");
    expect_problem("wrong-counts-v0", "\"fewer-than-claimed\"");
}

static void expect_datasets(const char *const *ids, uint32_t count)
{
    const struct hub_snapshot *s = snapshot_now(hub.catalog);
    cr_expect_eq(s->count, count);
    for (uint32_t i = 0; i < count; i++)
        expect_status(ids[i], HUB_DATASET_READY);
}

/* A folder that looks like a dataset, and is none at a closer look. */
Test(scanner, what_is_in_a_declined_folder_is_not_lost)
{
    static const char *const ids[] = {"lab/meta", "lab/stack", "lab/door-v0", "lab"};
    char path[4096];
    scan_write(root, "lab/meta/info.json", "{\"fps\": 10}");
    snprintf(path, sizeof path, "%s/lab/stack.hdf5", root);
    scan_run((const char *const[]){"cp", HUB_FIXTURES "/robomimic/lift-ph/low_dim_v15.hdf5", path, NULL});
    snprintf(path, sizeof path, "%s/lab/door-v0", root);
    scan_copy("samples/door-human-v0", path);
    start(0, false);
    settle();
    expect_datasets(ids, 3);
    cr_expect_str_eq(summary_of("lab/meta")->format, "files");
    cr_expect_str_eq(summary_of("lab/stack")->format, "robomimic");
    const uint64_t before = inspected();
    sweep();
    cr_expect_eq(inspected(), before);
    scan_write(root, "lab/notes.txt", "x"); /* the datasets in it stay as they are */
    sweep();
    expect_datasets(ids, 4);
    cr_expect_eq(inspected(), before);
    stop();
    start(0, false); /* and after a restart */
    settle();
    expect_datasets(ids, 4);
    cr_expect_eq(inspected(), 0);
    scan_write(root, "lab/meta/info.json", "{\"codebase_version\": \"v4.0\"}");
    sweep();
    cr_expect_eq(snapshot_now(hub.catalog)->count, 2); /* it is one after all, with one nested */
    expect_status("lab", HUB_DATASET_UNSUPPORTED);
}

/* Folders that look like episodes: their plan declines them, as their files differ. Until their files are
 * known they are pending, and no folder of files. */
Test(scanner, a_declined_folder_is_pending_until_its_files_are_known)
{
    static const char *const files[] = {"episode_0/a", "episode_0/0", "episode_1/a", "episode_1/1"};
    char path[4096];
    unsigned pending = 0;
    for (size_t i = 0; i < HUB_COUNT(files); i++) {
        snprintf(path, sizeof path, "several/%s.npz", files[i]);
        scan_write(root, path, "");
        scan_run((const char *const[]){"cp", HUB_FIXTURES "/generic/numpy/stored.npz", in_root(path), NULL});
    }
    start(0, false);
    while (!hub_scanner_wait(hub.scanner, 0)) {
        cr_assert_eq(hub_catalog_flush(hub.catalog, NULL), HUB_OK);
        const struct hub_summary *several = summary_of("several");
        cr_assert(!several || several->status == HUB_DATASET_PENDING, "it is %s", several->format);
        pending += several != NULL;
    }
    cr_expect_gt(pending, 0);
    cr_expect_null(summary_of("several"));
    expect_status("several/episode_0/a", HUB_DATASET_READY);
}

Test(scanner, nothing_is_asked_twice)
{
    scan_copy("minari/root-0.5.3", root);
    start(0, false);
    settle();
    const uint32_t count = snapshot_now(hub.catalog)->count;
    const uint64_t before = inspected();
    cr_expect_gt(before, 10);
    sweep();
    cr_expect_eq(inspected(), before);
    stop();
    start(0, false);
    settle();
    cr_expect_eq(inspected(), 0, "after a restart");
    cr_expect_eq(snapshot_now(hub.catalog)->count, count);
}

static uint64_t newest_serial(void)
{
    const struct hub_snapshot *s = snapshot_now(hub.catalog);
    uint64_t newest = 0;
    for (uint32_t i = 0; i < s->count; i++)
        newest = HUB_MAX(newest, s->summaries[i]->serial);
    return newest;
}

/* More than are published in one transaction. */
Test(scanner, many_plain_folders_are_known_again)
{
    enum { FOLDERS = 600 };
    char path[40];
    for (unsigned i = 0; i < FOLDERS; i++) {
        snprintf(path, sizeof path, "d%03u/notes.txt", i);
        scan_write(root, path, "x");
    }
    start(0, false);
    settle();
    cr_assert_eq(snapshot_now(hub.catalog)->count, FOLDERS);
    for (unsigned i = 0; i < FOLDERS; i++) {
        snprintf(path, sizeof path, "d%03u", i);
        expect_status(path, HUB_DATASET_READY);
        cr_expect_eq(summary_of(path)->files, 1);
    }
    const uint64_t first = newest_serial();
    sweep();
    cr_expect_eq(newest_serial(), first);
    scan_write(root, "d300/notes.txt", "changed");
    sweep();
    cr_expect_eq(summary_of("d300")->serial, first + 1);
    cr_expect_eq(summary_of("d300")->size, strlen("changed"));
    cr_expect_eq(newest_serial(), first + 1);
    stop();
    start(0, false);
    settle();
    cr_expect_eq(newest_serial(), first + 1, "after a restart");
    cr_expect_eq(snapshot_now(hub.catalog)->count, FOLDERS);
}

Test(scanner, what_comes_changes_and_goes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s", in_root("door-human-v0"));
    scan_copy("samples/door-human-v0", path);
    start(0, false);
    settle();
    char revision[41];
    strcpy(revision, summary_of("door-human-v0")->revision);
    cr_expect_eq(strlen(revision), 40);
    scan_copy("minari/root-0.4.3/door-human-v10", path); /* another file in its place */
    sweep();
    cr_expect_str_neq(summary_of("door-human-v0")->revision, revision);
    expect_problem("door-human-v0", "id-mismatch");
    scan_copy("samples/door-human-v0", (char *)in_root("new-v0"));
    cr_assert_eq(hub_fs_remove(AT_FDCWD, path, NULL), HUB_OK);
    sweep();
    cr_expect_null(summary_of("door-human-v0"));
    expect_status("new-v0", HUB_DATASET_READY);
}

static bool is_walked(void)
{
    struct hub_scan_progress progress = {0};
    hub_scanner_progress(hub.scanner, &progress);
    return progress.walked;
}

static bool is_busy(void)
{
    return hub_catalog_flush(hub.catalog, NULL) == HUB_OK && summary_of("door-human-v0") &&
           strstr(summary_of("door-human-v0")->reason, "busy");
}

static bool is_ready(void)
{
    return summary_of("door-human-v0") && summary_of("door-human-v0")->status == HUB_DATASET_READY;
}

static void until(bool (*what)(void))
{
    const int64_t end_ms = hub_time_mono_ms() + PATIENCE_MS;
    while (!what()) {
        cr_assert_lt(hub_time_mono_ms(), end_ms);
        usleep(20000);
    }
}

Test(scanner, files_settle_first)
{
    scan_copy("samples/door-human-v0", (char *)in_root("door-human-v0"));
    start(10 * PATIENCE_MS, false);
    until(is_walked);
    expect_status("door-human-v0", HUB_DATASET_PENDING);
    stop();
    start(300, false);
    settle();
    expect_status("door-human-v0", HUB_DATASET_READY);
}

Test(scanner, a_locked_file_is_busy)
{
    scan_copy("samples/door-human-v0", (char *)in_root("door-human-v0"));
    const int fd = open(in_root("door-human-v0/data/main_data.hdf5"), O_RDWR);
    cr_assert_eq(flock(fd, LOCK_EX), 0);
    start(0, false);
    until(is_busy);
    cr_expect_not(hub_scanner_wait(hub.scanner, 100));
    expect_status("door-human-v0", HUB_DATASET_PENDING);
    close(fd);
    settle();
    expect_status("door-human-v0", HUB_DATASET_READY);
}

static bool is_recorded(void)
{
    const struct hub_summary *summary = summary_of("arm");
    return summary && strstr(summary->reason, "being recorded");
}

/* A file without its end: of a writer that is at work, and of one that was stopped long ago. */
Test(scanner, a_recording_is_pending_until_it_ends)
{
    char path[4096];
    snprintf(path, sizeof path, "%s", in_root("arm"));
    scan_copy("lerobot-broken/data-not-finalized", path);
    start(100, false);
    until(is_recorded);
    expect_status("arm", HUB_DATASET_PENDING);
    stop();
    start(0, false);
    settle();
    expect_status("arm", HUB_DATASET_BROKEN);
    cr_expect_not_null(strstr(summary_of("arm")->reason, "not finalized"), "%s", summary_of("arm")->reason);
}

static uint64_t before;

static bool is_inspected_again(void)
{
    return inspected() > before;
}

Test(scanner, changes_are_noticed)
{
    start(0, true);
    settle();
    char path[4096];
    snprintf(path, sizeof path, "%s", in_root("door-human-v0"));
    scan_copy("samples/door-human-v0", path);
    until(is_ready);
    settle();
    before = inspected();
    scan_copy("minari/root-0.4.3/door-human-v10", path);
    until(is_inspected_again);
}

Test(scanner, hostile_files_hide_no_other)
{
    scan_copy("hdf5-hostile", root);
    scan_copy("samples/door-human-v0", (char *)in_root("door-human-v0"));
    start(0, false);
    settle();
    expect_status("door-human-v0", HUB_DATASET_READY);
    const struct hub_snapshot *s = snapshot_now(hub.catalog);
    for (uint32_t i = 0; i < s->count; i++) {
        cr_expect_neq(s->summaries[i]->status, HUB_DATASET_PENDING, "%s", s->summaries[i]->id);
        cr_expect(s->summaries[i]->status != HUB_DATASET_BROKEN || s->summaries[i]->reason[0], "%s",
                  s->summaries[i]->id);
    }
    expect_status("garbage-zeros-v0", HUB_DATASET_BROKEN);
}

static void same_episode(void *user, const struct hub_found_episode *row, const char *file)
{
    cr_expect_eq(row->number, *(const int64_t *)user);
    cr_expect_str_eq(file, "data/main_data.hdf5");
}

static enum hub_status ask_episode(int64_t number)
{
    HUB_CLEANUP(hub_state_close) struct hub_state now = {0};
    HUB_TRY(hub_state_open(hub.catalog, summary_of("door-human-v0"), &now, NULL));
    return see_episode(&now, number, same_episode, &number, NULL);
}

/* What was kept of a part is damaged on the disk: nothing is said of it, and it is inspected again. */
Test(scanner, a_damaged_part_is_inspected_again)
{
    struct hub_db *db;
    char path[4096];
    scan_copy("samples/door-human-v0", in_root("door-human-v0"));
    start(0, false);
    settle();
    cr_expect_eq(ask_episode(1), HUB_OK);
    stop();
    snprintf(path, sizeof path, "%s/%s", state, hub_index_name);
    cr_assert_eq(hub_db_open(path, HUB_DB_WRITE, &db, NULL), HUB_OK);
    cr_assert_eq(hub_db_exec(db, "UPDATE blobs SET data = zeroblob(length(data)) WHERE owner > 0", NULL),
                 HUB_OK);
    hub_db_close(db);
    start(0, false);
    settle();
    before = inspected();
    cr_expect_eq(before, 0);
    expect_status("door-human-v0", HUB_DATASET_READY);
    cr_expect_eq(ask_episode(1), HUB_CORRUPT); /* once: each such query asks for an inspection */
    until(is_inspected_again);
    settle();
    cr_expect_eq(ask_episode(1), HUB_OK);
    cr_expect_eq(inspected(), 1);
}

Test(scanner, a_link_that_leaves_is_reported)
{
    char *outside = scan_directory();
    scan_write(outside, "notes.txt", "x");
    scan_copy("samples/door-human-v0", (char *)in_root("door-human-v0"));
    cr_assert_eq(symlink(outside, in_root("door-human-v0/data/elsewhere")), 0);
    start(0, false);
    settle();
    expect_problem("door-human-v0", "\"link-leaves\",\"path\":\"data/elsewhere\"");
    scan_remove(outside);
}

Test(scanner, stops_in_the_middle)
{
    scan_copy("minari/root-0.5.3", root);
    for (unsigned i = 0; i < 4; i++) {
        start(0, true);
        usleep(20000 + i * 60000); /* whatever it is at by then */
        hub_scanner_prioritize(hub.scanner, "D4RL/door/human-v2");
        stop();
    }
    start(0, false);
    settle();
    expect_status("D4RL/door/human-v2", HUB_DATASET_READY);
}
