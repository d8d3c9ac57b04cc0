/*
 * Values of one Parquet data page: levels say which entries hold a value, then the encoding says where it is.
 * Supported: pages v1 and v2, levels as RLE, PLAIN, PLAIN_DICTIONARY / RLE_DICTIONARY, RLE booleans. Entries
 * are taken to be elements whatever their repetition levels are: the inspector only names columns whose rows
 * are all of one length. https://parquet.apache.org/docs/file-format/data-pages/
 */
#include "storage/codec/decode.h"

enum { BATCH = 512 };

/* Where the parts of a decompressed page lie. */
struct page_parts {
    struct hub_view levels; /* definition levels, empty: none are stored */
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
        hub_cursor_skip(&c, page->rep_bytes);
        out->levels = (struct hub_view){(const char *)c.at, page->def_bytes};
        hub_cursor_skip(&c, page->def_bytes);
    } else {
        if (job->column->max_rep)
            (void)hub_cursor_text(&c, page->decoded);
        out->levels = job->column->max_def ? hub_cursor_text(&c, page->decoded) : (struct hub_view){"", 0};
    }
    if (c.failed)
        return hub_fail(err, HUB_CORRUPT, "page ends in its levels");
    out->values = c.at;
    out->end = c.end;
    return HUB_OK;
}

/* A decoder of the value section, in order; one of rle, bits or plain bytes is in use. */
struct values {
    const struct hub_page_job *job;
    struct hub_cursor plain;
    struct hub_rle rle; /* dictionary indices, booleans */
    uint64_t bit;       /* of plain booleans */
    unsigned width;
};

static bool uses_dictionary(const struct hub_page *page)
{
    return page->encoding == HUB_ENC_PLAIN_DICTIONARY || page->encoding == HUB_ENC_RLE_DICTIONARY;
}

static enum hub_status open_values(const struct hub_page_job *job, const struct page_parts *parts,
                                   struct values *v, struct hub_error *err)
{
    *v = (struct values){.job = job, .width = physical_width(job->column)};
    v->plain = (struct hub_cursor){parts->values, parts->end, false};
    if (uses_dictionary(job->page)) {
        if (!job->dictionary || (!v->width && !job->dictionary_views))
            return hub_fail(err, HUB_CORRUPT, "page without its dictionary");
        if (v->width && (uint64_t)job->dictionary->values * v->width > job->dictionary->decoded)
            return hub_fail(err, HUB_CORRUPT, "dictionary shorter than it says");
        /* A page of nulls only may hold nothing, not even the width. */
        const unsigned bits = parts->values < parts->end ? hub_cursor_u8(&v->plain) : 0;
        if (bits > 32)
            return hub_fail(err, HUB_CORRUPT, "dictionary indices of %u bits", bits);
        v->rle = hub_rle_of(v->plain.at, hub_cursor_left(&v->plain), bits);
    } else if (job->page->encoding == HUB_ENC_RLE) {
        const struct hub_view runs = hub_cursor_text(&v->plain, UINT32_MAX);
        if (v->plain.failed || job->column->physical != HUB_PHYS_BOOLEAN)
            return hub_fail(err, HUB_CORRUPT, "damaged run-length page");
        v->rle = hub_rle_of(runs.data, runs.size, 1);
    } else if (job->page->encoding != HUB_ENC_PLAIN) {
        return hub_fail(err, HUB_UNSUPPORTED, "page encoding %u", job->page->encoding);
    }
    return HUB_OK;
}

static enum hub_status short_page(struct hub_error *err)
{
    return hub_fail(err, HUB_CORRUPT, "page holds fewer values than it says");
}

