/**
 * Files of a backup by the SHA-256 of their bytes: FOLDER/objects/ab/cdef..., so that a file is in it once,
 * whatever datasets have it, and the next backup adds what is new. Where the file system can, a clone is
 * stored instead of a copy. Files become visible whole. One thread at a time.
 */
#ifndef HUB_BACKUP_OBJECTS_H
#define HUB_BACKUP_OBJECTS_H

#include "storage/base/digest.h"

struct hub_backup_objects {
    int folder;    /* FOLDER/objects */
    bool doubtful; /* they may be damaged: the last run did not end; what is there is read again */
    uint64_t files, bytes, had_files, had_bytes; /* stored now; found there */
    /** NULL, or is called as bytes are read. Anything but HUB_OK ends the work. */
    enum hub_status (*tick)(void *user, uint64_t bytes, struct hub_error *err);
    void *user;
};

/** @param make  make the folder; without, HUB_NOT_FOUND where there is none. Zeroed members stay the
 *  caller's to fill */
HUB_MUST_USE enum hub_status hub_backup_objects_open(int folder, bool make, struct hub_backup_objects *out,
                                                     struct hub_error *err);
void hub_backup_objects_close(struct hub_backup_objects *objects);

/** Whether one is there, by its size; where they may be damaged it is read. */
HUB_MUST_USE enum hub_status hub_backup_objects_has(struct hub_backup_objects *objects,
                                                    const uint8_t sha256[HUB_SHA256_BYTES], uint64_t size,
                                                    bool *there, struct hub_error *err);

/**
 * Keep the bytes of an open file.
 * @param sha256  what it must have where `known`, and is written otherwise
 * @return HUB_CHANGED: the file has another size or other bytes; nothing is kept
 */
HUB_MUST_USE enum hub_status hub_backup_objects_put(struct hub_backup_objects *objects, int fd, uint64_t size,
                                                    bool known, uint8_t sha256[HUB_SHA256_BYTES],
                                                    struct hub_error *err);
/** Write one into a new file, which is checked. HUB_NOT_FOUND; HUB_CORRUPT: it has other bytes. */
HUB_MUST_USE enum hub_status hub_backup_objects_get(struct hub_backup_objects *objects,
                                                    const uint8_t sha256[HUB_SHA256_BYTES], uint64_t size,
                                                    int to, struct hub_error *err);
/** The SHA-256 of an open file. `objects` may be NULL: nobody looks on. */
HUB_MUST_USE enum hub_status hub_backup_objects_digest(struct hub_backup_objects *objects, int fd,
                                                       uint8_t sha256[HUB_DIGEST_MAX], struct hub_error *err);
/** Remove those that `keeps` does not want. Returns by `removed` how many. */
HUB_MUST_USE enum hub_status hub_backup_objects_prune(struct hub_backup_objects *objects,
                                                      bool (*keeps)(void *user,
                                                                    const uint8_t sha256[HUB_SHA256_BYTES]),
                                                      void *user, uint64_t *removed, struct hub_error *err);

#endif
