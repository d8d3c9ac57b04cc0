/**
 * Earlier revisions of a dataset, ROOT/.minari-hub/kept/PATH@COMMIT, and drafts that begin with the files of
 * one. Their files are links to the same ones: what did not change is stored once.
 */
#ifndef HUB_DRAFTS_KEPT_H
#define HUB_DRAFTS_KEPT_H

#include "storage/drafts/draft.h"
#include "storage/model/file_facts.h"

/** Append where a commit of a dataset is kept, relative to the private folder: "kept/lab/arm-v0@COMMIT". */
HUB_MUST_USE enum hub_status hub_kept_path(const char *path, const char *commit, struct hub_buf *out,
                                           struct hub_error *err);
/** The same relative to the root. HUB_NOT_FOUND: it is not there. */
HUB_MUST_USE enum hub_status hub_kept_find(const char *root, const char *path, const char *commit,
                                           struct hub_buf *out, struct hub_error *err);
/** Whether the folder of a kept revision, which is called by an id and a commit, can be called so:
 * HUB_INVALID. */
HUB_MUST_USE enum hub_status hub_draft_name_check(const char *id, struct hub_error *err);
/** Whether the place of a dataset has the files of this commit: HUB_EXISTS "exists" where it has others, or
 * what somebody put there by hand. */
HUB_MUST_USE enum hub_status hub_kept_check(const char *root, const char *path, const char *commit,
                                            struct hub_error *err);
/** Whether a dataset can lie at a place: HUB_EXISTS where something is there, or where a dataset lies
 * above. */
HUB_MUST_USE enum hub_status hub_place_check(const char *root, const char *path, struct hub_error *err);
/** Move the files of a commit there from their place. Where its place has none, or those of another commit,
 * nothing is done. */
HUB_MUST_USE enum hub_status hub_kept_move(const char *root, const char *path, const char *commit,
                                           struct hub_error *err);
/** Move it with its dataset from one place to another. Nothing there is fine. */
HUB_MUST_USE enum hub_status hub_kept_rename(const char *root, const char *from, const char *to,
                                             const char *commit, struct hub_error *err);
/** Move the files of a dataset to another place, where nothing is; their record names the new id. Where
 * they were moved already, nothing is done. */
HUB_MUST_USE enum hub_status hub_dataset_move(const char *root, const char *from, const char *to,
                                              const char *id, struct hub_error *err);
/** Remove it. Nothing there is fine. */
HUB_MUST_USE enum hub_status hub_kept_remove(const char *root, const char *path, const char *commit,
                                             struct hub_error *err);

/** A file that a draft begins with. */
typedef enum hub_status (*hub_draft_begins)(void *user, const struct hub_file_facts *file,
                                            struct hub_error *err);
/**
 * Begin a draft with the files of a dataset that was published in the same root. What the hub does not own
 * any more, for somebody changed it, is left out.
 * @param directory  the dataset's, relative to the root
 * @param begins     for each file that the draft has then, in the order of their paths
 */
HUB_MUST_USE enum hub_status hub_draft_begin_with(const struct hub_draft_folder *draft, const char *directory,
                                                  hub_draft_begins begins, void *user, struct hub_error *err);

#endif
