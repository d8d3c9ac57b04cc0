/*
 * Rows of one field, of a group, or of several fields of an episode: GET .../episodes/{n}/{field} and
 * .../episodes/{n}?fields=
 *
 * Order of things: resolve, rows (no I/O), validators (a 304 looks at nothing), price (refused, event thread
 * or worker), files, memory, read, encode, look once more whether the files are still the ones that were
 * indexed.
 */
#include "server/api/handlers.h"

#include "server/api/episodes/episode_selection.h"
#include "server/api/negotiate.h"
#include "server/api/rows/row_cost.h"
#include "server/api/tables/table_answer.h"
#include "storage/rows/table_rows.h"
#include "storage/text/json.h"
#include "storage/text/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MAX_PARKED = 32, /* requests that wait for a worker */
};
/* Part of every slice's ETag: changes when the same rows come out as other bytes. */
#define ENCODER_VERSION "4"

/* What a request for rows is about, from its start to its answer: the request's state. */
struct field_request {
    atomic_uint
        *parked; /* among those that wait for a worker, which the app counts; NULL: it does not wait */
    struct hub_target target;
    const struct hub_dataset *dataset; /* the target's */
    struct hub_selection selection;
    struct hub_row_range range;
    struct hub_encoding encoding;
    bool priced;   /* it is known how much is read and what that costs */
    bool several;  /* ?fields=: rows are counted in steps where a slice is given */
    size_t prefix; /* group: bytes of the path that its members' names leave out */
    struct hub_request *request;
    struct hub_rows_context rows;  /* of the request, on the thread that it runs on */
    struct hub_response *response; /* that carries the memory */
    struct hub_buf left_out;       /* names of a group's fields that this representation cannot hold */
    struct hub_error left_why;     /* of the first */
};

static enum hub_status read_range(const struct hub_request *request, bool several,
                                  struct hub_row_range *range, enum hub_nonfinite *nonfinite,
                                  struct hub_error *err)
{
    range->has_start = hub_request_int(request, "start", &range->start);
    range->has_stop = hub_request_int(request, "stop", &range->stop);
    range->has_step = hub_request_int(request, "step", &range->step);
    range->has_row = !several && hub_request_int(request, "row", &range->row);
    if (range->has_row && (range->has_start || range->has_stop || range->has_step))
        return hub_request_wrong(request, "row", err, "row cannot be combined with start, stop or step");
    *nonfinite =
        (enum hub_nonfinite)HUB_MAX(hub_request_choice(request, "nonfinite"), 0); /* null is the first */
    return HUB_OK;
}

/* range=LEAST,GREATEST: what is black and what is white in a picture of numbers. */
static enum hub_status read_drawn_range(const struct hub_request *request, struct hub_encoding *e,
                                        struct hub_error *err)
{
    const struct hub_view text = hub_request_if_taken(request, "range");
    struct hub_drawn_range *range = &e->range;
    char *comma = NULL, *end = NULL;
    if (!text.data)
        return HUB_OK;
    if (strncmp(e->as->media_type, "image/", 6) != 0)
        return hub_request_wrong(request, "range", err, "range needs pictures: add format=image");
    range->least = strtod(text.data, &comma);
    range->greatest = *comma == ',' ? strtod(comma + 1, &end) : 0;
    range->known = end && end != comma + 1 && comma != text.data && end == text.data + text.size &&
                   isfinite(range->least) && isfinite(range->greatest) && range->least < range->greatest;
    return range->known
               ? HUB_OK
               : hub_request_wrong(
                     request, "range", err,
                     "range must be the values of black and white, the smaller first: range=0.3,4.5");
}

/* Can the field stand in the answer? HUB_NOT_FOUND: this episode does not have it. */
static enum hub_status can_hold(struct hub_request *request, const struct field_request *fr,
                                const struct hub_dataset_episode *episode, uint32_t field,
                                struct hub_error *err)
{
    struct hub_catalog *catalog = request->app->catalog;
    const struct hub_dataset_field *f = &fr->dataset->fields[field];
    struct hub_layout_ref *ref = NULL;
    const struct hub_window *window;
    if (f->axis == HUB_AXIS_NONE && hub_representation_is_of_rows(fr->encoding.as))
        return hub_fail_as(
            err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE,
            "'%s' does not have one row per step, which %s of several fields needs: request it alone",
            f->path, fr->encoding.as->name);
    HUB_TRY(hub_layout_get(catalog, fr->dataset, episode->part, field, request->may_block, &ref, err));
    const struct hub_layout *layout = hub_layout_of(ref);
    const struct hub_representation *as =
        fr->encoding.as->writer->several ? fr->encoding.as : hub_representations;
    enum hub_status st = hub_layout_find(ref, episode, &window, err);
    if (!st) /* of one row: how many there are is no matter of a group's members */
        st = hub_encode_check(f->type, &layout->variants[layout->arrays[window->array].variant], as, 1, err);
    hub_layout_put(ref);
    return st;
}

