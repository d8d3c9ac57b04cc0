/*
 * Rows that only libhdf5 decodes (szip, nbit, scaleoffset, integers of odd precision): read in slabs of whole
 * chunks and written to side data, where they lie plainly. The dataset is opened by its address and must look
 * as we parsed it.
 */
#include "storage/codec/decode.h"
#include "storage/formats/hdf5/h5_parse.h"
#include "storage/formats/hdf5/h5_vfd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLAB_BYTES = 8 * 1024 * 1024 };
#define MAX_SLAB (512 * MIB)

/* Handles of one dataset being read; 0 or negative: none. */
struct h5_handles {
    hid_t dataset, space, type;
};

static void reader_dispose(struct h5_handles *r)
{
    if (r->type > 0)
        H5Tclose(r->type);
    if (r->space > 0)
        H5Sclose(r->space);
    if (r->dataset > 0)
        H5Oclose(r->dataset);
}

void h5_library_close(struct hub_h5 *file)
{
    if (file->library > 0)
        H5Fclose(file->library);
    file->library = 0;
}

/* LZF, which h5py brings along and libhdf5 does not have: behind scaleoffset, say. The first parameters are
 * h5py's version and that of the library, the third the bytes of a chunk. */
static size_t unlzf(unsigned flags, size_t count, const unsigned *values, size_t size, size_t *capacity,
                    void **data)
{
    enum { ROOM = 4096 }; /* an earlier filter's output may be larger than what went in */
    const size_t most = (count > 2 ? values[2] : 0) + ROOM;
    size_t written = 0;
    uint8_t *out =
        flags & H5Z_FLAG_REVERSE && most <= HUB_MAX_CHUNK_BYTES ? H5allocate_memory(most, 0) : NULL;
    if (!out || hub_unlzf_upto(*data, size, out, most, &written, NULL)) {
        H5free_memory(out);
        return 0;
    }
    H5free_memory(*data);
    *data = out;
    *capacity = most;
    return written;
}

static const H5Z_class2_t lzf = {
    .version = H5Z_CLASS_T_VERS, .id = HUB_FILTER_LZF, .decoder_present = 1, .name = "lzf", .filter = unlzf};

/* What the library could not do, unless it was this machine that could not read. */
static enum hub_status failed(struct hub_h5 *file, enum hub_status st, struct hub_error *err,
                              const char *what)
{
    const int trouble = file->library_trouble;
    file->library_trouble = 0;
    if (trouble == ESTALE)
        return hub_fail(err, HUB_CHANGED, "the file became shorter while it was read");
    return trouble ? hub_fail_errno(err, trouble, "reading for libhdf5") : hub_fail(err, st, "%s", what);
}

static enum hub_status open_library(struct hub_h5 *file, struct hub_error *err)
{
    if (file->number == HUB_SIDE_FILE)
        return hub_fail(err, HUB_UNSUPPORTED,
                        "data that only libhdf5 decodes cannot be read from an archive");
    if (file->library == 0 && H5Zregister(&lzf) >= 0)
        file->library = h5_vfd_open(file->fd, file->size, &file->library_trouble);
    if (file->library > 0)
        return HUB_OK;
    file->library = 0;
    return failed(file, HUB_UNSUPPORTED, err, "libhdf5 cannot open the file");
}

/* Does the library see the extent that we parsed? */
static bool same_extent(const struct hub_h5_dataset *d, hid_t space)
{
    hsize_t dims[H5S_MAX_RANK];
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 1 || rank > HUB_MAX_RANK || (uint32_t)rank != d->rank ||
        H5Sget_simple_extent_dims(space, dims, NULL) < 0)
        return false;
    for (int i = 0; i < rank; i++)
        if (dims[i] != d->dims[i])
            return false;
    return true;
}

/* The type the rows are to have in side data: that of the variant. */
static hid_t memory_type(const struct hub_variant *v, hid_t dataset)
{
    const hid_t ints[] = {H5T_STD_I8LE, H5T_STD_I16LE, H5T_STD_I32LE, H5T_STD_I64LE};
    const hid_t uints[] = {H5T_STD_U8LE, H5T_STD_U16LE, H5T_STD_U32LE, H5T_STD_U64LE};
    /* of a dataset, H5Tcopy gives a copy that may be changed */
    const bool integer = v->kind == HUB_KIND_INT || v->kind == HUB_KIND_UINT;
    const hid_t type =
        H5Tcopy(integer ? (v->kind == HUB_KIND_INT ? ints : uints)[__builtin_ctz(v->item_size)] : dataset);
    if (type >= 0 && v->big_endian)
        H5Tset_order(type, H5T_ORDER_BE);
    return type;
}

