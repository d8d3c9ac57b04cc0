/* Walking the page headers of a column chunk: see pages.h. */
#include "storage/formats/parquet/pages.h"

#include "storage/formats/parquet/thrift.h"

#include <stdlib.h>

#define NO_CRC INT64_MAX
#define MAX_HEADER MIB /* a header carries statistics: a minimum and a maximum value */

enum { PAGE_DATA, PAGE_INDEX, PAGE_DICTIONARY, PAGE_DATA_V2 };

struct header {
    int64_t type, decoded, stored;
    bool has_body; /* the sub-header that belongs to the type was there */
    int64_t crc;   /* NO_CRC: none */
    int64_t values, encoding, def_encoding, rep_encoding, def_bytes, rep_bytes;
    bool plain; /* v2: not compressed */
};

/* DataPageHeader (5), DictionaryPageHeader (7) and DataPageHeaderV2 (8). */
static void read_body(struct hub_thrift *t, const struct hub_thrift_field *field, struct header *h)
{
    int64_t *const first[] = {
        [1] = &h->values, [2] = &h->encoding, [3] = &h->def_encoding, [4] = &h->rep_encoding};
    int64_t *const second[] = {
        [1] = &h->values, [4] = &h->encoding, [5] = &h->def_bytes, [6] = &h->rep_bytes};
    const bool is_second = field->id == 8;
    if (!hub_thrift_enter(t, field))
        return;
    h->has_body = true;
    for (struct hub_thrift_field f = {0}; hub_thrift_next(t, &f);)
        if (is_second && f.id == 7)
            h->plain = !hub_thrift_bool(t, &f);
        else
            hub_thrift_take(t, &f, is_second ? second : first, is_second ? 7 : field->id == 5 ? 5 : 3);
}

static bool parse_header(const void *data, size_t size, struct header *h, size_t *used)
{
    struct hub_thrift t = hub_thrift_of(data, size);
    *h = (struct header){.type = -1,
                         .decoded = -1,
                         .stored = -1,
                         .crc = NO_CRC,
                         .values = -1,
                         .encoding = -1,
                         .def_encoding = HUB_ENC_RLE,
                         .rep_encoding = HUB_ENC_RLE};
    int64_t *const targets[] = {[1] = &h->type, [2] = &h->decoded, [3] = &h->stored, [4] = &h->crc};
    for (struct hub_thrift_field f = {0}; hub_thrift_next(&t, &f);)
        if (f.id == 5 || f.id == 7 || f.id == 8)
            read_body(&t, &f, h);
        else
            hub_thrift_take(&t, &f, targets, HUB_COUNT(targets));
    *used = (size_t)(t.in.at - (const uint8_t *)data);
    return !hub_thrift_failed(&t);
}

static enum hub_status read_header(struct hub_byte_source *source, uint64_t offset, uint64_t end,
                                   struct header *h, uint64_t *body, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf big = HUB_BUF_INIT(MAX_HEADER);
    const uint8_t *at;
    size_t got, used;
    HUB_TRY(hub_byte_source_peek(source, offset, (size_t)HUB_MIN(end - offset, HUB_BYTE_SOURCE_WINDOW), &at,
                                 &got, err));
    if (!parse_header(at, got, h, &used)) {
        const size_t more = (size_t)HUB_MIN(end - offset, MAX_HEADER);
        HUB_TRY(hub_buf_reserve(&big, more, err));
        HUB_TRY(hub_byte_source_read(source, offset, big.data, more, err));
        if (!parse_header(big.data, more, h, &used))
            return hub_fail(err, HUB_CORRUPT, "malformed page header at %llu", (unsigned long long)offset);
    }
    *body = offset + used;
    if (h->decoded < 0 || h->stored < 0 || (uint64_t)h->stored > end - *body)
        return hub_fail(err, HUB_CORRUPT, "the page at %llu runs past its column",
                        (unsigned long long)offset);
    if ((uint64_t)h->decoded > HUB_MAX_CHUNK_BYTES)
        return hub_fail(err, HUB_TOO_BIG, "a page of %lld bytes", (long long)h->decoded);
    return HUB_OK;
}

