/*
 * The proof that a layout is harmless: after it, the planner and the readers use indices, offsets and
 * products without looking twice. Its own work is linear in the blob: pieces of arrays follow each other in
 * their table, and the entries that pieces name are counted, so that no small blob can make the check (or a
 * reader) visit the same table again and again.
 */
#include "storage/model/layout_table.h"
#include "storage/text/utf8.h"

#include <inttypes.h>

struct layout_check {
    const struct hub_layout *layout;
    const uint64_t *file_sizes;
    uint32_t file_count;
    uint64_t side_size;
    uint64_t chunks_seen, extents_seen, pages_seen;
    struct hub_error *err;
};

static enum hub_status lie(const struct layout_check *c, const char *what, uint64_t number)
{
    return hub_fail(c->err, HUB_CORRUPT, "layout: %s (%" PRIu64 ")", what, number);
}

/* Are `count` entries from `first` inside table t? */
static bool inside(const struct layout_check *c, unsigned t, uint64_t first, uint64_t count)
{
    const uint64_t have = c->layout->counts[t];
    return first <= have && count <= have - first;
}

static bool find_file_size(const struct layout_check *c, uint32_t file, uint64_t *size)
{
    if (file == HUB_SIDE_FILE)
        *size = c->side_size;
    else if (file < c->file_count)
        *size = c->file_sizes[file];
    else
        return false;
    return true;
}

static bool range_fits(uint64_t offset, uint64_t length, uint64_t size)
{
    return offset <= size && length <= size - offset;
}

