/** What a remote said of a file, and what came: handed out by one transfer and in to the next. */
#ifndef HUB_TRANSFER_ORIGIN_H
#define HUB_TRANSFER_ORIGIN_H

#include "storage/remote/remote.h"

struct hub_origin {
    const char *path; /* borrowed */
    uint64_t size;
    uint64_t generation;              /* 0: not said */
    const char *etag;                 /* borrowed; NULL: not said, or not asked for again */
    int64_t modified_ns;              /* of the file here: the remote's, where that is known */
    bool has_sha256;                  /* else it is not computed yet */
    uint8_t sha256[HUB_SHA256_BYTES]; /* of the bytes here */
    uint8_t other;                    /* enum hub_remote_digest, of `sum`: as the remote states it */
    uint8_t sum[HUB_SHA1_BYTES];
    uint8_t *pieces; /* as in hub_sums; the transfer's */
    size_t pieces_size;
    bool verified; /* the bytes agree with a digest of the remote */
};

/** Whether a file that a remote lists now is what it was then, by its digest; without one by its
 * generation. */
bool hub_origin_same(const struct hub_origin *origin, const struct hub_remote_file *file);

#endif
