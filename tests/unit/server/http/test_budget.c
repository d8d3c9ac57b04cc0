#include "server/http/budget.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static const atomic_bool here = false;

struct waiter {
    struct hub_budget_wait wait;
    int ended; /* 1: granted, 2: given up */
    int order;
};

static int order;

static void end(struct hub_budget_wait *wait, bool granted)
{
    struct waiter *w = (struct waiter *)wait;
    w->ended = granted ? 1 : 2;
    w->order = ++order;
}

static struct waiter waiter_of(uint32_t client, uint64_t bytes)
{
    return (struct waiter){
        .wait = {.item.client = client, .bytes = bytes, .until_ms = 5000, .abandoned = &here, .end = end}};
}

Test(budget, what_is_not_there_is_wanted)
{
    struct hub_budget *budget = hub_budget_new(100);
    struct hub_request a = {.client = 1}, b = {.client = 2};
    struct hub_response ra, rb;
    struct hub_error err = {0};
    hub_response_init(&ra);
    hub_response_init(&rb);
    cr_assert_eq(hub_budget_take(budget, &a, &ra, 60, &err), HUB_OK);
    cr_assert_eq(hub_budget_take(budget, &b, &rb, 60, &err), HUB_AGAIN);
    cr_assert_eq(b.wait.memory, 60);
    cr_assert_eq(hub_budget_take(budget, &b, &rb, 101, &err), HUB_TOO_BIG, "more than there will ever be");
    cr_assert_not(hub_budget_try(budget, 2, 41));
    cr_assert(hub_budget_try(budget, 2, 40));
    hub_budget_give(budget, 2, 40);
    hub_response_dispose(&ra);
    cr_assert_eq(hub_budget_take(budget, &a, &ra, 10, &err), HUB_OK);
    cr_assert_eq(hub_budget_take(budget, &b, &rb, 60, &err), HUB_OK);
    cr_assert_eq(hub_budget_take(budget, &b, &rb, 31, &err), HUB_AGAIN);
    cr_assert_eq(b.wait.memory, 91, "all of it at once, as what it has is given back meanwhile");
    cr_assert_eq(hub_budget_take(budget, &b, &rb, 30, &err), HUB_OK, "one large answer is its right");
    uint64_t total = 0;
    cr_assert_eq(hub_budget_used(budget, &total), 100);
    hub_response_dispose(&ra);
    cr_assert_eq(total, 100);
    hub_response_dispose(&rb);
    hub_budget_free(budget);
}

Test(budget, what_was_granted_is_taken_first)
{
    struct hub_budget *budget = hub_budget_new(100);
    struct hub_request request = {.client = 1, .granted = 100};
    struct hub_response response;
    uint64_t total;
    hub_response_init(&response);
    cr_assert(hub_budget_try(budget, 1, 100));
    cr_assert_eq(hub_budget_take(budget, &request, &response, 70, NULL), HUB_OK);
    cr_assert_eq(hub_budget_take(budget, &request, &response, 30, NULL), HUB_OK);
    cr_assert_eq(request.granted, 0);
    hub_response_dispose(&response);
    cr_assert_eq(hub_budget_used(budget, &total), 0);
    hub_budget_free(budget);
}

Test(budget, a_large_wait_is_not_overtaken)
{
    struct hub_budget *budget = hub_budget_new(100);
    struct waiter large = waiter_of(1, 90), small = waiter_of(2, 10);
    order = 0;
    cr_assert(hub_budget_try(budget, 3, 50));
    cr_assert(hub_budget_wait(budget, &large.wait));
    cr_assert(hub_budget_wait(budget, &small.wait));
    cr_assert_eq(small.ended, 0, "there is room for it, but the large one came first");
    cr_assert_not(hub_budget_try(budget, 4, 1));
    hub_budget_give(budget, 3, 50);
    cr_assert(large.ended == 1 && small.ended == 1 && large.order < small.order);
    hub_budget_give(budget, 1, 90);
    hub_budget_give(budget, 2, 10);
    cr_assert(hub_budget_try(budget, 4, 100));
    hub_budget_free(budget);
}

Test(budget, a_client_with_slow_readers_leaves_room_for_others)
{
    struct hub_budget *budget = hub_budget_new(100);
    struct waiter more = waiter_of(1, 20), other = waiter_of(2, 20);
    for (int i = 0; i < 15; i++)
        cr_assert(hub_budget_try(budget, 1, 5));
    cr_assert_not(hub_budget_try(budget, 1, 5), "three quarters are his");
    cr_assert(hub_budget_wait(budget, &more.wait));
    cr_assert(hub_budget_wait(budget, &other.wait));
    cr_assert(!more.ended && other.ended == 1, "he waits for himself, others pass");
    cr_assert(hub_budget_try(budget, 3, 5));
    hub_budget_give(budget, 1, 45);
    cr_assert_eq(more.ended, 1);
    hub_budget_free(budget);
}

