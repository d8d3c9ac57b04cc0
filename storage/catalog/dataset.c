/* Opened datasets: the packed directory of index.db as arrays. One blob, one query; 1,000,000 episodes unpack
 * in a few milliseconds. Layouts name files by their number at the inspection of the part; where today's
 * differ the directory says so.
 *
 *   directory = files parts fields episodes, each behind its count (see pack.h; written by directory.c) */
#include "storage/catalog/blobs.h"

#include "storage/base/order.h"
#include "storage/base/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void free_parts_of(struct hub_dataset_box *box)
{
    free((void *)box->dataset.files);
    free((void *)box->dataset.parts);
    free((void *)box->dataset.fields);
    free((void *)box->dataset.episodes);
    free(box->maps);
    free(box->part_episodes);
    free(box->file_sizes);
    free(box->numbers);
    free(box->arena);
    hub_summary_unref(box->dataset.summary);
    free(box);
}

static void box_free(struct hub_lru_item *item)
{
    struct hub_dataset_box *box = (struct hub_dataset_box *)item;
    struct hub_catalog *catalog = box->catalog;
    pthread_mutex_lock(&catalog->lock);
    *box->link = box->next;
    if (box->next)
        box->next->link = box->link;
    pthread_mutex_unlock(&catalog->lock);
    free_parts_of(box);
}

/* ---- unpacking ---- */

static struct hub_stamp get_stamp(struct hub_cursor *c)
{
    struct hub_stamp stamp;
    stamp.size = hub_unpack_uint(c);
    stamp.mtime_ns = hub_unpack_uint(c);
    stamp.tag = hub_unpack_uint(c);
    return stamp;
}

static bool get_files(struct hub_cursor *c, struct hub_dataset_box *box, char **arena)
{
    const uint32_t count = hub_unpack_count(c);
    struct hub_dataset_file *files = calloc(count + 1, sizeof *files);
    box->dataset.files = files;
    box->file_sizes = calloc(count + 1, sizeof *box->file_sizes);
    if (!files || !box->file_sizes)
        return false;
    box->dataset.file_count = count;
    for (uint32_t i = 0; i < count && !c->failed; i++) {
        files[i].path = hub_unpack_text(c, arena);
        files[i].stamp = get_stamp(c);
        box->file_sizes[i] = files[i].stamp.size;
    }
    return true;
}

static bool get_parts(struct hub_cursor *c, struct hub_dataset_box *box, char **arena)
{
    const uint32_t count = hub_unpack_count(c), entries = hub_unpack_count(c);
    struct hub_dataset_part *parts = calloc(count + 1, sizeof *parts);
    box->dataset.parts = parts;
    box->maps = calloc(count + 1, sizeof *box->maps);
    box->part_episodes = calloc(count + 1, sizeof *box->part_episodes);
    box->numbers = calloc((size_t)entries * 2 + 1, sizeof *box->numbers);
    if (!parts || !box->maps || !box->part_episodes || !box->numbers)
        return false;
    box->dataset.part_count = count;
    uint32_t *at = box->numbers, left = entries;
    for (uint32_t i = 0; i < count && !c->failed; i++) {
        parts[i].row = hub_unpack_int(c);
        parts[i].name = hub_unpack_text(c, arena);
        parts[i].broken = hub_unpack_option(c, arena);
        parts[i].side = hub_unpack_option(c, arena);
        if (parts[i].side)
            parts[i].side_stamp = get_stamp(c);
        box->part_episodes[i] = hub_unpack_u32(c);
        const uint32_t n = hub_unpack_count(c);
        if (n > left) {
            c->failed = true;
            break;
        }
        box->maps[i] = (struct hub_part_files){n, at, at + n};
        for (uint32_t j = 0; j < n; j++)
            at[j] = hub_unpack_u32(c);
        for (uint32_t j = 0; j < n; j++)
            at[n + j] = hub_unpack_u32(c);
        at += 2 * n;
        left -= n;
    }
    return true;
}

