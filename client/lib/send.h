/** Files of a folder into a draft: several at a time, each from where the draft has it, then compared. */
#ifndef HUB_CLIENT_SEND_H
#define HUB_CLIENT_SEND_H

#include "client/lib/drafts.h"
#include "client/lib/folder.h"
#include "storage/model/file_hasher.h"

/** What becomes of one file. Zeroed: nothing of it is there. */
struct hub_sent_file {
    uint64_t offset;                  /* bytes that the draft has */
    bool there;                       /* all of it is */
    bool unproven;                    /* and its digest was not computed while it was sent */
    uint8_t sha256[HUB_SHA256_BYTES]; /* of one that is there, as the hub says */
};

struct hub_send {
    struct minari_client *client;
    const char *draft;
    const struct hub_folder *folder;
    struct hub_sent_file *states; /* as many as the folder has files */
    unsigned connections;
    hub_tick_fn tick; /* about ten times a second; what is no HUB_OK ends it */
    void *user;

    uint64_t bytes_done, files_done; /* for `tick` */
    uint64_t bytes_hashed;           /* read again for their digests */
    bool checks;                     /* it does that now */
    uint32_t again;                  /* files whose digests did not agree */
};

/** Send what is not there, then compare what is unproven; a file whose digests disagree is sent once more.
 * HUB_CORRUPT "digest-mismatch": they still do. */
HUB_MUST_USE enum hub_status hub_send_all(struct hub_send *send, struct hub_error *err);

/** Whether a file of the folder has a digest: it is read. */
HUB_MUST_USE enum hub_status hub_send_compare(struct hub_send *send, uint32_t file,
                                              const uint8_t sha256[HUB_SHA256_BYTES], bool *same,
                                              struct hub_error *err);

#endif
