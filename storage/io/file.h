/**
 * An open file that several share: counted, with the stamp it had when it was opened. Who opens it (a store,
 * see storage/read/read.h) has the struct as the first member of an allocation of its own. Safe from any
 * thread.
 */
#ifndef HUB_IO_FILE_H
#define HUB_IO_FILE_H

#include "storage/base/lru.h"
#include "storage/io/fs.h"

struct hub_fetch_source; /* storage/io/fetch.h */

struct hub_file {
    struct hub_lru_item item; /* first: counts the references; a store may cache it */
    int fd;
    const struct hub_fetch_source *source; /* NULL: its bytes lie in place; else they have to be fetched */
    bool sealed;            /* one of the hub's own: its stamp is its seal, for it may come from a backup */
    atomic_bool blocking;   /* its file system knows no RWF_NOWAIT */
    struct hub_stamp stamp; /* when it was opened */
    const char *path;       /* for error texts */
};

/** Give a reference back; the last one closes and frees. NULL: nothing. */
void hub_file_put(struct hub_file *file);
/** Stamp of an open descriptor, or the seal. */
HUB_MUST_USE enum hub_status hub_file_stamp_of(int fd, bool sealed, const char *path, struct hub_stamp *out,
                                               struct hub_error *err);
const struct hub_stamp *hub_file_stamp(const struct hub_file *file);
/** HUB_CHANGED "dataset-changing", in the words for the file at `path`. */
enum hub_status hub_file_changed(const char *path, struct hub_error *err);
/** fstat now: HUB_OK, or HUB_CHANGED when it differs from the stamp at open. Called before and after every
 * buffered answer. */
HUB_MUST_USE enum hub_status hub_file_unchanged(const struct hub_file *file, struct hub_error *err);

enum {
    HUB_READ_NOWAIT = 1
}; /* answer from the page cache only: HUB_AGAIN when a page is cold (preadv2 RWF_NOWAIT) */

/** Plain bytes of a file that lie in place: all of them or a reason. HUB_CORRUPT when the file ends early. */
HUB_MUST_USE enum hub_status hub_read_bytes(struct hub_file *file, uint64_t offset, void *out, size_t size,
                                            unsigned flags, struct hub_error *err);

#endif
