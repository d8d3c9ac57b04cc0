/**
 * Documents of datasets: the summary (a list item), the whole document and the listing of its
 * files. The latter two are kept ready as bytes while what they show is unchanged, so that a hot one costs a
 * lookup and many slow readers of one share its memory.
 */
#ifndef HUB_API_DOCUMENTS_H
#define HUB_API_DOCUMENTS_H

#include "server/api/resolve.h"
#include "storage/base/json.h"

/** The members of a summary, inside an object that the caller opened. */
void hub_summary_write(struct hub_json *json, struct hub_catalog *catalog, const struct hub_summary *summary);

/** "versions": the summaries of its name. */
void hub_versions_write(struct hub_json *json, struct hub_catalog *catalog, const struct hub_target *target);

/** "shards": those of a series of tar files, with a brace for each run of numbers. */
HUB_MUST_USE enum hub_status hub_shards_write(struct hub_json *json, const struct hub_dataset *dataset,
                                              struct hub_error *err);

enum hub_document { HUB_DOCUMENT_DATASET, HUB_DOCUMENT_FILES };

/** Names the states that a document shows, by their serials: of the dataset, and unless it is the listing of
 * its files those of its other versions. What is published elsewhere leaves it as it is. */
uint64_t hub_document_states(enum hub_document which, const struct hub_snapshot *snapshot,
                             const struct hub_summary *summary);

/** Answer with a document of the dataset, ready or built; gzip where it is accepted and worth it. HUB_AGAIN
 * on an event thread when it has to be built. */
HUB_MUST_USE enum hub_status hub_document_answer(struct hub_request *request, const struct hub_target *target,
                                                 enum hub_document which, struct hub_response *response,
                                                 struct hub_error *err);

#endif
