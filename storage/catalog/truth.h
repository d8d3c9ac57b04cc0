/** What the files of hub.db share: its one writing connection, and its clock. */
#ifndef HUB_CATALOG_TRUTH_H
#define HUB_CATALOG_TRUTH_H

#include "storage/catalog/internal.h"
#include "storage/catalog/jobs.h"

/** Milliseconds since 1970 on the database's clock. */
#define HUB_DB_NOW "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"

/** Take its connection, `hub`, for one short transaction at most: returns the catalogue, for HUB_CLEANUP, which
 * undoes what was not committed. */
static inline struct hub_catalog *hub_truth_lock(struct hub_catalog *catalog)
{
    pthread_mutex_lock(&catalog->hub_lock);
    hub_db_sync_commits(catalog->hub, true);
    return catalog;
}
/** The same for what a power cut may undo without harm: its commit does not wait for the disk. */
static inline struct hub_catalog *hub_truth_lock_unsynced(struct hub_catalog *catalog)
{
    pthread_mutex_lock(&catalog->hub_lock);
    hub_db_sync_commits(catalog->hub, false);
    return catalog;
}
static inline void hub_truth_unlock(struct hub_catalog **held)
{
    hub_db_rollback((*held)->hub);
    pthread_mutex_unlock(&(*held)->hub_lock);
}

/** At open: leases of other starts of the program are void. */
HUB_MUST_USE enum hub_status hub_jobs_void(struct hub_catalog *catalog, struct hub_error *err);
/** HUB_DENIED "fenced" unless the lease holds: within the transaction of what depends on it. */
HUB_MUST_USE enum hub_status hub_lease_check(struct hub_db *db, struct hub_lease lease,
                                             struct hub_error *err);

#endif
