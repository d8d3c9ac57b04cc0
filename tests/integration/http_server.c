/* A server with a few routes of its own, for tests that speak raw bytes to it and for measuring the HTTP
 * floor alone: http_server [--file PATH] [--set OPTION=NUMBER]...; prints its port, serves until SIGTERM. */
#include "server/api/app.h"
#include "server/http/parameter.h"
#include "server/http/server.h"
#include "server/log/log.h"
#include "storage/base/digest.h"
#include "storage/text/time.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct parts {
    struct hub_app app;
    struct hub_http *http;
    struct hub_budget *budget;
    struct hub_bytes *small;
    struct hub_store *store;
    const char *file;
    unsigned grace_ms;
    bool access_log;
};
static struct parts parts;
static atomic_uint executed; /* by any handler: a smuggled request would show here */
static atomic_uint given_up; /* work that nobody waited for */
static atomic_bool released; /* what is held may go on */

static enum hub_status text(struct hub_response *response, struct hub_error *err, const char *body)
{
    return hub_buf_add_text(hub_response_buffer(response, 200, "text/plain", 1 * MIB), body, err);
}

static enum hub_status get_small(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    (void)request;
    response->kind = HUB_BODY_SHARED;
    response->shared = hub_bytes_ref(parts.small);
    HUB_TRY(hub_response_header(response, err, "Content-Type", "application/json"));
    HUB_TRY(hub_response_header(response, err, "ETag", "\"0123456789abcdef0123\""));
    return hub_response_header(response, err, "Cache-Control", "no-cache");
}

static enum hub_status get_hello(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    (void)request;
    atomic_fetch_add(&executed, 1);
    return text(response, err, "hello\n");
}

static enum hub_status get_executed(struct hub_request *request, struct hub_response *response,
                                    struct hub_error *err)
{
    (void)request;
    return hub_buf_addf(hub_response_buffer(response, 200, "text/plain", KIB), err, "%u",
                        atomic_load(&executed));
}

static const struct timespec moment = {.tv_nsec = 2000000};

/* /sleep/{n}: that many milliseconds on a worker; from 100 on it is heavy */
static enum hub_status get_sleep(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    long ms = strtol(hub_request_capture(request, "n").data, NULL, 10);
    const bool again = !request->may_block || (ms >= 100 && !request->heavy);
    request->heavy = ms >= 100;
    if (again)
        return HUB_AGAIN;
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
    return text(response, err, "slept\n");
}

/* /hold/{n}: on a worker until somebody asks for /release; with 1 it is heavy */
static enum hub_status get_hold(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    const bool heavy = *hub_request_capture(request, "n").data == '1';
    const bool again = !request->may_block || request->heavy != heavy;
    request->heavy = heavy;
    if (again)
        return HUB_AGAIN;
    atomic_fetch_add(&executed, 1);
    while (!atomic_load(&released))
        nanosleep(&moment, NULL);
    return text(response, err, "held\n");
}

static enum hub_status get_release(struct hub_request *request, struct hub_response *response,
                                   struct hub_error *err)
{
    (void)request;
    atomic_store(&released, true);
    return text(response, err, "released\n");
}

/* /work/{n}: the same as /sleep/{n}, but it stops when nobody waits for it, as a gather does */
static enum hub_status get_work(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    if (!request->may_block)
        return HUB_AGAIN;
    atomic_fetch_add(&executed, 1);
    const int64_t end_ms = hub_time_mono_ms() + strtol(hub_request_capture(request, "n").data, NULL, 10);
    while (hub_time_mono_ms() < end_ms) {
        if (atomic_load(request->parallel->cancelled)) {
            atomic_fetch_add(&given_up, 1);
            return hub_fail(err, HUB_CANCELLED, "given up");
        }
        nanosleep(&moment, NULL);
    }
    return text(response, err, "worked\n");
}

static enum hub_status get_given_up(struct hub_request *request, struct hub_response *response,
                                    struct hub_error *err)
{
    (void)request;
    return hub_buf_addf(hub_response_buffer(response, 200, "text/plain", KIB), err, "%u",
                        atomic_load(&given_up));
}

