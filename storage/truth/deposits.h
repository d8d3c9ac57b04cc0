/**
 * Deposits in hub.db: objects that came before a commit names them, and whose they are. Safe from any thread.
 */
#ifndef HUB_TRUTH_DEPOSITS_H
#define HUB_TRUTH_DEPOSITS_H

#include "storage/base/digest.h"
#include "storage/truth/truth.h"

struct hub_deposit_row {
    uint32_t root;
    const char *who; /* the caller's */
    uint8_t sha256[HUB_SHA256_BYTES];
    uint8_t sha1[HUB_SHA1_BYTES]; /* as git names the bytes, if that is known */
    bool has_sha1;
    uint64_t size;
};

/** Whether so many bytes more fit into `budget`, with what waits `beside` all deposits: HUB_NO_SPACE
 * "no-space". */
HUB_MUST_USE enum hub_status hub_deposits_room(struct hub_truth *truth, uint64_t beside, uint64_t more,
                                               uint64_t budget, struct hub_error *err);
/** Note that a principal sent an object, for the first time or again. */
HUB_MUST_USE enum hub_status hub_deposit_add(struct hub_truth *truth, const struct hub_deposit_row *row,
                                             struct hub_error *err);
/** The deposit of `out->who` with `out->sha256` in `out->root`; HUB_NOT_FOUND. */
HUB_MUST_USE enum hub_status hub_deposit_find(struct hub_truth *truth, struct hub_deposit_row *out,
                                              struct hub_error *err);
/** Forget those that no commit took and that came before a time, Unix ms. */
HUB_MUST_USE enum hub_status hub_deposits_expire(struct hub_truth *truth, int64_t before_ms,
                                                 struct hub_error *err);
typedef void (*hub_deposit_remove)(void *user);
/** Call `remove` if no row names an object; meanwhile nobody adds one. */
HUB_MUST_USE enum hub_status hub_deposit_sweep(struct hub_truth *truth, uint32_t root,
                                               const uint8_t sha256[HUB_SHA256_BYTES],
                                               hub_deposit_remove remove, void *user, struct hub_error *err);

#endif
