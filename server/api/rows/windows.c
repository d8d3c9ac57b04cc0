/* Windows of many episodes: see windows.h. */
#include "server/api/rows/windows.h"

#include "server/api/negotiate.h"
#include "server/api/work.h"
#include "storage/base/order.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    MAX_PARTS = 256 * 1024, /* windows times fields */
    MAX_FILES = 1024,       /* of one answer: they are open together */
    ENCODE_BYTES_US = 8000, /* bytes that are written and summed in a microsecond, about */
};

struct hub_windows_source {
    const struct hub_dataset *dataset;
    uint32_t number; /* of the dataset */
    uint32_t part;
    struct hub_plan_files files;
    struct hub_wants wants;
    struct hub_layout_ref **layouts; /* of each field */
};

void hub_windows_dispose(struct hub_windows *w)
{
    for (uint32_t i = 0; i < w->source_count; i++) {
        struct hub_windows_source *source = &w->sources[i];
        hub_plan_files_dispose(&source->files);
        hub_wants_dispose(&source->wants);
        for (uint32_t f = 0; source->layouts && f < w->field_count; f++)
            hub_layout_put(source->layouts[f]);
        free(source->layouts);
    }
    for (uint32_t f = 0; w->fields && f < w->field_count; f++) {
        hub_scatter_dispose(&w->fields[f].many);
        free(w->fields[f].many.parts);
    }
    hub_wants_dispose(&w->wants);
    hub_fetch_put(w->fetch);
    free(w->sources);
    free(w->lists);
    free(w->fields);
    *w = (struct hub_windows){0};
}

/* ---- sources ---- */

static int by_part(const void *a_, const void *b_)
{
    const struct hub_windows_source *a = a_, *b = b_;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->part > b->part) - (a->part < b->part);
}

static struct hub_windows_source *source_of(const struct hub_windows *w,
                                            const struct hub_window_query *window)
{
    const struct hub_windows_source key = {.number = window->dataset, .part = window->episode->part};
    return bsearch(&key, w->sources, w->source_count, sizeof key, by_part);
}

/* The parts of the datasets that windows lie in, each once, with the layouts of the fields. */
static enum hub_status open_sources(struct hub_request *request, struct hub_windows *w, struct hub_error *err)
{
    const struct hub_windows_query *q = &w->query;
    uint32_t count = 0;
    HUB_TRY(hub_new(&w->sources, q->count, sizeof *w->sources, err));
    HUB_TRY(hub_new(&w->lists, q->count, sizeof *w->lists, err));
    for (uint32_t i = 0; i < q->count; i++)
        w->sources[i] = (struct hub_windows_source){.dataset = q->datasets[q->windows[i].dataset],
                                                    .number = q->windows[i].dataset,
                                                    .part = q->windows[i].episode->part};
    qsort(w->sources, q->count, sizeof *w->sources, by_part);
    for (uint32_t i = 0; i < q->count; i++)
        if (!count || by_part(&w->sources[i], &w->sources[count - 1]))
            w->sources[count++] = w->sources[i];
    w->source_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct hub_windows_source *source = &w->sources[i];
        w->lists[i] = &source->files;
        source->files.wants = hub_store_in_place() ? NULL : &source->wants;
        HUB_TRY(hub_new(&source->layouts, w->field_count, sizeof *source->layouts, err));
        for (uint32_t f = 0; f < w->field_count; f++)
            HUB_TRY(hub_layout_get(request->app->catalog, source->dataset, source->part,
                                   q->fields[source->number].fields[f], true, &source->layouts[f], err));
    }
    return HUB_OK;
}

/* ---- refusals ---- */

enum hub_status hub_windows_too_large(const struct hub_windows *w, const char *what, struct hub_error *err)
{
    char count[24];
    snprintf(count, sizeof count, "%" PRIu32, w->query.count);
    return hub_fail_about(err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LARGE, w->query.counted, count,
                          "%s: request fewer windows, shorter ones, or fewer fields", what);
}

/* ---- parts: where the rows of each window lie ---- */

