/* What is not here: see hf_upstream.h. */
#include "server/facade/hf_upstream.h"

#include "server/facade/handlers.h"
#include "server/facade/hf.h"
#include "storage/net/relay.h"

#include <stdio.h>
#include <stdlib.h>

enum { HOPS = 5 /* redirects within the upstream */, HUBS = 3 /* that a request may come through */ };
#define VIA "minari-hub"

static const char *const answered[] = {
    "ETag",          "Last-Modified", "X-Repo-Commit",   "X-Linked-Etag",    "X-Linked-Size",
    "X-Total-Count", "X-Error-Code",  "X-Error-Message", "Content-Range",    "Accept-Ranges",
    "Location",      "Retry-After",   "RateLimit",       "RateLimit-Policy", "WWW-Authenticate"};

/* What is kept of a request that was passed on. */
struct relayed_request {
    struct hub_relayed *relayed;
    unsigned hops;
};

static void passed_free(void *state)
{
    struct relayed_request *p = state;
    hub_relayed_put(p->relayed);
    free(p);
}

bool hub_hf_has_upstream(const struct hub_request *request)
{
    unsigned hubs = 0;
    const char *via = hub_request_header(request, "Via");
    for (; via && (via = strstr(via, VIA)); via += strlen(VIA))
        hubs++;
    return request->app->relay && hubs < HUBS &&
           strcmp(request->app->hf_upstream, request->base_url) != 0; /* this hub itself */
}

bool hub_hf_is_file(const struct hub_request *request)
{
    for (unsigned i = 1; i + 2 < request->segment_count && i < 4; i++)
        if (hub_view_is(request->segments[i], "resolve") || hub_view_is(request->segments[i], "raw"))
            return !hub_view_is(request->segments[0], "api");
    return false;
}

/* ---- asking ---- */

static enum hub_status add_line(struct hub_buf *text, const char *name, const char *value,
                                struct hub_error *err)
{
    if (!value)
        return HUB_OK;
    HUB_TRY(hub_buf_addf(text, err, "%s: %s", name, value));
    return hub_buf_add(text, "", 1, err);
}

static enum hub_status write_lines(const struct hub_request *request, struct hub_buf *text,
                                   struct hub_error *err)
{
    static const char *const passed_on[] = {"Authorization", "Accept", "Content-Type", "Range"};
    const char *via = hub_request_header(request, "Via");
    for (size_t i = request->principal.token ? 1 : 0; i < HUB_COUNT(passed_on);
         i++) /* ours is not passed on */
        HUB_TRY(add_line(text, passed_on[i], hub_request_header(request, passed_on[i]), err));
    HUB_TRY(add_line(text, "Accept-Encoding", "identity", err));
    HUB_TRY(hub_buf_addf(text, err, "Via: %s%s1.1 " VIA, via ? via : "", via ? ", " : ""));
    return hub_buf_add(text, "", 1, err);
}

static const char *method_of(const struct hub_request *request)
{
    return request->method == HUB_HEAD ? "HEAD" : request->method == HUB_POST ? "POST" : "GET";
}

static enum hub_status send_request(struct hub_request *request, struct relayed_request *p, const char *url,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    const char *lines[8] = {0};
    HUB_TRY(write_lines(request, &text, err));
    size_t count = 0;
    for (const char *at = text.data; at < text.data + text.size; at += strlen(at) + 1)
        lines[count++] = at;
    hub_relayed_put(p->relayed);
    p->relayed = NULL;
    const struct hub_relay_request relayed = {.client = request->client,
                                              .method = method_of(request),
                                              .url = url,
                                              .headers = lines,
                                              .body = request->body};
    HUB_TRY(hub_relay_send(request->app->relay, &relayed, &p->relayed, err));
    (void)hub_await_bytes(request, hub_relayed_fetch(p->relayed));
    request->wait.patience_ms = HUB_RELAYED_MS + 5000; /* the relay gives up first, and says why */
    return HUB_AGAIN;
}

/* ---- answering ---- */

static bool can_be_sent(struct hub_view value)
{
    for (size_t i = 0; i < value.size; i++)
        if ((unsigned char)value.data[i] < ' ' || value.data[i] == 0x7f)
            return false;
    return value.size > 0;
}

/* Links into the upstream lead through this hub, so that the next page is asked for here. */
static enum hub_status write_link(const struct hub_request *request, struct hub_view link,
                                  struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(16 * KIB);
    const struct hub_view upstream = hub_view_of(request->app->hf_upstream);
    if (!can_be_sent(link))
        return HUB_OK;
    for (size_t i = 0; i < link.size; i++) {
        const struct hub_view rest = {link.data + i, link.size - i};
        const bool begins = i && link.data[i - 1] == '<' && rest.size > upstream.size &&
                            memcmp(rest.data, upstream.data, upstream.size) == 0 &&
                            rest.data[upstream.size] == '/';
        HUB_TRY(begins ? hub_buf_add_text(&text, hub_base_url(request), err)
                       : hub_buf_add(&text, rest.data, 1, err));
        i += begins ? upstream.size - 1 : 0;
    }
    return hub_response_header(response, err, "Link", "%s", text.data);
}

