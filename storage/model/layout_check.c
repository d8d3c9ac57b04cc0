/*
 * The proof that a layout is harmless: after it, the planner and the readers use indices, offsets and
 * products without looking twice. Its own work is linear in the blob: pieces of arrays follow each other in
 * their table, and the entries that pieces name are counted, so that no small blob can make the check (or a
 * reader) visit the same table again and again.
 */
#include "storage/model/layout_proof.h"
#include "storage/text/utf8.h"

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
        return hub_layout_disprove(c, "filter count of pipeline", number);
    for (uint32_t i = 0; i < HUB_MAX_FILTERS; i++) {
        const struct hub_filter *f = &p->filters[i];
        const struct hub_filter_kind *kind = i < p->count ? hub_filter_find(f->id) : NULL;
        const bool good = kind && kind->by_element ? f->param >= 1 && f->param <= HUB_MAX_CHUNK_BYTES
                                                   : !f->param && (kind || (i >= p->count && !f->id));
        if (!good)
            return hub_layout_disprove(c, "unknown filter in pipeline", number);
    }
    return HUB_OK;
}

static enum hub_status check_grid(const struct layout_check *c, uint32_t number)
{
    const struct hub_grid *g = &c->layout->grids[number];
    if (g->rank < 1 || g->rank > HUB_MAX_RANK + 1)
        return hub_layout_disprove(c, "rank of grid", number);
    if (g->inner >= g->rank || (!g->element && (g->inner || g->at)))
        return hub_layout_disprove(c, "elements of grid", number);
    if (g->pipeline >= c->layout->counts[HUB_T_PIPELINES])
        return hub_layout_disprove(c, "pipeline of grid", number);
    uint64_t items = 1;
    for (uint32_t i = 0; i < HUB_MAX_RANK + 1; i++) {
        if (i >= g->rank ? g->chunk[i] != 0 : g->chunk[i] == 0)
            return hub_layout_disprove(c, "chunk shape of grid", number);
        if (i < g->rank)
            items *= g->chunk[i];
        if (items > HUB_MAX_CHUNK_BYTES)
            return hub_layout_disprove(c, "chunk size of grid", number);
    }
    return HUB_OK;
}

static enum hub_status check_strided(struct layout_check *c, const struct hub_piece *p,
                                     const struct hub_variant *v, uint64_t file_size)
{
    if (v->kind == HUB_KIND_VAR)
        return hub_layout_disprove(c, "strided rows without a size", p->first_row);
    const bool c_order = p->geometry == HUB_NONE;
    if (!c_order && !hub_layout_has(c, HUB_T_STRIDES, p->geometry, v->rank))
        return hub_layout_disprove(c, "inner strides of piece", p->first_row);
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
        return hub_layout_disprove(c, "strided piece beyond its file, at row", p->first_row);
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
        return hub_layout_disprove(c, "grid of piece", p->first_row);
    const struct hub_grid *g = &c->layout->grids[p->geometry];
    if (v->kind == HUB_KIND_VAR || g->rank != v->rank + 1u)
        return hub_layout_disprove(c, "grid and rows differ in rank, at row", p->first_row);
    if (g->fill != HUB_NONE && !hub_layout_has(c, HUB_T_BYTES, g->fill, v->item_size))
        return hub_layout_disprove(c, "fill value of piece", p->first_row);
    const unsigned outer = v->rank - g->inner;
    uint64_t item = v->item_size; /* bytes of what lies together in an element */
    for (unsigned i = outer; i < v->rank; i++) {
        if (g->chunk[i + 1] != HUB_MAX(v->dims[i], 1u))
            return hub_layout_disprove(c, "a grid splits an axis of an element, at row", p->first_row);
        item *= g->chunk[i + 1];
    }
    if (g->element && (item > g->element || g->at > g->element - item))
        return hub_layout_disprove(c, "item beyond its element, at row", p->first_row);
    uint64_t chunk_bytes = (uint64_t)g->chunk[0] * (g->element ? g->element : v->item_size),
             chunks = (p->rows + g->chunk[0] - 1) / g->chunk[0];
    for (unsigned i = 0; i < v->rank; i++) {
        if (chunk_bytes <= HUB_MAX_CHUNK_BYTES && i < outer)
            chunk_bytes *= g->chunk[i + 1];
        const uint64_t along = ((uint64_t)v->dims[i] + g->chunk[i + 1] - 1) / g->chunk[i + 1];
        if (along && chunks > UINT32_MAX / along)
            return hub_layout_disprove(c, "chunk count of piece", p->first_row);
        chunks *= along;
    }
    if (chunk_bytes > HUB_MAX_CHUNK_BYTES)
        return hub_layout_disprove(c, "chunk size of piece", p->first_row);
    if (chunks != p->count || !hub_layout_has(c, HUB_T_CHUNKS, p->table, p->count))
        return hub_layout_disprove(c, "chunk count of piece", p->first_row);
    c->chunks_seen += p->count;
    if (c->chunks_seen > c->layout->counts[HUB_T_CHUNKS])
        return hub_layout_disprove(c, "chunks named twice, at row", p->first_row);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct hub_chunk *chunk = &c->layout->chunks[p->table + i];
        if (chunk->offset == HUB_ABSENT)
            continue;
        if (!hub_range_fits(chunk->offset, chunk->size, file_size))
            return hub_layout_disprove(c, "chunk beyond its file", p->table + i);
        if (!hub_layout_stored_size_fits(&c->layout->pipelines[g->pipeline], chunk, chunk_bytes))
            return hub_layout_disprove(c, "stored size of chunk", p->table + i);
    }
    return HUB_OK;
}

