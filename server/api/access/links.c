/* Signed links: POST {"path", "expires"} is answered with {"url", "expires"}. */
#include "server/api/access/order.h"
#include "server/api/handlers.h"
#include "server/http/link.h"
#include "storage/access/link.h"
#include "storage/text/time.h"

enum { HOUR_MS = 3600 * 1000, LINK_BYTES = 64 * KIB };

static enum hub_status read_time(const json_t *body, int64_t *expires_s, struct hub_error *err)
{
    uint64_t ms = HOUR_MS;
    const json_t *expires = json_object_get(body, "expires");
    if (expires && !json_is_string(expires))
        return hub_fail(err, HUB_INVALID, "\"expires\" is a time such as \"1h\" or \"7d\"");
    if (expires)
        HUB_TRY(hub_order_time("expires", json_string_value(expires), &ms, err));
    if (ms < 1000 || ms > (uint64_t)HUB_LINK_DAYS * 24 * HOUR_MS)
        return hub_fail(err, HUB_INVALID, "a link is good for 1s to %dd, 1h by itself", HUB_LINK_DAYS);
    *expires_s = hub_time_now_s() + (int64_t)(ms / 1000);
    return HUB_OK;
}

static enum hub_status check_members(json_t *body, struct hub_error *err)
{
    const char *name;
    json_t *value;
    if (!json_is_string(json_object_get(body, "path")))
        return hub_fail(err, HUB_INVALID, "the body is {\"path\": \"/api/v1/...\", \"expires\": \"1h\"}");
    json_object_foreach(
        body, name, value) if (strcmp(name, "path") != 0 &&
                               strcmp(name, "expires") !=
                                   0) return hub_fail(err, HUB_INVALID,
                                                      "a link has no \"%.40s\": there are path and expires",
                                                      name);
    return HUB_OK;
}

enum hub_status hub_link_post(struct hub_request *request, struct hub_response *response,
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *body = NULL;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(LINK_BYTES);
    struct hub_error why = {0};
    char time[HUB_TIME_CHARS];
    int64_t expires_s;
    if (hub_json_parse(request->body, request->body.size, &body, &why))
        return hub_fail(err, HUB_INVALID, "the body is not JSON: %s", why.detail);
    HUB_TRY(check_members(body, err));
    HUB_TRY(read_time(body, &expires_s, err));
    HUB_TRY(hub_request_write_link(request, json_string_value(json_object_get(body, "path")), expires_s, &url,
                                   err));
    struct hub_json json =
        hub_json_to(hub_response_buffer(response, 200, "application/json", 2 * LINK_BYTES), err);
    hub_time_rfc3339_ms(expires_s * 1000, time);
    hub_json_object(&json);
    hub_json_put_text(&json, "url", url.data);
    hub_json_put_text(&json, "expires", time);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    return hub_response_header(response, err, "Cache-Control", "no-store");
}
