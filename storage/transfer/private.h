/**
 * The private folder of a root of datasets: ROOT/.minari-hub/ with "incoming" (unfinished downloads), "trash"
 * (what was replaced) and "replace" (journals of replacements). The root may be shared with people who can
 * make, rename and link in it what they like. Therefore the folder is opened once and without following a
 * link; it must be ours and writable for nobody else, otherwise ROOT/.minari-hub-UID/ is used; everything is
 * reached by descriptors, through no link; and only names of our own pattern are touched.
 */
#ifndef HUB_TRANSFER_PRIVATE_H
#define HUB_TRANSFER_PRIVATE_H

#include "storage/base/buf.h"

#include <limits.h>

#define HUB_PRIVATE_DIR ".minari-hub"
#define HUB_RECORD_FILE ".minari-hub.json"

struct hub_private {
    int root, folder;
    char path[PATH_MAX]; /* of the folder, for messages */
};

#define HUB_PRIVATE_INIT                                                                                     \
    (struct hub_private)                                                                                     \
    {                                                                                                        \
        .root = -1, .folder = -1                                                                             \
    }

/** @param make  also make it: without, HUB_NOT_FOUND where there is none. HUB_DENIED when none can be ours */
HUB_MUST_USE enum hub_status hub_private_open(const char *root, bool make, struct hub_private *out,
                                              struct hub_error *err);
void hub_private_close(struct hub_private *place);

/** Open a folder of ours in an open directory, following no link; `make` makes it. */
HUB_MUST_USE enum hub_status hub_private_folder(int directory, const char *name, bool make, int *fd,
                                                struct hub_error *err);

/** One at a time publishes, removes or tidies in a root, on this machine or another: close `fd` to end it.
 * -1 where the file system has no locks. */
HUB_MUST_USE enum hub_status hub_private_lock(const struct hub_private *place, int *fd,
                                              struct hub_error *err);

/** Open the folder of the root that holds a dataset's own, through no link; `name` is the dataset's there and
 * borrows from `id`. */
HUB_MUST_USE enum hub_status hub_private_parent(const struct hub_private *place, const char *id, bool make,
                                                int *fd, const char **name, struct hub_error *err);

/** A folder that is a dataset or a download of ours: not a namespace, not a link, not a file. */
bool hub_private_is_dataset(int directory, const char *name);

/** "PID-RANDOM": a name nobody has. */
void hub_private_name(char out[48]);
bool hub_private_name_is_ours(const char *name, const char *suffix);

#endif