static enum hub_status check_extents(struct layout_check *c, const struct hub_piece *p,
                                     const struct hub_variant *v, uint64_t file_size)
{
    if (p->count != p->rows || !hub_layout_has(c, HUB_T_EXTENTS, p->table, p->count))
        return hub_layout_disprove(c, "extent count of piece", p->first_row);
    c->extents_seen += p->count;
    if (c->extents_seen > c->layout->counts[HUB_T_EXTENTS])
        return hub_layout_disprove(c, "extents named twice, at row", p->first_row);
    const uint64_t row_bytes = hub_variant_row_bytes(v);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct hub_extent *e = &c->layout->extents[p->table + i];
        if (e->zero || !hub_range_fits(e->offset, e->length, file_size))
            return hub_layout_disprove(c, "extent beyond its file", p->table + i);
        if (v->kind == HUB_KIND_VAR ? e->length > GIB || !hub_layout_whole_items(v, e->length)
                                    : e->length != row_bytes)
            return hub_layout_disprove(c, "length of extent", p->table + i);
    }
    return HUB_OK;
}

static enum hub_status check_bytes(struct layout_check *c, const struct hub_piece *p,
                                   const struct hub_variant *v, uint64_t file_size)
{
    (void)file_size;
    uint64_t bytes = v->kind == HUB_KIND_VAR ? p->count : v->item_size;
    if (v->kind == HUB_KIND_VAR && !hub_layout_whole_items(v, bytes))
        return hub_layout_disprove(c, "length of row", p->first_row);
    if (p->kind == HUB_PIECE_INLINE) {
        if (v->kind == HUB_KIND_VAR && p->rows != 1)
            return hub_layout_disprove(c, "inline rows without a size, at row", p->first_row);
        if (v->kind != HUB_KIND_VAR) {
            bytes = hub_variant_row_bytes(v);
            if (bytes && p->rows > HUB_MAX_LAYOUT_BYTES / bytes)
                return hub_layout_disprove(c, "inline rows of piece", p->first_row);
            bytes *= p->rows;
        }
    } else if (p->offset == HUB_NONE) {
        return v->kind == HUB_KIND_VAR && p->count
                   ? hub_layout_disprove(c, "fill value of piece", p->first_row)
                   : HUB_OK;
    }
    return hub_layout_has(c, HUB_T_BYTES, p->offset, bytes)
               ? HUB_OK
               : hub_layout_disprove(c, "bytes of piece", p->first_row);
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
    [HUB_PIECE_PAGES] = {"pages", true, hub_layout_check_pages, of_pages},
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
        return hub_layout_disprove(c, "piece at row", p->first_row);
    if (p->kind >= HUB_PIECE_KIND_COUNT || !kinds[p->kind].check)
        return hub_layout_disprove(c, "piece kind", p->kind);
    if (kinds[p->kind].in_file && !find_file_size(c, p->file, &file_size))
        return hub_layout_disprove(c, "file number", p->file);
    return kinds[p->kind].check(c, p, v, file_size);
}

