/** Quotas within a transaction; for drafts.c, commits.c and aliases.c. */
#ifndef HUB_TRUTH_QUOTA_CHECK_H
#define HUB_TRUTH_QUOTA_CHECK_H

#include "storage/truth/hubdb.h"

/** Whether a dataset keeps to all quotas, as the transaction has it by now. HUB_NO_SPACE "quota-exceeded"
 * names prefix, limit and what would be used. */
HUB_MUST_USE enum hub_status hub_quotas_check(const struct hub_truth *held, const char *dataset,
                                              struct hub_error *err);
/** The same of a draft's. */
HUB_MUST_USE enum hub_status hub_quotas_check_draft(const struct hub_truth *held, const char *draft,
                                                    struct hub_error *err);
/** The same of a dataset that got another id: prefixes that it was below before are not asked. */
HUB_MUST_USE enum hub_status hub_quotas_check_move(const struct hub_truth *held, const char *from,
                                                   const char *to, struct hub_error *err);
/** What a draft holds becomes what its dataset holds: when it is published. */
HUB_MUST_USE enum hub_status hub_holding_put(struct hub_db *db, const char *draft, struct hub_error *err);
/** What a dataset holds that no draft brought. `path` is below the root. */
HUB_MUST_USE enum hub_status hub_holding_set(const struct hub_truth *held, const char *dataset, uint32_t root,
                                             const char *path, uint64_t bytes, struct hub_error *err);

#endif
