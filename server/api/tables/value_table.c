/* Tables of cells as text: see value_table.h. */
#include "server/api/tables/value_table.h"

#include "server/api/app.h"
#include "storage/encode/block.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define WHOLE_BYTES (8 * MIB) /* of a table that is made whole */
enum { LIGHT_CELLS = 20000, CELL_BYTES = 32 };

void hub_value_table_free(struct hub_value_table *cells)
{
    if (!cells)
        return;
    for (unsigned i = 0; i < cells->column_count; i++)
        free(cells->columns[i].name);
    hub_npz_writer_free(cells->zip);
    hub_block_trail_dispose(&cells->trail);
    cells->dispose(cells);
    free(cells);
}

static void maker_free(struct hub_body_producer *maker)
{
    hub_value_table_free((struct hub_value_table *)maker);
}

/* ---- cells ---- */

/* Nothing between the commas, as "" would make texts of a column of numbers; but for readers that pass over
 * empty lines. */
static bool is_null(const struct hub_value_table *cells, unsigned number, const struct hub_values *values)
{
    return !values->count && !cells->columns[number].several && cells->column_count > 1;
}

static enum hub_status add_csv_cell(struct hub_value_table *cells, unsigned number, uint32_t row,
                                    struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf cell = HUB_BUF_INIT(1 * MIB);
    struct hub_values values;
    HUB_TRY(cells->get(cells, row, number, &values, err));
    HUB_TRY(hub_value_table_text(&cells->columns[number], &values, &cell, err));
    if (!is_null(cells, number, &values))
        HUB_TRY(hub_csv_text(hub_buf_view(&cell), out, err));
    return hub_buf_add_text(out, number + 1 < cells->column_count ? "," : "\n", err);
}

/* ---- forms ---- */

static bool is_full_chunk(const struct hub_buf *out)
{
    return out->size >= HUB_BODY_STREAM_BLOCK;
}

static void begin_json(const struct hub_value_table *t, struct hub_json *json)
{
    hub_json_object(json);
    if (t->revision)
        hub_json_put_text(json, "revision", t->revision);
    hub_json_put_uint(json, "total", t->rows);
    if (t->measured[1]) {
        hub_json_put_array(json, "measured");
        hub_json_uint(json, t->measured[0]);
        hub_json_uint(json, t->measured[1]);
        hub_json_end_array(json);
    }
    hub_json_put_object(json, "columns");
}

/* {"revision":…,"total":…,"columns":{name:[…],…}} */
static enum hub_status more_json(struct hub_value_table *t, struct hub_buf *out, struct hub_error *err)
{
    struct hub_json json = hub_json_to(out, err);
    if (!t->begun && t->column == 0)
        begin_json(t, &json);
    while (t->column < t->column_count && !is_full_chunk(out)) {
        if (!t->begun) {
            json.comma = t->column > 0;
            hub_json_put_array(&json, t->columns[t->column].name);
            t->begun = true;
        }
        for (; t->at < t->rows && !is_full_chunk(out); t->at++) {
            json.comma = t->at > 0;
            HUB_TRY(hub_value_table_put(t, t->column, t->at, &json, err));
        }
        if (t->at < t->rows)
            return HUB_OK;
        hub_json_end_array(&json);
        t->column++;
        t->at = 0;
        t->begun = false;
    }
    t->ended = t->column == t->column_count;
    HUB_TRY(hub_json_status(&json));
    return t->ended ? hub_buf_add_text(out, "}}\n", err) : HUB_OK;
}

/* An object a line. */
static enum hub_status more_jsonl(struct hub_value_table *t, struct hub_buf *out, struct hub_error *err)
{
    for (; t->at < t->rows && !is_full_chunk(out); t->at++) {
        struct hub_json json = hub_json_to(out, err);
        hub_json_object(&json);
        for (unsigned i = 0; i < t->column_count; i++) {
            hub_json_key(&json, hub_view_of(t->columns[i].name));
            HUB_TRY(hub_value_table_put(t, i, t->at, &json, err));
        }
        hub_json_end_object(&json);
        HUB_TRY(hub_json_status(&json));
        HUB_TRY(hub_buf_add_text(out, "\n", err));
    }
    t->ended = t->at == t->rows;
    return HUB_OK;
}