static enum hub_status open_reader(struct hub_h5 *file, const struct hub_h5_dataset *d, struct h5_handles *r,
                                   struct hub_error *err)
{
    HUB_TRY(open_library(file, err));
    r->dataset = H5Oopen_by_addr(file->library, d->address);
    if (r->dataset < 0 || H5Iget_type(r->dataset) != H5I_DATASET)
        return failed(file, HUB_UNSUPPORTED, err,
                      "HDF5 " H5_VERSION ", which must decode it, cannot open the dataset");
    r->space = H5Dget_space(r->dataset);
    r->type = memory_type(&d->variant, r->dataset);
    if (r->space < 0 || r->type < 0 || !same_extent(d, r->space) || H5Tget_size(r->type) != d->type.size)
        return failed(file, HUB_CORRUPT, err, "libhdf5 sees another dataset than its header describes");
    return HUB_OK;
}

static bool read_slab(const struct h5_handles *r, const struct hub_h5_dataset *d, uint64_t first,
                      uint64_t rows, void *out)
{
    hsize_t start[HUB_MAX_RANK] = {first}, count[HUB_MAX_RANK] = {rows};
    for (uint32_t i = 1; i < d->rank; i++)
        count[i] = d->dims[i];
    const hid_t memory = H5Screate_simple((int)d->rank, count, NULL);
    const bool good = memory >= 0 &&
                      H5Sselect_hyperslab(r->space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                      H5Dread(r->dataset, r->type, memory, r->space, H5P_DEFAULT, out) >= 0;
    if (memory >= 0)
        H5Sclose(memory);
    return good;
}

/* Slabs are multiples of 8 rows, so that side data stays without gaps. */
static enum hub_status copy_rows(struct hub_h5 *file, const struct hub_h5_dataset *d,
                                 const struct h5_handles *r, uint64_t row, uint64_t *offset,
                                 struct hub_error *err)
{
    const uint64_t unit = d->storage == HUB_H5_CHUNKED ? (uint64_t)d->chunk[0] * 8 : 8;
    const uint64_t rows = HUB_MIN(d->rows, unit * HUB_MAX(SLAB_BYTES / (unit * row), 1));
    if (rows == 0)
        return HUB_OK;
    if (rows > MAX_SLAB / row)
        return hub_fail(err, HUB_TOO_BIG, "rows of %" PRIu64 " bytes that only libhdf5 decodes", row);
    HUB_CLEANUP(hub_freep) uint8_t *slab = malloc(rows * row);
    HUB_TRY(hub_allocated(slab, err));
    for (uint64_t first = 0; first < d->rows; first += rows) {
        const uint64_t n = HUB_MIN(rows, d->rows - first);
        uint64_t at;
        if (!read_slab(r, d, first, n, slab)) {
            char what[80];
            snprintf(what, sizeof what, "libhdf5 cannot decode rows %" PRIu64 " and on", first);
            return failed(file, HUB_CORRUPT, err, what);
        }
        HUB_TRY(hub_files_side_add(file->files, slab, n * row, &at, err));
        if (first == 0)
            *offset = at;
    }
    return HUB_OK;
}

enum hub_status h5_library_rows(struct hub_h5 *file, const struct hub_h5_dataset *dataset,
                                struct hub_piece *piece, struct hub_error *err)
{
    const uint64_t row = hub_variant_row_bytes(&dataset->variant);
    const uint64_t room =
        file->files->side_budget - HUB_MIN(file->files->side_budget, file->files->side_size);
    if (dataset->rank == 0 || dataset->type.variant.rank)
        return hub_fail(err, HUB_UNSUPPORTED, "a scalar or array type that only libhdf5 decodes");
    if (dataset->rows > room / row)
        return hub_fail(err, HUB_TOO_BIG, "side-file budget");
    HUB_CLEANUP(reader_dispose) struct h5_handles r = {0};
    HUB_TRY(open_reader(file, dataset, &r, err));
    *piece = (struct hub_piece){.kind = HUB_PIECE_STRIDED,
                                .file = HUB_SIDE_FILE,
                                .rows = dataset->rows,
                                .row_stride = (int64_t)row,
                                .geometry = HUB_NONE};
    return copy_rows(file, dataset, &r, row, &piece->offset, err);
}

enum hub_status h5_library_read(struct hub_h5 *file, const struct hub_h5_dataset *dataset, uint64_t first,
                                uint64_t count, void *out, struct hub_error *err)
{
    HUB_CLEANUP(reader_dispose) struct h5_handles r = {0};
    if (dataset->rank == 0 || dataset->type.variant.rank || dataset->element != dataset->type.size)
        return hub_fail(err, HUB_UNSUPPORTED, "a scalar or array type that only libhdf5 decodes");
    HUB_TRY(open_reader(file, dataset, &r, err));
    return read_slab(&r, dataset, first, count, out)
               ? HUB_OK
               : failed(file, HUB_CORRUPT, err, "libhdf5 cannot decode the rows");
}
