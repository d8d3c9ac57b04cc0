/*
 * What a dataset's header says about its rows: extent, type, storage, filters, fill value. Whatever is
 * refused is refused by name here, so that the field can be listed with the reason: external and virtual
 * storage, too many dimensions, chunks over the limit, types without a word in the catalogue.
 */
#include "storage/formats/hdf5/h5_parse.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_DATASET_BYTES (UINT64_C(1) << 42)

static HUB_PRINTF(2, 3) void refuse(struct hub_h5_dataset *d, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (!d->unreadable[0])
        vsnprintf(d->unreadable, sizeof d->unreadable, fmt, args);
    va_end(args);
}

static enum hub_status read_space(struct hub_h5 *file, const struct hub_h5_object *o,
                                  struct hub_h5_dataset *d, struct hub_error *err)
{
    const struct hub_h5_message *m = h5_find(o, H5_MSG_SPACE);
    if (!m || m->flags & 2)
        return hub_fail(err, m ? HUB_UNSUPPORTED : HUB_CORRUPT,
                        m ? "a shared dataspace" : "a dataset without a dataspace");
    struct hub_cursor c = h5_body(o, m);
    HUB_TRY(h5_space_parse(file, &c, &d->rank, d->dims, d->max_dims, err));
    d->rows = d->rank == HUB_NONE ? 0 : d->rank == 0 ? 1 : d->dims[0];
    return HUB_OK;
}

/* The bytes of the datatype: in the header, or a copy of a shared one in `shared`. */
static enum hub_status find_type(struct hub_h5 *file, const struct hub_h5_object *o, struct hub_buf *shared,
                                 struct hub_cursor *c, struct hub_error *err)
{
    const struct hub_h5_message *m = h5_find(o, H5_MSG_TYPE);
    if (!m)
        return hub_fail(err, HUB_CORRUPT, "a dataset without a datatype");
    *c = h5_body(o, m);
    if (m->flags & 2) {
        HUB_TRY(h5_shared_type(file, c, shared, err));
        *c = hub_cursor_of(shared->data, shared->size);
    }
    return HUB_OK;
}

static enum hub_status read_type(struct hub_h5 *file, const struct hub_h5_object *o, struct hub_h5_dataset *d,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf shared = HUB_BUF_INIT(H5_MAX_HEADER);
    struct hub_cursor c;
    HUB_TRY(find_type(file, o, &shared, &c, err));
    HUB_TRY(h5_type_parse(&c, &d->type, err));
    d->element = d->type.size;
    return HUB_OK;
}

/* The row: trailing dimensions of the dataspace, then those of an array type. */
static void make_variant(struct hub_h5_dataset *d)
{
    const uint32_t outer = d->rank == HUB_NONE || d->rank == 0 ? 0 : d->rank - 1;
    const struct hub_variant *item = &d->type.variant;
    struct hub_variant v = *item;
    d->variant = v;
    if (d->type.unreadable[0])
        refuse(d, "%s", d->type.unreadable);
    if (d->unreadable[0])
        return;
    if (item->kind == HUB_KIND_VAR) {
        for (uint32_t i = 0; i < outer; i++)
            if (d->dims[i + 1] != 1)
                refuse(d, "variable-length items in %u dimensions", d->rank);
        return;
    }
    if (outer + item->rank > HUB_MAX_RANK) {
        refuse(d, "%u dimensions, more than %d", outer + item->rank, HUB_MAX_RANK);
        return;
    }
    for (uint32_t i = 0; i < outer; i++) {
        if (d->dims[i + 1] > UINT32_MAX) {
            refuse(d, "dimension %u has %" PRIu64 " elements", i + 1, d->dims[i + 1]);
            return;
        }
        v.dims[i] = (uint32_t)d->dims[i + 1];
    }
    memcpy(v.dims + outer, item->dims, item->rank * sizeof *v.dims);
    v.rank = (uint8_t)(outer + item->rank);
    const uint64_t row = hub_variant_valid(&v) ? hub_variant_row_bytes(&v) : UINT64_MAX;
    if (row == UINT64_MAX)
        refuse(d, "rows of more than 1 GiB");
    else if (row && d->rows > MAX_DATASET_BYTES / row)
        refuse(d, "%" PRIu64 " rows of %" PRIu64 " bytes", d->rows, row);
    d->variant = v;
}