/* A line of names, then a line a row. */
static enum hub_status more_csv(struct hub_value_table *t, struct hub_buf *out, struct hub_error *err)
{
    for (unsigned i = 0; i < t->column_count && !t->begun; i++) {
        HUB_TRY(hub_csv_text(hub_view_of(t->columns[i].name), out, err));
        HUB_TRY(hub_buf_add_text(out, i + 1 < t->column_count ? "," : "\n", err));
    }
    t->begun = true;
    for (; t->at < t->rows && !is_full_chunk(out); t->at++)
        for (unsigned i = 0; i < t->column_count; i++)
            HUB_TRY(add_csv_cell(t, i, t->at, out, err));
    t->ended = t->at == t->rows;
    return HUB_OK;
}

#define ARROW "application/vnd.apache.arrow."
static const struct hub_value_table_form forms[] = {
    {"json", "application/json", "application/json", NULL, more_json},
    {"jsonl", "application/x-ndjson", "application/x-ndjson", NULL, more_jsonl},
    {"csv", "text/csv", "text/csv; charset=utf-8; header=present", NULL, more_csv},
    {"arrow", ARROW "stream", ARROW "stream", hub_value_table_prepare_arrow, hub_value_table_more_arrow},
    {"arrow-file", ARROW "file", ARROW "file", hub_value_table_prepare_arrow, hub_value_table_more_arrow},
    {"npz", "application/x-npz", "application/x-npz", hub_value_table_prepare_npz, hub_value_table_more_npz},
};

/* ---- the answer ---- */

enum hub_status hub_value_table_read_form(const struct hub_request *request, bool filter,
                                          struct hub_value_table *cells, struct hub_error *err)
{
    const char *accept = hub_request_header(request, "Accept");
    bool named = false;
    cells->form = &forms[0];
    for (unsigned i = 0; i < request->query_count; i++) {
        const struct hub_param *p = &request->query[i];
        size_t form = 0;
        if (!hub_view_is(p->name, "format"))
            continue;
        while (form < HUB_COUNT(forms) && !hub_view_is(p->value, forms[form].name))
            form++;
        if (form == HUB_COUNT(forms) && !filter)
            return hub_request_wrong(request, "format", err,
                                     "format must be one of json, jsonl, csv, arrow, arrow-file, npz");
        if (form == HUB_COUNT(forms))
            continue;
        cells->form = &forms[form];
        named = true;
    }
    for (size_t i = HUB_COUNT(forms); accept && !named && i-- > 0;)
        if (strstr(accept, forms[i].accept))
            cells->form = &forms[i];
    return HUB_OK;
}

enum hub_status hub_value_table_check_names(const struct hub_request *request,
                                            const struct hub_value_table *cells, struct hub_error *err)
{
    for (unsigned i = 1; i < cells->column_count; i++)
        for (unsigned k = 0; k < i; k++)
            if (strcmp(cells->columns[k].name, cells->columns[i].name) == 0)
                return hub_request_wrong(request, "columns", err,
                                         "two columns would be named '%.200s': name each once",
                                         cells->columns[i].name);
    return HUB_OK;
}

enum hub_status hub_value_table_read_limit(const struct hub_request *request, uint32_t *limit,
                                           struct hub_error *err)
{
    int64_t value;
    bool given;
    HUB_TRY(hub_request_int(request, "limit", &value, &given, err));
    if (given && value < 1)
        return hub_request_wrong(request, "limit", err, "limit must be at least 1; without it all are sent");
    *limit = given && value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
    return HUB_OK;
}

const char *hub_value_table_form_name(const struct hub_value_table *cells)
{
    return cells->form->name;
}

/* Within a block. */
static enum hub_status within(struct hub_value_table *t,
                              enum hub_status (*what)(struct hub_value_table *, struct hub_buf *,
                                                      struct hub_error *),
                              struct hub_buf *out, struct hub_error *err)
{
    enum hub_status st = t->begin ? t->begin(t, err) : HUB_OK;
    st = st ? st : what ? what(t, out, err) : t->form->prepare(t, err);
    if (t->end)
        t->end(t);
    return st;
}

