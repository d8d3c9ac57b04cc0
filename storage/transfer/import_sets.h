/** Which datasets a tar holds, by the names of its files. */
#ifndef HUB_TRANSFER_IMPORT_SETS_H
#define HUB_TRANSFER_IMPORT_SETS_H

#include "storage/transfer/import.h"

/** Fill the sets of an import whose tar is unpacked: their roots, sorted, none within another. */
HUB_MUST_USE enum hub_status hub_import_find_sets(struct hub_import *import, struct hub_error *err);
void hub_imported_dispose(struct hub_imported *set);
/** The set whose folder is named by the first `size` bytes of `root`; NULL: none. */
struct hub_imported *hub_import_around(const struct hub_import *import, const char *root, size_t size);
/** Whether all of the tar is to be one dataset: "NAME" and not "NAME/". */
bool hub_import_names_one(const struct hub_import *import);
/** Whether the last segment of a path is `name`. */
bool hub_path_is_named(const char *path, const char *name);

#endif
