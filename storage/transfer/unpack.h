/** The files of a tar into a folder, which nobody else writes to: in one pass over a file or a pipe. */
#ifndef HUB_TRANSFER_UNPACK_H
#define HUB_TRANSFER_UNPACK_H

#include "storage/model/file_hasher.h"

/** Zero it, fill the first group; the rest are results. Dispose it. */
struct hub_unpack {
    int fd;               /* read from its offset to its end */
    int tree;             /* the open folder */
    const char *where;    /* its path, for free space and messages */
    uint64_t spare_bytes; /* must stay free on its disk */
    hub_tick_fn tick;     /* several times a second; NULL: nobody is asked */
    void *user;

    /* Its own, sorted by path bytes. A file that a record in the tar lists is no longer `computed`. */
    struct hub_file_facts *files;
    uint32_t count, capacity;
    uint64_t bytes;           /* of them */
    uint64_t bytes_read;      /* of the tar */
    uint64_t members, hidden; /* the latter are left out, but for the records of datasets */
};

/**
 * Names are as the tar has them, or what they were spelled for. Refused with the reason: what is no tar,
 * compressed or cut short; names that lead elsewhere; what is neither file nor folder; files that come
 * twice; more than there is room for. HUB_CORRUPT, HUB_UNSUPPORTED, HUB_TOO_BIG, HUB_NO_SPACE, HUB_IO; the
 * folder then holds a part.
 */
HUB_MUST_USE enum hub_status hub_unpack_run(struct hub_unpack *unpack, struct hub_error *err);
void hub_unpack_dispose(struct hub_unpack *unpack);

#endif