static enum hub_status check_arrays(struct layout_check *c)
{
    const struct hub_layout *layout = c->layout;
    uint64_t next_piece = 0;
    for (uint32_t i = 0; i < layout->counts[HUB_T_ARRAYS]; i++) {
        const struct hub_array *array = &layout->arrays[i];
        if (array->variant >= layout->counts[HUB_T_VARIANTS])
            return hub_layout_disprove(c, "variant of array", i);
        if (array->flags > HUB_ARRAY_SCALAR || (array->flags && array->rows != 1))
            return hub_layout_disprove(c, "flags of array", i);
        if (array->first_piece != next_piece ||
            !hub_layout_has(c, HUB_T_PIECES, next_piece, array->piece_count))
            return hub_layout_disprove(c, "pieces of array", i);
        if (array->rows > HUB_MAX_ROWS)
            return hub_layout_disprove(c, "rows of array", i);
        uint64_t rows = 0;
        for (uint32_t k = 0; k < array->piece_count; k++) {
            const struct hub_piece *piece = &layout->pieces[next_piece + k];
            if (piece->first_row != rows || piece->rows > array->rows - rows)
                return hub_layout_disprove(c, "pieces do not adjoin in array", i);
            HUB_TRY(check_piece(c, piece, &layout->variants[array->variant]));
            rows += piece->rows;
        }
        if (rows != array->rows)
            return hub_layout_disprove(c, "pieces do not fill array", i);
        next_piece += array->piece_count;
    }
    return HUB_OK;
}

static enum hub_status check_refusal(const struct layout_check *c, const struct hub_window *w,
                                     uint32_t number)
{
    const char *why = (const char *)c->layout->bytes + w->first;
    if (w->count == 0 || w->count > HUB_MAX_REFUSAL ||
        !hub_layout_has(c, HUB_T_BYTES, w->first, w->count + 1) ||
        memchr(why, '\0', w->count + 1) != why + w->count ||
        !hub_utf8_valid((struct hub_view){why, w->count}))
        return hub_layout_disprove(c, "reason of window", number);
    return HUB_OK;
}

static enum hub_status check_windows(const struct layout_check *c, uint32_t episodes)
{
    const struct hub_layout *layout = c->layout;
    const struct hub_window *proven = NULL; /* the last reason: many episodes share one */
    for (uint32_t i = 0; i < layout->counts[HUB_T_WINDOWS]; i++) {
        const struct hub_window *w = &layout->windows[i];
        if (w->episode >= episodes || (i > 0 && w->episode <= w[-1].episode))
            return hub_layout_disprove(c, "episode of window", i);
        if (w->array == HUB_NONE) {
            if (!proven || w->first != proven->first || w->count != proven->count)
                HUB_TRY(check_refusal(c, w, i));
            proven = w;
            continue;
        }
        if (w->array >= layout->counts[HUB_T_ARRAYS])
            return hub_layout_disprove(c, "array of window", i);
        if (!hub_range_fits(w->first, w->count, layout->arrays[w->array].rows))
            return hub_layout_disprove(c, "window beyond its array", i);
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
            return hub_layout_disprove(&c, "variant", i);
    for (uint32_t i = 0; i < layout->counts[HUB_T_PIPELINES]; i++)
        HUB_TRY(check_pipeline(&c, i));
    for (uint32_t i = 0; i < layout->counts[HUB_T_GRIDS]; i++)
        HUB_TRY(check_grid(&c, i));
    for (uint32_t i = 0; i < layout->counts[HUB_T_COLUMNS]; i++)
        HUB_TRY(hub_layout_check_column(&c, i));
    HUB_TRY(check_arrays(&c));
    return check_windows(&c, episodes);
}
