/**
 * Taking a backup beside a running hub: its hub.db at one moment, its configuration, a list of the datasets
 * that it owns, and on request their files. Neither the hub nor its writers wait for it.
 */
#ifndef HUB_BACKUP_BACKUP_H
#define HUB_BACKUP_BACKUP_H

#include "storage/backup/manifest.h"
#include "storage/io/roots.h"

struct hub_backup_progress {
    const char *name;  /* of the dataset under way */
    uint32_t done, of; /* datasets */
    uint64_t bytes;    /* read or written so far */
};
/** Is called often. Anything but HUB_OK ends the work. */
typedef enum hub_status (*hub_backup_tick)(void *user, const struct hub_backup_progress *progress,
                                           struct hub_error *err);

struct hub_backup_options {
    const char *state, *folder;
    const struct hub_roots *roots;
    struct hub_view config; /* text of the configuration in force */
    bool data;              /* the files too */
    bool prune;             /* remove files that only earlier backups in the folder needed */
    hub_backup_tick tick;   /* NULL: nobody looks */
    void *user;
};

struct hub_backup_report {
    struct hub_backup backup; /* as its manifest says */
    uint32_t datasets, kept;  /* and earlier revisions of them */
    uint64_t files, bytes;    /* of all of them */
    uint64_t objects;         /* that commits of repos name; many are files of datasets too */
    uint64_t new_files, new_bytes, pruned;
    uint32_t problems; /* datasets, revisions and repos with one */
};
void hub_backup_report_dispose(struct hub_backup_report *report);

/**
 * Take a backup into a folder: a new or empty one, or one with a backup, which the new one replaces when it
 * is whole. What is interrupted goes on the next time.
 * @return HUB_INVALID: the folder cannot take it; HUB_BUSY: another backup is being written there. A dataset
 *         with a problem does not end the backup
 */
HUB_MUST_USE enum hub_status hub_backup_take(const struct hub_backup_options *options,
                                             struct hub_backup_report *out, struct hub_error *err);

#endif
