/** How a root looked when it was seen last, in hub.db: what presence.h judges by. */
#ifndef HUB_TRUTH_SEEN_H
#define HUB_TRUTH_SEEN_H

#include "storage/truth/truth.h"

struct hub_root_seen {
    bool known;
    uint64_t datasets;
    int64_t device;
    bool marked; /* the hub's own folder was in it */
};

/** Of a root that was never seen `known` is false. */
HUB_MUST_USE enum hub_status hub_seen_get(struct hub_truth *truth, uint32_t root, struct hub_root_seen *out,
                                          struct hub_error *err);
HUB_MUST_USE enum hub_status hub_seen_put(struct hub_truth *truth, uint32_t root,
                                          const struct hub_root_seen *seen, struct hub_error *err);

#endif
