/* Trouble of the machine while datasets are inspected: killed and slow children, files that cannot be read.
 * It is no verdict about the data, is tried again, and keeps nobody else waiting. The driver's parts are
 * files named after what goes wrong with them. */
#include "storage/catalog/write.h"
#include "storage/read/read.h"
#include "storage/scan/scan.h"
#include "storage/text/time.h"
#include "tests/support/scan_root.h"
#include "tests/support/snapshot.h"

#include <criterion/criterion.h>
#include <stdatomic.h>

enum { PATIENCE_MS = 200000 }; /* of a busy machine: six seconds of a processor are used up */

static char *root, *state;
static struct hub_catalog *catalog;
static struct hub_truth *truth;
static struct hub_store *store;
static struct hub_inspector *inspector;
static struct hub_scanner *scanner;
static struct hub_inspector_options limits;
static unsigned jobs, turn_ms;
static atomic_uint reported[HUB_SCAN_TROUBLE + 1];

static void notify(void *user, const struct hub_scan_event *event)
{
    (void)user;
    atomic_fetch_add(&reported[event->kind], 1);
}

static void start(void)
{
    struct hub_error err = {0};
    static struct hub_roots roots;
    hub_roots_dispose(&roots);
    cr_assert_eq(hub_roots_add(&roots, root, NULL, NULL), HUB_OK);
    limits.program = HUB_PLANTED;
    const struct hub_truth_options known = {.state = state};
    cr_assert_eq(hub_truth_open(&known, &truth, &err), HUB_OK, "%s", err.detail);
    cr_assert_eq(hub_catalog_open(&(struct hub_catalog_options){.state = state}, &catalog, &err), HUB_OK,
                 "%s", err.detail);
    cr_assert_eq(hub_store_open(&(struct hub_store_options){.roots = &roots, .state = state}, &store, &err),
                 HUB_OK);
    cr_assert_eq(hub_inspector_new(&limits, &inspector, &err), HUB_OK, "%s", err.detail);
    const struct hub_scanner_options options = {.catalog = catalog,
                                                .truth = truth,
                                                .store = store,
                                                .inspector = inspector,
                                                .roots = &roots,
                                                .state = state,
                                                .jobs = jobs,
                                                .retry_ms = 20,
                                                .turn_ms = turn_ms,
                                                .notify = notify};
    cr_assert_eq(hub_scanner_start(&options, &scanner, &err), HUB_OK, "%s", err.detail);
}

static void stop(void)
{
    hub_scanner_stop(scanner);
    hub_inspector_free(inspector);
    hub_store_close(store);
    hub_catalog_close(catalog);
    hub_truth_close(truth);
    scanner = NULL;
}

static void set_up(void)
{
    root = scan_directory();
    state = scan_directory();
    limits = (struct hub_inspector_options)HUB_INSPECTOR_OPTIONS_INIT;
    limits.wall_ms = 150000; /* what does not sleep has done by then, however busy the machine is */
    jobs = 2;
    turn_ms = 0;
}

static void tear_down(void)
{
    if (scanner)
        stop();
    scan_remove(root);
    scan_remove(state);
}

TestSuite(trouble, .init = set_up, .fini = tear_down, .timeout = 250);

static struct hub_scan_progress progress(void)
{
    struct hub_scan_progress now;
    hub_scanner_progress(scanner, &now);
    return now;
}

static void settle(void)
{
    cr_assert(hub_scanner_wait(scanner, PATIENCE_MS));
}

static void until_inspected(uint64_t datasets)
{
    const int64_t end_ms = hub_time_mono_ms() + PATIENCE_MS;
    while (!progress().walked || progress().inspected < datasets) {
        cr_assert_lt(hub_time_mono_ms(), end_ms);
        usleep(10000);
    }
}

/* On a busy machine the question who claims it may be too slow as well: it is asked again soon. */
static const struct hub_summary *summary_of(const char *id)
{
    const int64_t end_ms = hub_time_mono_ms() + PATIENCE_MS;
    for (;;) {
        cr_assert_eq(hub_catalog_flush(catalog, NULL), HUB_OK);
        const struct hub_summary *summary = hub_snapshot_find(snapshot_now(catalog), hub_view_of(id));
        if (summary)
            return summary;
        cr_assert_lt(hub_time_mono_ms(), end_ms, "%s is not listed", id);
        usleep(10000);
    }
}

