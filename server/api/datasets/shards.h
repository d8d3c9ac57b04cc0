/** The shards of a dataset, as the library webdataset takes them. */
#ifndef HUB_API_DATASETS_SHARDS_H
#define HUB_API_DATASETS_SHARDS_H

#include "storage/catalog/dataset.h"
#include "storage/text/json.h"

/** "shards": the files of which the row of the format says what they end in, with a brace for each run of
 * numbers. */
HUB_MUST_USE enum hub_status hub_shards_write(struct hub_json *json, const struct hub_dataset *dataset,
                                              struct hub_error *err);

#endif
