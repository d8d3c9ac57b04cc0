/** Access rules in hub.db. Each change is one transaction with its audit row. Safe from any thread. */
#ifndef HUB_TRUTH_ACCESS_RULES_H
#define HUB_TRUTH_ACCESS_RULES_H

#include "storage/truth/access.h"

/** What changes of rules and tokens have in common. */
struct hub_access_actor {
    const char *who;                            /* its name in the audit */
    const struct hub_declared_access *declared; /* NULL: nothing is */
};

/**
 * Set the level of a WHO for a PREFIX.
 * @return HUB_INVALID for a rule that is none, HUB_EXISTS for one that the configuration declares,
 * HUB_TOO_BIG for more than there may be
 */
HUB_MUST_USE enum hub_status hub_access_rule_set(struct hub_truth *truth, const struct hub_access_rule *rule,
                                                 const struct hub_access_actor *actor, struct hub_error *err);
/** HUB_NOT_FOUND "rule-not-found"; HUB_EXISTS: it is declared. */
HUB_MUST_USE enum hub_status hub_access_rule_unset(struct hub_truth *truth, const char *who,
                                                   const char *prefix, const struct hub_access_actor *actor,
                                                   struct hub_error *err);

#endif