/* Of a group an episode may lack some fields (infos that came later), and some may not fit the
 * representation: neither is an error, and the latter are reported. What was named itself stays. */
static enum hub_status keep_what_fits(struct hub_request *request, struct field_request *fr,
                                      const struct hub_dataset_episode *episode,
                                      struct hub_named_fields *chosen, struct hub_error *err)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < chosen->count; i++) {
        const uint32_t field = chosen->fields[i];
        struct hub_error why = {0};
        const enum hub_status st = chosen->exact[i] ? HUB_OK : can_hold(request, fr, episode, field, &why);
        if (!st)
            chosen->fields[kept++] = field;
        else if (st == HUB_UNSUPPORTED || st == HUB_NOT_ACCEPTABLE)
            HUB_TRY(hub_leave_out(&fr->left_out, &fr->left_why, fr->dataset->fields[field].path + fr->prefix,
                                  &why, err));
        else if (st != HUB_NOT_FOUND)
            return hub_pass(st, &why, err);
    }
    chosen->count = kept;
    return HUB_OK;
}

static enum hub_status check_size(const struct field_request *fr, struct hub_error *err)
{
    const struct hub_selection *s = &fr->selection;
    if (s->bytes_out > HUB_ENCODE_MAX_BYTES)
        return hub_fail_as(err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LARGE,
                           "%" PRIu64 " MiB of rows in one answer; at most %zu: request fewer rows",
                           s->bytes_out / MIB, HUB_ENCODE_MAX_BYTES / MIB);
    return HUB_OK;
}

/* ETag over what decides the bytes: revision, encoder, fields, resolved rows, representation. The rows of
 * each field count: cut by steps they differ from field to field. */
static void etag_of(const struct field_request *fr, char out[40])
{
    const struct hub_selection *s = &fr->selection;
    struct hub_view parts[6 + 2 * HUB_MAX_SELECTED];
    unsigned n = 0;
    parts[n++] = hub_view_of(fr->target.summary->revision);
    parts[n++] = HUB_VIEW(ENCODER_VERSION);
    parts[n++] = hub_view_of(fr->dataset->summary->id);
    const int64_t how[] = {s->episode->number, (int64_t)fr->encoding.nonfinite, fr->range.has_row,
                           (int64_t)fr->prefix};
    parts[n++] = hub_view_of(fr->encoding.as->name);
    parts[n++] = (struct hub_view){(const char *)how, sizeof how};
    const double drawn[] = {fr->encoding.range.least, fr->encoding.range.greatest};
    parts[n++] = (struct hub_view){(const char *)drawn, sizeof drawn};
    for (uint32_t i = 0; i < s->count; i++) {
        const struct hub_slice *slice = &s->fields[i].slice; /* three numbers of 8 bytes, no padding */
        parts[n++] = (struct hub_view){(const char *)slice, sizeof *slice};
        parts[n++] = hub_view_of(fr->dataset->fields[s->fields[i].field].path);
    }
    hub_fingerprint(out, parts, n);
}

static enum hub_status describe(const struct field_request *fr, const struct hub_selected_field *selected,
                                struct hub_response *response, struct hub_error *err)
{
    char dtype[24], shape[HUB_MAX_RANK * 12 + HUB_NUMBER_CHARS + 24];
    const struct hub_variant *v = selected->plan.variant;
    hub_variant_name(v, fr->dataset->fields[selected->field].type, dtype);
    size_t n = selected->bare ? 0 : hub_number_u64(selected->slice.count, shape);
    for (unsigned i = 0; i < v->rank; i++) {
        if (n)
            shape[n++] = ',';
        n += hub_number_u64(v->dims[i], shape + n);
    }
    shape[n] = '\0';
    if (n) /* a lone element has no shape to tell */
        HUB_TRY(hub_response_header(response, err, "X-Shape", "%s", shape));
    return hub_response_header(response, err, "X-Dtype", "%s", dtype);
}

