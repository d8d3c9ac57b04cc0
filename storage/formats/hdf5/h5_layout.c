/*
 * A dataset's rows as one array of the layout: in place wherever that is possible, the few others through
 * side data. The chunk table of the dataset looked at last is kept, since a driver that sums rewards reads
 * and places the same one.
 */
#include "storage/formats/hdf5/h5_parse.h"
#include "storage/model/layout_table.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_VAR_ROWS = 16 * 1024 * 1024, SLAB_BYTES = 64 * 1024 };

static enum hub_status measure(const struct hub_h5_dataset *d, struct h5_grid *g, struct hub_error *err)
{
    g->rank = d->rank;
    g->chunk_bytes = d->chunk_bytes;
    g->item_bytes = d->element;
    g->count = 1;
    for (uint32_t i = 0; i < d->rank; i++) {
        const uint64_t chunk = d->chunk[i];
        g->chunk[i] = d->chunk[i];
        g->along[i] = d->dims[i] / chunk + (d->dims[i] % chunk != 0);
        g->max_along[i] = d->max_dims[i] == UINT64_MAX
                              ? UINT64_MAX
                              : d->max_dims[i] / chunk + (d->max_dims[i] % chunk != 0);
        if (g->along[i] && g->count > H5_MAX_CHUNKS / g->along[i])
            return hub_fail(err, HUB_TOO_BIG, "more than %u chunks", H5_MAX_CHUNKS);
        g->count *= g->along[i];
    }
    return HUB_OK;
}

void h5_grid_dispose(struct h5_grid *grid)
{
    free(grid->chunks);
    *grid = (struct h5_grid){0};
}

static enum hub_status fill_grid(struct hub_h5 *file, const struct hub_h5_dataset *d, struct h5_grid *g,
                                 struct hub_error *err)
{
    HUB_TRY(measure(d, g, err));
    g->chunks = malloc(HUB_MAX(g->count, 1) * sizeof *g->chunks);
    HUB_TRY(hub_allocated(g->chunks, err));
    for (uint64_t i = 0; i < g->count; i++)
        g->chunks[i] = (struct hub_chunk){.offset = HUB_ABSENT};
    if (d->data == H5_UNDEFINED || g->count == 0)
        return HUB_OK;
    return d->index ? h5_index_chunks(file, d, g, err) : h5_btree_chunks(file, d->data, g, err);
}

enum hub_status h5_grid_of(struct hub_h5 *file, const struct hub_h5_dataset *dataset,
                           const struct h5_grid **out, struct hub_error *err)
{
    if (file->grid_of != dataset->address || !file->grid.chunks) {
        h5_grid_dispose(&file->grid);
        const enum hub_status st = fill_grid(file, dataset, &file->grid, err);
        if (st) {
            h5_grid_dispose(&file->grid);
            return st;
        }
        file->grid_of = dataset->address;
    }
    *out = &file->grid;
    return HUB_OK;
}

/* Begin an array of `variant` and put one piece in it (none when there are no rows). */
static enum hub_status one_piece(struct hub_layout_builder *b, const struct hub_variant *variant,
                                 const struct hub_piece *piece, uint32_t *array, struct hub_error *err)
{
    HUB_TRY(hub_layout_array_of(b, variant, array, err));
    return piece->rows ? hub_layout_piece(b, piece, err) : HUB_OK;
}

static bool all_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

/* One element of the fill value in the layout's bytes, HUB_NONE for zeros. Array types: all items must be the
 * same. */
static enum hub_status put_fill(const struct hub_h5_dataset *d, struct hub_layout_builder *b, bool always,
                                uint32_t *at, struct hub_error *err)
{
    static const uint8_t zeros[256];
    const uint32_t item = d->variant.item_size;
    const uint8_t *fill = (const uint8_t *)d->fill.data;
    *at = HUB_NONE;
    if (!d->fill.size || all_zero(fill, d->fill.size)) {
        if (!always)
            return HUB_OK;
        if (item <= sizeof zeros)
            return hub_layout_bytes(b, zeros, item, at, err);
        HUB_CLEANUP(hub_freep) uint8_t *bytes = calloc(1, item);
        HUB_TRY(hub_allocated(bytes, err));
        return hub_layout_bytes(b, bytes, item, at, err);
    }
    for (size_t i = item; i + item <= d->fill.size; i += item)
        if (memcmp(fill, fill + i, item) != 0)
            return hub_fail(err, HUB_UNSUPPORTED, "a fill value of an array type");
    return hub_layout_bytes(b, fill, item, at, err);
}