static enum hub_status write_headers(const struct hub_request *request, const struct hub_relayed *r,
                                     struct hub_response *response, struct hub_error *err)
{
    for (size_t i = 0; i < HUB_COUNT(answered); i++) {
        const struct hub_view value = hub_relayed_header(r, answered[i]);
        if (can_be_sent(value))
            HUB_TRY(hub_response_header(response, err, answered[i], "%.*s", (int)value.size, value.data));
    }
    return write_link(request, hub_relayed_header(r, "Link"), response, err);
}

static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    return strncasecmp(type, json, sizeof json - 1) == 0 &&
           (!type[sizeof json - 1] || strchr("; ", type[sizeof json - 1]));
}

/* A page of the upstream would be one of this hub, which may be behind a login: no browser runs it. */
static enum hub_status confine(const struct hub_relayed *r, const char *type, struct hub_response *response,
                               struct hub_error *err)
{
    struct hub_view stated = hub_relayed_header(r, "Content-Disposition");
    const bool saved =
        stated.size > 10 && strncasecmp(stated.data, "attachment", 10) == 0 && can_be_sent(stated);
    HUB_TRY(hub_response_header(response, err, "Content-Security-Policy", "sandbox; default-src 'none'"));
    if (is_json(type))
        return HUB_OK;
    stated = saved ? stated : HUB_VIEW("attachment");
    return hub_response_header(response, err, "Content-Disposition", "%.*s", (int)stated.size, stated.data);
}

static uint64_t length_of(const struct hub_relayed *r)
{
    const struct hub_view text = hub_relayed_header(r, "Content-Length");
    uint64_t length = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' || length > UINT64_MAX / 10 - 1)
            return HUB_LENGTH_UNKNOWN;
        length = length * 10 + (uint64_t)(text.data[i] - '0');
    }
    return text.size ? length : HUB_LENGTH_UNKNOWN;
}

/* The body is handed over, with the memory it was reserved. */
static void take_body(const struct hub_request *request, struct hub_relayed *r, unsigned status,
                      const char *type, struct hub_response *response)
{
    response->budget = request->app->budget;
    response->client = request->client;
    hub_relayed_take(r, hub_response_buffer(response, status, type, HUB_RELAYED_BYTES), &response->reserved);
}

static enum hub_status answer(const struct hub_request *request, struct hub_relayed *r,
                              struct hub_response *response, struct hub_error *err)
{
    char type[256] = "application/octet-stream";
    const struct hub_view stated = hub_relayed_header(r, "Content-Type");
    const unsigned status = hub_relayed_status(r);
    if (can_be_sent(stated) && stated.size < sizeof type)
        snprintf(type, sizeof type, "%.*s", (int)stated.size, stated.data);
    if (request->method == HUB_HEAD)
        HUB_TRY(hub_response_unsent(response, status, type, length_of(r), err));
    else
        take_body(request, r, status, type, response);
    HUB_TRY(confine(r, type, response, err));
    return write_headers(request, r, response, err);
}

/* Within the upstream redirects are followed here, as its clients do: the token goes along. `url` stays
 * empty for others. */
static enum hub_status redirected(const struct hub_request *request, const struct hub_relayed *r,
                                  struct hub_buf *url, struct hub_error *err)
{
    const char *upstream = request->app->hf_upstream;
    const size_t origin = (size_t)(strchrnul(strstr(upstream, "//") + 2, '/') - upstream);
    const unsigned status = hub_relayed_status(r);
    struct hub_view to = hub_relayed_header(r, "Location");
    if (status < 300 || status > 399 || !can_be_sent(to))
        return HUB_OK;
    if (to.size > origin && memcmp(to.data, upstream, origin) == 0)
        to = (struct hub_view){to.data + origin, to.size - origin};
    if (to.size < 2 || to.data[0] != '/' || to.data[1] == '/')
        return HUB_OK;
    HUB_TRY(hub_buf_add(url, upstream, origin, err));
    return hub_buf_add_view(url, to, err);
}

static enum hub_status redirect(const struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    response->status = 307;
    return hub_response_header(response, err, "Location", "%s%s%s%s", request->app->hf_upstream,
                               request->target, *request->query_text ? "?" : "", request->query_text);
}

static bool is_file_request(const struct hub_request *request)
{
    return request->method == HUB_GET && hub_hf_is_file(request);
}

