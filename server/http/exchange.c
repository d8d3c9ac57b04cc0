/* From a complete header to a response: see exchange.h. */
#include "server/http/exchange.h"

#include "server/http/asker.h"
#include "server/http/body.h"
#include "storage/text/time.h"

#include <stdlib.h>

enum { MEMORY_WAIT_MS = 5000, FETCH_WAIT_MS = 5000 };

static bool is_below(const char *path, const char *below)
{
    for (; *below && *path == *below; path++)
        below++;
    return !*below;
}

/* An endpoint that is set with a slash at its end makes two of the first of a path. */
static const char *without_second_slash(const struct hub_protocol *protocol, const char *target)
{
    for (; target[0] == '/' && target[1] == '/' && protocol && protocol->below; protocol++)
        if (protocol->below[1] && is_below(target + 1, protocol->below))
            return target + 1;
    return target;
}

void hub_exchange_begin(struct hub_exchange *x, const char *target)
{
    hub_deadline_phase(&x->watch, HUB_PHASE_HEADER);
    target = without_second_slash(x->http->options.protocols, target);
    x->parsed = hub_request_init(&x->request, 0, target, &x->error);
    x->request.app = x->http->options.app;
    x->request.local = x->http->options.control != NULL;
    x->route = NULL;
    x->task.heavy = false;
    x->wait.until_ms = x->storage_until_ms = 0;
    atomic_store_explicit(&x->watch.abandoned, false, memory_order_relaxed);
    x->close = x->folded = x->hidden = x->names_server = x->refused_early = false;
    x->body_dropped = 0;
    x->bytes_out = 0;
    x->step = HUB_STEP_IDLE;
    hub_response_init(&x->response);
}

static void count_in(struct hub_exchange *x)
{
    atomic_fetch_add_explicit(&x->http->in_flight, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&x->http->begun, 1, memory_order_relaxed);
    x->counted = true;
    x->start_us = hub_time_mono_us();
    x->request.begun_ms = x->start_us / 1000;
}

/* Not about what the client wrote, but about what became of it. */
static bool is_about_us(unsigned status)
{
    return status == 403 || status == 422 || status >= 500;
}

void hub_exchange_problem(struct hub_exchange *x, enum hub_status status)
{
    char *extra = x->response.problem_extra;
    x->response.problem_extra = NULL;
    hub_response_dispose(&x->response);
    if (x->error.status == HUB_OK)
        x->error.status = status;
    struct hub_error shown = x->error;
    if (!x->request.local && is_about_us(hub_problem_status(&shown)))
        hub_problem_hide_paths(shown.detail);
    hub_problem_write(&x->response, &x->request, &shown, extra);
    free(extra);
    x->step = HUB_STEP_ANSWERED;
}

/* Return the memory that was granted but not used. */
static void return_grant(struct hub_exchange *x)
{
    hub_budget_give(x->http->options.budget, x->request.client, x->request.granted);
    x->request.granted = 0;
}

void hub_exchange_fail(struct hub_exchange *x, enum hub_status status, enum hub_problem_code problem,
                       const char *detail)
{
    return_grant(x);
    hub_fail_as(&x->error, status, problem, "%s", detail);
    hub_exchange_problem(x, status);
}

static const char *origin_of(const struct hub_exchange *x)
{
    return hub_request_header(&x->request, "Origin");
}

static enum hub_status preflight(struct hub_exchange *x, const char *allow)
{
    struct hub_response *response = &x->response;
    response->status = 204;
    x->step = HUB_STEP_ANSWERED;
    HUB_TRY(hub_response_header(response, &x->error, "Allow", "%s, OPTIONS", allow));
    if (!hub_trust_shared(&x->request) || !hub_trust_origin(&x->http->trust, origin_of(x)))
        return HUB_OK;
    HUB_TRY(hub_response_header(response, &x->error, "Access-Control-Allow-Methods", "%s, OPTIONS", allow));
    HUB_TRY(hub_response_header(
        response, &x->error, "Access-Control-Allow-Headers",
        "Accept, Authorization, Content-Type, If-Match, If-Modified-Since, If-None-Match, If-Range, "
        "If-Unmodified-Since, Range, X-Request-Id"));
    return hub_response_header(response, &x->error, "Access-Control-Max-Age", "86400");
}

/* To the spelling without the slash at the end. */
static enum hub_status redirect(struct hub_exchange *x)
{
    const struct hub_request *request = &x->request;
    const char *query = request->query_text;
    x->response.status = 308;
    x->step = HUB_STEP_ANSWERED;
    return hub_response_header(&x->response, &x->error, "Location", "%.*s%s%s",
                               (int)strlen(request->target) - 1, request->target, query[0] ? "?" : "", query);
}

