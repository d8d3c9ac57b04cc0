/** What the files of mirrors share: one job under way, and the rule it is for. */
#ifndef HUB_MIRROR_WORK_H
#define HUB_MIRROR_WORK_H

#include "server/mirror/job_kinds.h"
#include "server/mirror/mirror.h"
#include "storage/base/thread.h"
#include "storage/remote/remote.h"
#include "storage/truth/upstream.h"

#include <limits.h>
#include <stdatomic.h>

enum { HUB_MIRROR_LEASE_S = 30, HUB_MIRROR_KEEP_MS = 1000, HUB_MIRROR_TOKEN = 4096, HUB_READER_SLOTS = 1024 };

struct hub_mirrors {
    struct hub_mirrors_options options;
    struct hub_pulls *pulls;
    pthread_mutex_t cache_lock;        /* of who makes room, and the next two */
    int64_t tended_ms, looked_ms;      /* monotonic */
    atomic_uint_fast64_t refused_rule; /* of the upstream that did not answer who looked at it last ... */
    _Atomic int64_t refused_until_ms;  /* ... and is not asked before this, monotonic */
    atomic_bool missed;                /* somebody asked for what nobody has */
    atomic_uint_fast64_t cache_bytes;  /* size of all pulled datasets at the last check */
    atomic_uint_fast64_t evictions;
    atomic_uint readers[HUB_READER_SLOTS]; /* requests that read a dataset, by the hash of its id */
    struct hub_thread workers;             /* its lock: of the next, and of `rates` */
    unsigned pokes;
    struct {
        _Atomic int64_t until_ms,
            reported_ms; /* monotonic; by the root: no room was left, and when that was reported */
    } full[HUB_MAX_ROOTS];
    struct hub_mirror_rate *rates; /* of the rules, by name, for as long as the program runs */
    struct hub_mirror_thread {
        struct hub_mirrors *mirrors;
        enum hub_mirror_lane lane;
        struct hub_job_lane jobs;
    } threads[16];
    char lanes[HUB_LANES][256]; /* the kinds of each */
};

/** A job that a thread of its own works on. */
struct hub_mirror_work {
    struct hub_mirrors *mirrors;
    struct hub_job_row job;
    const struct hub_job_kind_row *kind;
    const struct hub_job_lane *lane; /* that the job is of; NULL: `looks` */
    struct hub_rule rule;
    uint32_t root;
    struct hub_remote remote;
    char token[HUB_MIRROR_TOKEN];
    uint64_t done, total;
    uint64_t held;          /* bytes: hub_mirror_hold */
    int64_t kept_ms;        /* when the lease was last kept, monotonic */
    int64_t looked_ms;      /* when it was last looked whether others wait for its thread, monotonic */
    bool looks;             /* no job: somebody waits for what the remote says, and not for long */
    struct hub_pull *pull;  /* "pull": of whom others wait for; or NULL */
    struct hub_error ended; /* why it has to stop: not because of the remote */
};

/** Keep the lease, not too often: any thread of the work asks this several times a second. What it says ends
 * the work: HUB_CANCELLED (the program ends, or the rule is paused), HUB_DENIED "fenced". */
HUB_MUST_USE enum hub_status hub_mirror_keep(struct hub_mirror_work *work, struct hub_error *err);
/** The same at once, before something takes effect. */
HUB_MUST_USE enum hub_status hub_mirror_keep_now(struct hub_mirror_work *work, struct hub_error *err);
/** The work's lists take so many bytes by now: they are counted as memory of requests, as far as these leave
 * some, until hub_mirror_let_go. */
void hub_mirror_hold(struct hub_mirror_work *work, uint64_t bytes);
void hub_mirror_let_go(struct hub_mirror_work *work);
/** Whether a job has not failed but has to wait: the remote still prepares the dataset, another program of
 * this machine fetches it, or the disk is full. */
bool hub_mirror_goes_on(enum hub_status status, const struct hub_error *why);
void hub_mirror_notify(const struct hub_mirror_work *work, enum hub_mirror_event_kind kind, const char *id,
                       const char *fmt, ...) HUB_PRINTF(4, 5);

/** Work at a job that a thread has taken, and end it. */
void hub_mirror_run(struct hub_mirror_thread *thread, const struct hub_job_row *job);

/** "mirror": list the remote, ask for what is new or another, deal with what is gone. */
HUB_MUST_USE enum hub_status hub_mirror_pass(struct hub_mirror_work *work, struct hub_error *err);
/** It is over all the same: the next one is due when its rule says. */
void hub_mirror_pass_failed(struct hub_mirror_work *work);
/** Whether a copy is the rule's own, or of another that would fetch the very same: two that take turns
 * would replace it for ever. */
bool hub_mirror_owns(const struct hub_mirror_work *work, const struct hub_upstream *copy, const char *id);
/** Where somebody waits for what the remote says. */
#define HUB_MIRROR_BRIEFLY                                                                                   \
    (struct hub_retry)                                                                                       \
    {                                                                                                        \
        .attempts = 2, .first_attempts = 1, .base_ms = 100, .cap_ms = 500                                    \
    }
/**
 * How a rule reaches its remote. The file of its token is read for each job, so that another token is used as
 * soon as it is there.
 *
 * @param token  "" at first; the options borrow it, and the caller wipes it
 */
HUB_MUST_USE enum hub_status hub_mirror_reach(const json_t *spec, char token[HUB_MIRROR_TOKEN],
                                              struct hub_remote_options *out, struct hub_error *err);
void hub_mirror_rates_free(struct hub_mirrors *mirrors);
/** Open the remote of its rule, or another where it has none. */
HUB_MUST_USE enum hub_status hub_mirror_open_remote(struct hub_mirror_work *work, const char *address,
                                                    struct hub_error *err);
/** Remove the files that were fetched into ROOT/PATH, and what hub.db knows of the copy; other files stay. A
 * copy that is not there is forgotten. HUB_IO "root-missing": its root is not mounted. */
HUB_MUST_USE enum hub_status hub_copy_remove(const struct hub_mirrors_options *options, uint32_t root,
                                             const char *path, struct hub_error *err);
/** "check": see check.h. */
HUB_MUST_USE enum hub_status hub_check_job(struct hub_mirror_work *work, struct hub_error *err);
/** "adopt": see adopt.h. */
HUB_MUST_USE enum hub_status hub_adopt_job(struct hub_mirror_work *work, struct hub_error *err);
/** What a "transfer" or a "pull" fetches, as the payload of its job has it. */
struct hub_copy_order {
    const char *id, *path; /* there; below the root */
    const char *within;    /* the target of the job of the dataset around it, which goes first; NULL: none */
};
/** As text, to be freed; NULL: no memory. */
char *hub_copy_order_text(const struct hub_copy_order *order);
/** "transfer", "pull": one dataset. */
HUB_MUST_USE enum hub_status hub_mirror_copy(struct hub_mirror_work *work, struct hub_error *err);

#endif
