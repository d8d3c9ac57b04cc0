/**
 * What trails the bytes of a download, on threads of its own: digests, each file's in order, and the way of
 * the bytes to the disk, so that neither keeps connections waiting.
 */
#ifndef HUB_TRANSFER_HASH_PIPELINE_H
#define HUB_TRANSFER_HASH_PIPELINE_H

#include "storage/model/file_hasher.h"

struct hub_hash_pipeline;

/** A file that is followed. Between `hub_hash_pipeline_to` and `hub_hash_pipeline_wait` all of it is the
 * trail's. */
struct hub_hashed_file {
    struct hub_file_hasher hasher;
    int fd;
    uint32_t file;         /* for `whole` */
    struct hub_sums *sums; /* written when all of it is hashed */
    uint64_t end;          /* bytes before it are there */
    bool last;             /* none comes after them */
    bool summed;           /* its sums are written by others: it only goes to the disk */
    bool queued;
    struct hub_hashed_file *behind;
};

/** @param whole  called on a thread of the trail, once the sums of a file are there */
HUB_MUST_USE enum hub_status hub_hash_pipeline_start(void (*whole)(void *user, uint32_t file), void *user,
                                                     struct hub_hash_pipeline **out, struct hub_error *err);

/** All bytes before `end` are there; returns at once. `last`: these are all, the sums are written. */
void hub_hash_pipeline_to(struct hub_hash_pipeline *trail, struct hub_hashed_file *file, uint64_t end,
                          bool last);

/** Whether the file is still being followed to where it was said. */
bool hub_hash_pipeline_busy(struct hub_hash_pipeline *trail, const struct hub_hashed_file *file);

/** Until it is not. */
void hub_hash_pipeline_wait(struct hub_hash_pipeline *trail, const struct hub_hashed_file *file);

/** End its threads: `now`, or when all is done that was said. The first error of any file, which is not
 * reported otherwise. */
HUB_MUST_USE enum hub_status hub_hash_pipeline_stop(struct hub_hash_pipeline *trail, bool now,
                                                    struct hub_error *err);

#endif
