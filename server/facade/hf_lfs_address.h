/** Addresses of objects that clients send: each carries the right to send that one, for clients send no token
 * there, and a day later it carries none. */
#ifndef HUB_FACADE_HF_LFS_ADDRESS_H
#define HUB_FACADE_HF_LFS_ADDRESS_H

#include "server/facade/hf_lfs_body.h"
#include "server/facade/hf_push.h"

/** What is sent there: an object, one of its parts, or the list of them. */
struct hub_lfs_target {
    struct hub_lfs_object object;
    uint64_t part_bytes; /* 0: it comes in one piece */
    uint32_t part;       /* from 1; 0: the list */
};

/** Append the address. HUB_UNSUPPORTED: the hub has no key. */
HUB_MUST_USE enum hub_status hub_lfs_address_write(const struct hub_request *request, const char *repo,
                                                   const struct hub_lfs_target *target, struct hub_buf *out,
                                                   struct hub_error *err);
/** The target of such an address, and who asked for it: HUB_DENIED: the address is none, or that principal
 * may not write there any more. */
HUB_MUST_USE enum hub_status hub_lfs_address_read(struct hub_request *request, const char *repo,
                                                  struct hub_lfs_target *out, char who[HUB_WRITER_CHARS],
                                                  struct hub_error *err);

#endif
