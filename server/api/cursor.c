/* Opaque cursors: see cursor.h. */
#include "server/api/cursor.h"

#include "storage/base/base64.h"
#include "storage/base/uri.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* scope LF '0'|'1' key LF tie */
enum hub_status hub_cursor_encode(const struct hub_page_cursor *cursor, struct hub_buf *out,
                                  struct hub_error *err)
{
    char text[2200];
    const int n =
        snprintf(text, sizeof text, "%s\n%d%s\n%s", cursor->scope, cursor->behind, cursor->key, cursor->tie);
    return hub_base64_encode((struct hub_view){text, (size_t)n}, out, err);
}

enum hub_status hub_cursor_decode(struct hub_view text, const char *scope, struct hub_page_cursor *out,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf buf = HUB_BUF_INIT(2200);
    char *plain = NULL, *key = NULL, *tie = NULL;
    if (!hub_base64_decode(text, &buf, NULL) && buf.size && !memchr(buf.data, '\0', buf.size)) {
        plain = buf.data;
        key = strchr(plain, '\n');
        tie = key ? strrchr(key + 1, '\n') : NULL;
    }
    if (!tie || (key[1] != '0' && key[1] != '1') || (size_t)(tie - key) > sizeof out->key ||
        strlen(tie + 1) >= sizeof out->tie) {
        hub_fail_as(err, HUB_INVALID, "bad-cursor", "this cursor was not made here; start again without one");
        return hub_fail_about(err, "cursor", text.data);
    }
    *key = *tie = '\0';
    if (strcmp(plain, scope) != 0) {
        hub_fail_as(err, HUB_INVALID, "bad-cursor",
                    "this cursor belongs to another sort or filter; keep both while paging");
        return hub_fail_about(err, "cursor", text.data);
    }
    snprintf(out->scope, sizeof out->scope, "%s", scope);
    out->behind = key[1] == '1';
    snprintf(out->key, sizeof out->key, "%s", key + 2);
    snprintf(out->tie, sizeof out->tie, "%s", tie + 1);
    return HUB_OK;
}

enum hub_status hub_page_limit(const struct hub_request *request, uint32_t *limit, struct hub_error *err)
{
    int64_t value = 100;
    bool present;
    HUB_TRY(hub_request_int(request, "limit", &value, &present, err));
    if (value < 1 || value > 1000) {
        hub_fail_as(err, HUB_INVALID, "bad-parameter", "limit is 1 to 1000");
        return hub_fail_about(err, "limit", hub_request_query(request, "limit").data);
    }
    *limit = (uint32_t)value;
    return HUB_OK;
}

/* This request's URL with another cursor. */
static enum hub_status next_url(const struct hub_request *request, const struct hub_page_cursor *cursor,
                                struct hub_buf *url, struct hub_error *err)
{
    HUB_TRY(hub_buf_addf(url, err, "%s%s?", request->base_url, request->target));
    for (unsigned i = 0; i < request->query_count; i++) {
        if (hub_view_is(request->query[i].name, "cursor"))
            continue;
        HUB_TRY(hub_uri_encode_segment(request->query[i].name, url, err));
        HUB_TRY(hub_buf_add_text(url, "=", err));
        HUB_TRY(hub_uri_encode_segment(request->query[i].value, url, err));
        HUB_TRY(hub_buf_add_text(url, "&", err));
    }
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(4 * KIB);
    HUB_TRY(hub_cursor_encode(cursor, &text, err));
    HUB_TRY(hub_buf_add_text(url, "cursor=", err));
    return hub_uri_encode_segment(hub_buf_view(&text), url, err);
}

enum hub_status hub_page_end(const struct hub_request *request, struct hub_response *response,
                             struct hub_json *json, uint64_t total, const struct hub_page_cursor *cursor,
                             struct hub_error *err)
{
    hub_json_put_uint(json, "total", total);
    hub_json_key(json, HUB_VIEW("next"));
    if (!cursor) {
        hub_json_null(json);
        return hub_json_status(json);
    }
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(16 * KIB);
    HUB_TRY(next_url(request, cursor, &url, err));
    HUB_TRY(hub_response_header(response, err, "Link", "<%s>; rel=\"next\"", url.data));
    hub_json_string(json, hub_buf_view(&url));
    return hub_json_status(json);
}
