/**
 * Objects that come in parts, in any order and over a day: one file in ROOT/.minari-hub/parts, as long as the
 * object, with the SHA-256 of each part that came behind it. So it goes on after a restart, and becomes an
 * object when all parts are there. What was left for HUB_DEPOSIT_HOURS goes. Safe from any thread.
 */
#ifndef HUB_DEPOSITS_PARTS_H
#define HUB_DEPOSITS_PARTS_H

#include "storage/deposits/deposit.h"

enum { HUB_PARTS = 10000, HUB_PART_ROW = HUB_SHA256_BYTES };

/** An object and how it is divided. */
struct hub_parted {
    uint32_t root;
    const char *who; /* as hub_draft_writer names a principal: nobody else's parts come into it */
    uint8_t sha256[HUB_SHA256_BYTES];
    uint64_t size, part_bytes; /* of each part but the last */
};
/** How many parts it has: HUB_INVALID: none, or more than HUB_PARTS. */
HUB_MUST_USE enum hub_status hub_parts_count(const struct hub_parted *of, uint32_t *out,
                                             struct hub_error *err);

/** A part that comes. HUB_OBJECT_PART_INIT: none. */
struct hub_object_part {
    struct hub_private place;
    int folder, fd;
    uint64_t at, end, row; /* in the file: what comes next, where the part ends, and its row */
    struct hub_digest sha256;
};
#define HUB_OBJECT_PART_INIT                                                                                 \
    (struct hub_object_part)                                                                                 \
    {                                                                                                        \
        .place = HUB_PRIVATE_INIT, .folder = -1, .fd = -1                                                    \
    }
/** @param number  from 1
 *  @return HUB_NO_SPACE "no-space": neither the disk nor the budget takes the object; HUB_BUSY: it is being
 *  put together */
HUB_MUST_USE enum hub_status hub_object_part_begin(const struct hub_deposits *deposits,
                                                   const struct hub_parted *of, uint32_t number,
                                                   struct hub_object_part *out, struct hub_error *err);
/** HUB_TOO_BIG: more than its size. */
HUB_MUST_USE enum hub_status hub_object_part_write(struct hub_object_part *part, struct hub_view bytes,
                                                   struct hub_error *err);
/** It is whole; `row` is its SHA-256. HUB_INVALID where bytes are missing. */
HUB_MUST_USE enum hub_status hub_object_part_finish(struct hub_object_part *part, uint8_t row[HUB_PART_ROW],
                                                    struct hub_error *err);
/** One that is not finished is not there. */
void hub_object_part_close(struct hub_object_part *part);

/**
 * All parts are there: an object from now on, the principal's; one that is there already is fine.
 * @param rows  of `count` parts in their order, as they were answered
 * @return HUB_INVALID: a part is missing, or another one; HUB_BUSY: one still comes; HUB_CORRUPT
 * "digest-mismatch": the object is another than the one that was stated, and nothing is kept
 */
HUB_MUST_USE enum hub_status hub_parts_join(const struct hub_deposits *deposits, const struct hub_parted *of,
                                            const uint8_t (*rows)[HUB_PART_ROW], uint32_t count,
                                            struct hub_error *err);

/** Whether the object may wait for a commit, as far as it has not room already: HUB_NO_SPACE "no-space". */
HUB_MUST_USE enum hub_status hub_parts_room(const struct hub_deposits *deposits, const struct hub_parted *of,
                                            struct hub_error *err);
/** Remove what was left for HUB_DEPOSIT_HOURS. */
void hub_parts_tidy(const struct hub_deposits *deposits);

#endif
