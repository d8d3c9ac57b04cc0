/* Episodes and fields that a request means: see episode_selection.h. */
#include "server/api/episodes/episode_selection.h"

#include "server/api/episodes/episode_parameters.h"
#include "storage/episodes/episode_reader.h"
#include "storage/model/format_row.h"
#include "storage/text/uri.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_LEFT_OUT = 2048 }; /* bytes of X-Left-Out */

/* ---- episodes ---- */

void hub_episode_selection_dispose(struct hub_episode_selection *chosen)
{
    free(chosen->places);
    *chosen = (struct hub_episode_selection){0};
}

static const struct hub_property validity = {.kind = HUB_PROPERTY_ATTRIBUTE, .of = {"valid", 5}};

enum hub_status hub_episode_selection_wants_valid(const struct hub_request *request,
                                                  const struct hub_summary *summary, bool *out,
                                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_episode_parameters_dispose) struct hub_episode_parameters params = {0};
    const struct hub_property *name;
    *out = hub_request_choice(request, "valid") < 1 && hub_format_traits_of(summary->format)->judged &&
           !hub_request_query(request, "name").data;
    if (!*out)
        return HUB_OK;
    HUB_TRY(hub_episode_parameters_parse(request, &params, err));
    for (unsigned i = 0; (name = hub_where_name(params.where, i)); i++)
        *out &= name->kind != validity.kind || !hub_view_equal(name->of, validity.of);
    return HUB_OK;
}

enum hub_status hub_episode_selection_report_invalid(const struct hub_episode_selection *chosen,
                                                     struct hub_buf *left_out, struct hub_error *err)
{
    left_out->limit = left_out->limit ? left_out->limit : KIB;
    return chosen->invalid ? hub_buf_addf(left_out, err, "%svalid=any", left_out->size ? ", " : "") : HUB_OK;
}

/* One that nobody judged stays. */
static enum hub_status leave_invalid(const struct hub_state *state, struct hub_episode_selection *out,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_episode_reader_dispose) struct hub_episode_reader reader = {.state = state};
    const uint32_t all = out->count;
    out->count = 0;
    for (uint32_t i = 0; i < all; i++) {
        struct hub_values has;
        HUB_TRY(
            hub_episode_values_of(&reader, &state->dataset->episodes[out->places[i]], &validity, &has, err));
        if (!has.count || has.first->kind != HUB_VALUE_INT || has.first->number)
            out->places[out->count++] = out->places[i];
    }
    out->invalid = all - out->count;
    return HUB_OK;
}

enum hub_status hub_episode_selection_open(struct hub_request *request, struct hub_response *response,
                                           const struct hub_state *state, uint32_t limit,
                                           struct hub_episode_selection *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_episode_parameters_dispose) struct hub_episode_parameters params = {0};
    HUB_TRY(hub_episode_parameters_parse(request, &params, err));
    params.query.limit = hub_episode_selection_is_sampled(request) ? UINT32_MAX : limit;
    HUB_TRY(hub_episodes_admit(request, state, &params.query, err));
    HUB_TRY(hub_budget_take(request->app->budget, request, response,
                            (uint64_t)state->dataset->episode_count * HUB_CHOOSING, err));
    struct hub_episode_page page = {0};
    HUB_TRY(hub_episode_page(state, &params.query, &page, err));
    out->places = page.places;
    out->count = page.count;
    if (out->only_valid)
        HUB_TRY(leave_invalid(state, out, err));
    HUB_TRY(hub_episode_selection_sample(request, out, err));
    out->count = HUB_MIN(out->count, limit);
    for (uint32_t i = 0; i < out->count; i++)
        out->steps += state->dataset->episodes[out->places[i]].steps;
    return HUB_OK;
}

/* ---- fields ---- */

static struct hub_field_name name_of(const struct hub_request *request, struct hub_view text)
{
    const struct hub_view episode = hub_request_capture(request, "n");
    return (struct hub_field_name){text, episode.size ? episode.data : NULL};
}

enum hub_status hub_no_field(const struct hub_request *request, const struct hub_state *state,
                             struct hub_view name, struct hub_error *err)
{
    const struct hub_rows_context rows = hub_request_rows(request);
    const struct hub_field_name missing = name_of(request, name);
    return hub_named_missing(&rows, state, &missing, err);
}

enum hub_status hub_request_add_field(const struct hub_request *request, const struct hub_state *state,
                                      struct hub_view name, struct hub_named_fields *out,
                                      struct hub_error *err)
{
    const struct hub_rows_context rows = hub_request_rows(request);
    const struct hub_field_name field = name_of(request, name);
    return hub_named_add(&rows, state, &field, out, err);
}

enum hub_status hub_request_fields(const struct hub_request *request, const struct hub_state *state,
                                   struct hub_named_fields *out, struct hub_error *err)
{
    for (unsigned i = 0; i < request->query_count; i++) {
        const struct hub_param *p = &request->query[i];
        if (!hub_view_is(p->name, "fields"))
            continue;
        const enum hub_status st = hub_request_add_field(request, state, p->value, out, err);
        if (st && err) {
            snprintf(err->parameter, sizeof err->parameter, "fields");
            snprintf(err->value, sizeof err->value, "%.*s", (int)p->value.size, p->value.data);
        }
        HUB_TRY(st);
    }
    return HUB_OK;
}

enum hub_status hub_leave_out(struct hub_buf *out, struct hub_error *first, const char *name,
                              const struct hub_error *why, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf coded = HUB_BUF_INIT(64 * KIB);
    out->limit = MAX_LEFT_OUT + 8;
    if (!out->size)
        *first = *why;
    else if (hub_view_ends(hub_buf_view(out), "..."))
        return HUB_OK;
    HUB_TRY(hub_uri_encode_path(hub_view_of(name), &coded, err));
    HUB_TRY(hub_buf_add_text(out, out->size ? ", " : "", err));
    return out->size + coded.size < MAX_LEFT_OUT ? hub_buf_add_view(out, hub_buf_view(&coded), err)
                                                 : hub_buf_add_text(out, "...", err);
}
