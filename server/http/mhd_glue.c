/*
 * The server on libmicrohttpd: what comes in; mhd_answer.c sends what goes out, mhd_daemon.c begins and ends
 * it. One epoll set a thread;
 * handlers run there first and must not block; what would block is suspended, done by a worker, and
 * resumed.
 *
 * Order of calls for one request: on_target (request line), on_request once with the header and again for
 * body and end, on_completed. A response is queued on the second call at the earliest: queued on the first
 * it closes the connection, which is what a refusal of a body wants.
 */
#include "server/http/mhd_glue.h"
#include "server/http/body.h"
#include "server/http/budget.h"
#include "server/http/exchange.h"
#include "server/http/listen.h"
#include "server/http/mhd_header.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- handlers ---- */

static void answer_draining(struct hub_task *task)
{
    struct hub_exchange *x = HUB_EXCHANGE_OF(task, task);
    hub_exchange_fail(x, HUB_BUSY, HUB_PROBLEM_DRAINING, "the server is shutting down");
    hub_mhd_resume(x);
}

/* The memory is there, or it is too late. */
static void end_wait(struct hub_budget_wait *wait, bool granted)
{
    struct hub_exchange *x = HUB_EXCHANGE_OF(wait, wait);
    if (granted) {
        x->request.granted = wait->bytes;
        if (hub_pool_push(x->http->pool, &x->task, true))
            return;
    }
    hub_exchange_fail(x, HUB_BUSY, HUB_PROBLEM_OVERLOADED,
                      "no memory was free for this answer within a few seconds");
    hub_mhd_resume(x);
}

/* The bytes are there, or it is too late. */
static void end_fetch_wait(struct hub_bytes_wait *wait, bool there)
{
    struct hub_exchange *x = HUB_EXCHANGE_OF(wait, fetch_wait);
    const bool draining = atomic_load(&x->http->draining);
    const bool recalled = there || (x->request.wait.recall_ms && !draining);
    if (recalled && hub_pool_push(x->http->pool, &x->task, true))
        return;
    if (draining)
        hub_exchange_fail(x, HUB_BUSY, HUB_PROBLEM_DRAINING, "the server is shutting down");
    else
        hub_exchange_fail(x, HUB_TIMEOUT, HUB_PROBLEM_STORAGE_UNAVAILABLE,
                          "the storage did not answer within a few seconds");
    hub_mhd_resume(x);
}

/* Into the queue, or to those who wait for memory or bytes; the connection is suspended. False: no room
 * there. */
static bool put_in_queue(struct hub_exchange *x, bool beyond)
{
    const struct hub_wait *wait = &x->request.wait;
    x->fetch_wait.end = end_fetch_wait;
    x->wait.end = end_wait;
    if (wait->on == HUB_WAIT_MEMORY)
        return !atomic_load(&x->http->draining) && hub_exchange_wait(x);
    return (wait->on == HUB_WAIT_BYTES && hub_exchange_wait_for(x, wait->fetch)) ||
           hub_pool_push(x->http->pool, &x->task, beyond);
}

static void refuse(struct hub_exchange *x)
{
    if (atomic_load(&x->http->draining)) {
        hub_exchange_fail(x, HUB_BUSY, HUB_PROBLEM_DRAINING, "the server is shutting down");
    } else {
        atomic_fetch_add_explicit(&x->http->overloads, 1, memory_order_relaxed);
        hub_exchange_fail(x, HUB_BUSY, HUB_PROBLEM_OVERLOADED, "too many requests are waiting: try again");
    }
    hub_mhd_resume(x);
}

static void run_on_worker(struct hub_task *task)
{
    struct hub_exchange *x = HUB_EXCHANGE_OF(task, task);
    if (hub_exchange_run(x) != HUB_AGAIN)
        hub_mhd_resume(x);
    else if (!put_in_queue(x, true))
        refuse(x);
}

