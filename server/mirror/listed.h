/**
 * What upstreams list, beside what is here. The list of each is a file of its own in the state directory,
 * replaced as a whole: it is only what the upstream said last, but while that is down nothing else knows
 * it. Safe from any thread.
 */
#ifndef HUB_MIRROR_LISTED_H
#define HUB_MIRROR_LISTED_H

#include "storage/truth/rules.h"

struct hub_mirrors;

/** Its datasets are fetched when they are asked for, not before. */
bool hub_rule_pulls(const struct hub_rule *rule);

/** The id in this hub of what is at `path` below a root. */
void hub_listed_id(const struct hub_mirrors *mirrors, uint32_t root, const char *path, char *out,
                   size_t size);

/** Keep and show a new list: the summaries as the upstream gave them, one JSON object a line. */
HUB_MUST_USE enum hub_status hub_listed_put(struct hub_mirrors *mirrors, const struct hub_rule *rule,
                                            struct hub_view lines, struct hub_error *err);
/** Show what was kept; of rules that are gone it is forgotten. How many rules pull is written to
 * `upstreams`. */
HUB_MUST_USE enum hub_status hub_listed_load(struct hub_mirrors *mirrors, unsigned *upstreams,
                                             struct hub_error *err);

#endif
