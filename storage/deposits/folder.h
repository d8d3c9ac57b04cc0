/** The folder of objects; for the files of this folder. */
#ifndef HUB_DEPOSITS_FOLDER_H
#define HUB_DEPOSITS_FOLDER_H

#include "storage/deposits/deposit.h"

enum { HUB_OBJECT_NAME = 2 * HUB_SHA256_BYTES + 1 };

/** Open it. Without `make`, HUB_NOT_FOUND where there is none. Close both. */
HUB_MUST_USE enum hub_status hub_objects_folder(const struct hub_deposits *deposits, uint32_t root, bool make,
                                                struct hub_private *place, int *folder,
                                                struct hub_error *err);

#endif
