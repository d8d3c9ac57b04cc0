/**
 * Datasets out of a tar into a root: unpacked beside it, verified, synced, published like any other transfer.
 *
 * A folder with .minari-hub.json, or else the topmost one with a folder "data", is a dataset, whose id is its
 * path in the tar. A tar without any is taken by its topmost folders; one that is to have another name is
 * that as a whole. Files that are of no dataset, and hidden ones, are left out, but namespace_metadata.json
 * is put where there is none. Files that the record of their dataset does not list come along, as a README
 * that somebody put there; they are named, and the new record says of them that their digests were computed
 * here.
 */
#ifndef HUB_TRANSFER_IMPORT_H
#define HUB_TRANSFER_IMPORT_H

#include "storage/transfer/private.h"
#include "storage/transfer/record.h"
#include "storage/transfer/unpack.h"

/** A dataset of the tar. */
struct hub_imported {
    char *root;            /* in the tar: first, see order.h */
    char *target;          /* beneath the root of datasets */
    uint32_t first, count; /* of the files that were unpacked; the record counts */
    uint64_t bytes;
    uint32_t verified; /* files that agree with the digests in the tar */
    uint32_t unlisted; /* files that none of them is of; `notice` names the first */
    bool recorded;     /* there are some */
    struct hub_record record;
};

/** Zero it, fill the first group; the rest are results. Dispose it. */
struct hub_import {
    int fd; /* the tar, read from its offset on */
    const struct hub_private *place;
    const char *as; /* "NAME/": before the ids; "NAME": the one dataset is called so; NULL: as in the tar */
    const char *within; /* what the hub's ids in this root begin with, "NAME": taken off; NULL: nothing */
    bool replace;       /* datasets that are there */
    uint64_t spare_bytes;
    hub_tick_fn tick; /* several times a second, and before anything is published; NULL: nobody is asked */
    void (*notice)(const char *line, void *user); /* for a person; NULL: nobody listens */
    void *user;

    struct hub_unpack unpack;
    struct hub_imported *sets; /* sorted by root */
    uint32_t count, capacity, published;
};

/**
 * HUB_OK: all datasets of the tar are in the root, on the disk for good. Otherwise nothing of a dataset is
 * visible but those of the first `published`; the error says why, besides those of hub_unpack_run:
 * HUB_EXISTS, HUB_CORRUPT "digest-mismatch", HUB_INVALID, HUB_BUSY "import-running".
 */
HUB_MUST_USE enum hub_status hub_import_run(struct hub_import *import, struct hub_error *err);
void hub_import_dispose(struct hub_import *import);

/** Remove what an import left that was killed, unless it goes on. */
void hub_import_tidy(const struct hub_private *place);

#endif
