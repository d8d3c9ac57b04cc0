/* A request's target: the raw path is split at '/' first and each segment decoded after, so that %2F is a
 * slash inside a segment and never a separator. Everything decoded lies in request->text. */
#include "server/http/http.h"

#include "storage/base/hex.h"
#include "storage/base/nearest.h"
#include "storage/io/fetch.h"
#include "storage/text/utf8.h"

#include <stdio.h>
#include <stdlib.h>

#define KEPT_TEXT (8 * KIB) /* of a connection between its requests */

static enum hub_status bad(struct hub_error *err, const char *what)
{
    return hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_BAD_REQUEST, "the request target %s", what);
}

/* Decode into request->text, terminated. The decoded form is never longer than the raw one. */
static enum hub_status decode(struct hub_request *request, struct hub_view raw, bool plus,
                              struct hub_view *out, struct hub_error *err)
{
    if (raw.size + 1 > request->text_size - request->text_used)
        return hub_no_memory(err);
    char *to = request->text + request->text_used;
    size_t n = 0;
    for (size_t i = 0; i < raw.size; i++) {
        char c = raw.data[i];
        if ((unsigned char)c <= ' ' || c == 0x7F)
            return bad(err, "has a space or a control character");
        if (c == '%') {
            bool whole = raw.size - i > 2;
            int high = whole ? hub_hex_digit(raw.data[i + 1]) : -1;
            int low = whole ? hub_hex_digit(raw.data[i + 2]) : -1;
            if (high < 0 || low < 0)
                return bad(err, "has a % that two hexadecimal digits do not follow");
            c = (char)(high * 16 + low);
            i += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        to[n++] = c;
    }
    to[n] = '\0';
    request->text_used += n + 1;
    *out = (struct hub_view){to, n};
    return HUB_OK;
}

/* A decoded segment may hold slashes (%2F); none of its pieces may be empty or a dot segment. It `may_end`
 * with one: clients of other protocols ask so whether there is a folder, and nothing here is called so. */
static bool pieces_are_plain(struct hub_view segment, bool may_end)
{
    const char *at = segment.data, *end = segment.data + segment.size;
    for (;;) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        struct hub_view piece = {at, (size_t)((slash ? slash : end) - at)};
        if (may_end && at == end && at > segment.data)
            return true;
        if (piece.size == 0 || hub_view_is(piece, ".") || hub_view_is(piece, ".."))
            return false;
        if (!slash)
            return true;
        at = slash + 1;
    }
}

static enum hub_status split_path(struct hub_request *request, struct hub_view path, struct hub_error *err)
{
    if (path.size == 0 || path.data[0] != '/')
        return bad(err, "must be a path that begins with /");
    const char *at = path.data + 1, *end = path.data + path.size;
    while (path.size > 1) {
        /* files lie deep: what is behind the last but one is one segment, slashes and all */
        const bool full = request->segment_count + 1 == HUB_MAX_SEGMENTS;
        const char *slash = full ? NULL : memchr(at, '/', (size_t)(end - at));
        struct hub_view raw = {at, (size_t)((slash ? slash : end) - at)}, segment;
        if (raw.size == 0 && !slash && request->segment_count > 0) {
            request->trailing_slash = true;
            break;
        }
        HUB_TRY(decode(request, raw, false, &segment, err));
        if (!pieces_are_plain(segment, !slash && request->segment_count > 0))
            return bad(err, "has an empty, '.' or '..' segment");
        if (!hub_utf8_printable(segment) || memchr(raw.data, '\\', raw.size))
            return bad(err, "must be UTF-8 without control characters, and a backslash is %5C");
        request->segments[request->segment_count++] = segment;
        if (!slash)
            break;
        at = slash + 1;
    }
    return HUB_OK;
}

/* Line feeds and tabs are fine inside a parameter (a `where` of several lines), other control characters are
 * not. NULL: it is text. */
static const char *what_is_wrong(struct hub_view text)
{
    unsigned char all = 0;
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F)
            return "holds a control character";
        all |= c;
    }
    return all < 0x80 || hub_utf8_valid(text) ? NULL : "is not UTF-8";
}

static enum hub_status check_param(const struct hub_param *param, struct hub_error *err)
{
    const char *wrong = what_is_wrong(param->name);
    if (wrong)
        return hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_BAD_PARAMETER, "the name of a parameter %s", wrong);
    wrong = what_is_wrong(param->value);
    if (!wrong)
        return HUB_OK;
    return hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_BAD_PARAMETER, "parameter '%.60s' %s", param->name.data,
                       wrong);
}

