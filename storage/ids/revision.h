/** Names of a dataset's states and contents, digests over facts of its files. */
#ifndef HUB_IDS_REVISION_H
#define HUB_IDS_REVISION_H

#include "storage/base/error.h"

/** One file of a dataset, for its revision and content names. */
struct hub_revision_file {
    const char *path; /* relative to the dataset */
    uint64_t size;
    int64_t mtime_ns;
    const uint8_t *sha256; /* NULL: unknown; only for content */
};

enum { HUB_REVISION_CHARS = 40, HUB_CONTENT_CHARS = 64 };

/**
 * Name a published state: the head of SHA-256 over "path NUL size NUL mtime_ns LF" of each file, sorted by
 * path bytes. Files with a hidden segment (leading dot) do not count. Sorts `files`.
 */
HUB_MUST_USE enum hub_status hub_revision(struct hub_revision_file *files, size_t count,
                                          char out[HUB_REVISION_CHARS + 1], struct hub_error *err);

/** Name the data: SHA-256 over "path NUL size NUL sha256-hex LF" alike. HUB_NOT_FOUND when a digest is
 * unknown. */
HUB_MUST_USE enum hub_status hub_content(struct hub_revision_file *files, size_t count,
                                         char out[HUB_CONTENT_CHARS + 1], struct hub_error *err);

#endif
