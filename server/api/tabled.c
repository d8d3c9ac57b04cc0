/* Rows as a table that is sent while it is read: see tabled.h. */
#include "server/api/tabled.h"

#include <inttypes.h>
#include <stdlib.h>

/* Of rows in a block: more of them where they do not grow much. */
#define BLOCK_BYTES (256 * KIB)
#define LONG_BLOCK_BYTES (1 * MIB)
enum { LITTLE_GROWTH = 4, BLOCK_ROWS = 64 * 1024, NAME_ROOM = 64 };

static void tabled_free(struct hub_maker *maker)
{
    struct hub_tabled *t = (struct hub_tabled *)maker;
    hub_reading_dispose(&t->reading);
    free(t->names);
    free(t);
}

void hub_tabled_freep(struct hub_tabled **tabled)
{
    if (*tabled)
        tabled_free(&(*tabled)->maker);
}

/* ---- a block ---- */

static uint64_t block_rows(const struct hub_tabled *t)
{
    const uint64_t bytes = t->as->writer->growth <= LITTLE_GROWTH ? LONG_BLOCK_BYTES : BLOCK_BYTES;
    const uint64_t row = hub_reading_row_bytes(&t->reading, 0, t->reading.column_count);
    return HUB_MAX(HUB_MIN(bytes / HUB_MAX(row, (uint64_t)1), (uint64_t)BLOCK_ROWS), (uint64_t)1);
}

/* What a row takes once it is written, at most. */
static uint64_t row_written(const struct hub_tabled *t)
{
    uint64_t bytes = hub_reading_row_bytes(&t->reading, 0, t->reading.column_count) * t->as->writer->growth;
    for (uint32_t c = 0; c < t->reading.column_count; c++)
        bytes += strlen(t->reading.as[c].name) + NAME_ROOM;
    return bytes + (uint64_t)NAME_ROOM * 2;
}

/* The columns of the answer: those that are not hidden. */
struct columns {
    struct hub_block_column as[HUB_BLOCK_COLUMNS];
    struct hub_rows rows[HUB_BLOCK_COLUMNS];
    struct hub_block_table table;
};

static void gather_columns(const struct hub_tabled *t, struct columns *all)
{
    const struct hub_reading *r = &t->reading;
    uint32_t n = 0;
    for (uint32_t c = 0; c < r->column_count; c++) {
        if (r->columns[c].hidden)
            continue;
        all->as[n] = r->as[c];
        all->rows[n++] = r->rows[c];
    }
    all->table = (struct hub_block_table){.columns = all->as, .count = n, .nonfinite = t->nonfinite};
}

static enum hub_status add_block(struct hub_tabled *t, struct columns *all, struct hub_buf *out,
                                 struct hub_error *err)
{
    struct hub_reading *r = &t->reading;
    const uint64_t left = hub_reading_count(r) - t->at;
    uint64_t got = 0;
    HUB_TRY(hub_reading_rows(r, 0, r->column_count, t->at, HUB_MIN(left, block_rows(t)), &got, err));
    gather_columns(t, all);
    HUB_TRY(t->as->writer->blocks->rows(&all->table, all->rows, got, out, err));
    t->at += got;
    return HUB_OK;
}

static enum hub_status more(struct hub_maker *maker, struct hub_buf *out, struct hub_error *err)
{
    struct hub_tabled *t = (struct hub_tabled *)maker;
    const struct hub_block_writer *writer = t->as->writer->blocks;
    HUB_CLEANUP(hub_freep) struct columns *all = NULL;
    HUB_TRY(hub_new(&all, 1, sizeof *all, err));
    gather_columns(t, all);
    if (!t->begun && writer->begin)
        HUB_TRY(writer->begin(&all->table, out, err));
    t->begun = true;
    const size_t begun = out->size; /* a schema alone is sent with the first rows */
    while (t->at < hub_reading_count(&t->reading) && out->size - begun < HUB_MADE_BLOCK)
        HUB_TRY(add_block(t, all, out, err));
    if (t->at < hub_reading_count(&t->reading) || t->ended)
        return HUB_OK;
    t->ended = true;
    return writer->end ? writer->end(&all->table, out, err) : HUB_OK;
}

/* ---- the answer ---- */

enum hub_status hub_tabled_new(struct hub_request *request, const struct hub_representation *as,
                               struct hub_tabled **out, struct hub_error *err)
{
    HUB_TRY(hub_new(out, 1, sizeof **out, err));
    (*out)->maker = (struct hub_maker){more, tabled_free};
    (*out)->as = as;
    (*out)->reading.app = request->app;
    (*out)->reading.parallel = request->parallel;
    return HUB_OK;
}

enum hub_status hub_tabled_send(struct hub_request *request, struct hub_response *response,
                                const char *media_type, struct hub_tabled **tabled, struct hub_error *err)
{
    struct hub_tabled *t = *tabled;
    const uint64_t rows = block_rows(t), written = row_written(t),
                   read = hub_reading_row_bytes(&t->reading, 0, t->reading.column_count);
    if (written > HUB_MADE_LIMIT / 2)
        return hub_fail_as(err, HUB_TOO_BIG, "too-large",
                           "a row of %" PRIu64
                           " KiB is too long for %s: ask for format=npz, or for other fields",
                           read / KIB, t->as->name);
    HUB_TRY(hub_budget_take(request->app->budget, request, response,
                            rows * (read + written) + 2 * HUB_MADE_BLOCK, err));
    *tabled = NULL;
    return hub_response_made(response, 200, media_type, &t->maker, err);
}
