#include "rig.h"

#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint32_t state = 12345;

uint32_t rig_draw(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return below ? (uint32_t)((uint64_t)state * below >> 32) : 0;
}

void rig_open(struct rig *rig)
{
    memset(rig, 0, sizeof *rig);
    strcpy(rig->folder, "/tmp/hub-read-XXXXXX");
    cr_assert(mkdtemp(rig->folder));
    static struct hub_roots roots;
    const struct hub_store_options options = {.roots = &roots, .state = rig->folder};
    hub_roots_dispose(&roots);
    cr_assert_eq(hub_roots_add(&roots, rig->folder, NULL, NULL), HUB_OK);
    cr_assert_eq(hub_store_open(&options, &rig->store, NULL), HUB_OK);
    cr_assert_eq(hub_layout_builder_new(64 * MIB, &rig->builder, NULL), HUB_OK);
    cr_assert_eq(hub_lru_new(32 * MIB, &rig->decoded, NULL), HUB_OK);
    for (unsigned i = 0; i <= RIG_FILES; i++)
        rig->content[i] = HUB_BUF_INIT(256 * MIB);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

void rig_close(struct rig *rig)
{
    for (unsigned i = 0; i <= RIG_FILES; i++) {
        hub_file_put(rig->files[i]);
        hub_buf_dispose(&rig->content[i]);
    }
    hub_store_close(rig->store);
    hub_lru_free(rig->decoded);
    hub_layout_builder_free(rig->builder);
    free(rig->blob);
    nftw(rig->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

uint32_t rig_file_number(unsigned file)
{
    return file == RIG_FILES ? HUB_SIDE_FILE : file;
}

uint64_t rig_put(struct rig *rig, unsigned file, const void *data, size_t size, size_t gap)
{
    struct hub_buf *buf = &rig->content[file];
    for (; gap > 0; gap--)
        cr_assert_eq(hub_buf_add(buf, "\xEE", 1, NULL), HUB_OK);
    const uint64_t at = buf->size;
    cr_assert_eq(hub_buf_add(buf, data, size, NULL), HUB_OK);
    return at;
}

void rig_finish(struct rig *rig)
{
    uint64_t sizes[RIG_FILES + 1];
    for (unsigned i = 0; i <= RIG_FILES; i++) {
        char path[100], name[8];
        snprintf(name, sizeof name, "%u", i);
        snprintf(path, sizeof path, "%s/%s", rig->folder, name);
        FILE *file = fopen(path, "wb");
        cr_assert(file);
        sizes[i] = rig->content[i].size;
        cr_assert_eq(fwrite(rig->content[i].data ? rig->content[i].data : "", 1, sizes[i], file), sizes[i]);
        fclose(file);
        const struct hub_file_ref ref = {.root = 0, .path = name};
        cr_assert_eq(hub_file_get(rig->store, &ref, &rig->files[i], NULL), HUB_OK);
    }
    struct hub_error err = {0};
    size_t size;
    cr_assert_eq(hub_layout_finish(rig->builder, &rig->blob, &size, &err), HUB_OK, "%s", err.detail);
    cr_assert_eq(hub_layout_open(rig->blob, size, &rig->layout, &err), HUB_OK, "%s", err.detail);
    cr_assert_eq(hub_layout_check(&rig->layout, sizes, RIG_FILES, sizes[RIG_FILES], 100, &err), HUB_OK, "%s",
                 err.detail);
    static unsigned count;
    rig->layout.serial = 1;
    rig->layout.decoded = ++count % 2 ? rig->decoded : NULL; /* every other one's pages are kept */
}

struct job {
    void (*work)(void *arg, uint32_t i);
    void *arg;
    uint32_t count;
    atomic_uint next;
};

static void *take(void *pointer)
{
    struct job *job = pointer;
    for (uint32_t i; (i = atomic_fetch_add(&job->next, 1)) < job->count;)
        job->work(job->arg, i);
    return NULL;
}

static void run_on_two(void *pool, void (*work)(void *arg, uint32_t i), void *arg, uint32_t count)
{
    (void)pool;
    struct job job = {.work = work, .arg = arg, .count = count};
    pthread_t helper;
    cr_assert_eq(pthread_create(&helper, NULL, take, &job), 0);
    take(&job);
    pthread_join(helper, NULL);
}

void rig_give_files(struct rig *rig)
{
    for (uint32_t i = 0; i < rig->opened.count; i++) {
        const uint32_t number = rig->opened.items[i].number;
        cr_assert(number == HUB_SIDE_FILE || number < RIG_FILES);
        rig->opened.items[i].file = rig->files[number == HUB_SIDE_FILE ? RIG_FILES : number];
    }
}

void rig_take_files(struct rig *rig)
{
    free(rig->opened.items);
    rig->opened = (struct hub_plan_files){0};
}

enum hub_status rig_read(struct rig *rig, uint32_t array, struct hub_slice slice, unsigned flags,
                         bool threads, void *into, struct hub_rows *out, struct hub_error *err)
{
    static const struct hub_parallel two = {.run = run_on_two};
    struct hub_plan plan = {.layout = &rig->layout, .files = &rig->opened, .slice = slice};
    plan.array = &rig->layout.arrays[array];
    plan.variant = &rig->layout.variants[plan.array->variant];
    HUB_TRY(hub_plan_price(&plan, err));
    rig_give_files(rig);
    const enum hub_status st = hub_read(&plan, flags, threads ? &two : NULL, into, out, err);
    rig_take_files(rig);
    HUB_TRY(st);
    if (plan.variant->kind == HUB_KIND_VAR)
        cr_assert_leq(out->offsets[slice.count], plan.bytes_out);
    return HUB_OK;
}
