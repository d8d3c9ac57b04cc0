/* Streaming files: see stream.h. */
#include "server/http/stream.h"

#include <stdlib.h>

enum { TEXT_BLOCK = 16 * 1024, TEXT_ROOM = 8 }; /* of a text that is made of a JSON string */

void hub_stream_init(struct hub_stream *stream, struct hub_file *file, uint64_t offset, uint64_t length,
                     size_t block)
{
    *stream = (struct hub_stream){.file = file, .offset = offset, .length = length, .block = block};
}

void hub_stream_init_parts(struct hub_stream *stream, struct hub_parts *parts, uint64_t first, size_t block)
{
    *stream = (struct hub_stream){.parts = parts, .first = first, .block = block};
}

/* Drop the blocks that were read ahead. */
static void drop_blocks(struct hub_stream *stream)
{
    free(stream->cold);
    stream->cold = NULL;
    for (unsigned i = 0; i < HUB_STREAM_WINDOW; i++) {
        hub_fetch_put(stream->window[i]);
        stream->window[i] = NULL;
    }
    stream->window_block = 0;
    stream->awaited = NULL;
}

void hub_stream_dispose(struct hub_stream *stream)
{
    if (!stream->file && !stream->parts)
        return;
    drop_blocks(stream);
    *stream = (struct hub_stream){0};
}

/* To the part of a byte of all parts, unless it is this one's. */
static enum hub_status turn(struct hub_stream *stream, uint64_t at, bool may_block)
{
    if (!stream->parts || (at >= stream->begin && at - stream->begin < stream->head.size + stream->length))
        return HUB_OK;
    drop_blocks(stream);
    stream->file = NULL; /* if it has to be asked again, it is in no part */
    stream->length = 0;
    stream->head = (struct hub_view){NULL, 0};
    return stream->parts->turn(stream->parts, stream, at, may_block);
}

/* The window begins with the block of `at`; what of it is not begun is. */
static enum hub_status move_window(struct hub_stream *stream, uint64_t at)
{
    const uint64_t block = at / stream->block, all = stream->escaped ? stream->escaped : stream->length;
    for (; stream->window_block < block; stream->window_block++) {
        struct hub_file_fetch **passed = &stream->window[stream->window_block % HUB_STREAM_WINDOW];
        hub_fetch_put(*passed);
        *passed = NULL;
    }
    for (uint64_t i = block; i < block + HUB_STREAM_WINDOW && i * stream->block < all; i++) {
        struct hub_file_fetch **slot = &stream->window[i % HUB_STREAM_WINDOW];
        const uint64_t begin = i * stream->block, size = HUB_MIN(stream->block, all - begin);
        const enum hub_status st =
            *slot ? HUB_OK : hub_fetch_range(stream->file, stream->offset + begin, size, slot, NULL);
        if (st && st != HUB_AGAIN)
            return i == block ? st : HUB_OK;
    }
    return HUB_OK;
}

/* It takes longer than a fetch may. */
static enum hub_status fetch_again(struct hub_stream *stream, uint64_t at, struct hub_file_fetch **fetch)
{
    struct hub_file_fetch **slot = &stream->window[at / stream->block % HUB_STREAM_WINDOW];
    hub_fetch_put(*slot);
    *slot = NULL;
    HUB_TRY(move_window(stream, at));
    *fetch = *slot;
    return hub_fetch_result(*fetch, NULL);
}

/* Of one block: what was fetched, if the file is still the same. */
static enum hub_status read_fetched(struct hub_stream *stream, uint64_t at, char *out, size_t size)
{
    HUB_TRY(move_window(stream, at));
    struct hub_file_fetch *fetch = stream->window[at / stream->block % HUB_STREAM_WINDOW];
    enum hub_status st = hub_fetch_result(fetch, NULL);
    if (st == HUB_BUSY && stream->file->source->comes)
        st = fetch_again(stream, at, &fetch);
    stream->awaited = st == HUB_AGAIN ? fetch : NULL;
    HUB_TRY(st);
    HUB_TRY(hub_fetch_copy(fetch, stream->file, stream->offset + at, out, size, NULL));
    return hub_file_unchanged(stream->file, NULL);
}

