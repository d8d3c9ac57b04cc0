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

struct hub_missing_object {
    uint8_t sha256[HUB_SHA256_BYTES];
    char *source; /* "lab/arm-v0: data/a.bin", a file with its bytes of a dataset; "": none is known */
};

/** A repo that lacks objects, and what it lost with them. Texts are its own. */
struct hub_restored_repo {
    char *id;
    char *why;  /* of the first object that is missing */
    char *refs; /* "branch dev, tag v1"; "": none */
    struct hub_missing_object *missing;
    uint32_t missing_count, capacity;
    uint32_t commits;
    bool all; /* it is forgotten */
};

struct hub_restore_report {
    struct hub_backup backup;        /* why a set is missing is its problem */
    enum hub_restored *results;      /* of its sets */
    struct hub_restored_repo *repos; /* those that lack objects */
    uint32_t repo_count, repo_capacity;
    uint64_t objects; /* of repos */
    uint64_t objects_there, objects_linked,
        objects_placed;              /* already; to files of datasets; from the backup */
    uint32_t missing, there, placed; /* datasets; and earlier revisions that are missing */
    uint32_t kept;                   /* earlier revisions that are there or put in place */
    uint64_t files, bytes;           /* that were put in place */
};
void hub_restore_report_dispose(struct hub_restore_report *report);

/**
 * @return HUB_NOT_FOUND: the folder is no backup; HUB_INVALID: the state directory is not empty, or a root of
 *         the backup has no place; HUB_UNSUPPORTED: a newer program wrote it; HUB_CORRUPT: its hub.db is
 *         damaged. A dataset that cannot be put in place does not end the restore: it is missing. Nor does an
 *         object: commits that name it are forgotten
 */
HUB_MUST_USE enum hub_status hub_restore(const struct hub_restore_options *options,
                                         struct hub_restore_report *out, struct hub_error *err);

#endif
