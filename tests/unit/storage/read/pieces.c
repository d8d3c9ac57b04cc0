/* Pieces of every kind: see pieces.h. */
#include "pieces.h"

#include "storage/codec/codec.h"

#include <libdeflate.h>
#include <liblzf/lzf.h>
#include <stdlib.h>

struct want make_want(void)
{
    static const uint8_t kinds[] = {HUB_KIND_UINT,  HUB_KIND_INT,  HUB_KIND_FLOAT,
                                    HUB_KIND_FIXED, HUB_KIND_BOOL, HUB_KIND_COMPLEX};
    static const uint32_t sizes[] = {1, 2, 8, 3, 1, 16};
    const unsigned k = rig_draw(6);
    struct want w = {.variant = {.kind = kinds[k], .item_size = sizes[k], .rank = (uint8_t)rig_draw(4)},
                     .items = 1};
    for (unsigned i = 0; i < w.variant.rank; i++) {
        w.variant.dims[i] = 1 + rig_draw(9);
        w.items *= w.variant.dims[i];
    }
    w.row_bytes = w.items * w.variant.item_size;
    w.data = malloc(1 << 22);
    return w;
}

static uint8_t *add_rows(struct want *w, uint64_t rows)
{
    uint8_t *at = w->data + w->rows * w->row_bytes;
    cr_assert_leq((w->rows + rows) * w->row_bytes, 1u << 22);
    const unsigned spread = 2 + rig_draw(254); /* some compress well */
    for (size_t i = 0; i < rows * w->row_bytes; i++)
        at[i] = (uint8_t)rig_draw(spread);
    w->rows += rows;
    return at;
}

static void put_piece(struct rig *rig, const struct hub_piece *piece)
{
    cr_assert_eq(hub_layout_piece(rig->builder, piece, NULL), HUB_OK);
}

/* ---- writers, one a piece kind ---- */

/* C order with a gap between rows, possibly last row first. */
void put_rows(struct rig *rig, struct want *w, uint64_t rows, unsigned file)
{
    const uint8_t *at = add_rows(w, rows);
    const size_t gaps[] = {0, 0, 3, 5000};
    const size_t gap = gaps[rig_draw(4)];
    const bool down = rig_draw(3) == 0;
    uint64_t first = 0, offset = 0;
    for (uint64_t i = 0; i < rows; i++) {
        const uint64_t row = down ? rows - 1 - i : i;
        offset = rig_put(rig, file, at + row * w->row_bytes, w->row_bytes, i ? gap : rig_draw(9));
        if (i == 0)
            first = offset;
    }
    const int64_t stride = (int64_t)(w->row_bytes + gap);
    struct hub_piece piece = {
        .kind = HUB_PIECE_STRIDED, .file = rig_file_number(file), .rows = rows, .geometry = HUB_NONE};
    piece.offset = down ? offset : first;
    piece.row_stride = down ? -stride : stride;
    put_piece(rig, &piece);
}

/* Axes in any order in the file, each possibly reversed: Fortran order is one of them. */
void put_strided(struct rig *rig, struct want *w, uint64_t rows, unsigned file)
{
    const uint8_t *at = add_rows(w, rows);
    const unsigned rank = w->variant.rank + 1u;
    uint64_t n[9] = {rows}, index[9] = {0};
    int64_t strides[9] = {0};
    unsigned order[9];
    for (unsigned i = 0; i < rank; i++) {
        n[i] = i ? w->variant.dims[i - 1] : rows;
        const unsigned k = rig_draw(i + 1); /* a random permutation */
        order[i] = order[k];
        order[k] = i;
    }
    int64_t size = w->variant.item_size, low = 0;
    for (unsigned i = 0; i < rank; i++) {
        strides[order[i]] = size;
        size *= (int64_t)n[order[i]];
        if (rig_draw(4) == 0)
            size += rig_draw(300);
    }
    uint8_t *image = malloc((size_t)size);
    memset(image, 0xDD, (size_t)size);
    for (unsigned i = 0; i < rank; i++)
        if (rig_draw(4) == 0) {
            low += (int64_t)(n[i] - 1) * strides[i];
            strides[i] = -strides[i];
        }
    for (uint64_t e = 0; e < rows * w->items; e++) {
        uint64_t rest = e;
        int64_t to = low;
        for (unsigned i = rank; i-- > 0; rest /= n[i]) {
            index[i] = rest % n[i];
            to += (int64_t)index[i] * strides[i];
        }
        memcpy(image + to, at + e * w->variant.item_size, w->variant.item_size);
    }
    struct hub_piece piece = {
        .kind = HUB_PIECE_STRIDED, .file = rig_file_number(file), .rows = rows, .row_stride = strides[0]};
    piece.offset = rig_put(rig, file, image, (size_t)size, rig_draw(20)) + (uint64_t)low;
    cr_assert_eq(hub_layout_strides(rig->builder, strides + 1, w->variant.rank, &piece.geometry, NULL),
                 HUB_OK);
    put_piece(rig, &piece);
    free(image);
}

