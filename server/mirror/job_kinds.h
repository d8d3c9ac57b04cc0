/** Kinds of jobs, a row each: what threads do for them, and what the API and people read of them. */
#ifndef HUB_MIRROR_JOB_KINDS_H
#define HUB_MIRROR_JOB_KINDS_H

#include "storage/base/error.h"
#include "storage/truth/jobs.h"

struct hub_mirror_work;

/** Threads that take jobs: what somebody waits for, and what may take days, stand in nobody's way. */
enum hub_mirror_lane {
    HUB_LANE_NONE, /* the hub works at it otherwise */
    HUB_LANE_LISTS,
    HUB_LANE_MIRRORS,
    HUB_LANE_PULLS,
    HUB_LANE_CHECKS,
    HUB_LANE_ADOPTIONS,
    HUB_LANES
};

enum {
    HUB_JOB_OF_RULE = 1,    /* the rule's root has to be there, and its remote is opened before `work` */
    HUB_JOB_NEEDS_ROOM = 2, /* after one found none in its root, the others are put off */
    HUB_JOB_AWAITED = 4,    /* requests wait for it: hub_pull_begin, hub_pull_end */
    HUB_JOB_IN_STATUS = 8   /* `minari-hub status` shows those that run */
};

struct hub_job_kind_row {
    const char *name; /* in hub.db and in the API */
    const char *unit; /* of its progress */
    enum hub_mirror_lane lane;
    /** NULL: another program works at it, and if its lease runs out, it was interrupted. */
    enum hub_status (*work)(struct hub_mirror_work *work, struct hub_error *err);
    unsigned flags;
    unsigned tries;       /* as often it may fail; 0: HUB_JOB_TRIES */
    const char *given_up; /* behind the error of its last try; NULL: "the hub tries again in the next pass" */
    /** NULL, or called when it has failed for good. */
    void (*failed)(struct hub_mirror_work *work);
};

enum { HUB_JOB_TRIES = 8 };

/* KIND(name, unit, lane, work, flags, tries, given up, failed) */
/* clang-format off */
#define HUB_JOB_KINDS(KIND) \
    KIND("inspect", "parts", NONE, NULL, 0, 0, NULL, NULL) \
    KIND("hash", "bytes", NONE, NULL, 0, 0, NULL, NULL) \
    KIND("measure", "parts", NONE, NULL, 0, 0, NULL, NULL) \
    KIND("statistics", "parts", NONE, NULL, 0, 0, NULL, NULL) \
    KIND(HUB_JOB_MIRROR, "datasets", LISTS, hub_mirror_pass, PASS, 0, NULL, hub_mirror_pass_failed) \
    KIND(HUB_JOB_TRANSFER, "bytes", MIRRORS, hub_mirror_copy, COPY, 0, NULL, NULL) \
    KIND(HUB_JOB_PULL, "bytes", PULLS, hub_mirror_copy, PULL, 1, when_requested, NULL) \
    KIND(HUB_JOB_CHECK, "bytes", CHECKS, hub_check_job, SHOWN, 0, NULL, NULL) \
    KIND(HUB_JOB_ADOPT, "bytes", ADOPTIONS, hub_adopt_job, SHOWN, 1, when_asked_for, NULL) \
    HUB_JOB_KINDS_OUTSIDE(KIND)
/* Other programs work at these. */
#define HUB_JOB_KINDS_OUTSIDE(KIND) \
    KIND("import", "bytes", MIRRORS, NULL, SHOWN, 0, NULL, NULL) \
    KIND("export", "bytes", MIRRORS, NULL, SHOWN, 0, NULL, NULL)
/* clang-format on */

extern const struct hub_job_kind_row hub_job_kinds[]; /* a row without a name ends it */
/** Of such a list: the names, each with a blank behind, as one literal. */
#define HUB_JOB_KIND_WORD(name, ...) name " "

/** NULL: there is none of this name. */
const struct hub_job_kind_row *hub_job_kind_find(const char *name);

#endif
