/* storage/net/transport.c against a server of a few lines; what it does over a bad network is tested by
 * tests/integration/test_client_hostile.py. */
#include "storage/net/transport.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static atomic_int at_once, most_at_once;

/* The head of an answer, and then a byte now and then until nobody reads them any more. */
static void drip(int fd)
{
    static const char head[] = "HTTP/1.1 200 X\r\nContent-Length: 1000000\r\n\r\n";
    ssize_t n = send(fd, head, sizeof head - 1, MSG_NOSIGNAL);
    while (n > 0) {
        usleep(20000);
        n = send(fd, "x", 1, MSG_NOSIGNAL);
    }
}

/* One connection: every request is answered after 20 ms, with its own path. */
static void *serve(void *user)
{
    const int fd = (int)(intptr_t)user;
    char request[2048], answer[512], path[64];
    ssize_t n;
    while ((n = recv(fd, request, sizeof request - 1, 0)) > 0) {
        request[n] = '\0';
        cr_assert_eq(sscanf(request, "GET %60s", path), 1);
        const int now = atomic_fetch_add(&at_once, 1) + 1;
        if (now > atomic_load(&most_at_once))
            atomic_store(&most_at_once, now);
        if (strcmp(path, "/drip") == 0)
            drip(fd);
        usleep(20000);
        atomic_fetch_sub(&at_once, 1);
        const int status = strcmp(path, "/gone") == 0 ? 404 : 200;
        snprintf(answer, sizeof answer, "HTTP/1.1 %d X\r\nContent-Length: %zu\r\n\r\n%s", status,
                 strlen(path), path);
        (void)!send(fd, answer, strlen(answer), MSG_NOSIGNAL);
    }
    close(fd);
    return NULL;
}

static void *accept_all(void *user)
{
    const int listener = (int)(intptr_t)user;
    for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;) {
        pthread_t thread;
        cr_assert_eq(pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd), 0);
        pthread_detach(thread);
    }
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
    cr_assert_eq(pthread_create(&thread, NULL, accept_all, (void *)(intptr_t)fd), 0);
    pthread_detach(thread);
    return ntohs(at.sin_port);
}

static struct hub_transport *new_transport(void)
{
    const struct hub_transport_options options = {.user_agent = "test",
                                                  .connect_timeout_ms = 5000,
                                                  .stall_timeout_ms = 5000,
                                                  .retry = {.attempts = 1, .first_attempts = 1}};
    struct hub_transport *transport = NULL;
    cr_assert_eq(hub_transport_new(&options, &transport, NULL), HUB_OK);
    return transport;
}

/* A question, and what became of it. */
struct question {
    struct hub_fetch fetch;
    struct hub_transport *transport;
    struct question *then; /* asked as soon as this one is answered */
    char url[100], got[100];
    unsigned reported;
    enum hub_status status, verdict;
};

static enum hub_status take(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err)
{
    (void)err;
    struct question *q = fetch->user;
    strncat(q->got, bytes.data, HUB_MIN(bytes.size, sizeof q->got - strlen(q->got) - 1));
    return HUB_OK;
}

static enum hub_status finished(struct hub_fetch *fetch, enum hub_status status, struct hub_error *err)
{
    (void)err;
    struct question *q = fetch->user;
    q->reported++;
    q->status = status;
    if (q->then)
        hub_transport_submit(q->transport, &q->then->fetch);
    return q->verdict;
}

static void prepare(struct question *q, struct hub_transport *transport, unsigned port, const char *path)
{
    *q = (struct question){.transport = transport};
    snprintf(q->url, sizeof q->url, "http://127.0.0.1:%u%s", port, path);
    q->fetch = (struct hub_fetch){.url = q->url, .body = take, .finished = finished, .user = q};
}

Test(transport, all_that_is_submitted_is_finished_once)
{
    enum { COUNT = 100 };
    static struct question questions[COUNT];
    const unsigned port = begin_server();
    struct hub_transport *transport = new_transport();
    char path[16];
    for (int i = 0; i < COUNT; i++) {
        snprintf(path, sizeof path, "/%d", i);
        prepare(&questions[i], transport, port, i == 7 ? "/gone" : path);
        if (i % 2)
            questions[i - 1].then = &questions[i];
        else
            hub_transport_submit(transport, &questions[i].fetch);
    }
    cr_assert_eq(hub_transport_drive(transport, &(struct hub_drive){0}, NULL), HUB_OK);
    for (int i = 0; i < COUNT; i++) {
        snprintf(path, sizeof path, "/%d", i);
        cr_expect_eq(questions[i].reported, 1, "%d", i);
        cr_expect_eq(questions[i].status, i == 7 ? HUB_NOT_FOUND : HUB_OK);
        cr_expect_str_eq(questions[i].got, i == 7 ? "" : path);
    }
    cr_expect_gt(atomic_load(&most_at_once), 4);
    cr_expect_leq(atomic_load(&most_at_once), HUB_MAX_CONNECTIONS);
    hub_transport_free(transport);
}

