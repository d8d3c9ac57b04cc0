/**
 * A dataset that somebody put below a root by hand becomes one of the hub's own, where it lies: nothing is
 * copied. Its files become read-only as what is pushed is, then it gets its record. Until the caller has
 * written its commit it is what it was, for readers as for pushes, and all of it can be done again. One
 * thread at a time.
 */
#ifndef HUB_DRAFTS_ADOPT_H
#define HUB_DRAFTS_ADOPT_H

#include "storage/drafts/publish.h"

struct hub_adoption {
    struct hub_private place;
    int folder;                    /* of the dataset */
    struct hub_remote_files files; /* sorted; the caller finds their SHA-256 */
    struct hub_stamp *stamps;      /* of these, as they were found, or made */
};
#define HUB_ADOPTION_INIT                                                                                    \
    (struct hub_adoption)                                                                                    \
    {                                                                                                        \
        .place = HUB_PRIVATE_INIT, .folder = -1                                                              \
    }
void hub_adoption_dispose(struct hub_adoption *adoption);

/**
 * List the files of a dataset, and look whether it can be the hub's own. Nothing is changed.
 * @param path  of its folder, below the root
 * @return HUB_INVALID, HUB_DENIED, HUB_BUSY say why not: links, files with more names than one or of another
 * file system, names that a push could not have, files that somebody writes, folders and files that the hub
 * may not change
 */
HUB_MUST_USE enum hub_status hub_adopt_look(const char *root, const char *path, struct hub_adoption *out,
                                            struct hub_error *err);
/** Open one of its files. HUB_CHANGED: it is not the one that was found. */
HUB_MUST_USE enum hub_status hub_adopt_open(const struct hub_adoption *adoption, uint32_t file, int *fd,
                                            struct hub_error *err);
/** Make its files the hub's own. Where one of them changed, or is written, all get their modes of before. */
HUB_MUST_USE enum hub_status hub_adopt_own(struct hub_adoption *adoption, struct hub_error *err);
/** Write its record, once all digests are known; then all of it is on the disk for good. */
HUB_MUST_USE enum hub_status hub_adopt_record(const struct hub_adoption *adoption,
                                              const struct hub_draft_place *to, struct hub_error *err);
/** Is the dataset at a place the one of this commit, and its files as the hub left them? */
bool hub_adopt_is_owned(const char *root, const char *path, const char *commit);

#endif
