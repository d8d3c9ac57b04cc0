/*
 * Values of one Parquet data page: levels say which entries hold a value, then the encoding says where it
 * is. Pages v1 and v2, levels as RLE, and the encodings of hub_encoding_suits. Entries are taken to be
 * elements whatever their repetition levels are: the inspector only names columns whose rows are all of one
 * length. https://parquet.apache.org/docs/file-format/data-pages/
 */
#include "storage/codec/decode.h"

enum { BATCH = 512 };

/* Where the parts of a decompressed page lie. */
struct page_parts {
    struct hub_view repetition, levels; /* `levels`: definition; empty: none are stored */
    const uint8_t *values, *end;
};

static unsigned bits_of(unsigned max)
{
    unsigned bits = 0;
    for (; max; max >>= 1)
        bits++;
    return bits;
}

static unsigned physical_width(const struct hub_column *column)
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

/* v1 keeps each level run behind a 32-bit length; v2 says both lengths in the page header, repetition
 * first. */
static enum hub_status split_page(const struct hub_page_job *job, struct page_parts *out,
                                  struct hub_error *err)
{
    const struct hub_page *page = job->page;
    struct hub_cursor c = hub_cursor_of(job->data, page->decoded);
    if (page->version == 2) {
        out->repetition = (struct hub_view){(const char *)c.at, page->rep_bytes};
        hub_cursor_skip(&c, page->rep_bytes);
        out->levels = (struct hub_view){(const char *)c.at, page->def_bytes};
        hub_cursor_skip(&c, page->def_bytes);
    } else {
        if (job->column->max_rep)
            out->repetition = hub_cursor_text(&c, page->decoded);
        out->levels = job->column->max_def ? hub_cursor_text(&c, page->decoded) : (struct hub_view){"", 0};
    }
    if (c.failed)
        return hub_fail(err, HUB_CORRUPT, "page ends in its levels");
    out->values = c.at;
    out->end = c.end;
    return HUB_OK;
}

static enum hub_status one_level(struct hub_view run, unsigned max, uint32_t count, uint8_t *out,
                                 struct hub_error *err)
{
    size_t used;
    HUB_TRY(hub_rle_levels(run.data, run.size, bits_of(max), count, out, &used, err));
    for (uint32_t i = 0; i < count; i++)
        if (out[i] > max)
            return hub_fail(err, HUB_CORRUPT, "a level of %u, more than %u", out[i], max);
    return HUB_OK;
}

enum hub_status hub_page_levels(const struct hub_page_job *job, uint8_t *reps, uint8_t *defs,
                                struct hub_error *err)
{
    struct page_parts parts = {0};
    HUB_TRY(split_page(job, &parts, err));
    HUB_TRY(one_level(parts.repetition, job->column->max_rep, job->page->values, reps, err));
    return one_level(parts.levels, job->column->max_def, job->page->values, defs, err);
}

/* A decoder of the value section, in order; which of its parts are in use depends on the encoding. */
struct value_decoder {
    const struct hub_page_job *job;
    struct hub_cursor plain;          /* PLAIN values; the bytes of DELTA_LENGTH and DELTA_BYTE_ARRAY */
    struct hub_rle rle;               /* dictionary indices, booleans */
    struct hub_delta delta, prefixes; /* numbers or lengths; DELTA_BYTE_ARRAY: what a value shares */
    uint64_t bit;                     /* of plain booleans */
    uint64_t stream, next;            /* BYTE_STREAM_SPLIT: bytes of a stream, the next value */
    struct hub_page_view last;        /* DELTA_BYTE_ARRAY: the value before, in job->built ... */
    size_t used;                      /* ... where this much is taken */
    unsigned width;
};

static enum hub_status short_page(struct hub_error *err)
{
    return hub_fail(err, HUB_CORRUPT, "page holds fewer values than it states");
}

static enum hub_status open_dictionary(struct value_decoder *v, const struct page_parts *parts,
                                       struct hub_error *err)
{
    const struct hub_page_job *job = v->job;
    if (!job->dictionary || (!v->width && !job->dictionary_views))
        return hub_fail(err, HUB_CORRUPT, "page without its dictionary");
    if (v->width && (uint64_t)job->dictionary->values * v->width > job->dictionary->decoded)
        return hub_fail(err, HUB_CORRUPT, "dictionary shorter than it states");
    /* A page of nulls only may hold nothing, not even the width. */
    const unsigned bits = parts->values < parts->end ? hub_cursor_u8(&v->plain) : 0;
    if (bits > 32)
        return hub_fail(err, HUB_CORRUPT, "dictionary indices of %u bits", bits);
    v->rle = hub_rle_of(v->plain.at, hub_cursor_left(&v->plain), bits);
    return HUB_OK;
}