static enum hub_status add_fill(const struct hub_h5_dataset *d, struct hub_layout_builder *b, uint32_t *array,
                                struct hub_error *err)
{
    uint32_t at = 0;
    if (d->rows)
        HUB_TRY(put_fill(d, b, true, &at, err));
    const struct hub_piece piece = {.kind = HUB_PIECE_FILL, .file = HUB_NONE, .rows = d->rows, .offset = at};
    return one_piece(b, &d->variant, &piece, array, err);
}

/* Is the type a part of its element, so that items do not adjoin? */
static bool is_member(const struct hub_h5_dataset *d)
{
    return d->element != d->type.size;
}

static enum hub_status add_compact(const struct hub_h5_dataset *d, struct hub_layout_builder *b,
                                   uint32_t *array, struct hub_error *err)
{
    const uint64_t elements = d->rows * (hub_h5_row_bytes(d) / d->element), item = d->type.size;
    uint32_t at = 0;
    if (elements > d->compact.size / d->element)
        return hub_fail(err, HUB_CORRUPT, "%zu bytes where %" PRIu64 " elements of %u are expected",
                        d->compact.size, elements, d->element);
    HUB_CLEANUP(hub_freep) uint8_t *items = malloc((size_t)(elements * item));
    HUB_TRY(hub_allocated(items, err));
    for (uint64_t i = 0; i < elements; i++)
        memcpy(items + i * item, d->compact.data + i * d->element + d->at, item);
    HUB_TRY(hub_layout_bytes(b, items, (uint32_t)(elements * item), &at, err));
    const struct hub_piece piece = {
        .kind = HUB_PIECE_INLINE, .file = HUB_NONE, .rows = d->rows, .offset = at};
    return one_piece(b, &d->variant, &piece, array, err);
}

/* Strides of a member: elements along the dataspace's axes, items along those of an array type within. */
static enum hub_status put_strides(const struct hub_h5_dataset *d, struct hub_layout_builder *b,
                                   uint32_t *geometry, struct hub_error *err)
{
    const struct hub_variant *v = &d->variant;
    const uint32_t outer = v->rank - d->type.variant.rank;
    int64_t strides[HUB_MAX_RANK], stride = v->item_size;
    if (!is_member(d) || outer == 0)
        return HUB_OK; /* in C order */
    for (uint32_t i = v->rank; i-- > 0;) {
        if (i + 1 == outer)
            stride = d->element;
        strides[i] = stride;
        stride *= v->dims[i];
    }
    return hub_layout_strides(b, strides, v->rank, geometry, err);
}

static enum hub_status add_contiguous(const struct hub_h5 *file, const struct hub_h5_dataset *d,
                                      struct hub_layout_builder *b, uint32_t *array, struct hub_error *err)
{
    const uint64_t row = hub_h5_row_bytes(d);
    struct hub_piece piece = {.kind = HUB_PIECE_STRIDED,
                              .file = file->number,
                              .rows = d->rows,
                              .row_stride = (int64_t)row,
                              .geometry = HUB_NONE};
    if (row > INT64_MAX / d->rows)
        return hub_fail(err, HUB_CORRUPT, "rows beyond the end of the file");
    HUB_TRY(h5_locate(file, d->data, d->rows * row, &piece.offset, err));
    piece.offset += d->at;
    HUB_TRY(put_strides(d, b, &piece.geometry, err));
    return one_piece(b, &d->variant, &piece, array, err);
}

/* The pipeline less filters without a codec, and masks to match; false when a stored chunk needs one of
 * them. */
