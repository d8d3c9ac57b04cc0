/* The question for curves of an episode: see buckets.h. */
#include "server/api/rows/buckets.h"

#include "server/api/handlers.h"
#include "server/api/reply.h"
#include "server/api/rows/dims.h"
#include "storage/measure/leaf.h"
#include "storage/rows/dimensions.h"

#include <inttypes.h>
#include <stdlib.h>

static void curves_dispose(struct hub_curves *c)
{
    for (uint32_t i = 0; c->curves && i < c->count; i++) {
        hub_buckets_dispose(&c->curves[i].buckets);
        hub_kept_level_put(c->curves[i].level);
    }
    free(c->curves);
    json_decref(c->dimensions);
    hub_selection_dispose(&c->selection);
    hub_target_dispose(&c->target);
}

/* ---- dimensions ---- */

static enum hub_status set_dims(const struct hub_request *request, struct hub_curves *c,
                                struct hub_error *err)
{
    uint32_t given = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        struct hub_curve *curve = &c->curves[i];
        struct hub_buckets *b = &curve->buckets;
        const struct hub_view text = hub_dims_of(request, i, &given);
        struct hub_dims dims = {.of = curve->dims, .most = HUB_BUCKETS_DIMS};
        HUB_TRY(hub_dims_read(request, text, curve->field->path, b->row_dims, &dims, err));
        b->dims = dims.count;
        if (text.size)
            b->chosen = curve->dims;
    }
    return given <= c->count ? HUB_OK
                             : hub_request_wrong(request, "dims", err, "there are more dims than fields");
}

/* ---- fields ---- */

static const char *first_of_numbers(const struct hub_dataset *dataset)
{
    for (uint32_t i = 0; i < dataset->field_count; i++)
        if (dataset->fields[i].type == HUB_FIELD_NUMBER && dataset->fields[i].axis != HUB_AXIS_NONE)
            return dataset->fields[i].path;
    return "none";
}

static enum hub_status check_type(const struct hub_curves *c, const struct hub_dataset_field *field,
                                  const struct hub_variant *variant, struct hub_error *err)
{
    const bool numbers = hub_field_is_measured(field->type) && hub_numbers_are(variant);
    const bool texts = field->type == HUB_FIELD_PADDED_JSON || field->type == HUB_FIELD_TEXT;
    if (c->leaf ? texts : numbers)
        return HUB_OK;
    if (c->leaf)
        return hub_fail_about(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE, "leaf", c->leaf,
                              "'%s' is %s: leaf= needs rows of JSON text", field->path, field->dtype);
    return hub_fail_as(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE,
                       "'%s' is %s: buckets need real numbers or bools, such as '%s'%s", field->path,
                       field->dtype, first_of_numbers(c->target.state.dataset),
                       texts ? ", or numbers within JSON by leaf=" : "");
}

static enum hub_status set_curve(struct hub_curves *c, uint32_t i, struct hub_error *err)
{
    struct hub_curve *curve = &c->curves[i];
    curve->selected = &c->selection.fields[i];
    const struct hub_plan *plan = &curve->selected->plan;
    curve->field = &c->target.state.dataset->fields[curve->selected->field];
    curve->rows = curve->selected->slice.count;
    HUB_TRY(check_type(c, curve->field, plan->variant, err));
    if (curve->selected->bare)
        return hub_fail_as(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE,
                           "'%s' is a single value, without rows", curve->field->path);
    hub_variant_name(plan->variant, curve->field->type, curve->dtype);
    const uint64_t dims = c->leaf ? 1 : hub_variant_row_items(plan->variant);
    if (!dims || dims > UINT32_MAX)
        return hub_fail_as(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE,
                           "a row of '%s' holds no numbers", curve->field->path);
    curve->buckets.row_dims = (uint32_t)dims;
    curve->buckets.of = c->of;
    curve->buckets.skip = curve->field->axis == HUB_AXIS_SHIFTED;
    return HUB_OK;
}

