/* Columns of properties: see column_cursor.h. */
#include "storage/episodes/column_cursor.h"

#include "storage/episodes/measures.h"

enum { MAX_MADE_TEXTS = 4 * MIB };

struct hub_column_blob {
    struct hub_cached_blob blob; /* first */
    struct hub_columns columns;
};

/* Which blob it is, where it is found, and whether it has rows. */
struct wanted_blob {
    const struct hub_column_id *id;
    struct hub_lru_key key;
    struct hub_blob_id blob;
    bool rows;
    char name[HUB_COLUMN_NAME];
};

void hub_column_cursor_reset(struct hub_column_cursor *cursor)
{
    if (cursor->at)
        hub_lru_put(&cursor->at->blob.item);
    cursor->at = NULL;
    cursor->end = 0;
}

/* To another run, whose blob the caller finds. False: its name is too long. */
static bool begin_move(struct hub_column_cursor *cursor, const struct hub_column_id *id, uint32_t cell,
                       struct wanted_blob *wanted)
{
    const bool rows = strcmp(id->word, HUB_ROWS) == 0;
    const uint32_t size = rows ? HUB_ROWS_RUN : HUB_COLUMN_RUN, run = cell / size;
    const int64_t row = id->state->dataset->parts[id->part].row;
    hub_column_cursor_reset(cursor);
    cursor->part = id->part;
    cursor->first = run * size;
    cursor->end = cursor->first + size;
    cursor->moves++;
    *wanted = (struct wanted_blob){.id = id, .rows = rows};
    if (!hub_column_name(id->word, id->of, run, wanted->name))
        return false;
    wanted->key = (struct hub_lru_key){0, (uint64_t)row, hub_text_hash(hub_view_of(wanted->name))};
    wanted->blob =
        (struct hub_blob_id){id->state->catalog, id->state->db, row, HUB_BLOB_EPISODES, wanted->name};
    return true;
}

static enum hub_status open_blob(struct hub_cached_blob *blob, void *user, struct hub_error *err)
{
    const struct wanted_blob *wanted = user;
    struct hub_columns *columns = &((struct hub_column_blob *)blob)->columns;
    const struct hub_view bytes = {blob->data, blob->size};
    if (wanted->rows ? hub_columns_open_rows(bytes, columns) : hub_columns_open(bytes, columns))
        return HUB_OK;
    return hub_blob_damaged(blob->catalog, wanted->blob.db, wanted->blob.owner, err);
}

static void put_at(struct hub_column_cursor *cursor, struct hub_cached_blob *blob)
{
    cursor->at = (struct hub_column_blob *)blob;
    cursor->columns = cursor->at->columns;
}

static enum hub_status load(struct hub_column_cursor *cursor, struct wanted_blob *wanted,
                            struct hub_error *err)
{
    const struct hub_blob_maker maker = {sizeof(struct hub_column_blob), open_blob, wanted};
    struct hub_cached_blob *blob = hub_blob_cached(wanted->blob.catalog, &wanted->key, wanted->name);
    if (!blob)
        HUB_TRY(hub_blob_load(&wanted->blob, &wanted->key, &maker, &blob, err));
    put_at(cursor, blob);
    return HUB_OK;
}

/* ---- what the files state ---- */

enum hub_status hub_column_cursor_move(struct hub_column_cursor *cursor, const struct hub_column_id *id,
                                       uint32_t cell, bool passing, struct hub_error *err)
{
    struct wanted_blob wanted;
    if (passing && cursor->at)
        hub_lru_drop(cursor->at->blob.catalog->lru, &cursor->at->blob.item.key);
    (void)begin_move(cursor, id, cell, &wanted);
    wanted.key.kind = HUB_CACHE_EPISODES;
    const enum hub_status st = load(cursor, &wanted, err);
    if (st == HUB_OK && cell - cursor->first < cursor->columns.count)
        return HUB_OK;
    cursor->end = 0; /* the next one asks again */
    return st && st != HUB_NOT_FOUND
               ? st
               : hub_blob_damaged(wanted.blob.catalog, wanted.blob.db, wanted.blob.owner, err);
}

/* ---- what was measured ---- */

enum hub_status hub_column_cursor_move_measured(struct hub_column_cursor *cursor,
                                                const struct hub_column_id *id, uint32_t cell,
                                                struct hub_error *err)
{
    struct wanted_blob wanted;
    uint64_t stamp;
    if (!begin_move(cursor, id, cell, &wanted))
        return HUB_OK;
    enum hub_status st = hub_measures_stamp(id->state, id->part, &stamp, err);
    if (!st && stamp) {
        wanted.key.kind = HUB_CACHE_MEASURES | stamp << 8;
        wanted.blob.kind = HUB_BLOB_MEASURES;
        st = load(cursor, &wanted, err);
    }
    if (st == HUB_NOT_FOUND)
        return HUB_OK;
    cursor->end = st ? 0 : cursor->end;
    return st;
}

enum hub_status hub_column_parts(const struct hub_state *state, const char *word, struct hub_view of,
                                 bool **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_column_cursor_reset) struct hub_column_cursor cursor = {0};
    HUB_CLEANUP(hub_freep) bool *there = NULL;
    const struct hub_dataset *dataset = state->dataset;
    HUB_TRY(hub_new(&there, (size_t)dataset->part_count + 1, sizeof *there, err));
    for (uint32_t i = 0; i < dataset->part_count; i++) {
        const struct hub_column_id id = {state, word, of, i};
        if (!dataset->parts[i].broken)
            HUB_TRY(hub_column_cursor_move_measured(&cursor, &id, 0, err));
        there[i] = dataset->parts[i].broken || cursor.at;
    }
    *out = there;
    there = NULL;
    return HUB_OK;
}

enum hub_status hub_column_measured(struct hub_column_cursor *cursor, const struct hub_column_id *id,
                                    uint32_t cell, struct hub_value *out, bool *found, struct hub_error *err)
{
    if (!hub_column_cursor_has(cursor, id->part, cell))
        HUB_TRY(hub_column_cursor_move_measured(cursor, id, cell, err));
    *found = hub_column_cursor_get(cursor, cell, out);
    return HUB_OK;
}

/* ---- made of rows ---- */

static enum hub_status make_blob(struct wanted_blob *wanted, uint32_t first, hub_column_make *make,
                                 void *user, struct hub_cached_blob **out)
{
    HUB_CLEANUP(hub_column_run_dispose) struct hub_column_run run = {0};
    const struct hub_blob_maker maker = {sizeof(struct hub_column_blob), open_blob, wanted};
    const uint32_t all = hub_dataset_box_of(wanted->id->state->dataset)->part_episodes[wanted->id->part];
    HUB_TRY(hub_column_run_begin(&run, MAX_MADE_TEXTS, NULL));
    HUB_TRY(make(user, first, HUB_MIN(all - first, (uint32_t)HUB_COLUMN_RUN), &run, NULL));
    HUB_TRY(hub_column_run_end(&run, NULL));
    return hub_blob_keep(&wanted->blob, &wanted->key, &maker, &run.cells, out, NULL);
}

void hub_column_cursor_move_made(struct hub_column_cursor *cursor, const struct hub_column_id *id,
                                 uint32_t cell, hub_column_make *make, void *user)
{
    struct wanted_blob wanted;
    if (!begin_move(cursor, id, cell, &wanted))
        return;
    wanted.key.kind = HUB_CACHE_MADE;
    struct hub_cached_blob *blob = hub_blob_cached(wanted.blob.catalog, &wanted.key, wanted.name);
    if (blob || !make_blob(&wanted, cursor->first, make, user, &blob))
        put_at(cursor, blob);
}
