/* The fair queue: see lanes.h. */
#include "server/http/lanes.h"

void hub_lanes_init(struct hub_lanes *lanes)
{
    *lanes = (struct hub_lanes){.turns.end = &lanes->turns.first, .behind.end = &lanes->behind.first};
    for (unsigned i = 0; i < HUB_COUNT(lanes->lanes); i++) {
        lanes->lanes[i].last = &lanes->lanes[i].first;
        lanes->lanes[i].proxied = i >= HUB_LANES;
    }
}

static void append(struct hub_lane_queue *queue, struct hub_lane *lane)
{
    lane->next = NULL;
    *queue->end = lane;
    queue->end = &lane->next;
}

static struct hub_lane *take_first(struct hub_lane_queue *queue)
{
    struct hub_lane *lane = queue->first;
    queue->first = lane->next;
    if (!queue->first)
        queue->end = &queue->first;
    return lane;
}

static void enlist(struct hub_lanes *lanes, struct hub_lane *lane)
{
    const bool waits = lane->proxied && lanes->taking_turns == HUB_LANES_BEHIND;
    append(waits ? &lanes->behind : &lanes->turns, lane);
    lanes->taking_turns += lane->proxied && !waits;
    lanes->used++;
}

static struct hub_lane *delist(struct hub_lanes *lanes)
{
    struct hub_lane *lane = take_first(&lanes->turns);
    lanes->used--;
    lanes->taking_turns -= lane->proxied;
    if (lane->proxied && lanes->behind.first) {
        append(&lanes->turns, take_first(&lanes->behind));
        lanes->taking_turns++;
    }
    return lane;
}

void hub_lanes_push(struct hub_lanes *lanes, struct hub_lane_item *item)
{
    struct hub_lane *lane = &lanes->lanes[hub_lane_of(item->client)];
    if (!lane->first)
        enlist(lanes, lane);
    item->next = NULL;
    *lane->last = item;
    lane->last = &item->next;
    lanes->count++;
}

struct hub_lane_item *hub_lanes_first(const struct hub_lanes *lanes)
{
    return lanes->turns.first ? lanes->turns.first->first : NULL;
}

struct hub_lane_item *hub_lanes_shift(struct hub_lanes *lanes)
{
    if (!lanes->turns.first)
        return NULL;
    struct hub_lane *lane = delist(lanes);
    struct hub_lane_item *item = lane->first;
    lane->first = item->next;
    lanes->count--;
    if (lane->first)
        enlist(lanes, lane);
    else
        lane->last = &lane->first;
    return item;
}

void hub_lanes_pass(struct hub_lanes *lanes)
{
    if (lanes->turns.first)
        enlist(lanes, delist(lanes));
}
