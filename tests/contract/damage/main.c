/*
 * damage PROGRAM FOLDER...: random damage done to every dataset below the folders, 200 mutations each
 * (HUB_MUTATIONS, or --mutations N), all of them through one kept inspector, PROGRAM. What must hold:
 *
 *   - this process, which does what the hub does, never dies and never waits for ever;
 *   - every layout it is offered passes the proofs, and no child had to be stopped by the sandbox;
 *   - bytes planted in memory and in files beside the dataset are in no answer;
 *   - a field none of whose stored bytes were touched reads as before when no metadata was touched either;
 *   - the datasets read as before once they are mended.
 *
 * A failure names dataset and number: --at NUMBER makes that one again (with the same --seed).
 * --write DIR keeps the mutated files, for other readers (see peers.py).
 */
#include "tests/contract/damage/damage.h"

#include "storage/io/fs.h"
#include "storage/text/time.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HUB_SANITIZED
#include <sanitizer/common_interface_defs.h>
enum { WALL_MS = 30000, DEFAULT_MUTATIONS = 10 };
#else
enum { WALL_MS = 10000, DEFAULT_MUTATIONS = 200 };
#endif

enum { MUTATION_LIMIT_S = 300 };

char now_doing[1024];

struct run {
    struct stage stage;
    struct counts total;
    uint64_t seed, mutations, only;
    const char *program, *write_to;
    char work[256];
    unsigned datasets;
};

void die(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    exit(2);
}

void stage_fail(struct stage *stage, const char *fmt, ...)
{
    va_list args;
    stage->counts.failures++;
    printf("FAIL %s: ", now_doing);
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
}

/* ---- if it dies after all, it says of what ---- */

static void tell(void)
{
    static const char head[] = "\nDIED ";
    (void)!write(2, head, sizeof head - 1);
    (void)!write(2, now_doing, strlen(now_doing));
    (void)!write(2, "\n", 1);
}

static void on_signal(int number)
{
    tell();
    signal(number, SIG_DFL);
    raise(number);
}

static void watch(void)
{
#ifdef HUB_SANITIZED
    __sanitizer_set_death_callback(tell);
#else
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (unsigned i = 0; i < HUB_COUNT(fatal); i++)
        signal(fatal[i], on_signal);
#endif
    signal(SIGALRM, on_signal);
}

/* ---- before and after ---- */

static bool same(const struct view *a, const struct view *b)
{
    return a->status == b->status && a->rows == b->rows && a->crc == b->crc &&
           hub_variant_equal(&a->variant, &b->variant);
}

static bool touched(const struct view *view, const struct mutation *m)
{
    for (uint32_t i = 0; i < m->touched.count; i++)
        if (ranges_touch(&view->where, &m->touched.items[i]))
            return true;
    return !view->addressed;
}

static bool touches_only(const struct mutation *m, const struct ranges *raw)
{
    for (uint32_t i = 0; i < m->touched.count; i++)
        if (!ranges_cover(raw, &m->touched.items[i]))
            return false;
    return true;
}

static void compare(struct stage *stage, const struct picture *before, const struct picture *after,
                    const struct mutation *m, const struct ranges *raw)
{
    struct counts *c = &stage->counts;
    const bool must_hold = touches_only(m, raw);
    for (uint32_t i = 0, k = 0; i < before->view_count; i++) {
        const struct view *was = &before->views[i];
        while (k < after->view_count && view_compare(&after->views[k], was) < 0)
            k++;
        const struct view *is =
            k < after->view_count && view_compare(&after->views[k], was) == 0 ? &after->views[k] : NULL;
        if (was->status)
            continue;
        const bool served = is && is->status == HUB_OK, equal = served && same(was, is);
        c->views++;
        c->served += served;
        c->equal += equal;
        c->other += served && !equal;
        c->misled += served && !equal && !touched(was, m); /* other metadata, other bytes of the same files */
        if (!must_hold || touched(was, m))
            continue;
        c->untouched++;
        c->untouched_equal += equal;
        if (!equal)
            stage_fail(stage, "%s of episode %lld was not touched and %s", was->field,
                       (long long)was->episode, served ? "reads otherwise" : "is not served");
    }
}

static void check_mended(struct stage *stage, const struct folder *folder, const struct picture *before)
{
    struct picture after;
    snprintf(now_doing, sizeof now_doing, "%s, mended", folder->shown);
    picture_take(stage, folder, false, &after);
    bool equal = before->view_count == after.view_count;
    for (uint32_t i = 0; equal && i < before->view_count; i++)
        equal =
            view_compare(&before->views[i], &after.views[i]) == 0 && same(&before->views[i], &after.views[i]);
    if (!equal)
        stage_fail(stage, "the mended dataset does not read as before");
    picture_dispose(&after);
}

/* ---- one dataset ---- */