static bool get_fields(struct hub_cursor *c, struct hub_dataset_box *box, char **arena)
{
    const uint32_t count = hub_unpack_count(c);
    struct hub_dataset_field *fields = calloc(count + 1, sizeof *fields);
    box->dataset.fields = fields;
    if (!fields)
        return false;
    box->dataset.field_count = count;
    for (uint32_t i = 0; i < count && !c->failed; i++) {
        fields[i].path = hub_unpack_text(c, arena);
        fields[i].type = (enum hub_field_type)hub_unpack_u32(c);
        fields[i].role = (enum hub_role)hub_unpack_u32(c);
        fields[i].axis = (enum hub_axis)hub_unpack_u32(c);
        fields[i].unreadable = hub_unpack_option(c, arena);
        fields[i].dtype = hub_unpack_text(c, arena);
        fields[i].shape = hub_unpack_text(c, arena);
        fields[i].episodes = hub_unpack_u32(c);
    }
    return true;
}

/* Each episode relative to the one before it: mostly one byte a column. */
static bool get_episodes(struct hub_cursor *c, struct hub_dataset_box *box)
{
    const uint32_t count = hub_unpack_count(c);
    struct hub_dataset_episode *episodes = malloc(((size_t)count + 1) * sizeof *episodes);
    box->dataset.episodes = episodes;
    if (!episodes)
        return false;
    box->dataset.episode_count = count;
    struct hub_dataset_episode last = {.number = -1, .index = UINT32_MAX};
    for (uint32_t i = 0; i < count && !c->failed; i++) {
        last.number += hub_unpack_int(c) + 1;
        last.part += (uint32_t)hub_unpack_int(c);
        last.index += (uint32_t)hub_unpack_int(c) + 1;
        last.steps = hub_unpack_uint(c);
        if (last.part >= box->dataset.part_count)
            c->failed = true;
        episodes[i] = last;
    }
    return true;
}

static enum hub_status unpack(struct hub_db *db, struct hub_dataset_box *box, struct hub_view blob,
                              struct hub_error *err)
{
    struct hub_cursor c = hub_cursor_of(blob.data, blob.size);
    box->arena = malloc(blob.size + 1);
    char *arena = box->arena;
    if (!arena || !get_files(&c, box, &arena) || !get_parts(&c, box, &arena) ||
        !get_fields(&c, box, &arena) || !get_episodes(&c, box))
        return hub_no_memory(err);
    if (c.failed)
        return hub_blob_damaged(box->catalog, db, hub_dataset_owner(box->dataset.summary->row), err);
    const struct hub_dataset *d = &box->dataset;
    box->item.bytes = sizeof *box + blob.size + d->file_count * (sizeof d->files[0] + 8) +
                      d->part_count * (sizeof d->parts[0] + 24) + d->field_count * sizeof d->fields[0] +
                      d->episode_count * sizeof d->episodes[0];
    return HUB_OK;
}

/* ---- opening ---- */

struct hub_lru_key hub_dataset_key(const struct hub_summary *summary)
{
    const uint64_t problems = (uint64_t)summary->problems << 48;
    return (struct hub_lru_key){HUB_CACHE_DATASET, (uint64_t)summary->row, summary->serial ^ problems};
}

static enum hub_status load(struct hub_db *db, struct hub_dataset_box *box, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    const int64_t owner = hub_dataset_owner(box->dataset.summary->row);
    struct hub_view blob;
    const struct hub_blob_id id = {box->catalog, db, owner, HUB_BLOB_DIRECTORY, ""};
    const enum hub_status st = hub_blob_read(&id, &stmt, &blob, err);
    if (st)
        return st == HUB_NOT_FOUND ? hub_blob_missing(box->catalog, db, owner, err) : st;
    return unpack(db, box, blob, err);
}

static void enlist(struct hub_catalog *catalog, struct hub_dataset_box *box)
{
    pthread_mutex_lock(&catalog->lock);
    box->next = catalog->opened;
    box->link = &catalog->opened;
    if (box->next)
        box->next->link = &box->next;
    catalog->opened = box;
    pthread_mutex_unlock(&catalog->lock);
}

/* The dataset of a summary that was just read in the same transaction. The summary is taken over. */
static enum hub_status open_dataset(struct hub_catalog *catalog, struct hub_db *db,
                                    const struct hub_summary *summary, const struct hub_dataset **out,
                                    struct hub_error *err)
{
    const struct hub_lru_key key = hub_dataset_key(summary);
    struct hub_dataset_box *box = (struct hub_dataset_box *)hub_lru_get(catalog->lru, &key);
    if (box) {
        hub_summary_unref(summary);
        *out = &box->dataset;
        return HUB_OK;
    }
    box = calloc(1, sizeof *box);
    if (!box) {
        hub_summary_unref(summary);
        return hub_no_memory(err);
    }
    box->item.free = box_free;
    box->item.key = key;
    box->catalog = catalog;
    box->dataset.summary = summary;
    const enum hub_status st = load(db, box, err);
    if (st) {
        free_parts_of(box);
        return st;
    }
    enlist(catalog, box);
    *out = &((struct hub_dataset_box *)hub_lru_add(catalog->lru, &box->item))->dataset;
    return HUB_OK;
}