/* ---- encoding ---- */

static enum hub_status read_encoded(struct hub_encoding *e, uint32_t field, void *into, struct hub_rows *rows,
                                    struct hub_error *err)
{
    const struct field_request *fr = e->user;
    HUB_TRY(hub_selection_read(&fr->rows, &fr->selection, &fr->selection.fields[field], into, rows, err));
    e->null_count += hub_rows_nulls(rows);
    const enum hub_field_type type = e->fields[field].type;
    const bool picture = type == HUB_FIELD_IMAGE_JPEG || type == HUB_FIELD_IMAGE_PNG;
    return picture && !rows->offsets ? hub_rows_trim(rows, err) : HUB_OK;
}

static enum hub_status reserve(struct hub_encoding *e, uint64_t bytes, struct hub_error *err)
{
    const struct field_request *fr = e->user;
    return hub_budget_take(fr->request->app->budget, fr->request, fr->response, bytes, err);
}

static enum hub_status put_drawn_range(const struct hub_drawn_range *range, struct hub_response *response,
                                       struct hub_error *err)
{
    char least[HUB_NUMBER_CHARS], greatest[HUB_NUMBER_CHARS];
    const int least_size = (int)hub_number_double(range->least, least);
    const int greatest_size = (int)hub_number_double(range->greatest, greatest);
    return hub_response_header(response, err, "X-Range", "%.*s,%.*s", least_size, least, greatest_size,
                               greatest);
}

static enum hub_status encode(struct field_request *fr, struct hub_response *response, struct hub_error *err)
{
    struct hub_encoding *e = &fr->encoding;
    struct hub_buf *out = hub_response_buffer(response, 200, hub_encoding_media_type(e), 2 * GIB);
    HUB_TRY(e->as->writer->write(e, out, err));
    if (e->range.known)
        HUB_TRY(put_drawn_range(&e->range, response, err));
    if (e->nonfinite_count)
        HUB_TRY(hub_response_header(response, err, "X-Nonfinite", "%" PRIu64, e->nonfinite_count));
    if (e->null_count)
        HUB_TRY(hub_response_header(response, err, "X-Null-Count", "%" PRIu64, e->null_count));
    return hub_selection_unchanged(&fr->rows, &fr->selection, err);
}

/* Peak of memory: rows, what is fetched for them, scratch, and what the representation takes besides. */
static uint64_t peak_of(const struct field_request *fr)
{
    const struct hub_writer *writer = fr->encoding.as->writer;
    return fr->selection.bytes_out + fr->selection.bytes_fetched + fr->selection.scratch + 4096 +
           (writer->memory ? writer->memory(&fr->encoding) : 0);
}

/* A long table is read while it is sent, so that nothing of it is priced before. */
static enum hub_status send_table(struct hub_request *request, struct field_request *fr, const char *etag,
                                  struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_table_stream_freep) struct hub_table_stream *table = NULL;
    const struct hub_encoding *e = &fr->encoding;
    struct hub_row_table *rows;
    if (e->single)
        HUB_TRY(describe(fr, &fr->selection.fields[0], response, err));
    HUB_TRY(hub_row_table_new(&fr->rows, e->as, &rows, err));
    table = &rows->table;
    table->nonfinite = e->nonfinite;
    rows->reading.column_count = e->count;
    for (uint32_t i = 0; i < e->count; i++) {
        rows->reading.columns[i] =
            (struct hub_row_reader_column){.field = fr->selection.fields[i].field, .as_items = true};
        rows->reading.as[i].name = e->fields[i].name;
    }
    rows->reading.dataset = fr->target.state.dataset; /* its reference, and the names lie in it */
    fr->target.state.dataset = NULL;
    HUB_TRY(hub_row_reader_begin_at(&rows->reading, &fr->selection, err));
    hub_row_table_set_columns(rows);
    return hub_table_answer(request, response, etag, &table, err);
}

