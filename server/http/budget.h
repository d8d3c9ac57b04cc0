/**
 * What the HTTP floor itself asks of the memory budget, besides http.h. Requests that find no room wait
 * outside of any thread: in the order they came, client by client, for a few seconds. The last quarter is for
 * clients that hold less than half of all, so that one with slow readers leaves room for others. Clients that
 * proxies report leave it together for those that come without one, as their addresses may be invented.
 */
#ifndef HUB_HTTP_BUDGET_H
#define HUB_HTTP_BUDGET_H

#include "server/http/http.h"
#include "server/http/lanes.h"
#include "storage/base/lru.h"

/** A request that waits for memory; embedded in its owner. */
struct hub_budget_wait {
    struct hub_lane_item item; /* first; `client` is the owner's to set */
    uint64_t bytes;
    int64_t until_ms;
    const atomic_bool *abandoned;                            /* nobody waits for the answer */
    void (*end)(struct hub_budget_wait *wait, bool granted); /* once, on any thread */
    struct hub_budget_wait *next;                            /* the budget's own */
};

/** Wait for wait->bytes. False: too many wait, or it was abandoned; nothing happens then. */
HUB_MUST_USE bool hub_budget_wait(struct hub_budget *budget, struct hub_budget_wait *wait);
/** End the waits whose time is over or that were abandoned. True: somebody still waits. */
bool hub_budget_expire(struct hub_budget *budget, int64_t now_ms);

/** Caches hold what requests leave: they give way when a request takes memory, before it has it. The room is
 * borrowed. Before the first request. */
void hub_budget_share(struct hub_budget *budget, struct hub_lru_room *caches);

/** The client of what many share. */
#define HUB_BUDGET_SHARED 0

/** Does any request wait for memory? */
bool hub_budget_awaited(struct hub_budget *budget);
/** Take without waiting. */
HUB_MUST_USE bool hub_budget_try(struct hub_budget *budget, uint32_t client, uint64_t bytes);
/** Take what is there already, be there room for it or not. Caches give way when memory is taken next. */
void hub_budget_charge(struct hub_budget *budget, uint32_t client, uint64_t bytes);
uint64_t hub_budget_used(struct hub_budget *budget, uint64_t *total);

/** Meter what the handler writes: before it runs. */
void hub_response_meter(struct hub_response *response, struct hub_budget *budget,
                        struct hub_request *request);
/** The answer is made: what its making took is given back, what it holds until it is sent is reserved. One
 * that is made as it is sent keeps all. */
void hub_response_charge(struct hub_response *response, struct hub_budget *budget, uint32_t client);

#endif