/* Stamp, bytes, stamp. */
static enum hub_status read_checked(struct hub_stream *stream, uint64_t at, char *out, size_t size,
                                    unsigned flags)
{
    if (stream->file->source)
        return read_fetched(stream, at, out, size);
    HUB_TRY(hub_file_unchanged(stream->file, NULL));
    HUB_TRY(hub_read_bytes(stream->file, stream->offset + at, out, size, flags, NULL));
    return hub_file_unchanged(stream->file, NULL);
}

/* The next block of the text, which is kept like a block that a worker read. */
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

static ssize_t read_file(struct hub_stream *stream, uint64_t at, char *out, size_t size)
{
    if (at >= stream->length)
        return -1;
    if (!stream->parts && stream->cold && at >= stream->cold_at && at < stream->cold_at + stream->cold_size)
        return from_cold(stream, at, out, size);
    if (stream->looked)
        return 0;
    size_t n = (size_t)HUB_MIN((uint64_t)HUB_MIN(size, stream->block), stream->length - at);
    if (stream->file->source)
        n = HUB_MIN(n, stream->block - (size_t)(at % stream->block));
    enum hub_status st = stream->escaped ? read_text(stream, at, HUB_READ_NOWAIT)
                                         : read_checked(stream, at, out, n, HUB_READ_NOWAIT);
    if (st == HUB_AGAIN)
        return 0;
    if (st)
        stream->failed = true;
    return st ? -1 : stream->escaped ? from_cold(stream, at, out, size) : (ssize_t)n;
}

/* From `at` on, of all parts, to the end of its part at most. */
static ssize_t read_part(struct hub_stream *stream, uint64_t at, char *out, size_t size)
{
    if (stream->parts && stream->cold && at >= stream->cold_at && at - stream->cold_at < stream->cold_size)
        return from_cold(stream, at, out, size);
    const enum hub_status st = turn(stream, at, false);
    stream->failed |= st && st != HUB_AGAIN;
    if (st || stream->failed)
        return stream->failed ? -1 : 0;
    at -= stream->begin;
    if (at >= stream->head.size)
        return read_file(stream, at - stream->head.size, out, size);
    const size_t n = HUB_MIN(size, stream->head.size - (size_t)at);
    memcpy(out, stream->head.data + at, n);
    return (ssize_t)n;
}

ssize_t hub_stream_read(struct hub_stream *stream, uint64_t at, char *out, size_t size)
{
    if (stream->failed)
        return -1;
    size_t done = 0;
    do { /* many small parts are one block */
        const ssize_t n = read_part(stream, stream->first + at + done, out + done, size - done);
        if (n <= 0)
            return done ? (ssize_t)done : n;
        done += (size_t)n;
    } while (stream->parts && done < size);
    return (ssize_t)done;
}

/* Of the part that `at` lies in what there is room for, and at most to its end; on workers. */
static enum hub_status copy_part(struct hub_stream *stream, uint64_t at, char *out, size_t room, size_t *n)
{
    HUB_TRY(turn(stream, at, true));
    at -= stream->begin;
    if (at < stream->head.size) {
        *n = HUB_MIN(room, stream->head.size - (size_t)at);
        memcpy(out, stream->head.data + at, *n);
        return HUB_OK;
    }
    at -= stream->head.size;
    *n = (size_t)HUB_MIN((uint64_t)room, stream->length - at);
    HUB_TRY(hub_file_unchanged(stream->file, NULL));
    HUB_TRY(hub_fetch_read(stream->file, stream->offset + at, out, *n, NULL));
    HUB_TRY(hub_file_unchanged(stream->file, NULL));
    return stream->looked ? stream->parts->look(stream->parts, (struct hub_view){out, *n}) : HUB_OK;
}

/* A block from `at` on, of all parts: where they are small, of many. */
static void fetch_parts(struct hub_stream *stream, uint64_t at)
{
    char *block = malloc(stream->block);
    size_t size = 0, n = 0;
    drop_blocks(stream);
    while (block && size < stream->block &&
           !copy_part(stream, at + size, block + size, stream->block - size, &n))
        size += n; /* what cannot be had is met again when it is asked for */
    stream->failed = size == 0;
    stream->cold = block;
    stream->cold_at = at;
    stream->cold_size = size;
}

void hub_stream_fetch(struct hub_stream *stream, uint64_t at)
{
    if (stream->parts) {
        fetch_parts(stream, at + stream->first);
        return;
    }
    at -= stream->head.size; /* which is always there */
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
