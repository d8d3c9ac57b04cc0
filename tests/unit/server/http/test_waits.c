#include "server/http/waits.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

static struct hub_file_fetch *running;

static enum hub_status fetch_never(const struct hub_fetch_source *source, struct hub_file_fetch *fetch,
                                   struct hub_error *err)
{
    (void)source;
    (void)err;
    running = fetch;
    return HUB_AGAIN;
}

static const struct hub_fetch_source source = {fetch_never};

struct waiter {
    struct hub_bytes_wait wait;
    int ended; /* 1: the bytes are there, 2: given up */
};

static void end(struct hub_bytes_wait *wait, bool there)
{
    ((struct waiter *)wait)->ended = there ? 1 : 2;
}

static struct hub_file_fetch *begin(void)
{
    struct hub_file *file = calloc(1, sizeof *file);
    struct hub_file_fetch *fetch;
    atomic_init(&file->item.refs, 1);
    file->fd = dup(0);
    file->source = &source;
    cr_assert_eq(hub_fetch_range(file, 0, 1, &fetch, NULL), HUB_AGAIN);
    hub_file_put(file);
    return fetch;
}

/* At the end of the server all end, whatever their time, and nobody waits any more. */
Test(waits, are_closed)
{
    struct hub_waits waits = {0};
    static atomic_bool gone;
    struct waiter w[2];
    struct hub_file_fetch *sources[2];
    hub_waits_init(&waits);
    for (int i = 0; i < 2; i++) {
        w[i] = (struct waiter){.wait = {.until_ms = INT64_MAX, .abandoned = &gone, .end = end}};
        w[i].wait.fetch = begin();
        sources[i] = running;
    }
    cr_assert(hub_waits_add(&waits, &w[0].wait));
    hub_waits_close(&waits);
    cr_expect_eq(w[0].ended, 2);
    cr_expect_not(hub_waits_add(&waits, &w[1].wait));
    cr_expect_eq(w[1].ended, 0);
    for (int i = 0; i < 2; i++) {
        hub_fetch_done(sources[i], HUB_OK);
        hub_fetch_put(w[i].wait.fetch);
    }
    hub_waits_dispose(&waits);
}

Test(waits, end_once)
{
    struct hub_waits waits = {0};
    static atomic_bool gone;
    struct waiter w[4];
    struct hub_file_fetch *sources[4];
    hub_waits_init(&waits);
    for (int i = 0; i < 4; i++) {
        w[i] = (struct waiter){.wait = {.until_ms = 1000 * (i + 1), .abandoned = &gone, .end = end}};
        w[i].wait.fetch = begin();
        sources[i] = running;
        cr_assert(hub_waits_add(&waits, &w[i].wait));
    }
    hub_fetch_done(sources[1], HUB_OK);
    cr_expect_eq(w[1].ended, 1);
    hub_waits_expire(&waits, 1000);
    cr_expect(w[0].ended == 2 && !w[2].ended && !w[3].ended);
    hub_fetch_done(sources[2], HUB_IO);
    cr_expect_eq(w[2].ended, 1, "how it ended its owner asks the fetch");
    atomic_store(&gone, true);
    hub_waits_expire(&waits, 0);
    cr_expect_eq(w[3].ended, 2, "its client is gone");
    cr_expect_null(waits.first);
    hub_fetch_done(sources[0], HUB_OK);
    hub_fetch_done(sources[3], HUB_OK);
    cr_expect(w[0].ended == 2 && w[3].ended == 2);
    for (int i = 0; i < 4; i++)
        hub_fetch_put(w[i].wait.fetch);
    hub_waits_dispose(&waits);
}

Test(waits, there_may_be_nothing_to_wait_for)
{
    struct hub_waits waits = {0};
    static atomic_bool gone;
    struct waiter w = {.wait = {.until_ms = 1000, .abandoned = &gone, .end = end}};
    hub_waits_init(&waits);
    w.wait.fetch = begin();
    atomic_store(&gone, true);
    cr_expect_not(hub_waits_add(&waits, &w.wait));
    atomic_store(&gone, false);
    hub_fetch_done(running, HUB_OK);
    cr_expect_not(hub_waits_add(&waits, &w.wait));
    cr_expect_null(waits.first);
    cr_expect_eq(w.ended, 0);
    hub_fetch_put(w.wait.fetch);
    hub_waits_dispose(&waits);
}
