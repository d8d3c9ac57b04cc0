/** The bytes of a download: ranges of files over parallel connections, into a staging place. */
#ifndef HUB_TRANSFER_PIECES_H
#define HUB_TRANSFER_PIECES_H

#include "storage/transfer/watch.h"

struct hub_pieces {
    struct hub_remote *remote;
    struct hub_staging *staging;
    struct hub_remote_files *plan; /* ETags and digests that answers bring are added */
    unsigned connections;          /* at least 1 */
    enum hub_status (*tick)(void *user, struct hub_error *err);
    void *user;
    const struct hub_transfer_watch *watch; /* or NULL */
    /** Of files whose CRC-32C the remote states and nothing else, the sums have that alone, and no SHA-256:
     * it is computed as the bytes come, without reading them again. */
    bool sha256_later;

    uint64_t bytes_done, files_done; /* including those of earlier downloads and copies */
};

/**
 * Fetch all that is missing. HUB_CHANGED: the hub no longer has these files as planned; ask for a new plan.
 * Whatever the outcome, what is done is in the journal.
 */
HUB_MUST_USE enum hub_status hub_pieces_run(struct hub_pieces *pieces, struct hub_error *err);

#endif
