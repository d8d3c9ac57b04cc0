/**
 * The state directory: one process holds it at a time, and finds out whether the last one ended cleanly.
 * The databases in it allow no second writer, so it is opened before them and closed after them.
 */
#ifndef HUB_IO_STATE_DIR_H
#define HUB_IO_STATE_DIR_H

#include "storage/base/error.h"

struct hub_state_dir {
    char *path;
    int lock_fd;
    bool unclean; /* the last process ended without closing it, or left a check unfinished */
    bool sound;   /* set when all that is in it was opened: the next start then finds a clean end */
};

/** Make the directory if need be, lock it, close it and its files to others, and leave the file `running` in
 * it until the end. HUB_BUSY: another process has it. HUB_DENIED: others may read or write, and this user may
 * not change that. */
HUB_MUST_USE enum hub_status hub_state_dir_open(const char *path, struct hub_state_dir **out,
                                                struct hub_error *err);
/** NULL is fine. */
void hub_state_dir_close(struct hub_state_dir *dir);

#endif
