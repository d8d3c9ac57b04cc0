/* Finding the route of a request. {id} takes segments up to a reserved one, so that the split needs no
 * catalogue. */
#include "server/http/http.h"

#include "storage/ids/id.h"

#include <stdio.h>

/* The segments [from, to) as sent, joined by '/', into request->text. */
static bool join(struct hub_request *request, unsigned from, unsigned to, struct hub_view *out)
{
    if (to == from + 1) {
        *out = request->segments[from];
        return true;
    }
    size_t need = 0;
    for (unsigned i = from; i < to; i++)
        need += request->segments[i].size + 1;
    if (need > request->text_size - request->text_used)
        return false;
    char *start = request->text + request->text_used, *at = start;
    for (unsigned i = from; i < to; i++) {
        memcpy(at, request->segments[i].data, request->segments[i].size);
        at += request->segments[i].size;
        *at++ = i + 1 < to ? '/' : '\0';
    }
    request->text_used += need;
    *out = (struct hub_view){start, need - 1};
    return true;
}

static bool capture(struct hub_request *request, struct hub_view name, unsigned from, unsigned to)
{
    if (request->capture_count == HUB_COUNT(request->captures))
        return false;
    struct hub_param *param = &request->captures[request->capture_count];
    param->name = name;
    if (!join(request, from, to, &param->value))
        return false;
    request->capture_count++;
    return true;
}

/* How many segments from `at` on a capture takes; 0: it does not match here. */
static unsigned span(const struct hub_request *request, struct hub_view name, unsigned at)
{
    unsigned left = request->segment_count - at;
    if (left == 0)
        return 0;
    if (hub_view_is(name, "path"))
        return left;
    if (!hub_view_is(name, "id"))
        return 1;
    unsigned n = 0;
    while (n < left && !hub_id_segment_reserved(request->segments[at + n]))
        n++;
    return n;
}

bool hub_route_begins(const struct hub_route *routes, struct hub_view segment)
{
    for (; routes->pattern; routes++) {
        const struct hub_view pattern = hub_view_of(routes->pattern + 1);
        if (hub_view_starts(pattern, segment.data) &&
            (pattern.size == segment.size || pattern.data[segment.size] == '/'))
            return true;
    }
    return false;
}

/* A name of a folder, of which other protocols may ask: no dataset, and nothing in one, is called so. */
static bool is_plain(const struct hub_request *request)
{
    return !request->segment_count || !hub_request_capture(request, "id").data ||
           !hub_view_ends(request->segments[request->segment_count - 1], "/");
}

/* Is one of "?a?b" a parameter of the request? */
static bool has_any(const struct hub_request *request, const char *names)
{
    bool any = false;
    for (size_t size; *names && !any; names += size + 1) {
        size = strcspn(names + 1, "?");
        for (unsigned i = 0; i < request->query_count; i++)
            any |= hub_view_equal(request->query[i].name, (struct hub_view){names + 1, size});
    }
    return any;
}

/* The end of the segment of a pattern; only behind the last one stand names of parameters. */
static const char *segment_end(const char *p)
{
    const char *end = strchrnul(p, '/');
    return *end ? end : strchrnul(p, '?');
}

static bool match(struct hub_request *request, const char *pattern)
{
    size_t text_used = request->text_used;
    request->capture_count = 0;
    unsigned at = 0;
    const char *p = pattern;
    while (*p == '/' && p[1]) {
        p++;
        const char *end = segment_end(p);
        const size_t size = (size_t)(end - p);
        if (*p == '{') {
            struct hub_view name = {p + 1, size - 2};
            unsigned n = span(request, name, at);
            if (n == 0 || !capture(request, name, at, at + n))
                break;
            at += n;
        } else {
            if (at == request->segment_count ||
                !hub_view_equal(request->segments[at], (struct hub_view){p, size}))
                break;
            at++;
        }
        p = end;
    }
    const bool slash = p > pattern && strcmp(p, "/") == 0; /* and not "/" itself */
    if (*p == '?' && has_any(request, p))
        p += strlen(p);
    if ((*p == '\0' || strcmp(p, "/") == 0) && at == request->segment_count &&
        (!slash || request->trailing_slash) && is_plain(request))
        return true;
    request->text_used = text_used;
    request->capture_count = 0;
    return false;
}

