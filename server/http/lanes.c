/* The fair queue: see lanes.h. */
#include "server/http/lanes.h"

void hub_lanes_init(struct hub_lanes *lanes)
{
    *lanes = (struct hub_lanes){.end = &lanes->turn};
    for (unsigned i = 0; i < HUB_LANES; i++)
        lanes->lanes[i].last = &lanes->lanes[i].first;
}

static void enlist(struct hub_lanes *lanes, struct hub_lane *lane)
{
    lane->next = NULL;
    *lanes->end = lane;
    lanes->end = &lane->next;
    lanes->used++;
}

static struct hub_lane *delist(struct hub_lanes *lanes)
{
    struct hub_lane *lane = lanes->turn;
    lanes->turn = lane->next;
    if (!lanes->turn)
        lanes->end = &lanes->turn;
    lanes->used--;
    return lane;
}

void hub_lanes_push(struct hub_lanes *lanes, struct hub_lane_item *item)
{
    struct hub_lane *lane = &lanes->lanes[item->client % HUB_LANES];
    if (!lane->first)
        enlist(lanes, lane);
    item->next = NULL;
    *lane->last = item;
    lane->last = &item->next;
    lanes->count++;
}

struct hub_lane_item *hub_lanes_first(const struct hub_lanes *lanes)
{
    return lanes->turn ? lanes->turn->first : NULL;
}

struct hub_lane_item *hub_lanes_shift(struct hub_lanes *lanes)
{
    if (!lanes->turn)
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
    if (lanes->turn)
        enlist(lanes, delist(lanes));
}