/* Each with an address of its own that the proxy was given by whoever asks. */
Test(budget, clients_behind_a_proxy_leave_room_for_others)
{
    struct hub_budget *budget = hub_budget_new(100);
    struct waiter more = waiter_of(HUB_LANE_PROXIED | 99, 20), other = waiter_of(2, 20);
    for (uint32_t i = 0; i < 15; i++)
        cr_assert(hub_budget_try(budget, HUB_LANE_PROXIED | i, 5));
    cr_assert_not(hub_budget_try(budget, HUB_LANE_PROXIED | 77, 5), "three quarters are theirs together");
    cr_assert(hub_budget_wait(budget, &more.wait));
    cr_assert(hub_budget_wait(budget, &other.wait));
    cr_assert(!more.ended && other.ended == 1, "they wait for each other, others pass");
    cr_assert(hub_budget_try(budget, 0, 5), "it is another client than the first of those behind");
    for (uint32_t i = 0; i < 15; i++)
        hub_budget_give(budget, HUB_LANE_PROXIED | i, 5);
    cr_assert_eq(more.ended, 1);
    hub_budget_give(budget, HUB_LANE_PROXIED | 99, 20);
    hub_budget_give(budget, 2, 20);
    hub_budget_give(budget, 0, 5);
    cr_assert(hub_budget_try(budget, HUB_LANE_PROXIED | 1, 100), "one large answer is anybody's right");
    hub_budget_free(budget);
}

Test(budget, waits_end)
{
    struct hub_budget *budget = hub_budget_new(100);
    atomic_bool gone = false;
    struct waiter first = waiter_of(1, 90), leaving = waiter_of(2, 90), last = waiter_of(1, 10);
    leaving.wait.abandoned = &gone;
    last.wait.until_ms = 9000;
    cr_assert(hub_budget_try(budget, 3, 50));
    cr_assert(hub_budget_wait(budget, &first.wait));
    cr_assert(hub_budget_wait(budget, &leaving.wait));
    cr_assert(hub_budget_wait(budget, &last.wait));
    cr_assert(hub_budget_expire(budget, 4999));
    cr_assert(!first.ended && !leaving.ended);
    atomic_store(&gone, true);
    cr_assert(hub_budget_expire(budget, 4999));
    cr_assert(!first.ended && leaving.ended == 2, "its client is gone");
    cr_assert_not(hub_budget_wait(budget, &leaving.wait), "who is gone does not wait");
    cr_assert_not(hub_budget_expire(budget, 5000));
    cr_assert(first.ended == 2 && last.ended == 1, "nothing of the one that gave up is left");
    hub_budget_give(budget, 1, 10);
    hub_budget_give(budget, 3, 50);
    hub_budget_free(budget);
}

Test(budget, an_answer_holds_what_is_sent)
{
    struct hub_budget *budget = hub_budget_new(10 * MIB);
    struct hub_request request = {.client = 1};
    struct hub_response response;
    uint64_t total;
    hub_response_init(&response);
    cr_assert_eq(hub_budget_take(budget, &request, &response, 5 * MIB, NULL), HUB_OK);
    struct hub_buf *out = hub_response_buffer(&response, 200, "text/plain", 2 * MIB);
    cr_assert_eq(hub_buf_reserve(out, 2 * MIB, NULL), HUB_OK);
    out->size = MIB;
    hub_response_charge(&response, budget, 1);
    cr_assert_eq(hub_budget_used(budget, &total), MIB + 1);
    hub_response_dispose(&response);
    out = hub_response_buffer(&response, 200, "text/plain", 20 * MIB);
    cr_assert_eq(hub_buf_reserve(out, 20 * MIB, NULL), HUB_OK);
    out->size = 20 * MIB;
    hub_response_charge(&response, budget, 1);
    cr_assert_eq(hub_budget_used(budget, &total), 20 * MIB + 1, "what nobody reserved counts too");
    cr_assert_not(hub_budget_try(budget, 2, 1));
    hub_response_dispose(&response);
    cr_assert_eq(hub_budget_used(budget, &total), 0);
    hub_budget_free(budget);
}

Test(budget, what_is_made_as_it_is_sent_keeps_its_memory)
{
    struct hub_budget *budget = hub_budget_new(10 * MIB);
    struct hub_request request = {.client = 1};
    struct hub_response response;
    uint64_t total;
    hub_response_init(&response);
    cr_assert_eq(hub_budget_take(budget, &request, &response, 2 * MIB, NULL), HUB_OK);
    const uint64_t before = response.reserved;
    cr_assert_eq(hub_budget_take(budget, &request, &response, 5 * MIB, NULL), HUB_OK);
    hub_response_release(&response, before);
    cr_assert_eq(hub_budget_used(budget, &total), 2 * MIB);
    response.kind = HUB_BODY_STREAM;
    hub_response_charge(&response, budget, 1);
    cr_assert_eq(hub_budget_used(budget, &total), 2 * MIB);
    response.kind = HUB_BODY_NONE;
    hub_response_dispose(&response);
    cr_assert_eq(hub_budget_used(budget, &total), 0);
    hub_budget_free(budget);
}

