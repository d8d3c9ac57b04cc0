/* Requests within requests: see inner.h. */
#include "server/http/inner.h"

static void inherit(struct hub_request *request, const struct hub_request *outer)
{
    request->app = outer->app;
    request->base_url = outer->base_url;
    request->names_server = outer->names_server;
    request->may_block = request->partial = true;
    request->heavy = outer->heavy;
    request->client = outer->client;
    request->access = outer->access ? hub_access_get(outer->access) : NULL;
    request->principal = outer->principal;
    request->carrier = outer->carrier;
    request->token = outer->token;
    request->parallel = outer->parallel;
}

static enum hub_status call(struct hub_inner *inner, const struct hub_route *routes, struct hub_error *err)
{
    const struct hub_route *route;
    char allow[64];
    HUB_TRY(hub_route_find(&inner->request, routes, &route, allow, err));
    HUB_TRY(hub_route_allow(route, &inner->request, err));
    return hub_route_call(route, &inner->request, &inner->response, err);
}

enum hub_status hub_inner_get(struct hub_inner *inner, struct hub_request *outer,
                              const struct hub_route *routes, const char *target, struct hub_error *err)
{
    struct hub_request *request = &inner->request;
    hub_response_init(&inner->response);
    HUB_TRY(hub_request_init(request, HUB_GET, target, err));
    inherit(request, outer);
    request->granted = outer->granted;
    outer->granted = 0;
    const enum hub_status st = call(inner, routes, err);
    outer->granted = request->granted;
    if (st != HUB_AGAIN)
        return st;
    if (request->wait.on == HUB_WAIT_MEMORY || request->wait.on == HUB_WAIT_HEAVY) {
        outer->wait = request->wait;
        return st;
    }
    return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_OVERLOADED,
                       "the upstream of this dataset has not sent it yet: try again soon");
}

static enum hub_status make(struct hub_body_producer *maker, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf block = HUB_BUF_INIT(HUB_BODY_STREAM_LIMIT);
    do {
        block.size = 0;
        HUB_TRY(maker->more(maker, &block, err));
        HUB_TRY(hub_buf_add_view(out, hub_buf_view(&block), err));
    } while (block.size);
    return HUB_OK;
}

enum hub_status hub_inner_body(struct hub_inner *inner, size_t limit, struct hub_view *out,
                               struct hub_error *err)
{
    struct hub_response *response = &inner->response;
    *out = response->kind == HUB_BODY_SHARED ? hub_bytes_view(response->shared)
                                             : hub_buf_view(&response->buffer);
    if (response->kind != HUB_BODY_STREAM)
        return HUB_OK;
    inner->stream.limit = limit;
    HUB_TRY(hub_buf_add_view(&inner->stream, *out, err));
    HUB_TRY(make(response->maker, &inner->stream, err));
    *out = hub_buf_view(&inner->stream);
    return HUB_OK;
}

void hub_inner_dispose(struct hub_inner *inner)
{
    hub_response_dispose(&inner->response);
    hub_request_end(&inner->request);
    hub_request_dispose(&inner->request);
    hub_buf_dispose(&inner->stream);
}
