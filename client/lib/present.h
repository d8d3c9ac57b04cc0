/** Is what lies where a dataset would go the dataset? As far as sizes tell: nothing is hashed. */
#ifndef HUB_CLIENT_PRESENT_H
#define HUB_CLIENT_PRESENT_H

#include "storage/transfer/record.h"

/** Compare a folder with the record of the download that made it. HUB_EXISTS "differs-here". */
HUB_MUST_USE enum hub_status hub_present_as_recorded(const char *path, const struct hub_record *record,
                                                     struct hub_error *err);
/** The same with what the remote lists. */
HUB_MUST_USE enum hub_status hub_present_as_listed(const char *path, const struct hub_remote_files *files,
                                                   struct hub_error *err);

#endif