static size_t apply(const struct hub_filter *filter, uint8_t *data, size_t size, uint8_t *other)
{
    size_t made = 0;
    switch (filter->id) {
    case HUB_FILTER_SHUFFLE: {
        const size_t n = size / filter->param;
        memcpy(other, data, size);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < filter->param; j++)
                other[j * n + i] = data[i * filter->param + j];
        made = size;
        break;
    }
    case HUB_FILTER_DEFLATE: {
        struct libdeflate_compressor *c = libdeflate_alloc_compressor(1);
        made = libdeflate_zlib_compress(c, data, size, other, size * 2 + 1000);
        libdeflate_free_compressor(c);
        break;
    }
    case HUB_FILTER_LZF:
        made = lzf_compress(data, (unsigned)size, other, (unsigned)size);
        if (!made)
            return 0; /* did not shrink: left out, as h5py does */
        break;
    default: {
        const uint32_t sum = hub_fletcher32(data, size);
        memcpy(other, data, size);
        memcpy(other + size, &sum, 4);
        made = size + 4;
    }
    }
    memcpy(data, other, made);
    return made;
}

static struct hub_pipeline draw_pipeline(uint32_t item)
{
    struct hub_pipeline p = {0};
    if (rig_draw(3) == 0)
        return p;
    if (rig_draw(2))
        p.filters[p.count++] = (struct hub_filter){HUB_FILTER_SHUFFLE, item};
    if (rig_draw(3))
        p.filters[p.count++] = (struct hub_filter){rig_draw(2) ? HUB_FILTER_DEFLATE : HUB_FILTER_LZF, 0};
    if (rig_draw(3) == 0)
        p.filters[p.count++] = (struct hub_filter){HUB_FILTER_FLETCHER32, 0};
    return p;
}

/* The elements of one chunk, edge chunks padded; `fill`: the wanted rows become the fill value instead. */
static void one_chunk(const struct want *w, uint8_t *rows, uint64_t row_count, const struct hub_grid *g,
                      const uint64_t *corner, uint8_t *chunk, const uint8_t *fill)
{
    uint64_t total = 1;
    for (unsigned i = 0; i < g->rank; i++)
        total *= g->chunk[i];
    const size_t item = w->variant.item_size;
    for (uint64_t e = 0; e < total; e++) {
        uint64_t rest = e, at = 0, stride = 1;
        bool inside = true;
        for (unsigned i = g->rank; i-- > 0; rest /= g->chunk[i]) {
            const uint64_t all = i ? w->variant.dims[i - 1] : row_count, x = corner[i] + rest % g->chunk[i];
            inside = inside && x < all;
            at += x * stride;
            stride *= all;
        }
        if (fill && inside)
            memcpy(rows + at * item, fill, item);
        else if (!fill && inside)
            memcpy(chunk + e * item, rows + at * item, item);
        else if (!fill)
            memset(chunk + e * item, 0xCC, item);
    }
}

