/**
 * A file out of the terms of a shard: its bytes, block by block. The owner of the bytes checks their SHA-256,
 * which is all that counts.
 */
#ifndef HUB_XET_REBUILD_H
#define HUB_XET_REBUILD_H

#include "storage/xet/folder.h"
#include "storage/xet/shard.h"

enum { HUB_REBUILD_BLOCK = 1024 * 1024 };

/** Zeroed, or disposed of. One thread at a time. */
struct hub_rebuild {
    const struct hub_shard *shard; /* borrowed, as the xorbs are */
    struct hub_xorbs *xorbs;
    uint32_t term, last_term; /* of the file */
    uint32_t chunk;           /* of the term: the next one */
    uint8_t *stored, *raw, *scratch;
};

/** Memory that one takes: HUB_NO_MEMORY. */
HUB_MUST_USE enum hub_status hub_rebuild_init(struct hub_rebuild *rebuild, const struct hub_shard *shard,
                                              struct hub_xorbs *xorbs, struct hub_error *err);
void hub_rebuild_dispose(struct hub_rebuild *rebuild);
/** From the first byte of a file. HUB_INVALID: a term is not of the length it states. HUB_NOT_FOUND,
 * HUB_CORRUPT: of hub_xorbs_find. No byte is decoded yet. */
HUB_MUST_USE enum hub_status hub_rebuild_begin(struct hub_rebuild *rebuild, uint32_t file,
                                               struct hub_error *err);
/** The next bytes, until the next call; none at the end of the file. */
HUB_MUST_USE enum hub_status hub_rebuild_next(struct hub_rebuild *rebuild, struct hub_view *out,
                                              struct hub_error *err);

#endif
