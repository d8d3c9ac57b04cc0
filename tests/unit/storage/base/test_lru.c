/* The cache and the packed numbers. */
#include "storage/base/lru.h"
#include "storage/base/pack.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static int alive;

static void item_free(struct hub_lru_item *item)
{
    alive--;
    free(item);
}

static struct hub_lru_item *item_new(uint64_t key, size_t bytes)
{
    struct hub_lru_item *item = calloc(1, sizeof *item);
    item->key = (struct hub_lru_key){1, key, 0};
    item->bytes = bytes;
    item->free = item_free;
    alive++;
    return item;
}

static struct hub_lru_item *get(struct hub_lru *lru, uint64_t key)
{
    return hub_lru_get(lru, &(struct hub_lru_key){1, key, 0});
}

Test(lru, keeps_its_budget)
{
    struct hub_lru *lru;
    cr_assert_eq(hub_lru_new(1000, &lru, NULL), HUB_OK);
    for (uint64_t i = 0; i < 500; i++)
        hub_lru_put(hub_lru_add(lru, item_new(i, 100)));
    cr_expect_eq(alive, 10);
    struct hub_lru_item *item = get(lru, 499);
    cr_assert_not_null(item);
    hub_lru_put(item);
    cr_expect_null(get(lru, 0));
    hub_lru_free(lru);
    cr_expect_eq(alive, 0);
}

Test(lru, what_is_in_use_outlives_the_cache)
{
    struct hub_lru *lru;
    cr_assert_eq(hub_lru_new(100, &lru, NULL), HUB_OK);
    struct hub_lru_item *big = hub_lru_add(lru, item_new(1, 5000));
    hub_lru_put(get(lru, 1)); /* over the budget, but the newest */
    struct hub_lru_item *other = item_new(1, 10);
    cr_expect_eq(hub_lru_add(lru, other), big, "the first of two stays");
    hub_lru_put(big);
    hub_lru_drop(lru, &big->key);
    cr_expect_null(get(lru, 1));
    cr_expect_eq(alive, 1);
    hub_lru_free(lru);
    hub_lru_put(big);
    cr_expect_eq(alive, 0);
}

Test(lru, caches_share_a_room)
{
    struct hub_lru_room room = {.limit = 1000};
    struct hub_lru *a, *b;
    struct hub_lru_gauges g;
    cr_assert_eq(hub_lru_new(800, &a, NULL), HUB_OK);
    cr_assert_eq(hub_lru_new(800, &b, NULL), HUB_OK);
    hub_lru_enter(a, &room, "a");
    hub_lru_enter(b, &room, "b");
    for (uint64_t i = 0; i < 10; i++)
        hub_lru_put(hub_lru_add(a, item_new(i, 100)));
    cr_expect_eq(alive, 8, "as if it were alone");
    for (uint64_t i = 0; i < 5; i++)
        hub_lru_put(hub_lru_add(b, item_new(i, 100)));
    cr_expect_eq(alive, 10);
    cr_expect_null(get(a, 4), "what was not used for longest went, of whichever cache");
    hub_lru_put(get(a, 5));
    atomic_store(&room.limit, 150);
    hub_lru_room_fit(&room);
    cr_expect_eq(alive, 1);
    cr_assert(hub_lru_gauges(&room, 0, &g));
    cr_expect(strcmp(g.name, "a") == 0 && g.bytes == 100 && g.entries == 1 && g.hits == 1 && g.misses == 1);
    cr_assert(hub_lru_gauges(&room, 1, &g));
    cr_expect(strcmp(g.name, "b") == 0 && g.bytes == 0 && g.entries == 0);
    cr_expect(!hub_lru_gauges(&room, 2, &g));
    hub_lru_make_room(b, 60);
    cr_expect_eq(alive, 0, "room for what is about to be made");
    struct hub_lru_item *big = hub_lru_add(a, item_new(1, 200));
    cr_expect_null(get(a, 1), "more than all may hold is not kept");
    hub_lru_put(big);
    hub_lru_free(a);
    cr_expect(!hub_lru_gauges(&room, 0, &g));
    hub_lru_free(b);
    cr_expect_eq(alive, 0);
}