static bool read_pipeline(const struct hub_h5_dataset *d, struct hub_chunk *chunks, uint64_t count,
                          struct hub_pipeline *out)
{
    *out = (struct hub_pipeline){0};
    for (uint64_t k = 0; k < count; k++)
        if (chunks[k].offset != HUB_ABSENT && (chunks[k].mask & d->unknown_filters) != d->unknown_filters)
            return false;
    for (uint32_t i = 0; i < d->pipeline.count; i++)
        if (!(d->unknown_filters >> i & 1))
            out->filters[out->count++] = d->pipeline.filters[i];
    for (uint64_t k = 0; k < count; k++) {
        uint32_t mask = 0, bit = 0;
        for (uint32_t i = 0; i < d->pipeline.count; i++)
            if (!(d->unknown_filters >> i & 1))
                mask |= (chunks[k].mask >> i & 1) << bit++;
        chunks[k].mask = chunks[k].offset == HUB_ABSENT ? 0 : mask;
    }
    return true;
}

static enum hub_status put_chunks(struct hub_h5 *file, const struct hub_h5_dataset *d,
                                  struct hub_chunk *chunks, uint64_t count, struct hub_layout_builder *b,
                                  uint32_t *array, struct hub_error *err)
{
    struct hub_pipeline pipeline;
    if (!read_pipeline(d, chunks, count, &pipeline))
        return hub_fail(err, HUB_UNSUPPORTED, "%s", d->filter_name);
    for (uint64_t i = 0; i < count; i++)
        if (chunks[i].offset != HUB_ABSENT &&
            !hub_layout_stored_size_fits(&pipeline, &chunks[i], d->chunk_bytes))
            return hub_fail(err, HUB_CORRUPT, "chunk %" PRIu64 " is stored in %u bytes, decoded %" PRIu64, i,
                            chunks[i].size, d->chunk_bytes);
    struct hub_grid grid = {.rank = (uint16_t)(1 + d->variant.rank)};
    if (is_member(d)) {
        grid.element = d->element;
        grid.at = d->at;
        grid.inner = d->type.variant.rank;
    }
    memcpy(grid.chunk, d->chunk, d->rank * sizeof *grid.chunk);
    for (uint32_t i = d->rank; i < grid.rank; i++) /* an array type lies whole in each chunk */
        grid.chunk[i] = HUB_MAX(d->variant.dims[i - 1], 1u);
    HUB_TRY(hub_layout_pipeline(b, &pipeline, &grid.pipeline, err));
    HUB_TRY(put_fill(d, b, false, &grid.fill, err));
    struct hub_piece piece = {
        .kind = HUB_PIECE_CHUNKED, .file = file->number, .rows = d->rows, .count = (uint32_t)count};
    HUB_TRY(hub_layout_grid(b, &grid, &piece.geometry, err));
    HUB_TRY(hub_layout_chunks(b, chunks, (uint32_t)count, &piece.table, err));
    return one_piece(b, &d->variant, &piece, array, err);
}

static enum hub_status add_chunked(struct hub_h5 *file, const struct hub_h5_dataset *d,
                                   struct hub_layout_builder *b, uint32_t *array, struct hub_error *err)
{
    const struct h5_grid *grid;
    HUB_TRY(h5_grid_of(file, d, &grid, err));
    if (grid->stored == 0 || grid->count == 0)
        return add_fill(d, b, array, err);
    /* A dense table of holes costs the catalogue memory that the file did not cost its writer. */
    if (grid->count > 65536 && grid->count / 64 > grid->stored)
        return hub_fail(err, HUB_UNSUPPORTED, "%" PRIu64 " chunks stored of %" PRIu64, grid->stored,
                        grid->count);
    HUB_CLEANUP(hub_freep) struct hub_chunk *chunks = malloc(grid->count * sizeof *chunks);
    HUB_TRY(hub_allocated(chunks, err));
    memcpy(chunks, grid->chunks, grid->count * sizeof *chunks);
    return put_chunks(file, d, chunks, grid->count, b, array, err);
}

/* Where each variable-length item lies, straight into the global heaps. */
static enum hub_status find_items(struct hub_h5 *file, const struct hub_h5_dataset *d,
                                  struct hub_extent *extents, struct hub_error *err)
{
    const uint64_t width = d->element;
    const uint64_t slab_rows = HUB_MAX(SLAB_BYTES / width, 1);
    if (d->type.size != 8u + file->offset_size)
        return hub_fail(err, HUB_CORRUPT, "references of %u bytes", d->type.size);
    HUB_CLEANUP(hub_freep) uint8_t *slab = malloc(slab_rows * width);
    HUB_TRY(hub_allocated(slab, err));
    for (uint64_t row = 0; row < d->rows; row += slab_rows) {
        const uint64_t n = HUB_MIN(d->rows - row, slab_rows);
        HUB_TRY(hub_h5_read(file, d, row, n, slab, err));
        for (uint64_t i = 0; i < n; i++)
            HUB_TRY(h5_heap_item(file, &d->type, slab + i * width + d->at, &extents[row + i], err));
    }
    return HUB_OK;
}

