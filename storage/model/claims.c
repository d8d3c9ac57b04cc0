/* Claims against what was found: see claims.h. */
#include "storage/model/claims.h"

#include "storage/text/number.h"

#include <stdio.h>

struct hub_claims hub_claims_of(const struct hub_findings *plan)
{
    return (struct hub_claims){.episodes = hub_findings_fact(plan, "claimed_episodes"),
                               .steps = hub_findings_fact(plan, "claimed_steps"),
                               .file = hub_findings_fact(plan, "claimed_in")};
}

enum hub_status hub_claims_check(const struct hub_claims *claims, uint64_t episodes, uint64_t steps,
                                 hub_claim_differs differs, void *user, struct hub_error *err)
{
    const struct {
        const char *stated, *what;
        uint64_t found;
    } counts[] = {{claims->episodes, "episodes", episodes}, {claims->steps, "steps", steps}};
    for (size_t i = 0; i < HUB_COUNT(counts); i++) {
        char detail[160];
        uint64_t stated;
        if (!counts[i].stated || !hub_number_read(hub_view_of(counts[i].stated), UINT64_MAX, &stated) ||
            stated == counts[i].found)
            continue;
        snprintf(detail, sizeof detail, "metadata says %llu %s, the files hold %llu",
                 (unsigned long long)stated, counts[i].what, (unsigned long long)counts[i].found);
        const char *code = counts[i].found < stated ? "fewer-than-claimed" : "count-mismatch";
        HUB_TRY(differs(user, &(struct hub_found_problem){code, claims->file, detail}, err));
    }
    return HUB_OK;
}
