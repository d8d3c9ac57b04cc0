/**
 * Where an unfinished download lives: "incoming/KEY/" of a root's private folder, with "lock", "plan" (what
 * is being fetched), "journal" and "tree" (the files). One process at a time holds it.
 *
 * It is the sink that pieces write to, and the only one: a file is opened, its segments are done in any
 * order, each once and whole, a file may be forgotten and begun again, and all of it is synced before it is
 * published. What a sink made of an object store's uploads needs is kept to already: unless a caller asks
 * for smaller ones, segments but the last of a file have 5 MiB or more, and no file has more than
 * HUB_SINK_SEGMENTS.
 */
#ifndef HUB_TRANSFER_STAGING_H
#define HUB_TRANSFER_STAGING_H

#include "storage/ids/id.h"
#include "storage/model/file_hasher.h"
#include "storage/remote/remote.h"
#include "storage/transfer/journal.h"
#include "storage/transfer/private.h"

enum { HUB_SINK_SEGMENTS = 10000 };

enum hub_segment_state { HUB_SEGMENT_MISSING, HUB_SEGMENT_CLAIMED, HUB_SEGMENT_TAKEN, HUB_SEGMENT_DONE };

struct hub_staged_file {
    uint64_t base;     /* of its segments in the flat arrays */
    uint32_t segments; /* how many */
    uint32_t missing;  /* of them */
    uint64_t names[2]; /* of its contents: see journal.h */
    struct hub_sums sums;
    struct hub_file_hasher *hasher; /* of the segments from the first on that were there already, or NULL */
};

struct hub_staging {
    const char *id; /* id of the dataset here, not that upstream */
    const struct hub_remote_files *plan;
    char path[PATH_MAX]; /* for messages */
    char key[17];
    int incoming, directory, lock, tree, journal;
    uint64_t segment_bytes, bytes_kept, bytes_allocated;
    uint64_t bytes_taken; /* of files that did not come from the remote */
    uint64_t segment_total;
    uint8_t *states;  /* enum hub_segment_state */
    uint32_t *checks; /* CRC-32C of claimed and done segments */
    uint32_t file_count;
    struct hub_staged_file *files;
};

#define HUB_STAGING_INIT                                                                                     \
    {                                                                                                        \
        .incoming = -1, .directory = -1, .lock = -1, .tree = -1, .journal = -1                               \
    }

/**
 * Open and lock the place for an id, making it. HUB_BUSY when another process holds it.
 */
HUB_MUST_USE enum hub_status hub_staging_open(const struct hub_private *place, const char *id,
                                              struct hub_staging *out, struct hub_error *err);

/** What is known of an unfinished download without its files. */
struct hub_staged {
    char id[HUB_MAX_ID + 1];
    uint64_t bytes, segments, segments_done; /* done: as the journal says, unproven */
    bool running;
};

/** Call `fn` with each unfinished download; anything but 0 from it ends the walk with HUB_CANCELLED. */
HUB_MUST_USE enum hub_status hub_staging_each(const struct hub_private *place,
                                              int (*fn)(const struct hub_staged *, void *user), void *user,
                                              struct hub_error *err);

/** Throw away what came of an id. HUB_NOT_FOUND when there is nothing, HUB_BUSY while it is being fetched. */
HUB_MUST_USE enum hub_status hub_staging_discard(const struct hub_private *place, const char *id,
                                                 struct hub_error *err);

/**
 * Say what is fetched. What an earlier download left of the same files is proven and kept; anything else is
 * removed. The same are those of the same revision, and those of the same generation or digest. `plan` must
 * outlive the staging or the next call.
 *
 * @param tick  asked between files; anything but HUB_OK ends the call
 */
HUB_MUST_USE enum hub_status hub_staging_plan(struct hub_staging *staging,
                                              const struct hub_remote_files *plan, uint64_t segment_bytes,
                                              enum hub_status (*tick)(void *user, struct hub_error *err),
                                              void *user, struct hub_error *err);

/** Forget the plan; what came stays. */
void hub_staging_release(struct hub_staging *staging);
/** Make the folders above a file of the plan. */
HUB_MUST_USE enum hub_status hub_staging_folder(const struct hub_staging *staging, const char *path,
                                                struct hub_error *err);

/** Open a file of the plan for reading and writing, made with its folders when it is missing. One that has
 * another name as well is made again: what lies behind the other name is not ours to write. */
HUB_MUST_USE enum hub_status hub_staging_file(const struct hub_staging *staging, const char *path, int *fd,
                                              struct hub_error *err);

/** Bytes of a file that are there. */
uint64_t hub_staging_bytes(const struct hub_staging *staging, uint32_t file);

/** Forget the hasher of a file. */
void hub_staging_drop_hasher(struct hub_staging *staging, uint32_t file);

/** A segment is on disk. */
HUB_MUST_USE enum hub_status hub_staging_done(struct hub_staging *staging, uint32_t file, uint32_t segment,
                                              uint32_t crc32c, struct hub_error *err);

/** A file is complete that did not come from the remote; the journal does not know it. */
void hub_staging_taken(struct hub_staging *staging, uint32_t file);

/** Nothing of a file is worth keeping. */
HUB_MUST_USE enum hub_status hub_staging_forget(struct hub_staging *staging, uint32_t file,
                                                struct hub_error *err);

/** All files and their names are on the disk when it returns, but for names at the top of the tree: who
 * publishes that syncs it. @param more  a file at the top that is not of the plan, or NULL */
HUB_MUST_USE enum hub_status hub_staging_sync(const struct hub_staging *staging, const char *more,
                                              struct hub_error *err);

/** Remove what was fetched, and the plan. */
HUB_MUST_USE enum hub_status hub_staging_clear(struct hub_staging *staging, struct hub_error *err);

/** Let go; `remove` also removes the whole place. */
void hub_staging_close(struct hub_staging *staging, bool remove);

#endif
