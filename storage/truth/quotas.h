/**
 * What datasets that came by drafts may hold below a prefix of their ids: those that are published, as far as
 * they are still there, and what is stated of open drafts. Safe from any thread.
 */
#ifndef HUB_TRUTH_QUOTAS_H
#define HUB_TRUTH_QUOTAS_H

#include "storage/truth/truth.h"

struct hub_quota {
    const char *prefix; /* "lab/"; "": all ids */
    uint64_t bytes;
};
struct hub_quotas {
    const struct hub_quota *items;
    uint32_t count;
};

/** From now on drafts keep to these. Borrowed; before other threads use `truth`. */
void hub_truth_set_quotas(struct hub_truth *truth, const struct hub_quotas *quotas);

typedef enum hub_status (*hub_quota_each)(void *user, const struct hub_quota *quota, uint64_t used,
                                          struct hub_error *err);
/** All that are set, in their order, with the bytes that are used. */
HUB_MUST_USE enum hub_status hub_quotas_each(struct hub_truth *truth, hub_quota_each each, void *user,
                                             struct hub_error *err);
/** Look on the disks which datasets are still there: others may have removed some. `changed`: some went, or
 * are back. Blocking. */
HUB_MUST_USE enum hub_status hub_holdings_look(struct hub_truth *truth, bool *changed, struct hub_error *err);

#endif
