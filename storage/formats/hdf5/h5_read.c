/*
 * Rows of a dataset copied into memory, decoded: for what a driver must know itself (the sum of rewards, how
 * an episode ended, references to variable-length items, names in a mask). Never for bulk: that is served
 * from the layout.
 */
#include "storage/codec/codec.h"
#include "storage/formats/hdf5/h5_parse.h"

#include <inttypes.h>
#include <stdlib.h>

uint64_t hub_h5_row_bytes(const struct hub_h5_dataset *dataset)
{
    uint64_t bytes = dataset->element;
    for (uint32_t i = 1; dataset->rank != HUB_NONE && i < dataset->rank; i++)
        bytes =
            dataset->dims[i] && bytes > UINT64_MAX / dataset->dims[i] ? UINT64_MAX : bytes * dataset->dims[i];
    return bytes;
}

/* A read in progress: rows first .. first+count-1 go to `out`. */
struct h5_read_job {
    struct hub_h5 *file;
    const struct hub_h5_dataset *d;
    const struct h5_grid *grid;
    uint64_t first, count;
    uint8_t *out;
    uint8_t *chunk, *stored, *scratch; /* of one chunk */
    size_t stored_capacity;
};

/* Elements that are nowhere: the fill value. */
static void fill_elements(const struct hub_h5_dataset *d, uint8_t *out, uint64_t bytes)
{
    const uint32_t item = d->element;
    if (d->fill.size != item) {
        memset(out, 0, bytes);
        return;
    }
    for (uint64_t i = 0; i + item <= bytes; i += item)
        memcpy(out + i, d->fill.data, item);
}

static enum hub_status reserve_stored(struct h5_read_job *job, size_t size, struct hub_error *err)
{
    if (size <= job->stored_capacity)
        return HUB_OK;
    free(job->stored);
    free(job->scratch);
    job->stored = malloc(size);
    job->scratch = malloc(2 * (HUB_MAX(size, (size_t)job->d->chunk_bytes) + 64));
    job->stored_capacity = job->stored && job->scratch ? size : 0;
    return hub_allocated(job->stored_capacity, err);
}

/* Bring one chunk, decoded, into job->chunk. */
static enum hub_status load_chunk(struct h5_read_job *job, const struct hub_chunk *chunk,
                                  struct hub_error *err)
{
    const struct hub_h5_dataset *d = job->d;
    const size_t size = (size_t)d->chunk_bytes;
    if (chunk->offset == HUB_ABSENT) {
        fill_elements(d, job->chunk, size);
        return HUB_OK;
    }
    const uint32_t all = (1u << d->pipeline.count) - 1;
    if ((chunk->mask & all) == all) {
        if (chunk->size != size)
            return hub_fail(err, HUB_CORRUPT, "a chunk has %u bytes stored and %zu decoded", chunk->size,
                            size);
        return h5_get_raw(job->file, chunk->offset, job->chunk, size, err);
    }
    if (d->unknown_filters & ~chunk->mask)
        return hub_fail(err, HUB_UNSUPPORTED, "%s", d->filter_name);
    HUB_TRY(reserve_stored(job, chunk->size, err));
    HUB_TRY(h5_get_raw(job->file, chunk->offset, job->stored, chunk->size, err));
    const struct hub_view stored = {(const char *)job->stored, chunk->size};
    return hub_chunk_decode(&d->pipeline, chunk->mask, stored, job->chunk, size, job->scratch, err);
}

/* Copy what a chunk at `scaled` and the wanted rows share: runs along the last axis. */
static void copy_chunk(const struct h5_read_job *job, const uint64_t *scaled)
{
    const struct hub_h5_dataset *d = job->d;
    const uint32_t rank = d->rank, item = d->element;
    uint64_t low[HUB_MAX_RANK] = {0}, high[HUB_MAX_RANK] = {0},
             at[HUB_MAX_RANK] = {0}; /* elements of the dataset */
    if (rank == 0)                   /* no chunks without an axis */
        return;
    for (uint32_t i = 0; i < rank; i++) {
        low[i] = scaled[i] * d->chunk[i];
        high[i] = HUB_MIN(low[i] + d->chunk[i], d->dims[i]);
    }
    low[0] = HUB_MAX(low[0], job->first);
    high[0] = HUB_MIN(high[0], job->first + job->count);
    memcpy(at, low, rank * sizeof *at);
    const uint64_t run = (high[rank - 1] - low[rank - 1]) * item;
    for (;;) {
        uint64_t from = 0, to = 0;
        for (uint32_t i = 0; i < rank; i++) {
            from = from * d->chunk[i] + (at[i] - scaled[i] * d->chunk[i]);
            to = to * d->dims[i] + (i ? at[i] : at[0] - job->first);
        }
        memcpy(job->out + to * item, job->chunk + from * item, run);
        uint32_t axis = rank - 1;
        do {
            if (axis == 0)
                return;
            axis--;
            if (++at[axis] < high[axis])
                break;
            at[axis] = low[axis];
        } while (true);
    }
}

