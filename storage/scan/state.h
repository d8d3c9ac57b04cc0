/** What the scanner's files share: the datasets that were known, the queue, the inspections under way. */
#ifndef HUB_SCAN_STATE_H
#define HUB_SCAN_STATE_H

#include "storage/base/thread.h"
#include "storage/catalog/write.h"
#include "storage/discover/discover.h"
#include "storage/discover/links.h"
#include "storage/discover/pair_set.h"
#include "storage/scan/locks.h"
#include "storage/scan/scan.h"
#include "storage/truth/digests.h"

#include <stdatomic.h>

enum hub_tracked_state {
    HUB_TRACKED_IDLE = 0, /* published as it was seen last */
    HUB_TRACKED_WAITING,  /* changed a moment ago, or locked: looked at again when due */
    HUB_TRACKED_QUEUED,
    HUB_TRACKED_RUNNING,
};

/** Which dataset is next: below HUB_QUEUE_NORMAL those that requests wait for, the one with the most requests
 * first; one that is new or changed; one that has had its turn. */
enum hub_scan_queue { HUB_QUEUE_NORMAL = 16, HUB_QUEUE_SLOW, HUB_QUEUES };

/** A dataset that the last sweeps saw. Behind the scanner's lock. */
struct hub_tracked_dataset {
    struct hub_tracked_dataset *chain;          /* of its slot */
    struct hub_tracked_dataset *before, *after; /* in the queue */
    char *id, *path;
    char **formats;
    uint32_t format_count, root;
    bool single_files;
    bool outdated;             /* its inspection began before what was seen last */
    bool shown;                /* the catalogue has it, in whatever state */
    bool ready;                /* ... and not merely pending */
    enum hub_scan_queue queue; /* while queued */
    bool slow;                 /* it has had a turn and is not through: requests give it no priority */
    bool given_up;     /* after trouble of this machine: idle until it changes or a sweep is asked for */
    bool refused;      /* what is shown is of files that we may not read: looked at again without a change */
    uint32_t requests; /* that waited for it since it was published last */
    unsigned changes;  /* that the hub itself made of it */
    unsigned rounds;   /* inspections that came to their end */
    unsigned limited;  /* parts that used up what an inspection may have, since the last pause */
    unsigned troubles; /* inspections that trouble of this machine ended, in a row */
    enum hub_tracked_state state;
    unsigned tries; /* inspections that ended in a change or failure of ours, in a row */
    uint32_t parts; /* of the inspection under way; 0: none, or its plan is not made yet */
    uint32_t unfinished;
    uint64_t sweep;     /* the last that saw it */
    uint64_t signature; /* over bidders and stamps, as last seen */
    uint64_t published; /* the one that was inspected; 0: none */
    int64_t due_ms;
    int64_t started_ms;       /* of the inspection, Unix time */
    struct hub_fileset files; /* while queued */
};

struct hub_tracked_queue {
    struct hub_tracked_dataset *first, *last;
};

/** An inspection under way. `next_part` and `unfinished` are behind the scanner's lock. */
struct hub_work {
    struct hub_work *next, **link; /* in the list of those with parts left */
    struct hub_scanner *scanner;
    struct hub_tracked_dataset *tracked; /* stays while it runs */
    char *id, *path;
    uint32_t root;
    bool single_files;
    uint64_t signature;
    uint64_t seen;    /* the look that saw its files last: see storage/catalog/fences.h */
    unsigned changes; /* that the hub had made of it before it is published */
    struct hub_turn turn;
    atomic_bool refused; /* a file of the plan or of a part */
    struct hub_fileset files;
    struct hub_job_file *job_files;
    const char *format;
    struct hub_findings plan;
    struct hub_draft_part *parts;
    char **sides;              /* by part: what the draft borrows */
    char *broken;              /* of the only part, as ... */
    struct hub_findings found; /* ... this */
    uint32_t *todo, todo_count, next_part, unfinished;
    bool has_limited; /* parts among them that failed under today's limits */
    int64_t began_ms;
    bool turned;            /* others wait: the rest of the parts has to as well */
    enum hub_status failed; /* HUB_OK, or a failure that says nothing about the dataset */
    struct hub_error err;
};

struct hub_inotify;

/** A part of a root that is to be looked at. */
struct hub_look {
    char *path;
    uint32_t root;
    bool shallow;   /* only files of the folder changed */
    int64_t due_ms; /* 0: somebody published files there */
};

