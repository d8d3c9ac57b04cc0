/** What clients of Git LFS state of objects: foreign bytes, read and checked. Safe from any thread. */
#ifndef HUB_FACADE_HF_LFS_BODY_H
#define HUB_FACADE_HF_LFS_BODY_H

#include "storage/base/digest.h"

enum { HUB_LFS_OBJECTS = 10000, HUB_LFS_BODY = 4 * 1024 * 1024 };

struct hub_lfs_object {
    char oid[2 * HUB_SHA256_BYTES + 1];
    uint8_t sha256[HUB_SHA256_BYTES];
    uint64_t size;
};
/** The name of an object: 64 hexadecimal digits. False: it is none. */
bool hub_lfs_name_read(struct hub_view text, struct hub_lfs_object *out);

typedef enum hub_status (*hub_lfs_each)(void *user, const struct hub_lfs_object *object,
                                        struct hub_error *err);
/** {"operation": "upload", "transfers": […], "hash_algo": "sha256", "objects": [{"oid", "size"}, …]}: each,
 * as they come. `takes_parts`, set before: "multipart" is one of the transfers. */
HUB_MUST_USE enum hub_status hub_lfs_batch_read(struct hub_view body, bool *takes_parts, hub_lfs_each each,
                                                void *user, struct hub_error *err);
/** {"oid", "parts": [{"partNumber": 1, "etag": "\"64 digits\""}, …]}, numbered in their order and at most
 * `most`: the SHA-256 of each. Free `rows`, on failure too. */
HUB_MUST_USE enum hub_status hub_lfs_parts_read(struct hub_view body, uint32_t most,
                                                uint8_t (**rows)[HUB_SHA256_BYTES], uint32_t *count,
                                                struct hub_error *err);
/** {"oid", "size"}: once. */
HUB_MUST_USE enum hub_status hub_lfs_object_read(struct hub_view body, hub_lfs_each each, void *user,
                                                 struct hub_error *err);

#endif
