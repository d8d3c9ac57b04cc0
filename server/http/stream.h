/**
 * The bytes of a file on their way out, block by block. A block is sent only if the file's stamp is the
 * expected one before and after it was read: a file that changes ends the connection short, it never ends the
 * answer cleanly.
 */
#ifndef HUB_HTTP_STREAM_H
#define HUB_HTTP_STREAM_H

#include "server/http/http.h"
#include "storage/text/json.h"

#include <sys/types.h>

/* One read and one send of a block: the larger, the fewer times reader and kernel wake each other. One of
 * 1 MiB leaves the processor's cache before it is sent: over a long file waking less outweighs that, and over
 * a range it does not. The largest that the memory budget has room for is taken. */
#define HUB_STREAM_LONG (16 * MIB)
#define HUB_STREAM_LONG_BLOCK (1 * MIB)
#define HUB_STREAM_BLOCK (512 * KIB)
#define HUB_STREAM_MEDIUM_BLOCK (256 * KIB)
#define HUB_STREAM_SMALL_BLOCK (16 * KIB)
/* A file that is still being written is sent as it comes, except for its last 64 KiB. */
#define HUB_STREAM_COMING_BLOCK (64 * KIB)
/* Blocks that are fetched at once where they do not lie in place. */
enum { HUB_STREAM_WINDOW = 4 };

struct hub_stream {
    struct hub_parts *parts; /* or NULL; borrowed from the response, as the next four */
    struct hub_file *file;
    uint64_t offset, length;
    struct hub_view head; /* sent before them */
    uint64_t begin;       /* of the head, among the bytes of all parts */
    bool looked;          /* bytes of the file are shown to the parts, so workers read them */
    uint64_t first;       /* of the bytes of all parts, that is sent */
    size_t block;
    /* a block that a worker read, while [cold_at, cold_at + cold_size) is still to be sent: of the file, or
     * where there are parts, of the bytes of all */
    char *cold;
    uint64_t cold_at;
    size_t cold_size;
    bool failed;
    struct hub_file_fetch *window[HUB_STREAM_WINDOW]; /* by the number of the block */
    uint64_t window_block;                            /* the first */
    struct hub_file_fetch *awaited; /* the one in the window that has to be waited for, or NULL */

    /* not 0: the file's bytes are those of a JSON string, this many, and the text it stands for is sent */
    uint64_t escaped, taken; /* of it so far */
    uint64_t next;           /* `at` of what is made of the rest */
    struct hub_json_unescape unescape;
};

void hub_stream_init(struct hub_stream *stream, struct hub_file *file, uint64_t offset, uint64_t length,
                     size_t block);
/** The same of `length` bytes of several parts, from their byte `first` on. */
void hub_stream_init_parts(struct hub_stream *stream, struct hub_parts *parts, uint64_t first, size_t block);
void hub_stream_dispose(struct hub_stream *stream);
/** Bytes from `at` on, of `head` and then the file's, without blocking: how many, 0 when `awaited` must be
 * done, or without one hub_stream_fetch be called, first, -1: end the connection. */
ssize_t hub_stream_read(struct hub_stream *stream, uint64_t at, char *out, size_t size);
/** Read the block at `at`; blocking. */
void hub_stream_fetch(struct hub_stream *stream, uint64_t at);

#endif
