/* Values that lie in the file as they are: see extents.h. Nothing is decoded: the lengths before the values
 * say where each is. */
#include "storage/formats/parquet/extents.h"

#include "storage/base/cursor.h"

enum { MAX_LOCATED = 65536, LARGE_VALUE = 4096 }; /* values; bytes */

static bool has_large_values(const struct hub_parquet_pages *pages)
{
    for (uint32_t i = hub_parquet_first_data(pages); i < pages->count; i++) {
        const struct hub_page *page = &pages->pages[i];
        const bool plain = pages->column.codec == HUB_PAGE_PLAIN || (page->version == 2 && !page->compressed);
        if (!plain || page->encoding != HUB_ENC_PLAIN || page->values > page->stored / LARGE_VALUE)
            return false;
    }
    return pages->column.physical == HUB_PHYS_BYTE_ARRAY && pages->column.max_rep == 0;
}

static enum hub_status length_at(struct hub_byte_source *source, uint64_t offset, uint32_t *out,
                                 struct hub_error *err)
{
    const uint8_t *at;
    size_t got;
    HUB_TRY(hub_byte_source_peek(source, offset, 4, &at, &got, err));
    struct hub_cursor c = hub_cursor_of(at, got);
    *out = hub_cursor_u32(&c);
    return HUB_OK;
}

/* False in `whole` when it is not all values, one behind the other: there are nulls after all. */
static enum hub_status locate_values(struct hub_byte_source *source, const struct hub_column *column,
                                     const struct hub_page *page, struct hub_extent *out, bool *whole,
                                     struct hub_error *err)
{
    const uint64_t end = page->offset + page->stored;
    uint64_t at = page->offset + page->def_bytes + page->rep_bytes;
    uint32_t length;
    *whole = false;
    if (page->version != 2 && column->max_def) {
        HUB_TRY(length_at(source, at, &length, err));
        at += 4 + (uint64_t)length;
    }
    for (uint32_t i = 0; i < page->values; i++) {
        if (at + 4 > end)
            return HUB_OK;
        HUB_TRY(length_at(source, at, &length, err));
        out[i] = (struct hub_extent){at + 4, length, 0};
        at += 4 + (uint64_t)length;
        if (at > end)
            return HUB_OK;
    }
    *whole = at == end;
    return HUB_OK;
}

enum hub_status hub_parquet_extents(struct hub_parquet_decoder *d, const struct hub_parquet_pages *pages,
                                    struct hub_extent **extents, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_extent *out = NULL;
    const uint64_t count = hub_parquet_entries(pages);
    bool whole = true;
    *extents = NULL;
    if (!count || !has_large_values(pages) || count > MAX_LOCATED - d->located)
        return HUB_OK;
    HUB_TRY(hub_new(&out, (size_t)count, sizeof *out, err));
    for (uint32_t i = hub_parquet_first_data(pages); whole && i < pages->count; i++)
        HUB_TRY(locate_values(d->source, &pages->column, &pages->pages[i], out + pages->pages[i].first_value,
                              &whole, err));
    d->located += (uint32_t)count;
    if (whole) {
        *extents = out;
        out = NULL;
    }
    return HUB_OK;
}
