/* storage/scan/look.c: after any looks, a sweep changes nothing; and a look opens few directories. */
#include "storage/catalog/write.h"
#include "storage/read/read.h"
#include "storage/scan/scan.h"
#include "storage/text/time.h"
#include "tests/support/scan_root.h"
#include "tests/support/snapshot.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <libgen.h>

enum { PATIENCE_MS = 60000, PATH = 300 };

static char *top, *state;
static struct hub_roots roots;
static struct hub_catalog *catalog;
static struct hub_truth *truth;
static struct hub_store *store;
static struct hub_inspector *inspector;
static struct hub_scanner *scanner;

/* A path below the folder of both roots. */
static char *in_top(unsigned root, const char *path)
{
    static char full[4][4096];
    static unsigned next;
    char *out = full[next++ % HUB_COUNT(full)];
    snprintf(out, sizeof full[0], "%s/r%u%s%s", top, root, *path ? "/" : "", path);
    return out;
}

static void start(bool named, bool watch)
{
    struct hub_error err = {0};
    for (unsigned i = 0; i < 2; i++) {
        cr_assert_eq(hub_fs_make_dirs(AT_FDCWD, in_top(i, ""), 0755, NULL), HUB_OK);
        cr_assert_eq(hub_roots_add(&roots, in_top(i, ""), named ? i ? "two" : "one" : NULL, NULL), HUB_OK);
    }
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
                                             .watch = watch,
                                             .jobs = 2};
    cr_assert_eq(hub_scanner_start(&scan, &scanner, &err), HUB_OK, "%s", err.detail);
}

static void begin(void)
{
    top = scan_directory();
    state = scan_directory();
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

TestSuite(look, .init = begin, .fini = end, .timeout = 280);

static void settle(void)
{
    cr_assert(hub_scanner_wait(scanner, getenv("HUB_LOOK_FOLDERS") ? 20 * PATIENCE_MS : PATIENCE_MS));
}

static struct hub_scan_progress progress(void)
{
    struct hub_scan_progress now;
    settle();
    hub_scanner_progress(scanner, &now);
    return now;
}

/* ---- what is listed ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A line for each dataset. The caller frees it. */
static char *catalogue(void)
{
    struct hub_buf out = HUB_BUF_INIT(MIB);
    settle();
    const struct hub_snapshot *s = snapshot_now(catalog);
    const uint32_t count = s->count + s->others;
    char **lines = calloc(count + 1, sizeof *lines);
    for (uint32_t i = 0; i < count; i++) {
        const struct hub_summary *d = s->summaries[i];
        cr_assert_geq(
            asprintf(&lines[i], "%s: %u/%s %s %s %u files, %llu bytes, %u problems, %s, serial %llu", d->id,
                     d->root, d->path, d->format, hub_dataset_status_name(d->status), d->files,
                     (unsigned long long)d->size, d->problems, d->revision, (unsigned long long)d->serial),
            0);
    }
    qsort(lines, count, sizeof *lines, by_text);
    for (uint32_t i = 0; i < count; i++) {
        cr_assert_eq(hub_buf_addf(&out, NULL, "%s\n", lines[i]), HUB_OK);
        free(lines[i]);
    }
    free(lines);
    char *text = strdup(out.data ? out.data : "");
    hub_buf_dispose(&out);
    return text;
}

/* ---- random changes ---- */

static uint64_t seed;

static unsigned draw(unsigned below)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(seed >> 33) % below;
}

static void draw_path(char out[PATH])
{
    static const char *const names[] = {"lab", "set-v0", "data", "runs", "stack", "lab", "runs"};
    const unsigned depth = 1 + draw(3);
    size_t size = 0;
    for (unsigned i = 0; i < depth; i++)
        size +=
            (size_t)snprintf(out + size, PATH - size, "%s%s", i ? "/" : "", names[draw(HUB_COUNT(names))]);
}

static void make_parent(unsigned root, const char *path)
{
    char *full = in_top(root, path), *slash = strrchr(full, '/');
    *slash = '\0';
    (void)!hub_fs_make_dirs(AT_FDCWD, full, 0755, NULL); /* a file may be in the way */
}