static enum hub_status check_chunk(struct hub_h5_dataset *d, uint32_t rank, const uint64_t *dims,
                                   uint64_t item, struct hub_error *err)
{
    if (rank != d->rank || rank == 0)
        return hub_fail(err, HUB_CORRUPT, "chunks of %u dimensions in a dataset of %u", rank, d->rank);
    if (item != d->element)
        return hub_fail(err, HUB_CORRUPT, "chunks of %" PRIu64 "-byte items in a dataset of %u bytes", item,
                        d->element);
    uint64_t bytes = item;
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] == 0 || dims[i] > UINT32_MAX)
            return hub_fail(err, HUB_CORRUPT, "a chunk of %" PRIu64 " elements along axis %u", dims[i], i);
        d->chunk[i] = (uint32_t)dims[i];
        if (bytes <= HUB_MAX_CHUNK_BYTES)
            bytes *= dims[i];
    }
    d->chunk_bytes = bytes;
    if (bytes > HUB_MAX_CHUNK_BYTES)
        refuse(d, "chunks of more than %zu MiB", HUB_MAX_CHUNK_BYTES / MIB);
    return HUB_OK;
}

static enum hub_status read_chunked(struct hub_h5 *file, struct hub_cursor *c, uint8_t version,
                                    struct hub_h5_dataset *d, struct hub_error *err)
{
    uint64_t dims[HUB_MAX_RANK + 1] = {0};
    /* 5 differs from 4 in the width of sizes in the index, which tells it */
    const bool indexed = version >= 4;
    d->layout_flags = indexed ? hub_cursor_u8(c) : 0;
    const uint8_t rank = hub_cursor_u8(c);
    if (!indexed)
        d->data = h5_offset(file, c);
    const unsigned width = indexed ? hub_cursor_u8(c) : 4;
    if (rank < 2 || rank > HUB_MAX_RANK + 1)
        return hub_fail(err, HUB_CORRUPT, "chunks of %d dimensions", rank - 1);
    for (unsigned i = 0; i < rank; i++)
        dims[i] = hub_cursor_uint(c, width);
    if (indexed) {
        static const uint8_t creation[] = {0, 0, 0, 1, 5, 6}; /* bytes of creation parameters by index type */
        d->index = hub_cursor_u8(c);
        if (d->index < 1 || d->index > 5)
            return hub_fail(err, HUB_CORRUPT, "chunk index of kind %u", d->index);
        if (d->index == 1 && d->layout_flags & 2) {
            d->single_size = h5_length(file, c);
            d->single_mask = hub_cursor_u32(c);
        }
        hub_cursor_skip(c, creation[d->index]);
        d->data = h5_offset(file, c);
    }
    if (c->failed)
        return hub_fail(err, HUB_CORRUPT, "a layout message is cut short");
    return check_chunk(d, rank - 1u, dims, dims[rank - 1], err);
}

/* Versions 1 and 2, before HDF5 1.6.3: rank u8, class u8, 5 zeros, [address], u32 along each axis and, of
 * chunks, the bytes of an element; compact: bytes u32 and they themselves */
