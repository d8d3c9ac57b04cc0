/* Packed streams: see unpack.h. */
#include "storage/formats/unpack.h"

#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
    BLOCK = MIB, /* a multiple of 8, so that blocks of side data adjoin */
    MAX_WINDOW_LOG = 26,
    GZIP_WINDOW = MAX_WBITS + 16,
};

struct unpacker {
    const struct hub_packed *packed;
    uint8_t *in, *out;
    size_t in_at, in_size, out_size;
    uint64_t taken; /* of the packed bytes */
    z_stream z;
    ZSTD_DStream *zstd;
    bool ended; /* a member or frame is complete, and no next one began */
};

static void end_unpacking(struct unpacker *u)
{
    inflateEnd(&u->z);
    ZSTD_freeDStream(u->zstd);
    free(u->in);
    free(u->out);
}

static enum hub_status begin(struct unpacker *u, const struct hub_packed *packed, struct hub_error *err)
{
    u->packed = packed;
    u->in = malloc(BLOCK);
    u->out = malloc(BLOCK);
    bool ready = u->in && u->out;
    if (packed->packing == HUB_PACKED_ZSTD)
        ready = ready && (u->zstd = ZSTD_createDStream()) &&
                !ZSTD_isError(ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, MAX_WINDOW_LOG));
    else
        ready = ready &&
                inflateInit2(&u->z, packed->packing == HUB_PACKED_GZIP ? GZIP_WINDOW : -MAX_WBITS) == Z_OK;
    return hub_allocated(ready, err);
}

static enum hub_status refill(struct unpacker *u, struct hub_error *err)
{
    const size_t n = (size_t)HUB_MIN(u->packed->size - u->taken, BLOCK);
    HUB_TRY(hub_byte_source_read(u->packed->source, u->packed->offset + u->taken, u->in, n, err));
    u->taken += n;
    u->in_at = 0;
    u->in_size = n;
    return HUB_OK;
}

static enum hub_status step_zlib(struct unpacker *u, struct hub_error *err)
{
    if (u->ended && inflateReset(&u->z) != Z_OK)
        return hub_no_memory(err);
    u->z.next_in = u->in + u->in_at;
    u->z.avail_in = (uInt)(u->in_size - u->in_at);
    u->z.next_out = u->out + u->out_size;
    u->z.avail_out = (uInt)(BLOCK - u->out_size);
    const int code = inflate(&u->z, Z_NO_FLUSH);
    u->in_at = u->in_size - u->z.avail_in;
    u->out_size = BLOCK - u->z.avail_out;
    u->ended = code == Z_STREAM_END;
    if (code == Z_MEM_ERROR)
        return hub_no_memory(err);
    return code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR
               ? HUB_OK
               : hub_fail(err, HUB_CORRUPT, "damaged deflated data");
}

static enum hub_status step_zstd(struct unpacker *u, struct hub_error *err)
{
    ZSTD_inBuffer in = {u->in, u->in_size, u->in_at};
    ZSTD_outBuffer out = {u->out, BLOCK, u->out_size};
    const size_t left = ZSTD_decompressStream(u->zstd, &out, &in);
    u->in_at = in.pos;
    u->out_size = out.pos;
    u->ended = left == 0;
    if (ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge)
        return hub_fail(err, HUB_TOO_BIG, "zstd: a window of more than 64 MiB");
    return ZSTD_isError(left) ? hub_fail(err, HUB_CORRUPT, "zstd: %s", ZSTD_getErrorName(left)) : HUB_OK;
}

/* Fill `out`; `end`: there is no more. Of a stream of raw deflate what follows its end is not read. */
static enum hub_status next_block(struct unpacker *u, bool *end, struct hub_error *err)
{
    const enum hub_packing packing = u->packed->packing;
    u->out_size = 0;
    for (*end = false; u->out_size < BLOCK && !*end;) {
        if (u->in_at == u->in_size && u->taken < u->packed->size)
            HUB_TRY(refill(u, err));
        while (u->ended && packing == HUB_PACKED_GZIP && u->in_at < u->in_size && u->in[u->in_at] == 0)
            u->in_at++; /* some writers fill the last block with zeros */
        if (u->in_at == u->in_size && u->taken < u->packed->size)
            continue;
        const size_t before_in = u->in_at, before_out = u->out_size;
        if (u->ended && (u->in_at == u->in_size || packing == HUB_PACKED_DEFLATE)) {
            *end = true;
            return HUB_OK;
        }
        HUB_TRY(packing == HUB_PACKED_ZSTD ? step_zstd(u, err) : step_zlib(u, err));
        const bool stuck = u->in_at == before_in && u->out_size == before_out && !u->ended;
        if (stuck && u->in_at == u->in_size && u->taken == u->packed->size)
            return hub_fail(err, HUB_CORRUPT, "the compressed data end too early");
    }
    return HUB_OK;
}

