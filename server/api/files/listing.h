/** The listing of a dataset's files, and what it says of each. */
#ifndef HUB_API_FILES_LISTING_H
#define HUB_API_FILES_LISTING_H

#include "server/api/document_cache.h"
#include "storage/catalog/dataset.h"
#include "storage/text/json.h"
#include "storage/truth/digests.h"

/** The media type of a file, by its name. */
const char *hub_file_type(const char *path);

/** Its item in the listing; digests with an empty sha256 are not known. */
void hub_file_item(struct hub_json *json, const struct hub_dataset_file *file,
                   const struct hub_file_digests *digests);

/** The members of its item, inside an object that the caller opened. */
void hub_file_members(struct hub_json *json, const struct hub_dataset_file *file,
                      const struct hub_file_digests *digests);

/** ... and the member that says why it is not served, where a check found it damaged. */
void hub_file_put_damage(struct hub_json *json, struct hub_truth *truth, const struct hub_dataset *dataset,
                         const struct hub_dataset_file *file);

/** The digests of all its files, to be freed; an empty sha256 where one is unknown. */
HUB_MUST_USE enum hub_status hub_files_digests(struct hub_truth *truth, const struct hub_dataset *dataset,
                                               struct hub_file_digests **out, struct hub_error *err);
/**
 * The members of the listing of a dataset's files, inside an object that the caller opened.
 *
 * @param only    by number, NULL: all
 * @param hashed  whether the digests of all are known
 */
HUB_MUST_USE enum hub_status hub_files_write(struct hub_json *json, struct hub_truth *truth,
                                             const struct hub_state *state, const bool *only, bool *hashed,
                                             struct hub_error *err);

/** All of it, as a document: out of date when its dataset is published again. */
extern const struct hub_document_kind hub_files_document;

#endif
