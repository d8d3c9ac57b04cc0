/*
 * Parquet's DELTA_BINARY_PACKED: a first value, then blocks of differences, each block's smallest difference
 * taken off and the rest packed in miniblocks of a width of their own. Sums wrap around, as the writers' do.
 * https://parquet.apache.org/docs/file-format/data-pages/encodings/
 */
#include "storage/codec/decode.h"

/* Values of a block: writers have 128 or 256. What more would do is only to claim much with few bytes. */
enum { MAX_BLOCK = 1 << 20 };

static uint64_t varint(struct hub_cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        const uint8_t byte = hub_cursor_u8(c);
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (byte < 0x80)
            return value;
    }
    c->failed = true;
    return 0;
}

static uint64_t zigzag(struct hub_cursor *c)
{
    const uint64_t n = varint(c);
    return n >> 1 ^ (0 - (n & 1));
}

static enum hub_status short_data(struct hub_error *err)
{
    return hub_fail(err, HUB_CORRUPT, "packed differences end early");
}

enum hub_status hub_delta_open(const void *data, size_t size, struct hub_delta *out, struct hub_error *err)
{
    struct hub_cursor c = hub_cursor_of(data, size);
    const uint64_t block = varint(&c), minis = varint(&c), left = varint(&c), first = zigzag(&c);
    if (c.failed)
        return short_data(err);
    if (block == 0 || block > MAX_BLOCK || minis == 0 || minis > block || block % minis ||
        block / minis % 8 || left > UINT32_MAX)
        return hub_fail(err, HUB_CORRUPT, "packed differences in blocks of an impossible size");
    *out = (struct hub_delta){.in = c,
                              .value = first,
                              .left = (uint32_t)left,
                              .per_mini = (uint32_t)(block / minis),
                              .minis = (uint32_t)minis,
                              .mini = (uint32_t)minis,
                              .first = true};
    return HUB_OK;
}

/* The next miniblock, a block's head before its first. Those of the last block that hold no value are not
 * stored, whatever their widths are. */
static enum hub_status next_mini(struct hub_delta *d, struct hub_error *err)
{
    if (d->mini == d->minis) {
        d->smallest = zigzag(&d->in);
        d->widths = hub_cursor_bytes(&d->in, d->minis);
        d->mini = 0;
    }
    if (d->in.failed)
        return short_data(err);
    d->width = d->widths[d->mini++];
    if (d->width > 64)
        return hub_fail(err, HUB_CORRUPT, "differences of %u bits", d->width);
    d->run = hub_cursor_bytes(&d->in, (size_t)d->per_mini / 8 * d->width);
    d->in_mini = d->per_mini;
    d->bit = 0;
    return d->run ? HUB_OK : short_data(err);
}

/* The next packed number of the miniblock. It lies in at most nine bytes of the data. */
static uint64_t unpack(struct hub_delta *d)
{
    const uint8_t *p = d->run + (d->bit >> 3);
    const unsigned shift = d->bit & 7;
    const size_t have = (size_t)(d->in.at - p);
    uint64_t word = 0;
    if (have >= 8)
        memcpy(&word, p, 8);
    else
        memcpy(&word, p, have);
    word >>= shift;
    if (shift + d->width > 64)
        word |= (uint64_t)p[8] << (64 - shift);
    d->bit += d->width;
    return d->width < 64 ? word & ((UINT64_C(1) << d->width) - 1) : word;
}

enum hub_status hub_delta_take(struct hub_delta *d, uint64_t *out, uint32_t count, struct hub_error *err)
{
    if (count > d->left)
        return short_data(err);
    d->left -= count;
    if (d->first && count) {
        if (out)
            *out++ = d->value;
        d->first = false;
        count--;
    }
    while (count > 0) {
        if (d->in_mini == 0)
            HUB_TRY(next_mini(d, err));
        const uint32_t n = HUB_MIN(count, d->in_mini);
        for (uint32_t i = 0; i < n; i++) {
            d->value += d->smallest + (d->width ? unpack(d) : 0);
            if (out)
                out[i] = d->value;
        }
        if (out)
            out += n;
        d->in_mini -= n;
        count -= n;
    }
    return HUB_OK;
}

enum hub_status hub_delta_end(const struct hub_delta *delta, struct hub_cursor *after, struct hub_error *err)
{
    struct hub_delta d = *delta;
    uint32_t left = d.left - (d.first && d.left); /* the first value lies in the head */
    for (left -= HUB_MIN(left, d.in_mini); left > 0; left -= HUB_MIN(left, d.per_mini))
        HUB_TRY(next_mini(&d, err));
    *after = d.in;
    return HUB_OK;
}