static bool for_probes(const struct hub_exchange *x)
{
    return x->route->for_probes;
}

/* Which route? */
static enum hub_status admit(struct hub_exchange *x, const struct hub_protocol *protocol,
                             const struct hub_guard_facts *facts)
{
    char allow[64];
    enum hub_status st = hub_route_find(&x->request, x->http->options.routes, &x->route, allow, &x->error);
    if (st && allow[0]) {
        if (facts->method == HUB_OPTIONS)
            return preflight(x, allow);
        const enum hub_status refused =
            protocol && protocol->not_allowed ? protocol->not_allowed(&x->request, allow, &x->error) : HUB_OK;
        st = refused ? refused : st;
        hub_exchange_problem(x, st);
        return hub_response_header(&x->response, NULL, "Allow", "%s, OPTIONS", allow) ? HUB_NO_MEMORY : st;
    }
    if (st)
        return st;
    if (x->misnamed && !for_probes(x))
        return hub_fail_as(&x->error, HUB_INVALID, HUB_PROBLEM_BAD_REQUEST,
                           "this server is not called '%.200s'", x->misnamed);
    HUB_TRY(hub_route_allow(x->route, &x->request, &x->error));
    if (!facts->announced && (facts->method == HUB_POST || facts->method == HUB_PUT)) {
        x->close = true; /* its length may have been lost on the way: what follows is nobody's request */
        return hub_fail_as(&x->error, HUB_INVALID, HUB_PROBLEM_BAD_REQUEST,
                           "the request does not state the length of its body");
    }
    if (x->request.trailing_slash && x->request.carrier != HUB_BY_LINK &&
        !hub_view_ends(hub_view_of(x->route->pattern), "/"))
        return redirect(x);
    return HUB_OK;
}

/* "/" is for those whose first segment begins no row of our own. */
static const struct hub_protocol *protocol_of(const struct hub_http_options *options,
                                              const struct hub_request *request)
{
    const struct hub_protocol *protocol = options->protocols;
    for (; protocol && protocol->below; protocol++) {
        if (!is_below(request->target, protocol->below))
            continue;
        const bool deep = request->segment_count + request->trailing_slash > 1;
        if (protocol->below[1] || (deep && !hub_route_begins(options->routes, request->segments[0])))
            return protocol;
    }
    return NULL;
}

/* The shape of its problems. */
static const struct hub_problem_shape *shape_of(const struct hub_http_options *options,
                                                const struct hub_protocol *protocol,
                                                const struct hub_request *request)
{
    if (hub_accepts_html(request))
        for (const struct hub_protocol *p = options->protocols; p && p->below; p++)
            if (is_below(request->target, p->below))
                return p->for_people ? p->for_people : protocol ? protocol->shape : NULL;
    return protocol ? protocol->shape : NULL;
}

bool hub_exchange_header(struct hub_exchange *x, const char *method, const char *version)
{
    struct hub_guard_facts facts = {0};
    struct hub_guard_request raw = {
        method, version, x->request.target, x->headers, x->request.header_count, x->folded, x->hidden};
    struct hub_error why = {0};
    x->request.headers = x->headers;
    x->method_name = "-"; /* until we know that it is one of ours */
    count_in(x);
    hub_exchange_set_id(x);
    hub_exchange_set_client(x);
    hub_exchange_look_for_proxy(x);
    hub_deadline_phase(&x->watch, HUB_PHASE_WORK);
    const bool too_many = x->close; /* fields: there is nothing to look at */
    enum hub_status st = too_many ? HUB_INVALID : hub_guard(&raw, &facts, &why);
    if (st) {
        if (!too_many)
            x->error = why;
        x->close = true;
        hub_exchange_problem(x, st);
        return true;
    }
    x->request.method = facts.method;
    const struct hub_protocol *protocol = protocol_of(&x->http->options, &x->request);
    x->request.shape = shape_of(&x->http->options, protocol, &x->request);
    if (facts.method)
        x->method_name = method;
    st = x->parsed;
    if (!st) {
        hub_exchange_set_base_url(x, facts.host);
        st = hub_exchange_identify(x);
    }
    if (!st) {
        st = admit(x, protocol, &facts);
        if (!st && x->step != HUB_STEP_ANSWERED)
            st = hub_body_admit(x, protocol, &facts);
    }
    if (st && x->step != HUB_STEP_ANSWERED)
        hub_exchange_problem(x, st);
    if (x->step == HUB_STEP_ANSWERED)
        return facts.has_body;
    hub_body_await(x, &facts);
    return false;
}

/* The last few connections are kept for probes and for saying no. */
static bool must_shed(const struct hub_exchange *x)
{
    unsigned limit = x->http->options.connections;
    return atomic_load_explicit(&x->http->connections, memory_order_relaxed) > limit - limit / 16 &&
           !for_probes(x);
}

