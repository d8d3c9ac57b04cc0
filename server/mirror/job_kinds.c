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

const struct hub_job_kind_row hub_job_kinds[] = {
    {"inspect", "parts", HUB_LANE_NONE, NULL, 0, 0, NULL, NULL},
    {"hash", "bytes", HUB_LANE_NONE, NULL, 0, 0, NULL, NULL},
    {"measure", "parts", HUB_LANE_NONE, NULL, 0, 0, NULL, NULL},
    {"statistics", "parts", HUB_LANE_NONE, NULL, 0, 0, NULL, NULL},
    {HUB_JOB_MIRROR, "datasets", HUB_LANE_LISTS, hub_mirror_pass, PASS, 0, NULL, hub_mirror_pass_failed},
    {HUB_JOB_TRANSFER, "bytes", HUB_LANE_MIRRORS, hub_mirror_copy, COPY, 0, NULL, NULL},
    {HUB_JOB_PULL, "bytes", HUB_LANE_PULLS, hub_mirror_copy, PULL, 1, when_requested, NULL},
    {"import", "bytes", HUB_LANE_MIRRORS, NULL, SHOWN, 0, NULL, NULL},
    {"export", "bytes", HUB_LANE_MIRRORS, NULL, SHOWN, 0, NULL, NULL},
    {HUB_JOB_CHECK, "bytes", HUB_LANE_CHECKS, hub_check_job, SHOWN, 0, NULL, NULL},
    {HUB_JOB_ADOPT, "bytes", HUB_LANE_ADOPTIONS, hub_adopt_job, SHOWN, 1, when_asked_for, NULL},
    {NULL, NULL, HUB_LANE_NONE, NULL, 0, 0, NULL, NULL},
};

const struct hub_job_kind_row *hub_job_kind_find(const char *name)
{
    const struct hub_job_kind_row *row = hub_job_kinds;
    while (row->name && strcmp(row->name, name) != 0)
        row++;
    return row->name ? row : NULL;
}