void put_chunked(struct rig *rig, struct want *w, uint64_t rows, unsigned file)
{
    uint8_t *at = add_rows(w, rows), fill[16] = {0};
    struct hub_pipeline pipeline = draw_pipeline(w->variant.item_size);
    struct hub_grid g = {.rank = w->variant.rank + 1u, .fill = HUB_NONE};
    uint64_t n[9], count = 1, items = 1;
    for (unsigned i = 0; i < g.rank; i++) {
        const uint64_t all = i ? w->variant.dims[i - 1] : rows;
        g.chunk[i] = rig_draw(3) ? 1 + rig_draw((uint32_t)all) : (uint32_t)all;
        if (rig_draw(12) == 0)
            g.chunk[i] += 3; /* larger than the data */
        n[i] = (all + g.chunk[i] - 1) / g.chunk[i];
        count *= n[i];
        items *= g.chunk[i];
    }
    cr_assert_eq(hub_layout_pipeline(rig->builder, &pipeline, &g.pipeline, NULL), HUB_OK);
    if (rig_draw(2)) {
        for (unsigned i = 0; i < w->variant.item_size; i++)
            fill[i] = (uint8_t)rig_draw(256);
        cr_assert_eq(hub_layout_bytes(rig->builder, fill, w->variant.item_size, &g.fill, NULL), HUB_OK);
    }
    struct hub_piece piece = {
        .kind = HUB_PIECE_CHUNKED, .file = rig_file_number(file), .rows = rows, .count = (uint32_t)count};
    cr_assert_eq(hub_layout_grid(rig->builder, &g, &piece.geometry, NULL), HUB_OK);
    const size_t bytes = items * w->variant.item_size;
    uint8_t *chunk = malloc(bytes * 2 + 2000), *other = malloc(bytes * 2 + 2000);
    const bool absent = rig_draw(3) == 0, gaps = rig_draw(3) == 0;
    for (uint64_t c = 0; c < count; c++) {
        uint64_t corner[9], rest = c;
        for (unsigned i = g.rank; i-- > 0; rest /= n[i])
            corner[i] = rest % n[i] * g.chunk[i];
        struct hub_chunk entry = {.offset = HUB_ABSENT};
        if (absent && rig_draw(2)) {
            one_chunk(w, at, rows, &g, corner, NULL, fill);
        } else {
            one_chunk(w, at, rows, &g, corner, chunk, NULL);
            size_t size = bytes;
            for (uint32_t f = 0; f < pipeline.count; f++) {
                const size_t made = rig_draw(9) ? apply(&pipeline.filters[f], chunk, size, other) : 0;
                if (made)
                    size = made;
                else
                    entry.mask |= 1u << f;
            }
            entry.offset = rig_put(rig, file, chunk, size, gaps ? rig_draw(6000) : 0);
            entry.size = (uint32_t)size;
        }
        uint32_t index;
        cr_assert_eq(hub_layout_chunks(rig->builder, &entry, 1, &index, NULL), HUB_OK);
        if (c == 0)
            piece.table = index;
    }
    put_piece(rig, &piece);
    free(chunk);
    free(other);
}

void put_extents(struct rig *rig, struct want *w, uint64_t rows, unsigned file)
{
    const uint8_t *at = add_rows(w, rows);
    struct hub_extent *extents = calloc(rows, sizeof *extents);
    const bool backwards = rig_draw(4) == 0, gaps = rig_draw(2);
    for (uint64_t i = 0; i < rows; i++) {
        const uint64_t row = backwards ? rows - 1 - i : i;
        extents[row].offset = rig_put(rig, file, at + row * w->row_bytes, w->row_bytes,
                                      gaps ? rig_draw(40) * rig_draw(200) : 0);
        extents[row].length = (uint32_t)w->row_bytes;
    }
    struct hub_piece piece = {
        .kind = HUB_PIECE_EXTENTS, .file = rig_file_number(file), .rows = rows, .count = (uint32_t)rows};
    cr_assert_eq(hub_layout_extents(rig->builder, extents, (uint32_t)rows, &piece.table, NULL), HUB_OK);
    put_piece(rig, &piece);
    free(extents);
}

/* Plain pages of an INT64 or FIXED column without levels; rows may span pages. */
void put_pages(struct rig *rig, struct want *w, uint64_t rows, unsigned file)
{
    const uint8_t *at = add_rows(w, rows);
    struct hub_column column = {
        .physical = HUB_PHYS_FIXED, .width = w->variant.item_size, .dictionary = HUB_NONE};
    struct hub_piece piece = {.kind = HUB_PIECE_PAGES, .file = rig_file_number(file), .rows = rows};
    cr_assert_eq(hub_layout_column(rig->builder, &column, &piece.geometry, NULL), HUB_OK);
    const uint64_t values = rows * w->items;
    const size_t item = w->variant.item_size;
    for (uint64_t v = 0; v < values; piece.count++) {
        const uint64_t most = 1 + rig_draw(50 * (uint32_t)w->items), n = HUB_MIN(values - v, most);
        struct hub_page page = {
            .values = (uint32_t)n, .first_value = (uint32_t)v, .version = (uint8_t)(1 + rig_draw(2))};
        page.stored = page.decoded = (uint32_t)(n * item);
        page.offset = rig_put(rig, file, at + v * item, n * item, rig_draw(60));
        uint32_t index;
        cr_assert_eq(hub_layout_pages(rig->builder, &page, 1, &index, NULL), HUB_OK);
        if (!piece.count)
            piece.table = index;
        v += n;
    }
    put_piece(rig, &piece);
}

void put_in_layout(struct rig *rig, struct want *w, uint64_t rows)
{
    uint8_t *at = add_rows(w, rows);
    const size_t item = w->variant.item_size;
    struct hub_piece piece = {.kind = HUB_PIECE_FILL, .file = HUB_NONE, .rows = rows, .offset = HUB_NONE};
    const unsigned how = rig_draw(3);
    uint32_t offset;
    for (size_t i = 0; how && i < rows * w->items; i++)
        memcpy(at + i * item, how == 1 ? (const uint8_t *)"abcdefghijklmnop" : (const uint8_t[16]){0}, item);
    if (how == 1) {
        cr_assert_eq(hub_layout_bytes(rig->builder, at, (uint32_t)item, &offset, NULL), HUB_OK);
        piece.offset = offset;
    } else if (how == 0) {
        piece.kind = HUB_PIECE_INLINE;
        cr_assert_eq(hub_layout_bytes(rig->builder, at, (uint32_t)(rows * w->row_bytes), &offset, NULL),
                     HUB_OK);
        piece.offset = offset;
    }
    put_piece(rig, &piece);
}

