/** "origin" in the document of a dataset: the remote that it was copied from, or that lists it. */
#ifndef HUB_API_DATASETS_ORIGIN_H
#define HUB_API_DATASETS_ORIGIN_H

#include "storage/catalog/summary.h"
#include "storage/text/json.h"
#include "storage/truth/rules.h"

/** Nothing where it is neither. Asks SQLite. */
void hub_origin_write(struct hub_json *json, struct hub_truth *truth, const struct hub_summary *summary);

#endif
