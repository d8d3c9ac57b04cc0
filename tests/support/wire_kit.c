/* See wire_kit.h. */
#include "tests/support/wire_kit.h"
#include "server/service/routes.h"
#include "storage/truth/digests.h"
#include "tests/support/scan_root.h"

#include <criterion/criterion.h>

enum { MOST_HEADERS = 8, MOST_TEXT = 4096 };

static struct hub_request request;
static struct hub_response response;
static struct hub_param headers[MOST_HEADERS];
static char header_text[MOST_TEXT];
static struct hub_buf body;

/* ---- the hub ---- */

static void fill(const char *directory)
{
    static const char *const copies[][2] = {
        {"samples/D4RL", "D4RL"}, {"samples/door-human-v0", "door-human-v0"}, {"lerobot/arm-v21", "lab/arm"}};
    char path[4096];
    snprintf(path, sizeof path, "%s/lab", directory);
    cr_assert_eq(mkdir(path, 0755), 0);
    for (size_t i = 0; i < HUB_COUNT(copies); i++) {
        snprintf(path, sizeof path, "%s/%s", directory, copies[i][1]);
        scan_copy(copies[i][0], path);
    }
    scan_write(directory, "notes.txt", "hello");
    scan_write(directory, "lab/odd/a b+c%.txt", "plus");
    scan_write(directory, "lab/odd/empty.bin", "");
    scan_write(directory, "lab/odd/" WIRE_HOSTILE, "markup");
}

/* As if notes.txt had been hashed; the digests of "hello" are those that everybody else prints. */
static void know_digests(void)
{
    static const struct hub_file_digests digests = {
        .sha256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        .md5 = "5d41402abc4b2a76b9719d911017c592",
        .crc32c = "9a71bb4c"};
    struct hub_error err = {0};
    struct stat st;
    char path[4096];
    const struct hub_app *app = api_kit_app();
    snprintf(path, sizeof path, "%s/notes.txt", app->roots->roots[0].path);
    cr_assert_eq(stat(path, &st), 0);
    const struct hub_stamp stamp = hub_stamp_of(&st);
    cr_assert_eq(hub_digest_store(app->truth, 0, "notes.txt", &stamp, &digests, &err), HUB_OK, "%s",
                 err.detail);
}

void wire_open(void)
{
    api_kit_open_with(fill);
    know_digests();
}

/* ---- requests ---- */

/* "Name: value", a line each; the names and values are ended in place. */
static unsigned read_headers(const char *lines)
{
    unsigned count = 0;
    snprintf(header_text, sizeof header_text, "%s", lines ? lines : "");
    for (char *line = strtok(header_text, "\n"); line; line = strtok(NULL, "\n")) {
        char *colon = strstr(line, ": ");
        cr_assert(colon && count < MOST_HEADERS, "%s", line);
        *colon = '\0';
        headers[count++] = (struct hub_param){hub_view_of(line), hub_view_of(colon + 2)};
    }
    return count;
}

/* The protocol of the address, as the server finds it. */
static const struct hub_problem_shape *shape_of(void)
{
    for (const struct hub_protocol *protocol = hub_protocols; protocol->below; protocol++) {
        const bool deep = request.segment_count + request.trailing_slash > 1;
        if (hub_view_starts(hub_view_of(request.target), protocol->below) &&
            (protocol->below[1] || (deep && !hub_route_begins(hub_routes, request.segments[0]))))
            return protocol->for_people && hub_accepts_html(&request) ? protocol->for_people
                                                                      : protocol->shape;
    }
    return NULL;
}

/* A browser's, where pages are asked for. */
static const char *headers_of(const struct wire_case *c)
{
    const struct hub_view target = hub_view_of(c->target);
    const bool page = hub_view_starts(target, "/d/") || hub_view_starts(target, "/~operations") ||
                      hub_view_starts(target, "/~guide");
    return c->headers || !page ? c->headers : "Accept: text/html";
}

/* First where nothing may block, then on a worker, there perhaps once more as heavy. */
static enum hub_status handle(struct hub_error *err)
{
    const struct hub_route *route;
    char allow[64];
    enum hub_status st = HUB_AGAIN;
    HUB_TRY(hub_route_find(&request, hub_routes, &route, allow, err));
    for (unsigned calls = 0; st == HUB_AGAIN && calls < 3; calls++) {
        hub_response_dispose(&response);
        request.may_block = calls > 0;
        request.heavy |= request.wait.on == HUB_WAIT_HEAVY;
        request.wait = (struct hub_wait){0};
        st = hub_route_call(route, &request, &response, err);
        cr_assert_neq(request.wait.on, HUB_WAIT_MEMORY, "%s: memory is short", request.target);
    }
    cr_assert_neq(st, HUB_AGAIN, "%s would block where it may", request.target);
    return st;
}