static bool is_there(unsigned root, const char *path)
{
    struct stat st;
    return lstat(in_top(root, path), &st) == 0;
}

static void write_text(unsigned root, const char *path)
{
    char full[PATH + 20];
    snprintf(full, sizeof full, "%s/notes.txt", path);
    make_parent(root, full);
    FILE *f = fopen(in_top(root, full), "ae");
    if (f) {
        fprintf(f, "%u\n", draw(1000));
        fclose(f);
    }
}

static void copy_file(unsigned root, const char *path)
{
    char full[PATH + 20];
    snprintf(full, sizeof full, "%s.hdf5", path);
    make_parent(root, full);
    if (!is_there(root, full) && access(dirname(strdupa(in_top(root, full))), W_OK) == 0)
        scan_run((const char *const[]){"cp", "-p", HUB_FIXTURES "/robomimic/lift-ph/low_dim_v15.hdf5",
                                       in_top(root, full), NULL});
}

static void copy_set(unsigned root, const char *path)
{
    make_parent(root, path);
    if (!is_there(root, path) && access(dirname(strdupa(in_top(root, path))), W_OK) == 0)
        scan_copy("samples/door-human-v0", in_top(root, path));
}

static void put_look(bool look, unsigned root, const char *path)
{
    if (look)
        hub_scanner_look(scanner, root, path);
}

static void change_once(bool look, bool links)
{
    const unsigned root = draw(2), other = draw(2), what = draw(links ? 8 : 7);
    char path[PATH], to[PATH];
    draw_path(path);
    draw_path(to);
    if (getenv("HUB_LOOK_SEED"))
        cr_log_info("%u: %u/%s %u/%s", what, root, path, other, to);
    if (what < 2)
        write_text(root, path);
    else if (what == 2)
        copy_file(root, path);
    else if (what < 5)
        copy_set(root, path);
    else if (what == 5)
        (void)!hub_fs_remove(AT_FDCWD, in_top(root, path), NULL);
    else if (what == 6 && !is_there(other, to) && is_there(root, path)) {
        make_parent(other, to);
        (void)!rename(in_top(root, path), in_top(other, to)); /* not into itself */
        put_look(look, other, to);
    } else if (what == 7) {
        make_parent(root, path);
        (void)!symlink(in_top(other, to), in_top(root, path));
    }
    if (what == 2)
        strcat(path, ".hdf5");
    put_look(look, root, path);
}

/* The lines of one text that are not in the other. */
static unsigned show_others(const char *what, char *of, const char *in)
{
    unsigned count = 0;
    for (char *line = strtok(of, "\n"); line; line = strtok(NULL, "\n")) {
        if (strstr(in, line))
            continue;
        cr_log_error("%s: %s", what, line);
        count++;
    }
    return count;
}

static void expect_sweep_changes_nothing(unsigned round)
{
    char *looked = catalogue(), *all = strdup(looked);
    hub_scanner_sweep(scanner);
    char *swept = catalogue();
    const unsigned wrong =
        show_others("after looks", looked, swept) + show_others("after a sweep", swept, all);
    free(looked);
    free(swept);
    free(all);
    cr_assert_eq(wrong, 0, "round %u", round);
}

struct random_case {
    unsigned seed, rounds, changes;
    bool named, links;
};

