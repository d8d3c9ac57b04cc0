/**
 * What an upstream says of a dataset that is not here, without having it fetched: the list of its files,
 * and the bytes of a small one. Blocking, for as long as the upstream takes; one that does not answer is
 * not asked again for a while. Safe from any thread.
 */
#ifndef HUB_MIRROR_PEEK_H
#define HUB_MIRROR_PEEK_H

#include "server/mirror/mirror.h"
#include "storage/remote/remote.h"

enum { HUB_PEEK_BYTES = 1024 * 1024 };

/** Its files: to be disposed of. HUB_IO "upstream-unavailable", "upstream-failed". */
HUB_MUST_USE enum hub_status hub_peek_files(struct hub_mirrors *mirrors, const struct hub_summary *summary,
                                            struct hub_remote_files *out, struct hub_error *err);
/** Its document, as it came and parsed (json_decref it): of another hub all that this knows, of a bucket and
 * of Hugging Face what its metadata.json says. As above. */
HUB_MUST_USE enum hub_status hub_peek_document(struct hub_mirrors *mirrors, const struct hub_summary *summary,
                                               struct hub_buf *text, json_t **out, struct hub_error *err);
/** Append the bytes of a file of at most HUB_PEEK_BYTES, which agree with its digest, if it has one. */
HUB_MUST_USE enum hub_status hub_peek_bytes(struct hub_mirrors *mirrors, const struct hub_summary *summary,
                                            const char *path, struct hub_buf *out, struct hub_error *err);

#endif
