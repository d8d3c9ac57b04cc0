/** The bytes of a download: ranges of files over parallel connections, into a staging place. */
#ifndef HUB_CLIENT_TRANSFER_H
#define HUB_CLIENT_TRANSFER_H

#include "client/lib/staging.h"

struct hub_transfer {
    struct minari_client *client;
    struct hub_staging *staging;
    struct hub_remote_files *plan; /* digests that answers bring are added */
    unsigned connections;
    enum hub_status (*tick)(void *user, struct hub_error *err);
    void *user;

    uint64_t bytes_done, files_done; /* kept ones included */
};

/**
 * Fetch all that is missing. HUB_CHANGED: the hub no longer has these files as planned; ask for a new plan.
 * Whatever the outcome, what is done is in the journal.
 */
HUB_MUST_USE enum hub_status hub_transfer_run(struct hub_transfer *transfer, struct hub_error *err);

#endif
