/* storage/scan/sweep.c: a root that is mounted while a sweep goes on. Its inspector is stopped meanwhile, so
 * that the sweep waits for an answer about another root. */
#include "storage/catalog/write.h"
#include "storage/read/read.h"
#include "storage/scan/scan.h"
#include "storage/text/time.h"
#include "tests/support/scan_root.h"
#include "tests/support/snapshot.h"

#include <criterion/criterion.h>
#include <signal.h>

enum { PATIENCE_MS = 60000 };

static char *top, *state;
static struct hub_roots roots;
static struct hub_catalog *catalog;
static struct hub_truth *truth;
static struct hub_store *store;
static struct hub_inspector *inspector;
static struct hub_scanner *scanner;

/* A path below the folder that holds both roots. */
static char *in_top(const char *path)
{
    static char full[4][4096];
    static unsigned next;
    char *out = full[next++ % HUB_COUNT(full)];
    snprintf(out, sizeof full[0], "%s/%s", top, path);
    return out;
}

static void start(void)
{
    struct hub_error err = {0};
    scan_write(top, "disk/.minari-hub/x", "");
    scan_write(top, "mount-point/.keep", "");
    scan_copy("samples/door-human-v0", in_top("disk/door-human-v0"));
    scan_write(top, "other/notes.txt", "");
    cr_assert_eq(hub_roots_add(&roots, in_top("disk"), "disk", NULL), HUB_OK);
    cr_assert_eq(hub_roots_add(&roots, in_top("other"), "other", NULL), HUB_OK);
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
}

static void begin(void)
{
    top = scan_directory();
    state = scan_directory();
    start();
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

TestSuite(sweep, .init = begin, .fini = end, .timeout = 100);

static struct hub_scan_progress progress(void)
{
    struct hub_scan_progress now;
    hub_scanner_progress(scanner, &now);
    return now;
}

static void sweep(void)
{
    hub_scanner_sweep(scanner);
    cr_assert(hub_scanner_wait(scanner, PATIENCE_MS));
}

static void swap(const char *off, const char *on)
{
    cr_assert_eq(rename(in_top("disk"), in_top(off)), 0);
    cr_assert_eq(rename(in_top(on), in_top("disk")), 0);
}

static bool is_listed(const char *id)
{
    cr_assert_eq(hub_catalog_flush(catalog, NULL), HUB_OK);
    return hub_snapshot_find(snapshot_now(catalog), hub_view_of(id)) != NULL;
}

static bool walks(void)
{
    return progress().current[0] != 0;
}

static bool new_one_is_listed(void)
{
    return is_listed("disk/new-v0");
}

static void until(bool (*is_so)(void))
{
    const int64_t end_ms = hub_time_mono_ms() + PATIENCE_MS;
    while (!is_so()) {
        cr_assert_lt(hub_time_mono_ms(), end_ms);
        usleep(10000);
    }
}

Test(sweep, a_root_that_is_mounted_meanwhile_is_walked_at_once)
{
    cr_assert(hub_scanner_wait(scanner, PATIENCE_MS));
    cr_assert(is_listed("disk/door-human-v0"));
    swap("away", "mount-point");
    sweep();
    cr_expect_eq(progress().roots_missing, 1);
    scan_copy("samples/door-human-v0", in_top("other/asked-about-v0"));
    scan_copy("samples/door-human-v0", in_top("away/new-v0"));
    scan_signal_inspector(SIGSTOP);
    hub_scanner_sweep(scanner);
    until(walks);
    swap("mount-point", "away");
    scan_signal_inspector(SIGCONT);
    until(new_one_is_listed);
    cr_assert(hub_scanner_wait(scanner, PATIENCE_MS));
    cr_expect_eq(progress().roots_missing, 0);
    cr_expect(is_listed("disk/door-human-v0") && is_listed("other/asked-about-v0"));
}
