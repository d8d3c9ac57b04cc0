/* storage/net/sends.c: a PUT out of a file, against a server that says what it got. */
#include "storage/net/transport.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BODY = 3 * 1024 * 1024 };

/* What came in the last request. */
static struct {
    char head[2048];
    char body[BODY + 1];
    size_t size;
    unsigned requests;
} got;

static size_t length_of(const char *head)
{
    const char *at = strcasestr(head, "\r\nContent-Length:");
    return at ? strtoul(at + 17, NULL, 10) : 0;
}

static bool read_head(int fd)
{
    size_t n = 0;
    while (n + 1 < sizeof got.head && recv(fd, got.head + n, 1, 0) == 1) {
        got.head[++n] = '\0';
        if (n >= 4 && strcmp(got.head + n - 4, "\r\n\r\n") == 0)
            return true;
    }
    return false;
}

static void answer(int fd, const char *text)
{
    cr_assert_eq(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* A path says what becomes of its request. */
static bool serve_one(int fd)
{
    if (!read_head(fd))
        return false;
    got.requests++;
    got.size = 0;
    if (strstr(got.head, " /refused ")) { /* before the body */
        answer(fd, "HTTP/1.1 422 X\r\nContent-Type: application/problem+json\r\nContent-Length: 84\r\n\r\n"
                   "{\"type\":\"urn:minari-hub:draft-refused\",\"detail\":\"no\",\"problems\":[{\"code\":"
                   "\"broken\"}]}");
        return false;
    }
    if (strcasestr(got.head, "100-continue"))
        answer(fd, "HTTP/1.1 100 Continue\r\n\r\n");
    const size_t size = length_of(got.head);
    const size_t stop = strstr(got.head, " /broken ") && got.requests == 1 ? size / 2 : size;
    for (ssize_t n; got.size < stop && (n = recv(fd, got.body + got.size, stop - got.size, 0)) > 0;)
        got.size += (size_t)n;
    if (stop < size)
        return false;
    answer(fd, "HTTP/1.1 201 X\r\nUpload-Offset: 12345\r\nContent-Length: 2\r\n\r\n{}");
    return true;
}

static void *serve(void *user)
{
    const int listener = (int)(intptr_t)user;
    for (int fd; (fd = accept(listener, NULL, NULL)) >= 0; close(fd))
        while (serve_one(fd))
            ;
    return NULL;
}

static unsigned begin_server(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    pthread_t thread;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_eq(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    cr_assert_eq(listen(fd, 64), 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    cr_assert_eq(pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd), 0);
    pthread_detach(thread);
    return ntohs(at.sin_port);
}

static char content[BODY];

static int file_of(size_t size)
{
    char path[] = "/tmp/hub-test-sends-XXXXXX";
    const int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    unlink(path);
    for (size_t i = 0; i < size; i++)
        content[i] = (char)(i * 7 + i / 251);
    cr_assert_eq(write(fd, content, size), (ssize_t)size);
    return fd;
}

static uint64_t passed;

static void passing(struct hub_fetch *fetch, uint64_t at, struct hub_view bytes)
{
    (void)fetch;
    passed = at ? passed + bytes.size : bytes.size;
    cr_assert_eq(memcmp(bytes.data, content + at, bytes.size), 0);
}

struct trial {
    struct hub_transport *transport;
    struct hub_sends sends;
    struct hub_fetch fetch;
    char url[100];
};

static struct trial *trial_new(const char *path, int fd, uint64_t first, uint64_t size)
{
    const struct hub_transport_options options = {
        .user_agent = "test",
        .connect_timeout_ms = 5000,
        .stall_timeout_ms = 5000,
        .retry = {.attempts = 3, .first_attempts = 3, .base_ms = 1}};
    struct trial *t = calloc(1, sizeof *t);
    cr_assert_eq(hub_transport_new(&options, &t->transport, NULL), HUB_OK);
    snprintf(t->url, sizeof t->url, "http://127.0.0.1:%u%s", begin_server(), path);
    t->sends =
        (struct hub_sends){.fd = fd, .first = first, .count = size - first, .size = size, .passing = passing};
    t->fetch = (struct hub_fetch){.url = t->url, .sends = &t->sends};
    return t;
}

static void trial_end(struct trial *t)
{
    hub_transport_free(t->transport);
    close(t->sends.fd);
    free(t);
}

Test(sends, a_whole_file)
{
    struct trial *t = trial_new("/x", file_of(BODY), 0, BODY);
    t->sends.digest = "sha-256=:abc=:";
    cr_assert_eq(hub_transport_get(t->transport, &t->fetch, NULL), HUB_OK);
    cr_expect_eq(t->fetch.answer.status, 201);
    cr_expect(t->fetch.answer.has_offset && t->fetch.answer.offset == 12345);
    cr_expect_eq(t->sends.sent, BODY);
    cr_expect_eq(passed, BODY);
    cr_expect(got.size == BODY && memcmp(got.body, content, BODY) == 0);
    cr_expect_eq(strncmp(got.head, "PUT /x ", 7), 0);
    cr_expect_not_null(strcasestr(got.head, "\r\nExpect: 100-continue\r\n"));
    cr_expect_not_null(strcasestr(got.head, "\r\nRepr-Digest: sha-256=:abc=:\r\n"));
    cr_expect_null(strcasestr(got.head, "Content-Range"));
    trial_end(t);
}

/* In pieces of its own size, and then an error. */
static enum hub_status make_bytes(struct hub_fetch *fetch, uint64_t at, char *out, size_t size, size_t *made,
                                  struct hub_error *err)
{
    if (at == (uint64_t)(intptr_t)fetch->user)
        return hub_fail(err, HUB_CORRUPT, "no more");
    *made = HUB_MIN(size, (size_t)777);
    memcpy(out, content + at, *made);
    return HUB_OK;
}

Test(sends, what_is_made)
{
    struct hub_error err = {0};
    struct trial *t = trial_new("/x", file_of(BODY), 0, BODY);
    t->sends.read = make_bytes;
    t->fetch.user = (void *)(intptr_t)-1;
    cr_assert_eq(hub_transport_get(t->transport, &t->fetch, NULL), HUB_OK);
    cr_expect(got.size == BODY && memcmp(got.body, content, BODY) == 0);
    t->fetch.user = (void *)(intptr_t)7770;
    cr_expect_eq(hub_transport_get(t->transport, &t->fetch, &err), HUB_CORRUPT);
    cr_expect_str_eq(err.detail, "no more");
    trial_end(t);
}

Test(sends, what_follows_an_offset)
{
    struct trial *t = trial_new("/x", file_of(1000), 600, 1000);
    cr_assert_eq(hub_transport_get(t->transport, &t->fetch, NULL), HUB_OK);
    cr_expect(got.size == 400 && memcmp(got.body, content + 600, 400) == 0);
    cr_expect_not_null(strcasestr(got.head, "\r\nContent-Range: bytes 600-999/1000\r\n"));
    cr_expect_null(strcasestr(got.head, "Expect:"));
    trial_end(t);
}

Test(sends, nothing)
{
    struct trial *t = trial_new("/x", file_of(0), 0, 0);
    cr_assert_eq(hub_transport_get(t->transport, &t->fetch, NULL), HUB_OK);
    cr_expect_not_null(strcasestr(got.head, "\r\nContent-Length: 0\r\n"));
    trial_end(t);
}

Test(sends, a_break_is_the_callers)
{
    struct hub_error err = {0};
    struct trial *t = trial_new("/broken", file_of(BODY), 0, BODY);
    cr_assert_eq(hub_transport_get(t->transport, &t->fetch, &err), HUB_IO, "%s", err.detail);
    cr_expect_eq(got.requests, 1);
    trial_end(t);
}

Test(sends, again_where_its_caller_allows_it)
{
    struct trial *t = trial_new("/broken", file_of(BODY), 0, BODY);
    t->fetch.restartable = true;
    cr_assert_eq(hub_transport_get(t->transport, &t->fetch, NULL), HUB_OK);
    cr_expect_eq(got.requests, 2);
    cr_expect(got.size == BODY && memcmp(got.body, content, BODY) == 0);
    cr_expect_eq(passed, BODY);
    trial_end(t);
}

Test(sends, a_refusal_and_its_reasons)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf problem = HUB_BUF_INIT(64 * KIB);
    struct hub_error err = {0};
    struct trial *t = trial_new("/refused", file_of(BODY), 0, BODY);
    t->fetch.problem = &problem;
    cr_assert_neq(hub_transport_get(t->transport, &t->fetch, &err), HUB_OK);
    cr_expect_eq(err.problem, HUB_PROBLEM_DRAFT_REFUSED, "%s", err.detail);
    cr_expect(problem.size && strstr(problem.data, "\"broken\""));
    trial_end(t);
}

Test(sends, a_file_that_becomes_shorter)
{
    struct hub_error err = {0};
    struct trial *t = trial_new("/x", file_of(1000), 0, 2000);
    cr_assert_eq(hub_transport_get(t->transport, &t->fetch, &err), HUB_CHANGED);
    cr_expect_not_null(strstr(err.detail, "shorter"));
    trial_end(t);
}
