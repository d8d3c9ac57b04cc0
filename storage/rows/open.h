/** Files of a dataset, opened as they were indexed. */
#ifndef HUB_ROWS_OPEN_H
#define HUB_ROWS_OPEN_H

#include "storage/rows/context.h"

#include <limits.h>

/** Its path below the root. */
HUB_MUST_USE enum hub_status hub_files_path(const struct hub_dataset *dataset,
                                            const struct hub_dataset_file *file, char out[PATH_MAX],
                                            struct hub_error *err);

/** A file of the dataset as it was indexed. HUB_CHANGED "dataset-changing" when it is another by now;
 * HUB_AGAIN where it is not open already and the context may not block. */
HUB_MUST_USE enum hub_status hub_files_open(const struct hub_rows_context *context,
                                            const struct hub_dataset *dataset,
                                            const struct hub_dataset_file *entry, struct hub_file **out,
                                            struct hub_error *err);

/** The side data of a part: likewise, and HUB_CORRUPT "file-damaged" when a file of
 * the dataset is damaged. */
HUB_MUST_USE enum hub_status hub_side_open(const struct hub_rows_context *context,
                                           const struct hub_dataset *dataset,
                                           const struct hub_dataset_part *part, struct hub_file **out,
                                           struct hub_error *err);

#endif