static enum hub_status mixed(const struct hub_windows *w, const struct hub_windows_field *field,
                             const struct hub_window_query *window, struct hub_error *err)
{
    const char *id = w->query.datasets[window->dataset]->summary->id;
    return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_PARAMETER, "fields", field->name,
                          "'%s' has rows of another shape or type in episode %" PRId64
                          " of '%s' than in episode %" PRId64
                          " of '%s': one array holds one kind of rows, so request them separately",
                          field->name, window->episode->number, id, w->query.windows[0].episode->number,
                          w->query.datasets[w->query.windows[0].dataset]->summary->id);
}

static enum hub_status too_short(const struct hub_windows_field *field, const struct hub_window_query *window,
                                 uint64_t rows, struct hub_error *err)
{
    return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_PARAMETER, "fields", field->name,
                          "'%s' has %" PRIu64 " rows in episode %" PRId64 ", which has %" PRIu64
                          " steps: use pad=edge or pad=zero, or leave out the field",
                          field->name, rows, window->episode->number, window->episode->steps);
}

/* Rows of a field that lie along the steps: where they begin, and how many a window has. */
static void along_steps(const struct hub_windows_query *q, enum hub_axis axis,
                        const struct hub_window_query *window, uint64_t *first, uint64_t *want,
                        uint64_t *rows)
{
    const bool more = axis == HUB_AXIS_STATE && q->final_row;
    *first = window->start + (axis == HUB_AXIS_SHIFTED);
    *want = window->steps + more;
    *rows = q->length + more;
}

/* Text, and runs of bytes with their lengths, are padded to the longest, known once they are read. */
static bool is_padded(const struct hub_windows_field *field)
{
    return field->type == HUB_FIELD_TEXT || hub_encode_as_bytes(field->type, &field->many.variant);
}

static bool is_item(const struct hub_windows_field *field)
{
    return is_padded(field) && hub_encode_as_item(field->type, &field->many.variant);
}

/* The first window says how the rows of all of them have to be. */
static bool is_like_first(struct hub_windows_field *field, const struct hub_windows_field *own, uint32_t i)
{
    if (i == 0) {
        field->type = own->type;
        field->bare = own->bare;
        field->rows = own->rows;
        field->many.variant = own->many.variant;
    }
    const bool equal = hub_variant_equal(&field->many.variant, &own->many.variant);
    field->mixed |= !equal;
    return field->type == own->type && field->bare == own->bare && field->rows == own->rows &&
           (equal || (is_item(field) && is_item(own)));
}

/* Texts or files of one size in some episodes, and of their own or another in others. */
static void mix(struct hub_windows_field *field)
{
    const bool picture = field->type == HUB_FIELD_IMAGE_JPEG || field->type == HUB_FIELD_IMAGE_PNG;
    field->many.variant = (struct hub_variant){.kind = HUB_KIND_VAR};
    field->many.sized = field->type == HUB_FIELD_TEXT ? HUB_SIZED_TEXT
                        : picture                     ? HUB_SIZED_TRIMMED
                                                      : HUB_SIZED_WHOLE;
}

/* The part of one window in a field's array. */
static enum hub_status add_part(struct hub_windows *w, uint32_t f, uint32_t i, struct hub_error *err)
{
    const struct hub_windows_query *q = &w->query;
    const struct hub_window_query *window = &q->windows[i];
    struct hub_windows_source *source = source_of(w, window);
    const struct hub_dataset_field *known = &source->dataset->fields[q->fields[window->dataset].fields[f]];
    const struct hub_layout *layout = hub_layout_of(source->layouts[f]);
    struct hub_windows_field *field = &w->fields[f];
    const struct hub_window *all;
    HUB_TRY(hub_layout_find(source->layouts[f], window->episode, &all, err));
    const struct hub_array *array = &layout->arrays[all->array];
    struct hub_windows_field own = {.type = known->type,
                                    .bare = array->flags & HUB_ARRAY_SCALAR,
                                    .rows = all->count,
                                    .many.variant = layout->variants[array->variant]};
    uint64_t first = 0, want = all->count;
    if (known->axis != HUB_AXIS_NONE && !own.bare)
        along_steps(q, known->axis, window, &first, &want, &own.rows);
    if (!is_like_first(field, &own, i))
        return mixed(w, field, window, err);
    const uint64_t have = first < all->count ? HUB_MIN(want, all->count - first) : 0;
    if (have < want && q->pad == HUB_PAD_REFUSE)
        return too_short(field, window, all->count, err);
    field->many.parts[i] =
        (struct hub_scatter_part){.layout = layout,
                                  .array = array,
                                  .files = &source->files,
                                  .first = all->first + first,
                                  .count = have,
                                  .to = i * own.rows,
                                  .repeat = have && q->pad == HUB_PAD_EDGE ? own.rows - have : 0};
    return HUB_OK;
}

