/** What a namespace says of itself: namespace_metadata.json, which Minari keeps in its folder. */
#ifndef HUB_API_NAMESPACE_FILE_H
#define HUB_API_NAMESPACE_FILE_H

#include "storage/io/roots.h"

extern const char hub_namespace_file_name[];

/**
 * Append its text, an object: the very bytes, or strict JSON where it is Python's.
 *
 * @param folder  of the namespace, below the root; "" is the root itself
 * @param modified_ns  when the file was written; may be NULL
 * @return HUB_NOT_FOUND: there is none; HUB_CORRUPT, HUB_TOO_BIG (over 1 MiB)
 */
HUB_MUST_USE enum hub_status hub_namespace_file(const struct hub_roots *roots, uint32_t root,
                                                struct hub_view folder, struct hub_buf *out,
                                                int64_t *modified_ns, struct hub_error *err);

/**
 * The same of a namespace by its name in ids, of datasets of this root: ids are paths below their root,
 * behind its name where it has one.
 */
HUB_MUST_USE enum hub_status hub_namespace_of(const struct hub_roots *roots, uint32_t root,
                                              struct hub_view name, struct hub_buf *out, int64_t *modified_ns,
                                              struct hub_error *err);

#endif