#define HUB_FILTER_KIND(name, number, effect, by_element, ns_byte, ns_stored, undo)                          \
    {HUB_FILTER_##name, HUB_FILTER_##effect, by_element, ns_byte, ns_stored},
static const struct hub_filter_kind filters[] = {HUB_FILTERS(HUB_FILTER_KIND)};

const struct hub_filter_kind *hub_filter_find(uint32_t id)
{
    for (size_t i = 0; i < HUB_COUNT(filters); i++)
        if (filters[i].id == id)
            return &filters[i];
    return NULL;
}

static enum hub_status check_pipeline(const struct layout_check *c, uint32_t number)
{
    const struct hub_pipeline *p = &c->layout->pipelines[number];
    if (p->count > HUB_MAX_FILTERS || p->zero)
        return lie(c, "filter count of pipeline", number);
    for (uint32_t i = 0; i < HUB_MAX_FILTERS; i++) {
        const struct hub_filter *f = &p->filters[i];
        const struct hub_filter_kind *kind = i < p->count ? hub_filter_find(f->id) : NULL;
        const bool good = kind && kind->by_element ? f->param >= 1 && f->param <= HUB_MAX_CHUNK_BYTES
                                                   : !f->param && (kind || (i >= p->count && !f->id));
        if (!good)
            return lie(c, "unknown filter in pipeline", number);
    }
    return HUB_OK;
}

static enum hub_status check_grid(const struct layout_check *c, uint32_t number)
{
    const struct hub_grid *g = &c->layout->grids[number];
    if (g->rank < 1 || g->rank > HUB_MAX_RANK + 1)
        return lie(c, "rank of grid", number);
    if (g->inner >= g->rank || (!g->element && (g->inner || g->at)))
        return lie(c, "elements of grid", number);
    if (g->pipeline >= c->layout->counts[HUB_T_PIPELINES])
        return lie(c, "pipeline of grid", number);
    uint64_t items = 1;
    for (uint32_t i = 0; i < HUB_MAX_RANK + 1; i++) {
        if (i >= g->rank ? g->chunk[i] != 0 : g->chunk[i] == 0)
            return lie(c, "chunk shape of grid", number);
        if (i < g->rank)
            items *= g->chunk[i];
        if (items > HUB_MAX_CHUNK_BYTES)
            return lie(c, "chunk size of grid", number);
    }
    return HUB_OK;
}

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

static enum hub_status check_column(const struct layout_check *c, uint32_t number)
{
    const struct hub_column *column = &c->layout->columns[number];
    const bool codec_known = column->codec == HUB_PAGE_PLAIN || column->codec == HUB_PAGE_SNAPPY ||
                             column->codec == HUB_PAGE_GZIP || column->codec == HUB_PAGE_ZSTD ||
                             column->codec == HUB_PAGE_LZ4_RAW || column->codec == HUB_PAGE_LZ4_FRAME;
    if (!codec_known)
        return lie(c, "codec of column", number);
    if (column->physical > HUB_PHYS_FIXED)
        return lie(c, "physical type of column", number);
    if (column->dictionary != HUB_NONE && column->dictionary >= c->layout->counts[HUB_T_PAGES])
        return lie(c, "dictionary of column", number);
    if (column->element_def > column->max_def || column->zero[0] || column->zero[1] || column->zero[2])
        return lie(c, "levels of column", number);
    if (column->longest > HUB_MAX_CHUNK_BYTES ||
        (column->longest && column->physical != HUB_PHYS_BYTE_ARRAY && !column->max_rep))
        return lie(c, "longest value of column", number);
    return HUB_OK;
}

static enum hub_status check_strided(struct layout_check *c, const struct hub_piece *p,
                                     const struct hub_variant *v, uint64_t file_size)
{
    if (v->kind == HUB_KIND_VAR)
        return lie(c, "strided rows without a size", p->first_row);
    const bool c_order = p->geometry == HUB_NONE;
    if (!c_order && !inside(c, HUB_T_STRIDES, p->geometry, v->rank))
        return lie(c, "inner strides of piece", p->first_row);
    if (p->rows == 0 || hub_variant_row_bytes(v) == 0)
        return HUB_OK;
    __int128 low = p->offset, high = low + (c_order ? (__int128)hub_variant_row_bytes(v) : v->item_size);
    const __int128 rows_span = (__int128)(p->rows - 1) * p->row_stride;
    *(rows_span < 0 ? &low : &high) += rows_span;
    for (unsigned i = 0; !c_order && i < v->rank; i++) {
        const __int128 span = (__int128)(v->dims[i] - 1) * c->layout->strides[p->geometry + i];
        *(span < 0 ? &low : &high) += span;
    }
    if (low < 0 || high > (__int128)file_size)
        return lie(c, "strided piece beyond its file, at row", p->first_row);
    return HUB_OK;
}

bool hub_layout_stored_size_fits(const struct hub_pipeline *pipeline, const struct hub_chunk *chunk,
                                 uint64_t chunk_bytes)
{
    uint64_t expected = chunk_bytes;
    for (uint32_t i = 0; i < pipeline->count; i++) {
        if (chunk->mask >> i & 1)
            continue;
        const struct hub_filter_kind *kind = hub_filter_find(pipeline->filters[i].id);
        if (kind && kind->effect == HUB_FILTER_RESIZES)
            return chunk->size <= 2 * HUB_MAX_CHUNK_BYTES;
        if (kind && kind->effect == HUB_FILTER_SUMS)
            expected += 4;
    }
    return chunk->size == expected;
}

static enum hub_status check_chunked(struct layout_check *c, const struct hub_piece *p,
                                     const struct hub_variant *v, uint64_t file_size)
{
    if (p->geometry >= c->layout->counts[HUB_T_GRIDS])
        return lie(c, "grid of piece", p->first_row);
    const struct hub_grid *g = &c->layout->grids[p->geometry];
    if (v->kind == HUB_KIND_VAR || g->rank != v->rank + 1u)
        return lie(c, "grid and rows differ in rank, at row", p->first_row);
    if (g->fill != HUB_NONE && !inside(c, HUB_T_BYTES, g->fill, v->item_size))
        return lie(c, "fill value of piece", p->first_row);
    const unsigned outer = v->rank - g->inner;
    uint64_t item = v->item_size; /* bytes of what lies together in an element */
    for (unsigned i = outer; i < v->rank; i++) {
        if (g->chunk[i + 1] != HUB_MAX(v->dims[i], 1u))
            return lie(c, "a grid splits an axis of an element, at row", p->first_row);
        item *= g->chunk[i + 1];
    }
    if (g->element && (item > g->element || g->at > g->element - item))
        return lie(c, "item beyond its element, at row", p->first_row);
    uint64_t chunk_bytes = (uint64_t)g->chunk[0] * (g->element ? g->element : v->item_size),
             chunks = (p->rows + g->chunk[0] - 1) / g->chunk[0];
    for (unsigned i = 0; i < v->rank; i++) {
        if (chunk_bytes <= HUB_MAX_CHUNK_BYTES && i < outer)
            chunk_bytes *= g->chunk[i + 1];
        const uint64_t along = ((uint64_t)v->dims[i] + g->chunk[i + 1] - 1) / g->chunk[i + 1];
        if (along && chunks > UINT32_MAX / along)
            return lie(c, "chunk count of piece", p->first_row);
        chunks *= along;
    }
    if (chunk_bytes > HUB_MAX_CHUNK_BYTES)
        return lie(c, "chunk size of piece", p->first_row);
    if (chunks != p->count || !inside(c, HUB_T_CHUNKS, p->table, p->count))
        return lie(c, "chunk count of piece", p->first_row);
    c->chunks_seen += p->count;
    if (c->chunks_seen > c->layout->counts[HUB_T_CHUNKS])
        return lie(c, "chunks named twice, at row", p->first_row);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct hub_chunk *chunk = &c->layout->chunks[p->table + i];
        if (chunk->offset == HUB_ABSENT)
            continue;
        if (!range_fits(chunk->offset, chunk->size, file_size))
            return lie(c, "chunk beyond its file", p->table + i);
        if (!hub_layout_stored_size_fits(&c->layout->pipelines[g->pipeline], chunk, chunk_bytes))
            return lie(c, "stored size of chunk", p->table + i);
    }
    return HUB_OK;
}

