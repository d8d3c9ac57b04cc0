/** Whether a file is being written: locks of other processes, found without disturbing them. */
#ifndef HUB_SCAN_LOCKS_H
#define HUB_SCAN_LOCKS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The files that somebody has locked for writing by flock(2), as of one moment. */
struct hub_locks {
    uint64_t *inodes;
    uint32_t count, capacity;
    bool complete; /* nobody is missing: who is not listed holds none */
};

/** The last list, for those who inspect many datasets one after another. While the system makes one, nobody
 * on the machine gets a lock on a range of a file, and SQLite takes such locks for each of its
 * transactions. */
struct hub_locks_recent {
    pthread_mutex_t lock;
    struct hub_locks list;
    int64_t read_ns; /* Unix time; 0: never */
};
#define HUB_LOCKS_RECENT_INIT                                                                                \
    {                                                                                                        \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                                    \
    }

void hub_locks_read(struct hub_locks *locks);
/** The same, or a copy of the last list if it was made within HUB_LOCKS_RECENT_MS and after `changed_ns`,
 * Unix time: when the files that it is wanted for changed last. */
enum { HUB_LOCKS_RECENT_MS = 250 };
void hub_locks_read_recent(struct hub_locks_recent *recent, uint64_t changed_ns, struct hub_locks *out);
void hub_locks_recent_dispose(struct hub_locks_recent *recent);
void hub_locks_dispose(struct hub_locks *locks);
/** Somebody holds an open file locked for writing, or a range of it. */
bool hub_locks_writer(const struct hub_locks *locks, int fd);

#endif
