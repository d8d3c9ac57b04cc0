/*
 * The values of a Parquet data page, in every encoding but BIT_PACKED: see page_values.h.
 * https://parquet.apache.org/docs/file-format/data-pages/encodings/
 */
#include "storage/codec/page_values.h"

unsigned hub_values_width(const struct hub_column *column)
{
    switch (column->physical) {
    case HUB_PHYS_INT32:
    case HUB_PHYS_FLOAT:
        return 4;
    case HUB_PHYS_INT64:
    case HUB_PHYS_DOUBLE:
        return 8;
    case HUB_PHYS_INT96:
        return 12;
    case HUB_PHYS_FIXED:
        return column->width;
    default:
        return 0;
    }
}

static enum hub_status short_page(struct hub_error *err)
{
    return hub_fail(err, HUB_CORRUPT, "page holds fewer values than it states");
}

static enum hub_status open_dictionary(struct hub_value_decoder *v, struct hub_error *err)
{
    const struct hub_page_job *job = v->job;
    if (!job->dictionary || (!v->width && !job->dictionary_views))
        return hub_fail(err, HUB_CORRUPT, "page without its dictionary");
    if (v->width && (uint64_t)job->dictionary->values * v->width > job->dictionary->decoded)
        return hub_fail(err, HUB_CORRUPT, "dictionary shorter than it states");
    /* A page of nulls only may hold nothing, not even the width. */
    const unsigned bits = v->plain.at < v->plain.end ? hub_cursor_u8(&v->plain) : 0;
    if (bits > 32)
        return hub_fail(err, HUB_CORRUPT, "dictionary indices of %u bits", bits);
    v->rle = hub_rle_of(v->plain.at, hub_cursor_left(&v->plain), bits);
    return HUB_OK;
}

/* A run of packed differences where `plain` stands, which then stands behind it. A page of nulls only may
 * hold nothing. */
static enum hub_status open_delta(struct hub_value_decoder *v, struct hub_delta *delta, struct hub_error *err)
{
    if (v->plain.at == v->plain.end)
        return HUB_OK;
    HUB_TRY(hub_delta_open(v->plain.at, hub_cursor_left(&v->plain), delta, err));
    return hub_delta_end(delta, &v->plain, err);
}

enum hub_status hub_values_open(const struct hub_page_job *job, struct hub_cursor values,
                                struct hub_value_decoder *v, struct hub_error *err)
{
    *v = (struct hub_value_decoder){.job = job, .plain = values, .width = hub_values_width(job->column)};
    if (!hub_encoding_suits(job->page->encoding, job->column->physical))
        return hub_fail(err, HUB_UNSUPPORTED, "page encoding %u of physical type %u", job->page->encoding,
                        job->column->physical);
    switch ((enum hub_page_encoding)job->page->encoding) {
    case HUB_ENC_PLAIN:
        break;
    case HUB_ENC_PLAIN_DICTIONARY:
    case HUB_ENC_RLE_DICTIONARY:
        return open_dictionary(v, err);
    case HUB_ENC_RLE: {
        const struct hub_view runs = hub_cursor_text(&v->plain, UINT32_MAX);
        v->rle = hub_rle_of(runs.data, runs.size, 1);
        return v->plain.failed ? hub_fail(err, HUB_CORRUPT, "damaged run-length page") : HUB_OK;
    }
    case HUB_ENC_DELTA_BYTES:
        HUB_TRY(open_delta(v, &v->prefixes, err));
        return open_delta(v, &v->delta, err);
    case HUB_ENC_DELTA_BINARY:
    case HUB_ENC_DELTA_LENGTH:
        return open_delta(v, &v->delta, err);
    case HUB_ENC_SPLIT:
        v->stream = v->width ? hub_cursor_left(&v->plain) / v->width : 0;
        if (v->stream * v->width != hub_cursor_left(&v->plain))
            return hub_fail(err, HUB_CORRUPT, "page of streams of different lengths");
        break;
    }
    return HUB_OK;
}

/* Lengths are 32-bit numbers, none of them negative. */
static enum hub_status take_lengths(struct hub_delta *delta, uint64_t *out, uint32_t count,
                                    struct hub_error *err)
{
    HUB_TRY(hub_delta_take(delta, out, count, err));
    for (uint32_t i = 0; i < count; i++)
        if (out[i] > INT32_MAX)
            return hub_fail(err, HUB_CORRUPT, "values of impossible lengths");
    return HUB_OK;
}

