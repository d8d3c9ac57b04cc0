#include "server/http/lanes.h"

#include <criterion/criterion.h>

Test(lanes, clients_take_turns)
{
    static struct hub_lanes lanes;
    struct hub_lane_item many[100] = {0}, one = {.client = 2}, other = {.client = 3};
    hub_lanes_init(&lanes);
    cr_assert_null(hub_lanes_first(&lanes));
    cr_assert_null(hub_lanes_shift(&lanes));
    for (int i = 0; i < 100; i++) {
        many[i].client = 1;
        hub_lanes_push(&lanes, &many[i]);
    }
    hub_lanes_push(&lanes, &one);
    hub_lanes_push(&lanes, &other);
    cr_assert(lanes.count == 102 && lanes.used == 3);
    cr_assert_eq(hub_lanes_first(&lanes), &many[0]);
    cr_assert_eq(hub_lanes_shift(&lanes), &many[0]);
    cr_assert_eq(hub_lanes_shift(&lanes), &one);
    cr_assert_eq(hub_lanes_shift(&lanes), &other);
    for (int i = 1; i < 100; i++)
        cr_assert_eq(hub_lanes_shift(&lanes), &many[i], "one client's are first in, first out");
    cr_assert_null(hub_lanes_shift(&lanes));
    cr_assert(lanes.count == 0 && lanes.used == 0);
}

Test(lanes, a_turn_can_be_passed_on)
{
    static struct hub_lanes lanes;
    struct hub_lane_item a = {.client = 7}, b = {.client = 8}, later = {.client = 7};
    hub_lanes_init(&lanes);
    hub_lanes_pass(&lanes);
    hub_lanes_push(&lanes, &a);
    hub_lanes_push(&lanes, &b);
    hub_lanes_push(&lanes, &later);
    hub_lanes_pass(&lanes);
    cr_assert_eq(hub_lanes_shift(&lanes), &b);
    cr_assert_eq(hub_lanes_shift(&lanes), &a);
    hub_lanes_push(&lanes, &b);
    cr_assert_eq(hub_lanes_shift(&lanes), &later);
    cr_assert_eq(hub_lanes_shift(&lanes), &b);
}

Test(lanes, numbers_that_fall_together_share_a_turn)
{
    static struct hub_lanes lanes;
    struct hub_lane_item a = {.client = 5}, same = {.client = 5 + HUB_LANES}, other = {.client = 6};
    hub_lanes_init(&lanes);
    hub_lanes_push(&lanes, &a);
    hub_lanes_push(&lanes, &same);
    hub_lanes_push(&lanes, &other);
    cr_assert_eq(hub_lanes_shift(&lanes), &a);
    cr_assert_eq(hub_lanes_shift(&lanes), &other);
    cr_assert_eq(hub_lanes_shift(&lanes), &same);
}

/* However many clients a proxy reports, another peer waits for a few of them. */
Test(lanes, clients_behind_a_proxy_have_a_ceiling_together)
{
    static struct hub_lanes lanes;
    struct hub_lane_item reported[60] = {0}, own[4] = {0};
    unsigned turns = 0, served = 0;
    hub_lanes_init(&lanes);
    for (unsigned i = 0; i < HUB_COUNT(reported); i++) {
        reported[i] = (struct hub_lane_item){.client = HUB_LANE_PROXIED | i % 30};
        hub_lanes_push(&lanes, &reported[i]);
    }
    for (unsigned i = 0; i < HUB_COUNT(own); i++) {
        own[i].client = 7; /* a number that one of them has, too */
        hub_lanes_push(&lanes, &own[i]);
    }
    for (unsigned i = 0; i < HUB_COUNT(own); turns++) {
        struct hub_lane_item *item = hub_lanes_shift(&lanes);
        if (item == &own[i])
            i++;
        else
            cr_assert_eq(item, &reported[served++], "they take turns in the order they came");
    }
    cr_expect_leq(turns, HUB_COUNT(own) * (HUB_LANES_BEHIND + 1));
    for (; served < HUB_COUNT(reported); served++)
        cr_assert_eq(hub_lanes_shift(&lanes), &reported[served]);
    cr_assert_null(hub_lanes_shift(&lanes));
    cr_assert(lanes.count == 0 && lanes.used == 0 && lanes.taking_turns == 0);
}