/* Rows that say where the episodes of all fields end are metadata. */
static bool is_boundary(const struct folder *folder, const struct view *view)
{
    static const struct {
        const char *format, *column;
    } rows[] = {{"d4rl", "terminals"},         {"d4rl", "timeouts"},         {"d4rl", "observations"},
                {"d4rl", "next_observations"}, {"lerobot", "episode_index"}, {"datasets", "episode_index"},
                {"webdataset", "dones"},       {"il-native", "dones"}};
    for (size_t i = 0; i < HUB_COUNT(rows); i++)
        if (strcmp(folder->format, rows[i].format) == 0 && strcmp(view->field, rows[i].column) == 0)
            return true;
    return false;
}

static void find_raw(const struct folder *folder, const struct picture *before, struct ranges *raw,
                     struct ranges *metadata)
{
    for (uint32_t i = 0; i < before->view_count; i++)
        if (!is_boundary(folder, &before->views[i]))
            ranges_add_all(raw, &before->views[i].where);
    ranges_tidy(raw);
    uint32_t k = 0;
    for (uint32_t file = 0; file < folder->count; file++) {
        uint64_t at = 0;
        for (; k < raw->count && raw->items[k].file == file; k++) {
            ranges_add(metadata, file, at, raw->items[k].begin);
            at = raw->items[k].end;
        }
        ranges_add(metadata, file, at, folder->bytes[file].size);
    }
    ranges_tidy(metadata);
}

static void keep_file(const struct run *run, const struct folder *folder, uint64_t number,
                      const struct mutation *m)
{
    char path[2048], *name = path + strlen(run->write_to) + 1;
    snprintf(path, sizeof path, "%s/%.500s+%" PRIu64 "+%.300s", run->write_to, folder->shown, number,
             folder->files[m->file].path);
    for (char *c = name; *c; c++)
        if (*c == '/' || *c == ' ')
            *c = '_';
    write_file(path, m->bytes, m->size);
}

static void damage_once(struct run *run, struct folder *folder, const struct picture *before,
                        const struct ranges *raw, const struct ranges *metadata, uint64_t number)
{
    struct mutation m;
    struct picture after;
    mutation_make(folder, raw, metadata, run->seed, number, &m);
    snprintf(now_doing, sizeof now_doing, "%s --seed %" PRIu64 " --at %" PRIu64 ": %s", folder->shown,
             run->seed, number, m.text);
    alarm(MUTATION_LIMIT_S);
    run->stage.counts.mutations++;
    if (run->write_to) {
        keep_file(run, folder, number, &m);
    } else {
        folder_write(folder, m.file, m.bytes, m.size);
        picture_take(&run->stage, folder, false, &after);
        compare(&run->stage, before, &after, &m, raw);
        picture_dispose(&after);
        folder_mend(folder, m.file);
    }
    mutation_dispose(&m);
}

static void print_counts(const char *name, const struct counts *c, uint64_t began_ms)
{
    const double seconds = (double)(hub_time_mono_ms() - began_ms) / 1000;
    printf("%s: %" PRIu64 " mutations, %.1f s; plans %" PRIu64 " ok %" PRIu64 " refused; parts %" PRIu64
           " ok %" PRIu64 " broken; children %" PRIu64 " crashed %" PRIu64 " killed %" PRIu64
           " timed out %" PRIu64 " stopped %" PRIu64 " refused by the proofs; fields %" PRIu64 ": %" PRIu64
           " served (%.1f %%), %" PRIu64 " equal, %" PRIu64 " other values (%" PRIu64
           " for other metadata); must be equal %" PRIu64 ", are %" PRIu64 "; reads refused %" PRIu64
           ", over budget %" PRIu64 "; representations %" PRIu64 "\n",
           name, c->mutations, seconds, c->plans_ok, c->plans_refused, c->parts_ok, c->parts_broken,
           c->crashed, c->killed, c->timeouts, c->stopped, c->lied, c->views, c->served,
           c->views ? 100.0 * (double)c->served / (double)c->views : 0.0, c->equal, c->other, c->misled,
           c->untouched, c->untouched_equal, c->failed_reads, c->too_big, c->encoded);
    fflush(stdout);
}

static void add_counts(struct counts *total, const struct counts *more)
{
    uint64_t *to = (uint64_t *)total;
    const uint64_t *from = (const uint64_t *)more;
    _Static_assert(sizeof *total % sizeof *to == 0, "counts are all uint64_t");
    for (size_t i = 0; i < sizeof *total / sizeof *to; i++)
        to[i] += from[i];
}