/** Requests for a dataset that were not counted yet. */
struct hub_urgent {
    uint64_t hash; /* of the id */
    char *id;
    uint32_t requests;
    bool reinspect; /* inspect again although it is published: its side data were lost */
};

struct hub_scanner {
    struct hub_catalog *catalog;
    struct hub_truth *truth;
    struct hub_store *store;
    struct hub_inspector *inspector;
    struct hub_walk walk;
    char *state, *drivers;
    char *clashes[1000]; /* ids that two datasets would have had in the last sweep; of the sweeping thread */
    uint32_t clash_count;
    struct hub_links links; /* of the last sweep and what was looked at since; of the sweeping thread */
    unsigned settle_ms, sweep_s, jobs, retry_ms, turn_ms;
    struct hub_inotify *watch; /* NULL: sweeps only */
    void (*notify)(void *user, const struct hub_scan_event *event);
    void *user;

    int wake_fd;
    struct hub_locks_recent locks;

    struct hub_thread workers; /* and the scanner's own thread; their lock: of all below */
    pthread_cond_t idle_wake;
    struct hub_tracked_dataset **slots;
    size_t slot_count, tracked_count;
    struct hub_tracked_queue queues[HUB_QUEUES];
    struct hub_work *works;
    unsigned running; /* datasets */
    unsigned missed;  /* sweeps in a row that could not look everywhere */
    uint64_t sweep;   /* number of the current or last, looks included: hub_catalog_look */
    bool sweeping, sweep_wanted;
    bool sweep_for_changes; /* the one at sweep_at_ms is for changes that a look cannot answer */
    bool complete;          /* the last sweep saw all there is, so that a part of it may be looked at */
    struct hub_look looks[64];
    uint32_t look_count;
    int64_t due_ms;        /* a dataset that waits is due then; INT64_MAX: none */
    bool asked;            /* the current or next sweep was asked for */
    int64_t sweep_at_ms;   /* a sweep is due then; INT64_MAX: none */
    int64_t rest_until_ms; /* events ask for no sweep before */
    struct hub_scan_progress progress;
    atomic_uint side_serial;
    uint64_t born_ns;

    pthread_mutex_t urgent_lock; /* all below; never held for long */
    struct hub_urgent *urgent;
    uint32_t urgent_count, urgent_capacity;
    struct hub_scan_progress last_progress;
};

/** No lock held. */
void hub_scan_notify(const struct hub_scanner *s, enum hub_scan_event_kind kind, const char *id,
                     const char *detail);
/** Wake the scanner's own thread. */
void hub_scan_wake(struct hub_scanner *s);

/* ---- urgent.c ---- */

/** A request waits for this dataset. Any thread, whatever it holds; never waits. */
void hub_urgent_put(struct hub_scanner *s, const char *id, bool reinspect);
/** Count what was put down. The lock is held. */
void hub_urgent_take(struct hub_scanner *s);
/** Where a dataset waits for its inspection, by the requests for it. The lock is held. */
enum hub_scan_queue hub_urgent_queue(const struct hub_tracked_dataset *tracked);
/** Of the inspections that have parts left the most urgent one; NULL: there is none, or the dataset that is
 * next in the queue comes before its parts. The lock is held. */
struct hub_work *hub_urgent_work(const struct hub_scanner *s, const struct hub_tracked_dataset *next);

/* ---- tracked.c (lock held) ---- */

struct hub_tracked_dataset *hub_tracked_find(const struct hub_scanner *s, const char *id);
/** The dataset of this id, made if need be. NULL: no memory. */
struct hub_tracked_dataset *hub_tracked_get(struct hub_scanner *s, const struct hub_found_dataset *found);
void hub_tracked_remove(struct hub_scanner *s, struct hub_tracked_dataset *tracked);
void hub_tracked_free_all(struct hub_scanner *s);
/** After a sweep: forget what it did not see, unless its root could not be read. */
struct hub_sweep;
void hub_tracked_forget_gone(struct hub_scanner *s, const struct hub_sweep *sweep);
void hub_tracked_push(struct hub_scanner *s, struct hub_tracked_dataset *tracked, enum hub_scan_queue queue);
/** The dataset whose turn it is; NULL: none waits. */
struct hub_tracked_dataset *hub_tracked_next(const struct hub_scanner *s);
void hub_tracked_unqueue(struct hub_scanner *s, struct hub_tracked_dataset *tracked);
/** Look at it again in `after_ms`. */
void hub_tracked_wait(struct hub_scanner *s, struct hub_tracked_dataset *tracked, int64_t after_ms);
bool hub_scan_is_idle(const struct hub_scanner *s);

