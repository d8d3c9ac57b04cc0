/**
 * A tar that comes block by block: its members are handed out as they pass, and none of them lies in memory.
 * The dialects are those of tar.h. One thread at a time.
 */
#ifndef HUB_IO_TAR_FEED_H
#define HUB_IO_TAR_FEED_H

#include "storage/io/tar.h"

/** Functions that take the members. Anything but HUB_OK ends the archive there, and is returned unchanged. */
struct hub_tar_taker {
    /** A member begins; its name is valid until this returns. Those that are no files have no bytes. */
    enum hub_status (*begin)(void *user, const struct hub_tar_member *member, struct hub_error *err);
    enum hub_status (*bytes)(void *user, struct hub_view bytes, struct hub_error *err);
    /** All of its bytes came. */
    enum hub_status (*end)(void *user, struct hub_error *err);
};

struct hub_tar_feed {
    const struct hub_tar_taker *taker;
    void *user;
    struct hub_tar tar;
    struct hub_buf headers; /* that are not complete yet, from `tar.at` on */
    uint64_t at;            /* bytes of the archive that came */
    uint64_t left;          /* bytes of the current member that are still to come */
    bool in_member, ended;
};

/** Begin. The feed stays where it is until it is disposed of. */
void hub_tar_feed_begin(struct hub_tar_feed *feed, const struct hub_tar_taker *taker, void *user);
void hub_tar_feed_dispose(struct hub_tar_feed *feed);
/** The next bytes of the archive, any number of them.
 *  @return as hub_tar_next, besides what the taker returns; HUB_CORRUPT also for bytes behind the end */
HUB_MUST_USE enum hub_status hub_tar_feed_add(struct hub_tar_feed *feed, struct hub_view bytes,
                                              struct hub_error *err);
/** No more comes. HUB_CORRUPT: the archive was cut short. */
HUB_MUST_USE enum hub_status hub_tar_feed_end(const struct hub_tar_feed *feed, struct hub_error *err);

#endif
