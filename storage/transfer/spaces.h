/** namespace_metadata.json of the namespaces that a dataset is in: they come along with it, and are made,
 * changed and removed as Python Minari does. */
#ifndef HUB_TRANSFER_SPACES_H
#define HUB_TRANSFER_SPACES_H

#include "storage/io/fs.h"
#include "storage/remote/remote.h"
#include "storage/transfer/private.h"

enum { HUB_SPACE_BYTES = 1024 * 1024 }; /* bytes of its file, at most */
extern const char hub_space_file[];     /* "namespace_metadata.json" */

/** Fetch that of every level above `id` which is not in the root yet; never over one that is. What a remote
 * does not have, or its kind does not know, is none. */
HUB_MUST_USE enum hub_status hub_spaces_fetch(struct hub_remote *remote, const struct hub_private *place,
                                              const char *id, struct hub_error *err);

/** Put a file of an open folder beside the datasets of a namespace, "a/b/", as theirs, if there is none. */
HUB_MUST_USE enum hub_status hub_space_put(const struct hub_private *place, const char *space, int from,
                                           const char *path, struct hub_error *err);

/** What may be there where a namespace is written. */
enum hub_space_mode {
    HUB_SPACE_ANY,
    HUB_SPACE_NEW,  /* no file of it: else HUB_EXISTS */
    HUB_SPACE_OVER, /* its file: else HUB_NOT_FOUND "namespace-not-found" */
};
/**
 * Write the file of a namespace, all of it at once. Its folders are made where they may be.
 * @param space  where it is below the root; HUB_EXISTS where it is, or lies in, a dataset
 * @param text   a JSON object of at most HUB_SPACE_BYTES; else HUB_INVALID
 * @param[out] made  the file was not there; written before HUB_EXISTS, too, where it was
 */
HUB_MUST_USE enum hub_status hub_space_write(const struct hub_private *place, const char *space,
                                             enum hub_space_mode mode, struct hub_view text, bool *made,
                                             struct hub_error *err);
/** As Python Minari does with a namespace that another one is made in: write "{}" where its folder has no
 * file, which then is `made`. */
HUB_MUST_USE enum hub_status hub_space_fill(const struct hub_private *place, const char *space, bool *made,
                                            struct hub_error *err);
/** Remove an empty one. HUB_NOT_FOUND "namespace-not-found": no folder of it has a file. HUB_EXISTS:
 * something is in it, which `left` lists; dispose of it. */
HUB_MUST_USE enum hub_status hub_space_remove(const struct hub_private *place, const char *space,
                                              struct hub_names *left, struct hub_error *err);
/** Append the text of one. HUB_NOT_FOUND "namespace-not-found"; HUB_CORRUPT where it is not a JSON object. */
HUB_MUST_USE enum hub_status hub_space_read(const char *root, const char *space, struct hub_buf *out,
                                            struct hub_error *err);

typedef enum hub_status (*hub_space_each)(void *user, const char *space, struct hub_error *err);
/** The names of all that have a file below a root, in order of their bytes. A folder that has "data" in it is
 * a dataset: nothing in it is looked at. A root that is not there has none. */
HUB_MUST_USE enum hub_status hub_spaces_each(const char *root, hub_space_each each, void *user,
                                             struct hub_error *err);

#endif
