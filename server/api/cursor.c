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
        strlen(tie + 1) >= sizeof out->tie)
        return hub_fail_about(err, HUB_INVALID, "bad-cursor", "cursor", text.data,
                              "invalid cursor for this listing; start again without one");
    *key = *tie = '\0';
    if (strcmp(plain, scope) != 0)
        return hub_fail_about(err, HUB_INVALID, "bad-cursor", "cursor", text.data,
                              "this cursor was made for another sort or filter; keep both while paging");
    snprintf(out->scope, sizeof out->scope, "%s", scope);
    out->behind = key[1] == '1';
    snprintf(out->key, sizeof out->key, "%s", key + 2);
    snprintf(out->tie, sizeof out->tie, "%s", tie + 1);
    return HUB_OK;
}

static bool is_of_page(const char *name)
{
    return strcmp(name, "limit") == 0 || strcmp(name, "cursor") == 0 || strcmp(name, "revision") == 0;
}

static void set_scope(const struct hub_request *request, const char *const *parameters, char out[33])
{
    struct hub_view parts[HUB_MAX_QUERY];
    unsigned n = 0;
    char etag[40];
    for (; *parameters && n + 2 <= HUB_MAX_QUERY; parameters++) {
        const struct hub_view value = hub_request_query(request, *parameters);
        if (is_of_page(*parameters))
            continue;
        parts[n++] = hub_view_of(*parameters);
        parts[n++] = value.data ? value : HUB_VIEW("\1");
    }
    hub_fingerprint(etag, parts, n);
    snprintf(out, 33, "%.32s", etag + 1);
}

enum hub_status hub_page_read(const struct hub_request *request, const char *const *parameters,
                              struct hub_page_query *out, struct hub_error *err)
{
    int64_t limit = 100;
    bool present;
    HUB_TRY(hub_request_known(request, parameters, err));
    HUB_TRY(hub_request_int(request, "limit", &limit, &present, err));
    if (limit < 1 || limit > 1000)
        return hub_request_wrong(request, "limit", err, "limit must be from 1 to 1000");
    const struct hub_view cursor = hub_request_query(request, "cursor");
    out->limit = (uint32_t)limit;
    out->goes_on = cursor.data;
    set_scope(request, parameters, out->scope);
    return cursor.data ? hub_cursor_decode(cursor, out->scope, &out->after, err) : HUB_OK;
}

struct hub_json hub_page_begin(struct hub_response *response, size_t limit_bytes, struct hub_error *err)
{
    struct hub_json json =
        hub_json_to(hub_response_buffer(response, 200, "application/json", limit_bytes), err);
    hub_json_object(&json);
    hub_json_put_array(&json, "items");
    return json;
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

enum hub_status hub_page_end(const struct hub_request *request, const struct hub_page_query *page,
                             struct hub_response *response, struct hub_json *json, uint64_t total,
                             struct hub_page_cursor *next, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(16 * KIB);
    hub_json_end_array(json);
    hub_json_put_uint(json, "total", total);
    hub_json_key(json, HUB_VIEW("next"));
    if (next) {
        memcpy(next->scope, page->scope, sizeof next->scope);
        HUB_TRY(next_url(request, next, &url, err));
        HUB_TRY(hub_response_header(response, err, "Link", "<%s>; rel=\"next\"", url.data));
        hub_json_string(json, hub_buf_view(&url));
    } else {
        hub_json_null(json);
    }
    hub_json_end_object(json);
    return hub_json_status(json);
}
