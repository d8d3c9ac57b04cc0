/**
 * Events of a transfer for those who serve its files meanwhile: which bytes are there. Called on the
 * transfer's thread, `whole` and
 * `lost` also on those that hash; must not block.
 * Files are numbered as in the list of the transfer.
 */
#ifndef HUB_TRANSFER_WATCH_H
#define HUB_TRANSFER_WATCH_H

#include "storage/transfer/staging.h"

struct hub_transfer;

struct hub_transfer_watch {
    /** So many bytes will come, if there is room. Anything but HUB_OK ends the transfer with that; may
     * block. */
    enum hub_status (*room)(uint64_t bytes, void *user, struct hub_error *err);
    /** There is a new list, and a tree of which the staging says what is there. What was said of another
     * list no longer holds. Anything but HUB_OK ends the transfer with that. */
    enum hub_status (*planned)(const struct hub_transfer *transfer, const struct hub_staging *staging,
                               void *user, struct hub_error *err);
    /** A segment of a file is there, and in the journal: a transfer that goes on has it still. */
    void (*segment)(uint32_t file, uint32_t segment, void *user);
    /** The file is whole, and as a digest of the remote says, unless it has none. */
    void (*whole)(uint32_t file, void *user);
    /** The bytes of the file differ from those of the remote. */
    void (*lost)(uint32_t file, void *user);
    /** Segments that somebody waits for, who came first first. False: there are no more than `nth`. */
    bool (*wanted)(unsigned nth, uint32_t *file, uint32_t *segment, void *user);
    void *user;
};

#endif
