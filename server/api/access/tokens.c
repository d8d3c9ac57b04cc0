/* Tokens: listed without their secrets; made, replaced and ended. */
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
    const struct hub_token *token = &hub_access_tokens_of(of, &count)[at];
    snprintf(out->key, sizeof out->key, "%s", token->name);
    snprintf(out->tie, sizeof out->tie, "%d%s", token->rotated, token->id);
}

static void write(const void *of, uint32_t at, struct hub_json *json)
{
    uint32_t count;
    hub_token_write(json, of, &hub_access_tokens_of(of, &count)[at]);
}

enum hub_status hub_tokens_list(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    struct hub_sorted_list list = {.place = place, .write = write};
    if (!request->may_block)
        return HUB_AGAIN; /* each has all its rules */
    struct hub_access_table *table = hub_live_access_get(request->app->access);
    (void)hub_access_tokens_of(table, &list.count);
    list.of = table;
    const enum hub_status st = hub_sorted_page(request, &list, response, err);
    hub_access_put(table);
    return st;
}

enum hub_status hub_token_post(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    struct hub_access_order order = {.action = HUB_ORDER_TOKEN_ADD,
                                     .name = hub_request_query(request, "name").data,
                                     .admin = hub_request_flag(request, "admin"),
                                     .expires = hub_request_query(request, "expires").data};
    HUB_TRY(hub_order_words_of(request, "read", &order.read, err));
    HUB_TRY(hub_order_words_of(request, "label", &order.label, err));
    HUB_TRY(hub_order_words_of(request, "write", &order.write, err));
    HUB_TRY(hub_order_words_of(request, "from", &order.from, err));
    return hub_access_change(request, &order, 201, response, err);
}

/* Of the path, as a text of its own. */
static enum hub_status name_of(const struct hub_request *request, char out[HUB_TOKEN_NAME + 1],
                               struct hub_error *err)
{
    const struct hub_view name = hub_request_capture(request, "name");
    HUB_TRY(hub_token_name_check(name, err));
    snprintf(out, HUB_TOKEN_NAME + 1, "%.*s", (int)name.size, name.data);
    return HUB_OK;
}

enum hub_status hub_token_do(struct hub_request *request, struct hub_response *response,
                             struct hub_error *err)
{
    char name[HUB_TOKEN_NAME + 1];
    HUB_TRY(name_of(request, name, err));
    const struct hub_access_order order = {
        .action = strcmp(hub_request_query(request, "do").data, "rotate") == 0 ? HUB_ORDER_TOKEN_ROTATE
                                                                               : HUB_ORDER_TOKEN_REVOKE,
        .name = name,
        .overlap = hub_request_query(request, "overlap").data};
    return hub_access_change(request, &order, 200, response, err);
}

enum hub_status hub_token_delete(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    char name[HUB_TOKEN_NAME + 1];
    HUB_TRY(name_of(request, name, err));
    return hub_access_change(request,
                             &(struct hub_access_order){.action = HUB_ORDER_TOKEN_REVOKE, .name = name}, 200,
                             response, err);
}