static void add_made(void)
{
    struct hub_body_stream made;
    for (hub_body_stream_init(&made, response.maker, &response.buffer); !made.complete && !made.failed;) {
        cr_assert_eq(hub_buf_add_view(&body, hub_buf_view(&made.chunk), NULL), HUB_OK);
        hub_body_stream_more(&made);
    }
    cr_expect(!made.failed, "%s ends short", request.target);
    hub_body_stream_dispose(&made);
}

static void read_body(void)
{
    hub_buf_dispose(&body);
    body = HUB_BUF_INIT(64 * MIB);
    cr_assert_eq(hub_buf_add_text(&body, "", NULL), HUB_OK);
    if (response.kind == HUB_BODY_STREAM)
        add_made();
    else if (response.kind == HUB_BODY_SHARED)
        cr_assert_eq(hub_buf_add_view(&body, hub_bytes_view(response.shared), NULL), HUB_OK);
    else if (response.kind == HUB_BODY_BUFFER && response.buffer.size)
        cr_assert_eq(hub_buf_add_view(&body, hub_buf_view(&response.buffer), NULL), HUB_OK);
}

struct wire_answer wire_ask(const struct wire_case *c)
{
    struct hub_error err = {0};
    hub_response_dispose(&response);
    hub_request_end(&request);
    hub_response_init(&response);
    enum hub_status st = hub_request_init(&request, c->method ? c->method : HUB_GET, c->target, &err);
    request.app = api_kit_app();
    request.base_url = "http://hub";
    request.headers = headers;
    request.header_count = read_headers(headers_of(c));
    request.body = hub_view_of(c->body ? c->body : "");
    request.heavy = false;
    request.shape = shape_of();
    if (!st)
        st = handle(&err);
    if (st) {
        char *extra = response.problem_extra;
        response.problem_extra = NULL;
        hub_response_dispose(&response);
        hub_problem_write(&response, &request, &err, extra);
        free(extra);
    }
    read_body();
    const bool streamed = response.kind == HUB_BODY_FILE || response.kind == HUB_BODY_UNSENT;
    const struct wire_answer answer = {response.status, streamed ? response.length : body.size,
                                       request.method == HUB_HEAD ? HUB_VIEW("") : hub_buf_view(&body)};
    return answer;
}

const char *wire_header(const char *name)
{
    for (unsigned i = 0; i < response.header_count; i++)
        if (strcasecmp(response.headers[i].name, name) == 0)
            return response.headers[i].value;
    return NULL;
}

struct hub_view wire_body(const char *target)
{
    const struct wire_answer answer = wire_ask(&(struct wire_case){.target = target});
    cr_expect_eq(answer.status, 200, "%s: %u: %.300s", target, answer.status, answer.body.data);
    return answer.body;
}

const char *wire_between(const char *before, const char *end)
{
    static char out[MOST_TEXT];
    const char *at = strstr(body.data, before), *from = at ? at + strlen(before) : "";
    const char *stop = strstr(from, end);
    snprintf(out, sizeof out, "%.*s", stop ? (int)HUB_MIN((size_t)(stop - from), sizeof out - 1) : 0, from);
    return out;
}

unsigned wire_count(struct hub_view text, const char *part)
{
    unsigned count = 0;
    for (const char *at = text.data; at && (at = strstr(at, part)); at += strlen(part))
        count++;
    return count;
}

static void expect_header(const struct wire_case *c)
{
    char name[64];
    const size_t size = strcspn(c->header, ":");
    const bool none = c->header[0] == '!';
    snprintf(name, sizeof name, "%.*s", (int)(size - none), c->header + none);
    const char *value = wire_header(name);
    if (none)
        cr_expect_null(value, "%s: %s: %s", c->target, name, value);
    else
        cr_expect(value && strcmp(value, c->header + size + 2) == 0, "%s: not %s but %s", c->target,
                  c->header, value ? value : "none");
}

void wire_expect(const struct wire_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct wire_case *c = &cases[i];
        const struct wire_answer answer = wire_ask(c);
        cr_expect_eq(answer.status, c->status, "%s: %u, not %u: %.300s", c->target, answer.status, c->status,
                     answer.body.data);
        if (c->has)
            cr_expect(memmem(answer.body.data, answer.body.size, c->has, strlen(c->has)),
                      "%s: no %s in %.1500s", c->target, c->has, answer.body.data);
        if (c->header)
            expect_header(c);
    }
}

void wire_close(void)
{
    hub_response_dispose(&response);
    hub_request_end(&request);
    hub_request_dispose(&request);
    hub_buf_dispose(&body);
    api_kit_close();
}
