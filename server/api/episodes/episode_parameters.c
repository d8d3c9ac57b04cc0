#include "server/api/episodes/episode_parameters.h"
#include "server/api/work.h"

#include <stdio.h>

void hub_episode_parameters_dispose(struct hub_episode_parameters *params)
{
    hub_where_free(params->where);
    hub_where_free(params->sort);
}

static enum hub_status read_sort(const struct hub_request *request, struct hub_episode_parameters *params,
                                 struct hub_error *err)
{
    struct hub_view sort = hub_request_if_taken(request, "sort");
    if (!sort.data)
        return HUB_OK;
    params->query.descending = hub_view_starts(sort, "-");
    sort = (struct hub_view){sort.data + params->query.descending, sort.size - params->query.descending};
    struct hub_error why = {0};
    const enum hub_status st = hub_property_parse(sort, &params->sort, &params->query.sort, &why);
    if (st == HUB_INVALID)
        return hub_request_wrong(request, "sort", err,
                                 "sort must be one name, with - before it for descending; %s", why.detail);
    if (st)
        return hub_pass(st, &why, err);
    return HUB_OK;
}

enum hub_status hub_episode_parameters_parse(const struct hub_request *request,
                                             struct hub_episode_parameters *out, struct hub_error *err)
{
    const struct hub_view where = hub_request_if_taken(request, "where");
    HUB_TRY(read_sort(request, out, err));
    const enum hub_status st = where.data ? hub_where_parse(where, &out->where, err) : HUB_OK;
    if (st && err)
        snprintf(err->value, sizeof err->value, "%.*s", (int)where.size, where.data);
    HUB_TRY(st);
    out->query.where = out->where;
    out->query.split = hub_request_if_taken(request, "split").data;
    out->query.name = hub_request_if_taken(request, "name").data;
    out->query.task = hub_request_if_taken(request, "task").data;
    return HUB_OK;
}

/* What one comparison takes, and of an episode that is put in order all of them. */
enum { COMPARISON_NS = 40, ORDERED = 10 };

enum hub_status hub_episodes_admit(struct hub_request *request, const struct hub_state *state,
                                   struct hub_episode_query *query, struct hub_error *err)
{
    const bool ordered = query->sort.kind != HUB_PROPERTY_NUMBER, all = query->limit == UINT32_MAX;
    const unsigned of_each = hub_where_comparisons(query->where) + (query->split != NULL) +
                             (query->name != NULL) + (query->task != NULL) + (ordered ? ORDERED : 0) + all;
    query->parallel = request->parallel;
    return hub_work_admit_us(request, HUB_WORK_EPISODES,
                             (double)state->dataset->episode_count * of_each * COMPARISON_NS / 1000, err);
}
