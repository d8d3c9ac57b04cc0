/** One dataset for a backup: found, listed by its record, its files kept. */
#ifndef HUB_BACKUP_CAPTURE_H
#define HUB_BACKUP_CAPTURE_H

#include "storage/backup/manifest.h"
#include "storage/backup/objects.h"
#include "storage/io/roots.h"

/** Find where a set lies of which hub.db names no root that is served, by its id. It stays without one where
 * it lies in none. */
HUB_MUST_USE enum hub_status hub_capture_place(const struct hub_roots *roots, struct hub_backup_set *set,
                                               struct hub_error *err);
/**
 * List the files of a set by the record in its folder, and keep them. What is wrong with it becomes its
 * problem, and is no failure of the call.
 * @param objects  NULL: the files are only listed
 */
HUB_MUST_USE enum hub_status hub_capture(const struct hub_roots *roots, struct hub_backup_objects *objects,
                                         struct hub_backup_set *set, struct hub_error *err);
/** Whether a failure is of what is captured alone, and not of the backup. */
bool hub_capture_is_problem(enum hub_status st);
/** Are its files those of its commit? Of one that is mirrored: always. */
bool hub_capture_is_of_commit(const struct hub_backup_set *set);

#endif
