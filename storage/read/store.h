/** What the local store and the readers share about an open file. Internal to storage/read. */
#ifndef HUB_READ_STORE_H
#define HUB_READ_STORE_H

#include "storage/read/read.h"

#include <stdatomic.h>

struct hub_file {
    atomic_uint refs; /* one of them is the cache's while the file is in it */
    int fd;
    struct hub_stamp stamp; /* when it was opened */
    atomic_bool blocking;   /* its file system knows no RWF_NOWAIT */
    uint64_t hash;
    uint32_t root;
    struct hub_file *chain, *newer, *older; /* the cache's, under its shard's lock */
    char path[];
};

#endif
