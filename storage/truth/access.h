/**
 * Access as hub.db and the configuration say it together: see storage/access/access.h. Safe from any thread.
 */
#ifndef HUB_TRUTH_ACCESS_H
#define HUB_TRUTH_ACCESS_H

#include "storage/access/access.h"
#include "storage/truth/truth.h"

/** What the configuration declares; it wins over what is stored. Zeroed: nothing. */
struct hub_declared_access {
    struct hub_access_rules rules;
    struct hub_token tokens[2]; /* of read-token-file and write-token-file */
    uint32_t token_count;
};
void hub_declared_access_dispose(struct hub_declared_access *declared);
/** Written in part on a failure: dispose it whatever happens. */
HUB_MUST_USE enum hub_status hub_declared_access_copy(const struct hub_declared_access *from,
                                                      struct hub_declared_access *out, struct hub_error *err);

/** Compile all rules and tokens. Release the table with hub_access_put.
 *  @param declared  borrowed; NULL: nothing is declared */
HUB_MUST_USE enum hub_status hub_truth_access_load(struct hub_truth *truth,
                                                   const struct hub_declared_access *declared,
                                                   struct hub_access_table **out, struct hub_error *err);
/** A number that grows with each change of rules and tokens, by whatever program. */
HUB_MUST_USE enum hub_status hub_truth_access_version(struct hub_truth *truth, uint64_t *out,
                                                      struct hub_error *err);

/** How somebody is named in the audit: who changes rules and tokens. */
enum { HUB_ACTOR_CHARS = HUB_WHO_CHARS };

#endif