static void expect(const char *id, enum hub_dataset_status status, const char *reason)
{
    const struct hub_summary *summary = summary_of(id);
    cr_expect_eq(summary->status, status, "%s is %s: %s", id, hub_dataset_status_name(summary->status),
                 summary->reason);
    cr_expect(strstr(summary->reason, reason), "%s: no '%s' in '%s'", id, reason, summary->reason);
}

Test(trouble, what_is_too_slow_is_tried_again_and_given_up_for_now)
{
    limits.wall_ms = 1000;
    scan_write(root, "a/sleep.part", "x");
    start();
    settle();
    expect("a", HUB_DATASET_PENDING, "took longer");
    expect("a", HUB_DATASET_PENDING, "the hub tries again when its files change");
    cr_expect_eq(progress().put_off, 4, "once, and three times more");
    cr_expect_eq(progress().given_up, 1);
    cr_expect_eq(progress().postponed, 0);
    cr_expect_eq(atomic_load(&reported[HUB_SCAN_PUT_OFF]), 3);
    cr_expect_eq(atomic_load(&reported[HUB_SCAN_GAVE_UP]), 1);
    hub_scanner_sweep(scanner);
    settle();
    cr_expect_eq(progress().put_off, 5, "once more because somebody asked");
    stop();
    start();
    settle();
    cr_expect_eq(progress().put_off, 1, "once at a restart");
    cr_expect_eq(progress().given_up, 1);
    scan_write(root, "a/sleep.part", "xyz");
    hub_scanner_sweep(scanner);
    settle();
    cr_expect_eq(progress().put_off, 1 + 4, "it changed");
}

Test(trouble, a_dataset_that_is_served_stays_as_it_was)
{
    scan_write(root, "a/fine.part", "x");
    start();
    settle();
    expect("a", HUB_DATASET_READY, "");
    scan_write(root, "a/unread.part", "x");
    hub_scanner_sweep(scanner);
    settle();
    expect("a", HUB_DATASET_READY, "");
    cr_expect_eq(summary_of("a")->files, 1);
    cr_expect_eq(progress().given_up, 1);
    cr_expect_eq(progress().put_off, 4);
}

Test(trouble, a_file_that_cannot_be_read_is_not_broken)
{
    scan_write(root, "a/unread.part", "x");
    start();
    settle();
    expect("a", HUB_DATASET_PENDING, "Input/output error");
}

Test(trouble, a_limit_of_ours_holds_until_it_is_another)
{
    limits.cpu_s = 1;
    scan_write(root, "a/fine.part", "x");
    scan_write(root, "a/loop.part", "x");
    scan_write(root, "b/loop.part", "x");
    start();
    settle();
    expect("a", HUB_DATASET_READY, "");
    expect("b", HUB_DATASET_BROKEN, "--inspect-time");
    cr_expect_eq(progress().inspected, 2);
    stop();
    start();
    settle();
    cr_expect_eq(progress().inspected, 0, "the same files under the same limits");
    stop();
    limits.memory_bytes = 3 * GIB;
    start();
    settle();
    const uint64_t again = progress().inspected;
    cr_expect_eq(again, 2, "other limits: %d", (int)again);
}

Test(trouble, many_parts_beyond_the_limits_are_given_up)
{
    limits.cpu_s = 1;
    for (char name[] = "a/loop0.part"; name[6] < '6'; name[6]++)
        scan_write(root, name, "x");
    start();
    settle();
    expect("a", HUB_DATASET_BROKEN, "--inspect-time");
    cr_expect_eq(progress().put_off, 1, "a pause after four of them");
}

Test(trouble, one_dataset_of_many_slow_parts_starves_no_other)
{
    jobs = 1;
    turn_ms = 1;
    for (char name[] = "a/nap00.part"; name[5] < '3'; name[6] == '9' ? (name[6] = '0', name[5]++) : name[6]++)
        scan_write(root, name, "x");
    scan_write(root, "b/fine.part", "x");
    scan_write(root, "c/fine.part", "x");
    start();
    until_inspected(2);
    expect("a", HUB_DATASET_PENDING, "");
    expect("b", HUB_DATASET_READY, "");
    expect("c", HUB_DATASET_READY, "");
    scan_write(root, "d/fine.part", "x");
    hub_scanner_sweep(scanner);
    until_inspected(3);
    expect("a", HUB_DATASET_PENDING, "");
    expect("d", HUB_DATASET_READY, "");
    settle();
    expect("a", HUB_DATASET_READY, "");
    cr_expect_eq(summary_of("a")->episodes, 30, "what was found before a turn ended is kept");
}