/* The next value of DELTA_BYTE_ARRAY: the bytes it shares with the one before, and its own. `keep`: that one
 * stays where it is. */
static enum hub_status build(struct hub_value_decoder *v, uint64_t shared, uint64_t own, bool keep,
                             struct hub_error *err)
{
    uint8_t *const built = v->job->built;
    const uint8_t *bytes = hub_cursor_bytes(&v->plain, own);
    const size_t to = keep ? v->used : v->last.offset;
    if (!bytes)
        return short_page(err);
    if (shared > v->last.length)
        return hub_fail(err, HUB_CORRUPT, "a value shares more bytes than the value before it has");
    if (to > v->job->built_size || shared + own > v->job->built_size - to || to > UINT32_MAX)
        return hub_fail(err, HUB_CORRUPT, "values of more bytes than the page's stated size");
    if (keep && shared)
        memcpy(built + to, built + v->last.offset, shared);
    if (own)
        memcpy(built + to + shared, bytes, own);
    v->last = (struct hub_page_view){(uint32_t)to, (uint32_t)(shared + own), false, true};
    v->used = to + shared + own;
    return HUB_OK;
}

/* The next `count` values of DELTA_BYTE_ARRAY, at most HUB_VALUES_AT_ONCE: to `views`, or each to `fixed`
 * alone; both NULL: they are skipped. */
static enum hub_status take_built(struct hub_value_decoder *v, struct hub_page_view *views, uint8_t *fixed,
                                  uint32_t count, struct hub_error *err)
{
    uint64_t shared[HUB_VALUES_AT_ONCE], own[HUB_VALUES_AT_ONCE];
    const uint32_t size = v->job->item_size;
    HUB_TRY(take_lengths(&v->prefixes, shared, count, err));
    HUB_TRY(take_lengths(&v->delta, own, count, err));
    for (uint32_t i = 0; i < count; i++) {
        if (v->width && shared[i] + own[i] != v->width)
            return hub_fail(err, HUB_CORRUPT, "a value whose size differs from its column's");
        HUB_TRY(build(v, shared[i], own[i], views != NULL, err));
        if (views)
            views[i] = v->last;
        if (fixed)
            memcpy(fixed + (size_t)i * size, v->job->built + v->last.offset, size);
    }
    return HUB_OK;
}

static enum hub_status skip_lengths(struct hub_value_decoder *v, uint32_t count, struct hub_error *err)
{
    uint64_t lengths[HUB_VALUES_AT_ONCE], bytes = 0;
    HUB_TRY(take_lengths(&v->delta, lengths, count, err));
    for (uint32_t i = 0; i < count; i++)
        bytes += lengths[i];
    return hub_cursor_skip(&v->plain, bytes) ? HUB_OK : short_page(err);
}

static enum hub_status skip_plain(struct hub_value_decoder *v, uint32_t count, struct hub_error *err)
{
    if (v->job->column->physical == HUB_PHYS_BOOLEAN) {
        v->bit += count;
        return HUB_OK;
    }
    if (v->width)
        return hub_cursor_skip(&v->plain, (size_t)count * v->width) ? HUB_OK : short_page(err);
    for (uint32_t i = 0; i < count && !v->plain.failed; i++)
        hub_cursor_skip(&v->plain, hub_cursor_u32(&v->plain));
    return v->plain.failed ? short_page(err) : HUB_OK;
}

/* At most HUB_VALUES_AT_ONCE. */
enum hub_status hub_values_skip(struct hub_value_decoder *v, uint32_t count, struct hub_error *err)
{
    switch ((enum hub_page_encoding)v->job->page->encoding) {
    case HUB_ENC_PLAIN:
        return skip_plain(v, count, err);
    case HUB_ENC_DELTA_BINARY:
        return hub_delta_take(&v->delta, NULL, count, err);
    case HUB_ENC_DELTA_LENGTH:
        return skip_lengths(v, count, err);
    case HUB_ENC_DELTA_BYTES:
        return take_built(v, NULL, NULL, count, err);
    case HUB_ENC_SPLIT:
        v->next += count;
        return HUB_OK;
    case HUB_ENC_PLAIN_DICTIONARY:
    case HUB_ENC_RLE_DICTIONARY:
    case HUB_ENC_RLE:
        break;
    }
    return hub_rle_take(&v->rle, NULL, count, err);
}

