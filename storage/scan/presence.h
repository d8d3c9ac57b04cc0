/**
 * Whether roots are there, in hub.db. A mount point without its file system is an ordinary empty directory:
 * taken for the root, all its datasets would count as deleted, and mirrors would fill the disk below it. Safe
 * from any thread.
 *
 * A root that had datasets is missing when none of them is where it was, and
 * - it is on another file system than they were; or where that is not known, nothing but hidden names and
 *   lost+found is in it; or
 * - nothing is in it, and the hub's own folder (.minari-hub) was there and is not.
 *
 * The number of a device changes at a remount, which is why it alone says nothing. Where somebody deletes all
 * datasets the device stays the same, and so does the hub's own folder if the hub ever wrote to this root.
 */
#ifndef HUB_SCAN_PRESENCE_H
#define HUB_SCAN_PRESENCE_H

#include "storage/catalog/catalog.h"
#include "storage/truth/truth.h"

/** Check whether a root is there. HUB_IO "root-missing" if not; a root that cannot be opened is HUB_OK, as
 * the caller reports that itself. */
HUB_MUST_USE enum hub_status hub_presence_check(struct hub_truth *truth, struct hub_catalog *catalog,
                                                const struct hub_roots *roots, uint32_t root,
                                                struct hub_error *err);
/** Write down that so many datasets are in a root, which is there. */
HUB_MUST_USE enum hub_status hub_presence_seen(struct hub_truth *truth, const struct hub_roots *roots,
                                               uint32_t root, uint64_t datasets, struct hub_error *err);
/** The datasets of a root are gone, says the admin: what is in it now is what it holds. */
HUB_MUST_USE enum hub_status hub_presence_forget(struct hub_truth *truth, uint32_t root,
                                                 struct hub_error *err);

#endif
