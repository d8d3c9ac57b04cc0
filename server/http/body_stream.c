#include "server/http/body_stream.h"

#include <stdio.h>

void hub_body_stream_init(struct hub_body_stream *made, struct hub_body_producer *maker,
                          struct hub_buf *first)
{
    *made = (struct hub_body_stream){.maker = maker,
                                     .chunk = HUB_BUF_INIT(HUB_BODY_STREAM_LIMIT),
                                     .next = HUB_BUF_INIT(HUB_BODY_STREAM_LIMIT)};
    if (!first->size)
        return;
    made->chunk = *first;
    *first = HUB_BUF_INIT(0);
}

void hub_body_stream_dispose(struct hub_body_stream *made)
{
    hub_buf_dispose(&made->chunk);
    hub_buf_dispose(&made->next);
    *made = (struct hub_body_stream){0};
}

size_t hub_body_stream_read(struct hub_body_stream *made, uint64_t at, char *out, size_t size)
{
    const size_t skip = (size_t)(at - made->at);
    const size_t n = HUB_MIN(size, made->chunk.size - skip);
    if (n)
        memcpy(out, made->chunk.data + skip, n);
    return n;
}

void hub_body_stream_next(struct hub_body_stream *made)
{
    made->error = (struct hub_error){0};
    made->next.size = 0;
    made->broke = made->maker->more(made->maker, &made->next, &made->error) != HUB_OK;
}

void hub_body_stream_turn(struct hub_body_stream *made)
{
    const struct hub_buf sent = made->chunk;
    made->at += sent.size;
    made->chunk = made->next;
    made->next = sent;
    made->failed = made->broke;
    if (made->failed) {
        snprintf(made->why, sizeof made->why, "%.250s", made->error.detail);
        made->chunk.size = 0;
    }
    made->complete = !made->failed && made->chunk.size == 0;
}

void hub_body_stream_more(struct hub_body_stream *made)
{
    hub_body_stream_next(made);
    hub_body_stream_turn(made);
}
