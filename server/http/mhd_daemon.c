/* The daemon of libmicrohttpd and all that lives as long: see server.h. */
#include "server/http/budget.h"
#include "server/http/exchange.h"
#include "server/http/listen.h"
#include "server/http/mhd_glue.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BACKLOG = 1024, DRAIN_TICK_MS = 5, FLUSH_MS = 1000 };

static void fill_defaults(struct hub_http_options *options)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned n = cores > 0 ? (unsigned)cores : 1;
    options->event_threads = options->event_threads ? options->event_threads : n;
    options->workers = options->workers ? options->workers : n;
    options->queue = options->queue ? options->queue : 1024;
    options->connections = options->connections ? options->connections : 4096;
    options->header_ms = options->header_ms ? options->header_ms : 10000;
    options->body_ms = options->body_ms ? options->body_ms : 30000;
    options->idle_ms = options->idle_ms ? options->idle_ms : 60000;
    options->min_rate = options->min_rate ? options->min_rate : 1024;
    options->rate_ms = options->rate_ms ? options->rate_ms : 10000;
    options->address = options->address ? options->address : "127.0.0.1";
}

static enum hub_status start_daemon(struct hub_http *http, int fd, struct hub_error *err)
{
    const struct hub_http_options *options = &http->options;
    struct MHD_OptionItem items[] = {
        {MHD_OPTION_LISTEN_SOCKET, fd, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, options->connections, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, HUB_MHD_BYTES, NULL},
        {MHD_OPTION_PER_IP_CONNECTION_LIMIT, options->connections_per_client, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, (options->idle_ms + 999) / 1000 + 1, NULL},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)hub_mhd_on_completed, http},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)hub_mhd_on_connection, http},
        {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)hub_mhd_on_target, http},
        {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)hub_mhd_leave_escaped, NULL},
#if MHD_VERSION >= 0x00097701
        {MHD_OPTION_CLIENT_DISCIPLINE_LVL, 1, NULL},
#else
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
#endif
        {options->event_threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, options->event_threads,
         NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    http->daemon =
        MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, 0, NULL,
                         NULL, hub_mhd_on_request, http, MHD_OPTION_ARRAY, items, MHD_OPTION_END);
    if (!http->daemon)
        return hub_fail(err, HUB_IO,
                        "libmicrohttpd cannot start (too few file descriptors for %u connections?)",
                        options->connections);
    return HUB_OK;
}

static void free_http(struct hub_http *http)
{
    hub_pool_free(http->pool);
    hub_deadline_stop(http->deadline);
    hub_metrics_free(http->metrics);
    hub_trust_dispose(&http->trust);
    hub_tries_free(http->tries);
    hub_waits_dispose(&http->waits);
    pthread_mutex_destroy(&http->proxy.lock);
    free(http);
}

/* True: memory is waited for. */
static bool expire_waits(void *http_, int64_t now_ms)
{
    struct hub_http *http = http_;
    hub_waits_expire(&http->waits, now_ms);
    return http->options.budget && hub_budget_expire(http->options.budget, now_ms);
}

static enum hub_status check_routes(const struct hub_route *routes, struct hub_error *err)
{
    for (const struct hub_route *route = routes; route->pattern; route++)
        if (route->right == HUB_RIGHT_UNSTATED)
            return hub_fail(err, HUB_INVALID, "the route %s %s does not say who may use it", route->method,
                            route->pattern);
    return HUB_OK;
}

static enum hub_status start_parts(struct hub_http *http, struct hub_error *err)
{
    const struct hub_http_options *options = &http->options;
    const struct hub_deadline_options deadlines = {.header_ms = options->header_ms,
                                                   .body_ms = options->body_ms,
                                                   .idle_ms = options->idle_ms,
                                                   .min_rate = options->min_rate,
                                                   .rate_ms = options->rate_ms,
                                                   .crowded =
                                                       options->connections - options->connections / 10,
                                                   .tick = expire_waits,
                                                   .user = http};
    HUB_TRY(check_routes(options->routes, err));
    HUB_TRY(hub_trust_init(&http->trust, &options->trust, err));
    HUB_TRY(hub_tries_new(&options->tries, &http->tries, err));
    HUB_TRY(hub_metrics_new(options->routes, &http->metrics, err));
    HUB_TRY(hub_deadline_start(&deadlines, &http->deadline, err));
    /* one more than may be heavy at once */
    HUB_TRY(hub_pool_new(options->workers + 1, options->queue, &http->pool, err));
    return HUB_OK;
}