/* The low `size` bytes of `count` values of `width` bytes. Same width: they are copied as they lie. */
static void narrow(uint8_t *out, uint32_t size, const uint8_t *in, unsigned width, uint32_t count)
{
    if (size == width) {
        memcpy(out, in, (size_t)count * size);
        return;
    }
    for (uint32_t i = 0; i < count; i++, in += width, out += size)
        memcpy(out, in, size);
}

static enum hub_status plain_bits(struct hub_value_decoder *v, uint8_t *out, uint32_t count,
                                  struct hub_error *err)
{
    const uint64_t have = (uint64_t)hub_cursor_left(&v->plain) * 8;
    if (v->bit > have || count > have - v->bit)
        return short_page(err);
    for (uint32_t i = 0; i < count; i++, v->bit++)
        out[i] = v->plain.at[v->bit >> 3] >> (v->bit & 7) & 1;
    return HUB_OK;
}

static enum hub_status run_bits(struct hub_value_decoder *v, uint8_t *out, uint32_t count,
                                struct hub_error *err)
{
    uint32_t bits[HUB_VALUES_AT_ONCE];
    HUB_TRY(hub_rle_take(&v->rle, bits, count, err));
    for (uint32_t i = 0; i < count; i++)
        out[i] = (uint8_t)bits[i];
    return HUB_OK;
}

static enum hub_status take_indices(struct hub_value_decoder *v, uint32_t *indices, uint32_t count,
                                    struct hub_error *err)
{
    HUB_TRY(hub_rle_take(&v->rle, indices, count, err));
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++)
        most = HUB_MAX(most, indices[i]);
    if (count && most >= v->job->dictionary->values)
        return hub_fail(err, HUB_CORRUPT, "value %u of a dictionary of %u", most, v->job->dictionary->values);
    return HUB_OK;
}

static enum hub_status from_dictionary(struct hub_value_decoder *v, uint8_t *out, uint32_t count,
                                       struct hub_error *err)
{
    const uint8_t *words = v->job->dictionary_data;
    const uint32_t size = v->job->item_size;
    uint32_t at[HUB_VALUES_AT_ONCE];
    HUB_TRY(take_indices(v, at, count, err));
    if (size == 8 && v->width == 8)
        for (uint32_t i = 0; i < count; i++)
            memcpy(out + (size_t)i * 8, words + (size_t)at[i] * 8, 8);
    else if (size == 4 && v->width == 4)
        for (uint32_t i = 0; i < count; i++)
            memcpy(out + (size_t)i * 4, words + (size_t)at[i] * 4, 4);
    else
        for (uint32_t i = 0; i < count; i++)
            memcpy(out + (size_t)i * size, words + (size_t)at[i] * v->width, size);
    return HUB_OK;
}

/* The low `size` bytes of `count` values, each byte from a stream of its own. */
static enum hub_status from_streams(struct hub_value_decoder *v, uint8_t *out, uint32_t size, uint32_t count,
                                    struct hub_error *err)
{
    if (v->next > v->stream || count > v->stream - v->next)
        return short_page(err);
    for (uint32_t b = 0; b < size; b++) {
        const uint8_t *in = v->plain.at + b * v->stream + v->next;
        for (uint32_t i = 0; i < count; i++)
            out[(size_t)i * size + b] = in[i];
    }
    v->next += count;
    return HUB_OK;
}

static enum hub_status from_delta(struct hub_value_decoder *v, uint8_t *out, uint32_t count,
                                  struct hub_error *err)
{
    uint64_t numbers[HUB_VALUES_AT_ONCE];
    HUB_TRY(hub_delta_take(&v->delta, numbers, count, err));
    narrow(out, v->job->item_size, (const uint8_t *)numbers, sizeof numbers[0], count);
    return HUB_OK;
}

static enum hub_status from_plain(struct hub_value_decoder *v, uint8_t *out, uint32_t count,
                                  struct hub_error *err)
{
    if (v->job->column->physical == HUB_PHYS_BOOLEAN)
        return plain_bits(v, out, count, err);
    const uint8_t *in = hub_cursor_bytes(&v->plain, (size_t)count * v->width);
    if (!in)
        return short_page(err);
    narrow(out, v->job->item_size, in, v->width, count);
    return HUB_OK;
}

