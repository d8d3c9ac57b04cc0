/** What the files of a dataset say that it holds, compared with what was found: the one place that does. */
#ifndef HUB_MODEL_CLAIMS_H
#define HUB_MODEL_CLAIMS_H

#include "storage/model/findings.h"

/** The facts "claimed_episodes", "claimed_steps" and "claimed_in"; NULL or "": not stated. */
struct hub_claims {
    const char *episodes, *steps, *file;
};
/** Those of a plan, whose texts they borrow. */
struct hub_claims hub_claims_of(const struct hub_findings *plan);

/** A problem whose texts live until it returns. */
typedef enum hub_status (*hub_claim_differs)(void *user, const struct hub_found_problem *problem,
                                             struct hub_error *err);
/** Report each claim that does not hold: "fewer-than-claimed", or "count-mismatch" where there is more. */
HUB_MUST_USE enum hub_status hub_claims_check(const struct hub_claims *claims, uint64_t episodes,
                                              uint64_t steps, hub_claim_differs differs, void *user,
                                              struct hub_error *err);

#endif
