/** Files of a dataset, for documents, rows and spaces. */
#ifndef HUB_API_FILES_H
#define HUB_API_FILES_H

#include "server/api/app.h"
#include "storage/base/json.h"

/** Its item in the listing; digests with an empty sha256 are not known. */
void hub_file_item(struct hub_json *json, const struct hub_dataset_file *file,
                   const struct hub_file_digests *digests);

/** A file of the dataset as it was indexed. HUB_CHANGED "dataset-changing" when it is another by now. */
HUB_MUST_USE enum hub_status hub_files_open(struct hub_request *request, const struct hub_dataset *dataset,
                                            const struct hub_dataset_file *entry, struct hub_file **out,
                                            struct hub_error *err);

#endif