static enum hub_status split_query(struct hub_request *request, struct hub_view query, struct hub_error *err)
{
    const char *at = query.data, *end = query.data + query.size;
    while (at < end) {
        const char *stop = memchr(at, '&', (size_t)(end - at));
        if (!stop)
            stop = end;
        if (stop > at) {
            const char *equals = memchr(at, '=', (size_t)(stop - at));
            struct hub_view name = {at, (size_t)((equals ? equals : stop) - at)};
            struct hub_view value = {equals ? equals + 1 : stop, equals ? (size_t)(stop - equals - 1) : 0};
            if (request->query_count == HUB_MAX_QUERY)
                return bad(err, "has more than 64 parameters");
            struct hub_param *param = &request->query[request->query_count];
            HUB_TRY(decode(request, name, true, &param->name, err));
            HUB_TRY(decode(request, value, true, &param->value, err));
            HUB_TRY(check_param(param, err));
            request->query_count++;
        }
        at = stop + 1;
    }
    return HUB_OK;
}

/* Room for the target once raw and once decoded, the captures joined again, and the base URL. */
static enum hub_status make_room(struct hub_request *request, size_t target, struct hub_error *err)
{
    size_t need = 4 * target + 1024;
    if (request->text_size >= need)
        return HUB_OK;
    free(request->text);
    request->text_size = 0;
    request->text = malloc(need);
    HUB_TRY(hub_allocated(request->text, err));
    request->text_size = need;
    return HUB_OK;
}

enum hub_status hub_request_init(struct hub_request *request, enum hub_method method, const char *target,
                                 struct hub_error *err)
{
    /* not the whole struct: what lies behind a count needs no zeroing on every request */
    request->app = NULL;
    request->access = NULL;
    request->principal = (struct hub_principal){0};
    request->carrier = HUB_BY_NOTHING;
    request->token = NULL;
    request->tries = NULL;
    request->is_exposed = request->read_only = false;
    request->method = method;
    request->target = request->query_text = request->base_url = "";
    request->names_server = NULL;
    request->trailing_slash = false;
    request->segment_count = request->query_count = request->capture_count = request->header_count = 0;
    request->headers = NULL;
    request->body = (struct hub_view){0};
    request->sink = NULL;
    request->id[0] = '\0';
    request->may_block = request->heavy = request->partial = request->for_everybody = false;
    request->route = NULL;
    request->wait = (struct hub_wait){0};
    request->state = NULL;
    request->free_state = NULL;
    request->reading = NULL;
    request->parallel = NULL;
    request->parameters = NULL;
    size_t size = strlen(target);
    HUB_TRY(make_room(request, size, err));
    size_t path_size = strcspn(target, "?");
    memcpy(request->text, target, size + 1);
    request->text[path_size] = '\0';
    request->target = request->text;
    request->text_used = size + 1;
    HUB_TRY(split_path(request, (struct hub_view){target, path_size}, err));
    if (path_size == size)
        return HUB_OK;
    request->query_text = request->text + path_size + 1;
    return split_query(request, hub_view_of(request->query_text), err);
}

static void drop_text(struct hub_request *request)
{
    free(request->text);
    request->text = NULL;
    request->text_size = 0;
}

static void drop_state(struct hub_request *request)
{
    if (request->state && request->free_state)
        request->free_state(request->state);
    request->state = NULL;
    if (request->reading)
        request->end_reading(request->reading);
    request->reading = NULL;
    hub_fetch_put(request->held);
    request->held = NULL;
    hub_access_put(request->access);
    request->access = NULL;
    request->token = NULL;
    request->principal = (struct hub_principal){0};
}

enum hub_status hub_await_heavy(struct hub_request *request)
{
    request->wait = (struct hub_wait){.on = HUB_WAIT_HEAVY};
    return HUB_AGAIN;
}

enum hub_status hub_await_bytes(struct hub_request *request, struct hub_file_fetch *fetch)
{
    request->wait = (struct hub_wait){.on = HUB_WAIT_BYTES, .fetch = fetch};
    return HUB_AGAIN;
}

enum hub_status hub_await_held(struct hub_request *request, struct hub_file_fetch *fetch, int64_t recall_ms)
{
    hub_fetch_put(request->held);
    request->held = fetch;
    request->wait = (struct hub_wait){.on = HUB_WAIT_BYTES, .fetch = fetch, .recall_ms = recall_ms};
    return HUB_AGAIN;
}

void hub_request_end(struct hub_request *request)
{
    drop_state(request);
    if (request->text_size > KEPT_TEXT)
        drop_text(request);
}

void hub_request_dispose(struct hub_request *request)
{
    drop_state(request);
    drop_text(request);
}

struct hub_view hub_request_capture(const struct hub_request *request, const char *name)
{
    for (unsigned i = 0; i < request->capture_count; i++)
        if (hub_view_is(request->captures[i].name, name))
            return request->captures[i].value;
    return (struct hub_view){NULL, 0};
}

const char *hub_request_header(const struct hub_request *request, const char *name)
{
    for (unsigned i = 0; i < request->header_count; i++)
        if (hub_param_named(&request->headers[i], name))
            return request->headers[i].value.data;
    return NULL;
}