bool hub_exchange_wait(struct hub_exchange *x)
{
    if (!x->wait.until_ms) /* once a request, however often it waits */
        x->wait.until_ms = hub_time_mono_ms() + MEMORY_WAIT_MS;
    x->wait.item.client = x->request.client;
    x->wait.bytes = x->request.wait.memory;
    x->wait.abandoned = &x->watch.abandoned;
    return hub_budget_wait(x->http->options.budget, &x->wait);
}

bool hub_exchange_wait_for(struct hub_exchange *x, struct hub_file_fetch *fetch)
{
    const struct hub_wait *wait = &x->request.wait;
    const bool recalled = x->step != HUB_STEP_SENDING && wait->recall_ms;
    /* once an answer, however often it waits; once a block of a stream */
    if (!recalled && (!x->storage_until_ms || x->step == HUB_STEP_SENDING))
        x->storage_until_ms = hub_time_mono_ms() + (wait->patience_ms ? wait->patience_ms : FETCH_WAIT_MS);
    x->fetch_wait.until_ms = recalled ? wait->recall_ms : x->storage_until_ms;
    x->fetch_wait.fetch = fetch;
    x->fetch_wait.abandoned = &x->watch.abandoned;
    return hub_waits_add(&x->http->waits, &x->fetch_wait);
}

/* An exchange that waits for bytes keeps the memory of its answer. */
static void keep_memory(struct hub_exchange *x)
{
    x->request.granted += x->response.reserved;
    x->response.reserved = 0;
}

/* On a thread that may block there has to be something else to wait for. */
static bool may_wait(const struct hub_exchange *x)
{
    const enum hub_wait_on on = x->request.wait.on;
    return !x->request.may_block || (on != HUB_WAIT_WORKER && (on != HUB_WAIT_HEAVY || !x->request.heavy));
}

static enum hub_status requeue(struct hub_exchange *x)
{
    hub_response_dispose(&x->response);
    x->parallel = *hub_pool_parallel(x->http->pool);
    x->parallel.cancelled = &x->watch.abandoned;
    x->request.parallel = &x->parallel;
    x->request.may_block = true;
    x->request.heavy |= x->request.wait.on == HUB_WAIT_HEAVY;
    x->task.heavy = x->request.heavy;
    return HUB_AGAIN;
}

/* An open file may have been changed since its stamp was looked at: better no answer than a 200 that breaks
 * off. */
static enum hub_status check_file(const struct hub_response *response, struct hub_error *err)
{
    return response->kind == HUB_BODY_FILE && response->file ? hub_file_unchanged(response->file, err)
                                                             : HUB_OK;
}

/* Before its handler is called: is it answered already, as nobody waits for it or nobody could answer it? */
static bool is_over(struct hub_exchange *x)
{
    const bool first = !x->request.may_block;
    if (atomic_load_explicit(&x->watch.abandoned, memory_order_relaxed)) {
        hub_exchange_fail(x, HUB_CANCELLED, HUB_PROBLEM_DRAINING, "the client is gone");
        return true;
    }
    if (first) {
        x->request.body = hub_buf_view(&x->body);
        hub_deadline_phase(&x->watch, HUB_PHASE_WORK);
    } else if (x->request.sink && x->body.size) {
        hub_body_take(x);
    }
    if (x->parsed) {
        x->close = true;
        hub_exchange_problem(x, x->parsed);
        return true;
    }
    if (!first || !must_shed(x))
        return false;
    atomic_fetch_add_explicit(&x->http->overloads, 1, memory_order_relaxed);
    x->close = true;
    hub_exchange_fail(x, HUB_BUSY, HUB_PROBLEM_OVERLOADED, "too many connections: try again");
    return true;
}

/* The handler is called again: nothing of an earlier call is left. */
static enum hub_status call_handler(struct hub_exchange *x)
{
    x->error.status = HUB_OK;
    x->error.problem = HUB_PROBLEM_NONE;
    x->error.detail[0] = x->error.parameter[0] = '\0';
    x->error.retry_after_s = 0;
    x->request.wait = (struct hub_wait){0};
    if (!x->request.local && !for_probes(x)) /* the admin is answered when memory is short, too */
        hub_response_meter(&x->response, x->http->options.budget, &x->request);
    const enum hub_status st = hub_route_call(x->route, &x->request, &x->response, &x->error);
    if (st == HUB_AGAIN && x->request.wait.on == HUB_WAIT_BYTES)
        keep_memory(x);
    else
        return_grant(x);
    return st;
}

