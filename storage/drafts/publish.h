/** From a whole tree to a dataset: its record, on the disk for good, and one rename. */
#ifndef HUB_DRAFTS_PUBLISH_H
#define HUB_DRAFTS_PUBLISH_H

#include "storage/drafts/draft.h"
#include "storage/remote/remote.h"

/**
 * Put the tree of a draft where its dataset is to be, and where nothing is yet. Files and folders are
 * synced first, then the names. Nobody sees a part of it.
 * @param files of the tree, sorted, with their SHA-256
 * @param target below the root
 * @param id as the record has it
 * @return HUB_EXISTS: something is there by now
 */
HUB_MUST_USE enum hub_status hub_draft_put_in_place(const struct hub_draft_folder *draft,
                                                    const struct hub_remote_files *files, const char *target,
                                                    const char *id, struct hub_error *err);
/** Has the tree of a draft gone to its place, so that the folder is without one and the dataset is there? */
bool hub_draft_is_in_place(const char *root, const char *id, const char *target);

#endif
