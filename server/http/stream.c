/* Streaming files: see stream.h. */
#include "server/http/stream.h"

#include <stdlib.h>

enum { TEXT_BLOCK = 16 * 1024, TEXT_ROOM = 8 }; /* of a text that is made of a JSON string */

void hub_stream_init(struct hub_stream *stream, struct hub_file *file, uint64_t offset, uint64_t length,
                     size_t block)
{
    *stream = (struct hub_stream){.file = file, .offset = offset, .length = length, .block = block};
}

void hub_stream_dispose(struct hub_stream *stream)
{
    free(stream->cold);
    *stream = (struct hub_stream){0};
}

/* Stamp, bytes, stamp. */
static enum hub_status read_checked(const struct hub_stream *stream, uint64_t at, char *out, size_t size,
                                    unsigned flags)
{
    HUB_TRY(hub_file_unchanged(stream->file, NULL));
    HUB_TRY(hub_read_bytes(stream->file, stream->offset + at, out, size, flags, NULL));
    return hub_file_unchanged(stream->file, NULL);
}

/* The next stretch of the text, which is kept like a block that a worker read. */
static enum hub_status read_text(struct hub_stream *stream, uint64_t at, unsigned flags)
{
    char raw[TEXT_BLOCK];
    size_t got = 0;
    if (!stream->cold)
        stream->cold = malloc(TEXT_BLOCK + TEXT_ROOM);
    if (!stream->cold || at != stream->next)
        return HUB_INVALID;
    while (got == 0 && stream->taken < stream->escaped) {
        const size_t n = (size_t)HUB_MIN(sizeof raw, stream->escaped - stream->taken);
        HUB_TRY(read_checked(stream, stream->taken, raw, n, flags));
        stream->taken += n;
        got = hub_json_unescape(&stream->unescape, raw, n, stream->cold);
        if (stream->taken == stream->escaped)
            got += hub_json_unescape_end(&stream->unescape, stream->cold + got);
    }
    stream->next += got;
    stream->cold_at = at;
    stream->cold_size = got;
    return got && stream->next <= stream->length ? HUB_OK : HUB_CORRUPT;
}

static ssize_t from_cold(struct hub_stream *stream, uint64_t at, char *out, size_t size)
{
    size_t skip = (size_t)(at - stream->cold_at), n = HUB_MIN(size, stream->cold_size - skip);
    memcpy(out, stream->cold + skip, n);
    if (skip + n == stream->cold_size) {
        free(stream->cold);
        stream->cold = NULL;
    }
    return (ssize_t)n;
}

ssize_t hub_stream_read(struct hub_stream *stream, uint64_t at, char *out, size_t size)
{
    if (stream->failed || at >= stream->length)
        return -1;
    if (stream->cold && at >= stream->cold_at && at < stream->cold_at + stream->cold_size)
        return from_cold(stream, at, out, size);
    size_t n = (size_t)HUB_MIN((uint64_t)HUB_MIN(size, stream->block), stream->length - at);
    enum hub_status st = stream->escaped ? read_text(stream, at, HUB_READ_NOWAIT)
                                         : read_checked(stream, at, out, n, HUB_READ_NOWAIT);
    if (st == HUB_AGAIN)
        return 0;
    if (st)
        stream->failed = true;
    return st ? -1 : stream->escaped ? from_cold(stream, at, out, size) : (ssize_t)n;
}

void hub_stream_fetch(struct hub_stream *stream, uint64_t at)
{
    if (stream->escaped) {
        stream->failed = read_text(stream, at, 0) != HUB_OK;
        return;
    }
    size_t n = (size_t)HUB_MIN((uint64_t)stream->block, stream->length - at);
    free(stream->cold);
    stream->cold = malloc(n);
    if (!stream->cold || read_checked(stream, at, stream->cold, n, 0)) {
        stream->failed = true;
        return;
    }
    stream->cold_at = at;
    stream->cold_size = n;
}
