/** What the files of hub.db share: its one writing connection, its readers, and its clock. */
#ifndef HUB_TRUTH_HUBDB_H
#define HUB_TRUTH_HUBDB_H

#include "storage/base/lru.h"
#include "storage/sqlite/readers.h"
#include "storage/truth/commits.h"
#include "storage/truth/jobs.h"
#include "storage/truth/truth.h"

#include <pthread.h>
#include <stdatomic.h>

/** Milliseconds since 1970 on the database's clock. */
#define HUB_DB_NOW "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"

struct hub_access_rule;
struct hub_audit;
struct hub_damages;
struct hub_declared_access;
struct hub_hook_event;
struct hub_quotas;

struct hub_truth {
    const struct hub_roots *roots; /* NULL: they have numbers alone */
    struct hub_db_readers *readers;
    const struct hub_quotas *quotas; /* NULL: none */

    pthread_mutex_t lock; /* of its connection */
    struct hub_db *db;
    char owner[33]; /* of this start's leases */
    atomic_bool has_aliases, has_repos, keeps_events;
    atomic_uint_fast64_t events_dropped; /* publications whose event had no room */

    struct hub_lru *digests;                                             /* looked up lately: digests.c */
    atomic_uint_fast64_t digests_stored, upstream_stored, damage_stored; /* since the start */
    atomic_uint_fast64_t commits_changed;

    pthread_mutex_t damage_lock; /* held briefly */
    struct hub_damages *damages;
    atomic_uint damage_count;
};

/** Take its connection for one short transaction at most: returns it, for HUB_CLEANUP, which undoes what was
 * not committed. */
static inline struct hub_truth *hub_truth_lock(struct hub_truth *truth)
{
    pthread_mutex_lock(&truth->lock);
    hub_db_sync_commits(truth->db, true);
    return truth;
}
/** The same for what a power cut may undo without harm: its commit does not wait for the disk. */
static inline struct hub_truth *hub_truth_lock_unsynced(struct hub_truth *truth)
{
    pthread_mutex_lock(&truth->lock);
    hub_db_sync_commits(truth->db, false);
    return truth;
}
static inline void hub_truth_unlock(struct hub_truth **held)
{
    hub_db_rollback((*held)->db);
    pthread_mutex_unlock(&(*held)->lock);
}

/** This thread's read-only connection. */
static inline HUB_MUST_USE enum hub_status hub_truth_reader(struct hub_truth *truth, struct hub_db **out,
                                                            struct hub_error *err)
{
    return hub_db_readers_get(truth->readers, out, err);
}

/** One step of hub.db: migrations/NNNN_what.sql, embedded at build time. The last row is empty. */
struct hub_migration {
    const char *name, *sql;
};
extern const struct hub_migration hub_migrations[];

/** Bring it to the newest version. HUB_UNSUPPORTED: a newer program wrote it. `check`: it may be damaged. */
HUB_MUST_USE enum hub_status hub_truth_migrate(struct hub_db *db, const char *path, bool check,
                                               struct hub_error *err);
/** Add an event within a transaction. HUB_TOO_BIG: too many wait. */
HUB_MUST_USE enum hub_status hub_hook_event_insert(struct hub_db *db, const struct hub_hook_event *event,
                                                   struct hub_error *err);
/** The version of hub.db that this program writes. */
int hub_truth_newest(void);

/** At open: leases of other starts of the program are void. */
HUB_MUST_USE enum hub_status hub_jobs_void(struct hub_truth *truth, struct hub_error *err);
/** A new id for the outside, of the system's random numbers. */
void hub_job_make_id(char out[HUB_JOB_ID + 1]);
/** HUB_DENIED "fenced" unless the lease holds: within the transaction of what depends on it. */
HUB_MUST_USE enum hub_status hub_lease_check(struct hub_db *db, struct hub_lease lease,
                                             struct hub_error *err);
/** End a change of rules or tokens: check that the rules compile, write the audit row, commit. */
HUB_MUST_USE enum hub_status hub_access_commit(struct hub_db *db, const struct hub_declared_access *declared,
                                               const struct hub_audit *audit, struct hub_error *err);
/** Set a rule that is checked already, within the transaction of the caller. */
HUB_MUST_USE enum hub_status hub_access_rule_put(struct hub_db *db, const struct hub_access_rule *rule,
                                                 struct hub_error *err);
/** HUB_CHANGED "commit-conflict" unless this commit is the head of a dataset; "": it has none, or its files
 * were deleted. Within the transaction of what depends on it. */
HUB_MUST_USE enum hub_status hub_commit_expect(struct hub_db *db, const char *dataset, const char *head,
                                               struct hub_error *err);
/** HUB_BUSY "draft-busy" while a draft of a dataset is being published; `draft`: but for this one. */
HUB_MUST_USE enum hub_status hub_commit_expect_quiet(struct hub_db *db, const char *dataset,
                                                     const char *draft, struct hub_error *err);
/** hub_commit_add within the transaction of the caller. */
HUB_MUST_USE enum hub_status hub_commit_insert(struct hub_truth *truth, const struct hub_commit *commit,
                                               bool keep_parent, struct hub_error *err);
/** Commit a transaction that changed the head of a dataset. */
HUB_MUST_USE enum hub_status hub_commits_end(struct hub_truth *held, struct hub_error *err);
/** At open: whether a dataset was ever renamed. */
HUB_MUST_USE enum hub_status hub_aliases_load(struct hub_truth *truth, struct hub_error *err);
/** Give a repo another id and place, where there is one, within the transaction of the caller. */
HUB_MUST_USE enum hub_status hub_repo_rename_in(struct hub_db *db, const char *id, const char *to,
                                                const char *path, struct hub_error *err);
/** At open: whether there is a repo. */
HUB_MUST_USE enum hub_status hub_repos_load(struct hub_truth *truth, struct hub_error *err);
/** At open: read the damaged files into memory. */
HUB_MUST_USE enum hub_status hub_damages_load(struct hub_truth *truth, struct hub_error *err);
void hub_damages_free(struct hub_damages *damages);

#endif
