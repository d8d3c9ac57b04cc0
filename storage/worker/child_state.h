/** The inside of a child: shared by child*.c only. */
#ifndef HUB_WORKER_CHILD_STATE_H
#define HUB_WORKER_CHILD_STATE_H

#include "storage/worker/child.h"
#include "storage/worker/sink.h"

struct hub_child_open {
    uint32_t number; /* of the file */
    int fd;          /* -1: the slot is free */
    uint32_t users;  /* 0: kept open because it may be asked for again */
    uint64_t used;   /* tick of the last use */
};

struct hub_child {
    struct hub_files files;                  /* first: the drivers' view; hub_child_of finds the rest */
    const struct hub_format *const *formats; /* NULL-terminated */
    int sock;
    uint8_t kind; /* enum hub_job_kind */
    char *format, *part, *hint;
    uint32_t *part_files;
    uint32_t part_file_count, part_file_want;
    struct hub_file_entry *entries;
    uint32_t entry_count;
    uint32_t listing, first; /* of the listing that is being claimed: `files` sees only its entries */
    uint32_t entry_want;
    bool side_allowed;
    int side_fd;
    struct hub_child_open open[HUB_MAX_OPEN];
    uint64_t tick;
    struct hub_frame_writer writer;
    struct hub_frame_reader reader;
    int received; /* descriptor that came with the answer being read, or -1 */
};

void hub_child_init(struct hub_child *child, int sock);
void hub_child_dispose(struct hub_child *child);
HUB_MUST_USE enum hub_status hub_child_read_job(struct hub_child *child, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_child_flush(struct hub_child *child, struct hub_error *err);
/** Say how it ended; `err->status` HUB_OK: well. */
HUB_MUST_USE enum hub_status hub_child_end(struct hub_child *child, const struct hub_error *err);
/** Let every format bid, and report who would own what. */
HUB_MUST_USE enum hub_status hub_child_claim(struct hub_child *child, struct hub_error *err);

#endif
