/* Responses of libmicrohttpd: see mhd_answer.h. Bytes of files come from callbacks that wait on workers,
 * never on the event thread. */
#include "server/http/mhd_answer.h"

#include "server/http/budget.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

void hub_mhd_suspend(struct hub_exchange *x)
{
    atomic_fetch_add(&x->http->suspended, 1);
    MHD_suspend_connection(x->connection);
}

void hub_mhd_resume(struct hub_exchange *x)
{
    struct hub_http *http = x->http; /* x may be gone once it is resumed */
    MHD_resume_connection(x->connection);
    atomic_fetch_sub(&http->suspended, 1);
}

/* The block is there, or it is too late. */
static void end_block_wait(struct hub_bytes_wait *wait, bool there)
{
    struct hub_exchange *x = HUB_EXCHANGE_OF(wait, fetch_wait);
    x->stream.failed |= !there;
    hub_mhd_resume(x);
}

/* The connection is suspended. */
static void wait_for_block(struct hub_exchange *x)
{
    struct hub_file_fetch *awaited = x->stream.awaited;
    x->fetch_wait.end = end_block_wait;
    if (!hub_exchange_wait_for(x, awaited))
        end_block_wait(&x->fetch_wait, hub_fetch_result(awaited, NULL) != HUB_AGAIN);
}

static ssize_t read_block(void *cls, uint64_t at, char *out, size_t size)
{
    struct hub_exchange *x = cls;
    ssize_t n = hub_stream_read(&x->stream, at, out, size);
    if (n > 0)
        x->bytes_out = at + (uint64_t)n;
    if (n != 0)
        return n > 0 ? n : MHD_CONTENT_READER_END_WITH_ERROR;
    x->stream_at = at;
    hub_mhd_suspend(x);
    if (x->stream.awaited) {
        wait_for_block(x);
    } else if (!hub_pool_push(x->http->pool, &x->task, true)) {
        x->stream.failed = true;
        hub_mhd_resume(x);
    }
    return 0;
}

static void fetch_block(struct hub_task *task)
{
    struct hub_exchange *x = HUB_EXCHANGE_OF(task, task);
    hub_stream_fetch(&x->stream, x->stream_at);
    hub_mhd_resume(x);
}

static void drop_stream(struct hub_task *task)
{
    struct hub_exchange *x = HUB_EXCHANGE_OF(task, task);
    x->stream.failed = true;
    hub_mhd_resume(x);
}

/* The next block is there, or will never be. Unless the connection is suspended, or gone, the exchange is
 * the event thread's from here on. */
static void end_ahead(struct hub_exchange *x)
{
    const int before = atomic_exchange(&x->ahead, HUB_AHEAD_READY);
    if (before == HUB_AHEAD_AWAITED)
        hub_mhd_resume(x);
    else if (before == HUB_AHEAD_LEFT)
        hub_exchange_free(x);
}

static void make_next(struct hub_task *task)
{
    struct hub_exchange *x = HUB_EXCHANGE_OF(task, task);
    hub_body_stream_next(&x->made);
    end_ahead(x);
}

static void drop_made(struct hub_task *task)
{
    struct hub_exchange *x = HUB_EXCHANGE_OF(task, task);
    x->made.broke = true;
    end_ahead(x);
}

static bool start_ahead(struct hub_exchange *x)
{
    atomic_store(&x->ahead, HUB_AHEAD_BUSY);
    if (hub_pool_push(x->http->pool, &x->task, true))
        return true;
    atomic_store(&x->ahead, HUB_AHEAD_NONE);
    return false;
}

/* A long answer is made while it is sent, by two threads. One of a length that is not known has only what
 * it is made in reserved, and nobody knows which block is its last. */
static bool goes_on(const struct hub_exchange *x)
{
    const uint64_t length = x->response.length, made = x->made.at + x->made.chunk.size;
    return length != HUB_LENGTH_UNKNOWN && length > HUB_BODY_STREAM_LARGE && made < length;
}