enum hub_status hub_state_open(struct hub_catalog *catalog, const struct hub_summary *summary,
                               struct hub_state *out, struct hub_error *err)
{
    struct hub_state state = {.catalog = catalog, .measures = atomic_load(&catalog->measures_stored)};
    struct hub_summary_box *now = NULL;
    HUB_TRY(hub_catalog_reader(catalog, &state.db, err));
    HUB_TRY(hub_db_exec(state.db, "BEGIN", err));
    enum hub_status st = hub_summary_load(catalog, state.db, summary->row, &now,
                                          err); /* the transaction sees what this does */
    if (!st)
        st = open_dataset(catalog, state.db, &now->summary, &state.dataset, err);
    if (st) {
        hub_db_rollback(state.db);
        return st;
    }
    *out = state;
    return HUB_OK;
}

void hub_state_close(struct hub_state *state)
{
    if (state->db)
        hub_db_rollback(state->db);
    hub_dataset_put(state->dataset);
    *state = (struct hub_state){0};
}

enum hub_status hub_dataset_get(struct hub_catalog *catalog, const struct hub_summary *summary,
                                bool may_block, const struct hub_dataset **out, struct hub_error *err)
{
    const struct hub_lru_key key = hub_dataset_key(summary);
    struct hub_dataset_box *box = (struct hub_dataset_box *)hub_lru_get(catalog->lru, &key);
    if (box) {
        *out = &box->dataset;
        return HUB_OK;
    }
    if (!may_block)
        return hub_fail(err, HUB_AGAIN, "%s is not open", summary->id);
    struct hub_state state;
    HUB_TRY(hub_state_open(catalog, summary, &state, err));
    *out = state.dataset; /* the state's reference */
    state.dataset = NULL;
    hub_state_close(&state);
    return HUB_OK;
}

void hub_dataset_put(const struct hub_dataset *dataset)
{
    if (dataset)
        hub_lru_put(&hub_dataset_box_of(dataset)->item);
}

/* ---- side data that goes ---- */

static bool still_open(const struct hub_catalog *catalog, const struct hub_retired *retired)
{
    for (const struct hub_dataset_box *box = catalog->opened; box; box = box->next)
        if (box->dataset.summary->row == retired->row && box->dataset.summary->serial <= retired->serial)
            return true;
    return false;
}

void hub_retired_delete(struct hub_catalog *catalog)
{
    char path[4096];
    struct hub_retired *gone = NULL;
    pthread_mutex_lock(&catalog->lock);
    for (struct hub_retired **at = &catalog->retired, *d; (d = *at);) {
        if (still_open(catalog, d)) {
            at = &d->next;
            continue;
        }
        *at = d->next;
        d->next = gone;
        gone = d;
    }
    pthread_mutex_unlock(&catalog->lock);
    for (struct hub_retired *next; gone; gone = next) { /* a large file takes its time */
        next = gone->next;
        snprintf(path, sizeof path, "%s/%s", catalog->state, gone->path);
        (void)unlink(path);
        free(gone);
    }
}

/* ---- asking a dataset ---- */

const struct hub_dataset_episode *hub_dataset_find_episode(const struct hub_dataset *dataset, int64_t number)
{
    const uint32_t count = dataset->episode_count;
    /* mostly numbers are positions */
    if (number >= 0 && number < (int64_t)count && dataset->episodes[number].number == number)
        return &dataset->episodes[number];
    return count ? bsearch(&number, dataset->episodes, count, sizeof *dataset->episodes, hub_by_i64) : NULL;
}

uint32_t hub_part_file(const struct hub_part_files *map, uint32_t number)
{
    if (!map->count)
        return number;
    const uint32_t at = hub_lower_bound(&number, map->from, map->count, sizeof *map->from, hub_by_u32);
    return at < map->count && map->from[at] == number ? map->to[at] : HUB_NONE;
}