static enum hub_status check_encoding(const struct header *h, const struct hub_parquet_leaf *leaf,
                                      bool has_dictionary, struct hub_error *err)
{
    static const char *const names[] = {
        "PLAIN",          "GROUP_VAR_INT",       "PLAIN_DICTIONARY",        "RLE",
        "BIT_PACKED",     "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY",
        "RLE_DICTIONARY", "BYTE_STREAM_SPLIT"};
    if (h->encoding >= 0 && h->encoding <= UINT8_MAX && hub_encoding_in_dictionary((unsigned)h->encoding) &&
        !has_dictionary)
        return hub_fail(err, HUB_CORRUPT, "a missing dictionary is used");
    if (h->encoding < 0 || h->encoding > UINT8_MAX ||
        !hub_encoding_suits((unsigned)h->encoding, leaf->physical))
        return hub_fail(err, HUB_UNSUPPORTED, "encoding %lld (%s)", (long long)h->encoding,
                        h->encoding >= 0 && h->encoding < (int64_t)HUB_COUNT(names) ? names[h->encoding]
                                                                                    : "unknown");
    if ((leaf->max_def && h->def_encoding != HUB_ENC_RLE) ||
        (leaf->max_rep && h->rep_encoding != HUB_ENC_RLE))
        return hub_fail(err, HUB_UNSUPPORTED, "levels in encoding 4 (BIT_PACKED)");
    return HUB_OK;
}

static enum hub_status add_page(struct hub_parquet_pages *out, const struct hub_page *page,
                                struct hub_error *err)
{
    if (out->count == HUB_PARQUET_MAX_PAGES)
        return hub_fail(err, HUB_TOO_BIG, "more than %d pages in a column", HUB_PARQUET_MAX_PAGES);
    HUB_TRY(hub_grow(&out->pages, out->count, &out->capacity, sizeof *out->pages, err));
    out->pages[out->count++] = *page;
    return HUB_OK;
}

static enum hub_status keep_sum(struct hub_parquet_pages *out, uint32_t crc, struct hub_error *err)
{
    HUB_TRY(hub_grow(&out->sums, out->sum_count, &out->sum_capacity, sizeof *out->sums, err));
    out->sums[out->sum_count++] = (struct hub_parquet_sum){out->count - 1, crc};
    return HUB_OK;
}

/* A page of the sizes and kind that can be right. `done`: values of the pages before it. */
static enum hub_status take_page(const struct header *h, const struct hub_parquet_leaf *leaf,
                                 const struct hub_parquet_chunk *chunk, uint64_t body, uint64_t done,
                                 struct hub_parquet_pages *out, struct hub_error *err)
{
    struct hub_page page = {.offset = body,
                            .stored = (uint32_t)h->stored,
                            .decoded = (uint32_t)h->decoded,
                            .values = (uint32_t)h->values,
                            .first_value = (uint32_t)done,
                            .encoding = (uint8_t)h->encoding,
                            .version = h->type == PAGE_DATA_V2 ? 2 : 1,
                            .compressed = chunk->codec != HUB_PAGE_PLAIN && !h->plain};
    if (!h->has_body || h->values < 0)
        return hub_fail(err, HUB_CORRUPT, "a page without a count of values");
    if ((uint64_t)h->values > HUB_MAX_CHUNK_BYTES)
        return hub_fail(err, HUB_TOO_BIG, "a page of %lld values", (long long)h->values);
    if (!page.compressed && h->stored != h->decoded)
        return hub_fail(err, HUB_CORRUPT, "an uncompressed page of two sizes: %lld and %lld",
                        (long long)h->stored, (long long)h->decoded);
    if (h->decoded > 64 * (int64_t)MIB && h->decoded / 1000 > h->stored)
        return hub_fail(err, HUB_TOO_BIG, "a page of %lld bytes from %lld", (long long)h->decoded,
                        (long long)h->stored);
    if (h->type == PAGE_DICTIONARY) {
        if (leaf->physical == HUB_PHYS_BOOLEAN)
            return hub_fail(err, HUB_UNSUPPORTED, "a dictionary of booleans");
        if (out->count > 0 || (h->encoding != HUB_ENC_PLAIN && h->encoding != HUB_ENC_PLAIN_DICTIONARY))
            return hub_fail(err, HUB_CORRUPT, "a misplaced or unknown dictionary page");
        page.version = 0;
        page.encoding = HUB_ENC_PLAIN;
        out->column.dictionary = 0;
        return add_page(out, &page, err);
    }
    HUB_TRY(check_encoding(h, leaf, out->column.dictionary != HUB_NONE, err));
    if ((uint64_t)h->values > chunk->values - done)
        return hub_fail(err, HUB_CORRUPT, "pages hold more values than the column's %llu",
                        (unsigned long long)chunk->values);
    if (h->type == PAGE_DATA_V2) {
        if (h->def_bytes < 0 || h->rep_bytes < 0 || h->def_bytes > h->stored ||
            h->rep_bytes > h->stored - h->def_bytes || h->def_bytes + h->rep_bytes > h->decoded)
            return hub_fail(err, HUB_CORRUPT, "a page whose levels are larger than itself");
        page.def_bytes = (uint32_t)h->def_bytes;
        page.rep_bytes = (uint32_t)h->rep_bytes;
    }
    return add_page(out, &page, err);
}