/* ---- comparing ---- */

void compare(struct rig *rig, const struct want *w, struct hub_slice slice, unsigned round)
{
    uint8_t *into = rig_draw(2) ? malloc(slice.count * w->row_bytes + 1) : NULL;
    const unsigned flags = rig_draw(2) ? HUB_READ_NOWAIT : 0;
    struct hub_rows rows;
    struct hub_error err = {0};
    if (into)
        into[slice.count * w->row_bytes] = 0xAB;
    enum hub_status st = rig_read(rig, 0, slice, flags, rig_draw(4) == 0, into, &rows, &err);
    if (st == HUB_AGAIN) /* allowed, if unlikely: the pages were just written */
        st = rig_read(rig, 0, slice, 0, false, into, &rows, &err);
    cr_assert_eq(st, HUB_OK, "round %u: %s", round, err.detail);
    cr_assert_eq(rows.rows, slice.count);
    cr_assert_null(rows.offsets);
    cr_assert_eq(rows.owned, into == NULL);
    for (uint64_t i = 0; i < slice.count; i++) {
        const uint64_t row = (uint64_t)((int64_t)slice.start + (int64_t)i * slice.step);
        cr_assert_eq(memcmp(rows.data + i * w->row_bytes, w->data + row * w->row_bytes, w->row_bytes), 0,
                     "round %u: row %llu of [%llu +%llu by %lld]", round, (unsigned long long)i,
                     (unsigned long long)slice.start, (unsigned long long)slice.count, (long long)slice.step);
    }
    if (into)
        cr_assert_eq(into[slice.count * w->row_bytes], 0xAB);
    hub_rows_dispose(&rows);
    free(into);
}

/* The layouts of the benchmarks, whose reads take the paths made for speed. */
void build_chunks(struct rig *rig, struct want *w, struct hub_variant variant, uint64_t rows,
                  const uint32_t *chunk, struct hub_pipeline pipeline)
{
    rig_open(rig);
    *w = (struct want){.variant = variant,
                       .items = hub_variant_row_items(&variant),
                       .row_bytes = hub_variant_row_bytes(&variant)};
    w->data = malloc(1 << 22);
    uint8_t *at = add_rows(w, rows);
    struct hub_grid g = {.rank = variant.rank + 1u, .fill = HUB_NONE};
    uint32_t index;
    cr_assert_eq(hub_layout_variant(rig->builder, &variant, &index, NULL), HUB_OK);
    cr_assert_eq(hub_layout_array(rig->builder, index, &index, NULL), HUB_OK);
    cr_assert_eq(hub_layout_pipeline(rig->builder, &pipeline, &g.pipeline, NULL), HUB_OK);
    uint64_t n[9], count = 1;
    size_t bytes = variant.item_size;
    for (unsigned i = 0; i < g.rank; i++) {
        g.chunk[i] = chunk[i];
        n[i] = ((i ? variant.dims[i - 1] : rows) + chunk[i] - 1) / chunk[i];
        count *= n[i];
        bytes *= chunk[i];
    }
    struct hub_piece piece = {.kind = HUB_PIECE_CHUNKED, .rows = rows, .count = (uint32_t)count};
    cr_assert_eq(hub_layout_grid(rig->builder, &g, &piece.geometry, NULL), HUB_OK);
    uint8_t *data = malloc(2 * bytes + 2000), *other = malloc(2 * bytes + 2000);
    for (uint64_t c = 0; c < count; c++) {
        uint64_t corner[9], rest = c;
        for (unsigned i = g.rank; i-- > 0; rest /= n[i])
            corner[i] = rest % n[i] * chunk[i];
        one_chunk(w, at, rows, &g, corner, data, NULL);
        size_t size = bytes;
        for (uint32_t f = 0; f < pipeline.count; f++)
            size = apply(&pipeline.filters[f], data, size, other);
        const struct hub_chunk entry = {.offset = rig_put(rig, 0, data, size, 0), .size = (uint32_t)size};
        cr_assert_eq(hub_layout_chunks(rig->builder, &entry, 1, &index, NULL), HUB_OK);
    }
    free(data);
    free(other);
    put_piece(rig, &piece);
    rig_finish(rig);
}