static void on_dataset(void *user, const struct folder *original)
{
    struct run *run = user;
    struct folder folder;
    struct picture before;
    struct ranges raw = {0}, metadata = {0};
    const uint64_t began = hub_time_mono_ms();
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < original->count; i++)
        bytes += original->files[i].size;
    if (bytes == 0)
        return;
    run->datasets++;
    run->stage.counts = (struct counts){0};
    if (hub_fs_remove(AT_FDCWD, run->stage.root, NULL))
        die("cannot empty %s", run->stage.root);
    folder_copy(original, run->stage.root, &folder);
    snprintf(now_doing, sizeof now_doing, "%s, undamaged", folder.shown);
    picture_take(&run->stage, &folder, true, &before);
    find_raw(&folder, &before, &raw, &metadata);
    run->stage.counts = (struct counts){.failures = run->stage.counts.failures};
    for (uint64_t i = 0; i < run->mutations; i++)
        if (run->only == UINT64_MAX || run->only == i)
            damage_once(run, &folder, &before, &raw, &metadata, i);
    const struct counts counts = run->stage.counts;
    check_mended(&run->stage, &folder, &before);
    run->stage.counts = (struct counts){.failures = run->stage.counts.failures - counts.failures};
    add_counts(&run->stage.counts, &counts);
    print_counts(folder.shown, &run->stage.counts, began);
    add_counts(&run->total, &run->stage.counts);
    picture_dispose(&before);
    ranges_dispose(&raw);
    ranges_dispose(&metadata);
    folder_dispose(&folder);
}

/* ---- all of them ---- */

static void plant(const struct run *run, const char *name)
{
    char path[512], text[64 * 1024];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = MARKER[i % (sizeof MARKER - 1)];
    snprintf(path, sizeof path, "%s/%s", run->work, name);
    write_file(path, text, sizeof text);
}

static void set_up(struct run *run)
{
    const char *tmp = getenv("TMPDIR");
    struct hub_error err = {0};
    snprintf(run->work, sizeof run->work, "%.200s/hub-damage-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(run->work))
        die("%s: %s", run->work, strerror(errno));
    snprintf(run->stage.root, sizeof run->stage.root, "%s/data", run->work);
    snprintf(run->stage.state, sizeof run->stage.state, "%s/state", run->work);
    if (mkdir(run->stage.root, 0700) || mkdir(run->stage.state, 0700))
        die("%s: %s", run->work, strerror(errno));
    plant(run, "secret.hdf5");
    plant(run, "state/secret");
    struct hub_inspector_options options = HUB_INSPECTOR_OPTIONS_INIT;
    options.program = run->program;
    options.wall_ms = WALL_MS;
    options.side_budget = 64 * MIB;
    if (hub_inspector_new(&options, &run->stage.inspector, &err))
        die("%s: %s", run->program, err.detail);
    static struct hub_roots roots;
    const struct hub_store_options store = {.roots = &roots, .state = run->stage.state};
    if (hub_roots_add(&roots, run->stage.root, NULL, &err) || hub_store_open(&store, &run->stage.store, &err))
        die("%s", err.detail);
    mallopt(M_MMAP_THRESHOLD, 128 << 20); /* so that the poison comes back */
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
#ifndef HUB_SANITIZED
    if (!memory_poison_works())
        die("poisoned memory does not come back: the check for leaks would check nothing");
#endif
    watch();
}

static void tear_down(struct run *run)
{
    alarm(0);
    hub_store_close(run->stage.store);
    hub_inspector_free(run->stage.inspector);
    (void)!hub_fs_remove(AT_FDCWD, run->work, NULL);
}

static uint64_t number_of(const char *text)
{
    return text ? strtoull(text, NULL, 10) : 0;
}

int main(int argc, char **argv)
{
    struct run run = {.seed = 1, .only = UINT64_MAX};
    const char *folders[64];
    unsigned count = 0;
    run.mutations = number_of(getenv("HUB_MUTATIONS"));
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--mutations") == 0)
            run.mutations = number_of(argv[++i]);
        else if (strcmp(argv[i], "--seed") == 0)
            run.seed = number_of(argv[++i]);
        else if (strcmp(argv[i], "--at") == 0)
            run.only = number_of(argv[++i]);
        else if (strcmp(argv[i], "--write") == 0)
            run.write_to = argv[++i];
        else if (!run.program)
            run.program = argv[i];
        else if (count < HUB_COUNT(folders))
            folders[count++] = argv[i];
    }
    if (!run.program || !count)
        die("damage PROGRAM FOLDER... [--mutations N] [--seed S] [--at NUMBER] [--write DIR]");
    if (!run.mutations)
        run.mutations = DEFAULT_MUTATIONS;
    if (run.only != UINT64_MAX)
        run.mutations = HUB_MAX(run.mutations, run.only + 1);
    set_up(&run);
    const uint64_t began = hub_time_mono_ms();
    for (unsigned i = 0; i < count; i++) {
        const char *name = strrchr(folders[i], '/');
        folder_walk(run.stage.inspector, folders[i], name ? name + 1 : folders[i], on_dataset, &run);
    }
    printf("seed %" PRIu64 ", %u datasets\n", run.seed, run.datasets);
    print_counts("all", &run.total, began);
    tear_down(&run);
    return run.total.failures || !run.datasets ? 1 : 0;
}
