/**
 * One file of a copy whose bytes are damaged: a copy of it is made beside the datasets, of which the
 * damaged pieces are fetched again from where it came; whole and verified it takes the file's place by a
 * rename. A mend that is interrupted goes on.
 */
#ifndef HUB_TRANSFER_REPAIR_H
#define HUB_TRANSFER_REPAIR_H

#include "storage/transfer/staging.h"

/** Zero it, fill the first group, run it. */
struct hub_repair {
    struct hub_remote *remote;
    const struct hub_remote_files *files; /* what the remote lists of the dataset now */
    const struct hub_private *place;      /* of the root */
    const char *target;                   /* the dataset's folder below the root */
    const struct hub_file_facts *origin;  /* the file as it came */
    const struct hub_stamp *stamp;        /* as it was found damaged */
    struct hub_view pieces; /* as in hub_sums, of the file as it came; empty: it is fetched whole */
    /** Called several times per second; anything but HUB_OK ends the repair with that status. */
    hub_tick_fn tick;
    void *user;

    uint8_t sha256[HUB_SHA256_BYTES]; /* of the file that is in place */
    uint64_t bytes_fetched;
    uint32_t fetched, segments; /* how many, of how many */
};

/** HUB_CHANGED: the remote has it no more, or another one, or it is another here by now; HUB_CORRUPT: what
 * came is not what it was; HUB_NO_SPACE, HUB_IO "unreachable". The file is as it was then. */
HUB_MUST_USE enum hub_status hub_repair_run(struct hub_repair *mend, struct hub_error *err);

#endif