static enum MHD_Result run(struct hub_exchange *x)
{
    if (hub_exchange_run(x) != HUB_AGAIN)
        return hub_mhd_queue(x);
    x->task.run = run_on_worker;
    x->task.cancel = answer_draining;
    hub_mhd_suspend(x); /* before a worker may resume it */
    if (!put_in_queue(x, false))
        refuse(x);
    return MHD_YES;
}

/* ---- bodies that are taken as they come ---- */

/* A client that is refused while it sends gets the answer at once, and a little more of what it sends is
 * read: most read the answer only once they have sent all. */
static void refuse_early(struct hub_exchange *x, enum hub_step step)
{
    hub_body_drop(x);
    x->close = true;
    hub_exchange_problem(x, x->parsed);
    x->step = step;
    x->refused_early = true;
    hub_mhd_answer_early(x);
}

static void open_on_worker(struct hub_task *task)
{
    struct hub_exchange *x = HUB_EXCHANGE_OF(task, task);
    hub_body_open(x);
    if (x->parsed && x->body_size && !hub_request_header(&x->request, "Expect"))
        refuse_early(x, HUB_STEP_OPENED);
    else if (x->parsed)
        hub_exchange_problem(x, x->parsed);
    hub_mhd_resume(x);
}

static void take_on_worker(struct hub_task *task)
{
    struct hub_exchange *x = HUB_EXCHANGE_OF(task, task);
    hub_body_take(x);
    if (x->parsed)
        refuse_early(x, HUB_STEP_BODY);
    hub_deadline_phase(&x->watch, HUB_PHASE_UPLOAD);
    hub_mhd_resume(x);
}

/* The connection rests until a worker has done it. */
static enum MHD_Result rest(struct hub_exchange *x, void (*work)(struct hub_task *task), bool beyond)
{
    x->task.run = work;
    x->task.cancel = answer_draining;
    hub_deadline_phase(&x->watch, HUB_PHASE_WORK);
    hub_mhd_suspend(x); /* before a worker may resume it */
    if (!hub_pool_push(x->http->pool, &x->task, beyond))
        refuse(x);
    return MHD_YES;
}

/* Bytes that come behind a full block are left to the library: it hands out all chunks that it has one
 * after the other, whether or not the connection rests, until one is not taken. */
static enum MHD_Result body_call(struct hub_exchange *x, const char *data, size_t *size)
{
    const size_t came = *size;
    if (!came)
        return x->refused_early ? MHD_NO : run(x);
    x->task.heavy = false;
    if (hub_body_has_block(x))
        return rest(x, take_on_worker, true);
    *size = 0;
    if (!hub_exchange_body(x, data, came))
        return MHD_NO;
    if (x->route->open_body && x->parsed && !x->refused_early)
        refuse_early(x, HUB_STEP_BODY);
    return MHD_YES;
}

static enum MHD_Result first_call(struct hub_exchange *x, const char *method, const char *version)
{
    hub_mhd_read_header(x, method, version);
    if (hub_exchange_header(x, method, version))
        return hub_mhd_queue(x);
    if (x->step == HUB_STEP_OPEN) {
        /* bytes of the file that are there are read again */
        x->task.heavy = hub_request_header(&x->request, "Content-Range") != NULL;
        return rest(x, open_on_worker, false);
    }
    if (x->step != HUB_STEP_BODY)
        hub_mhd_hide_expectation(x);
    return MHD_YES;
}

enum MHD_Result hub_mhd_on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                   const char *method, const char *version, const char *upload_data,
                                   size_t *upload_size, void **con_cls)
{
    struct hub_exchange *x = *con_cls;
    (void)cls;
    (void)connection;
    (void)url; /* decoded nowhere, and cut at '?': request.c reads the raw target */
    if (!x)
        return MHD_NO;
    switch (x->step) {
    case HUB_STEP_IDLE:
        return first_call(x, method, version);
    case HUB_STEP_OPEN:
        break;
    case HUB_STEP_OPENED: /* the library shows the header once more */
        hub_body_opened(x);
        return MHD_YES;
    case HUB_STEP_BODY:
        return body_call(x, upload_data, upload_size);
    case HUB_STEP_READY:
        return run(x);
    case HUB_STEP_ANSWERED:
        return hub_mhd_queue(x);
    case HUB_STEP_SENDING:
        break;
    }
    return MHD_NO;
}

