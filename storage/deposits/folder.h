/** The hub's own folders of a root; for the files of this folder. */
#ifndef HUB_DEPOSITS_FOLDER_H
#define HUB_DEPOSITS_FOLDER_H

#include "storage/deposits/deposit.h"

enum { HUB_OBJECT_NAME = 2 * HUB_SHA256_BYTES + 1, HUB_PARTED_MOST = 100 * 1000 /* files of parts */ };

/** Open "objects" or "parts". Without `make`, HUB_NOT_FOUND where there is none. Close both. */
HUB_MUST_USE enum hub_status hub_deposits_folder(const struct hub_deposits *deposits, uint32_t root,
                                                 const char *name, bool make, struct hub_private *place,
                                                 int *folder, struct hub_error *err);

#endif