static enum hub_status walk(struct hub_byte_source *source, const struct hub_parquet_leaf *leaf,
                            const struct hub_parquet_chunk *chunk, struct hub_parquet_pages *out,
                            struct hub_error *err)
{
    const uint64_t end = chunk->offset + chunk->size;
    uint64_t at = chunk->offset, done = 0;
    if (chunk->values > UINT32_MAX)
        return hub_fail(err, HUB_UNSUPPORTED, "%llu values in one row group",
                        (unsigned long long)chunk->values);
    while (done < chunk->values) {
        struct header h;
        uint64_t body = 0;
        if (at >= end)
            return hub_fail(err, HUB_CORRUPT, "the pages hold %llu of %llu values", (unsigned long long)done,
                            (unsigned long long)chunk->values);
        HUB_TRY(read_header(source, at, end, &h, &body, err));
        at = body + (uint64_t)h.stored;
        if (h.type == PAGE_INDEX)
            continue;
        if (h.type != PAGE_DATA && h.type != PAGE_DATA_V2 && h.type != PAGE_DICTIONARY)
            return hub_fail(err, HUB_UNSUPPORTED, "page type %lld", (long long)h.type);
        HUB_TRY(take_page(&h, leaf, chunk, body, done, out, err));
        if (h.crc != NO_CRC)
            HUB_TRY(keep_sum(out, (uint32_t)h.crc, err));
        if (h.type != PAGE_DICTIONARY)
            done += (uint64_t)h.values;
    }
    return HUB_OK;
}

enum hub_status hub_parquet_walk(struct hub_byte_source *source, const struct hub_parquet_leaf *leaf,
                                 const struct hub_parquet_chunk *chunk, struct hub_parquet_pages *out,
                                 struct hub_error *err)
{
    *out = (struct hub_parquet_pages){.column = {.physical = leaf->physical,
                                                 .codec = chunk->codec,
                                                 .max_def = leaf->max_def,
                                                 .max_rep = leaf->max_rep,
                                                 .element_def = leaf->element_def,
                                                 .width = leaf->physical == HUB_PHYS_FIXED ? leaf->width : 0,
                                                 .dictionary = HUB_NONE}};
    const enum hub_status st = walk(source, leaf, chunk, out, err);
    if (st)
        hub_parquet_pages_dispose(out);
    return st;
}

void hub_parquet_pages_dispose(struct hub_parquet_pages *pages)
{
    free(pages->pages);
    free(pages->sums);
    *pages = (struct hub_parquet_pages){0};
}
