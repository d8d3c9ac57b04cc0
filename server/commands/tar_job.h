/** What `minari-hub export` and `import` share: the running hub lists them as jobs, a terminal shows how far
 * they are, a signal ends them. */
#ifndef HUB_COMMANDS_TAR_JOB_H
#define HUB_COMMANDS_TAR_JOB_H

#include "server/config/config.h"
#include "storage/truth/jobs.h"

struct hub_tar_job {
    const char *kind, *verb; /* "import", "importing" */
    const char *name;        /* of the first dataset, or of the tar */
    /** The work of it. */
    enum hub_status (*work)(struct hub_tar_job *job, struct hub_config *config, struct hub_error *err);

    char *state;              /* of the hub that runs; NULL: none does */
    char job[HUB_JOB_ID + 1]; /* "": it is not listed */
    int64_t fence;
    uint64_t done, of; /* bytes */
    int64_t began_ms, shown_ms, kept_ms;
    bool shown; /* a line of progress stands on the terminal */
};

/** Look for the hub, work, and say to the hub and the user how it ended. Returns the exit code.
 *  @param user  struct hub_tar_job */
int hub_tar_job_run(void *user, struct hub_config *config);
/** List it as a job of the hub that runs. */
HUB_MUST_USE enum hub_status hub_tar_job_begin(struct hub_tar_job *job, struct hub_error *err);
/** Again and again while it works, when `done` has grown. HUB_CANCELLED: a signal came. */
HUB_MUST_USE enum hub_status hub_tar_job_tick(struct hub_tar_job *job, struct hub_error *err);
/** A signal came: as `stopped` of hub_control_fetch. */
int hub_tar_job_stopped(void *user);
/** Take the line of progress away. */
void hub_tar_job_clear(struct hub_tar_job *job);

#endif