/* A run of packed differences where `plain` stands, which then stands behind it. A page of nulls only may
 * hold nothing. */
static enum hub_status open_delta(struct value_decoder *v, struct hub_delta *delta, struct hub_error *err)
{
    if (v->plain.at == v->plain.end)
        return HUB_OK;
    HUB_TRY(hub_delta_open(v->plain.at, hub_cursor_left(&v->plain), delta, err));
    return hub_delta_end(delta, &v->plain, err);
}

static enum hub_status open_values(const struct hub_page_job *job, const struct page_parts *parts,
                                   struct value_decoder *v, struct hub_error *err)
{
    *v = (struct value_decoder){.job = job, .width = physical_width(job->column)};
    v->plain = (struct hub_cursor){parts->values, parts->end, false};
    if (!hub_encoding_suits(job->page->encoding, job->column->physical))
        return hub_fail(err, HUB_UNSUPPORTED, "page encoding %u of physical type %u", job->page->encoding,
                        job->column->physical);
    switch ((enum hub_page_encoding)job->page->encoding) {
    case HUB_ENC_PLAIN:
        break;
    case HUB_ENC_PLAIN_DICTIONARY:
    case HUB_ENC_RLE_DICTIONARY:
        return open_dictionary(v, parts, err);
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
static enum hub_status build(struct value_decoder *v, uint64_t shared, uint64_t own, bool keep,
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

/* The next `count` values of DELTA_BYTE_ARRAY, at most BATCH: to `views`, or each to `fixed` alone; both
 * NULL: they are skipped. */
static enum hub_status take_built(struct value_decoder *v, struct hub_page_view *views, uint8_t *fixed,
                                  uint32_t count, struct hub_error *err)
{
    uint64_t shared[BATCH], own[BATCH];
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

static enum hub_status skip_lengths(struct value_decoder *v, uint32_t count, struct hub_error *err)
{
    uint64_t lengths[BATCH], bytes = 0;
    HUB_TRY(take_lengths(&v->delta, lengths, count, err));
    for (uint32_t i = 0; i < count; i++)
        bytes += lengths[i];
    return hub_cursor_skip(&v->plain, bytes) ? HUB_OK : short_page(err);
}

static enum hub_status skip_plain(struct value_decoder *v, uint32_t count, struct hub_error *err)
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

/* At most BATCH. */
static enum hub_status skip_values(struct value_decoder *v, uint32_t count, struct hub_error *err)
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

static enum hub_status plain_bits(struct value_decoder *v, uint8_t *out, uint32_t count,
                                  struct hub_error *err)
{
    const uint64_t have = (uint64_t)hub_cursor_left(&v->plain) * 8;
    if (v->bit > have || count > have - v->bit)
        return short_page(err);
    for (uint32_t i = 0; i < count; i++, v->bit++)
        out[i] = v->plain.at[v->bit >> 3] >> (v->bit & 7) & 1;
    return HUB_OK;
}

static enum hub_status run_bits(struct value_decoder *v, uint8_t *out, uint32_t count, struct hub_error *err)
{
    uint32_t bits[BATCH];
    HUB_TRY(hub_rle_take(&v->rle, bits, count, err));
    for (uint32_t i = 0; i < count; i++)
        out[i] = (uint8_t)bits[i];
    return HUB_OK;
}

static enum hub_status take_indices(struct value_decoder *v, uint32_t *indices, uint32_t count,
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

static enum hub_status from_dictionary(struct value_decoder *v, uint8_t *out, uint32_t count,
                                       struct hub_error *err)
{
    const uint8_t *words = v->job->dictionary_data;
    const uint32_t size = v->job->item_size;
    uint32_t at[BATCH];
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
static enum hub_status from_streams(struct value_decoder *v, uint8_t *out, uint32_t size, uint32_t count,
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

static enum hub_status from_delta(struct value_decoder *v, uint8_t *out, uint32_t count,
                                  struct hub_error *err)
{
    uint64_t numbers[BATCH];
    HUB_TRY(hub_delta_take(&v->delta, numbers, count, err));
    narrow(out, v->job->item_size, (const uint8_t *)numbers, sizeof numbers[0], count);
    return HUB_OK;
}

static enum hub_status from_plain(struct value_decoder *v, uint8_t *out, uint32_t count,
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

/* `count` present values, at most BATCH, one after another. */
static enum hub_status take_fixed(struct value_decoder *v, uint8_t *out, uint32_t count,
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

static enum hub_status dictionary_views(struct value_decoder *v, struct hub_page_view *out, uint32_t count,
                                        struct hub_error *err)
{
    uint32_t at[BATCH];
    HUB_TRY(take_indices(v, at, count, err));
    for (uint32_t i = 0; i < count; i++)
        out[i] = v->width ? (struct hub_page_view){at[i] * v->width, v->width, true, false}
                          : v->job->dictionary_views[at[i]];
    return HUB_OK;
}

/* Values that lie in the page, their lengths before each, apart, or all the same. */
static enum hub_status page_views(struct value_decoder *v, struct hub_page_view *out, uint32_t count,
                                  struct hub_error *err)
{
    const bool apart = v->job->page->encoding == HUB_ENC_DELTA_LENGTH;
    uint64_t lengths[BATCH];
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

static enum hub_status stream_views(struct value_decoder *v, struct hub_page_view *out, uint32_t count,
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

static enum hub_status take_views(struct value_decoder *v, struct hub_page_view *out, uint32_t count,
                                  struct hub_error *err)
{
    if (hub_encoding_in_dictionary(v->job->page->encoding))
        return dictionary_views(v, out, count, err);
    if (v->job->page->encoding == HUB_ENC_DELTA_BYTES)
        return take_built(v, out, NULL, count, err);
    return v->job->page->encoding == HUB_ENC_SPLIT ? stream_views(v, out, count, err)
                                                   : page_views(v, out, count, err);
}

/* What a null is made of: zero, and NaN for floats, so that it is not taken for a number. */
static void put_null(uint8_t *out, const struct hub_page_job *job)
{
    static const uint8_t nan[3][8] = {{0, 0x7e}, {0, 0, 0xc0, 0x7f}, {0, 0, 0, 0, 0, 0, 0xf8, 0x7f}};
    const uint32_t size = job->item_size;
    if (job->is_float && (size == 2 || size == 4 || size == 8))
        memcpy(out, nan[size == 2 ? 0 : size == 4 ? 1 : 2], size);
    else
        memset(out, 0, size);
}

/* Values that are present were put at the front of the batch: move them to their places, last first, nulls
 * between. */
static void spread(const struct hub_page_job *job, const uint32_t *present, uint32_t count, uint32_t taken,
                   uint8_t *out, struct hub_page_view *views)
{
    const size_t size = job->item_size;
    for (uint32_t i = count; i-- > 0 && taken < i + 1;) {
        if (present[i])
            taken--;
        if (views)
            views[i] = present[i] ? views[taken] : (struct hub_page_view){0};
        else if (present[i])
            memmove(out + i * size, out + taken * size, size);
        else
            put_null(out + i * size, job);
    }
}

/* The next `count` entries' levels: present[i] is 1 where a value is stored. Returns how many are in
 * `taken`. */
static enum hub_status take_levels(struct hub_rle *levels, unsigned max_def, uint32_t *present,
                                   uint32_t count, uint32_t *taken, struct hub_error *err)
{
    *taken = count;
    if (!max_def || hub_rle_repeats(levels, max_def, count))
        return HUB_OK;
    HUB_TRY(hub_rle_take(levels, present, count, err));
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        present[i] = present[i] == max_def;
        n += present[i];
    }
    *taken = n;
    return HUB_OK;
}

static enum hub_status decode(const struct hub_page_job *job, struct value_decoder *v, struct hub_rle *levels,
                              uint8_t *out, struct hub_page_view *views, uint8_t *valid,
                              struct hub_error *err)
{
    const unsigned max_def = job->column->max_def;
    uint32_t present[BATCH], taken;
    for (uint32_t left = job->skip, n; left > 0; left -= n) {
        n = HUB_MIN(left, BATCH);
        HUB_TRY(take_levels(levels, max_def, present, n, &taken, err));
        HUB_TRY(skip_values(v, taken, err));
    }
    for (uint32_t left = job->count, n; left > 0; left -= n) {
        n = HUB_MIN(left, BATCH);
        HUB_TRY(take_levels(levels, max_def, present, n, &taken, err));
        HUB_TRY(views ? take_views(v, views, taken, err) : take_fixed(v, out, taken, err));
        if (taken < n)
            spread(job, present, n, taken, out, views);
        for (uint32_t i = 0; valid && i < n; i++)
            valid[i] = taken == n || present[i];
        if (views)
            views += n;
        else
            out += (size_t)n * job->item_size;
        if (valid)
            valid += n;
    }
    return HUB_OK;
}

enum hub_status hub_page_index(const struct hub_page *dictionary, const uint8_t *data, uint32_t longest,
                               struct hub_page_view *out, struct hub_error *err)
{
    struct hub_cursor c = hub_cursor_of(data, dictionary->decoded);
    for (uint32_t i = 0; i < dictionary->values; i++) {
        const uint32_t length = hub_cursor_u32(&c);
        const uint8_t *bytes = hub_cursor_bytes(&c, length);
        if (!bytes)
            return hub_fail(err, HUB_CORRUPT, "dictionary shorter than it states");
        if (length > longest)
            return hub_fail(err, HUB_CORRUPT, "dictionary value of %u bytes, more than %u", length, longest);
        out[i] = (struct hub_page_view){(uint32_t)(bytes - data), length, true, false};
    }
    return HUB_OK;
}

/* Lengths of the next `count` present values, at most BATCH. */
static enum hub_status value_lengths(struct value_decoder *v, uint64_t *out, uint32_t count,
                                     struct hub_error *err)
{
    struct hub_page_view views[BATCH];
    if (v->job->page->encoding == HUB_ENC_DELTA_BYTES) {
        uint64_t own[BATCH];
        HUB_TRY(take_lengths(&v->prefixes, out, count, err));
        HUB_TRY(take_lengths(&v->delta, own, count, err));
        for (uint32_t i = 0; i < count; i++)
            out[i] += own[i];
        return HUB_OK;
    }
    HUB_TRY(take_views(v, views, count, err));
    for (uint32_t i = 0; i < count; i++)
        out[i] = views[i].length;
    return HUB_OK;
}

enum hub_status hub_page_total(const struct hub_page_job *job, uint64_t *bytes, uint32_t *longest,
                               struct hub_error *err)
{
    struct page_parts parts = {0};
    struct value_decoder v;
    uint64_t lengths[BATCH];
    uint32_t present[BATCH], taken;
    if (job->column->physical != HUB_PHYS_BYTE_ARRAY)
        return hub_fail(err, HUB_INVALID, "values of one size have no lengths");
    HUB_TRY(split_page(job, &parts, err));
    HUB_TRY(open_values(job, &parts, &v, err));
    struct hub_rle levels = hub_rle_of(parts.levels.data, parts.levels.size, bits_of(job->column->max_def));
    *bytes = 0;
    *longest = 0;
    for (uint32_t left = job->page->values, n; left > 0; left -= n) {
        n = HUB_MIN(left, BATCH);
        HUB_TRY(take_levels(&levels, job->column->max_def, present, n, &taken, err));
        HUB_TRY(value_lengths(&v, lengths, taken, err));
        for (uint32_t i = 0; i < taken; i++) {
            *bytes += lengths[i];
            *longest = HUB_MAX(*longest, (uint32_t)HUB_MIN(lengths[i], UINT32_MAX));
        }
    }
    return HUB_OK;
}

bool hub_page_is_full(const struct hub_column *column, const struct hub_page *page, const uint8_t *data)
{
    const struct hub_page_job job = {.column = column, .page = page, .data = data};
    struct page_parts parts = {0};
    if (split_page(&job, &parts, NULL))
        return false;
    struct hub_rle levels = hub_rle_of(parts.levels.data, parts.levels.size, bits_of(column->max_def));
    return hub_rle_repeats(&levels, column->max_def, page->values);
}

enum hub_status hub_page_values(const struct hub_page_job *job, void *out, struct hub_page_view *views,
                                uint8_t *valid, struct hub_error *err)
{
    struct page_parts parts = {0};
    struct value_decoder v;
    if (job->skip > job->page->values || job->count > job->page->values - job->skip)
        return hub_fail(err, HUB_OUT_OF_RANGE, "values %u + %u of a page of %u", job->skip, job->count,
                        job->page->values);
    const bool is_bytes = job->column->physical == HUB_PHYS_BYTE_ARRAY,
               either = job->column->physical == HUB_PHYS_FIXED && job->column->width;
    const unsigned width = job->column->physical == HUB_PHYS_BOOLEAN ? 1 : physical_width(job->column);
    if (views ? !is_bytes && !either : is_bytes || job->item_size < 1 || job->item_size > width)
        return hub_fail(err, HUB_INVALID, "column of type %u read as %u bytes", job->column->physical,
                        job->item_size);
    HUB_TRY(split_page(job, &parts, err));
    HUB_TRY(open_values(job, &parts, &v, err));
    struct hub_rle levels = hub_rle_of(parts.levels.data, parts.levels.size, bits_of(job->column->max_def));
    return decode(job, &v, &levels, out, views, valid, err);
}