/* /bytes/{n}: a body of so many bytes */
static enum hub_status get_bytes(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    size_t n = strtoul(hub_request_capture(request, "n").data, NULL, 10);
    HUB_TRY(hub_budget_take(parts.budget, request, response, n, err));
    struct hub_buf *out = hub_response_buffer(response, 200, "application/octet-stream", n + 1);
    HUB_TRY(hub_buf_reserve(out, n, err));
    memset(out->data, 'x', n);
    out->size = n;
    return HUB_OK;
}

/* /made/{n}: so many stretches of numbers, made as they are sent; one beyond 50 fails */
struct numbers {
    struct hub_body_producer maker; /* first */
    long chunk, chunks;
};

static enum hub_status more_numbers(struct hub_body_producer *maker, struct hub_buf *out,
                                    struct hub_error *err)
{
    struct numbers *n = (struct numbers *)maker;
    if (n->chunk == 50)
        return hub_fail(err, HUB_CHANGED, "planted");
    for (int i = 0; n->chunk < n->chunks && i < 10000; i++)
        HUB_TRY(hub_buf_addf(out, err, "%06ld\n", n->chunk * 10000 + i));
    n->chunk++;
    return HUB_OK;
}

static void free_numbers(struct hub_body_producer *maker)
{
    atomic_fetch_add(&given_up, 1);
    free(maker);
}

static enum hub_status get_made(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    struct numbers *numbers;
    HUB_TRY(hub_new(&numbers, 1, sizeof *numbers, err));
    *numbers = (struct numbers){.maker = {more_numbers, free_numbers},
                                .chunks = strtol(hub_request_capture(request, "n").data, NULL, 10)};
    return hub_response_made(response, 200, "text/plain", &numbers->maker, err);
}

/* /long/{n}: so many stretches of LONG_STRETCH digits each, the length of all of them known. Each but the
 * first takes 100 ms, unless nobody waits for it; the fourth fails. */
#define LONG_STRETCH (12 * MIB)

struct digits {
    struct hub_body_producer maker; /* first */
    const atomic_bool *cancelled;
    long chunk, chunks;
};

static enum hub_status more_digits(struct hub_body_producer *maker, struct hub_buf *out,
                                   struct hub_error *err)
{
    struct digits *d = (struct digits *)maker;
    const int64_t end_ms = hub_time_mono_ms() + (d->chunk ? 100 : 0);
    while (hub_time_mono_ms() < end_ms && !atomic_load(d->cancelled))
        nanosleep(&moment, NULL);
    if (d->chunk == 3)
        return hub_fail(err, HUB_CHANGED, "planted");
    if (d->chunk == d->chunks)
        return HUB_OK;
    HUB_TRY(hub_buf_reserve(out, LONG_STRETCH, err));
    memset(out->data, '0' + (int)d->chunk, LONG_STRETCH);
    out->size = LONG_STRETCH;
    d->chunk++;
    atomic_fetch_add(&executed, 1);
    return HUB_OK;
}

static enum hub_status get_long(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    struct digits *digits;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_budget_take(parts.budget, request, response, 2 * LONG_STRETCH, err));
    HUB_TRY(hub_new(&digits, 1, sizeof *digits, err));
    *digits = (struct digits){.maker = {more_digits, free_numbers},
                              .cancelled = request->parallel->cancelled,
                              .chunks = strtol(hub_request_capture(request, "n").data, NULL, 10)};
    HUB_TRY(hub_response_made(response, 200, "text/plain", &digits->maker, err));
    response->length = (uint64_t)digits->chunks * LONG_STRETCH;
    return hub_response_begin(response, err);
}

static enum hub_status post_echo(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    atomic_fetch_add(&executed, 1);
    return hub_buf_add_view(hub_response_buffer(response, 200, "application/octet-stream", 64 * KIB),
                            request->body, err);
}

/* POST /sink/{n}: a body that is taken block by block, each of which takes n milliseconds; the one with 13
 * is refused at its third block, the one with 403 before it comes. The answer has its bytes and its
 * CRC-32C. */
