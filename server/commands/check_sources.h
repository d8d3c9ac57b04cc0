/** Where a backup has what a deep check misses. */
#ifndef HUB_COMMANDS_CHECK_SOURCES_H
#define HUB_COMMANDS_CHECK_SOURCES_H

#include "storage/backup/manifest.h"
#include "storage/text/json.h"

/** Read the backup in a folder, which has to be one with data. Dispose it. */
HUB_MUST_USE enum hub_status hub_check_read_backup(const char *folder, struct hub_backup *out,
                                                   struct hub_error *err);
/** Add the folder to the sources of each finding of a result that it has. */
void hub_check_offer_backup(const char *folder, const struct hub_backup *backup, json_t *result);

#endif
