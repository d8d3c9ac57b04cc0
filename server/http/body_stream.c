#include "server/http/body_stream.h"

#include <stdio.h>

void hub_body_stream_init(struct hub_body_stream *stream, struct hub_body_producer *producer,
                          struct hub_buf *first)
{
    *stream = (struct hub_body_stream){.maker = producer,
                                       .chunk = HUB_BUF_INIT(HUB_BODY_STREAM_LIMIT),
                                       .next = HUB_BUF_INIT(HUB_BODY_STREAM_LIMIT)};
    if (!first->size)
        return;
    stream->chunk = *first;
    *first = HUB_BUF_INIT(0);
}

void hub_body_stream_dispose(struct hub_body_stream *stream)
{
    hub_buf_dispose(&stream->chunk);
    hub_buf_dispose(&stream->next);
    *stream = (struct hub_body_stream){0};
}

size_t hub_body_stream_read(struct hub_body_stream *stream, uint64_t at, char *out, size_t size)
{
    const size_t skip = (size_t)(at - stream->at);
    const size_t n = HUB_MIN(size, stream->chunk.size - skip);
    if (n)
        memcpy(out, stream->chunk.data + skip, n);
    return n;
}

void hub_body_stream_next(struct hub_body_stream *stream)
{
    stream->error = (struct hub_error){0};
    stream->next.size = 0;
    stream->broke = stream->maker->more(stream->maker, &stream->next, &stream->error) != HUB_OK;
}

void hub_body_stream_turn(struct hub_body_stream *stream)
{
    const struct hub_buf sent = stream->chunk;
    stream->at += sent.size;
    stream->chunk = stream->next;
    stream->next = sent;
    stream->failed = stream->broke;
    if (stream->failed) {
        snprintf(stream->why, sizeof stream->why, "%.250s", stream->error.detail);
        stream->chunk.size = 0;
    }
    stream->complete = !stream->failed && stream->chunk.size == 0;
}

void hub_body_stream_more(struct hub_body_stream *stream)
{
    hub_body_stream_next(stream);
    hub_body_stream_turn(stream);
}
