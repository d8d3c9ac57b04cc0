/* storage/scan/hold.c: a look or an inspection goes on while the hub deletes, renames or replaces what it is
 * about; the inspector is stopped meanwhile. */
#include "storage/catalog/write.h"
#include "storage/read/read.h"
#include "storage/scan/scan.h"
#include "storage/text/time.h"
#include "tests/support/scan_root.h"
#include "tests/support/snapshot.h"

#include <criterion/criterion.h>

enum { PATIENCE_MS = 60000 };

static char *top, *state;
static struct hub_roots roots;
static struct hub_catalog *catalog;
static struct hub_truth *truth;
static struct hub_store *store;
static struct hub_inspector *inspector;
static struct hub_scanner *scanner;

static char *in_top(const char *path)
{
    static char full[4][4096];
    static unsigned next;
    char *out = full[next++ % HUB_COUNT(full)];
    snprintf(out, sizeof full[0], "%s/%s", top, path);
    return out;
}

static void settle(void)
{
    cr_assert(hub_scanner_wait(scanner, PATIENCE_MS));
}

static void begin(void)
{
    struct hub_error err = {0};
    top = scan_directory();
    state = scan_directory();
    scan_write(top, "root/.keep", "");
    cr_assert_eq(hub_roots_add(&roots, in_top("root"), NULL, NULL), HUB_OK);
    const struct hub_catalog_options options = {.state = state, .roots = &roots};
    const struct hub_truth_options known = {.state = state, .roots = &roots};
    cr_assert_eq(hub_truth_open(&known, &truth, &err), HUB_OK, "%s", err.detail);
    cr_assert_eq(hub_catalog_open(&options, &catalog, &err), HUB_OK, "%s", err.detail);
    cr_assert_eq(hub_store_open(&(struct hub_store_options){.roots = &roots, .state = state}, &store, &err),
                 HUB_OK);
    inspector = scan_inspector();
    const struct hub_scanner_options scan = {.catalog = catalog,
                                             .truth = truth,
                                             .store = store,
                                             .inspector = inspector,
                                             .roots = &roots,
                                             .state = state,
                                             .jobs = 1};
    cr_assert_eq(hub_scanner_start(&scan, &scanner, &err), HUB_OK, "%s", err.detail);
    scan_copy("samples/door-human-v0", in_top("root/other-v0")); /* so that the inspector runs */
    hub_scanner_look(scanner, 0, "other-v0");
    settle();
}

static void end(void)
{
    hub_scanner_stop(scanner);
    hub_inspector_free(inspector);
    hub_store_close(store);
    hub_catalog_close(catalog);
    hub_truth_close(truth);
    hub_roots_dispose(&roots);
    scan_remove(top);
    scan_remove(state);
}

TestSuite(hold, .init = begin, .fini = end, .timeout = 100);

static const struct hub_summary *listed(const char *id)
{
    cr_assert_eq(hub_catalog_flush(catalog, NULL), HUB_OK);
    return hub_snapshot_find(snapshot_now(catalog), hub_view_of(id));
}

static bool is_walking(void)
{
    struct hub_scan_progress now;
    hub_scanner_progress(scanner, &now);
    return now.current[0] != 0;
}

static void see_job(void *user, const struct hub_scan_job *job)
{
    *(bool *)user = *(bool *)user || (job->running && strcmp(job->target, "set-v0") == 0);
}

static bool is_inspecting(void)
{
    bool running = false;
    hub_scanner_jobs(scanner, see_job, &running);
    return running;
}

static void until(bool (*is_so)(void))
{
    const int64_t end_ms = hub_time_mono_ms() + PATIENCE_MS;
    while (!is_so()) {
        cr_assert_lt(hub_time_mono_ms(), end_ms);
        usleep(10000);
    }
}

static void put_set(void)
{
    scan_copy("samples/door-human-v0", in_top("root/set-v0"));
    hub_scanner_look(scanner, 0, "set-v0");
}

/* The hub moves its files. */
static void move(const char *from, const char *to)
{
    struct hub_hold hold;
    hub_scanner_hold(scanner, 0, "set-v0", "set-v0", &hold);
    if (strcmp(from, "root/set-v0") == 0)
        hub_scanner_withdraw(scanner, &hold);
    cr_assert_eq(rename(in_top(from), in_top(to)), 0);
    hub_scanner_release(scanner, &hold, true);
}

/* Nothing was put into the catalogue since, not even for a moment. */
static void expect_gone(uint64_t generation)
{
    settle();
    cr_expect_null(listed("set-v0"));
    cr_expect_eq(snapshot_now(catalog)->generation, generation);
}

Test(hold, a_look_that_ends_late_lists_nothing)
{
    scan_signal_inspector(SIGSTOP);
    put_set();
    until(is_walking);
    cr_assert_null(listed("set-v0"));
    const uint64_t generation = snapshot_now(catalog)->generation;
    move("root/set-v0", "away");
    scan_signal_inspector(SIGCONT);
    expect_gone(generation);
}

static void begin_inspection(void)
{
    put_set();
    settle();
    cr_assert_eq(listed("set-v0")->status, HUB_DATASET_READY);
    scan_signal_inspector(SIGSTOP);
    hub_scanner_reinspect(scanner, "set-v0");
    until(is_inspecting);
}

Test(hold, an_inspection_that_ends_late_lists_nothing)
{
    begin_inspection();
    move("root/set-v0", "away");
    cr_expect_null(listed("set-v0"), "at once");
    const uint64_t generation = snapshot_now(catalog)->generation;
    scan_signal_inspector(SIGCONT);
    expect_gone(generation);
    move("away", "root/set-v0");
    settle();
    cr_assert_not_null(listed("set-v0"), "the same files came back");
    cr_expect_eq(listed("set-v0")->status, HUB_DATASET_READY);
}

Test(hold, files_that_go_and_come_back_while_they_are_inspected_are_listed)
{
    begin_inspection();
    move("root/set-v0", "away");
    move("away", "root/set-v0");
    scan_signal_inspector(SIGCONT);
    settle();
    cr_assert_not_null(listed("set-v0"));
    cr_expect_eq(listed("set-v0")->status, HUB_DATASET_READY);
}

Test(hold, what_takes_the_place_of_another_is_listed_though_its_files_are_the_same)
{
    struct hub_hold hold;
    put_set();
    settle();
    const uint64_t serial = listed("set-v0")->serial;
    hub_scanner_hold(scanner, 0, "set-v0", "set-v0", &hold);
    hub_scanner_reinspect(scanner, "set-v0");
    hub_scanner_look(scanner, 0, "set-v0");
    usleep(100000);
    cr_expect_eq(listed("set-v0")->serial, serial, "meanwhile the state before stays");
    hub_scanner_release(scanner, &hold, true);
    settle();
    cr_expect_gt(listed("set-v0")->serial, serial);
    cr_expect_eq(listed("set-v0")->status, HUB_DATASET_READY);
}
