/* Cells of episodes: see episode_cells.h. */
#include "storage/episodes/episode_cells.h"

#include <inttypes.h>

enum { MAX_MADE_TEXTS = 4 * MIB, MAX_NAME = 1100 };

struct columns_ref {
    struct hub_cached_blob blob; /* first */
    struct hub_columns columns;
};

static void forget(struct hub_column_cursor *cursor)
{
    if (cursor->at)
        hub_lru_drop(cursor->at->blob.catalog->lru, &cursor->at->blob.item.key);
}

void hub_column_cursor_reset(struct hub_column_cursor *cursor)
{
    if (cursor->at)
        hub_lru_put(&cursor->at->blob.item);
    cursor->at = NULL;
}

/* To another blob, which the caller puts there. */
static void begin_move(struct hub_column_cursor *cursor, int64_t part, uint32_t first)
{
    hub_column_cursor_reset(cursor);
    cursor->part = part;
    cursor->first = first;
    cursor->moves++;
}

static bool has(const struct hub_column_cursor *cursor, int64_t part, uint32_t index)
{
    return cursor->at && cursor->part == part && index - cursor->first < cursor->at->columns.count;
}

/* Of the run that has it. */
static uint32_t first_of(enum hub_episode_column column, uint32_t index)
{
    return index - index % hub_columns_run(column);
}

struct wanted_blob {
    const struct hub_state *state;
    int64_t part;
    enum hub_episode_column column;
};

static enum hub_status make_columns(struct hub_cached_blob *blob, void *user, struct hub_error *err)
{
    const struct wanted_blob *wanted = user;
    struct hub_columns *columns = &((struct columns_ref *)blob)->columns;
    if (hub_columns_open((struct hub_view){blob->data, blob->size}, wanted->column, columns))
        return HUB_OK;
    return hub_blob_damaged(blob->catalog, wanted->state->db, wanted->part, err);
}

/* ---- of the index ---- */

static enum hub_status move_to(struct hub_column_cursor *cursor, struct wanted_blob wanted, uint32_t index,
                               struct hub_error *err)
{
    const struct hub_state *state = wanted.state;
    const uint32_t first = first_of(wanted.column, index), run = first / hub_columns_run(wanted.column);
    const struct hub_blob_maker maker = {sizeof(struct columns_ref), make_columns, &wanted};
    const struct hub_lru_key key = {HUB_CACHE_EPISODES, (uint64_t)wanted.part,
                                    (uint64_t)wanted.column << 32 | run};
    char name[HUB_COLUMN_NAME];
    begin_move(cursor, wanted.part, first);
    hub_columns_name(wanted.column, index, name);
    const struct hub_blob_id id = {state->catalog, state->db, wanted.part, HUB_BLOB_EPISODES, name};
    struct hub_cached_blob *blob = hub_blob_cached(state->catalog, &key, name);
    const enum hub_status st = blob ? HUB_OK : hub_blob_load(&id, &key, &maker, &blob, err);
    if (st)
        return st == HUB_NOT_FOUND ? hub_blob_damaged(state->catalog, state->db, wanted.part, err) : st;
    cursor->at = (struct columns_ref *)blob;
    return HUB_OK;
}

enum hub_status hub_episode_cell_find(struct hub_episode_reader *reader, enum hub_episode_column column,
                                      const struct hub_dataset_episode *e, const struct hub_columns **columns,
                                      uint32_t *place, struct hub_error *err)
{
    struct hub_column_cursor *cursor = &reader->columns[column];
    const int64_t part = reader->state->dataset->parts[e->part].row;
    if (!has(cursor, part, e->index)) {
        if (reader->passing)
            forget(cursor);
        HUB_TRY(move_to(cursor, (struct wanted_blob){reader->state, part, column}, e->index, err));
        if (!has(cursor, part, e->index))
            return hub_blob_damaged(reader->state->catalog, reader->state->db, part, err);
    }
    *place = e->index - cursor->first;
    *columns = &cursor->at->columns;
    return HUB_OK;
}

