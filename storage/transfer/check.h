/** Digests of files that were downloaded, and what they are worth. */
#ifndef HUB_TRANSFER_CHECK_H
#define HUB_TRANSFER_CHECK_H

#include "storage/transfer/staging.h"

typedef enum hub_status (*hub_tick_fn)(void *user, struct hub_error *err);

/** Digests of a file: SHA-256, and the kind that its remote gives where that is another. */
struct hub_check_sum {
    enum hub_remote_digest kind; /* in: of `other` */
    uint64_t size;               /* in: git's digest begins with it */
    uint64_t *done;              /* in: counts bytes up, or NULL */
    uint8_t sha256[HUB_SHA256_BYTES], other[HUB_SHA1_BYTES];
};

/** Of a whole open file, in one pass. */
HUB_MUST_USE enum hub_status hub_check_hash(int fd, struct hub_check_sum *sum, hub_tick_fn tick, void *user,
                                            struct hub_error *err);
/** Whether they agree with what the remote says. */
bool hub_check_agrees(const struct hub_check_sum *sum, const struct hub_remote_file *file);

struct hub_check {
    struct hub_remote *remote;
    struct hub_staging *staging;
    struct hub_remote_files *plan; /* digests that come later are added */
    unsigned wait_ms;              /* for digests the hub does not know yet */
    hub_tick_fn tick;
    void *user;

    uint8_t (*sums)[HUB_SHA256_BYTES]; /* what we computed, one a file; free it */
    uint64_t bytes_hashed, verified;   /* files that agree with a digest of the remote */
    const char *digest;                /* by which, "SHA-256"; of several the weakest */
};

/** Wait until the hub knows the digests of all files of the plan, or nothing new came for `wait_ms`. */
HUB_MUST_USE enum hub_status hub_await_digests(struct hub_check *check, struct hub_error *err);

/**
 * Hash all files, ask for missing digests, compare. HUB_CORRUPT "digest-mismatch": the file was
 * dropped from the staging place, the next download fetches it again. HUB_CHANGED: the hub has another
 * revision by now.
 */
HUB_MUST_USE enum hub_status hub_check_run(struct hub_check *check, struct hub_error *err);

#endif
