/*
 * Values of one Parquet data page: levels say which entries hold a value, and page_values.c decodes those.
 * Pages v1 and v2, levels as RLE. Entries are taken to be elements whatever their repetition levels are: the
 * inspector only names columns whose rows are all of one length.
 * https://parquet.apache.org/docs/file-format/data-pages/
 */
#include "storage/codec/page_values.h"

/* Where the parts of a decompressed page lie. */
struct page_parts {
    struct hub_view repetition, levels; /* `levels`: definition; empty: none are stored */
    struct hub_cursor values;
};

static unsigned bits_of(unsigned max)
{
    unsigned bits = 0;
    for (; max; max >>= 1)
        bits++;
    return bits;
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
    out->values = c;
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

static enum hub_status decode(const struct hub_page_job *job, struct hub_value_decoder *v,
                              struct hub_rle *levels, uint8_t *out, struct hub_page_view *views,
                              uint8_t *valid, struct hub_error *err)
{
    const unsigned max_def = job->column->max_def;
    uint32_t present[HUB_VALUES_AT_ONCE], taken;
    for (uint32_t left = job->skip, n; left > 0; left -= n) {
        n = HUB_MIN(left, HUB_VALUES_AT_ONCE);
        HUB_TRY(take_levels(levels, max_def, present, n, &taken, err));
        HUB_TRY(hub_values_skip(v, taken, err));
    }
    for (uint32_t left = job->count, n; left > 0; left -= n) {
        n = HUB_MIN(left, HUB_VALUES_AT_ONCE);
        HUB_TRY(take_levels(levels, max_def, present, n, &taken, err));
        HUB_TRY(views ? hub_values_views(v, views, taken, err) : hub_values_take(v, out, taken, err));
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

enum hub_status hub_page_total(const struct hub_page_job *job, uint64_t *bytes, uint32_t *longest,
                               struct hub_error *err)
{
    struct page_parts parts = {0};
    struct hub_value_decoder v;
    uint64_t lengths[HUB_VALUES_AT_ONCE];
    uint32_t present[HUB_VALUES_AT_ONCE], taken;
    if (job->column->physical != HUB_PHYS_BYTE_ARRAY)
        return hub_fail(err, HUB_INVALID, "values of one size have no lengths");
    HUB_TRY(split_page(job, &parts, err));
    HUB_TRY(hub_values_open(job, parts.values, &v, err));
    struct hub_rle levels = hub_rle_of(parts.levels.data, parts.levels.size, bits_of(job->column->max_def));
    *bytes = 0;
    *longest = 0;
    for (uint32_t left = job->page->values, n; left > 0; left -= n) {
        n = HUB_MIN(left, HUB_VALUES_AT_ONCE);
        HUB_TRY(take_levels(&levels, job->column->max_def, present, n, &taken, err));
        HUB_TRY(hub_values_lengths(&v, lengths, taken, err));
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
    struct hub_value_decoder v;
    if (job->skip > job->page->values || job->count > job->page->values - job->skip)
        return hub_fail(err, HUB_OUT_OF_RANGE, "values %u + %u of a page of %u", job->skip, job->count,
                        job->page->values);
    const bool is_bytes = job->column->physical == HUB_PHYS_BYTE_ARRAY,
               either = job->column->physical == HUB_PHYS_FIXED && job->column->width;
    const unsigned width = job->column->physical == HUB_PHYS_BOOLEAN ? 1 : hub_values_width(job->column);
    if (views ? !is_bytes && !either : is_bytes || job->item_size < 1 || job->item_size > width)
        return hub_fail(err, HUB_INVALID, "column of type %u read as %u bytes", job->column->physical,
                        job->item_size);
    HUB_TRY(split_page(job, &parts, err));
    HUB_TRY(hub_values_open(job, parts.values, &v, err));
    struct hub_rle levels = hub_rle_of(parts.levels.data, parts.levels.size, bits_of(job->column->max_def));
    return decode(job, &v, &levels, out, views, valid, err);
}