Test(budget, a_metered_buffer_grows_by_what_is_there)
{
    struct hub_budget *budget = hub_budget_new(MIB);
    struct hub_request request = {.client = 1};
    struct hub_response response;
    struct hub_error err = {0};
    static char text[64 * KIB];
    uint64_t total, held = 0;
    hub_response_init(&response);
    hub_response_meter(&response, budget, &request);
    struct hub_buf *out = hub_response_buffer(&response, 200, "text/plain", 64 * MIB);
    cr_assert_eq(hub_buf_add(out, text, KIB, &err), HUB_OK);
    cr_assert_eq(hub_budget_used(budget, &total), 0, "a small answer costs nothing");
    enum hub_status st;
    while (!(st = hub_buf_add(out, text, sizeof text, &err))) {
        held = out->capacity;
        cr_assert_eq(hub_budget_used(budget, &total), held);
    }
    cr_assert_eq(st, HUB_TOO_BIG, "more than there will ever be");
    cr_assert_eq(out->capacity, held, "it is as it was");
    hub_response_dispose(&response);
    cr_assert_eq(hub_budget_used(budget, &total), 0);

    hub_response_meter(&response, budget, &request);
    out = hub_response_buffer(&response, 200, "text/plain", 64 * MIB);
    cr_assert(hub_budget_try(budget, 2, total - 100 * KIB));
    cr_assert_eq(hub_buf_add(out, text, sizeof text, &err), HUB_OK);
    cr_assert_eq(hub_buf_add(out, text, sizeof text, &err), HUB_AGAIN);
    cr_assert_geq(request.wait.memory, 2 * sizeof text, "all of it, for it begins anew");
    hub_response_dispose(&response);
    hub_budget_give(budget, 2, total - 100 * KIB);
    cr_assert_eq(hub_budget_used(budget, &total), 0);
    hub_budget_free(budget);
}

Test(budget, who_reserved_before_is_not_metered)
{
    struct hub_budget *budget = hub_budget_new(MIB);
    struct hub_request request = {.client = 1};
    struct hub_response response;
    static char text[512 * KIB];
    uint64_t total;
    hub_response_init(&response);
    hub_response_meter(&response, budget, &request);
    cr_assert_eq(hub_budget_take(budget, &request, &response, 600 * KIB, NULL), HUB_OK);
    struct hub_buf *out = hub_response_buffer(&response, 200, "text/plain", MIB);
    cr_assert_eq(hub_buf_add(out, text, sizeof text, NULL), HUB_OK);
    cr_assert_eq(hub_budget_used(budget, &total), 600 * KIB);
    hub_response_dispose(&response);
    hub_budget_free(budget);
}

static void item_free(struct hub_lru_item *item)
{
    free(item);
}

static size_t cached_bytes(const struct hub_lru_room *room)
{
    struct hub_lru_gauges g;
    cr_assert(hub_lru_gauges(room, 0, &g));
    return g.bytes;
}

static void cache_one(struct hub_lru *lru, uint64_t key)
{
    struct hub_lru_item *item = calloc(1, sizeof *item);
    *item = (struct hub_lru_item){.key = {1, key, 0}, .bytes = MIB, .free = item_free};
    hub_lru_put(hub_lru_add(lru, item));
}

Test(budget, caches_hold_what_requests_leave)
{
    struct hub_budget *budget = hub_budget_new(10 * MIB);
    struct hub_lru_room room = {0};
    struct hub_lru *lru;
    cr_assert_eq(hub_lru_new(100 * MIB, &lru, NULL), HUB_OK);
    hub_budget_share(budget, &room);
    hub_lru_enter(lru, &room, "test");
    for (uint64_t i = 0; i < 20; i++)
        cache_one(lru, i);
    cr_expect_eq(cached_bytes(&room), 10 * MIB);
    cr_assert(hub_budget_try(budget, 1, 7 * MIB), "requests come first");
    cr_expect_eq(cached_bytes(&room), 3 * MIB);
    cache_one(lru, 20);
    cr_expect_eq(cached_bytes(&room), 3 * MIB);
    hub_budget_charge(budget, 1, 5 * MIB);
    hub_budget_give(budget, 1, 2 * MIB);
    cr_assert_not(hub_budget_try(budget, 1, MIB));
    hub_budget_give(budget, 1, 6 * MIB);
    cr_assert(hub_budget_try(budget, 2, 5 * MIB));
    cr_expect_eq(cached_bytes(&room), MIB);
    hub_budget_give(budget, 1, 4 * MIB);
    hub_budget_give(budget, 2, 5 * MIB);
    cache_one(lru, 21);
    cr_expect_eq(cached_bytes(&room), 2 * MIB, "and have again what is given back");
    hub_lru_free(lru);
    hub_budget_free(budget);
}