/* "": a method nobody answers */
static const char *method_name(enum hub_method method)
{
    switch (method) {
    case HUB_GET:
    case HUB_HEAD:
        return "GET";
    case HUB_POST:
        return "POST";
    case HUB_PUT:
        return "PUT";
    case HUB_DELETE:
        return "DELETE";
    case HUB_OPTIONS:
        return "OPTIONS";
    case HUB_PATCH:
        return "PATCH";
    }
    return "";
}

static void allow_more(char allow[64], const char *method)
{
    size_t used = strlen(allow);
    const char *names = strcmp(method, "GET") == 0 ? "GET, HEAD" : method;
    if (used + strlen(names) + 3 < 64 && !strstr(allow, names))
        snprintf(allow + used, 64 - used, "%s%s", used ? ", " : "", names);
}

bool hub_request_is_admin(const struct hub_request *request)
{
    return request->local || (request->access && hub_access_level(request->access, &request->principal,
                                                                  HUB_VIEW("")) == HUB_LEVEL_ADMIN);
}

bool hub_request_may_write_some(const struct hub_request *request)
{
    return request->local ||
           (request->access && hub_access_writes_some(request->access, &request->principal));
}

bool hub_request_may_watch(const struct hub_request *request)
{
    return !request->access || !hub_access_hides(request->access) || hub_request_is_admin(request);
}

static bool is_change(const struct hub_request *request)
{
    return request->method != HUB_GET && request->method != HUB_HEAD;
}

/* What a browser sends by itself, for pages of whatever site, proves nothing of what somebody wants to
 * change: the cookie, the name and password that it keeps, the user whom a proxy knows. A request of a
 * page of another site has an Origin. */
static bool is_meant(const struct hub_request *request)
{
    return request->local || request->carrier == HUB_BY_BEARER ||
           ((request->carrier == HUB_BY_BASIC || request->carrier == HUB_BY_NOTHING) &&
            !hub_request_header(request, "Origin"));
}

static enum hub_status allow_change(const struct hub_request *request, struct hub_error *err)
{
    if (request->read_only)
        return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_READ_ONLY,
                           "this hub is read-only: it takes changes when its admin starts it without "
                           "--read-only (read-only = off in its configuration)");
    if (request->is_exposed)
        return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_FORBIDDEN,
                           "a change from another machine wants TLS: send it through a proxy of "
                           "--trusted-proxies that speaks https, or start the hub with --insecure-writes");
    return is_meant(request)
               ? HUB_OK
               : hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_FORBIDDEN,
                             "a change wants a token as Bearer: a session, a link and a user of a "
                             "proxy only read");
}

enum hub_status hub_route_allow(const struct hub_route *route, const struct hub_request *request,
                                struct hub_error *err)
{
    if ((route->right == HUB_FOR_ADMINS || route->right == HUB_FOR_WRITERS) && is_change(request))
        return allow_change(request, err);
    if (route->right != HUB_FOR_WATCHERS || hub_request_may_watch(request))
        return HUB_OK;
    return hub_principal_signed_in(&request->principal)
               ? hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_FORBIDDEN, "%s is for the admins of this hub",
                             request->target)
               : hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_SIGN_IN,
                             "%s is for the admins of this hub: send a token", request->target);
}

enum hub_status hub_route_none(const struct hub_request *request, struct hub_error *err)
{
    return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_ROUTE_NOT_FOUND,
                       "no resource at %.200s; /openapi.json lists all resources", request->target);
}

/* For all others there is no such row. */
static bool may_administer(const struct hub_request *request)
{
    return request->local ||
           (request->carrier != HUB_BY_NOTHING && is_meant(request) && hub_request_is_admin(request));
}

enum hub_status hub_route_find(struct hub_request *request, const struct hub_route *routes,
                               const struct hub_route **out, char allow[64], struct hub_error *err)
{
    const char *method = method_name(request->method);
    allow[0] = '\0';
    for (const struct hub_route *route = routes; route->pattern; route++) {
        bool same = strcmp(route->method, method) == 0;
        if (!match(request, route->pattern) || (route->right == HUB_FOR_ADMINS && !may_administer(request)))
            continue;
        if (route->pattern[1] == '{' && hub_route_begins(routes, request->segments[0]))
            continue;
        if (same) {
            request->route = *out = route;
            request->routes = routes;
            return HUB_OK;
        }
        allow_more(allow, route->method);
    }
    request->capture_count = 0;
    if (!allow[0])
        return hub_route_none(request, err);
    return hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_METHOD_NOT_ALLOWED,
                       "this method is not allowed here; allowed: %s", allow);
}
