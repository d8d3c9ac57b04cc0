/** How many episodes of a dataset there are of each kind, as members of a JSON object. Blocking. */
#ifndef HUB_STATISTICS_TALLY_H
#define HUB_STATISTICS_TALLY_H

#include "storage/statistics/measured.h"

/** "outcome": {"success","terminated","truncated","neither"}, each {"true","false","unknown"}; neither is
 * neither of the latter two.
 * @param chosen  by place; NULL: all */
HUB_MUST_USE enum hub_status hub_tally_outcomes(struct hub_json *json, const struct hub_state *state,
                                                const bool *chosen, struct hub_error *err);
/** KEY: {"values":[{"value","count"}],"none","left_out":{"values","count"}}: the values of a set
 * (HUB_PROPERTY_TASK, HUB_PROPERTY_SPLIT) that most episodes have, up to 100. Of very many different ones
 * it is not known how many are left out. */
HUB_MUST_USE enum hub_status hub_tally_values(struct hub_json *json, const char *key,
                                              const struct hub_state *state, const bool *chosen,
                                              enum hub_property_kind kind, struct hub_error *err);

#endif