/* Rows of varying length hold whole numbers, if they hold numbers. */
static bool whole_items(const struct hub_variant *v, uint64_t bytes)
{
    return !v->sequence || bytes % v->item_size == 0;
}

static enum hub_status check_extents(struct layout_check *c, const struct hub_piece *p,
                                     const struct hub_variant *v, uint64_t file_size)
{
    if (p->count != p->rows || !inside(c, HUB_T_EXTENTS, p->table, p->count))
        return lie(c, "extent count of piece", p->first_row);
    c->extents_seen += p->count;
    if (c->extents_seen > c->layout->counts[HUB_T_EXTENTS])
        return lie(c, "extents named twice, at row", p->first_row);
    const uint64_t row_bytes = hub_variant_row_bytes(v);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct hub_extent *e = &c->layout->extents[p->table + i];
        if (e->zero || !range_fits(e->offset, e->length, file_size))
            return lie(c, "extent beyond its file", p->table + i);
        if (v->kind == HUB_KIND_VAR ? e->length > GIB || !whole_items(v, e->length) : e->length != row_bytes)
            return lie(c, "length of extent", p->table + i);
    }
    return HUB_OK;
}

static enum hub_status check_page(const struct layout_check *c, const struct hub_column *column,
                                  uint32_t number, uint64_t file_size)
{
    const struct hub_page *page = &c->layout->pages[number];
    if (page->continues > 1 || page->compressed > 1 || page->version > 2)
        return lie(c, "page header", number);
    if (!range_fits(page->offset, page->stored, file_size))
        return lie(c, "page beyond its file", number);
    if (page->decoded > HUB_MAX_CHUNK_BYTES || page->stored > 2 * HUB_MAX_CHUNK_BYTES ||
        page->values > HUB_MAX_CHUNK_BYTES)
        return lie(c, "page size", number);
    const uint64_t levels = (uint64_t)page->def_bytes + page->rep_bytes;
    if (page->version == 2 ? levels > HUB_MIN(page->stored, page->decoded) : levels != 0)
        return lie(c, "level bytes of page", number);
    const bool plain = column->codec == HUB_PAGE_PLAIN || (page->version == 2 && !page->compressed);
    if (plain && page->stored != page->decoded)
        return lie(c, "stored size of page", number);
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
        return lie(c, "rows before page", number);
    return HUB_OK;
}

