/** What the hub's state says of datasets that are pushed: quotas, which name prefixes of ids and so are for
 * who may watch, and the hook that hears of them. */
#ifndef HUB_API_OPERATIONS_PUSHES_H
#define HUB_API_OPERATIONS_PUSHES_H

#include "server/api/app.h"
#include "storage/text/json.h"

/** The member "quotas". Blocking: it looks which datasets are still there. */
HUB_MUST_USE enum hub_status hub_quotas_put(struct hub_json *json, struct hub_truth *truth, bool names,
                                            struct hub_error *err);
/** The same as metrics; nothing without a quota. */
HUB_MUST_USE enum hub_status hub_quota_metrics(struct hub_truth *truth, struct hub_buf *out,
                                               struct hub_error *err);

/** The member "hook"; nothing where there is none. */
void hub_hook_put(struct hub_json *json, struct hub_hooks *hooks);
/** The same as metrics. */
HUB_MUST_USE enum hub_status hub_hook_metrics(struct hub_hooks *hooks, struct hub_buf *out,
                                              struct hub_error *err);

#endif