static enum hub_status skip_values(struct values *v, uint32_t count, struct hub_error *err)
{
    if (v->job->page->encoding != HUB_ENC_PLAIN)
        return hub_rle_take(&v->rle, NULL, count, err);
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

static enum hub_status plain_bits(struct values *v, uint8_t *out, uint32_t count, struct hub_error *err)
{
    const uint64_t have = (uint64_t)hub_cursor_left(&v->plain) * 8;
    if (v->bit > have || count > have - v->bit)
        return short_page(err);
    for (uint32_t i = 0; i < count; i++, v->bit++)
        out[i] = v->plain.at[v->bit >> 3] >> (v->bit & 7) & 1;
    return HUB_OK;
}

static enum hub_status run_bits(struct values *v, uint8_t *out, uint32_t count, struct hub_error *err)
{
    uint32_t bits[BATCH];
    HUB_TRY(hub_rle_take(&v->rle, bits, count, err));
    for (uint32_t i = 0; i < count; i++)
        out[i] = (uint8_t)bits[i];
    return HUB_OK;
}

static enum hub_status take_indices(struct values *v, uint32_t *indices, uint32_t count,
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

static enum hub_status from_dictionary(struct values *v, uint8_t *out, uint32_t count, struct hub_error *err)
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

/* `count` present values, at most BATCH, one after another. */
static enum hub_status take_fixed(struct values *v, uint8_t *out, uint32_t count, struct hub_error *err)
{
    if (uses_dictionary(v->job->page))
        return from_dictionary(v, out, count, err);
    if (v->job->column->physical == HUB_PHYS_BOOLEAN)
        return v->job->page->encoding == HUB_ENC_RLE ? run_bits(v, out, count, err)
                                                     : plain_bits(v, out, count, err);
    const uint8_t *in = hub_cursor_bytes(&v->plain, (size_t)count * v->width);
    if (!in)
        return short_page(err);
    narrow(out, v->job->item_size, in, v->width, count);
    return HUB_OK;
}

static enum hub_status take_views(struct values *v, struct hub_page_view *out, uint32_t count,
                                  struct hub_error *err)
{
    uint32_t at[BATCH];
    if (uses_dictionary(v->job->page)) {
        HUB_TRY(take_indices(v, at, count, err));
        for (uint32_t i = 0; i < count; i++)
            out[i] = v->job->dictionary_views[at[i]];
        return HUB_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t length = hub_cursor_u32(&v->plain);
        const uint8_t *bytes = hub_cursor_bytes(&v->plain, length);
        if (!bytes)
            return short_page(err);
        out[i] = (struct hub_page_view){(uint32_t)(bytes - v->job->data), length, false};
    }
    return HUB_OK;
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
            views[i] = present[i] ? views[taken] : (struct hub_page_view){0, 0, false};
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

static enum hub_status decode(const struct hub_page_job *job, struct values *v, struct hub_rle *levels,
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
            return hub_fail(err, HUB_CORRUPT, "dictionary shorter than it says");
        if (length > longest)
            return hub_fail(err, HUB_CORRUPT, "dictionary value of %u bytes, more than %u", length, longest);
        out[i] = (struct hub_page_view){(uint32_t)(bytes - data), length, true};
    }
    return HUB_OK;
}

enum hub_status hub_page_total(const struct hub_page_job *job, uint64_t *bytes, struct hub_error *err)
{
    struct page_parts parts = {0};
    struct values v;
    struct hub_page_view views[BATCH];
    uint32_t present[BATCH], taken;
    HUB_TRY(split_page(job, &parts, err));
    HUB_TRY(open_values(job, &parts, &v, err));
    struct hub_rle levels = hub_rle_of(parts.levels.data, parts.levels.size, bits_of(job->column->max_def));
    *bytes = 0;
    for (uint32_t left = job->page->values, n; left > 0; left -= n) {
        n = HUB_MIN(left, BATCH);
        HUB_TRY(take_levels(&levels, job->column->max_def, present, n, &taken, err));
        HUB_TRY(take_views(&v, views, taken, err));
        for (uint32_t i = 0; i < taken; i++)
            *bytes += views[i].length;
    }
    return HUB_OK;
}

enum hub_status hub_page_values(const struct hub_page_job *job, void *out, struct hub_page_view *views,
                                uint8_t *valid, struct hub_error *err)
{
    struct page_parts parts = {0};
    struct values v;
    if (job->skip > job->page->values || job->count > job->page->values - job->skip)
        return hub_fail(err, HUB_OUT_OF_RANGE, "values %u + %u of a page of %u", job->skip, job->count,
                        job->page->values);
    const bool is_bytes = job->column->physical == HUB_PHYS_BYTE_ARRAY,
               is_bool = job->column->physical == HUB_PHYS_BOOLEAN;
    const unsigned width = is_bool ? 1 : physical_width(job->column);
    if (is_bytes ? !views
                 : views || job->item_size < 1 || job->item_size > width ||
                       (is_bool && uses_dictionary(job->page)))
        return hub_fail(err, HUB_INVALID, "column of type %u read as %u bytes", job->column->physical,
                        job->item_size);
    HUB_TRY(split_page(job, &parts, err));
    HUB_TRY(open_values(job, &parts, &v, err));
    struct hub_rle levels = hub_rle_of(parts.levels.data, parts.levels.size, bits_of(job->column->max_def));
    return decode(job, &v, &levels, out, views, valid, err);
}

static enum hub_status decompress(uint8_t codec, const void *in, size_t in_size, void *out, size_t out_size,
                                  struct hub_error *err)
{
    switch (codec) {
    case HUB_PAGE_SNAPPY:
        return hub_unsnappy(in, in_size, out, out_size, err);
    case HUB_PAGE_GZIP:
        return hub_gunzip(in, in_size, out, out_size, err);
    case HUB_PAGE_ZSTD:
        return hub_unzstd(in, in_size, out, out_size, err);
    case HUB_PAGE_LZ4_RAW:
        return hub_unlz4(in, in_size, out, out_size, err);
    case HUB_PAGE_LZ4_FRAME:
        return hub_unlz4_frame(in, in_size, out, out_size, err);
    case HUB_PAGE_PLAIN:
        if (in_size != out_size)
            return hub_fail(err, HUB_CORRUPT, "page of %zu bytes holds %zu", out_size, in_size);
        if (out_size)
            memcpy(out, in, out_size);
        return HUB_OK;
    default:
        return hub_fail(err, HUB_UNSUPPORTED, "page codec %u", codec);
    }
}

enum hub_status hub_page_unpack(const struct hub_column *column, const struct hub_page *page, const void *in,
                                void *out, struct hub_error *err)
{
    if (page->version != 2)
        return decompress(column->codec, in, page->stored, out, page->decoded, err);
    const uint64_t levels = (uint64_t)page->def_bytes + page->rep_bytes;
    if (levels > page->stored || levels > page->decoded)
        return hub_fail(err, HUB_CORRUPT, "page ends in its levels");
    if (levels)
        memcpy(out, in, levels);
    if (page->decoded == levels)
        return HUB_OK; /* nulls only: some writers store no compressed bytes then */
    return decompress(page->compressed ? column->codec : HUB_PAGE_PLAIN, (const uint8_t *)in + levels,
                      page->stored - levels, (uint8_t *)out + levels, page->decoded - levels, err);
}
