/**
 * A backup becomes a hub again: its files are put below roots, checked by their digests, and its hub.db into
 * an empty state directory. hub.db comes last, so that an interrupted restore can be repeated.
 */
#ifndef HUB_BACKUP_RESTORE_H
#define HUB_BACKUP_RESTORE_H

#include "storage/backup/backup.h"

struct hub_restore_options {
    const char *folder;
    const char *state;             /* a directory that is there */
    const struct hub_roots *roots; /* one for each of the backup: by name, those without one in their order */
    hub_backup_tick tick;          /* NULL: nobody looks */
    void *user;
};

enum hub_restored { HUB_RESTORE_MISSING, HUB_RESTORE_THERE, HUB_RESTORE_PLACED };

struct hub_restore_report {
    struct hub_backup backup;        /* why a set is missing is its problem */
    enum hub_restored *results;      /* of its sets */
    uint32_t missing, there, placed; /* datasets; and earlier revisions that are missing */
    uint32_t kept;                   /* earlier revisions that are there or put in place */
    uint64_t files, bytes;           /* that were put in place */
};
void hub_restore_report_dispose(struct hub_restore_report *report);

/**
 * @return HUB_NOT_FOUND: the folder is no backup; HUB_INVALID: the state directory is not empty, or a root of
 *         the backup has no place; HUB_UNSUPPORTED: a newer program wrote it; HUB_CORRUPT: its hub.db is
 *         damaged. A dataset that cannot be put in place does not end the restore: it is missing
 */
HUB_MUST_USE enum hub_status hub_restore(const struct hub_restore_options *options,
                                         struct hub_restore_report *out, struct hub_error *err);

#endif
