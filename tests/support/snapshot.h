/** For tests that look at the newest snapshot again and again: each thread holds one. */
#ifndef HUB_TESTS_SNAPSHOT_H
#define HUB_TESTS_SNAPSHOT_H

#include "storage/catalog/catalog.h"

/** The current snapshot: it and its summaries live until this thread's next call. */
static inline const struct hub_snapshot *snapshot_now(struct hub_catalog *catalog)
{
    static _Thread_local const struct hub_snapshot *held;
    const struct hub_snapshot *before = held;
    held = hub_catalog_snapshot(catalog);
    hub_snapshot_put(before);
    return held;
}

#endif
