/** Objects that clients send in parts: those over `--upload-part`. */
#ifndef HUB_FACADE_HF_LFS_PARTS_H
#define HUB_FACADE_HF_LFS_PARTS_H

#include "server/api/app.h"
#include "server/facade/hf_lfs_body.h"
#include "storage/deposits/parts.h"

/** Bytes of each part of an object of this size but the last; 0: it comes in one piece. */
uint64_t hub_lfs_part_bytes(const struct hub_app *app, uint64_t size);
/** The object as `who` sends it; borrows that. */
struct hub_parted hub_lfs_parted(const struct hub_lfs_object *object, uint64_t part_bytes, uint32_t root,
                                 const char *who);

#endif
