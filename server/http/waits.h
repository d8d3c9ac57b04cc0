/**
 * Requests and streams that wait for bytes which a store fetches, outside of any thread: until these are
 * there, but only for a few seconds, and not once nobody waits for the answer. Safe from any thread.
 */
#ifndef HUB_HTTP_WAITS_H
#define HUB_HTTP_WAITS_H

#include "storage/io/fetch.h"

#include <pthread.h>

/** Embedded in its owner. */
struct hub_bytes_wait {
    struct hub_file_fetch *fetch; /* counted: the owner holds one reference */
    int64_t until_ms;
    const atomic_bool *abandoned;                         /* nobody waits for the answer */
    void (*end)(struct hub_bytes_wait *wait, bool there); /* once, on any thread; false: waited long enough */
    /* inside */
    struct hub_waits *list;
    struct hub_bytes_wait *previous, *next;
};

struct hub_waits {
    pthread_mutex_t lock;
    bool closed;
    struct hub_bytes_wait *first;
};

void hub_waits_init(struct hub_waits *waits);
/** False: there is nothing to wait for, as the fetch is done, nobody would get the answer, or nobody waits
 * any more; `end` is not called. */
HUB_MUST_USE bool hub_waits_add(struct hub_waits *waits, struct hub_bytes_wait *wait);
/** End those whose time is over or that were abandoned. */
void hub_waits_expire(struct hub_waits *waits, int64_t now_ms);
/** End all, and let nobody wait from now on. */
void hub_waits_close(struct hub_waits *waits);
void hub_waits_dispose(struct hub_waits *waits);

#endif