/* ---- connections ---- */

void *hub_mhd_on_target(void *cls, const char *target, struct MHD_Connection *connection)
{
    (void)cls;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct hub_exchange *x = info ? info->socket_context : NULL;
    if (x) {
        hub_exchange_begin(x, target);
        x->target_end = target + strlen(target);
    }
    /* What follows the '?' is ours by now. The library would allocate for every parameter, and answer nothing
     * at all once its memory is used up: it is shown an empty query instead (the text is its own buffer). */
    char *query = strchr(target, '?');
    if (query && query[1])
        query[1] = '\0';
    return x;
}

void hub_mhd_on_completed(void *cls, struct MHD_Connection *connection, void **con_cls,
                          enum MHD_RequestTerminationCode why)
{
    struct hub_exchange *x = *con_cls;
    (void)cls;
    (void)connection;
    if (x)
        hub_exchange_end(x, why == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    *con_cls = NULL;
}

/* The key of a client in the queue: an IPv4 address, or the /64 network of an IPv6 address. */
static uint32_t client_of(const struct hub_address *peer)
{
    static const uint8_t mapped[12] = {[10] = 0xFF, 0xFF};
    const bool four = memcmp(peer->six, mapped, sizeof mapped) == 0;
    uint32_t words[2] = {0, 0};
    memcpy(words, peer->six + (four ? 12 : 0), four ? 4 : 8);
    return (uint32_t)(((uint64_t)words[1] << 32 | words[0]) * 0x9E3779B97F4A7C15U >> 32);
}

static void set_peer(struct hub_exchange *x)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    x->peer = hub_address_of(info ? info->client_addr : NULL);
    x->address = client_of(&x->peer);
    x->proxied = x->peer.known && hub_trust_proxy(&x->http->trust, &x->peer);
}

static void connected(struct hub_http *http, struct MHD_Connection *connection, void **context)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    bool welcome = info && (!http->options.control || hub_peer_is_ours(info->connect_fd));
    struct hub_exchange *x = welcome ? calloc(1, sizeof *x) : NULL;
    *context = x; /* NULL: its first request is dropped */
    if (!x)
        return;
    x->http = http;
    x->connection = connection;
    set_peer(x);
    hub_response_init(&x->response);
    atomic_fetch_add_explicit(&http->connections, 1, memory_order_relaxed);
    hub_deadline_add(http->deadline, &x->watch, info->connect_fd);
}

/* The library closes a connection without a word, and without on_completed, when the fields of a header (each
 * cookie is one to it) use up its memory. After every other end the socket is shut down by now. */
static void answer_large_header(const struct hub_exchange *x)
{
    if (atomic_load(&x->watch.phase) == HUB_PHASE_HEADER && hub_deadline_untouched(&x->watch))
        hub_mhd_refuse_header(x, "the header has too many fields or cookies: send fewer");
}

/* Called before the socket is closed, so that the deadlines never see the number of another's socket. */
void hub_mhd_on_connection(void *cls, struct MHD_Connection *connection, void **context,
                           enum MHD_ConnectionNotificationCode what)
{
    struct hub_http *http = cls;
    struct hub_exchange *x = *context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        connected(http, connection, context);
    } else if (x) {
        answer_large_header(x);
        hub_deadline_remove(http->deadline, &x->watch);
        hub_exchange_leave(x);
        atomic_fetch_sub_explicit(&http->connections, 1, memory_order_relaxed);
        *context = NULL;
    }
}

size_t hub_mhd_leave_escaped(void *cls, struct MHD_Connection *connection, char *text)
{
    (void)cls;
    (void)connection;
    return strlen(text);
}
