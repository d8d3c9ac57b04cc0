/* Bands: GET .../episodes/{n}/{field}?runs=, runs of equal values of bools, integers and texts. */
#include "server/api/handlers.h"

#include "server/api/episodes/episode_selection.h"
#include "server/api/reply.h"
#include "server/api/rows/row_cost.h"
#include "server/api/work.h"
#include "storage/encode/encode.h"
#include "storage/rows/row_reader.h"

#include <inttypes.h>

#define BLOCK_BYTES (256 * KIB)
#define MEMORY (8 * MIB) /* a block of long texts, and the answer */

struct runs_args {
    struct hub_target target;
    struct hub_selection selection;
    struct hub_slice slice; /* rows of the episode */
    int64_t most;
};

static void question_dispose(struct runs_args *q)
{
    hub_selection_dispose(&q->selection);
    hub_target_dispose(&q->target);
}

/* ---- the question ---- */

static enum hub_status check_type(const struct runs_args *q, struct hub_error *err)
{
    const struct hub_selected_field *selected = &q->selection.fields[0];
    const struct hub_dataset_field *field = &q->target.state.dataset->fields[selected->field];
    const struct hub_variant *v = selected->plan.variant;
    const bool whole = v->kind == HUB_KIND_INT || v->kind == HUB_KIND_UINT || v->kind == HUB_KIND_BOOL;
    const bool numbers = (field->type == HUB_FIELD_NUMBER || field->type == HUB_FIELD_BOOL) && whole;
    if (!selected->bare && hub_variant_row_items(v) == 1 && (numbers || field->type == HUB_FIELD_TEXT))
        return HUB_OK;
    return hub_fail_as(
        err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE,
        "'%s' is %s: runs need bools, integers or texts, one per row; for other numbers use buckets=",
        field->path, field->dtype);
}

static enum hub_status read_rows(const struct hub_request *request, struct runs_args *q,
                                 struct hub_error *err)
{
    int64_t start, stop;
    (void)hub_request_int(request, "runs", &q->most);
    const bool has_start = hub_request_int(request, "start", &start);
    const bool has_stop = hub_request_int(request, "stop", &stop);
    return hub_slice_resolve(has_start ? &start : NULL, has_stop ? &stop : NULL, NULL,
                             q->selection.fields[0].slice.count, &q->slice, err);
}

static enum hub_status parse_query(struct hub_request *request, struct hub_response *response,
                                   struct runs_args *q, struct hub_error *err)
{
    static const struct hub_row_range whole = {.of_several = true};
    const struct hub_dataset_episode *episode;
    HUB_TRY(hub_resolve(request, response, HUB_TO_DATASET | HUB_TO_READY, &q->target, err));
    const struct hub_dataset *dataset = q->target.state.dataset;
    const struct hub_view path = hub_request_capture(request, "path");
    const uint32_t field = hub_dataset_find_field(dataset, path);
    HUB_TRY(hub_find_episode(request, dataset, &episode, err));
    if (field == HUB_NONE)
        return hub_no_field(request, &q->target.state, path, err);
    const struct hub_row_query query = {dataset, episode, &field, 1, &whole};
    const struct hub_rows_context rows = hub_request_rows(request);
    HUB_TRY(hub_select(&rows, &query, &q->selection, err));
    HUB_TRY(check_type(q, err));
    return read_rows(request, q, err);
}

static void etag_of(const struct runs_args *q, char out[40])
{
    const uint64_t how[] = {q->slice.start, q->slice.count, (uint64_t)q->most,
                            (uint64_t)q->selection.episode->number};
    const struct hub_dataset_field *field = &q->target.state.dataset->fields[q->selection.fields[0].field];
    const struct hub_view parts[] = {HUB_VIEW("runs 1"),
                                     hub_view_of(q->target.summary->revision),
                                     hub_view_of(q->target.summary->id),
                                     hub_view_of(field->path),
                                     {(const char *)how, sizeof how}};
    hub_fingerprint(out, parts, HUB_COUNT(parts));
}

/* ---- the answer ---- */

struct runs {
    const struct hub_row_reader *reading;
    struct hub_json *json;
    struct hub_buf value, next; /* as JSON: the present one's, a row's */
    int64_t left;
    uint64_t from;
    bool begun;
};

static void runs_dispose(struct runs *r)
{
    hub_buf_dispose(&r->value);
    hub_buf_dispose(&r->next);
}

static void put_run(struct runs *r, uint64_t to)
{
    hub_json_array(r->json);
    hub_json_uint(r->json, r->from);
    hub_json_uint(r->json, to);
    hub_json_raw(r->json, hub_buf_view(&r->value));
    hub_json_end_array(r->json);
    r->left--;
}

static bool is_same(const struct hub_rows *rows, uint64_t i)
{
    if (rows->valid && rows->valid[i] != rows->valid[i - 1])
        return false;
    if (rows->offsets) {
        const struct hub_view a = hub_item_at(rows, i - 1), b = hub_item_at(rows, i);
        return a.size == b.size && !memcmp(a.data, b.data, a.size);
    }
    const uint64_t size = hub_variant_row_bytes(&rows->variant);
    return !memcmp(rows->data + (i - 1) * size, rows->data + i * size, size);
}

/* One row as JSON, into r->next. */
static enum hub_status write_value(struct runs *r, const struct hub_rows *rows, uint64_t i,
                                   struct hub_error *err)
{
    uint64_t odd = 0;
    struct hub_rows one = *rows;
    one.rows = 1;
    one.owned = false;
    one.data += rows->offsets ? 0 : i * hub_variant_row_bytes(&rows->variant);
    one.offsets = rows->offsets ? rows->offsets + i : NULL;
    one.valid = rows->valid ? rows->valid + i : NULL;
    r->next.size = 0;
    return hub_json_rows(r->reading->as[0].type, &one, true, HUB_NONFINITE_NULL, &odd, &r->next, err);
}