/* `count` present values, at most HUB_VALUES_AT_ONCE, one after another. */
enum hub_status hub_values_take(struct hub_value_decoder *v, uint8_t *out, uint32_t count,
                                struct hub_error *err)
{
    switch ((enum hub_page_encoding)v->job->page->encoding) {
    case HUB_ENC_PLAIN:
        return from_plain(v, out, count, err);
    case HUB_ENC_RLE:
        return run_bits(v, out, count, err);
    case HUB_ENC_DELTA_BINARY:
        return from_delta(v, out, count, err);
    case HUB_ENC_DELTA_BYTES:
        return take_built(v, NULL, out, count, err);
    case HUB_ENC_SPLIT:
        return from_streams(v, out, v->job->item_size, count, err);
    case HUB_ENC_PLAIN_DICTIONARY:
    case HUB_ENC_RLE_DICTIONARY:
    case HUB_ENC_DELTA_LENGTH: /* suits no type of fixed size */
        break;
    }
    return from_dictionary(v, out, count, err);
}

static enum hub_status dictionary_views(struct hub_value_decoder *v, struct hub_page_view *out,
                                        uint32_t count, struct hub_error *err)
{
    uint32_t at[HUB_VALUES_AT_ONCE];
    HUB_TRY(take_indices(v, at, count, err));
    for (uint32_t i = 0; i < count; i++)
        out[i] = v->width ? (struct hub_page_view){at[i] * v->width, v->width, true, false}
                          : v->job->dictionary_views[at[i]];
    return HUB_OK;
}

/* Values that lie in the page, their lengths before each, apart, or all the same. */
static enum hub_status page_views(struct hub_value_decoder *v, struct hub_page_view *out, uint32_t count,
                                  struct hub_error *err)
{
    const bool apart = v->job->page->encoding == HUB_ENC_DELTA_LENGTH;
    uint64_t lengths[HUB_VALUES_AT_ONCE];
    if (apart)
        HUB_TRY(take_lengths(&v->delta, lengths, count, err));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t length = apart      ? (uint32_t)lengths[i]
                                : v->width ? v->width
                                           : hub_cursor_u32(&v->plain);
        const uint8_t *bytes = hub_cursor_bytes(&v->plain, length);
        if (!bytes)
            return short_page(err);
        out[i] = (struct hub_page_view){(uint32_t)(bytes - v->job->data), length, false, false};
    }
    return HUB_OK;
}

static enum hub_status stream_views(struct hub_value_decoder *v, struct hub_page_view *out, uint32_t count,
                                    struct hub_error *err)
{
    const uint64_t bytes = (uint64_t)count * v->width;
    if (bytes > v->job->built_size - v->used)
        return hub_fail(err, HUB_CORRUPT, "values of more bytes than the page's stated size");
    HUB_TRY(from_streams(v, v->job->built + v->used, v->width, count, err));
    for (uint32_t i = 0; i < count; i++, v->used += v->width)
        out[i] = (struct hub_page_view){(uint32_t)v->used, v->width, false, true};
    return HUB_OK;
}

enum hub_status hub_values_views(struct hub_value_decoder *v, struct hub_page_view *out, uint32_t count,
                                 struct hub_error *err)
{
    if (hub_encoding_in_dictionary(v->job->page->encoding))
        return dictionary_views(v, out, count, err);
    if (v->job->page->encoding == HUB_ENC_DELTA_BYTES)
        return take_built(v, out, NULL, count, err);
    return v->job->page->encoding == HUB_ENC_SPLIT ? stream_views(v, out, count, err)
                                                   : page_views(v, out, count, err);
}

/* Lengths of the next `count` present values, at most HUB_VALUES_AT_ONCE. */
enum hub_status hub_values_lengths(struct hub_value_decoder *v, uint64_t *out, uint32_t count,
                                   struct hub_error *err)
{
    struct hub_page_view views[HUB_VALUES_AT_ONCE];
    if (v->job->page->encoding == HUB_ENC_DELTA_BYTES) {
        uint64_t own[HUB_VALUES_AT_ONCE];
        HUB_TRY(take_lengths(&v->prefixes, out, count, err));
        HUB_TRY(take_lengths(&v->delta, own, count, err));
        for (uint32_t i = 0; i < count; i++)
            out[i] += own[i];
        return HUB_OK;
    }
    HUB_TRY(hub_values_views(v, views, count, err));
    for (uint32_t i = 0; i < count; i++)
        out[i] = views[i].length;
    return HUB_OK;
}