/** Over bidders, files and drivers: the same means there is nothing to inspect. Never 0. */
uint64_t hub_scan_signature(const struct hub_scanner *s, const char *const *formats, uint32_t format_count,
                            const struct hub_fileset *files);
/** Another signature, for what failed under today's limits of an inspection. */
uint64_t hub_scan_limited(const struct hub_scanner *s, uint64_t signature);
/** Another one, for what was refused to us: found again in this round of this dataset alone. */
uint64_t hub_scan_refused(const struct hub_scanner *s, const struct hub_tracked_dataset *tracked,
                          uint64_t signature);
/** The same of a part: its name, hint and files. */
uint64_t hub_scan_part_signature(const struct hub_scanner *s, const char *format,
                                 const struct hub_found_part *part, const struct hub_fileset *files);
/** The same by what is in its files, which another link to them, or a copy, does not change: 0 where a
 * digest is not known. `digests` are those of `files`, verified at their stamps. By the CRC-32C and the
 * size a bucket's files are taken for the same as well, when they are copied. */
uint64_t hub_scan_part_content(const struct hub_scanner *s, const char *format,
                               const struct hub_found_part *part, const struct hub_fileset *files,
                               const struct hub_file_digests *digests, bool by_crc32c);

/* ---- notes.c ---- */

/** Of the note about a dataset: the signature that was inspected. */
HUB_MUST_USE enum hub_status hub_tracked_key(const struct hub_scanner *s, uint32_t root, const char *id,
                                             struct hub_buf *key);
/** Remember that this state of the dataset was inspected; 0: forget it. */
void hub_scan_remember(struct hub_scanner *s, uint32_t root, const char *id, uint64_t signature);
/** Remember how often trouble of this machine ended its inspection. */
void hub_scan_remember_trouble(struct hub_scanner *s, uint32_t root, const char *id, uint64_t signature,
                               unsigned troubles);
/** What is remembered of the state with this signature. */
void hub_scan_recall(const struct hub_scanner *s, struct hub_tracked_dataset *tracked, uint64_t signature);

/* ---- publish_plain.c ---- */

/** Publish a dataset: who and what it is stands in the draft; its files, problems and revision are filled in
 * here. `plan` may be NULL. */
HUB_MUST_USE enum hub_status hub_scan_publish(struct hub_scanner *s, struct hub_draft draft,
                                              const struct hub_fileset *files,
                                              const struct hub_findings *plan, struct hub_error *err);

/** Datasets without parts that go into the catalogue together. Of the sweeping thread. */
struct hub_batch {
    struct hub_batched *sets;
    uint32_t count;
    uint64_t file_count;
    int64_t began_ms;
    bool at_once;
};

/** Take a dataset with its files, and `reason` it is broken for or NULL. Lock held; it stays until the batch
 * is published. */
HUB_MUST_USE enum hub_status hub_batch_add(struct hub_scanner *s, struct hub_batch *batch,
                                           struct hub_tracked_dataset *tracked, struct hub_fileset *files,
                                           const char *reason, struct hub_error *err);
/** It is full, or what is in it has waited long enough. */
bool hub_batch_is_due(const struct hub_batch *batch);
/** Publish what is in it, and empty it. What could not be published is found changed by the next sweep. No
 * lock held. */
HUB_MUST_USE enum hub_status hub_batch_publish(struct hub_scanner *s, struct hub_batch *batch,
                                               struct hub_error *err);
void hub_batch_dispose(struct hub_batch *batch);

/* ---- found.c ---- */

/** A dataset was found: queue it, or take it into the batch, if it is new or changed. The lock is held. */
HUB_MUST_USE enum hub_status hub_scan_found(struct hub_scanner *s, struct hub_batch *batch,
                                            struct hub_found_dataset *found, struct hub_error *err);

/* ---- sweep.c ---- */

