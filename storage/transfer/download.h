/** The bytes of a download into a staging place: ranges of files over parallel connections, then digests. */
#ifndef HUB_TRANSFER_DOWNLOAD_H
#define HUB_TRANSFER_DOWNLOAD_H

#include "storage/transfer/watch.h"

/** Zero it, fill the first group; the rest are results. */
struct hub_download {
    struct hub_remote *remote;
    struct hub_staging *staging;
    struct hub_remote_files *plan; /* ETags and digests that come are added */
    unsigned connections;          /* at least 1 */
    unsigned wait_ms;              /* for digests that the remote does not know yet */
    /** Of files whose CRC-32C the remote states and nothing else, the sums have that alone, and no SHA-256:
     * it is computed as the bytes come, without reading them again. */
    bool sha256_later;
    hub_tick_fn tick;
    void *user;
    const struct hub_transfer_watch *watch; /* or NULL */

    uint64_t bytes_done, files_done; /* including those of earlier downloads and copies */
    uint64_t bytes_hashed, verified; /* files that agree with a digest of the remote */
    const char *digest;              /* by which, "SHA-256"; of several the weakest */
};

/**
 * Fetch all that is missing. HUB_CHANGED: the hub no longer has these files as planned; ask for a new plan.
 * Whatever the outcome, what is done is in the journal.
 */
HUB_MUST_USE enum hub_status hub_download_fetch(struct hub_download *download, struct hub_error *err);

/** Wait until the hub knows the digests of all files of the plan, or nothing new came for `wait_ms`. */
HUB_MUST_USE enum hub_status hub_download_await(struct hub_download *download, struct hub_error *err);

/**
 * Hash what was not hashed as it came, await missing digests, compare. HUB_CORRUPT "digest-mismatch": the
 * file was dropped from the staging place, the next download fetches it again. HUB_CHANGED: the hub has
 * another revision by now.
 */
HUB_MUST_USE enum hub_status hub_download_check(struct hub_download *download, struct hub_error *err);

#endif
