/** Digests of files that were downloaded, and what they are worth. */
#ifndef HUB_TRANSFER_CHECK_H
#define HUB_TRANSFER_CHECK_H

#include "storage/model/file_hasher.h"
#include "storage/transfer/watch.h"

struct hub_check {
    struct hub_remote *remote;
    struct hub_staging *staging;
    struct hub_remote_files *plan; /* digests that come later are added */
    unsigned wait_ms;              /* for digests the hub does not know yet */
    bool sha256_later;             /* as in hub_pieces */
    hub_tick_fn tick;
    void *user;
    const struct hub_transfer_watch *watch; /* or NULL */

    uint64_t bytes_hashed, verified; /* files that agree with a digest of the remote */
    const char *digest;              /* by which, "SHA-256"; of several the weakest */
};

/** Wait until the hub knows the digests of all files of the plan, or nothing new came for `wait_ms`. */
HUB_MUST_USE enum hub_status hub_await_digests(struct hub_check *check, struct hub_error *err);

/**
 * Hash what was not hashed as it came, ask for missing digests, compare. HUB_CORRUPT "digest-mismatch": the
 * file was dropped from the staging place, the next download fetches it again. HUB_CHANGED: the hub has
 * another revision by now.
 */
HUB_MUST_USE enum hub_status hub_check_run(struct hub_check *check, struct hub_error *err);

#endif