static enum hub_status add_items(struct hub_h5 *file, const struct hub_h5_dataset *d,
                                 struct hub_layout_builder *b, uint32_t *array, struct hub_error *err)
{
    if (d->rows > MAX_VAR_ROWS)
        return hub_fail(err, HUB_TOO_BIG, "%" PRIu64 " variable-length items", d->rows);
    HUB_CLEANUP(hub_freep) struct hub_extent *extents = calloc(HUB_MAX(d->rows, 1), sizeof *extents);
    HUB_TRY(hub_allocated(extents, err));
    struct hub_piece piece = {
        .kind = HUB_PIECE_EXTENTS, .file = file->number, .rows = d->rows, .count = (uint32_t)d->rows};
    HUB_TRY(find_items(file, d, extents, err));
    HUB_TRY(hub_layout_extents(b, extents, (uint32_t)d->rows, &piece.table, err));
    return one_piece(b, &d->variant, &piece, array, err);
}

static enum hub_status add_array(struct hub_h5 *file, const struct hub_h5_dataset *d,
                                 struct hub_layout_builder *builder, uint32_t *array, struct hub_error *err)
{
    if (d->unreadable[0])
        return hub_fail(err, HUB_UNSUPPORTED, "%s", d->unreadable);
    if (d->variant.kind == HUB_KIND_VAR)
        return add_items(file, d, builder, array, err);
    const bool nothing = d->storage != HUB_H5_COMPACT && d->data == H5_UNDEFINED;
    if (nothing || d->rows == 0 || hub_variant_row_bytes(&d->variant) == 0)
        return add_fill(d, builder, array, err);
    if (d->library) {
        struct hub_piece piece = {0};
        HUB_TRY(h5_library_rows(file, d, &piece, err));
        return one_piece(builder, &d->variant, &piece, array, err);
    }
    if (d->storage == HUB_H5_COMPACT)
        return add_compact(d, builder, array, err);
    return d->storage == HUB_H5_CONTIGUOUS ? add_contiguous(file, d, builder, array, err)
                                           : add_chunked(file, d, builder, array, err);
}

enum hub_status hub_h5_layout(struct hub_h5 *file, const struct hub_h5_dataset *dataset,
                              struct hub_layout_builder *builder, uint32_t *array, struct hub_error *err)
{
    HUB_TRY(add_array(file, dataset, builder, array, err));
    if (dataset->rank == 0)
        hub_layout_scalar(builder, *array);
    return HUB_OK;
}

enum hub_status hub_h5_layout_whole(struct hub_h5 *file, const struct hub_h5_dataset *dataset,
                                    const struct hub_variant *row, struct hub_layout_builder *builder,
                                    uint32_t *array, struct hub_error *err)
{
    const struct hub_h5_dataset *d = dataset;
    const size_t size = (size_t)hub_variant_row_bytes(row);
    struct hub_piece piece = {.kind = HUB_PIECE_STRIDED,
                              .file = file->number,
                              .rows = 1,
                              .row_stride = (int64_t)size,
                              .geometry = HUB_NONE};
    if (d->storage == HUB_H5_CONTIGUOUS && d->data != H5_UNDEFINED && !d->library) {
        HUB_TRY(h5_locate(file, d->data, size, &piece.offset, err));
    } else {
        HUB_CLEANUP(hub_freep) uint8_t *bytes = malloc(size);
        HUB_TRY(hub_allocated(bytes, err));
        HUB_TRY(hub_h5_read(file, d, 0, d->rows, bytes, err));
        HUB_TRY(hub_files_side_add(file->files, bytes, size, &piece.offset, err));
        piece.file = HUB_SIDE_FILE;
    }
    HUB_TRY(one_piece(builder, row, &piece, array, err));
    hub_layout_scalar(builder, *array);
    return HUB_OK;
}
