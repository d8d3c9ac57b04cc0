/**
 * A backup becomes a hub again: its files are put below roots, checked by their digests, and its hub.db into
 * an empty state directory. hub.db comes last, so that an interrupted restore can be repeated.
 */
#ifndef HUB_BACKUP_RESTORE_H
#define HUB_BACKUP_RESTORE_H

#include "storage/backup/backup.h"
#include "storage/backup/restored.h"

struct hub_restore_options {
    const char *folder;
    const char *state;             /* a directory that is there */
    const struct hub_roots *roots; /* one for each of the backup: by name, those without one in their order */
    hub_backup_tick tick;          /* NULL: nobody looks */
    void *user;
};

/**
 * @return HUB_NOT_FOUND: the folder is no backup; HUB_INVALID: the state directory is not empty, or a root of
 *         the backup has no place; HUB_UNSUPPORTED: a newer program wrote it; HUB_CORRUPT: its hub.db is
 *         damaged. A dataset that cannot be put in place does not end the restore: it is missing. Nor does an
 *         object: commits that name it are forgotten
 */
HUB_MUST_USE enum hub_status hub_restore(const struct hub_restore_options *options,
                                         struct hub_restore_report *out, struct hub_error *err);

#endif