Test(lru, one_is_put_in_place_of_another)
{
    struct hub_lru *lru;
    cr_assert_eq(hub_lru_new(100, &lru, NULL), HUB_OK);
    struct hub_lru_item *items[4];
    for (size_t i = 0; i < HUB_COUNT(items); i++) {
        items[i] = item_new(i == 2 ? 7 : 1, i == 3 ? 101 : 50);
        atomic_init(&items[i]->refs, 1);
        hub_lru_replace(lru, items[i]);
    }
    cr_expect_eq(get(lru, 1), items[1]);
    hub_lru_put(items[1]);
    for (size_t i = 0; i < HUB_COUNT(items); i++)
        hub_lru_put(items[i]);
    cr_expect_eq(alive, 2, "the second and the third; the last is too large");
    hub_lru_free(lru);
    cr_expect_eq(alive, 0);
}

Test(pack, numbers_and_texts_come_back)
{
    static const int64_t numbers[] = {0, -1, 1, 63, -64, 64, INT64_MAX, INT64_MIN};
    struct hub_buf buf = HUB_BUF_INIT(1000);
    for (size_t i = 0; i < HUB_COUNT(numbers); i++) {
        cr_assert_eq(hub_pack_int(&buf, numbers[i], NULL), HUB_OK);
        cr_assert_eq(hub_pack_uint(&buf, (uint64_t)numbers[i], NULL), HUB_OK);
    }
    cr_assert_eq(hub_pack_text(&buf, "", NULL), HUB_OK);
    cr_assert_eq(hub_pack_option(&buf, NULL, NULL), HUB_OK);
    cr_assert_eq(hub_pack_option(&buf, "x/y", NULL), HUB_OK);
    char arena[16], *at = arena;
    struct hub_cursor c = hub_cursor_of(buf.data, buf.size);
    for (size_t i = 0; i < HUB_COUNT(numbers); i++) {
        cr_expect_eq(hub_unpack_int(&c), numbers[i]);
        cr_expect_eq(hub_unpack_uint(&c), (uint64_t)numbers[i]);
    }
    cr_expect_str_eq(hub_unpack_text(&c, &at), "");
    cr_expect_null(hub_unpack_option(&c, &at));
    cr_expect_str_eq(hub_unpack_option(&c, &at), "x/y");
    cr_expect(!c.failed && hub_cursor_left(&c) == 0);
    (void)hub_unpack_uint(&c);
    cr_expect(c.failed);
    hub_buf_dispose(&buf);
}

Test(pack, damage_fails)
{
    static const uint8_t endless[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01},
                         long_text[] = {200, 1, 'a'};
    struct hub_cursor c = hub_cursor_of(endless, sizeof endless);
    (void)hub_unpack_uint(&c);
    cr_expect(c.failed);
    c = hub_cursor_of(long_text, sizeof long_text);
    cr_expect_eq(hub_unpack_view(&c).size, 0);
    cr_expect(c.failed);
    c = hub_cursor_of(long_text, sizeof long_text);
    cr_expect_eq(hub_unpack_count(&c), 0);
    cr_expect(c.failed);
}

Test(lru, what_was_not_used_for_longest_goes_whatever_its_shard)
{
    struct hub_lru *lru;
    cr_assert_eq(hub_lru_new(100 * 100, &lru, NULL), HUB_OK);
    for (uint64_t i = 0; i < 2000; i++) {
        struct hub_lru_item *item = item_new(i, 100);
        hub_lru_make_room(lru, 100);
        hub_lru_put(hub_lru_add(lru, item));
        hub_lru_put(get(lru, 0));
    }
    unsigned kept = 0;
    struct hub_lru_item *used = get(lru, 0);
    cr_expect_not_null(used, "it was in use all the time");
    hub_lru_put(used);
    for (uint64_t i = 1901; i < 2000; i++) {
        struct hub_lru_item *item = get(lru, i);
        kept += item != NULL;
        hub_lru_put(item);
    }
    cr_expect_eq(kept, 99);
    hub_lru_free(lru);
    cr_expect_eq(alive, 0);
}

Test(lru, a_kind_is_forgotten_as_a_whole)
{
    struct hub_lru *lru;
    cr_assert_eq(hub_lru_new(100000, &lru, NULL), HUB_OK);
    for (uint64_t i = 0; i < 100; i++) {
        struct hub_lru_item *item = item_new(i, 100);
        item->key.kind = 1 + i % 2;
        hub_lru_put(hub_lru_add(lru, item));
    }
    struct hub_lru_item *held = hub_lru_get(lru, &(struct hub_lru_key){2, 1, 0});
    hub_lru_drop_kind(lru, 2);
    cr_expect(alive == 51);
    hub_lru_put(held);
    cr_expect_eq(alive, 50);
    hub_lru_drop_kind(lru, 2);
    hub_lru_free(lru);
    cr_expect_eq(alive, 0);
}
