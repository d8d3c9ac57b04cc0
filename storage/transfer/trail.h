/**
 * What trails the bytes of a download, on threads of its own: digests, each file's in order, and the way of the bytes
 * to the disk, so that neither keeps connections waiting.
 */
#ifndef HUB_TRANSFER_TRAIL_H
#define HUB_TRANSFER_TRAIL_H

#include "storage/transfer/hash.h"

struct hub_trail;

/** A file that is followed. Between `hub_trail_to` and `hub_trail_wait` all of it is the trail's. */
struct hub_trailed {
    struct hub_hasher hasher;
    int fd;
    uint32_t file;         /* what `whole` is told */
    struct hub_sums *sums; /* written when all of it is hashed */
    uint64_t end;          /* bytes before it are there */
    bool last;             /* none comes after them */
    bool summed;           /* its sums are written by others: it only goes to the disk */
    bool queued;
    struct hub_trailed *behind;
};

/** @param whole  called on a thread of the trail, once the sums of a file are there */
HUB_MUST_USE enum hub_status hub_trail_start(void (*whole)(void *user, uint32_t file), void *user,
                                             struct hub_trail **out, struct hub_error *err);

/** All bytes before `end` are there; returns at once. `last`: these are all, the sums are written. */
void hub_trail_to(struct hub_trail *trail, struct hub_trailed *file, uint64_t end, bool last);

/** Whether the file is still being followed to where it was said. */
bool hub_trail_busy(struct hub_trail *trail, const struct hub_trailed *file);

/** Until it is not. */
void hub_trail_wait(struct hub_trail *trail, const struct hub_trailed *file);

/** End its threads: `now`, or when all is done that was said. The first error of any file, which is not told otherwise. */
HUB_MUST_USE enum hub_status hub_trail_stop(struct hub_trail *trail, bool now, struct hub_error *err);

#endif