/* Of a group or a role, what cannot be a curve is left out. */
static enum hub_status choose_fields(struct hub_request *request, struct hub_curves *c,
                                     const struct hub_dataset_episode *episode,
                                     struct hub_named_fields *chosen, struct hub_error *err)
{
    static const struct hub_row_range whole = {.of_several = true};
    const struct hub_dataset *dataset = c->target.state.dataset;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < chosen->count; i++) {
        const struct hub_dataset_field *f = &dataset->fields[chosen->fields[i]];
        const bool fits = hub_field_is_measured(f->type) && !f->unreadable && f->axis != HUB_AXIS_NONE;
        if (chosen->exact[i] || fits)
            chosen->fields[kept++] = chosen->fields[i];
    }
    const struct hub_row_query query = {dataset, episode, chosen->fields, kept, &whole};
    const struct hub_rows_context rows = hub_request_rows(request);
    HUB_TRY(hub_select(&rows, &query, &c->selection, err));
    HUB_TRY(hub_new(&c->curves, HUB_MAX(kept, 1U), sizeof *c->curves, err));
    c->count = kept;
    for (uint32_t i = 0; i < kept; i++)
        HUB_TRY(set_curve(c, i, err));
    if (!kept)
        return hub_fail_as(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE,
                           "none of these fields holds numbers; '%s' is one of them",
                           first_of_numbers(dataset));
    return set_dims(request, c, err);
}

static enum hub_status named_fields(struct hub_request *request, bool several, struct hub_curves *c,
                                    struct hub_named_fields *chosen, struct hub_error *err)
{
    const struct hub_view path = hub_request_capture(request, "path");
    const struct hub_dataset *dataset = c->target.state.dataset;
    if (several)
        return hub_request_fields(request, &c->target.state, chosen, err);
    c->single = hub_dataset_find_field(dataset, path) != HUB_NONE;
    HUB_TRY(hub_request_add_field(request, &c->target.state, path, chosen, err));
    c->prefix = chosen->group ? chosen->group + 1 : 0;
    return HUB_OK;
}

/* ---- the grid ---- */

static enum hub_status set_grid(const struct hub_request *request, struct hub_curves *c,
                                struct hub_error *err)
{
    struct hub_slice slice;
    int64_t start = 0, stop = 0, buckets, width;
    uint64_t rows = 0;
    for (uint32_t i = 0; i < c->count; i++)
        rows = HUB_MAX(rows, c->curves[i].rows);
    const bool has_start = hub_request_int(request, "start", &start);
    const bool has_stop = hub_request_int(request, "stop", &stop);
    const bool has_buckets = hub_request_int(request, "buckets", &buckets);
    const bool has_width = hub_request_int(request, "width", &width);
    HUB_TRY(hub_slice_resolve(has_start ? &start : NULL, has_stop ? &stop : NULL, NULL, rows, &slice, err));
    if (has_buckets && has_width)
        return hub_request_wrong(request, "width", err, "give either buckets or width");
    if (has_width && (width > UINT32_MAX || (width & (width - 1))))
        return hub_request_wrong(request, "width", err, "width must be a power of two");
    const uint64_t end = slice.start + slice.count;
    const struct hub_bucket_grid most =
        hub_bucket_grid_of(slice.start, end, has_buckets ? (uint32_t)buckets : HUB_BUCKETS_MOST);
    c->grid = has_width ? hub_bucket_grid_wide(slice.start, end, (uint64_t)width) : most;
    if (c->grid.count > HUB_BUCKETS_MOST)
        return hub_request_wrong(request, "width", err,
                                 "%" PRIu32 " buckets; at most %d: width must be at least %" PRIu64,
                                 c->grid.count, HUB_BUCKETS_MOST, most.width);
    return c->grid.width <= UINT32_MAX ? HUB_OK : hub_fail(err, HUB_TOO_BIG, "too many rows");
}

/* A field of fewer rows has nothing in the last bucket. */
static void lay_grids(struct hub_curves *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        struct hub_bucket_grid *g = &c->curves[i].buckets.grid;
        *g = c->grid;
        g->stop = HUB_MAX(g->start, HUB_MIN(g->stop, c->curves[i].rows));
    }
}

static enum hub_status read_how(const struct hub_request *request, bool several, struct hub_curves *c,
                                struct hub_error *err)
{
    const struct hub_view leaf = hub_request_if_taken(request, "leaf");
    const int of = hub_request_choice(request, "of"),
              dtype = several ? -1 : hub_request_choice(request, "dtype");
    c->of = of < 0 ? HUB_BUCKETS_VALUE : (enum hub_buckets_of)of;
    c->raw = hub_request_choice(request, "format") == 1;
    c->wide = dtype == 1;
    c->leaf = leaf.data;
    if (c->raw && several)
        return hub_request_wrong(request, "format", err, "format=raw needs one field; several come as json");
    if (dtype >= 0 && !c->raw)
        return hub_request_wrong(request, "dtype", err, "dtype needs format=raw");
    if (leaf.data && (!leaf.size || !hub_leaf_is_pointer(leaf)))
        return hub_request_wrong(request, "leaf", err, "leaf must be a JSON pointer, such as /arm/0");
    return HUB_OK;
}