/* ---- made of rows ---- */

/* By a reader of its own, whose rows leave the columns their room in the cache. */
static enum hub_status make_run(const struct hub_state *state, const struct hub_property *name, uint32_t part,
                                uint32_t first, struct hub_column_run *run, struct hub_error *err)
{
    HUB_CLEANUP(hub_episode_reader_dispose)
    struct hub_episode_reader rows = {.state = state, .passing = true};
    const uint32_t count = hub_dataset_box_of(state->dataset)->part_episodes[part] - first;
    struct hub_dataset_episode e = {.part = part, .index = first};
    HUB_TRY(hub_column_run_begin(run, MAX_MADE_TEXTS, err));
    for (uint32_t left = HUB_MIN(count, hub_columns_run(HUB_COLUMN_RETURN)); left; left--, e.index++) {
        struct hub_values values;
        HUB_TRY(hub_episode_value_of_row(&rows, &e, name, &values, err));
        HUB_TRY(hub_column_run_add(run, values.count ? values.first : NULL, err));
    }
    return hub_column_run_end(run, err);
}

static enum hub_status move_to_made(struct hub_column_cursor *cursor, struct wanted_blob wanted,
                                    uint32_t part, const struct hub_property *name, uint32_t index,
                                    struct hub_error *err)
{
    const uint32_t first = first_of(wanted.column, index), run = first / hub_columns_run(wanted.column);
    HUB_CLEANUP(hub_column_run_dispose) struct hub_column_run made = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MAX_NAME);
    const struct hub_state *state = wanted.state;
    const struct hub_blob_maker maker = {sizeof(struct columns_ref), make_columns, &wanted};
    begin_move(cursor, wanted.part, first);
    cursor->name = *name;
    HUB_TRY(hub_buf_addf(&text, err, "%u.%" PRIu32 ".%.*s", (unsigned)name->kind, run, (int)name->of.size,
                         name->of.data ? name->of.data : ""));
    const struct hub_lru_key key = {HUB_CACHE_MADE, (uint64_t)wanted.part,
                                    hub_text_hash(hub_buf_view(&text))};
    const struct hub_blob_id id = {state->catalog, state->db, wanted.part, HUB_BLOB_EPISODES, text.data};
    struct hub_cached_blob *blob = hub_blob_cached(state->catalog, &key, text.data);
    if (!blob) {
        HUB_TRY(make_run(state, name, part, first, &made, err));
        HUB_TRY(hub_blob_keep(&id, &key, &maker, &made.cells, &blob, err));
    }
    cursor->at = (struct columns_ref *)blob;
    return HUB_OK;
}

/* The names of a request stay where they are: their bytes need not be compared. */
static bool is_of(const struct hub_column_cursor *cursor, const struct hub_property *name, int64_t part,
                  uint32_t index)
{
    return cursor->part == part && index - cursor->first < hub_columns_run(HUB_COLUMN_RETURN) &&
           cursor->name.kind == name->kind && cursor->name.of.data == name->of.data &&
           cursor->name.of.size == name->of.size;
}

bool hub_episode_cell_compute(struct hub_episode_reader *reader, const struct hub_property *name,
                              const struct hub_dataset_episode *e, const struct hub_columns **columns,
                              uint32_t *place)
{
    const enum hub_episode_column like = HUB_COLUMN_RETURN;
    const size_t slot = (name->kind + (uintptr_t)name->of.data) % HUB_COUNT(reader->made);
    struct hub_column_cursor *cursor = &reader->made[slot];
    const int64_t part = reader->state->dataset->parts[e->part].row;
    if (!is_of(cursor, name, part, e->index) &&
        move_to_made(cursor, (struct wanted_blob){reader->state, part, like}, e->part, name, e->index, NULL))
        return false;
    if (!has(cursor, part, e->index))
        return false;
    *place = e->index - cursor->first;
    *columns = &cursor->at->columns;
    return true;
}
