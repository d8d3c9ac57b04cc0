/**
 * Bytes of files that do not lie in place: they are fetched, all that one answer reads at once, before
 * anything is decoded. Who prices a plan notes what it reads as `wants`; who needs the bytes starts one fetch
 * of them and waits for its completion, without a thread where it can.
 *
 * Thread-safety: a list of wants belongs to one thread at a time. A fetch has two owners while it runs, who
 * waits for it and the source; either may give it up first.
 */
#ifndef HUB_IO_FETCH_H
#define HUB_IO_FETCH_H

#include "storage/io/file.h"

/** Bytes of one file. */
struct hub_want {
    uint32_t number; /* of the file in its plan */
    struct hub_file *file;
    uint64_t offset, size;
    uint8_t *data; /* where they lie once they are fetched */
};

/** Zeroed at first. */
struct hub_wants {
    struct hub_want *items;
    uint32_t count, capacity;
};

/** Note bytes; they join the last ones where they follow close behind. */
HUB_MUST_USE enum hub_status hub_wants_add(struct hub_wants *wants, uint32_t number, uint64_t offset,
                                           uint64_t size, struct hub_error *err);
/** In order, neighbours joined. A read of noted bytes and of small gaps between them lies in one item.
 * Returns the sum of bytes. */
uint64_t hub_wants_join(struct hub_wants *wants);
void hub_wants_dispose(struct hub_wants *wants);

struct hub_file_fetch {
    struct hub_want *items; /* of one source, in order */
    uint32_t count;
    enum hub_status status; /* once it is done */
    struct hub_error err;
    /* inside */
    atomic_uint refs;
    atomic_int stage;
    void (*done)(void *user);
    void *user;
    uint8_t *bytes;
};

/** Where files' bytes come from. */
struct hub_fetch_source {
    /** Begin; HUB_OK: all bytes are there already. HUB_AGAIN: hub_fetch_done will be called, exactly once,
     * from any thread, at the latest when the source is closed. */
    enum hub_status (*fetch)(const struct hub_fetch_source *source, struct hub_file_fetch *fetch,
                             struct hub_error *err);
    /** NULL, or frees a file of this source, with the last reference. */
    void (*release)(struct hub_file *file);
    /** It answers for the bytes that it gives: the files themselves are still being written. A fetch that it
     * ends with HUB_BUSY may be tried again, for as long as somebody waits. */
    bool comes;
    void *user; /* the source's own */
};

/**
 * Begin to fetch joined wants whose files are known. Holds the files.
 * @param[out] out  NULL: all of them lie in place, nothing is to be done. Else the caller's, to be put.
 * @return HUB_OK; HUB_AGAIN: they are coming, and *out is written; else the reason, and it is not.
 */
HUB_MUST_USE enum hub_status hub_fetch_start(const struct hub_wants *wants, struct hub_file_fetch **out,
                                             struct hub_error *err);
/** Bytes of one file: as hub_fetch_start. */
HUB_MUST_USE enum hub_status hub_fetch_range(struct hub_file *file, uint64_t offset, uint64_t size,
                                             struct hub_file_fetch **out, struct hub_error *err);
/** One without bytes, that only says when something is done: the caller's, and whose hub_fetch_done ends
 * it. */
HUB_MUST_USE enum hub_status hub_fetch_new(struct hub_file_fetch **out, struct hub_error *err);
/** How it ended. HUB_AGAIN: it has not. */
HUB_MUST_USE enum hub_status hub_fetch_result(const struct hub_file_fetch *fetch, struct hub_error *err);
/** Have `done` called, once, on the source's thread. False: it is done already, nothing is called. */
HUB_MUST_USE bool hub_fetch_wait(struct hub_file_fetch *fetch, void (*done)(void *user), void *user);
/** Wait here until it is done, on a thread that may: how it ended. `stops`, unless it is NULL, is asked a
 * few times a second: true is HUB_CANCELLED. */
HUB_MUST_USE enum hub_status hub_fetch_join(struct hub_file_fetch *fetch, bool (*stops)(void *user),
                                            void *user, struct hub_error *err);
/** Wait no longer. True: `done` was not called and never will be. */
bool hub_fetch_leave(struct hub_file_fetch *fetch);
/** Does nobody wait any more? Then its source may end it early. */
bool hub_fetch_left(const struct hub_file_fetch *fetch);
/** The caller's share of it. NULL: nothing. */
void hub_fetch_put(struct hub_file_fetch *fetch);
/** For sources: all bytes are in place, or there is a reason, with fetch->err. The fetch is no longer
 * theirs. */
void hub_fetch_done(struct hub_file_fetch *fetch, enum hub_status status);

/** Copy fetched bytes. HUB_IO: they were not among the wants. */
HUB_MUST_USE enum hub_status hub_fetch_copy(const struct hub_file_fetch *fetch, const struct hub_file *file,
                                            uint64_t offset, void *out, size_t size, struct hub_error *err);
/** hub_read_bytes for threads that may wait, wherever the bytes lie. */
HUB_MUST_USE enum hub_status hub_fetch_read(struct hub_file *file, uint64_t offset, void *out, size_t size,
                                            struct hub_error *err);

#endif
