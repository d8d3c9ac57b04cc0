/** Who writes a file now: locks that other processes hold, found without disturbing them. */
#ifndef HUB_SCAN_LOCKS_H
#define HUB_SCAN_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The files that somebody has locked for writing by flock(2), as of one moment. */
struct hub_locks {
    uint64_t *inodes;
    uint32_t count, capacity;
    bool complete; /* nobody is missing: who is not listed holds none */
};

void hub_locks_read(struct hub_locks *locks);
void hub_locks_dispose(struct hub_locks *locks);
/** Somebody holds an open file locked for writing, or a range of it. */
bool hub_locks_writer(const struct hub_locks *locks, int fd);

#endif