struct counted {
    struct hub_body_sink sink; /* first */
    long ms;
    unsigned blocks;
    uint64_t bytes;
    uint32_t crc;
};

static atomic_uint sinks;  /* that are open */
static atomic_ulong taken; /* bytes by all of them */

static enum hub_status take_counted(struct hub_body_sink *sink, struct hub_view bytes, struct hub_error *err)
{
    struct counted *c = (struct counted *)sink;
    nanosleep(&(struct timespec){.tv_nsec = c->ms * 1000000}, NULL);
    if (c->ms == 13 && ++c->blocks == 3)
        return hub_fail(err, HUB_NO_SPACE, "planted");
    c->bytes += bytes.size;
    atomic_fetch_add(&taken, bytes.size);
    c->crc = hub_crc32c(c->crc, bytes.data, bytes.size);
    return HUB_OK;
}

static void free_counted(struct hub_body_sink *sink)
{
    atomic_fetch_sub(&sinks, 1);
    free(sink);
}

static enum hub_status open_counted(struct hub_request *request, uint64_t size, struct hub_body_sink **out,
                                    struct hub_error *err)
{
    struct counted *c;
    const long ms = strtol(hub_request_capture(request, "n").data, NULL, 10);
    atomic_fetch_add(&executed, 1);
    if (!request->may_block)
        return hub_fail(err, HUB_IO, "opened on an event thread");
    if (ms == 403)
        return hub_fail(err, HUB_DENIED, "not here");
    if (size != HUB_BODY_SIZE_UNKNOWN && size > GIB)
        return hub_fail(err, HUB_TOO_BIG, "at most 1 GiB");
    HUB_TRY(hub_new(&c, 1, sizeof *c, err));
    *c = (struct counted){.sink = {take_counted, free_counted}, .ms = ms};
    atomic_fetch_add(&sinks, 1);
    *out = &c->sink;
    return HUB_OK;
}

static enum hub_status post_sink(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    const struct counted *c = (const struct counted *)request->sink;
    return hub_buf_addf(hub_response_buffer(response, 200, "text/plain", KIB), err, "%llu %08x",
                        (unsigned long long)c->bytes, c->crc);
}

static enum hub_status get_sinks(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    (void)request;
    return hub_buf_addf(hub_response_buffer(response, 200, "text/plain", KIB), err, "%u",
                        atomic_load(&sinks));
}

static enum hub_status get_taken(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    (void)request;
    return hub_buf_addf(hub_response_buffer(response, 200, "text/plain", KIB), err, "%lu",
                        atomic_load(&taken));
}

static enum hub_status get_missing(struct hub_request *request, struct hub_response *response,
                                   struct hub_error *err)
{
    response->problem_extra = strdup("\"nearest\":[\"a/b-v1\"]");
    return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND, "there is no dataset %s",
                       hub_request_capture(request, "id").data);
}

static enum hub_status get_query(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    int64_t limit = 0;
    (void)hub_request_int(request, "limit", &limit);
    return hub_buf_addf(hub_response_buffer(response, 200, "text/plain", KIB), err, "%s %lld %s",
                        hub_request_query(request, "q").data, (long long)limit, request->base_url);
}

static enum hub_status get_json(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    (void)request;
    return hub_buf_add_text(hub_response_buffer(response, 200, "application/json", 2 * KIB), "[1,2]", err);
}

static enum hub_status get_failure(struct hub_request *request, struct hub_response *response,
                                   struct hub_error *err)
{
    (void)request;
    (void)response;
    return hub_fail(err, HUB_IO, "opening '/secret/place/index.db': no luck");
}

static enum hub_status get_path(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    return text(response, err, hub_request_capture(request, "path").data);
}

static enum hub_status get_metrics(struct hub_request *request, struct hub_response *response,
                                   struct hub_error *err)
{
    (void)request;
    return hub_http_metrics(parts.http,
                            hub_response_buffer(response, 200, "text/plain; version=0.0.4", 1 * MIB), err);
}

static enum hub_status get_ready(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    (void)request;
    if (hub_http_draining(parts.http))
        return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_DRAINING, "the server is shutting down");
    return text(response, err, "ready\n");
}