static enum hub_status check_data_page(const struct layout_check *c, const struct hub_column *column,
                                       uint32_t number)
{
    const struct hub_page *page = &c->layout->pages[number];
    if (page->version == 0)
        return lie(c, "dictionary page among data pages", number);
    if (!hub_encoding_suits(page->encoding, column->physical))
        return lie(c, "encoding of page", number);
    if (hub_encoding_in_dictionary(page->encoding) && column->dictionary == HUB_NONE)
        return lie(c, "page without its dictionary", number);
    return HUB_OK;
}

static enum hub_status check_dictionary(const struct layout_check *c, const struct hub_column *column,
                                        uint64_t file_size)
{
    const struct hub_page *page = &c->layout->pages[column->dictionary];
    HUB_TRY(check_page(c, column, column->dictionary, file_size));
    const bool plain = page->encoding == HUB_ENC_PLAIN || page->encoding == HUB_ENC_PLAIN_DICTIONARY;
    if (column->physical == HUB_PHYS_BYTE_ARRAY && page->values > page->decoded / 4) /* each has a length */
        return lie(c, "values of dictionary page", column->dictionary);
    if (page->version || !plain || page->sum || page->continues || column->physical == HUB_PHYS_BOOLEAN)
        return lie(c, "dictionary page", column->dictionary);
    return HUB_OK;
}

static enum hub_status check_pages(struct layout_check *c, const struct hub_piece *p,
                                   const struct hub_variant *v, uint64_t file_size)
{
    if (p->geometry >= c->layout->counts[HUB_T_COLUMNS] || !inside(c, HUB_T_PAGES, p->table, p->count))
        return lie(c, "column of piece", p->first_row);
    const struct hub_column *column = &c->layout->columns[p->geometry];
    const bool lists = v->kind == HUB_KIND_VAR && v->sequence;
    if (!column_suits(column, v))
        return lie(c, "column read as the wrong type, at row", p->first_row);
    c->pages_seen += p->count;
    if (c->pages_seen > c->layout->counts[HUB_T_PAGES])
        return lie(c, "pages named twice, at row", p->first_row);
    if (column->dictionary != HUB_NONE)
        HUB_TRY(check_dictionary(c, column, file_size));
    uint64_t values = 0;
    for (uint32_t i = p->table; i < p->table + p->count; i++) {
        HUB_TRY(check_page(c, column, i, file_size));
        HUB_TRY(check_data_page(c, column, i));
        if (lists)
            HUB_TRY(check_rows_of_page(c, p, i));
        else if (!sum_fits(column, &c->layout->pages[i]))
            return lie(c, "bytes of the values of page", i);
        if (c->layout->pages[i].first_value != values)
            return lie(c, "first value of page", i);
        values += c->layout->pages[i].values;
        if (values > UINT32_MAX)
            return lie(c, "values of piece", p->first_row);
    }
    const uint64_t items = hub_variant_row_items(v);
    if (items && p->rows > values / items)
        return lie(c, "fewer values than rows, at row", p->first_row);
    return HUB_OK;
}

static enum hub_status check_bytes(struct layout_check *c, const struct hub_piece *p,
                                   const struct hub_variant *v, uint64_t file_size)
{
    (void)file_size;
    uint64_t bytes = v->kind == HUB_KIND_VAR ? p->count : v->item_size;
    if (v->kind == HUB_KIND_VAR && !whole_items(v, bytes))
        return lie(c, "length of row", p->first_row);
    if (p->kind == HUB_PIECE_INLINE) {
        if (v->kind == HUB_KIND_VAR && p->rows != 1)
            return lie(c, "inline rows without a size, at row", p->first_row);
        if (v->kind != HUB_KIND_VAR) {
            bytes = hub_variant_row_bytes(v);
            if (bytes && p->rows > HUB_MAX_LAYOUT_BYTES / bytes)
                return lie(c, "inline rows of piece", p->first_row);
            bytes *= p->rows;
        }
    } else if (p->offset == HUB_NONE) {
        return v->kind == HUB_KIND_VAR && p->count ? lie(c, "fill value of piece", p->first_row) : HUB_OK;
    }
    return inside(c, HUB_T_BYTES, p->offset, bytes) ? HUB_OK : lie(c, "bytes of piece", p->first_row);
}