static enum hub_status read_old_layout(struct hub_h5 *file, struct hub_cursor *c, struct hub_h5_dataset *d,
                                       struct hub_error *err)
{
    uint64_t dims[32] = {0};
    const uint8_t rank = hub_cursor_u8(c), class = hub_cursor_u8(c);
    hub_cursor_skip(c, 5);
    if (class > 2 || rank > HUB_COUNT(dims))
        return hub_fail(err, HUB_CORRUPT, "layout of class %u and %u dimensions", class, rank);
    d->storage = class == 0 ? HUB_H5_COMPACT : class == 1 ? HUB_H5_CONTIGUOUS : HUB_H5_CHUNKED;
    if (class)
        d->data = h5_offset(file, c);
    for (unsigned i = 0; i < rank; i++)
        dims[i] = hub_cursor_u32(c);
    if (class == 0) {
        d->compact.size = hub_cursor_u32(c);
        d->compact.data = (const char *)hub_cursor_bytes(c, d->compact.size);
    }
    if (c->failed)
        return hub_fail(err, HUB_CORRUPT, "a layout message is cut short");
    if (class != 2)
        return HUB_OK;
    if (rank < 2 || rank > HUB_MAX_RANK + 1)
        return hub_fail(err, HUB_CORRUPT, "chunks of %d dimensions", rank - 1);
    return check_chunk(d, rank - 1u, dims, dims[rank - 1], err);
}

static enum hub_status read_layout(struct hub_h5 *file, const struct hub_h5_object *o,
                                   struct hub_h5_dataset *d, struct hub_error *err)
{
    const struct hub_h5_message *m = h5_find(o, H5_MSG_LAYOUT);
    struct hub_cursor c = h5_body(o, m);
    const uint8_t version = hub_cursor_u8(&c);
    if (version == 1 || version == 2)
        return read_old_layout(file, &c, d, err);
    if (version < 3 || version > 5) {
        refuse(d, "layout message of version %u: convert the file by h5repack of HDF5 1.14", version);
        return HUB_OK;
    }
    const uint8_t class = hub_cursor_u8(&c);
    switch (class) {
    case 0:
        d->storage = HUB_H5_COMPACT;
        d->compact.size = hub_cursor_u16(&c);
        d->compact.data = (const char *)hub_cursor_bytes(&c, d->compact.size);
        break;
    case 1:
        d->storage = HUB_H5_CONTIGUOUS;
        d->data = h5_offset(file, &c);
        break;
    case 2:
        d->storage = HUB_H5_CHUNKED;
        return read_chunked(file, &c, version, d, err);
    case 3:
        refuse(d, "virtual dataset");
        return HUB_OK;
    default:
        return hub_fail(err, HUB_CORRUPT, "layout of class %u", class);
    }
    return c.failed ? hub_fail(err, HUB_CORRUPT, "a layout message is cut short") : HUB_OK;
}

static const char *filter_title(uint32_t id)
{
    static const struct {
        uint32_t id;
        const char *title;
    } known[] = {{4, "szip"},    {5, "nbit"},       {6, "scaleoffset"}, {305, "lzo"},
                 {307, "bzip2"}, {32001, "blosc"},  {32004, "lz4"},     {32008, "bitshuffle"},
                 {32013, "zfp"}, {32015, "zstd"},   {32017, "sz"},      {32019, "jpeg"},
                 {32024, "sz3"}, {32026, "blosc2"}, {32028, "ffmpeg"}};
    for (size_t i = 0; i < HUB_COUNT(known); i++)
        if (known[i].id == id)
            return known[i].title;
    return NULL;
}

/* The first parameters of a filter; those that are not stored are 0. */
enum { MOST_VALUES = 5 };

/* Bitshuffle's are its version (two), the element's bytes, elements of a block and the compressor. */
static struct hub_filter filter_of(const struct hub_h5_dataset *d, uint32_t id,
                                   const uint32_t values[MOST_VALUES])
{
    const bool bits = id == HUB_FILTER_BITSHUFFLE && values[4] < UINT16_MAX;
    const struct hub_filter f = {bits ? id | values[4] << 16 : id, values[bits ? 2 : 0]};
    const struct hub_filter_kind *kind = hub_filter_find(f.id);
    return (struct hub_filter){f.id, !kind || !kind->by_element ? 0 : f.param ? f.param : d->element};
}