static enum hub_status more(struct hub_body_producer *maker, struct hub_buf *out, struct hub_error *err)
{
    struct hub_value_table *t = (struct hub_value_table *)maker;
    return t->ended ? HUB_OK : within(t, t->form->more, out, err);
}

/* From its start, once it was prepared. */
static enum hub_status rewind_cells(struct hub_value_table *t, struct hub_error *err)
{
    t->column = t->at = 0;
    t->begun = t->ended = false;
    return t->zip ? hub_value_table_begin_npz(t, err) : HUB_OK;
}

/* All of it; false: that is too long. */
static enum hub_status make_all(struct hub_value_table *t, struct hub_buf *all, bool *whole,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf chunk = HUB_BUF_INIT(HUB_BODY_STREAM_LIMIT);
    while (!t->ended && all->size + chunk.size <= WHOLE_BYTES) {
        chunk.size = 0;
        HUB_TRY(more(&t->maker, &chunk, err));
        HUB_TRY(hub_buf_add_view(all, hub_buf_view(&chunk), err));
    }
    *whole = t->ended && all->size <= WHOLE_BYTES;
    return HUB_OK;
}

static enum hub_status send_part(struct hub_request *request, struct hub_response *response,
                                 const struct hub_value_table *t, const char *etag, struct hub_view all,
                                 struct hub_error *err)
{
    const struct hub_validators validators = {etag, -1};
    struct hub_byte_range range = {0};
    HUB_TRY(hub_bytes_range(request, &validators, all.size, response, &range, err));
    if (range.answered)
        return HUB_OK;
    const unsigned status = range.partial ? 206 : 200;
    struct hub_buf *out = hub_response_buffer(response, status, t->form->type, WHOLE_BYTES);
    return hub_buf_add(out, all.data + range.first, (size_t)range.count, err);
}

/* For who asks for a part, or for the headers alone. */
static enum hub_status answer_whole(struct hub_request *request, struct hub_response *response,
                                    struct hub_value_table *t, const char *etag, bool *whole,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf all = HUB_BUF_INIT(WHOLE_BYTES + HUB_BODY_STREAM_LIMIT);
    const uint64_t before = response->reserved;
    HUB_TRY(hub_budget_take(request->app->budget, request, response, 2 * WHOLE_BYTES, err));
    HUB_TRY(make_all(t, &all, whole, err));
    if (!*whole)
        hub_response_release(response, before);
    return *whole ? send_part(request, response, t, etag, hub_buf_view(&all), err) : rewind_cells(t, err);
}

static bool is_json(const struct hub_value_table *t)
{
    return t->form == &forms[0];
}

enum hub_status hub_value_table_answer(struct hub_request *request, struct hub_response *response,
                                       const char *etag, struct hub_value_table **cells,
                                       struct hub_error *err)
{
    struct hub_value_table *t = *cells;
    uint64_t nulls = 0;
    bool whole = false;
    t->maker = (struct hub_body_producer){more, maker_free};
    HUB_TRY(hub_response_header(response, err, "X-Total-Count", "%" PRIu32, t->rows));
    HUB_TRY(hub_response_header(response, err, "Vary", "Accept"));
    if (t->form->prepare && (uint64_t)t->rows * t->column_count > LIGHT_CELLS && !request->heavy)
        return hub_await_heavy(request);
    if (t->form->prepare) {
        HUB_TRY(hub_budget_take(request->app->budget, request, response,
                                t->column_count * HUB_VALUE_TABLE_BLOCK * (uint64_t)CELL_BYTES + 2 * MIB,
                                err));
        HUB_TRY(within(t, NULL, NULL, err));
    }
    for (unsigned i = 0; i < t->column_count; i++)
        nulls += t->columns[i].nulls;
    if (nulls)
        HUB_TRY(hub_response_header(response, err, "X-Null-Count", "%" PRIu64, nulls));
    if (!is_json(t))
        HUB_TRY(hub_response_header(response, err, "Accept-Ranges", "bytes"));
    if (!is_json(t) && (request->method == HUB_HEAD || hub_request_header(request, "Range")))
        HUB_TRY(answer_whole(request, response, t, etag, &whole, err));
    if (whole)
        return HUB_OK;
    *cells = NULL; /* the response's */
    return hub_response_made(response, 200, t->form->type, &t->maker, err);
}