/* ---- the answer ---- */

static enum hub_status etag_of(const struct hub_curves *c, char out[40], struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(4 * MIB);
    const uint64_t how[] = {
        c->grid.start, c->grid.stop, c->grid.width, (uint64_t)c->of,
        c->raw,        c->wide,      c->prefix,     (uint64_t)c->selection.episode->number};
    HUB_TRY(hub_buf_add(&text, how, sizeof how, err));
    for (uint32_t i = 0; i < c->count; i++) {
        const struct hub_buckets *b = &c->curves[i].buckets;
        HUB_TRY(hub_buf_add(&text, c->curves[i].dims, b->dims * sizeof *c->curves[i].dims, err));
        HUB_TRY(hub_buf_add(&text, c->curves[i].field->path, strlen(c->curves[i].field->path) + 1, err));
    }
    const struct hub_view parts[] = {HUB_VIEW("buckets 2"), hub_view_of(c->target.summary->revision),
                                     hub_view_of(c->target.summary->id), hub_view_of(c->leaf ? c->leaf : ""),
                                     hub_buf_view(&text)};
    hub_fingerprint(out, parts, HUB_COUNT(parts));
    return HUB_OK;
}

static enum hub_status choose(struct hub_request *request, bool several, struct hub_response *response,
                              struct hub_curves *c, struct hub_error *err)
{
    const struct hub_dataset_episode *episode;
    HUB_CLEANUP(hub_freep) struct hub_named_fields *chosen = NULL;
    HUB_TRY(hub_new(&chosen, 1, sizeof *chosen, err));
    HUB_TRY(hub_resolve(request, response, HUB_TO_DATASET | HUB_TO_READY, &c->target, err));
    HUB_TRY(read_how(request, several, c, err));
    HUB_TRY(hub_find_episode(request, c->target.state.dataset, &episode, err));
    HUB_TRY(named_fields(request, several, c, chosen, err));
    HUB_TRY(choose_fields(request, c, episode, chosen, err));
    HUB_TRY(set_grid(request, c, err));
    lay_grids(c);
    return HUB_OK;
}

static enum hub_status read_names(struct hub_request *request, struct hub_curves *c, struct hub_error *err)
{
    HUB_CLEANUP(hub_state_close) struct hub_state state = {0};
    if (c->raw)
        return HUB_OK;
    HUB_TRY(hub_state_open(request->app->catalog, c->target.summary, &state, err));
    if (strcmp(state.dataset->summary->revision, c->target.summary->revision) != 0)
        return HUB_OK; /* it changed since: what is drawn may be called otherwise now */
    return hub_dimensions_read(&state, &c->dimensions, err);
}

static enum hub_status answer(struct hub_request *request, bool several, struct hub_response *response,
                              struct hub_error *err)
{
    HUB_CLEANUP(curves_dispose) struct hub_curves c = {0};
    char etag[40];
    bool done = false;
    HUB_TRY(choose(request, several, response, &c, err));
    HUB_TRY(etag_of(&c, etag, err));
    const bool gzip = !c.raw && hub_accepts_gzip(request);
    if (gzip)
        hub_reply_gzip_etag(etag);
    HUB_TRY(hub_resolve_headers(request, &c.target, response, err));
    HUB_TRY(hub_response_header(response, err, "Vary", "Accept-Encoding"));
    HUB_TRY(hub_resolve_conditions(request, response, etag, -1, &done, err));
    if (done)
        return HUB_OK;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_curves_fold(request, response, &c, err));
    HUB_TRY(read_names(request, &c, err));
    HUB_TRY(hub_curves_write(&c, response, err));
    return gzip ? hub_reply_compressed(request, response, err) : HUB_OK;
}

enum hub_status hub_curves_data(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    return answer(request, false, response, err);
}

enum hub_status hub_fields_curves_data(struct hub_request *request, struct hub_response *response,
                                       struct hub_error *err)
{
    if (!hub_request_query(request, "fields").data)
        return hub_request_wrong(request, "fields", err, "curves need fields=, which names what they are of");
    return answer(request, true, response, err);
}
