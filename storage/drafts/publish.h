/**
 * From a whole tree to a dataset: its record, on the disk for good, and one rename. What was there is kept as
 * an earlier revision.
 */
#ifndef HUB_DRAFTS_PUBLISH_H
#define HUB_DRAFTS_PUBLISH_H

#include "storage/drafts/draft.h"
#include "storage/ids/revision.h"
#include "storage/remote/remote.h"

/** Where a tree goes. */
struct hub_draft_place {
    const char *id;     /* of the dataset, as the record has it */
    const char *path;   /* below the root */
    const char *commit; /* that the record names */
    const char *base;   /* the commit whose files are there; "": nothing is */
};

/**
 * Put the tree of a draft where its dataset is to be. Files and folders are synced first, then the names.
 * Nobody sees a part of it. Where a step fails behind the exchange, hub_draft_is_in_place says that it is
 * there.
 * @param files of the tree, sorted, with their SHA-256
 * @return HUB_EXISTS: something is there by now, or other files than those of the base
 */
HUB_MUST_USE enum hub_status hub_draft_put_in_place(const struct hub_draft_folder *draft,
                                                    const struct hub_remote_files *files,
                                                    const struct hub_draft_place *to, struct hub_error *err);
/** Write the record of a dataset into its folder, .minari-hub.json, by which other hubs and `minari-cli
 * verify` know the files. */
HUB_MUST_USE enum hub_status hub_draft_record_write(int directory, const struct hub_remote_files *files,
                                                    const struct hub_draft_place *to, struct hub_error *err);
/** Name all files: hub_content. */
HUB_MUST_USE enum hub_status hub_draft_tree_name(const struct hub_remote_files *files,
                                                 char out[HUB_CONTENT_CHARS + 1], struct hub_error *err);
/** How many files differ from those of a dataset that was published. */
struct hub_tree_changes {
    uint64_t added, changed, removed;
};
/** @param files      sorted, with their SHA-256
 *  @param directory  of the dataset, below the root, whose record names its files
 *  @return HUB_NOT_FOUND: it has no record */
HUB_MUST_USE enum hub_status hub_draft_compare(const char *root, const char *directory,
                                               const struct hub_remote_files *files,
                                               struct hub_tree_changes *out, struct hub_error *err);
/** Is the dataset there the one of this commit? */
bool hub_draft_is_in_place(const char *root, const struct hub_draft_place *to);
/** Keep the files of the base that lie in the folder of a draft, as after a crash between two renames. */
HUB_MUST_USE enum hub_status hub_draft_keep_base(const char *root, const char *draft,
                                                 const struct hub_draft_place *to, struct hub_error *err);
/** Of one that is there: its name and those above it, on the disk for good. Whoever put it there may have
 * failed, or ended, before they were. */
HUB_MUST_USE enum hub_status hub_draft_sync_place(const char *root, const char *target,
                                                  struct hub_error *err);

#endif