static enum hub_status get_file(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    const struct hub_file_ref ref = {.root = 0, .path = parts.file};
    struct hub_validators validators = {.etag = "\"file-1\"", .modified_s = -1};
    bool partial = false;
    HUB_TRY(hub_file_get(parts.store, &ref, &response->file, err));
    uint64_t size = hub_file_stamp(response->file)->size;
    if (hub_conditions(request, &validators) == HUB_NOT_MODIFIED) {
        response->status = 304;
        return HUB_OK;
    }
    HUB_TRY(hub_range(request, &validators, size, &response->offset, &response->length, &partial, err));
    response->kind = HUB_BODY_FILE;
    HUB_TRY(hub_response_header(response, err, "Content-Type", "application/octet-stream"));
    HUB_TRY(hub_response_header(response, err, "ETag", "%s", validators.etag));
    HUB_TRY(hub_response_header(response, err, "Accept-Ranges", "bytes"));
    if (!partial)
        return HUB_OK;
    response->status = 206;
    return hub_response_header(
        response, err, "Content-Range", "bytes %llu-%llu/%llu", (unsigned long long)response->offset,
        (unsigned long long)(response->offset + response->length - 1), (unsigned long long)size);
}

/* It is changed between the moment it was opened and the first byte of the answer. */
static enum hub_status get_changed(struct hub_request *request, struct hub_response *response,
                                   struct hub_error *err)
{
    static atomic_int seconds;
    HUB_TRY(get_file(request, response, err));
    const struct timespec then = {.tv_sec = 1000 + atomic_fetch_add(&seconds, 1)};
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", response->file->fd); /* which may be a path alone */
    return utimensat(AT_FDCWD, path, (struct timespec[2]){then, then}, 0)
               ? hub_fail_errno(err, errno, "'%s'", parts.file)
               : HUB_OK;
}

static const struct hub_parameter limit = {.type = HUB_PARAM_WHOLE, .name = "limit"},
                                  words = {.type = HUB_PARAM_TEXT, .name = "q"};
static const struct hub_parameter *const query_parameters[] = {&limit, &words, NULL};

static const struct hub_route routes[] = {
    {"GET", "/small", get_small, "small", HUB_FOR_ANYBODY},
    {"GET", "/hello", get_hello, "hello", HUB_FOR_ANYBODY},
    {"GET", "/executed", get_executed, "executed", HUB_FOR_ANYBODY},
    {"GET", "/sleep/{n}", get_sleep, "sleep", HUB_FOR_ANYBODY},
    {"GET", "/hold/{n}", get_hold, "hold", HUB_FOR_ANYBODY},
    {"GET", "/release", get_release, "release", HUB_FOR_ANYBODY},
    {"GET", "/work/{n}", get_work, "work", HUB_FOR_ANYBODY},
    {"GET", "/given-up", get_given_up, "given-up", HUB_FOR_ANYBODY},
    {"GET", "/bytes/{n}", get_bytes, "bytes", HUB_FOR_ANYBODY},
    {"GET", "/made/{n}", get_made, "made", HUB_FOR_ANYBODY},
    {"GET", "/long/{n}", get_long, "long", HUB_FOR_ANYBODY},
    {"POST", "/echo", post_echo, "echo", HUB_FOR_ANYBODY, .body_limit = 4096},
    {"POST", "/sink/{n}", post_sink, "sink", HUB_FOR_ANYBODY, .open_body = open_counted},
    {"GET", "/sinks", get_sinks, "sinks", HUB_FOR_ANYBODY},
    {"GET", "/taken", get_taken, "taken", HUB_FOR_ANYBODY},
    {"GET", "/failure", get_failure, "failure", HUB_FOR_ANYBODY},
    {"GET", "/api/hello", get_hello, "hello", HUB_FOR_ANYBODY},
    {"GET", "/json", get_json, "json", HUB_FOR_ANYBODY},
    {"GET", "/query", get_query, "query", HUB_FOR_ANYBODY, query_parameters},
    {"GET", "/datasets/{id}", get_missing, "dataset", HUB_FOR_ANYBODY},
    {"GET", "/datasets/{id}/files/{path}", get_path, "path", HUB_FOR_ANYBODY},
    {"GET", "/file", get_file, "file", HUB_FOR_ANYBODY},
    {"GET", "/changed", get_changed, "changed", HUB_FOR_ANYBODY},
    {"GET", "/metrics", get_metrics, "metrics", HUB_FOR_ANYBODY, .for_probes = true},
    {"GET", "/readyz", get_ready, "readyz", HUB_FOR_ANYBODY, .for_probes = true},
    {0},
};

