/**
 * Copies of hub.db: taken beside the hub that writes it, read, and made fit for other roots before a hub
 * opens them. They are files that nobody else has open. One thread at a time.
 */
#ifndef HUB_TRUTH_COPY_H
#define HUB_TRUTH_COPY_H

#include "storage/io/fs.h"
#include "storage/sqlite/db.h"

/** Copy the hub.db of a state directory as it is at one moment. HUB_NOT_FOUND: there is none.
 * @param path  of the copy; nothing is there yet */
HUB_MUST_USE enum hub_status hub_truth_copy(const char *state, const char *path, struct hub_error *err);

/** What the hub published or mirrored; texts live until the callback returns. */
struct hub_owned {
    const char *dataset, *commit, *tree; /* id, a commit and its content; NULL: it is mirrored */
    const char *root, *path;             /* key, folder below it; "": as a push of this id finds it */
    const char *remote, *remote_id;      /* of one that is mirrored */
    bool kept;                           /* the commit is an earlier one, of which the files are kept */
};
typedef enum hub_status (*hub_owned_each)(void *user, const struct hub_owned *owned, struct hub_error *err);
/** Read a copy: each dataset, then what is kept of it. HUB_UNSUPPORTED: it is of another version of the
 * program than this one. */
HUB_MUST_USE enum hub_status hub_truth_copy_owned(const char *path, hub_owned_each each, void *user,
                                                  struct hub_error *err);

/** A root as it was stored, and as it is to be. */
struct hub_root_move {
    const char *from, *to; /* keys */
};
/**
 * Make a copy fit for another place: it is migrated, what it says of a root it says of the new one, and
 * drafts that are not published, objects that no commit names and how roots looked are forgotten.
 * @return HUB_UNSUPPORTED: a newer program wrote it
 */
HUB_MUST_USE enum hub_status hub_truth_copy_fit(const char *path, const struct hub_root_move *moves,
                                                size_t count, struct hub_error *err);

/** What an open copy has of a file with these bytes holds for its new stamp. `root`: its key; `sha256` in
 * hex. A file that it does not know is no failure. */
HUB_MUST_USE enum hub_status hub_truth_copy_stamp(struct hub_db *db, const char *root, const char *path,
                                                  const struct hub_stamp *stamp, const char *sha256,
                                                  struct hub_error *err);

#endif
