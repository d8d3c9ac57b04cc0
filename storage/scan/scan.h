/**
 * Discovery and inspection: walks the roots, lets drivers bid, inspects what changed, publishes. Runs on
 * its own threads behind a serving hub: ready as soon as the roots are walked by name. The sweep is the
 * truth; inotify only makes it sooner.
 *
 * Rules: top-down; the highest bid on a directory owns its subtree; unclaimed directories are descended and
 * their files bid singly; what nobody claims is listed once, at the shallowest folder without a recognised
 * dataset, as format `files`; what cannot be entered is listed as broken. Hidden names are skipped. An
 * inspection counts only if the stamps agree before and after it and the newest is at least settle_ms old
 * (until then `pending`); a file somebody holds locked for writing (flock) is `pending: busy`. Where a file
 * lacks the end that its writer gives it last ("not-finalized"), and something changed within 300 times
 * settle_ms, the dataset is `pending: being recorded`.
 */
#ifndef HUB_SCAN_SCAN_H
#define HUB_SCAN_SCAN_H

#include "storage/catalog/catalog.h"
#include "storage/catalog/fences.h"
#include "storage/read/read.h"
#include "storage/truth/truth.h"

struct hub_scanner;

/**
 * What an operator should hear about, once each time it happens. Trouble of this machine is never a verdict
 * about data: the dataset stays as it was (or pending, with the reason) and is inspected again. How a
 * dataset's status changes is seen by comparing snapshots of the catalogue.
 */
enum hub_scan_event_kind {
    HUB_SCAN_PUT_OFF = 1, /* an inspection was killed, too slow, or met an I/O error: tried again later */
    HUB_SCAN_GAVE_UP, /* ... too often: tried again after a change, when a sweep is asked for, or at a start
                       */
    HUB_SCAN_TROUBLE, /* a sweep ended early */
};
struct hub_scan_event {
    enum hub_scan_event_kind kind;
    const char *id;     /* of the dataset, or "" */
    const char *detail; /* one line for a person; like `id` borrowed until the callback returns */
};

struct hub_scanner_options {
    struct hub_catalog *catalog;
    struct hub_truth *truth;
    struct hub_store *store;
    struct hub_inspector *inspector;
    const struct hub_roots *roots; /* the store's; borrowed until the scanner stops */
    const char *state;
    unsigned settle_ms;  /* as it is: 0 trusts files of this very moment */
    unsigned sweep_s;    /* 0: only at start and on request */
    bool watch;          /* inotify */
    unsigned jobs;       /* inspections at once; default: cores */
    const char *drivers; /* names the set of format drivers: under another name all is inspected again;
                            default: the version */
    unsigned retry_ms;   /* first pause after trouble of this machine; default 10 s */
    unsigned turn_ms;    /* a dataset of many parts makes room for others after this; default 10 s */
    /** Called from the scanner's threads, no lock held; must not block. NULL: nobody listens. */
    void (*notify)(void *user, const struct hub_scan_event *event);
    void *user;
};

#define HUB_SCANNER_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        .settle_ms = 2000, .sweep_s = 300, .watch = true                                                     \
    }

struct hub_scan_progress {
    bool walked; /* the roots have been walked by name once */
    bool idle;   /* nothing left to inspect */
    uint64_t directories, datasets, to_inspect, inspected, failed;
    uint64_t clashes;     /* datasets that were distinguished from one of the same id */
    uint64_t not_entered; /* directories that could not be read, or were too many: listed as broken */
    uint64_t unwatched;   /* directories that only sweeps look at: there is no room to watch them */
    uint64_t sweeps;      /* completed */
    uint64_t looks;       /* at parts of roots, that needed no sweep */
    uint64_t to_look_at;  /* parts of roots where something changed a moment ago; all is one */
    uint64_t opened;      /* directories, since the start */
    uint64_t put_off;     /* inspections that trouble of this machine ended, since the start */
    uint64_t postponed;   /* datasets that wait for another try after such trouble */
    uint64_t given_up;    /* datasets that were tried often enough for now */
    char current[256];    /* a dataset being inspected, or the directory being looked at */
    char trouble[256];    /* why the last sweep ended early, or empty */
    uint64_t
        roots_missing; /* a bit a root: it had datasets and is not mounted: see storage/scan/presence.h */
    bool no_space;     /* the state's disk had no room for what was found last */
};

HUB_MUST_USE enum hub_status hub_scanner_start(const struct hub_scanner_options *options,
                                               struct hub_scanner **out, struct hub_error *err);
void hub_scanner_stop(struct hub_scanner *scanner);
/** It never waits: the answer may be a moment old, but not older than the last hub_scanner_wait. */
void hub_scanner_progress(struct hub_scanner *scanner, struct hub_scan_progress *out);
/** How far the inspection of a dataset is: false when none is under way or its parts are not known yet. */
bool hub_scanner_parts(struct hub_scanner *scanner, const char *id, uint32_t *parts, uint32_t *done);
/** A request met a pending or changed dataset: inspect it next. Cheap, any thread. */
void hub_scanner_prioritize(struct hub_scanner *scanner, const char *id);
/** The side data of a dataset are not those that were published (of a state directory only some was
 * restored): its parts are looked at again, the sound ones kept. Cheap, any thread. */
