/** The inside of a discovery, for directory.c, discover.c, hf_repo.c, nodes.c, report.c and unclaimed.c. */
#ifndef HUB_DISCOVER_DISCOVER_STATE_H
#define HUB_DISCOVER_DISCOVER_STATE_H

#include "storage/base/thread.h"
#include "storage/discover/claim.h"
#include "storage/discover/pair_set.h"

/** A directory of the walk. */
struct hub_node {
    struct hub_node *parent, *next;     /* next: in the queue */
    struct hub_node *all;               /* newest first: children before their parents */
    struct hub_node *children, *beside; /* beside: the parent's next child */
    uint64_t device, inode;             /* while it waits as a link */
    uint32_t root;
    bool recognised;          /* a dataset here or below, or something that may hold one */
    bool has_files;           /* a file nobody claimed, here or below */
    bool holds_name;          /* a series of files beside it has its name too */
    bool other;               /* of a snapshot that its repo's refs/main does not name */
    char *refused;            /* why it was not entered: it is listed as broken */
    char *leaving;            /* links that are not followed, as in the listing */
    char *withheld;           /* its files that hold a login, as in the listing */
    struct hub_fileset loose; /* its own files that nobody claimed */
    char path[];
};

/** A directory that waits to be asked about. */
struct hub_waiting {
    struct hub_waiting *next;
    struct hub_node *node;
    struct hub_listing listing;
    struct hub_question *question;
};

struct hub_walking {
    const struct hub_discovery *discovery;
    struct hub_discovered *out;
    const struct hub_format_table *formats;
    pthread_mutex_t each_lock;
    struct hub_thread threads; /* besides the caller's; they end by themselves */
    /* behind their lock */
    struct hub_node *first, *last, *all;
    struct hub_node *links; /* directories that are links, by `next`: entered when all else was */
    struct hub_waiting *waiting;
    uint32_t waiting_count;
    size_t waiting_entries;
    struct hub_pair_set entered;
    uint64_t directories; /* of this root */
    char *root_name; /* last segment of the id of the root's loose files; NULL: ids begin with its name */
    unsigned busy;
    enum hub_status status;
    struct hub_error *err;
    /* behind each_lock */
    struct hub_pair_set ids; /* by two hashes of each: no id twice */
};

/** What is handed out. */
struct hub_finding {
    const struct hub_node *node;
    const char *name; /* last segment of the id of a claim of files, or NULL */
    bool single_files;
    const char *const *formats;
    uint32_t format_count;
    const char *broken; /* NULL: it is not */
    bool clash;         /* something beside it wanted the same id */
};

/* ---- nodes.c ---- */

HUB_MUST_USE enum hub_status hub_walking_enter_root(struct hub_walking *w, uint32_t root,
                                                    struct hub_error *err);
/** Enter the directory `e` of `folder`, below a node that need not be its parent. `other`: what it holds is
 * called by its commit. */
HUB_MUST_USE enum hub_status hub_walking_enter(struct hub_walking *w, struct hub_node *node,
                                               const char *folder, const struct hub_entry *e, bool other,
                                               struct hub_error *err);
/** Enter a directory of a node; a link waits until all else was entered. */
HUB_MUST_USE enum hub_status hub_walking_enter_below(struct hub_walking *w, struct hub_node *node,
                                                     const struct hub_entry *e, bool holds_name,
                                                     struct hub_error *err);
/** The same of a dataset of its own in one that was claimed. */
HUB_MUST_USE enum hub_status hub_walking_enter_nested(struct hub_walking *w, struct hub_node *node,
                                                      const char *path, struct hub_error *err);
/** Enter the kept revisions of a root, by its node: they are other snapshots of the datasets that were
 * published there. */
HUB_MUST_USE enum hub_status hub_walking_enter_kept(struct hub_walking *w, struct hub_node *node,
                                                    struct hub_error *err);
/** Enter the links that waited, in order, so that the same of several is entered each time. The lock is
 * held. */
HUB_MUST_USE enum hub_status hub_walking_enter_links(struct hub_walking *w, struct hub_error *err);
/** The directory is listed as broken. The lock is held. */
HUB_MUST_USE enum hub_status hub_walking_refuse(struct hub_walking *w, struct hub_node *node,
                                                const char *why);
void hub_node_free(struct hub_node *node);
/** What is found may change what is outside of the scope of this walk. */
void hub_walking_go_beyond(struct hub_walking *w);
/** Whether not all folders of a directory are entered, for the scope leads through it. */
bool hub_walking_passes(const struct hub_walking *w, const struct hub_node *node);

/* ---- directory.c ---- */

/** Claimed or not: what is in a directory. */
HUB_MUST_USE enum hub_status hub_walking_resolve(struct hub_walking *w, struct hub_node *node,
                                                 struct hub_listing *listing, const struct hub_bids *bids,
                                                 struct hub_error *err);
/** A directory that could not be read hides no other: only our own failures are returned. */
HUB_MUST_USE enum hub_status hub_walking_note_failure(struct hub_walking *w, struct hub_node *node,
                                                      enum hub_status st, const struct hub_error *why,
                                                      struct hub_error *err);
/** What is known of a directory and all below it stays. */
void hub_walking_note_unreachable(struct hub_walking *w, struct hub_node *node);
/** A listing that crashes a driver must not hide what is below it; a missing inspector is another matter. */
bool hub_nobody_to_ask(enum hub_status st);
/** A disk or a server that does not answer now says nothing about what is there. */
bool hub_is_transient(enum hub_status st);

/* ---- hf_repo.c ---- */

/** Where a directory of the node is a repo of Hugging Face's cache, enter its snapshots: `entered`. */
HUB_MUST_USE enum hub_status hub_walking_enter_repo(struct hub_walking *w, struct hub_node *node,
                                                    const struct hub_entry *e, bool *entered,
                                                    struct hub_error *err);

/* ---- report.c ---- */

/** HUB_CANCELLED when the callback failed: the walk's own status says why. */
HUB_MUST_USE enum hub_status hub_walking_hand_out(struct hub_walking *w, const struct hub_finding *finding,
                                                  struct hub_fileset *files, struct hub_error *err);
/** End the walk; the first reason stands. */
void hub_walking_fail(struct hub_walking *w, enum hub_status st, const struct hub_error *err);
/** A name for the loose files of a root that no folder of the listing has; `out` is empty before. */
HUB_MUST_USE enum hub_status hub_walking_root_name(const struct hub_listing *listing, struct hub_buf *out,
                                                   struct hub_error *err);

/* ---- unclaimed.c ---- */

/** When the walk of a root has ended: hand out what nobody claimed. */
HUB_MUST_USE enum hub_status hub_walking_hand_out_loose(struct hub_walking *w, struct hub_error *err);

#endif
