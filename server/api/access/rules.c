/* Access rules: listed, explained, set and unset. */
#include "server/api/access/change.h"
#include "server/api/access/document.h"
#include "server/api/access/sorted.h"
#include "server/api/app.h"
#include "server/api/handlers.h"
#include "storage/truth/live_access.h"

#include <stdio.h>

static void place(const void *of, uint32_t at, struct hub_page_cursor *out)
{
    uint32_t count;
    const struct hub_access_rule *rule = &hub_access_rules_of(of, &count)[at];
    snprintf(out->key, sizeof out->key, "%s", rule->prefix);
    snprintf(out->tie, sizeof out->tie, "%s", rule->who);
}

static void write(const void *of, uint32_t at, struct hub_json *json)
{
    uint32_t count;
    hub_access_rule_write(json, &hub_access_rules_of(of, &count)[at]);
}

enum hub_status hub_access_list(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    struct hub_sorted_list list = {.place = place, .write = write};
    struct hub_access_table *table = hub_live_access_get(request->app->access);
    (void)hub_access_rules_of(table, &list.count);
    list.of = table;
    const enum hub_status st = hub_sorted_page(request, &list, response, err);
    hub_access_put(table);
    return st;
}

enum hub_status hub_access_show(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    const struct hub_view who = hub_request_query(request, "who"), id = hub_request_query(request, "id");
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, "application/json", 64 * KIB), err);
    struct hub_access_table *table = hub_live_access_get(request->app->access);
    const enum hub_status st = hub_access_explain_write(table, who.data, id.data, &json, err);
    hub_access_put(table);
    HUB_TRY(st);
    return hub_response_header(response, err, "Cache-Control", "no-store");
}

enum hub_status hub_access_post(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    const struct hub_access_order order = {.action = HUB_ORDER_SET,
                                           .who = hub_request_query(request, "who").data,
                                           .level = hub_request_query(request, "level").data,
                                           .prefix = hub_request_query(request, "prefix").data};
    return hub_access_change(request, &order, 200, response, err);
}

enum hub_status hub_access_delete(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    const struct hub_access_order order = {.action = HUB_ORDER_UNSET,
                                           .who = hub_request_query(request, "who").data,
                                           .prefix = hub_request_query(request, "prefix").data};
    return hub_access_change(request, &order, 200, response, err);
}
