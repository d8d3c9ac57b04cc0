/* The proof of what is stored in pages of Parquet: types, encodings, sizes and the order of values. */
#include "storage/model/layout_proof.h"

/* Physical types that are plain little-endian values, and the types they may be read as. */
static bool column_suits(const struct hub_column *column, const struct hub_variant *v)
{
    const uint32_t size = v->item_size;
    if (v->kind == HUB_KIND_VAR && v->sequence) {
        const struct hub_variant item = hub_variant_item(v);
        return column->max_rep == 1 && column->element_def > 0 && column_suits(column, &item);
    }
    const bool whole = v->kind == HUB_KIND_INT || v->kind == HUB_KIND_UINT;
    switch (column->physical) {
    case HUB_PHYS_BOOLEAN:
        return size == 1 && (v->kind == HUB_KIND_BOOL || whole);
    case HUB_PHYS_INT32:
        return whole && size <= 4 && !v->big_endian;
    case HUB_PHYS_INT64:
        return whole && !v->big_endian;
    case HUB_PHYS_INT96:
        return v->kind == HUB_KIND_FIXED && size == 12;
    case HUB_PHYS_FLOAT:
        return v->kind == HUB_KIND_FLOAT && size == 4 && !v->big_endian;
    case HUB_PHYS_DOUBLE:
        return v->kind == HUB_KIND_FLOAT && size == 8 && !v->big_endian;
    case HUB_PHYS_BYTE_ARRAY:
        return v->kind == HUB_KIND_VAR;
    case HUB_PHYS_FIXED: /* Float16; binaries: the bytes as they are */
        return v->kind == HUB_KIND_VAR
                   ? !v->sequence && column->width > 0 && column->width <= HUB_MAX_CHUNK_BYTES
                   : column->width == size && size > 0;
    default:
        return false;
    }
}

/* By encoding, the physical types whose pages may have it. */
#define IS(type) (1u << HUB_PHYS_##type)
#define NUMBERS (IS(INT32) | IS(INT64) | IS(FLOAT) | IS(DOUBLE))
static const unsigned suits[] = {
    [HUB_ENC_PLAIN] = UINT8_MAX,
    [HUB_ENC_PLAIN_DICTIONARY] = UINT8_MAX & ~IS(BOOLEAN),
    [HUB_ENC_RLE] = IS(BOOLEAN),
    [HUB_ENC_DELTA_BINARY] = IS(INT32) | IS(INT64),
    [HUB_ENC_DELTA_LENGTH] = IS(BYTE_ARRAY),
    [HUB_ENC_DELTA_BYTES] = IS(BYTE_ARRAY) | IS(FIXED),
    [HUB_ENC_RLE_DICTIONARY] = UINT8_MAX & ~IS(BOOLEAN),
    [HUB_ENC_SPLIT] = NUMBERS | IS(FIXED),
};
#undef NUMBERS
#undef IS

bool hub_encoding_suits(unsigned encoding, unsigned physical)
{
    return encoding < HUB_COUNT(suits) && physical <= HUB_PHYS_FIXED && suits[encoding] >> physical & 1;
}

enum hub_status hub_layout_check_column(const struct layout_check *c, uint32_t number)
{
    const struct hub_column *column = &c->layout->columns[number];
    const bool codec_known = column->codec == HUB_PAGE_PLAIN || column->codec == HUB_PAGE_SNAPPY ||
                             column->codec == HUB_PAGE_GZIP || column->codec == HUB_PAGE_ZSTD ||
                             column->codec == HUB_PAGE_LZ4_RAW || column->codec == HUB_PAGE_LZ4_FRAME;
    if (!codec_known)
        return hub_layout_disprove(c, "codec of column", number);
    if (column->physical > HUB_PHYS_FIXED)
        return hub_layout_disprove(c, "physical type of column", number);
    if (column->dictionary != HUB_NONE && column->dictionary >= c->layout->counts[HUB_T_PAGES])
        return hub_layout_disprove(c, "dictionary of column", number);
    if (column->element_def > column->max_def || column->zero[0] || column->zero[1] || column->zero[2])
        return hub_layout_disprove(c, "levels of column", number);
    if (column->longest > HUB_MAX_CHUNK_BYTES ||
        (column->longest && column->physical != HUB_PHYS_BYTE_ARRAY && !column->max_rep))
        return hub_layout_disprove(c, "longest value of column", number);
    return HUB_OK;
}