ParameterizedTestParameters(look, a_sweep_changes_nothing)
{
    static struct random_case cases[] = {
        {1, 40, 1, true, false},
        {2, 20, 3, true, false},
        {3, 20, 2, false, false},
        {4, 30, 2, true, true},
    };
    return cr_make_param_array(struct random_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct random_case *c, look, a_sweep_changes_nothing)
{
    const char *chosen = getenv("HUB_LOOK_SEED"); /* to look for more */
    seed = chosen ? (unsigned)atoi(chosen) : c->seed;
    start(c->named, false);
    settle();
    for (unsigned round = 0; round < c->rounds; round++) {
        for (unsigned i = 0; i < c->changes; i++) {
            change_once(true, c->links);
            if (draw(2))
                settle();
        }
        expect_sweep_changes_nothing(round);
    }
    cr_expect_gt(progress().looks, 0);
}

static bool is_listed_ready(const char *id);

/* A folder that comes last: when it is listed, all events before its own were read. */
static void wait_for_events(void)
{
    static unsigned last;
    char path[PATH], id[PATH];
    snprintf(path, sizeof path, "last%u", last++);
    snprintf(id, sizeof id, "two/%s", path);
    write_text(1, path);
    while (!is_listed_ready(id) || progress().to_look_at)
        usleep(20000);
}

/* Events say where something changed. */
Test(look, what_inotify_saw_is_looked_at)
{
    const char *chosen = getenv("HUB_LOOK_SEED"); /* to look for more */
    seed = chosen ? (unsigned)atoi(chosen) : 5;
    start(true, true);
    settle();
    for (unsigned round = 0; round < 12; round++) {
        for (unsigned i = 0; i < 3; i++)
            change_once(false, false);
        wait_for_events();
        expect_sweep_changes_nothing(round);
    }
    cr_expect_gt(progress().looks, 0);
}

/* ---- how much is opened ---- */

static void make_folders(unsigned count)
{
    char path[PATH];
    for (unsigned i = 0; i < count; i++) {
        snprintf(path, sizeof path, "lab/d%05u/notes.txt", i);
        make_parent(0, path);
        scan_write(in_top(0, ""), path, "x");
    }
    copy_set(0, "lab/door-v0");
}

static unsigned folders(void)
{
    const char *text = getenv("HUB_LOOK_FOLDERS"); /* to measure */
    return text ? (unsigned)atoi(text) : 300;
}

static bool is_listed_ready(const char *id)
{
    cr_assert_eq(hub_catalog_flush(catalog, NULL), HUB_OK);
    const struct hub_summary *d = hub_snapshot_find(snapshot_now(catalog), hub_view_of(id));
    return d && d->status == HUB_DATASET_READY;
}

static int64_t publish(const char *name, bool look)
{
    char path[PATH], id[PATH];
    copy_set(1, ".staged");
    snprintf(path, sizeof path, "lab/%s", name);
    snprintf(id, sizeof id, "one/%s", path);
    cr_assert_eq(rename(in_top(1, ".staged"), in_top(0, path)), 0);
    const int64_t began_ms = hub_time_mono_ms();
    if (look)
        hub_scanner_look(scanner, 0, path);
    else
        hub_scanner_sweep(scanner);
    while (!is_listed_ready(id))
        usleep(1000);
    return hub_time_mono_ms() - began_ms;
}

Test(look, a_copy_has_its_own_folder_opened)
{
    for (unsigned watch = 0; watch < 2; watch++) {
        if (watch)
            end(), begin();
        make_folders(folders());
        start(true, watch);
        const struct hub_scan_progress before = progress();
        const int64_t look_ms = publish("new-v0", true);
        if (watch)
            wait_for_events();
        const struct hub_scan_progress looked = progress();
        cr_expect_eq(looked.sweeps, before.sweeps);
        cr_expect_lt(looked.opened - before.opened, 20);
        cr_expect_eq(hub_fs_remove(AT_FDCWD, in_top(0, "lab/new-v0"), NULL), HUB_OK);
        hub_scanner_look(scanner, 0, "lab/new-v0");
        const struct hub_scan_progress gone = progress();
        cr_expect_not(is_listed_ready("one/lab/new-v0"));
        if (watch)
            wait_for_events();
        cr_expect_eq(progress().sweeps, before.sweeps);
        cr_expect_lt(gone.opened - looked.opened, 20);
        if (!getenv("HUB_LOOK_FOLDERS"))
            continue;
        const int64_t sweep_ms = publish("other-v0", false);
        const struct hub_scan_progress swept = progress();
        cr_log_info("%u folders: look %lld ms, %llu opened; sweep %lld ms, %llu opened", folders(),
                    (long long)look_ms, (unsigned long long)(looked.opened - before.opened),
                    (long long)sweep_ms, (unsigned long long)(swept.opened - gone.opened));
    }
}
