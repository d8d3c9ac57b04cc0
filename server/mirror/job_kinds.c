/* The table of kinds of jobs: see job_kinds.h. */
#include "server/mirror/job_kinds.h"

#include "server/mirror/work.h"

enum {
    PASS = HUB_JOB_OF_RULE,
    COPY = HUB_JOB_OF_RULE | HUB_JOB_NEEDS_ROOM | HUB_JOB_IN_STATUS,
    PULL = HUB_JOB_OF_RULE | HUB_JOB_AWAITED,
    SHOWN = HUB_JOB_IN_STATUS
};

/* Whoever wanted what was pulled requests it again, or nobody wants it any more. */
static const char when_requested[] = "; the hub tries again at the next request";

/* The admin looks at what came of it, and asks again. */
static const char when_asked_for[] = "; `minari-hub adopt` goes on with it";

#define ROW(name, unit, lane, ...) {name, unit, HUB_LANE_##lane, __VA_ARGS__},
const struct hub_job_kind_row hub_job_kinds[] = {
    HUB_JOB_KINDS(ROW){NULL, NULL, HUB_LANE_NONE, NULL, 0, 0, NULL, NULL}};

const struct hub_job_kind_row *hub_job_kind_find(const char *name)
{
    const struct hub_job_kind_row *row = hub_job_kinds;
    while (row->name && strcmp(row->name, name) != 0)
        row++;
    return row->name ? row : NULL;
}
