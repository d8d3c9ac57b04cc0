/* Mistaken names: see query_check.h. */
#include "server/api/episodes/query_check.h"

#include "storage/episodes/name_check.h"
#include "storage/text/json.h"

#include <stdio.h>
#include <stdlib.h>

struct name_check {
    struct hub_request *request;
    struct hub_response *response;
    const struct hub_target *target;
};

static char *nearest_member(const struct hub_near_names *near)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(4 * KIB);
    struct hub_json json = hub_json_to(&out, NULL);
    if (!near->count)
        return NULL;
    hub_json_put_array(&json, "nearest");
    for (unsigned i = 0; i < near->count; i++)
        hub_json_string(&json, hub_view_of(near->names[i]));
    hub_json_end_array(&json);
    return hub_json_status(&json) ? NULL : hub_buf_take(&out, NULL);
}

/* Of a parameter, in which something is not known; other statuses as they are. */
static enum hub_status report(const struct name_check *c, const char *parameter, enum hub_status st,
                              const struct hub_near_names *near, const struct hub_error *why,
                              struct hub_error *err)
{
    const char *id = c->target->summary->id;
    uint32_t parts, done;
    if (st != HUB_INVALID)
        return hub_pass(st, why, err);
    if (c->request->app->scanner && hub_scanner_parts(c->request->app->scanner, id, &parts, &done))
        return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_PENDING,
                           "'%.80s' is being inspected, and so far %.300s", id, why->detail);
    free(c->response->problem_extra);
    c->response->problem_extra = nearest_member(near);
    return hub_fail_about(err, HUB_INVALID,
                          strcmp(parameter, "where") == 0 ? HUB_PROBLEM_BAD_WHERE : HUB_PROBLEM_BAD_PARAMETER,
                          parameter, hub_request_if_taken(c->request, parameter).data, "%s", why->detail);
}

static enum hub_status check_name(const struct name_check *c, const char *parameter,
                                  const struct hub_property *name, struct hub_error *err)
{
    struct hub_near_names near;
    struct hub_error why = {0};
    const enum hub_status st = hub_name_check(&c->target->state, name, c->request->parallel, &near, &why);
    return st ? report(c, parameter, st, &near, &why, err) : HUB_OK;
}

static enum hub_status check_text(const struct name_check *c, const char *parameter,
                                  enum hub_property_kind kind, struct hub_view text, struct hub_error *err)
{
    struct hub_near_names near;
    struct hub_error why = {0};
    const enum hub_status st =
        hub_text_check(&c->target->state, kind, text, c->request->parallel, &near, &why);
    return st ? report(c, parameter, st, &near, &why, err) : HUB_OK;
}

static enum hub_status check_where(const struct name_check *c, const struct hub_where *where,
                                   struct hub_error *err)
{
    const struct hub_property *name;
    struct hub_view text;
    for (unsigned i = 0; (name = hub_where_name(where, i)); i++) {
        const enum hub_property_type type = hub_property_row(name->kind)->type;
        const bool of_texts = type == HUB_PROPERTY_TEXT || type == HUB_PROPERTY_TEXTS;
        HUB_TRY(check_name(c, "where", name, err));
        for (unsigned k = 0; of_texts && hub_where_text(where, i, k, &text); k++)
            HUB_TRY(check_text(c, "where", name->kind, text, err));
    }
    return HUB_OK;
}

enum hub_status hub_query_check(struct hub_request *request, struct hub_response *response,
                                const struct hub_target *target, const struct hub_episode_parameters *params,
                                const struct hub_property *columns, unsigned count, struct hub_error *err)
{
    const struct name_check c = {request, response, target};
    const struct {
        const char *text;
        enum hub_property_kind kind;
    } texts[] = {{params->query.split, HUB_PROPERTY_SPLIT},
                 {params->query.task, HUB_PROPERTY_TASK},
                 {params->query.name, HUB_PROPERTY_NAME}};
    for (size_t i = 0; i < HUB_COUNT(texts); i++)
        if (texts[i].text)
            HUB_TRY(check_text(&c, hub_property_word(texts[i].kind), texts[i].kind,
                               hub_view_of(texts[i].text), err));
    HUB_TRY(check_where(&c, params->where, err));
    HUB_TRY(check_name(&c, "sort", &params->query.sort, err));
    for (unsigned i = 0; i < count; i++)
        HUB_TRY(check_name(&c, "columns", &columns[i], err));
    return HUB_OK;
}
