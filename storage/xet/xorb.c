/* Chunks of xorbs, framed and decoded: see xorb.h. */
#include "storage/xet/xorb.h"

#include "storage/codec/codec.h"

#include <stdlib.h>

static const char footer_start[] = "XETBLOB";

struct chunk_header {
    uint32_t stored, raw;
    uint8_t version, scheme;
};

static uint32_t u24(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
}

static struct chunk_header header_of(const uint8_t *at)
{
    return (struct chunk_header){
        .version = at[0], .stored = u24(at + 1), .scheme = at[4], .raw = u24(at + 5)};
}

/* ---- schemes ---- */

static enum hub_status copy(struct hub_view in, uint8_t *out, size_t size, uint8_t *scratch,
                            struct hub_error *err)
{
    (void)scratch;
    if (in.size != size)
        return hub_fail(err, HUB_CORRUPT, "a stored chunk is not of the length its header says");
    memcpy(out, in.data, size);
    return HUB_OK;
}

static enum hub_status unlz4(struct hub_view in, uint8_t *out, size_t size, uint8_t *scratch,
                             struct hub_error *err)
{
    (void)scratch;
    return hub_unlz4_frame(in.data, in.size, out, size, err);
}

/* Byte-grouping: byte i of the chunk lies in plane i mod 4; of `size` bytes the first size mod 4 planes have
 * one byte more. Once those are taken out, the planes are of one length, as HDF5's shuffle has them. */
static void ungroup(uint8_t *planes, uint8_t *out, size_t size)
{
    const size_t length = size / 4, longer = size % 4;
    uint8_t last[4] = {0};
    for (size_t j = 0; j < longer; j++)
        last[j] = planes[j * (length + 1) + length];
    for (size_t j = 1; j < 4 && longer; j++)
        memmove(planes + j * length, planes + j * length + HUB_MIN(j, longer), length);
    hub_unshuffle(planes, out, 4 * length, 4);
    memcpy(out + 4 * length, last, longer);
}

static enum hub_status unlz4_grouped(struct hub_view in, uint8_t *out, size_t size, uint8_t *scratch,
                                     struct hub_error *err)
{
    HUB_TRY(hub_unlz4_frame(in.data, in.size, scratch, size, err));
    ungroup(scratch, out, size);
    return HUB_OK;
}

/* By number, as headers state it. */
static enum hub_status (*const schemes[])(struct hub_view in, uint8_t *out, size_t size, uint8_t *scratch,
                                          struct hub_error *err) = {copy, unlz4, unlz4_grouped};

static enum hub_status check_header(const struct chunk_header *header, struct hub_error *err)
{
    if (header->version != 0)
        return hub_fail(err, HUB_CORRUPT, "a chunk of a xorb has the version %u; only version 0 is known",
                        header->version);
    if (header->scheme >= HUB_COUNT(schemes))
        return hub_fail(err, HUB_CORRUPT, "a chunk of a xorb has the compression scheme %u, which is unknown",
                        header->scheme);
    if (header->raw == 0 || header->stored == 0)
        return hub_fail(err, HUB_CORRUPT, "a chunk of a xorb is empty");
    if (header->raw > HUB_XORB_CHUNK_BYTES || header->stored > HUB_XORB_CHUNK_STORED)
        return hub_fail(err, HUB_TOO_BIG,
                        "a chunk of a xorb states %u bytes stored as %u; at most %u are taken", header->raw,
                        header->stored, HUB_XORB_CHUNK_BYTES);
    return HUB_OK;
}

enum hub_status hub_xorb_chunk_decode(struct hub_view chunk, uint8_t *out, size_t size, uint8_t *scratch,
                                      struct hub_error *err)
{
    if (chunk.size < HUB_XORB_HEADER)
        return hub_fail(err, HUB_CORRUPT, "a chunk of a xorb ends in its header");
    const struct chunk_header header = header_of((const uint8_t *)chunk.data);
    HUB_TRY(check_header(&header, err));
    if (header.raw != size || header.stored != chunk.size - HUB_XORB_HEADER)
        return hub_fail(err, HUB_CORRUPT, "a chunk of a xorb is not of the length its header says");
    const struct hub_view stored = {chunk.data + HUB_XORB_HEADER, header.stored};
    return schemes[header.scheme](stored, out, size, scratch, err);
}

/* ---- framing ---- */

/* The header of the next chunk is complete. */
static enum hub_status begin_chunk(struct hub_xorb_scan *scan, struct hub_error *err)
{
    scan->header_bytes = 0;
    if (memcmp(scan->header, footer_start, sizeof footer_start - 1) == 0) {
        scan->complete = true;
        return HUB_OK;
    }
    const struct chunk_header header = header_of(scan->header);
    HUB_TRY(check_header(&header, err));
    const struct hub_xorb_chunk last =
        scan->count ? scan->chunks[scan->count - 1] : (struct hub_xorb_chunk){0, 0};
    if (scan->count == HUB_XORB_CHUNKS)
        return hub_fail(err, HUB_TOO_BIG, "a xorb has more than %u chunks", HUB_XORB_CHUNKS);
    if (header.raw > HUB_XORB_RAW_BYTES - last.raw_end)
        return hub_fail(err, HUB_TOO_BIG, "the chunks of a xorb have more than %u bytes", HUB_XORB_RAW_BYTES);
    if (header.stored + HUB_XORB_HEADER > HUB_XORB_BODY_BYTES - last.end)
        return hub_fail(err, HUB_TOO_BIG, "a xorb has more than %u bytes", HUB_XORB_BODY_BYTES);
    HUB_TRY(hub_grow(&scan->chunks, scan->count, &scan->capacity, sizeof *scan->chunks, err));
    scan->chunks[scan->count++] =
        (struct hub_xorb_chunk){last.end + HUB_XORB_HEADER + header.stored, last.raw_end + header.raw};
    scan->missing = header.stored;
    return HUB_OK;
}

enum hub_status hub_xorb_scan_add(struct hub_xorb_scan *scan, struct hub_view bytes, struct hub_error *err)
{
    while (bytes.size && !scan->complete) {
        const size_t want = scan->missing ? scan->missing : HUB_XORB_HEADER - scan->header_bytes;
        const size_t taken = HUB_MIN(want, bytes.size);
        if (scan->missing) {
            scan->missing -= (uint32_t)taken;
        } else {
            memcpy(scan->header + scan->header_bytes, bytes.data, taken);
            scan->header_bytes += (uint32_t)taken;
            if (taken == want)
                HUB_TRY(begin_chunk(scan, err));
        }
        bytes.data += taken;
        bytes.size -= taken;
    }
    return HUB_OK;
}

enum hub_status hub_xorb_scan_end(const struct hub_xorb_scan *scan, struct hub_error *err)
{
    if (scan->missing || scan->header_bytes)
        return hub_fail(err, HUB_CORRUPT, "the xorb ends inside chunk %u",
                        scan->missing ? scan->count - 1 : scan->count);
    return scan->count ? HUB_OK : hub_fail(err, HUB_CORRUPT, "the xorb has no chunk");
}

void hub_xorb_scan_dispose(struct hub_xorb_scan *scan)
{
    free(scan->chunks);
    *scan = (struct hub_xorb_scan){0};
}