static enum hub_status answer(struct hub_request *request, struct field_request *fr,
                              struct hub_response *response, struct hub_error *err)
{
    char etag[40];
    bool done = false;
    const struct hub_encoding *e = &fr->encoding;
    HUB_TRY(hub_encoding_check(e, err));
    HUB_TRY(hub_resolve_headers(request, &fr->target, response, err));
    HUB_TRY(hub_response_header(response, err, "Vary", "Accept")); /* of a 304 too */
    if (fr->left_out.size)
        HUB_TRY(hub_response_header(response, err, "X-Left-Out", "%s", fr->left_out.data));
    etag_of(fr, etag);
    HUB_TRY(hub_resolve_conditions(request, response, etag, -1, &done, err));
    if (done)
        return HUB_OK;
    const bool table = hub_representation_is_of_rows(e->as);
    if (table && (!hub_encoding_is_short_table(e) || hub_request_header(request, "Range")))
        return send_table(request, fr, etag, response, err);
    if (!fr->priced)
        HUB_TRY(hub_selection_price(&fr->rows, &fr->selection, err));
    fr->priced = true;
    HUB_TRY(check_size(fr, err));
    HUB_TRY(hub_rows_admit(request, &fr->selection, e, err));
    HUB_TRY(hub_selection_open(&fr->rows, &fr->selection, err));
    if (e->single)
        HUB_TRY(describe(fr, &fr->selection.fields[0], response, err));
    if (table) {
        HUB_TRY(
            hub_response_header(response, err, "X-Total-Count", "%" PRIu64, e->fields[0].plan->slice.count));
        HUB_TRY(hub_response_header(response, err, "Accept-Ranges", "bytes"));
    }
    if (request->method == HUB_HEAD && !hub_rows_are_small(&fr->selection, e))
        return hub_response_unsent(response, 200, hub_encoding_media_type(e),
                                   e->as->writer->length ? e->as->writer->length(e) : HUB_LENGTH_UNKNOWN,
                                   err);
    HUB_TRY(hub_budget_take(request->app->budget, request, response, peak_of(fr), err));
    const enum hub_status st = hub_selection_fetch(&fr->selection, err);
    if (st == HUB_AGAIN)
        return hub_await_bytes(request, fr->selection.fetch);
    HUB_TRY(st);
    return encode(fr, response, err);
}

static enum hub_status answer_encoded(struct hub_request *request, struct field_request *fr,
                                      struct hub_response *response, struct hub_error *err)
{
    struct hub_encoding_field encoded[HUB_MAX_SELECTED];
    for (uint32_t i = 0; i < fr->selection.count; i++) {
        const struct hub_selected_field *selected = &fr->selection.fields[i];
        const struct hub_dataset_field *field = &fr->dataset->fields[selected->field];
        encoded[i] = (struct hub_encoding_field){field->path + fr->prefix, field->type, selected->bare,
                                                 &selected->plan};
    }
    fr->encoding.user = fr;
    fr->encoding.fields = encoded;
    fr->encoding.count = fr->selection.count;
    return answer(request, fr, response, err);
}

/* ---- what is asked for ---- */

/* Several fields are cut by steps as soon as steps are spoken of; otherwise each comes whole. */
static void read_steps(const struct hub_request *request, bool several, struct hub_row_range *range)
{
    const struct hub_view sentinel = hub_request_query(request, "sentinel");
    range->drop_sentinel = hub_view_is(sentinel, "drop");
    range->by_steps =
        range->drop_sentinel || (several && (range->has_start || range->has_stop || range->has_step ||
                                             sentinel.data || hub_request_if_taken(request, "final").data));
    range->final_row = several && hub_request_flag(request, "final");
}

/* Field numbers of what the path or ?fields= name, each once. */
static enum hub_status named_fields(struct hub_request *request, struct field_request *fr,
                                    const struct hub_dataset_episode *episode,
                                    struct hub_named_fields *chosen, struct hub_error *err)
{
    const struct hub_view path = hub_request_capture(request, "path");
    uint32_t first;
    size_t size;
    if (fr->several) {
        HUB_TRY(hub_request_fields(request, &fr->target.state, chosen, err));
        return keep_what_fits(request, fr, episode, chosen, err);
    }
    fr->encoding.single = hub_dataset_find_field(fr->dataset, path) != HUB_NONE;
    if (!fr->encoding.single && !hub_dataset_find_group(fr->dataset, path, &first, &size))
        return hub_no_field(request, &fr->target.state, path, err);
    HUB_TRY(hub_request_add_field(request, &fr->target.state, path, chosen, err));
    fr->prefix = chosen->group ? chosen->group + 1 : 0;
    return keep_what_fits(request, fr, episode, chosen, err);
}