Test(transport, a_verdict_ends_the_drive)
{
    static struct question questions[40];
    const unsigned port = begin_server();
    struct hub_transport *transport = new_transport();
    for (size_t i = 0; i < HUB_COUNT(questions); i++) {
        prepare(&questions[i], transport, port, "/x");
        questions[i].verdict = HUB_CHANGED;
        hub_transport_submit(transport, &questions[i].fetch);
    }
    cr_assert_eq(hub_transport_drive(transport, &(struct hub_drive){0}, NULL), HUB_CHANGED);
    unsigned reported = 0;
    for (size_t i = 0; i < HUB_COUNT(questions); i++)
        reported += questions[i].reported;
    cr_expect_eq(reported, 1);
    cr_expect_eq(hub_transport_drive(transport, &(struct hub_drive){0}, NULL), HUB_OK); /* nothing is left */
    struct hub_error err = {0};
    struct hub_fetch lost = {.url = questions[0].url};
    prepare(&questions[0], transport, port, "/gone");
    cr_expect_eq(hub_transport_get(transport, &lost, &err), HUB_NOT_FOUND);
    cr_expect_eq(lost.answer.status, 404);
    hub_transport_free(transport);
}

Test(transport, who_awaits_is_told_of_the_end)
{
    static struct question questions[2 * HUB_MAX_CONNECTIONS]; /* under way, and not yet begun */
    const unsigned port = begin_server();
    struct hub_transport *transport = new_transport();
    unsigned answered = 0;
    for (size_t i = 0; i < HUB_COUNT(questions); i++) {
        prepare(&questions[i], transport, port, "/x");
        questions[i].verdict = HUB_CHANGED;
        questions[i].fetch.awaited = i % 2;
        hub_transport_submit(transport, &questions[i].fetch);
    }
    cr_assert_eq(hub_transport_drive(transport, &(struct hub_drive){0}, NULL), HUB_CHANGED);
    for (size_t i = 0; i < HUB_COUNT(questions); i++) {
        const bool ended = questions[i].reported && questions[i].status == HUB_OK;
        answered += ended;
        cr_expect_eq(questions[i].reported, ended || i % 2, "%zu", i);
        cr_expect(ended || !questions[i].reported || questions[i].status == HUB_CANCELLED, "%zu", i);
    }
    cr_expect_eq(answered, 1);
    hub_transport_free(transport);
}

static enum hub_status end_when_silent(void *transport, struct hub_error *err)
{
    return hub_transport_silent_ms(transport) < 400 ? HUB_OK : hub_fail(err, HUB_TIMEOUT, "silent");
}

Test(transport, a_drip_counts_as_silence)
{
    static struct question question;
    struct hub_transport *transport = new_transport();
    const struct hub_drive drive = {.tick = end_when_silent, .user = transport};
    const unsigned port = begin_server();
    prepare(&question, transport, port, "/drip");
    hub_transport_submit(transport, &question.fetch);
    cr_assert_eq(hub_transport_drive(transport, &drive, NULL), HUB_TIMEOUT);
    cr_expect(*question.got, "though bytes came");
    cr_expect_eq(hub_transport_silent_ms(transport), 0, "nobody waits for it now");
    prepare(&question, transport, port, "/x");
    hub_transport_submit(transport, &question.fetch);
    cr_assert_eq(hub_transport_drive(transport, &drive, NULL), HUB_OK);
    hub_transport_free(transport);
}

static void *drive_on(void *user)
{
    const struct hub_drive drive = {.stays = true};
    return (void *)(intptr_t)hub_transport_drive(user, &drive, NULL);
}

Test(transport, another_thread_drives)
{
    static struct question first, second;
    const unsigned port = begin_server();
    struct hub_transport *transport = new_transport();
    pthread_t thread;
    void *outcome;
    cr_assert_eq(pthread_create(&thread, NULL, drive_on, transport), 0);
    usleep(50000); /* it waits for work by now, or not: both are fine */
    prepare(&second, transport, port, "/2");
    second.verdict = HUB_CANCELLED;
    prepare(&first, transport, port, "/1");
    first.then = &second;
    hub_transport_submit(transport, &first.fetch);
    cr_assert_eq(pthread_join(thread, &outcome), 0);
    cr_expect_eq((intptr_t)outcome, HUB_CANCELLED);
    cr_expect_str_eq(first.got, "/1");
    cr_expect_str_eq(second.got, "/2");
    hub_transport_free(transport);
}
