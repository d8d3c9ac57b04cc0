/** The files of a dataset as a hub lists them, proven safe to create. */
#ifndef HUB_CLIENT_FILES_H
#define HUB_CLIENT_FILES_H

#include "client/lib/internal.h"

enum { HUB_MAX_FILES = 4 * 1000 * 1000 };

struct hub_remote_file {
    char *path;
    uint64_t size;
    bool has_sha256;
    uint8_t sha256[HUB_SHA256_BYTES];
};

struct hub_remote_files {
    char *id, *revision;
    struct hub_remote_file *items; /* sorted by path bytes; no two alike */
    size_t count;
    uint64_t bytes; /* in total */
};

/** @param revision  NULL, or the one it must still have: HUB_CHANGED "revision-gone" otherwise */
HUB_MUST_USE enum hub_status hub_remote_files_get(struct minari_client *client, const char *id,
                                                  const char *revision, struct hub_remote_files *out,
                                                  struct hub_error *err);
void hub_remote_files_dispose(struct hub_remote_files *files);

#endif
