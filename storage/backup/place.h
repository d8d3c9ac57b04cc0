/** One dataset of a backup below its root. */
#ifndef HUB_BACKUP_PLACE_H
#define HUB_BACKUP_PLACE_H

#include "storage/backup/manifest.h"
#include "storage/backup/objects.h"
#include "storage/io/roots.h"

/** Open the folder of its files, in its place or among those that are kept. HUB_NOT_FOUND: nothing is
 * there. */
HUB_MUST_USE enum hub_status hub_backup_set_open(const struct hub_root *root,
                                                 const struct hub_backup_set *set, int *folder,
                                                 struct hub_error *err);
/**
 * Is the dataset there already, with the files of the set by its record and their sizes?
 * @return HUB_NOT_FOUND: nothing is there; HUB_EXISTS: something else is
 */
HUB_MUST_USE enum hub_status hub_place_look(const struct hub_root *root, const struct hub_backup_set *set,
                                            struct hub_error *err);
/** Write its files aside, checked, and put them in place by one rename.
 * @param like  NULL, or another revision of the same dataset, which was put in place by this restore: files
 *              that are the same there are linked
 * @return HUB_CORRUPT, HUB_NOT_FOUND: a file is
 * damaged in the backup, or missing there. */
HUB_MUST_USE enum hub_status hub_place(const struct hub_root *root, struct hub_backup_objects *objects,
                                       const struct hub_backup_set *set, const struct hub_backup_set *like,
                                       struct hub_error *err);

#endif
