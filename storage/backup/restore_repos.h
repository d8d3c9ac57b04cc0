/** Objects of repos come back, by the rows of hub.db that name them; for restore.c. */
#ifndef HUB_BACKUP_RESTORE_REPOS_H
#define HUB_BACKUP_RESTORE_REPOS_H

#include "storage/backup/objects.h"
#include "storage/backup/restored.h"
#include "storage/io/roots.h"
#include "storage/sqlite/db.h"

struct hub_repos_restore {
    struct hub_db *db;                  /* fit for the new roots */
    const struct hub_roots *roots;      /* the new ones */
    struct hub_backup_objects *objects; /* NULL: the backup has none */
    struct hub_restore_report *report;  /* its sets are in place by now */
    const struct hub_root *(*place_of)(void *user, const struct hub_backup_set *set);
    enum hub_status (*tick)(void *user, const char *repo, struct hub_error *err);
    void *user;
};

/** Have each object where its rows say, and forget the commits whose objects are nowhere. */
HUB_MUST_USE enum hub_status hub_restore_repos(const struct hub_repos_restore *restore,
                                               struct hub_error *err);

#endif