static void set(struct hub_http_options *options, const char *text_)
{
    char name[32];
    unsigned n = 0;
    if (sscanf(text_, "%31[^=]=%u", name, &n) != 2)
        exit(2);
    const struct {
        const char *name;
        unsigned *to;
    } known[] = {{"event_threads", &options->event_threads},
                 {"workers", &options->workers},
                 {"queue", &options->queue},
                 {"connections", &options->connections},
                 {"connections_per_client", &options->connections_per_client},
                 {"header_ms", &options->header_ms},
                 {"body_ms", &options->body_ms},
                 {"idle_ms", &options->idle_ms},
                 {"rate_ms", &options->rate_ms},
                 {"min_rate", &options->min_rate},
                 {"grace_ms", &parts.grace_ms}};
    for (size_t i = 0; i < HUB_COUNT(known); i++)
        if (strcmp(known[i].name, name) == 0)
            *known[i].to = n;
    if (strcmp(name, "access_log") == 0)
        parts.access_log = n;
    if (strcmp(name, "port") == 0)
        options->port = (uint16_t)n;
}

static void open_store(const char *path)
{
    static char folder[4096];
    const char *slash = strrchr(path, '/');
    if (!slash || (size_t)(slash - path) >= sizeof folder)
        exit(2);
    memcpy(folder, path, (size_t)(slash - path));
    static struct hub_roots roots;
    const struct hub_store_options options = {.roots = &roots, .state = folder, .max_open = 16};
    struct hub_error err = {0};
    if (hub_roots_add(&roots, folder, NULL, &err) || hub_store_open(&options, &parts.store, &err)) {
        fprintf(stderr, "%s\n", err.detail);
        exit(1);
    }
    parts.file = slash + 1;
}

int main(int argc, char **argv)
{
    static const char *const here[] = {"127.0.0.1"};
    struct hub_http_options options = {
        .app = &parts.app, .routes = routes, .trust.proxies = {here, HUB_COUNT(here)}};
    struct hub_error err = {0};
    parts.grace_ms = 2000;
    (void)mallopt(M_MMAP_THRESHOLD, 16 * 1024 * 1024); /* as the hub does */
    (void)mallopt(M_TRIM_THRESHOLD, 64 * 1024 * 1024);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* before a store starts a thread */
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--file") == 0)
            open_store(argv[i + 1]);
        else
            set(&options, argv[i + 1]);
    }
    struct hub_buf body = HUB_BUF_INIT(KIB + 1);
    if (hub_buf_reserve(&body, KIB, NULL))
        return 1;
    memset(body.data, 'j', KIB);
    body.size = KIB;
    parts.small = hub_bytes_new(&body);
    parts.budget = options.budget = hub_budget_new(128 * MIB);
    signal(SIGPIPE, SIG_IGN);
    if (parts.access_log && hub_log_start(STDERR_FILENO, HUB_LOG_JSON, &options.log, &err))
        return 1;
    if (hub_http_start(&options, &parts.http, &err)) {
        fprintf(stderr, "%s\n", err.detail);
        return 1;
    }
    printf("%u\n", hub_http_port(parts.http));
    fflush(stdout);
    int number = 0;
    sigwait(&signals, &number);
    hub_http_stop(parts.http, parts.grace_ms);
    hub_log_stop(options.log);
    hub_bytes_unref(parts.small);
    if (parts.store)
        hub_store_close(parts.store);
    hub_budget_free(parts.budget);
    return 0;
}
