/** The outcome of a restore. */
#ifndef HUB_BACKUP_RESTORED_H
#define HUB_BACKUP_RESTORED_H

#include "storage/backup/manifest.h"

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
    uint64_t objects;                /* of repos */
    uint64_t objects_there;          /* of them, before this restore */
    uint64_t objects_linked;         /* to files of datasets */
    uint64_t objects_placed;         /* from the backup */
    uint32_t missing, there, placed; /* datasets; and earlier revisions that are missing */
    uint32_t kept;                   /* earlier revisions that are there or put in place */
    uint64_t files, bytes;           /* that were put in place */
};
void hub_restore_report_dispose(struct hub_restore_report *report);

#endif