static enum hub_status read_chunks(struct h5_read_job *job, struct hub_error *err)
{
    const struct hub_h5_dataset *d = job->d;
    const struct h5_grid *g = job->grid;
    uint64_t inner = 1;
    for (uint32_t i = 1; i < g->rank; i++)
        inner *= g->along[i];
    const uint64_t low = job->first / d->chunk[0], high = (job->first + job->count - 1) / d->chunk[0];
    for (uint64_t number = low * inner; number < (high + 1) * inner; number++) {
        uint64_t scaled[HUB_MAX_RANK] = {0}, left = number;
        for (uint32_t i = g->rank; i-- > 0;) {
            scaled[i] = i ? left % g->along[i] : left;
            left = i ? left / g->along[i] : 0;
        }
        HUB_TRY(load_chunk(job, &g->chunks[number], err));
        copy_chunk(job, scaled);
    }
    return HUB_OK;
}

static enum hub_status read_chunked(struct h5_read_job *job, struct hub_error *err)
{
    HUB_TRY(h5_grid_of(job->file, job->d, &job->grid, err));
    if (job->grid->count == 0)
        return HUB_OK;
    job->chunk = malloc((size_t)job->d->chunk_bytes);
    const enum hub_status st = job->chunk ? read_chunks(job, err) : hub_no_memory(err);
    free(job->chunk);
    free(job->stored);
    free(job->scratch);
    return st;
}

enum hub_status hub_h5_read(struct hub_h5 *file, const struct hub_h5_dataset *dataset, uint64_t first,
                            uint64_t count, void *out, struct hub_error *err)
{
    const struct hub_h5_dataset *d = dataset;
    const uint64_t row = hub_h5_row_bytes(d);
    if (d->unreadable[0])
        return hub_fail(err, HUB_UNSUPPORTED, "%s", d->unreadable);
    if (first > d->rows || count > d->rows - first)
        return hub_fail(err, HUB_OUT_OF_RANGE, "rows %" PRIu64 " and on of %" PRIu64, first, d->rows);
    if (row == UINT64_MAX || (count && row > GIB / count))
        return hub_fail(err, HUB_TOO_BIG, "%" PRIu64 " rows of %" PRIu64 " bytes", count, row);
    if (count == 0 || row == 0)
        return HUB_OK;
    if (d->library)
        return h5_library_read(file, d, first, count, out, err);
    if (d->storage == HUB_H5_COMPACT) {
        if ((first + count) * row > d->compact.size)
            return hub_fail(err, HUB_CORRUPT, "%zu bytes instead of %" PRIu64, d->compact.size,
                            (first + count) * row);
        memcpy(out, d->compact.data + first * row, count * row);
        return HUB_OK;
    }
    if (d->data == H5_UNDEFINED) {
        fill_elements(d, out, count * row);
        return HUB_OK;
    }
    if (d->storage == HUB_H5_CONTIGUOUS) {
        if (first > (UINT64_MAX - d->data) / row)
            return hub_fail(err, HUB_CORRUPT, "rows beyond the end of the file");
        return h5_get(file, d->data + first * row, out, count * row, err);
    }
    struct h5_read_job job = {.file = file, .d = d, .first = first, .count = count, .out = out};
    return read_chunked(&job, err);
}

static enum hub_status read_fixed(struct hub_h5 *file, const struct hub_h5_dataset *d, uint64_t row,
                                  struct hub_buf *out, struct hub_error *err)
{
    const size_t size = (size_t)hub_h5_row_bytes(d);
    HUB_TRY(hub_buf_reserve(out, size, err));
    HUB_TRY(hub_h5_read(file, d, row, 1, out->data + out->size, err));
    memmove(out->data + out->size, out->data + out->size + d->at, d->type.size);
    out->size += hub_variant_text_size(&d->type.variant, out->data + out->size);
    return HUB_OK;
}

enum hub_status hub_h5_read_text(struct hub_h5 *file, const struct hub_h5_dataset *dataset, uint64_t row,
                                 struct hub_buf *out, struct hub_error *err)
{
    struct hub_extent extent;
    if (dataset->variant.kind == HUB_KIND_FIXED && dataset->variant.rank == 0)
        return read_fixed(file, dataset, row, out, err);
    if (dataset->variant.kind != HUB_KIND_VAR || dataset->type.size != 8u + file->offset_size)
        return hub_fail(err, HUB_NOT_ACCEPTABLE, "a dataset that is not text");
    HUB_CLEANUP(hub_freep) uint8_t *element = malloc(dataset->element);
    HUB_TRY(hub_allocated(element, err));
    HUB_TRY(hub_h5_read(file, dataset, row, 1, element, err));
    HUB_TRY(h5_heap_item(file, &dataset->type, element + dataset->at, &extent, err));
    HUB_TRY(hub_buf_reserve(out, extent.length, err));
    HUB_TRY(h5_get_raw(file, extent.offset, out->data + out->size, extent.length, err));
    out->size += extent.length;
    return HUB_OK;
}