static enum hub_status plan_field(struct hub_windows *w, uint32_t f, struct hub_error *err)
{
    const struct hub_windows_query *q = &w->query;
    struct hub_windows_field *field = &w->fields[f];
    struct hub_scatter *many = &field->many;
    field->name = q->datasets[0]->fields[q->fields[0].fields[f]].path;
    HUB_TRY(hub_new(&many->parts, q->count, sizeof *many->parts, err));
    many->count = q->count;
    for (uint32_t i = 0; i < q->count; i++)
        HUB_TRY(add_part(w, f, i, err));
    if (field->mixed)
        mix(field);
    many->rows = q->count * field->rows;
    HUB_TRY(hub_encode_check(field->type, &many->variant, q->as, many->rows, err));
    const enum hub_status st = hub_scatter_price(many, err);
    return st == HUB_TOO_BIG ? hub_windows_too_large(w, "more than 2 GiB of rows", err) : st;
}

/* ---- the plan ---- */

static enum hub_status check_size(const struct hub_windows *w, struct hub_error *err)
{
    char what[100];
    if (w->bytes_out <= HUB_ENCODE_MAX_BYTES)
        return HUB_OK;
    snprintf(what, sizeof what, "%" PRIu64 " MiB of rows in one answer; at most %zu", w->bytes_out / MIB,
             HUB_ENCODE_MAX_BYTES / MIB);
    return hub_windows_too_large(w, what, err);
}

static enum hub_status check_files(const struct hub_windows *w, struct hub_error *err)
{
    uint64_t files = 0;
    char what[100];
    for (uint32_t i = 0; i < w->source_count; i++)
        files += w->sources[i].files.count;
    if (files <= MAX_FILES)
        return HUB_OK;
    snprintf(what, sizeof what, "the windows lie in %" PRIu64 " files; at most %d are read for one answer",
             files, MAX_FILES);
    return hub_windows_too_large(w, what, err);
}

static enum hub_status plan(struct hub_request *request, struct hub_response *response, struct hub_windows *w,
                            struct hub_error *err)
{
    const uint64_t parts = (uint64_t)w->query.count * w->field_count;
    const size_t each = sizeof(struct hub_scatter_part) + sizeof(void *);
    if (parts > MAX_PARTS)
        return hub_windows_too_large(w, "more than 262144 pieces of fields in one answer", err);
    HUB_TRY(hub_budget_take(request->app->budget, request, response,
                            parts * each + w->query.count * sizeof *w->sources, err));
    HUB_TRY(hub_new(&w->fields, w->field_count, sizeof *w->fields, err));
    HUB_TRY(open_sources(request, w, err));
    for (uint32_t f = 0; f < w->field_count; f++) {
        const struct hub_scatter *many = &w->fields[f].many;
        HUB_TRY(plan_field(w, f, err));
        w->bytes_out += many->bytes_out;
        w->memory += many->memory + (is_padded(&w->fields[f]) ? 2 * many->bytes_out : 0);
        w->cost_us += many->cost_ns / 1000;
        HUB_TRY(check_size(w, err));
    }
    w->cost_us += w->bytes_out / ENCODE_BYTES_US;
    return check_files(w, err);
}

enum hub_status hub_windows_plan(struct hub_request *request, struct hub_response *response,
                                 const struct hub_windows_query *query, struct hub_windows *out,
                                 struct hub_error *err)
{
    *out = (struct hub_windows){.query = *query, .field_count = query->fields[0].count};
    const enum hub_status st = plan(request, response, out, err);
    if (st)
        hub_windows_dispose(out);
    return st;
}

/* ---- files and bytes ---- */

static enum hub_status admit(struct hub_request *request, const struct hub_windows *w, struct hub_error *err)
{
    char what[100];
    if (request->ceiling_ms && w->cost_us > request->ceiling_ms * UINT64_C(1000)) {
        snprintf(what, sizeof what, "these rows take about %" PRIu64 " s to decode; one answer may take %u s",
                 w->cost_us / 1000000, request->ceiling_ms / 1000);
        return hub_windows_too_large(w, what, err);
    }
    if (hub_work_is_heavy((double)w->cost_us) && !request->heavy && request->method != HUB_HEAD)
        return hub_await_heavy(request);
    return HUB_OK;
}