static ssize_t wait_for_made(struct hub_exchange *x)
{
    int busy = HUB_AHEAD_BUSY;
    if (atomic_load(&x->ahead) == HUB_AHEAD_NONE && !start_ahead(x)) {
        x->made.failed = true;
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    hub_mhd_suspend(x);
    if (!atomic_compare_exchange_strong(&x->ahead, &busy, HUB_AHEAD_AWAITED))
        hub_mhd_resume(x);
    return 0;
}

static ssize_t read_made(void *cls, uint64_t at, char *out, size_t size)
{
    struct hub_exchange *x = cls;
    size_t n = hub_body_stream_read(&x->made, at, out, size);
    if (!n && atomic_load(&x->ahead) == HUB_AHEAD_READY) {
        hub_body_stream_turn(&x->made);
        atomic_store(&x->ahead, HUB_AHEAD_NONE);
        n = hub_body_stream_read(&x->made, at, out, size);
    }
    x->bytes_out = at + n;
    if (n && goes_on(x) && atomic_load(&x->ahead) == HUB_AHEAD_NONE)
        (void)start_ahead(x); /* else when it is waited for */
    if (n)
        return (ssize_t)n;
    if (x->made.failed || x->made.complete)
        return x->made.failed ? MHD_CONTENT_READER_END_WITH_ERROR : MHD_CONTENT_READER_END_OF_STREAM;
    return wait_for_made(x);
}

/* Where its length is not known it is sent in chunks, or ends with the connection. */
static struct MHD_Response *made_response(struct hub_exchange *x)
{
    hub_body_stream_init(&x->made, x->response.maker, &x->response.buffer);
    x->task.run = make_next;
    x->task.cancel = drop_made;
    const uint64_t length = x->response.length;
    const bool known = length != HUB_LENGTH_UNKNOWN;
    return MHD_create_response_from_callback(
        known ? length : MHD_SIZE_UNKNOWN,
        known && length > HUB_BODY_STREAM_LARGE ? HUB_BODY_STREAM_LARGE_BLOCK : HUB_BODY_STREAM_BLOCK,
        read_made, x, NULL);
}

static bool reserve(struct hub_exchange *x, uint64_t bytes)
{
    struct hub_budget *budget = x->http->options.budget;
    if (!budget || (x->response.budget && x->response.budget != budget) ||
        !hub_budget_try(budget, x->request.client, bytes))
        return false;
    x->response.budget = budget;
    x->response.client = x->request.client;
    x->response.reserved += bytes;
    return true;
}

/* The library holds a block, and so does a worker's read, or the window holds some. */
static size_t block_of(struct hub_exchange *x, uint64_t length)
{
    const unsigned blocks = x->response.file && x->response.file->source ? 1 + HUB_STREAM_WINDOW : 2;
    if (x->response.file && x->response.file->source && x->response.file->source->comes)
        return reserve(x, blocks * HUB_STREAM_COMING_BLOCK) ? HUB_STREAM_COMING_BLOCK
                                                            : HUB_STREAM_SMALL_BLOCK;
    static const struct {
        uint64_t longer_than, block;
    } sizes[] = {{HUB_STREAM_LONG, HUB_STREAM_LONG_BLOCK},
                 {HUB_STREAM_MEDIUM_BLOCK, HUB_STREAM_BLOCK},
                 {0, HUB_STREAM_MEDIUM_BLOCK}};
    for (size_t i = 0; i < HUB_COUNT(sizes); i++)
        if (length > sizes[i].longer_than && reserve(x, blocks * sizes[i].block))
            return sizes[i].block;
    return HUB_STREAM_SMALL_BLOCK;
}

static struct MHD_Response *file_response(struct hub_exchange *x)
{
    struct hub_response *response = &x->response;
    const size_t block = block_of(x, response->length);
    if (response->parts)
        hub_stream_init_parts(&x->stream, response->parts, response->offset, block);
    else
        hub_stream_init(&x->stream, response->file, response->offset, response->length, block);
    x->stream.escaped = response->escaped;
    x->stream.head = hub_buf_view(&response->buffer);
    x->task.run = fetch_block;
    x->task.cancel = drop_stream;
    return MHD_create_response_from_callback(response->buffer.size + response->length, block, read_block, x,
                                             NULL);
}

static ssize_t send_nothing(void *cls, uint64_t at, char *out, size_t size)
{
    (void)cls;
    (void)at;
    (void)out;
    (void)size;
    return MHD_CONTENT_READER_END_OF_STREAM;
}

/* What only GET reads, or nobody: HEAD says how long it is, and needs no block for it. */
static bool is_unsent(const struct hub_exchange *x)
{
    const enum hub_body_kind kind = x->response.kind;
    return kind == HUB_BODY_UNSENT ||
           (x->request.method == HUB_HEAD && (kind == HUB_BODY_FILE || kind == HUB_BODY_STREAM));
}

static struct MHD_Response *unsent_response(const struct hub_response *response)
{
    const uint64_t head = response->kind == HUB_BODY_FILE ? response->buffer.size : 0;
    const bool known = response->length != HUB_LENGTH_UNKNOWN;
    struct MHD_Response *out = MHD_create_response_from_callback(
        known ? head + response->length : MHD_SIZE_UNKNOWN, 1, send_nothing, NULL, NULL);
    /* The library ends chunks that a HEAD has none of, and the client would take that for its next answer:
     * such a connection ends. */
    if (out && !known)
        (void)MHD_set_response_options(out, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    return out;
}

/* The bytes stay the exchange's until on_completed, so nothing is copied. */
static struct MHD_Response *make_response(struct hub_exchange *x)
{
    struct hub_response *response = &x->response;
    struct hub_view bytes = {"", 0};
    if (is_unsent(x))
        return unsent_response(response);
    if (response->kind == HUB_BODY_FILE && response->length > 0)
        return file_response(x);
    if (response->kind == HUB_BODY_STREAM)
        return made_response(x);
    if (response->kind == HUB_BODY_BUFFER && response->buffer.size > 0)
        bytes = hub_buf_view(&response->buffer);
    else if (response->kind == HUB_BODY_SHARED)
        bytes = hub_bytes_view(response->shared);
    x->bytes_out = x->request.method == HUB_HEAD ? 0 : bytes.size;
    return MHD_create_response_from_buffer(bytes.size, (void *)bytes.data, MHD_RESPMEM_PERSISTENT);
}

/* Header lines on their way to libmicrohttpd, which allocates three times for each field it is given: all are
 * given as the value of the first. It refuses line ends in a value, so these stand for them until it has made
 * its copy. No value holds them: control characters are refused. */
#define FIRST_FIELD "X-Content-Type-Options"
#define LINE_END "\1\2"

struct lines {
    size_t size;
    char text[HUB_MHD_BYTES];
};

static void add_line(struct lines *lines, const char *name, const char *value)
{
    const size_t name_size = strlen(name), value_size = strlen(value);
    if (name_size + value_size + 4 >= sizeof lines->text - lines->size) {
        lines->size = sizeof lines->text; /* more than can be sent */
        return;
    }
    char *at = lines->text + lines->size;
    at = mempcpy(at, LINE_END, 2);
    at = mempcpy(at, name, name_size);
    at = mempcpy(at, ": ", 2);
    at = mempcpy(at, value, value_size);
    lines->size = (size_t)(at - lines->text);
}

static bool give(struct lines *lines, struct MHD_Response *out)
{
    if (lines->size == sizeof lines->text)
        return false;
    lines->text[lines->size] = '\0';
    if (MHD_add_response_header(out, FIRST_FIELD, lines->text) != MHD_YES)
        return false;
    const char *copy = MHD_get_response_header(out, FIRST_FIELD);
    for (char *at = copy ? strchr(copy, LINE_END[0]) : NULL; at; at = strchr(at, LINE_END[0]))
        memcpy(at, "\r\n", 2);
    return true;
}

/* What lets pages of other origins read this answer. Always, not only where an Origin asks: caches keep
 * it. */
static void add_origin(struct lines *lines, const struct hub_exchange *x)
{
    const struct hub_trust *trust = &x->http->trust;
    const char *allowed = hub_trust_origin(trust, hub_request_header(&x->request, "Origin"));
    if (hub_trust_varies(trust))
        add_line(lines, "Vary", "Origin");
    if (!allowed)
        return;
    add_line(lines, "Access-Control-Allow-Origin", allowed);
    add_line(lines, "Access-Control-Expose-Headers", "*");
}

/* The header of the answer has to fit beside that of its request, else the library closes the connection
 * without a word. */
static bool fits(const struct hub_exchange *x, const struct lines *lines)
{
    enum {
        FIELD = 60 /* what the library notes of each */,
        OTHERS = 320 /* the first lines, date, length, blanks */
    };
    size_t size = OTHERS + lines->size + strlen(x->request.target) + strlen(x->request.query_text);
    for (unsigned i = 0; i < x->request.header_count; i++)
        size += FIELD + x->request.headers[i].name.size + x->request.headers[i].value.size;
    return size < HUB_MHD_BYTES;
}

void hub_mhd_refuse_header(const struct hub_exchange *x, const char *detail)
{
    char body[400], answer[700];
    const int size = snprintf(body, sizeof body,
                              "{\"type\":\"urn:minari-hub:too-large\",\"title\":\"The request or its answer "
                              "is too large\",\"status\":431,"
                              "\"detail\":\"%s\",\"instance\":\"\"}\n",
                              detail);
    const int all =
        snprintf(answer, sizeof answer,
                 "HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: application/problem+json\r\n"
                 "X-Content-Type-Options: nosniff\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
                 size, body);
    (void)send(x->watch.fd, answer, (size_t)all, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void hub_mhd_answer_early(const struct hub_exchange *x)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf answer = HUB_BUF_INIT(64 * KIB);
    const struct hub_response *response = &x->response;
    const char *reason = MHD_get_reason_phrase_for(response->status);
    enum hub_status st =
        hub_buf_addf(&answer, NULL, "HTTP/1.1 %u %s\r\nConnection: close\r\nX-Request-Id: %s\r\n",
                     response->status, reason ? reason : "Error", x->request.id);
    for (unsigned i = 0; i < response->header_count && !st; i++)
        st = hub_buf_addf(&answer, NULL, "%s: %s\r\n", response->headers[i].name, response->headers[i].value);
    if (!st)
        st = hub_buf_addf(&answer, NULL, "Content-Length: %zu\r\n\r\n", response->buffer.size);
    if (!st)
        st = hub_buf_add_view(&answer, hub_buf_view(&response->buffer), NULL);
    if (!st)
        (void)send(x->watch.fd, answer.data, answer.size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static bool add_headers(struct hub_exchange *x, struct MHD_Response *out)
{
    const struct hub_response *response = &x->response;
    struct lines lines;
    lines.size = (size_t)(stpcpy(lines.text, "nosniff") - lines.text);
    if (response->status >= 400 || x->named)
        add_line(&lines, "X-Request-Id", x->request.id);
    if (hub_trust_shared(&x->request))
        add_origin(&lines, x);
    if (hub_request_is_personal(&x->request))
        add_line(&lines, "Vary", "Authorization, Cookie");
    for (unsigned i = 0; i < response->header_count; i++)
        add_line(&lines, response->headers[i].name, response->headers[i].value);
    return fits(x, &lines) && give(&lines, out) &&
           ((!x->close && !atomic_load_explicit(&x->http->draining, memory_order_relaxed)) ||
            MHD_add_response_header(out, "Connection", "close") == MHD_YES);
}

enum MHD_Result hub_mhd_queue(struct hub_exchange *x)
{
    struct MHD_Response *out = make_response(x);
    enum MHD_Result queued = MHD_NO;
    const bool fits = out && add_headers(x, out);
    if (out && !fits)
        hub_mhd_refuse_header(
            x, "the request and the header of its answer take more than 16 KiB together: send a shorter one");
    if (fits) {
        x->step = HUB_STEP_SENDING;
        hub_deadline_holds(&x->watch, x->response.reserved);
        hub_deadline_phase(&x->watch, HUB_PHASE_SEND);
        queued = MHD_queue_response(x->connection, x->response.status, out);
    }
    if (out)
        MHD_destroy_response(out);
    return queued;
}