static enum hub_status choose(struct hub_request *request, struct hub_response *response,
                              struct field_request *fr, struct hub_error *err)
{
    const struct hub_dataset_episode *episode;
    struct hub_named_fields chosen = {.count = 0};
    fr->encoding.read = read_encoded;
    fr->encoding.reserve = reserve;
    HUB_TRY(hub_negotiate(request, &(struct hub_offer){.what = "rows"}, &fr->encoding.as, err));
    fr->encoding.by_name = hub_request_query(request, "format").data;
    HUB_TRY(read_range(request, fr->several, &fr->range, &fr->encoding.nonfinite, err));
    read_steps(request, fr->several, &fr->range);
    HUB_TRY(read_drawn_range(request, &fr->encoding, err));
    HUB_TRY(hub_resolve(request, response, HUB_TO_DATASET | HUB_TO_READY, &fr->target, err));
    fr->dataset = fr->target.state.dataset;
    HUB_TRY(hub_find_episode(request, fr->dataset, &episode, err));
    HUB_TRY(named_fields(request, fr, episode, &chosen, err));
    fr->range.of_several = !fr->encoding.single;
    const bool alone = chosen.count == 1 && chosen.exact[0]; /* by its path or by its name, as it is stored */
    fr->range.by_steps |= hub_representation_is_of_rows(fr->encoding.as) && !alone; /* a row is a step */
    if (!chosen.count && fr->left_out.size)
        return hub_pass(fr->left_why.status, &fr->left_why, err);
    const struct hub_row_query query = {fr->dataset, episode, chosen.fields, chosen.count, &fr->range};
    return hub_select(&fr->rows, &query, &fr->selection, err);
}

/* ---- the handlers ---- */

/* A worker reuses the chosen fields and their price. Of those that wait only a few may hold layouts, none
 * may that waits for memory, and no file stays open: the others do all of it again. A request that waits for
 * bytes keeps all of it, because they are fetched for its plan. */
static bool may_park(const struct field_request *fr)
{
    const struct hub_request *request = fr->request;
    return request->wait.on == HUB_WAIT_BYTES ||
           (fr->priced && fr->selection.count == 1 && request->wait.on != HUB_WAIT_MEMORY &&
            atomic_load(&request->app->parked) < MAX_PARKED);
}

static void park(struct field_request *fr)
{
    if (fr->request->wait.on != HUB_WAIT_BYTES)
        hub_plan_files_close(&fr->selection.files);
    fr->parked = &fr->request->app->parked;
    atomic_fetch_add(fr->parked, 1);
}

static void unpark(struct field_request *fr)
{
    if (fr->parked)
        atomic_fetch_sub(fr->parked, 1);
    fr->parked = NULL;
}

static void field_request_free(void *state)
{
    struct field_request *fr = state;
    unpark(fr);
    hub_selection_dispose(&fr->selection);
    hub_buf_dispose(&fr->left_out);
    hub_target_dispose(&fr->target);
    free(fr);
}

/* The one that waited, or a new one: the request's state. */
static enum hub_status open_request(struct hub_request *request, bool several, struct hub_response *response,
                                    struct field_request **out, struct hub_error *err)
{
    struct field_request *fr = request->state;
    if (!fr)
        HUB_TRY(hub_new(&fr, 1, sizeof *fr, err));
    request->state = fr;
    request->free_state = field_request_free;
    fr->several = several;
    fr->request = request;
    fr->response = response;
    fr->rows = hub_request_rows(request);
    *out = fr;
    return HUB_OK;
}

static enum hub_status get(struct hub_request *request, bool several, struct hub_response *response,
                           struct hub_error *err)
{
    struct field_request *fr;
    HUB_TRY(open_request(request, several, response, &fr, err));
    const bool waited = fr->parked;
    unpark(fr);
    enum hub_status st = waited ? HUB_OK : choose(request, response, fr, err);
    if (!st)
        st = answer_encoded(request, fr, response, err);
    if (st == HUB_AGAIN && may_park(fr)) {
        park(fr);
        return st;
    }
    request->state = NULL;
    field_request_free(fr);
    if (st != HUB_CHANGED || !waited)
        return st;
    hub_response_dispose(response); /* published again while it waited: from the start */
    return get(request, several, response, err);
}

enum hub_status hub_field_data(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    return get(request, false, response, err);
}

enum hub_status hub_fields_data(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    return get(request, true, response, err);
}