static enum hub_status check_page(const struct layout_check *c, const struct hub_column *column,
                                  uint32_t number, uint64_t file_size)
{
    const struct hub_page *page = &c->layout->pages[number];
    if (page->continues > 1 || page->compressed > 1 || page->version > 2)
        return hub_layout_disprove(c, "page header", number);
    if (!hub_range_fits(page->offset, page->stored, file_size))
        return hub_layout_disprove(c, "page beyond its file", number);
    if (page->decoded > HUB_MAX_CHUNK_BYTES || page->stored > 2 * HUB_MAX_CHUNK_BYTES ||
        page->values > HUB_MAX_CHUNK_BYTES)
        return hub_layout_disprove(c, "page size", number);
    const uint64_t levels = (uint64_t)page->def_bytes + page->rep_bytes;
    if (page->version == 2 ? levels > HUB_MIN(page->stored, page->decoded) : levels != 0)
        return hub_layout_disprove(c, "level bytes of page", number);
    const bool plain = column->codec == HUB_PAGE_PLAIN || (page->version == 2 && !page->compressed);
    if (plain && page->stored != page->decoded)
        return hub_layout_disprove(c, "stored size of page", number);
    return HUB_OK;
}

/* What a page says of the bytes of its values. */
static bool sum_fits(const struct hub_column *column, const struct hub_page *page)
{
    if (page->continues)
        return false;
    if (!page->sum)
        return true;
    return column->physical == HUB_PHYS_BYTE_ARRAY && hub_encoding_expands(page->encoding) &&
           page->sum <= (uint64_t)page->values * column->longest &&
           (page->encoding != HUB_ENC_DELTA_BYTES || page->sum <= HUB_MAX_CHUNK_BYTES);
}

/* Lists of varying length: the rows that begin in pages before. */
static enum hub_status check_rows_of_page(const struct layout_check *c, const struct hub_piece *p,
                                          uint32_t number)
{
    const struct hub_page *page = &c->layout->pages[number];
    const bool first = number == p->table;
    if (first ? page->sum || page->continues : page->sum < page[-1].sum || page->sum > p->rows)
        return hub_layout_disprove(c, "rows before page", number);
    return HUB_OK;
}

static enum hub_status check_data_page(const struct layout_check *c, const struct hub_column *column,
                                       uint32_t number)
{
    const struct hub_page *page = &c->layout->pages[number];
    if (page->version == 0)
        return hub_layout_disprove(c, "dictionary page among data pages", number);
    if (!hub_encoding_suits(page->encoding, column->physical))
        return hub_layout_disprove(c, "encoding of page", number);
    if (hub_encoding_in_dictionary(page->encoding) && column->dictionary == HUB_NONE)
        return hub_layout_disprove(c, "page without its dictionary", number);
    return HUB_OK;
}

static enum hub_status check_dictionary(const struct layout_check *c, const struct hub_column *column,
                                        uint64_t file_size)
{
    const struct hub_page *page = &c->layout->pages[column->dictionary];
    HUB_TRY(check_page(c, column, column->dictionary, file_size));
    const bool plain = page->encoding == HUB_ENC_PLAIN || page->encoding == HUB_ENC_PLAIN_DICTIONARY;
    if (column->physical == HUB_PHYS_BYTE_ARRAY && page->values > page->decoded / 4) /* each has a length */
        return hub_layout_disprove(c, "values of dictionary page", column->dictionary);
    if (page->version || !plain || page->sum || page->continues || column->physical == HUB_PHYS_BOOLEAN)
        return hub_layout_disprove(c, "dictionary page", column->dictionary);
    return HUB_OK;
}

enum hub_status hub_layout_check_pages(struct layout_check *c, const struct hub_piece *p,
                                       const struct hub_variant *v, uint64_t file_size)
{
    if (p->geometry >= c->layout->counts[HUB_T_COLUMNS] ||
        !hub_layout_has(c, HUB_T_PAGES, p->table, p->count))
        return hub_layout_disprove(c, "column of piece", p->first_row);
    const struct hub_column *column = &c->layout->columns[p->geometry];
    const bool lists = v->kind == HUB_KIND_VAR && v->sequence;
    if (!column_suits(column, v))
        return hub_layout_disprove(c, "column read as the wrong type, at row", p->first_row);
    c->pages_seen += p->count;
    if (c->pages_seen > c->layout->counts[HUB_T_PAGES])
        return hub_layout_disprove(c, "pages named twice, at row", p->first_row);
    if (column->dictionary != HUB_NONE)
        HUB_TRY(check_dictionary(c, column, file_size));
    uint64_t values = 0;
    for (uint32_t i = p->table; i < p->table + p->count; i++) {
        HUB_TRY(check_page(c, column, i, file_size));
        HUB_TRY(check_data_page(c, column, i));
        if (lists)
            HUB_TRY(check_rows_of_page(c, p, i));
        else if (!sum_fits(column, &c->layout->pages[i]))
            return hub_layout_disprove(c, "bytes of the values of page", i);
        if (c->layout->pages[i].first_value != values)
            return hub_layout_disprove(c, "first value of page", i);
        values += c->layout->pages[i].values;
        if (values > UINT32_MAX)
            return hub_layout_disprove(c, "values of piece", p->first_row);
    }
    const uint64_t items = hub_variant_row_items(v);
    if (items && p->rows > values / items)
        return hub_layout_disprove(c, "fewer values than rows, at row", p->first_row);
    return HUB_OK;
}
