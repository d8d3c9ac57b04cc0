/* One picture as PNG (RFC 2083): 8 bits a sample, no interlace, each line with the filter that leaves the
 * smallest differences. */
#include "storage/encode/encode.h"

#include <libdeflate.h>
#include <stdlib.h>

enum { LEVEL = 4, FILTER_NONE = 0, FILTER_SUB = 1, FILTER_UP = 2, FILTERS = 3 };

static void filter_line(unsigned filter, const uint8_t *line, const uint8_t *above, size_t size, size_t step,
                        uint8_t *out)
{
    for (size_t i = 0; i < size; i++) {
        const uint8_t left = i >= step ? line[i - step] : 0;
        const uint8_t up = above ? above[i] : 0;
        out[i] = (uint8_t)(line[i] - (filter == FILTER_SUB ? left : filter == FILTER_UP ? up : 0));
    }
}

static uint64_t roughness(const uint8_t *line, size_t size)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += line[i] < 128 ? line[i] : 256U - line[i];
    return sum;
}

/* Each line behind the number of its filter; `out` has a spare line at its end. */
static void filter_all(const struct hub_pixels *p, uint8_t *out)
{
    const size_t size = (size_t)p->width * p->channels;
    uint8_t *trial = out + (size_t)p->height * (size + 1);
    for (uint32_t y = 0; y < p->height; y++) {
        const uint8_t *line = p->data + y * size, *above = y ? line - size : NULL;
        uint8_t *to = out + y * (size + 1);
        uint64_t best = UINT64_MAX;
        for (unsigned filter = FILTER_NONE; filter < FILTERS; filter++) {
            filter_line(filter, line, above, size, p->channels, trial);
            const uint64_t rough = roughness(trial, size);
            if (rough < best) {
                best = rough;
                to[0] = (uint8_t)filter;
                memcpy(to + 1, trial, size);
            }
        }
    }
}

static void put_be32(uint8_t out[4], uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        out[i] = (uint8_t)(value >> (24 - 8 * i));
}

static enum hub_status put_chunk(const char type[4], const void *data, size_t size, struct hub_buf *out,
                                 struct hub_error *err)
{
    uint8_t head[8], tail[4];
    put_be32(head, (uint32_t)size);
    memcpy(head + 4, type, 4);
    put_be32(tail, libdeflate_crc32(libdeflate_crc32(0, head + 4, 4), data, size));
    HUB_TRY(hub_buf_add(out, head, sizeof(head), err));
    HUB_TRY(hub_buf_add(out, data, size, err));
    return hub_buf_add(out, tail, sizeof(tail), err);
}

static void compressor_freep(struct libdeflate_compressor **compressor)
{
    libdeflate_free_compressor(*compressor);
}

static enum hub_status put_pixels(const struct hub_pixels *p, struct hub_buf *out, struct hub_error *err)
{
    const size_t line = (size_t)p->width * p->channels + 1;
    const size_t size = line * p->height;
    HUB_CLEANUP(compressor_freep)
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(LEVEL);
    HUB_TRY(hub_allocated(compressor, err));
    const size_t bound = libdeflate_zlib_compress_bound(compressor, size);
    HUB_CLEANUP(hub_freep) uint8_t *filtered = malloc(size + line);
    HUB_CLEANUP(hub_freep) uint8_t *packed = malloc(bound);
    HUB_TRY(hub_allocated(filtered && packed, err));
    filter_all(p, filtered);
    const size_t n = libdeflate_zlib_compress(compressor, filtered, size, packed, bound);
    return put_chunk("IDAT", packed, n, out, err);
}

enum hub_status hub_png_row(const struct hub_rows *rows, struct hub_drawn_range *range, struct hub_buf *out,
                            struct hub_error *err)
{
    static const uint8_t color_types[5] = {[1] = 0, [3] = 2, [4] = 6};
    HUB_CLEANUP(hub_pixels_dispose) struct hub_pixels p = {0};
    HUB_TRY(hub_pixels_of_row(rows, range, &p, err));
    uint8_t header[13] = {[8] = 8 /* bits */, [9] = color_types[p.channels]};
    put_be32(header, p.width);
    put_be32(header + 4, p.height);
    HUB_TRY(hub_buf_add(out, "\x89PNG\r\n\x1A\n", 8, err));
    HUB_TRY(put_chunk("IHDR", header, sizeof(header), out, err));
    HUB_TRY(put_pixels(&p, out, err));
    return put_chunk("IEND", "", 0, out, err);
}
