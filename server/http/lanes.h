/**
 * A fair queue: the requests of one client are first in, first out, and clients take turns, so that one with
 * many requests keeps the others waiting for one of them at most. A client is a number made of its address;
 * those whose numbers fall together share a turn. Clients that a proxy reports take turns among themselves,
 * and have as many together as HUB_LANES_BEHIND others: the proxy may pass on an address that its client
 * invented. Every call takes the same short time and allocates nothing. Not thread-safe.
 */
#ifndef HUB_HTTP_LANES_H
#define HUB_HTTP_LANES_H

#include "storage/base/error.h"

enum { HUB_LANES = 256, HUB_LANES_BEHIND = 4 };
/** Of a client's number: it is made of the address that a proxy reports. */
#define HUB_LANE_PROXIED (UINT32_C(1) << 31)

/** Where a client stands among 2 * HUB_LANES: peers come first, then clients behind proxies. */
static inline unsigned hub_lane_of(uint32_t client)
{
    return client % HUB_LANES + (client & HUB_LANE_PROXIED ? HUB_LANES : 0);
}

/** Embedded in what waits. */
struct hub_lane_item {
    struct hub_lane_item *next;
    uint32_t client;
};

struct hub_lane {
    struct hub_lane_item *first, **last;
    struct hub_lane *next; /* the lane that is served after this one */
    bool proxied;
};

struct hub_lane_queue {
    struct hub_lane *first, **end;
};

struct hub_lanes {
    struct hub_lane lanes[2 * HUB_LANES]; /* of peers, and of clients behind proxies */
    struct hub_lane_queue turns;          /* the lanes that have something, in their order ... */
    struct hub_lane_queue behind; /* ... and of those behind proxies the ones that are not among them yet */
    unsigned taking_turns;        /* of those behind proxies */
    unsigned used;                /* lanes that have something */
    unsigned count;               /* of items */
};

void hub_lanes_init(struct hub_lanes *lanes);
void hub_lanes_push(struct hub_lanes *lanes, struct hub_lane_item *item);
/** The item whose turn it is, or NULL. */
struct hub_lane_item *hub_lanes_first(const struct hub_lanes *lanes);
/** Take it out; the next one is another client's, if there is one. NULL: empty. */
struct hub_lane_item *hub_lanes_shift(struct hub_lanes *lanes);
/** Leave it where it is and go on to the next client; where none is behind a proxy, to each within `used`
 * calls. */
void hub_lanes_pass(struct hub_lanes *lanes);

#endif
