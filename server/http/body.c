/* Bodies of requests: see body.h. */
#include "server/http/body.h"

#include <stdlib.h>

/* Bytes of a body that reserves no memory; bytes of one that is read and dropped, so that its client is there
 * to read the answer; the same of one that is refused while it comes. */
enum { SMALL_BODY = 16 * KIB, DROPPED_BODY = 64 * KIB, DROPPED_LATE = 8 * MIB };

/* A body lies in memory until its request ends: reserve as much as has come. */
static enum hub_status take_for_body(struct hub_buf_meter *meter, size_t capacity, struct hub_error *err)
{
    struct hub_exchange *x = HUB_EXCHANGE_OF(meter, body_meter);
    struct hub_budget *budget = x->http->options.budget;
    if (!budget || x->request.local || capacity <= SMALL_BODY || capacity <= x->body_reserved)
        return HUB_OK;
    if (!hub_budget_try(budget, x->request.client, capacity - x->body_reserved))
        return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_OVERLOADED,
                           "there is no memory for the body: try again");
    x->body_reserved = capacity;
    return HUB_OK;
}

static void drop_bytes(struct hub_exchange *x)
{
    hub_buf_dispose(&x->body);
    hub_budget_give(x->http->options.budget, x->request.client, x->body_reserved);
    x->body_reserved = 0;
}

static void drop_sink(struct hub_exchange *x)
{
    if (x->request.sink)
        x->request.sink->free(x->request.sink);
    x->request.sink = NULL;
}

void hub_body_drop(struct hub_exchange *x)
{
    drop_bytes(x);
    drop_sink(x);
}

/* ---- admission ---- */

static enum hub_status check_length(struct hub_exchange *x, const struct hub_guard_facts *facts)
{
    const size_t limit = x->route->body_limit;
    if (x->route->open_body)
        return HUB_OK; /* which knows the limit */
    if (limit == 0)
        return hub_fail(&x->error, HUB_TOO_BIG, "this resource takes no request body");
    if (facts->content_length > limit)
        return hub_fail(&x->error, HUB_TOO_BIG, "this resource takes a request body of at most %zu bytes",
                        limit);
    return HUB_OK;
}

enum hub_status hub_body_admit(struct hub_exchange *x, const struct hub_protocol *protocol,
                               const struct hub_guard_facts *facts)
{
    if (!facts->has_body)
        return HUB_OK;
    if (!x->route->open_body && x->route->body_limit == 0)
        return check_length(x, facts);
    const enum hub_status st =
        protocol && protocol->refuse ? protocol->refuse(&x->request, &x->error) : HUB_OK;
    if (st && !facts->chunked && facts->content_length <= DROPPED_BODY)
        x->parsed = st; /* answered once the body was read and dropped */
    else if (st)
        return st;
    return check_length(x, facts);
}

void hub_body_await(struct hub_exchange *x, const struct hub_guard_facts *facts)
{
    const bool is_opened = x->route->open_body && !x->parsed;
    x->step = is_opened ? HUB_STEP_OPEN : facts->has_body ? HUB_STEP_BODY : HUB_STEP_READY;
    x->body_size = facts->chunked ? HUB_BODY_SIZE_UNKNOWN : (uint64_t)facts->content_length;
    if (x->step == HUB_STEP_READY)
        return;
    const size_t limit = facts->chunked ? x->route->body_limit : (size_t)facts->content_length;
    x->body = HUB_BUF_INIT(is_opened ? 2 * HUB_BODY_BLOCK : limit);
    x->body_meter.grow = take_for_body;
    x->body.meter = &x->body_meter;
    hub_deadline_phase(&x->watch, is_opened ? HUB_PHASE_WORK : HUB_PHASE_BODY);
}

/* ---- into a sink ---- */

void hub_body_open(struct hub_exchange *x)
{
    x->request.may_block = true;
    x->parsed = x->route->open_body(&x->request, x->body_size, &x->request.sink, &x->error);
    x->request.may_block = false;
    x->step = HUB_STEP_OPENED;
}

void hub_body_opened(struct hub_exchange *x)
{
    x->step = HUB_STEP_BODY;
    hub_deadline_phase(&x->watch, HUB_PHASE_UPLOAD);
}

void hub_body_take(struct hub_exchange *x)
{
    struct hub_body_sink *sink = x->request.sink;
    x->parsed = sink->take(sink, hub_buf_view(&x->body), &x->error);
    x->body.size = 0;
    if (x->parsed)
        hub_body_drop(x);
}

/* ---- a body that breaks off ---- */

/* The bytes behind its last full block, on their way to the sink. */
struct body_end {
    struct hub_task task;
    struct hub_body_sink *sink;
    struct hub_buf bytes;
};

static void take_end(struct hub_task *task)
{
    struct body_end *end = HUB_CONTAINER_OF(task, struct body_end, task);
    struct hub_error nobody_reads = {0};
    (void)!end->sink->take(end->sink, hub_buf_view(&end->bytes), &nobody_reads);
    end->sink->free(end->sink);
    hub_buf_dispose(&end->bytes);
    free(end);
}

void hub_body_leave(struct hub_exchange *x)
{
    struct body_end *end = NULL;
    if (x->request.sink && x->body.size && !x->parsed && !hub_new(&end, 1, sizeof *end, NULL)) {
        end->task =
            (struct hub_task){.item = {.client = x->request.client}, .run = take_end, .cancel = take_end};
        end->sink = x->request.sink;
        end->bytes = x->body;
        end->bytes.meter = NULL;
        x->request.sink = NULL;
        x->body = HUB_BUF_INIT(0);
        if (!hub_pool_push(x->http->pool, &end->task, true)) /* the server ends */
            take_end(&end->task);
    }
    hub_body_drop(x);
}

/* ---- what comes ---- */

/* Whoever still sends is to have read the answer by then. */
static bool drop_late(struct hub_exchange *x, size_t size)
{
    x->body_dropped += size;
    return x->body_dropped <= DROPPED_LATE;
}

static bool collect(struct hub_exchange *x, const char *data, size_t size)
{
    if (atomic_load_explicit(&x->watch.received, memory_order_relaxed) > x->route->body_limit + 256 * KIB)
        return false;
    if (x->parsed)
        return true;
    x->parsed = hub_buf_add(&x->body, data, size, &x->error);
    if (x->parsed) /* answered when the client has finished; a little more is read and dropped until then */
        drop_bytes(x);
    return true;
}

bool hub_exchange_body(struct hub_exchange *x, const char *data, size_t size)
{
    atomic_fetch_add_explicit(&x->watch.received, size, memory_order_relaxed);
    if (!x->route->open_body)
        return collect(x, data, size);
    if (x->parsed)
        return drop_late(x, size);
    x->parsed = hub_buf_add(&x->body, data, size, &x->error); /* a full block was taken before this came */
    return true;
}
