/** Repos for a backup: the objects that their commits name, kept. */
#ifndef HUB_BACKUP_REPOS_H
#define HUB_BACKUP_REPOS_H

#include "storage/backup/manifest.h"
#include "storage/backup/objects.h"
#include "storage/io/roots.h"

/** List the repos of a copy of hub.db, in place of those that are listed. */
HUB_MUST_USE enum hub_status hub_backup_repos_list(const char *database, struct hub_backup *backup,
                                                   struct hub_error *err);
/**
 * Keep the objects of a repo. The root is not asked for those that the backup has already. What is wrong with
 * one becomes the repo's problem, and is no failure of the call.
 * @param objects  NULL: the root has to have them, and no more
 */
HUB_MUST_USE enum hub_status hub_backup_repo_take(const struct hub_roots *roots,
                                                  struct hub_backup_objects *objects,
                                                  struct hub_backup_repo *repo, struct hub_error *err);

#endif