/* What the handler answered, ready to be sent. */
static void finish(struct hub_exchange *x, enum hub_status st)
{
    if (st == HUB_AGAIN)
        st = hub_fail_as(&x->error, HUB_IO, HUB_PROBLEM_INTERNAL,
                         "the handler returned HUB_AGAIN although it may block");
    if (!st)
        st = check_file(&x->response, &x->error);
    if (!st && ((x->names_server && !x->is_known_name) || hub_request_is_personal(&x->request)))
        st = hub_response_private(&x->response, &x->error);
    if (st) {
        hub_exchange_problem(x, st);
    } else {
        hub_response_end_line(&x->response);
        hub_response_charge(&x->response, x->http->options.budget, x->request.client);
    }
    x->step = HUB_STEP_ANSWERED;
}

enum hub_status hub_exchange_run(struct hub_exchange *x)
{
    if (is_over(x))
        return HUB_OK;
    if (!x->request.may_block && x->request.sink) { /* the rest of the body is taken on a worker */
        x->request.wait = (struct hub_wait){.on = HUB_WAIT_WORKER};
        return requeue(x);
    }
    const enum hub_status st = call_handler(x);
    if (st == HUB_AGAIN && may_wait(x))
        return requeue(x);
    finish(x, st);
    return HUB_OK;
}

/* What really went out of an answer that broke off: at most what the peer acknowledged on this connection
 * beyond earlier answers. */
static uint64_t bytes_sent(const struct hub_exchange *x)
{
    uint64_t acknowledged = 0;
    if (!hub_deadline_acknowledged(&x->watch, &acknowledged))
        return x->bytes_out;
    return HUB_MIN(x->bytes_out, acknowledged - HUB_MIN(acknowledged, x->bytes_before));
}

static void account(struct hub_exchange *x, bool complete)
{
    struct hub_http *http = x->http;
    uint64_t us = (uint64_t)(hub_time_mono_us() - x->start_us),
             bytes = complete ? x->bytes_out : bytes_sent(x);
    hub_metrics_request(http->metrics, x->route, x->request.method, x->response.status, bytes, us);
    if (http->options.log) {
        char client[HUB_ADDRESS_CHARS];
        const char *agent = hub_request_header(&x->request, "User-Agent");
        const struct hub_address from =
            hub_trust_client(&http->trust, &x->peer, hub_exchange_forwarded(x, "X-Forwarded-For"));
        hub_address_write(&from, client);
        const struct hub_log_line line = {.id = x->request.id,
                                          .client = client,
                                          .method = x->method_name,
                                          .route = x->route ? x->route->label : "none",
                                          .target = x->request.target,
                                          .query = x->request.query_text,
                                          .agent = agent ? agent : "",
                                          .detail = is_about_us(x->response.status) ? x->error.detail
                                                    : x->made.why[0]                ? x->made.why
                                                                                    : NULL,
                                          .status = x->response.status,
                                          .bytes = bytes,
                                          .duration_us = us,
                                          .aborted = !complete};
        hub_log_request(http->options.log, &line);
    }
    x->bytes_before += bytes;
    atomic_fetch_sub_explicit(&http->in_flight, 1, memory_order_release);
    x->counted = false;
}

/* Peers that close their side are let go by the looks of the watch; where many connections are open, that may
 * be too late for the next ones. */
static bool is_crowded(const struct hub_exchange *x)
{
    return atomic_load_explicit(&x->http->connections, memory_order_relaxed) >
           x->http->options.connections / 8;
}

/* What a worker still works with stays until hub_exchange_free. */
void hub_exchange_end(struct hub_exchange *x, bool complete)
{
    if (x->counted)
        account(x, complete);
    if (atomic_load(&x->ahead) == HUB_AHEAD_BUSY) {
        atomic_store_explicit(&x->watch.abandoned, true, memory_order_relaxed);
        return;
    }
    atomic_store_explicit(&x->ahead, HUB_AHEAD_NONE, memory_order_relaxed);
    hub_stream_dispose(&x->stream);
    hub_body_stream_dispose(&x->made);
    hub_response_dispose(&x->response);
    hub_body_leave(x);
    hub_request_end(&x->request);
    x->step = HUB_STEP_IDLE;
    hub_deadline_phase(&x->watch, HUB_PHASE_IDLE);
    if (is_crowded(x))
        hub_deadline_let_go(&x->watch);
}

void hub_exchange_free(struct hub_exchange *x)
{
    hub_stream_dispose(&x->stream);
    hub_body_stream_dispose(&x->made);
    hub_response_dispose(&x->response);
    hub_request_dispose(&x->request);
    hub_body_drop(x);
    free(x);
}

void hub_exchange_leave(struct hub_exchange *x)
{
    int busy = HUB_AHEAD_BUSY;
    if (!atomic_compare_exchange_strong(&x->ahead, &busy, HUB_AHEAD_LEFT))
        hub_exchange_free(x);
}