/* ---- piece kinds ---- */

static uint64_t whole_rows(const struct hub_layout *l, const struct hub_piece *p, const struct hub_variant *v)
{
    (void)l;
    return p->rows * hub_variant_row_bytes(v);
}

static uint64_t of_chunks(const struct hub_layout *l, const struct hub_piece *p, const struct hub_variant *v)
{
    uint64_t bytes = 0;
    (void)v;
    for (uint32_t i = 0; i < p->count; i++)
        bytes += l->chunks[p->table + i].offset == HUB_ABSENT ? 0 : l->chunks[p->table + i].size;
    return bytes;
}

static uint64_t of_extents(const struct hub_layout *l, const struct hub_piece *p, const struct hub_variant *v)
{
    uint64_t bytes = 0;
    (void)v;
    for (uint32_t i = 0; i < p->count; i++)
        bytes += l->extents[p->table + i].length;
    return bytes;
}

static uint64_t of_pages(const struct hub_layout *l, const struct hub_piece *p, const struct hub_variant *v)
{
    uint64_t bytes = 0;
    (void)v;
    for (uint32_t i = 0; i < p->count; i++)
        bytes += l->pages[p->table + i].stored;
    return bytes;
}

/* How each is read is said by a row in storage/read/plan.c. */
static const struct piece_check {
    const char *name;
    bool in_file; /* the piece's; else its rows lie in the layout */
    enum hub_status (*check)(struct layout_check *c, const struct hub_piece *p, const struct hub_variant *v,
                             uint64_t file_size);
    /* Bytes that are stored for its rows; NULL: none */
    uint64_t (*stored)(const struct hub_layout *l, const struct hub_piece *p, const struct hub_variant *v);
} kinds[HUB_PIECE_KIND_COUNT] = {
    [HUB_PIECE_STRIDED] = {"strided", true, check_strided, whole_rows},
    [HUB_PIECE_CHUNKED] = {"chunked", true, check_chunked, of_chunks},
    [HUB_PIECE_EXTENTS] = {"extents", true, check_extents, of_extents},
    [HUB_PIECE_PAGES] = {"pages", true, check_pages, of_pages},
    [HUB_PIECE_FILL] = {"fill", false, check_bytes, NULL},
    [HUB_PIECE_INLINE] = {"inline", false, check_bytes, whole_rows},
};

const char *hub_piece_kind_name(unsigned kind)
{
    return kinds[kind].name;
}

bool hub_piece_in_file(const struct hub_piece *piece)
{
    return kinds[piece->kind].in_file;
}

uint64_t hub_piece_stored(const struct hub_layout *layout, const struct hub_piece *piece,
                          const struct hub_variant *variant)
{
    const struct piece_check *kind = &kinds[piece->kind];
    return kind->stored ? kind->stored(layout, piece, variant) : 0;
}

static enum hub_status check_piece(struct layout_check *c, const struct hub_piece *p,
                                   const struct hub_variant *v)
{
    uint64_t file_size = 0;
    if (p->zero)
        return lie(c, "piece at row", p->first_row);
    if (p->kind >= HUB_PIECE_KIND_COUNT || !kinds[p->kind].check)
        return lie(c, "piece kind", p->kind);
    if (kinds[p->kind].in_file && !find_file_size(c, p->file, &file_size))
        return lie(c, "file number", p->file);
    return kinds[p->kind].check(c, p, v, file_size);
}