enum hub_status hub_http_start(const struct hub_http_options *options, struct hub_http **out,
                               struct hub_error *err)
{
    struct hub_http *http;
    HUB_TRY(hub_new(&http, 1, sizeof *http, err));
    http->options = *options;
    pthread_mutex_init(&http->proxy.lock, NULL);
    hub_waits_init(&http->waits);
    fill_defaults(&http->options);
    if (getrandom(&http->id_seed, sizeof http->id_seed, 0) != sizeof http->id_seed)
        http->id_seed = (uint64_t)time(NULL);
    int fd = -1;
    enum hub_status st = start_parts(http, err);
    if (!st && http->options.control)
        st = hub_listen_local(http->options.control, HUB_CONTROL_SOCKET, BACKLOG, &fd, err);
    else if (!st)
        st = hub_listen(http->options.address, http->options.port, BACKLOG, &fd, &http->port, err);
    *out = http;
    if (!st)
        st = start_daemon(http, fd, err);
    if (st) {
        *out = NULL;
        if (fd >= 0)
            close(fd);
        free_http(http);
    }
    return st;
}

const struct hub_route *hub_http_routes(const struct hub_http *http)
{
    return http->options.routes;
}

uint16_t hub_http_port(const struct hub_http *http)
{
    return http->port;
}

bool hub_http_draining(const struct hub_http *http)
{
    return http && atomic_load(&http->draining);
}

const char *hub_http_library(void)
{
    return MHD_get_version();
}

static void wait_for_answers(struct hub_http *http, unsigned ms)
{
    for (unsigned waited = 0; waited < ms && atomic_load(&http->in_flight) > 0; waited += DRAIN_TICK_MS)
        nanosleep(&(struct timespec){.tv_nsec = DRAIN_TICK_MS * 1000000L}, NULL);
}

/* A thread that took an exchange out of a list to end its wait may not have resumed it yet. */
static void wait_for_resumed(struct hub_http *http)
{
    while (atomic_load(&http->suspended) > 0)
        nanosleep(&(struct timespec){.tv_nsec = DRAIN_TICK_MS * 1000000L}, NULL);
}

/* MHD_stop_daemon aborts the process while a connection is suspended. Once the pool and the waits are
 * closed and those on their way out of them are resumed, none is, and none can be again: both refuse, and
 * what is refused is resumed at once. */
void hub_http_stop(struct hub_http *http, unsigned grace_ms)
{
    if (!http)
        return;
    atomic_store(&http->draining, true);
    MHD_socket fd = MHD_quiesce_daemon(http->daemon);
    if (fd != MHD_INVALID_SOCKET)
        shutdown(fd,
                 SHUT_RD); /* nobody new; its threads may still hold the number, so it is closed at the end */
    wait_for_answers(http, grace_ms);
    hub_deadline_abandon(http->deadline); /* what is still being made ends at its next block */
    hub_pool_stop(http->pool);
    hub_waits_close(&http->waits);
    expire_waits(http, 0);
    wait_for_resumed(http);
    wait_for_answers(http, HUB_MIN(grace_ms, (unsigned)FLUSH_MS)); /* the 503s just made */
    MHD_stop_daemon(http->daemon);
    if (fd != MHD_INVALID_SOCKET)
        close(fd);
    if (http->options.control)
        hub_listen_local_end(http->options.control, HUB_CONTROL_SOCKET);
    free_http(http);
}

void hub_http_gauges(struct hub_http *http, struct hub_http_gauges *out)
{
    *out = (struct hub_http_gauges){.connections = atomic_load(&http->connections),
                                    .in_flight = atomic_load(&http->in_flight),
                                    .begun = atomic_load(&http->begun),
                                    .queue_depth = hub_pool_depth(http->pool),
                                    .overloads = atomic_load(&http->overloads),
                                    .dropped_users = atomic_load(&http->dropped_users),
                                    .deadlines = hub_deadline_ended(http->deadline),
                                    .mhd_version = hub_http_library()};
    if (http->options.budget)
        out->budget_used = hub_budget_used(http->options.budget, &out->budget_total);
}

enum hub_status hub_http_metrics(struct hub_http *http, struct hub_buf *out, struct hub_error *err)
{
    struct hub_http_gauges gauges;
    hub_http_gauges(http, &gauges);
    return hub_metrics_write(http->metrics, &gauges, out, err);
}