static void take_filter(struct hub_h5_dataset *d, uint32_t id, const uint32_t values[MOST_VALUES])
{
    const uint32_t i = d->pipeline.count++;
    struct hub_filter *f = &d->pipeline.filters[i];
    *f = filter_of(d, id, values);
    const struct hub_filter_kind *kind = hub_filter_find(f->id);
    if (kind && kind->by_element && (f->param == 0 || f->param > HUB_MAX_CHUNK_BYTES))
        refuse(d, "shuffle of %u-byte elements", f->param);
    if (f->id == HUB_FILTER_BITSHUFFLE && values[3])
        refuse(d, "bitshuffle in blocks of %u elements, not compressed", values[3]);
    if (kind)
        return;
    *f = (struct hub_filter){0};
    d->unknown_filters |= 1u << i;
    d->library = true; /* undone below when any is not the library's own */
    const char *title = filter_title(id);
    if (!d->filter_name[0])
        snprintf(d->filter_name, sizeof d->filter_name, title ? "filter %u (%s)" : "filter %u", id, title);
}

/*
 * version 1: count, 6 zeros, then id, name bytes, flags, values (u16 each), name padded to 8, values u32,
 * padded
 *            to an even number
 * version 2: count, then id, [name bytes if id >= 256], flags, values, name, values
 */
static enum hub_status read_filters(const struct hub_h5_object *o, struct hub_h5_dataset *d,
                                    struct hub_error *err)
{
    const struct hub_h5_message *m = h5_find(o, H5_MSG_FILTERS);
    if (!m)
        return HUB_OK;
    if (m->flags & 2)
        return hub_fail(err, HUB_UNSUPPORTED, "a shared filter pipeline");
    struct hub_cursor c = h5_body(o, m);
    const uint8_t version = hub_cursor_u8(&c), count = hub_cursor_u8(&c);
    if (version != 1 && version != 2)
        return hub_fail(err, HUB_CORRUPT, "filter pipeline of version %u", version);
    if (count > HUB_MAX_FILTERS) {
        refuse(d, "%u filters, more than %d", count, HUB_MAX_FILTERS);
        return HUB_OK;
    }
    if (version == 1)
        hub_cursor_skip(&c, 6);
    bool foreign = false;
    for (unsigned i = 0; i < count; i++) {
        const uint16_t id = hub_cursor_u16(&c), name = version == 1 || id >= 256 ? hub_cursor_u16(&c) : 0;
        hub_cursor_skip(&c, 2);
        const uint16_t values = hub_cursor_u16(&c);
        hub_cursor_skip(&c, version == 1 ? (name + 7u) / 8 * 8 : name);
        uint32_t first[MOST_VALUES] = {0};
        for (unsigned k = 0; k < values && !c.failed; k++) {
            const uint32_t value = hub_cursor_u32(&c);
            if (k < MOST_VALUES)
                first[k] = value;
        }
        if (version == 1 && values % 2)
            hub_cursor_skip(&c, 4);
        take_filter(d, id, first);
        foreign |= id > 6 && id != HUB_FILTER_LZF;
    }
    if (foreign || d->storage != HUB_H5_CHUNKED)
        d->library = false;
    return c.failed ? hub_fail(err, HUB_CORRUPT, "a filter pipeline is cut short") : HUB_OK;
}

/* Version 3 packs times and "defined" into one byte. */
static enum hub_status read_fill(const struct hub_h5_object *o, struct hub_h5_dataset *d,
                                 struct hub_error *err)
{
    const struct hub_h5_message *m = h5_find(o, H5_MSG_FILL);
    const bool old = !m;
    if (!m)
        m = h5_find(o, H5_MSG_FILL_OLD);
    if (!m || m->flags & 2)
        return HUB_OK;
    struct hub_cursor c = h5_body(o, m);
    uint32_t size = 0;
    if (old) {
        size = hub_cursor_u32(&c);
    } else {
        const uint8_t version = hub_cursor_u8(&c), flags = hub_cursor_u8(&c);
        if (version < 3)
            hub_cursor_skip(&c, 1);
        const uint8_t defined = version < 3 ? hub_cursor_u8(&c) : flags & 0x20;
        size = defined || version == 1 ? hub_cursor_u32(&c) : 0;
    }
    const uint8_t *bytes = size && size < INT32_MAX ? hub_cursor_bytes(&c, size) : NULL;
    if (c.failed)
        return hub_fail(err, HUB_CORRUPT, "a fill value is cut short");
    if (bytes && size == d->element)
        d->fill = (struct hub_view){(const char *)bytes, size};
    return HUB_OK;
}

