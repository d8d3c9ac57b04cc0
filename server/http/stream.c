/* Streaming files: see stream.h. */
#include "server/http/stream.h"

#include <stdlib.h>

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
    enum hub_status st = read_checked(stream, at, out, n, HUB_READ_NOWAIT);
    if (st == HUB_AGAIN)
        return 0;
    if (st)
        stream->failed = true;
    return st ? -1 : (ssize_t)n;
}

void hub_stream_fetch(struct hub_stream *stream, uint64_t at)
{
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
