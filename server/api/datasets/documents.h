/** Documents of datasets: the summary (a list item) and the whole document. */
#ifndef HUB_API_DATASETS_DOCUMENTS_H
#define HUB_API_DATASETS_DOCUMENTS_H

#include "server/api/document_cache.h"
#include "storage/text/json.h"

/** The members of a summary, inside an object that the caller opened. */
void hub_summary_write(struct hub_json *json, struct hub_truth *truth, const struct hub_summary *summary);

/** "versions": the summaries of its name. */
void hub_versions_write(struct hub_json *json, struct hub_truth *truth, const struct hub_target *target);

/** A dataset's own document: out of date when one of its versions or what it says of them changes. */
extern const struct hub_document_kind hub_dataset_document;

#endif