enum hub_status hub_h5_dataset(struct hub_h5 *file, const struct hub_h5_object *object,
                               struct hub_h5_dataset *out, struct hub_error *err)
{
    if (object->kind != HUB_H5_DATASET)
        return hub_fail(err, HUB_CORRUPT, "the object at address %" PRIu64 " is not a dataset",
                        object->address);
    *out = (struct hub_h5_dataset){.address = object->address, .data = H5_UNDEFINED};
    HUB_TRY(read_space(file, object, out, err));
    HUB_TRY(read_type(file, object, out, err));
    if (!hub_h5_has_members(out))
        make_variant(out);
    HUB_TRY(read_layout(file, object, out, err));
    HUB_TRY(read_filters(object, out, err));
    HUB_TRY(read_fill(object, out, err));
    if (h5_find(object, H5_MSG_EXTERNAL))
        refuse(out, "external raw storage");
    if (out->type.convert)
        out->library = true;
    if (hub_h5_has_members(out))
        refuse(out, "%s", out->type.unreadable); /* as it is: each member is readable on its own */
    return HUB_OK;
}

/* ---- members of compounds ---- */

static bool is_nested(const struct hub_h5_type *type)
{
    return type->class == HUB_H5_COMPOUND && type->variant.kind != HUB_KIND_COMPLEX;
}

bool hub_h5_has_members(const struct hub_h5_dataset *dataset)
{
    return is_nested(&dataset->type);
}

struct members {
    const struct hub_h5_dataset *whole;
    hub_h5_member_fn fn;
    void *user;
    struct hub_buf path;
    uint32_t at; /* of the compound whose members are walked */
};

static void make_member(const struct hub_h5_dataset *whole, uint32_t at, const struct hub_h5_type *type,
                        struct hub_h5_dataset *out)
{
    *out = *whole;
    out->at = at;
    out->type = *type;
    out->fill = whole->fill.size ? (struct hub_view){whole->fill.data + at, type->size} : whole->fill;
    /* what is wrong with the whole is wrong with each member, but for its being a compound */
    if (strcmp(out->unreadable, whole->type.unreadable) == 0)
        out->unreadable[0] = '\0';
    make_variant(out);
    if (!out->unreadable[0] && !hub_variant_valid(&type->variant))
        refuse(out, "elements of %u bytes", type->size);
    if (whole->library || type->convert)
        refuse(out, "a member of a compound that only libhdf5 decodes");
}

static enum hub_status take_member(void *user, const struct h5_member *member, struct hub_error *err)
{
    struct members *w = user;
    struct hub_h5_dataset d;
    const size_t before = w->path.size;
    const uint32_t outer = w->at;
    if (before)
        HUB_TRY(hub_buf_add_text(&w->path, "/", err));
    HUB_TRY(hub_buf_add_view(&w->path, member->name, err));
    enum hub_status st;
    if (is_nested(&member->type)) {
        struct hub_cursor c = member->bytes;
        w->at = outer + member->at;
        st = h5_type_members(&c, take_member, w, err);
        w->at = outer;
    } else {
        make_member(w->whole, outer + member->at, &member->type, &d);
        st = w->fn(w->user, hub_buf_view(&w->path), &d, err);
    }
    w->path.size = before;
    return st;
}

enum hub_status hub_h5_members(struct hub_h5 *file, const struct hub_h5_object *object,
                               const struct hub_h5_dataset *dataset, hub_h5_member_fn fn, void *user,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf shared = HUB_BUF_INIT(H5_MAX_HEADER);
    struct members w = {.whole = dataset, .fn = fn, .user = user, .path = HUB_BUF_INIT((size_t)HUB_MAX_PATH)};
    struct hub_cursor c;
    HUB_TRY(find_type(file, object, &shared, &c, err));
    const enum hub_status st = h5_type_members(&c, take_member, &w, err);
    hub_buf_dispose(&w.path);
    return st;
}
