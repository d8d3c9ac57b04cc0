/**
 * Names of kept revisions: what took the place of a dataset leaves the old files in the private folder of the
 * root, ROOT/.minari-hub/kept/PATH@COMMIT, where they are found as another snapshot of the dataset,
 * "lab/arm-v0@COMMIT".
 */
#ifndef HUB_IDS_KEPT_H
#define HUB_IDS_KEPT_H

#include "storage/base/buf.h"

enum { HUB_KEPT_COMMIT = 40 };
/** The folder of kept revisions in a private folder. */
#define HUB_KEPT "kept"

/** Is a folder called as the private one of a root: ".minari-hub", or ".minari-hub-UID"? */
bool hub_kept_private(struct hub_view name);
/** The commit that a name ends in: 40 hexadecimal digits behind its last "@". Empty: none. Borrows `name`. */
struct hub_view hub_kept_commit(struct hub_view name);

#endif