/** A walk through all roots, or a look at a part of one. */
struct hub_sweep {
    struct hub_scanner *scanner;
    const struct hub_scope *only; /* NULL: all */
    int64_t began_ms;
    struct hub_discovered out;
    struct hub_error err;
    bool root_missing[HUB_MAX_ROOTS];
    _Atomic int64_t shown_ms;
    /* behind its lock */
    pthread_mutex_t lock;
    struct hub_pair_set notes; /* hashes of the keys that are remembered rightly */
    bool partial;              /* ... are not all of them */
    struct hub_links links;
    /* from one thread at a time */
    bool beyond; /* what it found may change what is outside of the part */
    uint32_t clash_count;
    bool new_clash;
    struct hub_batch batch;
};

/** Walk the roots once: queue what is new or changed, remove what is gone. No lock held. */
void hub_scan_sweep(struct hub_scanner *s);
/** The walk itself, for a look: `notes` and `links` are left to the caller. Nothing is removed when it goes
 * beyond its part. */
HUB_MUST_USE enum hub_status hub_sweep_run(struct hub_sweep *sweep);
/** Whether files that lie in this folder are looked at. */
bool hub_sweep_has(const struct hub_sweep *sweep, uint32_t root, const char *path);
/** Until when to rest after one that ends now. */
int64_t hub_sweep_rest_until_ms(int64_t began_ms);

/* ---- look.c ---- */

/** Look at a folder of a root from `due_ms` on; `shallow`: at its own files alone. The lock is held, as in
 * the next four. */
void hub_looks_add(struct hub_scanner *s, uint32_t root, const char *path, bool shallow, int64_t due_ms);
/** Drop what lies in a part that is about to be looked at; NULL: all. */
void hub_looks_cover(struct hub_scanner *s, const struct hub_scope *done);
/** Find out when the next dataset that waits is due. */
void hub_looks_plan(struct hub_scanner *s);
/** When there is something to look at; INT64_MAX: nothing. */
int64_t hub_looks_due_ms(const struct hub_scanner *s);
/** Whether somebody published files that were not looked at. */
bool hub_looks_is_wanted(const struct hub_scanner *s);
/** Have looked at what inotify saw. No lock held, as in the next. */
void hub_looks_take_events(struct hub_scanner *s);
/** Look at what is due. */
void hub_looks_run(struct hub_scanner *s);

/* ---- inspect_work.c ---- */

/** A failure that says something about the dataset's files, and not about this machine at this moment. */
bool hub_scan_is_verdict(enum hub_status st);
/** A verdict under today's limits of an inspection, that others may change. */
bool hub_scan_is_limit(const struct hub_error *err);
/** Ask for the plan of a dataset: which of its parts are to be inspected. No lock is held, nor below. */
HUB_MUST_USE enum hub_status hub_work_plan(struct hub_work *w, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_work_inspect_part(struct hub_work *w, uint32_t number,
                                                   struct hub_error *err);
/** HUB_CHANGED: the files are not those that were inspected. */
HUB_MUST_USE enum hub_status hub_work_check_unchanged(const struct hub_work *w, struct hub_error *err);
/** What is published where nothing went wrong. */
struct hub_draft hub_work_draft(const struct hub_work *w);

/* ---- verdict.c ---- */

/** Publish what an inspection that ended with `st` says of the dataset; where it says nothing, have it looked
 * at again later. No lock held. */
void hub_work_publish(struct hub_work *w, enum hub_status st, struct hub_error *err);

/* ---- work.c ---- */

void *hub_scan_worker(void *scanner);

/* ---- watch.c ---- */

HUB_MUST_USE enum hub_status hub_inotify_new(struct hub_inotify **out, struct hub_error *err);
void hub_inotify_free(struct hub_inotify *watch);
int hub_inotify_fd(const struct hub_inotify *watch);
/** A sweep begins: directories get their paths again, those without a watch are counted. */
void hub_inotify_begin(struct hub_inotify *watch);
/** Watch the directory that was opened, if there is room. */
void hub_inotify_add(struct hub_inotify *watch, uint32_t root, const char *path, int fd);
/** `name`: of what changed in the folder; NULL: the folder itself. */
typedef void (*hub_inotify_each)(void *user, uint32_t root, const char *folder, const char *name,
                                 bool directory);
/** Take what has happened. False: something did, and it is not known where. */
HUB_MUST_USE bool hub_inotify_take(struct hub_inotify *watch, hub_inotify_each each, void *user);
/** Directories that are not watched for want of room. */
uint64_t hub_inotify_missed(const struct hub_inotify *watch);

#endif