static enum hub_status check_arrays(struct layout_check *c)
{
    const struct hub_layout *layout = c->layout;
    uint64_t next_piece = 0;
    for (uint32_t i = 0; i < layout->counts[HUB_T_ARRAYS]; i++) {
        const struct hub_array *array = &layout->arrays[i];
        if (array->variant >= layout->counts[HUB_T_VARIANTS])
            return lie(c, "variant of array", i);
        if (array->flags > HUB_ARRAY_SCALAR || (array->flags && array->rows != 1))
            return lie(c, "flags of array", i);
        if (array->first_piece != next_piece || !inside(c, HUB_T_PIECES, next_piece, array->piece_count))
            return lie(c, "pieces of array", i);
        if (array->rows > HUB_MAX_ROWS)
            return lie(c, "rows of array", i);
        uint64_t rows = 0;
        for (uint32_t k = 0; k < array->piece_count; k++) {
            const struct hub_piece *piece = &layout->pieces[next_piece + k];
            if (piece->first_row != rows || piece->rows > array->rows - rows)
                return lie(c, "pieces do not adjoin in array", i);
            HUB_TRY(check_piece(c, piece, &layout->variants[array->variant]));
            rows += piece->rows;
        }
        if (rows != array->rows)
            return lie(c, "pieces do not fill array", i);
        next_piece += array->piece_count;
    }
    return HUB_OK;
}

static enum hub_status check_refusal(const struct layout_check *c, const struct hub_window *w,
                                     uint32_t number)
{
    const char *why = (const char *)c->layout->bytes + w->first;
    if (w->count == 0 || w->count > HUB_MAX_REFUSAL || !inside(c, HUB_T_BYTES, w->first, w->count + 1) ||
        memchr(why, '\0', w->count + 1) != why + w->count ||
        !hub_utf8_valid((struct hub_view){why, w->count}))
        return lie(c, "reason of window", number);
    return HUB_OK;
}

static enum hub_status check_windows(const struct layout_check *c, uint32_t episodes)
{
    const struct hub_layout *layout = c->layout;
    const struct hub_window *proven = NULL; /* the last reason: many episodes share one */
    for (uint32_t i = 0; i < layout->counts[HUB_T_WINDOWS]; i++) {
        const struct hub_window *w = &layout->windows[i];
        if (w->episode >= episodes || (i > 0 && w->episode <= w[-1].episode))
            return lie(c, "episode of window", i);
        if (w->array == HUB_NONE) {
            if (!proven || w->first != proven->first || w->count != proven->count)
                HUB_TRY(check_refusal(c, w, i));
            proven = w;
            continue;
        }
        if (w->array >= layout->counts[HUB_T_ARRAYS])
            return lie(c, "array of window", i);
        if (!range_fits(w->first, w->count, layout->arrays[w->array].rows))
            return lie(c, "window beyond its array", i);
    }
    return HUB_OK;
}

enum hub_status hub_layout_check(const struct hub_layout *layout, const uint64_t *file_sizes,
                                 uint32_t file_count, uint64_t side_size, uint32_t episodes,
                                 struct hub_error *err)
{
    struct layout_check c = {.layout = layout,
                             .file_sizes = file_sizes,
                             .file_count = file_count,
                             .side_size = side_size,
                             .err = err};
    for (uint32_t i = 0; i < layout->counts[HUB_T_VARIANTS]; i++)
        if (!hub_variant_valid(&layout->variants[i]))
            return lie(&c, "variant", i);
    for (uint32_t i = 0; i < layout->counts[HUB_T_PIPELINES]; i++)
        HUB_TRY(check_pipeline(&c, i));
    for (uint32_t i = 0; i < layout->counts[HUB_T_GRIDS]; i++)
        HUB_TRY(check_grid(&c, i));
    for (uint32_t i = 0; i < layout->counts[HUB_T_COLUMNS]; i++)
        HUB_TRY(check_column(&c, i));
    HUB_TRY(check_arrays(&c));
    return check_windows(&c, episodes);
}
