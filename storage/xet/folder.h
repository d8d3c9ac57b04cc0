/**
 * Xorbs in a folder: a file each, called by its hash, which holds the chunks as they came and, behind them,
 * a table that says where each one ends, so that any run of chunks is found without a look at the others.
 * A xorb that comes again replaces the one that is there; who reads that one goes on with it.
 *
 * Files are not synced: after a power cut one may be damaged. Its table or the SHA-256 of what is made of it
 * says so then, and the client sends it again.
 */
#ifndef HUB_XET_FOLDER_H
#define HUB_XET_FOLDER_H

#include "storage/xet/hash.h"
#include "storage/xet/xorb.h"

/* ---- writing ---- */

/** A xorb that comes. HUB_XORB_UPLOAD_INIT: none. */
struct hub_xorb_upload {
    int folder, fd;                             /* folder: borrowed */
    char hash[HUB_XET_HASH_TEXT + 1], part[24]; /* its name, and the one until it is whole */
    struct hub_xorb_scan scan;
};
#define HUB_XORB_UPLOAD_INIT                                                                                 \
    (struct hub_xorb_upload)                                                                                 \
    {                                                                                                        \
        .fd = -1                                                                                             \
    }

HUB_MUST_USE enum hub_status hub_xorb_upload_begin(int folder, const uint8_t hash[HUB_XET_HASH],
                                                   struct hub_xorb_upload *out, struct hub_error *err);
/** Like hub_xorb_scan_add; HUB_NO_SPACE, HUB_IO. */
HUB_MUST_USE enum hub_status hub_xorb_upload_add(struct hub_xorb_upload *upload, struct hub_view bytes,
                                                 struct hub_error *err);
/** All bytes came: the xorb gets its name, and `*size` the bytes that it takes. */
HUB_MUST_USE enum hub_status hub_xorb_upload_end(struct hub_xorb_upload *upload, uint64_t *size,
                                                 struct hub_error *err);
/** What has no name yet is removed. */
void hub_xorb_upload_dispose(struct hub_xorb_upload *upload);

/* ---- reading ---- */

struct hub_xorb_file {
    uint8_t hash[HUB_XET_HASH];
    int fd; /* -1: none */
    uint32_t count, size;
    uint64_t used; /* when, counted */
};

enum { HUB_XORBS_OPEN = 16 };

/** The xorbs of a folder, of which those that were used last are open. One thread at a time. */
struct hub_xorbs {
    int folder; /* borrowed */
    uint64_t uses;
    struct hub_xorb_file files[HUB_XORBS_OPEN];
};
/** Zeroed ones may be disposed, too. */
void hub_xorbs_init(struct hub_xorbs *xorbs, int folder);
void hub_xorbs_dispose(struct hub_xorbs *xorbs);

/** The one with a hash, until the next call. HUB_NOT_FOUND: it is not there; HUB_CORRUPT: it is damaged. */
HUB_MUST_USE enum hub_status hub_xorbs_find(struct hub_xorbs *xorbs, const uint8_t hash[HUB_XET_HASH],
                                            const struct hub_xorb_file **out, struct hub_error *err);
/** Where its chunks `first` to `first` + `count` - 1 end, and, before them, where the first one begins. */
HUB_MUST_USE enum hub_status hub_xorb_file_chunks(const struct hub_xorb_file *file, uint32_t first,
                                                  uint32_t count, struct hub_xorb_chunk *out,
                                                  struct hub_error *err);

#endif
