/* Opaque cursors: see cursor.h. */
#include "server/api/cursor.h"

#include "server/api/negotiate.h"
#include "server/http/parameter.h"
#include "storage/text/base64.h"
#include "storage/text/uri.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* scope LF flags key LF tie; flags: a digit, 1 behind + 2 back */
enum hub_status hub_cursor_encode(const struct hub_page_cursor *cursor, struct hub_buf *out,
                                  struct hub_error *err)
{
    char text[2200];
    const int n = snprintf(text, sizeof text, "%s\n%d%s\n%s", cursor->scope,
                           cursor->behind + 2 * cursor->back, cursor->key, cursor->tie);
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
    if (!tie || key[1] < '0' || key[1] > '3' || (size_t)(tie - key) > sizeof out->key ||
        strlen(tie + 1) >= sizeof out->tie)
        return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_CURSOR, "cursor", text.data,
                              "invalid cursor for this listing; start again without one");
    *key = *tie = '\0';
    if (strcmp(plain, scope) != 0)
        return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_CURSOR, "cursor", text.data,
                              "this cursor was made for another sort or filter; keep both while paging");
    snprintf(out->scope, sizeof out->scope, "%s", scope);
    out->behind = (key[1] - '0') & 1;
    out->back = (key[1] - '0') & 2;
    snprintf(out->key, sizeof out->key, "%s", key + 2);
    snprintf(out->tie, sizeof out->tie, "%s", tie + 1);
    return HUB_OK;
}

