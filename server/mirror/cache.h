/**
 * Pulled datasets are a cache: it stays within --cache-max and --min-free, and the least recently read ones
 * go first. A dataset stays while a request reads it, and counts as read at the end of that; the cache may
 * be over its bounds until then. What a mirror's rule keeps, what people put here and what its upstream no
 * longer has is never removed. A copy that is no longer what the upstream has is fetched again once somebody
 * reads it; the old one answers until then.
 */
#ifndef HUB_MIRROR_CACHE_H
#define HUB_MIRROR_CACHE_H

#include "storage/base/error.h"

struct hub_mirrors;

/** From time to time, by one thread: at once where it is not due. Reads that were noted in memory are
 * written down. */
void hub_cache_maintain(struct hub_mirrors *mirrors);
/** The same now, of reads alone: the program ends. */
void hub_cache_flush(struct hub_mirrors *mirrors);
/** Room for so many bytes more of a dataset below a root. HUB_NO_SPACE "no-space": it is larger than the
 * cache may be. */
HUB_MUST_USE enum hub_status hub_cache_make_room(struct hub_mirrors *mirrors, const char *id, uint64_t bytes,
                                                 struct hub_error *err);

#endif