/* Row `at` of the episode begins a run, unless it has the value of the one before, which was in another
 * block. */
static enum hub_status begin_run(struct runs *r, const struct hub_rows *rows, uint64_t i, uint64_t at,
                                 struct hub_error *err)
{
    HUB_TRY(write_value(r, rows, i, err));
    const bool same =
        r->begun && r->value.size == r->next.size && !memcmp(r->value.data, r->next.data, r->next.size);
    if (same)
        return HUB_OK;
    if (r->begun)
        put_run(r, at);
    const struct hub_buf old = r->value;
    r->value = r->next;
    r->next = old;
    r->from = at;
    r->begun = true;
    return HUB_OK;
}

/* Up to the row where no more runs are asked for. */
static enum hub_status take_rows(struct runs *r, const struct hub_rows *rows, uint64_t first, uint64_t *end,
                                 struct hub_error *err)
{
    for (uint64_t i = 0; i < rows->rows; i++) {
        if (i && is_same(rows, i))
            continue;
        HUB_TRY(begin_run(r, rows, i, first + i, err));
        if (!r->left) {
            *end = first + i;
            return HUB_OK;
        }
    }
    *end = first + rows->rows;
    return HUB_OK;
}

static bool nobody_waits(const struct hub_request *request)
{
    const struct hub_parallel *parallel = request->parallel;
    return parallel && parallel->cancelled && atomic_load(parallel->cancelled);
}

static enum hub_status write_runs(const struct hub_request *request, struct hub_row_reader *reading,
                                  const struct runs_args *q, struct runs *r, uint64_t *end,
                                  struct hub_error *err)
{
    const uint64_t count = q->slice.count;
    const uint64_t most =
        HUB_MAX(BLOCK_BYTES / HUB_MAX(hub_row_reader_row_bytes(reading, 0, 1), UINT64_C(1)), UINT64_C(1));
    for (uint64_t at = 0, got; at < count && r->left; at += got) {
        if (nobody_waits(request))
            return hub_fail(err, HUB_CANCELLED, "the request for these rows has ended");
        HUB_TRY(hub_row_reader_rows(reading, 0, 1, at, HUB_MIN(count - at, most), &got, err));
        HUB_TRY(take_rows(r, &reading->rows[0], q->slice.start + at, end, err));
    }
    if (r->begun && r->left)
        put_run(r, *end);
    return hub_json_status(r->json);
}

static enum hub_status begin_reading(struct hub_request *request, struct runs_args *q,
                                     struct hub_row_reader *reading, struct hub_error *err)
{
    struct hub_selected_field *selected = &q->selection.fields[0];
    reading->context = hub_request_rows(request);
    reading->column_count = 1;
    reading->columns[0] = (struct hub_row_reader_column){.field = selected->field, .as_items = true};
    selected->plan.slice.start += q->slice.start;
    selected->plan.slice.count = q->slice.count;
    reading->dataset = q->target.state.dataset; /* its reference */
    q->target.state.dataset = NULL;
    return hub_row_reader_begin_at(reading, &q->selection, err);
}

static enum hub_status answer(struct hub_request *request, struct runs_args *q, struct hub_response *response,
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_row_reader_dispose) struct hub_row_reader reading = {0};
    HUB_TRY(begin_reading(request, q, &reading, err));
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, "application/json", 64 * MIB), err);
    HUB_CLEANUP(runs_dispose)
    struct runs runs = {.reading = &reading,
                        .json = &json,
                        .left = q->most,
                        .value = HUB_BUF_INIT(16 * MIB),
                        .next = HUB_BUF_INIT(16 * MIB)};
    uint64_t end = q->slice.start;
    hub_json_object(&json);
    hub_json_put_text(&json, "revision", q->target.summary->revision);
    hub_json_put_uint(&json, "start", q->slice.start);
    hub_json_put_array(&json, "runs");
    HUB_TRY(write_runs(request, &reading, q, &runs, &end, err));
    hub_json_end_array(&json);
    hub_json_put_uint(&json, "stop", end);
    hub_json_put_bool(&json, "complete", end == q->slice.start + q->slice.count);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

enum hub_status hub_runs_data(struct hub_request *request, struct hub_response *response,
                              struct hub_error *err)
{
    HUB_CLEANUP(question_dispose) struct runs_args q = {0};
    char etag[40];
    bool done = false;
    double us = 0;
    HUB_TRY(parse_query(request, response, &q, err));
    etag_of(&q, etag);
    if (hub_accepts_gzip(request))
        hub_reply_gzip_etag(etag);
    HUB_TRY(hub_resolve_headers(request, &q.target, response, err));
    HUB_TRY(hub_response_header(response, err, "Vary", "Accept-Encoding"));
    HUB_TRY(hub_resolve_conditions(request, response, etag, -1, &done, err));
    if (done)
        return HUB_OK;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(
        hub_rows_price(&q.selection.fields[0].plan, q.slice.start, q.slice.start + q.slice.count, &us, err));
    HUB_TRY(hub_work_admit_us(request, HUB_WORK_ROWS, us, err));
    HUB_TRY(hub_budget_take(request->app->budget, request, response, MEMORY, err));
    HUB_TRY(answer(request, &q, response, err));
    return hub_reply_compressed(request, response, err);
}
