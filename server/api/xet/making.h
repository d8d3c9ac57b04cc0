/**
 * The files of a shard, made one after another out of the xorbs of its upload, in steps of a fifth of a
 * second. Each becomes an object of who sent it once its SHA-256 is the one that the shard states; what is
 * there already is passed over.
 */
#ifndef HUB_API_XET_MAKING_H
#define HUB_API_XET_MAKING_H

#include "server/api/xet/place.h"
#include "storage/deposits/deposit.h"
#include "storage/xet/rebuild.h"

struct hub_xet_making {
    struct hub_app *app;
    struct hub_xet_place place;
    struct hub_shard shard;
    struct hub_xorbs xorbs;
    struct hub_rebuild rebuild;
    struct hub_deposit deposit;
    bool begun;    /* the file is being made */
    uint32_t file; /* of the shard */
};

/** `place` and `shard` are taken. Dispose it, whatever the result. */
HUB_MUST_USE enum hub_status hub_xet_making_init(struct hub_xet_making *making, struct hub_app *app,
                                                 struct hub_xet_place *place, struct hub_shard *shard,
                                                 struct hub_error *err);
void hub_xet_making_dispose(struct hub_xet_making *making);
static inline bool hub_xet_making_is_done(const struct hub_xet_making *making)
{
    return making->file == making->shard.file_count;
}
/** Go on. What fails ends it: HUB_NOT_FOUND, HUB_CORRUPT: a xorb is not as it was sent; the upload ends, so
 * that the next one sends it again. */
HUB_MUST_USE enum hub_status hub_xet_making_step(struct hub_xet_making *making, struct hub_error *err);

#endif