void hub_scanner_reinspect(struct hub_scanner *scanner, const char *id);
/** Sweep now (tests, SIGHUP); what was given up is tried once more. */
void hub_scanner_sweep(struct hub_scanner *scanner);
/** Files were published, changed or removed at this path of a root: look at them now. Cheap, any thread. */
void hub_scanner_look(struct hub_scanner *scanner, uint32_t root, const char *path);

/* ---- changes that the hub itself makes (hold.c) ---- */

/** A dataset that the hub deletes, renames or replaces: while it is held nothing of its place gets into the
 * catalogue, and afterwards nothing that was seen there before. Texts are borrowed; any thread. */
struct hub_hold {
    struct hub_fence fence;
    uint32_t root;
    const char *id, *path;
};
void hub_scanner_hold(struct hub_scanner *scanner, uint32_t root, const char *id, const char *path,
                      struct hub_hold *hold);
/** List it no more. What fails is done by the look that follows. */
void hub_scanner_withdraw(struct hub_scanner *scanner, const struct hub_hold *hold);
/** Its files are another's, or gone, if they `changed`. Its place is looked at now. */
void hub_scanner_release(struct hub_scanner *scanner, struct hub_hold *hold, bool changed);

/** Wait until idle or the timeout: true when idle. */
bool hub_scanner_wait(struct hub_scanner *scanner, unsigned timeout_ms);

/* ---- what is being done (jobs.c, hash.c) ---- */

/** A piece of background work. Texts live until the callback returns. */
struct hub_scan_job {
    const char *kind;   /* of measuring: which of its two; else NULL */
    const char *target; /* the dataset's id; of hashing the file's path below its root */
    bool running;       /* false: waiting */
    uint64_t done, of;  /* parts; bytes. of 0: not known yet */
    int64_t started_ms; /* Unix time; 0: not begun */
    unsigned attempts;  /* made before this one */
};
typedef void (*hub_scan_job_each)(void *user, const struct hub_scan_job *job);

/** Inspections under way and waiting; `each` must not call the scanner. */
void hub_scanner_jobs(struct hub_scanner *scanner, hub_scan_job_each each, void *user);

/* ---- hashing (hash.c) ---- */

struct hub_digest_queue;
/** A file of a dataset, and what it was hashed to. */
struct hub_hash_result {
    uint32_t root;
    const char *dataset, *folder; /* the id; where the dataset lies below the root */
    const char *path;             /* below the root */
    struct hub_stamp stamp;
    const char *sha256; /* hex */
};
struct hub_hasher_options {
    struct hub_catalog *catalog;
    struct hub_truth *truth;
    struct hub_store *store;
    bool idle; /* while nothing is wanted, hash the files of all datasets that have no digests yet */
    /** NULL, or a file is not what its digests say, though nobody changed it: it is not served any more
     * (damage.h). `id` of its dataset, or "". Called on the hasher's thread. */
    void (*damaged)(void *user, const char *id, const char *detail);
    /** NULL, or a file of a dataset was hashed. Called on the hasher's thread. */
    void (*hashed)(void *user, const struct hub_hash_result *file);
    /** NULL, or the same of a file that could not be read: once, until it could be. */
    void (*unread)(void *user, const char *id, const char *detail);
    void *user;
};
HUB_MUST_USE enum hub_status hub_digest_queue_start(const struct hub_hasher_options *options,
                                                    struct hub_digest_queue **out, struct hub_error *err);
void hub_digest_queue_stop(struct hub_digest_queue *hasher);
/** The file being hashed and those that wait. NULL is fine: there are none. */
void hub_digest_queue_jobs(struct hub_digest_queue *hasher, hub_scan_job_each each, void *user);
/** Hash this file soon (moved to the front); the digests are stored in hub.db at its stamp. Cheap, any
 * thread; bounded queue. */
void hub_digest_queue_want(struct hub_digest_queue *hasher, uint32_t root, const char *path,
                           const struct hub_stamp *stamp);
/** Files came whose digests lack the SHA-256: they are hashed while nothing is wanted. Cheap, any thread. */
void hub_digest_queue_resume(struct hub_digest_queue *hasher);
/** Whether a file could not be read when it was hashed last: which, and why; of several the last one. */
bool hub_digest_queue_unread(struct hub_digest_queue *hasher, char *out, size_t size);
/** Files that it is through with, since the start. */
uint64_t hub_digest_queue_finished(struct hub_digest_queue *hasher);
/** Until it is through with more than `seen`, which is brought up to date. False: the time
 * (hub_time_mono_ms) came first. */
bool hub_digest_queue_wait(struct hub_digest_queue *hasher, uint64_t *seen, int64_t until_ms);

#endif
