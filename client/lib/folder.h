/** The files of a folder that is pushed. */
#ifndef HUB_CLIENT_FOLDER_H
#define HUB_CLIENT_FOLDER_H

#include "storage/remote/remote.h"

struct hub_folder {
    int fd;                        /* of the folder */
    struct hub_remote_files files; /* sorted, without digests; hidden names are in its `left_out` */
};
#define HUB_FOLDER_INIT                                                                                      \
    (struct hub_folder)                                                                                      \
    {                                                                                                        \
        .fd = -1                                                                                             \
    }

/** Dispose the result. Names that begin with ".minari-hub" are left out without a word.
 * @return HUB_INVALID: a name that a hub does not take, a link that leads out, nothing at all */
HUB_MUST_USE enum hub_status hub_folder_open(const char *path, struct hub_folder *out, struct hub_error *err);
void hub_folder_dispose(struct hub_folder *folder);

/** Open a file of it for reading, as long as it has the size that was listed: else HUB_CHANGED. */
HUB_MUST_USE enum hub_status hub_folder_file(const struct hub_folder *folder, uint32_t file, int *fd,
                                             struct hub_error *err);

#endif
