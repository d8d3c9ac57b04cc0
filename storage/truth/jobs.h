/**
 * Work that outlives the program, in hub.db: jobs of a kind about a target, one open at a time of each. Who
 * takes one holds it by a lease on the database's clock, keeps it while it works, and ends it. A lease has
 * a fence that grows each time the job is taken: where the work takes effect the fence is checked, so that
 * who was suspended too long changes nothing. No transaction is open between two calls. Safe from any
 * thread. A power cut may undo that a job was taken, kept or ended a moment before: it is then worked on
 * again, and finds what was done.
 */
#ifndef HUB_TRUTH_JOBS_H
#define HUB_TRUTH_JOBS_H

#include "storage/truth/truth.h"

struct hub_lease {
    int64_t job, fence;
};

enum hub_job_state { HUB_JOB_WAITING, HUB_JOB_RUNNING, HUB_JOB_DONE, HUB_JOB_FAILED };
/** "waiting", "running", "done", "failed", NULL. */
extern const char *const hub_job_states[];

/** Characters of what the outside calls a job: random ones of a-z and 2-7, so that they do not tell how many
 * jobs there are. */
enum { HUB_JOB_ID = 12 };

struct hub_job_row {
    int64_t id, fence; /* of the row; it grows with each job, and no answer has it */
    char public_id[HUB_JOB_ID + 1];
    int64_t attempt; /* random: names this try */
    char *kind, *target, *rule, *payload, *error;
    char *result; /* JSON, or "" */
    enum hub_job_state state;
    int64_t run_at_ms, started_ms, finished_ms; /* Unix time; 0: not yet */
    uint64_t done, total;                       /* total 0: not known */
    unsigned attempts;                          /* this one included */
};
void hub_job_dispose(struct hub_job_row *job);
static inline struct hub_lease hub_job_lease(const struct hub_job_row *job)
{
    return (struct hub_lease){job->id, job->fence};
}

/** Kinds that rules of mirrors make or count; server/mirror/job_kinds.h has all. */
#define HUB_JOB_MIRROR "mirror"
#define HUB_JOB_TRANSFER "transfer"
#define HUB_JOB_PULL "pull"
#define HUB_JOB_CHECK "check"
#define HUB_JOB_ADOPT "adopt"

struct hub_job_draft {
    const char *kind, *target;
    const char *rule;    /* "": none */
    const char *payload; /* JSON */
    int priority;        /* the highest is taken first */
    uint64_t after_ms;   /* not before so long from now */
};

/** Ask for a job. One that waits already gets the payload, and is not put off; one that runs is HUB_EXISTS.
 * @param id  may be NULL */
HUB_MUST_USE enum hub_status hub_job_add(struct hub_truth *truth, const struct hub_job_draft *draft,
                                         int64_t *id, struct hub_error *err);

/** Ask for several in one transaction; those that run are left as they are. `added` grows by the others. */
HUB_MUST_USE enum hub_status hub_jobs_add(struct hub_truth *truth, const struct hub_job_draft *drafts,
                                          uint32_t count, uint32_t *added, struct hub_error *err);

/** Does one of a kind about this target wait or run? */
bool hub_job_is_open(struct hub_truth *truth, const char *kind, const char *target);

/** Begin one that another program works on: it is held from now on, and nobody tries it again. HUB_EXISTS as
 * above. */
HUB_MUST_USE enum hub_status hub_job_begin(struct hub_truth *truth, const struct hub_job_draft *draft,
                                           unsigned ttl_s, struct hub_lease *out, struct hub_error *err);

/** The jobs that some threads share. */
struct hub_job_lane {
    const char *kinds; /* with a space between them; NULL: any */
    unsigned threads;  /* the last free one is only for a rule of which none runs; 0: for any */
};

/** Take the next that is due, also one whose holder let its lease run out; first of a rule of which none
 * runs, so that one slow remote leaves room for others. Those of a paused rule wait. A due time that lies
 * further ahead than any is ever set is one of a clock that was wrong. HUB_NOT_FOUND: nothing is due. */
HUB_MUST_USE enum hub_status hub_job_take(struct hub_truth *truth, const struct hub_job_lane *lane,
                                          unsigned ttl_s, struct hub_job_row *out, struct hub_error *err);
/** Is a job due of a rule of which none runs, while all threads of the lane are at work? */
bool hub_job_rule_waits(struct hub_truth *truth, const struct hub_job_lane *lane);
/** Renew it, and say how far the work is. HUB_DENIED "fenced": it is somebody else's now, or nobody's:
 * stop. */
HUB_MUST_USE enum hub_status hub_job_keep(struct hub_truth *truth, struct hub_lease lease, unsigned ttl_s,
                                          uint64_t done, uint64_t total, struct hub_error *err);

enum { HUB_JOB_MAX_WAIT_MS = 24 * 3600 * 1000 };
/**
 * Let it go: HUB_JOB_DONE, HUB_JOB_FAILED, or HUB_JOB_WAITING, to be taken again in `retry_ms`, at most
 * HUB_JOB_MAX_WAIT_MS. HUB_DENIED "fenced".
 *
 * @param why      NULL, or what went wrong
 * @param counted  whether it was a try: an interruption by us is none
 */
HUB_MUST_USE enum hub_status hub_job_end(struct hub_truth *truth, struct hub_lease lease,
                                         enum hub_job_state state, uint64_t retry_ms, bool counted,
                                         const char *why, struct hub_error *err);

/** What it found so far, as JSON. HUB_DENIED "fenced" as above. */
HUB_MUST_USE enum hub_status hub_job_note(struct hub_truth *truth, struct hub_lease lease, const char *result,
                                          struct hub_error *err);
/** One that waits or runs fails as "stopped": who holds it learns so when it is kept. */
HUB_MUST_USE enum hub_status hub_job_stop(struct hub_truth *truth, int64_t id, struct hub_error *err);

/** Those of a kind and a state; NULL and -1: all. A copy of this moment, in order of kind, target and id. Of
 * each, what the callback does not take is disposed of. */
typedef enum hub_status (*hub_job_each)(void *user, struct hub_job_row *job, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_jobs_each(struct hub_truth *truth, const char *kind, int state,
                                           hub_job_each each, void *user, struct hub_error *err);
/** HUB_NOT_FOUND. Dispose the result. */
HUB_MUST_USE enum hub_status hub_job_find(struct hub_truth *truth, int64_t id, struct hub_job_row *out,
                                          struct hub_error *err);
/** What the outside calls the job of a row. HUB_NOT_FOUND. */
HUB_MUST_USE enum hub_status hub_job_public_id(struct hub_truth *truth, int64_t id, char out[HUB_JOB_ID + 1],
                                               struct hub_error *err);
/** The row of what the outside calls so. HUB_NOT_FOUND "job-not-found". */
HUB_MUST_USE enum hub_status hub_job_of(struct hub_truth *truth, struct hub_view public_id, int64_t *id,
                                        struct hub_error *err);
/** Forget what ended more than a week ago. */
HUB_MUST_USE enum hub_status hub_jobs_tidy(struct hub_truth *truth, struct hub_error *err);

#endif