static bool is_of_page(const char *name)
{
    static const char *const names[] = {"limit", "cursor", "revision", "facets", "at", "wait"};
    for (size_t i = 0; i < HUB_COUNT(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* format=, where it says how the page is written. */
static bool is_form(const struct hub_param *param)
{
    return hub_view_is(param->name, "format") && hub_negotiate_named(HUB_LIST_OF_PAGES, param->value);
}

static void set_scope(const struct hub_request *request, char out[33])
{
    struct hub_view parts[2 * HUB_MAX_QUERY];
    unsigned n = 0;
    char etag[40];
    for (const struct hub_parameter *const *row = request->parameters; *row && n + 2 <= HUB_COUNT(parts);
         row++) {
        const struct hub_view name = hub_view_of((*row)->name);
        if ((*row)->in_path || is_of_page((*row)->name))
            continue;
        parts[n++] = name;
        parts[n++] = HUB_VIEW("\1");
        for (unsigned i = 0; i < request->query_count; i++)
            if (hub_view_equal(request->query[i].name, name) && !is_form(&request->query[i]))
                parts[n - 1] = request->query[i].value;
    }
    hub_fingerprint(etag, parts, n);
    snprintf(out, 33, "%.32s", etag + 1);
}

/* Where format= may be repeated it may be a filter as well. */
static enum hub_status read_form(const struct hub_request *request, bool *lines, struct hub_error *err)
{
    const struct hub_parameter *row = hub_parameter_find(request->parameters, HUB_VIEW("format"));
    const struct hub_representation *as = hub_representations;
    if (row) {
        const struct hub_offer offer = {.list = HUB_LIST_OF_PAGES, .filter = row->repeats};
        HUB_TRY(hub_negotiate(request, &offer, &as, err));
    }
    *lines = as != hub_representations;
    return HUB_OK;
}

static enum hub_status read_position(const struct hub_request *request, struct hub_page_query *out,
                                     struct hub_error *err)
{
    const struct hub_view cursor = hub_request_query(request, "cursor");
    out->goes_on = cursor.data;
    set_scope(request, out->scope);
    return cursor.data ? hub_cursor_decode(cursor, out->scope, &out->after, err) : HUB_OK;
}

enum hub_status hub_page_read(const struct hub_request *request, struct hub_page_query *out,
                              struct hub_error *err)
{
    int64_t limit = 100;
    HUB_TRY(read_form(request, &out->lines, err));
    out->all = !hub_request_int(request, "limit", &limit) && out->lines;
    out->after.back = false;
    out->after.key[0] = out->after.tie[0] = '\0';
    out->limit = (uint32_t)limit;
    return read_position(request, out, err);
}

enum hub_status hub_page_read_all(const struct hub_request *request, struct hub_page_query *out,
                                  struct hub_error *err)
{
    int64_t limit = UINT32_MAX;
    (void)hub_request_int(request, "limit", &limit);
    out->limit = (uint32_t)HUB_MIN(limit, (int64_t)UINT32_MAX);
    return read_position(request, out, err);
}

struct hub_json hub_page_begin(const struct hub_page_query *page, struct hub_response *response,
                               size_t limit_bytes, struct hub_error *err)
{
    struct hub_json json = hub_json_to(
        hub_response_buffer(response, 200, page->lines ? HUB_LINES_TYPE : "application/json", limit_bytes),
        err);
    if (page->lines) {
        hub_json_array(&json);
        return json;
    }
    hub_json_object(&json);
    hub_json_put_array(&json, "items");
    return json;
}

/* The array as a line an item. */
static enum hub_status to_lines(struct hub_response *response, uint64_t total, struct hub_error *err)
{
    struct hub_buf *body = &response->buffer;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf lines = HUB_BUF_INIT(body->limit);
    struct hub_view rest = hub_buf_view(body), item;
    lines.meter = body->meter;
    while (hub_json_take(&rest, NULL, &item)) {
        HUB_TRY(hub_buf_add_view(&lines, item, err));
        HUB_TRY(hub_buf_add_text(&lines, "\n", err));
    }
    const struct hub_buf whole = *body;
    *body = lines;
    lines = whole;
    return hub_response_header(response, err, "X-Total-Count", "%" PRIu64, total);
}

enum hub_status hub_page_next_url(const struct hub_request *request, const struct hub_page_cursor *cursor,
                                  struct hub_buf *url, struct hub_error *err)
{
    HUB_TRY(hub_buf_addf(url, err, "%s%s?", hub_base_url(request), request->target));
    for (unsigned i = 0; i < request->query_count; i++) {
        if (hub_view_is(request->query[i].name, "cursor") || hub_view_is(request->query[i].name, "at"))
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

/* The member, unless `json` is NULL, and the link among the `links`. */
static enum hub_status put_link(const struct hub_request *request, struct hub_json *json, const char *rel,
                                const struct hub_page_cursor *cursor, struct hub_buf *links,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(16 * KIB);
    if (cursor)
        HUB_TRY(hub_page_next_url(request, cursor, &url, err));
    if (json)
        hub_json_key(json, hub_view_of(rel));
    if (json && cursor)
        hub_json_string(json, hub_buf_view(&url));
    else if (json)
        hub_json_null(json);
    if (!cursor)
        return HUB_OK;
    return hub_buf_addf(links, err, "%s<%s>; rel=\"%s\"", links->size ? ", " : "", url.data, rel);
}

static void aim(const struct hub_page_query *page, struct hub_page_ends *ends)
{
    memcpy(ends->next.scope, page->scope, sizeof ends->next.scope);
    memcpy(ends->prev.scope, page->scope, sizeof ends->prev.scope);
    ends->prev.back = true;
}

static enum hub_status end(const struct hub_page_query *page, struct hub_response *response,
                           struct hub_json *json, uint64_t total, const struct hub_buf *links,
                           struct hub_error *err)
{
    if (!page->lines)
        hub_json_end_object(json);
    HUB_TRY(hub_json_status(json));
    if (page->lines)
        HUB_TRY(to_lines(response, total, err));
    return links->size ? hub_response_header(response, err, "Link", "%s", links->data) : HUB_OK;
}

enum hub_status hub_page_links(const struct hub_request *request, const struct hub_page_query *page,
                               struct hub_response *response, struct hub_page_ends *ends,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf links = HUB_BUF_INIT(32 * KIB);
    aim(page, ends);
    HUB_TRY(put_link(request, NULL, "next", ends->has_next ? &ends->next : NULL, &links, err));
    HUB_TRY(put_link(request, NULL, "prev", ends->has_prev ? &ends->prev : NULL, &links, err));
    return links.size ? hub_response_header(response, err, "Link", "%s", links.data) : HUB_OK;
}

uint32_t hub_page_first(const struct hub_page_query *page, uint32_t at)
{
    return !page->after.back ? at : at > page->limit ? at - page->limit : 0;
}

void hub_page_span(struct hub_page_ends *ends, uint32_t first, uint32_t end)
{
    ends->has_next = end > first && end < ends->total;
    ends->has_prev = end > first && first > 0;
}

void hub_page_ends_dispose(struct hub_page_ends *ends)
{
    hub_buf_dispose(&ends->more);
}

enum hub_status hub_page_close(const struct hub_request *request, const struct hub_page_query *page,
                               struct hub_response *response, struct hub_json *json,
                               struct hub_page_ends *ends, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf links = HUB_BUF_INIT(32 * KIB);
    aim(page, ends);
    hub_json_end_array(json);
    struct hub_json *members = page->lines ? NULL : json;
    if (members)
        hub_json_put_uint(json, "total", ends->total);
    HUB_TRY(put_link(request, members, "next", ends->has_next ? &ends->next : NULL, &links, err));
    HUB_TRY(put_link(request, members, "prev", ends->has_prev ? &ends->prev : NULL, &links, err));
    if (members && ends->more.size)
        hub_json_raw(json, hub_buf_view(&ends->more));
    return end(page, response, json, ends->total, &links, err);
}
