/**
 * A fair queue: the requests of one client are first in, first out, and clients take turns, so that one with
 * many requests keeps the others waiting for one of them at most. A client is a number made of its address;
 * those whose numbers fall together share a turn. Every call takes the same short time and allocates nothing.
 * Not thread-safe.
 */
#ifndef HUB_HTTP_LANES_H
#define HUB_HTTP_LANES_H

#include "storage/base/error.h"

enum { HUB_LANES = 256 };

/** Embedded in what waits. */
struct hub_lane_item {
    struct hub_lane_item *next;
    uint32_t client;
};

struct hub_lane {
    struct hub_lane_item *first, **last;
    struct hub_lane *next; /* whose turn it is after this one */
};

struct hub_lanes {
    struct hub_lane lanes[HUB_LANES];
    struct hub_lane *turn, **end; /* the lanes that have something, in their order */
    unsigned used;                /* how many these are */
    unsigned count;               /* of items */
};

void hub_lanes_init(struct hub_lanes *lanes);
void hub_lanes_push(struct hub_lanes *lanes, struct hub_lane_item *item);
/** The item whose turn it is, or NULL. */
struct hub_lane_item *hub_lanes_first(const struct hub_lanes *lanes);
/** Take it out; the next one is another client's, if there is one. NULL: empty. */
struct hub_lane_item *hub_lanes_shift(struct hub_lanes *lanes);
/** Leave it where it is and go on to the next client. */
void hub_lanes_pass(struct hub_lanes *lanes);

#endif
