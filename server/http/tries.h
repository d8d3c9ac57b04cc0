/**
 * How often an address has sent a token that is not good, in windows of time. A guesser is slowed down; a
 * valid token is never refused. Safe from any thread; a lock is taken for a failure alone.
 */
#ifndef HUB_HTTP_TRIES_H
#define HUB_HTTP_TRIES_H

#include "storage/text/network.h"

struct hub_tries_options {
    uint32_t most;      /* failures in one window; 0: any number */
    uint32_t window_ms; /* from the first failure on */
};
struct hub_tries;
HUB_MUST_USE enum hub_status hub_tries_new(const struct hub_tries_options *options, struct hub_tries **out,
                                           struct hub_error *err);
/** NULL is fine. */
void hub_tries_free(struct hub_tries *tries);

/** Count a failure of an address, or of its /64 network where it is IPv6, at hub_time_mono_ms.
 * @return 0, or the seconds until the next try where there were too many */
unsigned hub_tries_fail(struct hub_tries *tries, const struct hub_address *address, int64_t now_ms);

#endif
