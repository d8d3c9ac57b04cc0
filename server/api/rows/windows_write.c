/* Windows as a table: a row a window, or an array a field. See windows.h. */
#include "server/api/rows/windows.h"

#include <stdlib.h>

/* What stands beside the fields. */
static const struct window_column {
    const char *name;
    struct hub_variant variant;
    bool of_steps; /* a value a row of a window, not one a window */
} owns[] = {
    {"mask", {.kind = HUB_KIND_BOOL, .item_size = 1}, true},
    {"episode", {.kind = HUB_KIND_INT, .item_size = 8}, false},
    {"start", {.kind = HUB_KIND_INT, .item_size = 8}, false},
};

struct window_table {
    struct hub_table_stream table; /* first */
    struct hub_request *request;
    struct hub_response *response;
    const struct hub_windows *windows;
    struct hub_stream_column *columns;
    struct hub_rows rows; /* of the last column that was read */
    uint64_t nulls;
};

static void dispose(struct window_table *t)
{
    hub_table_stream_rewind(&t->table);
    hub_rows_dispose(&t->rows);
    free(t->columns);
}

enum hub_status hub_windows_check_names(const struct hub_windows *w, struct hub_error *err)
{
    for (size_t i = 0; i < HUB_COUNT(owns); i++)
        for (uint32_t f = 0; f < w->field_count; f++)
            if (strcmp(w->fields[f].name, owns[i].name) == 0)
                return hub_fail_as(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE,
                                   "the field '%s' has the name of an array of every answer: leave it out",
                                   owns[i].name);
    return HUB_OK;
}

static void fill_own(const struct hub_windows_query *q, const struct window_column *own, uint8_t *to)
{
    const bool episode = strcmp(own->name, "episode") == 0;
    if (own->of_steps)
        memset(to, 0, q->count * q->length);
    for (uint32_t i = 0; i < q->count; i++) {
        const struct hub_window_query *w = &q->windows[i];
        if (own->of_steps)
            memset(to + i * q->length, 1, w->steps);
        else
            memcpy(to + i * sizeof w->start,
                   episode ? (const void *)&w->episode->number : (const void *)&w->start, sizeof w->start);
    }
}

static enum hub_status read_own(struct window_table *t, const struct hub_stream_part *part,
                                struct hub_error *err)
{
    const struct window_column *own = &owns[part->first - t->windows->field_count];
    t->rows = (struct hub_rows){.variant = own->variant, .rows = part->rows, .data = part->into};
    if (!part->into) {
        HUB_TRY(hub_new(&t->rows.data, part->rows, own->variant.item_size, err));
        t->rows.owned = true;
    }
    fill_own(&t->windows->query, own, t->rows.data);
    return HUB_OK;
}

static enum hub_status read_field(struct window_table *t, const struct hub_windows_field *field, void *into,
                                  struct hub_error *err)
{
    const bool picture = field->type == HUB_FIELD_IMAGE_JPEG || field->type == HUB_FIELD_IMAGE_PNG;
    HUB_TRY(hub_scatter_run(&field->many, t->request->parallel, into, &t->rows, err));
    t->nulls += hub_rows_nulls(&t->rows);
    return picture && !t->rows.offsets ? hub_rows_trim(&t->rows, err) : HUB_OK;
}

/* All rows of one column. */
static enum hub_status read_column(struct hub_table_stream *table, struct hub_stream_part *part,
                                   struct hub_error *err)
{
    struct window_table *t = (struct window_table *)table;
    const struct hub_windows *w = t->windows;
    hub_rows_dispose(&t->rows);
    HUB_TRY(part->first < w->field_count ? read_field(t, &w->fields[part->first], part->into, err)
                                         : read_own(t, part, err));
    t->rows.windows = t->columns[part->first].windowed ? w->query.count : 0;
    *part->of = t->rows;
    return HUB_OK;
}

static enum hub_status may_pad(struct hub_table_stream *table, uint32_t column, uint64_t bytes,
                               struct hub_error *err)
{
    const struct window_table *t = (struct window_table *)table;
    (void)column;
    if (bytes > HUB_ENCODE_MAX_BYTES)
        return hub_windows_too_large(t->windows, "the rows padded to the longest are more than 1 GiB", err);
    return hub_budget_take(t->request->app->budget, t->request, t->response, bytes * 2, err);
}

static void set_columns(struct window_table *t)
{
    const struct hub_windows *w = t->windows;
    for (uint32_t f = 0; f < w->field_count; f++) {
        const struct hub_windows_field *field = &w->fields[f];
        t->columns[f] = (struct hub_stream_column){.name = field->name,
                                                   .type = field->type,
                                                   .variant = field->many.variant,
                                                   .windowed = !field->bare,
                                                   .window = (uint32_t)field->rows,
                                                   .apart = true,
                                                   .rows = field->many.rows};
    }
    for (uint32_t i = 0; i < HUB_COUNT(owns); i++)
        t->columns[w->field_count + i] =
            (struct hub_stream_column){.name = owns[i].name,
                                       .type = owns[i].of_steps ? HUB_FIELD_BOOL : HUB_FIELD_NUMBER,
                                       .variant = owns[i].variant,
                                       .windowed = owns[i].of_steps,
                                       .window = (uint32_t)w->query.length,
                                       .apart = true,
                                       .rows = w->query.count * (owns[i].of_steps ? w->query.length : 1)};
}

enum hub_status hub_windows_write(struct hub_request *request, struct hub_response *response,
                                  const struct hub_windows *w, struct hub_buf *out, uint64_t *nulls,
                                  struct hub_error *err)
{
    static const struct hub_stream_source source = {.read = read_column, .pad = may_pad};
    const uint32_t count = w->field_count + (uint32_t)HUB_COUNT(owns);
    HUB_CLEANUP(dispose)
    struct window_table t = {.table = {.source = &source,
                                       .as = w->query.as,
                                       .count = count,
                                       .rows = w->query.count,
                                       .block = UINT64_MAX,
                                       .whole = true,
                                       .one_by_one = true},
                             .request = request,
                             .response = response,
                             .windows = w};
    HUB_TRY(hub_new(&t.columns, count, sizeof *t.columns, err));
    t.table.columns = t.columns;
    set_columns(&t);
    HUB_TRY(hub_table_stream_write(&t.table, out, err));
    *nulls = t.nulls;
    return HUB_OK;
}
