/*
 * Parquet's RLE / bit-packed hybrid (levels, dictionary indices, booleans): runs behind a varint header,
 * whose lowest bit says whether groups of eight packed values follow or one repeated value.
 * https://parquet.apache.org/docs/file-format/data-pages/encodings/
 */
#include "storage/codec/decode.h"

struct hub_rle hub_rle_of(const void *data, size_t size, unsigned width)
{
    return (struct hub_rle){.at = data, .end = (const uint8_t *)data + size, .width = width};
}

/* A run that cannot be read leaves the reader where it was, so that the next call fails too. */
static enum hub_status next_run(struct hub_rle *rle, struct hub_error *err)
{
    struct hub_cursor c = {rle->at, rle->end, false};
    uint32_t header = 0, left = 0;
    for (unsigned shift = 0;; shift += 7) {
        const uint8_t byte = hub_cursor_u8(&c);
        if (c.failed || shift > 28 || (shift == 28 && byte > 15))
            return hub_fail(err, HUB_CORRUPT, "run-length data ends early");
        header |= (uint32_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    if (header & 1) {
        const uint64_t bytes = (uint64_t)(header >> 1) * rle->width;
        /* the padding of the last run may be missing */
        const size_t have = (size_t)HUB_MIN(bytes, hub_cursor_left(&c));
        rle->run = hub_cursor_bytes(&c, have);
        rle->bit = 0;
        left = (uint32_t)HUB_MIN((uint64_t)have * 8 / rle->width, UINT32_MAX);
    } else {
        rle->run = NULL;
        left = header >> 1;
        rle->value = (uint32_t)hub_cursor_uint(&c, (rle->width + 7) / 8);
        if (rle->width < 32 && rle->value >> rle->width)
            return hub_fail(err, HUB_CORRUPT, "run-length value of more than %u bits", rle->width);
    }
    if (c.failed)
        return hub_fail(err, HUB_CORRUPT, "run-length data ends early");
    rle->left = left;
    rle->at = c.at;
    return HUB_OK;
}

/* Of one or two whole bytes each: the wide loads of what follows are not needed. */
static void widen(const uint8_t *in, unsigned width, uint32_t *out, uint32_t count)
{
    for (uint32_t i = 0; width == 8 && i < count; i++)
        out[i] = in[i];
    for (uint32_t i = 0; width == 16 && i < count; i++) {
        uint16_t value;
        memcpy(&value, in + 2 * (size_t)i, sizeof value);
        out[i] = value;
    }
}

/* A value and the bits before it lie in at most five bytes; what is loaded behind the run does not matter. */
static void unpack(const struct hub_rle *rle, uint32_t *out, uint32_t count)
{
    const uint8_t *const run = rle->run, *const end = rle->end;
    const unsigned width = rle->width;
    const uint64_t mask = (UINT64_C(1) << width) - 1, room = (uint64_t)(end - run) * 8;
    uint64_t bit = rle->bit;
    uint32_t i = 0;
    if ((width == 8 || width == 16) && bit + (uint64_t)count * width <= room) {
        widen(run + (bit >> 3), width, out, count);
        return;
    }
    for (; i < count && bit + 64 <= room; i++, bit += width) {
        uint64_t word;
        memcpy(&word, run + (bit >> 3), 8);
        out[i] = (uint32_t)(word >> (bit & 7) & mask);
    }
    for (; i < count; i++, bit += width) {
        const uint8_t *p = run + (bit >> 3);
        uint64_t word = 0;
        memcpy(&word, p, HUB_MIN((size_t)(end - p), 8));
        out[i] = (uint32_t)(word >> (bit & 7) & mask);
    }
}

bool hub_rle_repeats(struct hub_rle *rle, uint32_t value, uint32_t count)
{
    if (rle->width == 0)
        return value == 0;
    if (rle->left == 0 && next_run(rle, NULL))
        return false; /* reported by whoever takes the values */
    if (rle->run || rle->left < count || rle->value != value)
        return false;
    rle->left -= count;
    return true;
}

enum hub_status hub_rle_take(struct hub_rle *rle, uint32_t *out, uint32_t count, struct hub_error *err)
{
    if (rle->width == 0) {
        if (out)
            memset(out, 0, (size_t)count * sizeof *out);
        return HUB_OK;
    }
    while (count > 0) {
        if (rle->left == 0) {
            HUB_TRY(next_run(rle, err));
            continue;
        }
        const uint32_t n = HUB_MIN(count, rle->left);
        if (out && rle->run)
            unpack(rle, out, n);
        else if (out)
            for (uint32_t i = 0; i < n; i++)
                out[i] = rle->value;
        if (rle->run)
            rle->bit += (uint64_t)n * rle->width;
        if (out)
            out += n;
        rle->left -= n;
        count -= n;
    }
    return HUB_OK;
}

enum hub_status hub_rle_levels(const void *in, size_t in_size, unsigned bit_width, uint32_t count,
                               uint8_t *out, size_t *used, struct hub_error *err)
{
    if (bit_width > 8)
        return hub_fail(err, HUB_CORRUPT, "levels of %u bits", bit_width);
    struct hub_rle rle = hub_rle_of(in, in_size, bit_width);
    uint32_t batch[256];
    while (count > 0) {
        const uint32_t n = (uint32_t)HUB_MIN(count, HUB_COUNT(batch));
        HUB_TRY(hub_rle_take(&rle, batch, n, err));
        for (uint32_t i = 0; i < n; i++)
            out[i] = (uint8_t)batch[i];
        out += n;
        count -= n;
    }
    *used = (size_t)(rle.at - (const uint8_t *)in);
    return HUB_OK;
}