static enum hub_status take_answer(struct hub_request *request, struct hub_response *response,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    struct relayed_request *p = request->state;
    struct hub_error why = {0};
    const enum hub_status st = hub_fetch_result(hub_relayed_fetch(p->relayed), &why);
    if (st == HUB_TOO_BIG && is_file_request(request))
        return redirect(request, response, err); /* no token goes along: that of a public file needs none */
    if (st)
        return hub_fail_as(err, st, why.problem, "this hub does not have the repository, and %s (%.200s)",
                           why.detail, strstr(request->app->hf_upstream, "//") + 2);
    HUB_TRY(redirected(request, p->relayed, &url, err));
    if (!url.size || p->hops++ == HOPS)
        return answer(request, p->relayed, response, err);
    return send_request(request, p, url.data, err);
}

enum hub_status hub_hf_pass_on(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    const char *query = request->query_text, *mark = *query ? "?" : "";
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    struct relayed_request *p;
    request->shape = &hub_hf_shape;
    request->wait = (struct hub_wait){0};
    *err = (struct hub_error){0};
    if (request->free_state == passed_free)
        return take_answer(request, response, err);
    if (is_file_request(request) &&
        (request->principal.token || !hub_request_header(request, "Authorization")))
        return redirect(request, response, err); /* a token would be lost on the way to another host */
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_buf_addf(&url, err, "%s%s%s%s", request->app->hf_upstream, request->target, mark, query));
    HUB_TRY(hub_new(&p, 1, sizeof *p, err));
    request->state = p;
    request->free_state = passed_free;
    return send_request(request, p, url.data, err);
}

enum hub_status hub_hf_here_or_upstream(struct hub_request *request, struct hub_response *response,
                                        struct hub_error *err, hub_handler *here)
{
    const bool passed = request->free_state == passed_free;
    const enum hub_status st = passed ? HUB_NOT_FOUND : here(request, response, err);
    if (!passed && (st != HUB_NOT_FOUND || err->problem != HUB_PROBLEM_DATASET_NOT_FOUND ||
                    !hub_hf_has_upstream(request)))
        return st;
    hub_response_dispose(response);
    return hub_hf_pass_on(request, response, err);
}

/* ---- what is never here ---- */

static enum hub_status not_here(const struct hub_request *request, struct hub_error *err)
{
    return hub_fail_as(
        err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND,
        "Repository not found: the datasets of this hub are ORG/NAME; there is nothing at %.200s",
        request->target + 1);
}

enum hub_status hub_hf_others(struct hub_request *request, struct hub_response *response,
                              struct hub_error *err)
{
    return hub_hf_has_upstream(request) ? hub_hf_pass_on(request, response, err) : not_here(request, err);
}

/* What is not offered of a repo that is here is not asked for elsewhere: another may have its name there. */
static enum hub_status nothing_here(struct hub_request *request, struct hub_response *response,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_hf_repo_dispose) struct hub_hf_repo repo = {0};
    (void)response;
    HUB_TRY(hub_hf_repo_open(request, &repo, err));
    return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_ROUTE_NOT_FOUND,
                       "This hub has the repository, but nothing at %.200s", request->target + 1);
}

enum hub_status hub_hf_repo_others(struct hub_request *request, struct hub_response *response,
                                   struct hub_error *err)
{
    return hub_hf_here_or_upstream(request, response, err, nothing_here);
}

/* The one question that is a POST: /api/{type}/[{org}/]{name}/paths-info/{rev} */
static bool is_paths_request(const struct hub_request *request)
{
    for (unsigned i = 3; i + 1 < request->segment_count && i < 5; i++)
        if (hub_view_is(request->segments[i], "paths-info"))
            return hub_view_is(request->segments[0], "api");
    return false;
}

enum hub_status hub_hf_refuse(const struct hub_request *request, struct hub_error *err)
{
    if (request->route->handler != hub_hf_uploads)
        return HUB_OK;
    if (is_paths_request(request))
        return hub_hf_has_upstream(request) ? HUB_OK : not_here(request, err);
    return hub_hf_refuse_method(request, "", err);
}

enum hub_status hub_hf_refuse_method(const struct hub_request *request, const char *allow,
                                     struct hub_error *err)
{
    (void)allow;
    return hub_fail_as(
        err, HUB_DENIED, HUB_PROBLEM_FORBIDDEN,
        "This hub does not take %.200s: files of datasets can be pushed, and there are no pull "
        "requests, discussions, settings, models or spaces. To send it to another hub, set "
        "HF_ENDPOINT to its address",
        request->target + 1);
}

enum hub_status hub_hf_uploads(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    HUB_TRY(hub_hf_refuse(request, err));
    return hub_hf_others(request, response, err);
}