enum hub_packing hub_packing_of(const uint8_t *head, size_t size)
{
    static const uint8_t frame[] = {0x28, 0xb5, 0x2f, 0xfd}, skippable[] = {0x2a, 0x4d, 0x18};
    if (size >= 2 && head[0] == 0x1f && head[1] == 0x8b)
        return HUB_PACKED_GZIP;
    if (size >= 4 && (memcmp(head, frame, sizeof frame) == 0 ||
                      ((head[0] & 0xf0) == 0x50 && memcmp(head + 1, skippable, sizeof skippable) == 0)))
        return HUB_PACKED_ZSTD;
    return HUB_PACKED_NOT;
}

enum hub_status hub_unpack_head(const struct hub_packed *packed, struct hub_buf *head, struct hub_error *err)
{
    HUB_CLEANUP(end_unpacking) struct unpacker u = {0};
    HUB_TRY(begin(&u, packed, err));
    for (bool end = false; !end && head->size < head->limit;) {
        const enum hub_status st = next_block(&u, &end, err);
        HUB_TRY(hub_buf_add(head, u.out, HUB_MIN(u.out_size, head->limit - head->size), st ? NULL : err));
        HUB_TRY(st);
    }
    return HUB_OK;
}

static enum hub_status check_growth(const struct hub_packed *packed, uint64_t size, struct hub_error *err)
{
    return size > packed->size * HUB_UNPACK_RATIO + BLOCK
               ? hub_fail(err, HUB_TOO_BIG, "it decompresses to more than %d times its size",
                          HUB_UNPACK_RATIO)
               : HUB_OK;
}

enum hub_status hub_unpack(const struct hub_packed *packed, struct hub_files *files, struct hub_buf *head,
                           struct hub_inflated *out, struct hub_error *err)
{
    HUB_CLEANUP(end_unpacking) struct unpacker u = {0};
    *out = (struct hub_inflated){0};
    HUB_TRY(begin(&u, packed, err));
    for (bool end = false; !end;) {
        uint64_t at;
        HUB_TRY(next_block(&u, &end, err));
        HUB_TRY(check_growth(packed, out->size + u.out_size, err));
        HUB_TRY(hub_buf_add(head, u.out, HUB_MIN(u.out_size, head->limit - head->size), err));
        HUB_TRY(hub_files_side_add(files, u.out, u.out_size, &at, err));
        out->crc = (uint32_t)crc32(out->crc, u.out, (uInt)u.out_size);
        out->offset = out->size ? out->offset : at;
        out->size += u.out_size;
    }
    return HUB_OK;
}

/* ---- a stream that is read once, from the front on ---- */

struct hub_unpack_stream {
    struct hub_packed packed;
    struct unpacker unpacker;
    uint64_t at; /* of the block in the unpacker's `out` */
    bool end;    /* no block follows it */
};

enum hub_status hub_unpack_stream_new(const struct hub_packed *packed, struct hub_unpack_stream **out,
                                      struct hub_error *err)
{
    HUB_CLEANUP(hub_unpack_stream_freep) struct hub_unpack_stream *s = calloc(1, sizeof *s);
    HUB_TRY(hub_allocated(s, err));
    s->packed = *packed;
    HUB_TRY(begin(&s->unpacker, &s->packed, err));
    *out = s;
    s = NULL;
    return HUB_OK;
}

enum hub_status hub_unpack_stream_read(void *stream, uint64_t offset, void *out, size_t size, size_t *got,
                                       struct hub_error *err)
{
    struct hub_unpack_stream *s = stream;
    struct unpacker *u = &s->unpacker;
    if (offset < s->at)
        return hub_fail(err, HUB_INVALID, "a packed stream is not read backwards");
    for (*got = 0; *got < size;) {
        const uint64_t from = offset + *got, end = s->at + u->out_size;
        if (from < end) {
            const size_t n = (size_t)HUB_MIN(end - from, size - *got);
            memcpy((uint8_t *)out + *got, u->out + (from - s->at), n);
            *got += n;
        } else if (s->end) {
            return HUB_OK;
        } else {
            s->at = end;
            HUB_TRY(next_block(u, &s->end, err));
            HUB_TRY(check_growth(&s->packed, s->at + u->out_size, err));
        }
    }
    return HUB_OK;
}

void hub_unpack_stream_free(struct hub_unpack_stream *stream)
{
    if (stream)
        end_unpacking(&stream->unpacker);
    free(stream);
}

void hub_unpack_stream_freep(struct hub_unpack_stream **stream)
{
    hub_unpack_stream_free(*stream);
}