static enum hub_status open_files(struct hub_request *request, struct hub_windows *w, struct hub_error *err)
{
    const struct hub_rows_context rows = hub_request_rows(request);
    for (uint32_t i = 0; i < w->source_count; i++) {
        struct hub_windows_source *source = &w->sources[i];
        HUB_TRY(hub_rows_open(&rows, source->dataset, source->part, &source->files, err));
    }
    return HUB_OK;
}

static enum hub_status fetch(struct hub_request *request, struct hub_windows *w, struct hub_error *err)
{
    enum hub_status st = HUB_OK;
    if (w->fetch)
        st = hub_fetch_result(w->fetch, err);
    else if (w->wants.count)
        st = hub_fetch_start(&w->wants, &w->fetch, err);
    for (uint32_t i = 0; i < w->source_count; i++)
        w->sources[i].files.fetch = w->fetch;
    return st == HUB_AGAIN ? hub_await_bytes(request, w->fetch) : st;
}

static enum hub_status unchanged(struct hub_request *request, const struct hub_windows *w,
                                 struct hub_error *err)
{
    const struct hub_rows_context rows = hub_request_rows(request);
    for (uint32_t i = 0; i < w->source_count; i++) {
        const struct hub_windows_source *source = &w->sources[i];
        for (uint32_t k = 0; k < source->files.count; k++)
            if (hub_file_unchanged(source->files.items[k].file, NULL))
                return hub_rows_changed(&rows, source->dataset->summary, err);
    }
    return HUB_OK;
}

/* ---- the answer ---- */

enum hub_status hub_windows_format(const struct hub_request *request, const struct hub_representation **out,
                                   struct hub_error *err)
{
    static const struct hub_offer offer = {.list = HUB_LIST_OF_WINDOWS, .what = "rows of many episodes"};
    return hub_negotiate(request, &offer, out, err);
}

/* A table of rows has a field that is read beside the answer. */
static uint64_t largest(const struct hub_windows *w)
{
    uint64_t bytes = 0;
    for (uint32_t f = 0; f < w->field_count && hub_representation_is_of_rows(w->query.as); f++)
        bytes = HUB_MAX(bytes, w->fields[f].many.bytes_out);
    return bytes;
}

enum hub_status hub_windows_answer(struct hub_request *request, struct hub_windows *w,
                                   struct hub_response *response, struct hub_error *err)
{
    enum { MEMBER_BYTES = 8 * 1024 }; /* of its name, twice, and its headers */
    uint64_t nulls = 0;
    const uint64_t own = w->query.count * (w->query.length + 16) + (w->field_count + 4) * MEMBER_BYTES;
    HUB_TRY(hub_windows_check_names(w, err));
    HUB_TRY(admit(request, w, err));
    HUB_TRY(open_files(request, w, err));
    if (request->method == HUB_HEAD)
        return hub_response_unsent(response, 200, w->query.as->media_type, HUB_LENGTH_UNKNOWN, err);
    HUB_TRY(hub_scatter_wants(w->lists, w->source_count, &w->wants, err));
    uint64_t fetched = 0;
    for (uint32_t i = 0; i < w->wants.count; i++)
        fetched += w->wants.items[i].size;
    HUB_TRY(hub_budget_take(request->app->budget, request, response,
                            w->bytes_out + w->memory + own + fetched + largest(w), err));
    HUB_TRY(fetch(request, w, err));
    struct hub_buf *out = hub_response_buffer(response, 200, w->query.as->media_type, 2 * GIB);
    HUB_TRY(hub_buf_reserve(out, w->bytes_out + own, err)); /* at once: it does not grow and move */
    const enum hub_status st = hub_windows_write(request, response, w, out, &nulls, err);
    if (st == HUB_CORRUPT) /* short because it was cut meanwhile? */
        HUB_TRY(unchanged(request, w, err));
    HUB_TRY(st);
    if (nulls)
        HUB_TRY(hub_response_header(response, err, "X-Null-Count", "%" PRIu64, nulls));
    return unchanged(request, w, err);
}
