/* .npz: a ZIP of stored .npy members (PKWARE APPNOTE 6.3.10), all of them dated 1980-01-01 so that equal
 * arrays give equal bytes. Sizes, offsets and counts that do not fit 32 or 16 bits go to ZIP64 records. */
#include "storage/encode/representation.h"

#include <libdeflate.h>
#include <stdlib.h>

enum {
    MAX_NAME = 4096,
    MAX_MEMBERS = 1000000,
    DATE_1980 = 0x21,
    FLAG_UTF8 = 0x800,
    FLAG_DESCRIBED = 8,
    VERSION_PLAIN = 20,
    VERSION_64 = 45
};

struct member {
    char *name; /* with ".npy" */
    uint64_t size, offset;
    uint32_t crc;
    bool described; /* its checksum comes behind it */
};

enum { CRC_AT = 14 /* in a local header */ };

struct hub_npz_writer {
    struct hub_buf *out;
    size_t start;    /* of the ZIP in `out` ... */
    uint64_t before; /* ... but for so many bytes that are gone already */
    bool chunked;
    struct member *members;
    uint32_t count, capacity;
};

enum hub_status hub_npz_writer_begin(struct hub_buf *out, struct hub_npz_writer **npz, struct hub_error *err)
{
    struct hub_npz_writer *z = calloc(1, sizeof(*z));
    HUB_TRY(hub_allocated(z, err));
    z->chunked = !out;
    if (out)
        hub_npz_writer_resume(z, out);
    *npz = z;
    return HUB_OK;
}

void hub_npz_writer_free(struct hub_npz_writer *npz)
{
    if (!npz)
        return;
    for (size_t i = 0; i < npz->count; i++)
        free(npz->members[i].name);
    free(npz->members);
    free(npz);
}

/* A record being put together; the longest fixed part has 56 bytes. */
struct zip_record {
    uint8_t bytes[96];
    size_t size;
};

static void put(struct zip_record *r, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        r->bytes[r->size++] = (uint8_t)(value >> (8 * i));
}

static uint16_t name_flags(const char *name)
{
    for (; *name; name++) {
        if ((uint8_t)*name >= 0x80)
            return FLAG_UTF8;
    }
    return 0;
}

static bool beyond_32(uint64_t value)
{
    return value >= UINT32_MAX;
}

static uint32_t clipped(uint64_t value)
{
    return beyond_32(value) ? UINT32_MAX : (uint32_t)value;
}

/* What the member's two records have in common. */
static void put_member(struct zip_record *r, const struct member *m, unsigned version, size_t extra)
{
    put(r, version, 2);
    put(r, (unsigned)(name_flags(m->name) | (m->described ? FLAG_DESCRIBED : 0)), 2);
    put(r, 0, 2); /* stored */
    put(r, 0, 2);
    put(r, DATE_1980, 2);
    put(r, m->crc, 4);
    put(r, clipped(m->size), 4);
    put(r, clipped(m->size), 4);
    put(r, strlen(m->name), 2);
    put(r, extra, 2);
}

static enum hub_status put_local(const struct hub_npz_writer *z, const struct member *m,
                                 struct hub_error *err)
{
    struct zip_record r = {.size = 0};
    const bool big = beyond_32(m->size);
    put(&r, 0x04034B50, 4);
    put_member(&r, m, big ? VERSION_64 : VERSION_PLAIN, big ? 20 : 0);
    HUB_TRY(hub_buf_add(z->out, r.bytes, r.size, err));
    HUB_TRY(hub_buf_add_text(z->out, m->name, err));
    if (!big)
        return HUB_OK;
    r.size = 0;
    put(&r, 1, 2);
    put(&r, 16, 2);
    put(&r, m->size, 8);
    put(&r, m->size, 8);
    return hub_buf_add(z->out, r.bytes, r.size, err);
}

static enum hub_status put_central(const struct hub_npz_writer *z, const struct member *m,
                                   struct hub_error *err)
{
    struct zip_record r = {.size = 0}, extra = {.size = 0};
    if (beyond_32(m->size)) {
        put(&extra, m->size, 8);
        put(&extra, m->size, 8);
    }
    if (beyond_32(m->offset))
        put(&extra, m->offset, 8);
    const unsigned version = extra.size ? VERSION_64 : VERSION_PLAIN;
    put(&r, 0x02014B50, 4);
    put(&r, 3 << 8 | version, 2); /* made on Unix: the mode below counts */
    put_member(&r, m, version, extra.size ? extra.size + 4 : 0);
    put(&r, 0, 2); /* comment, disk, attributes */
    put(&r, 0, 2);
    put(&r, 0, 2);
    put(&r, 0100644U << 16, 4);
    put(&r, clipped(m->offset), 4);
    HUB_TRY(hub_buf_add(z->out, r.bytes, r.size, err));
    HUB_TRY(hub_buf_add_text(z->out, m->name, err));
    if (!extra.size)
        return HUB_OK;
    r.size = 0;
    put(&r, 1, 2);
    put(&r, extra.size, 2);
    HUB_TRY(hub_buf_add(z->out, r.bytes, r.size, err));
    return hub_buf_add(z->out, extra.bytes, extra.size, err);
}

static void npz_freep(struct hub_npz_writer **npz)
{
    hub_npz_writer_free(*npz);
}

uint64_t hub_npz_writer_at(const struct hub_npz_writer *z)
{
    return z->before + (z->out ? z->out->size - z->start : 0);
}

static enum hub_status put_end(const struct hub_npz_writer *z, uint64_t directory, struct hub_error *err)
{
    struct zip_record r = {.size = 0};
    const uint64_t end = hub_npz_writer_at(z);
    const uint64_t size = end - directory;
    if (z->count >= UINT16_MAX || beyond_32(directory) || beyond_32(size)) {
        put(&r, 0x06064B50, 4); /* ZIP64 end of central directory, and where it is */
        put(&r, 44, 8);
        put(&r, 3 << 8 | VERSION_64, 2);
        put(&r, VERSION_64, 2);
        put(&r, 0, 8);
        put(&r, z->count, 8);
        put(&r, z->count, 8);
        put(&r, size, 8);
        put(&r, directory, 8);
        put(&r, 0x07064B50, 4);
        put(&r, 0, 4);
        put(&r, end, 8);
        put(&r, 1, 4);
        HUB_TRY(hub_buf_add(z->out, r.bytes, r.size, err));
        r.size = 0;
    }
    const uint64_t count = HUB_MIN(z->count, (size_t)UINT16_MAX);
    put(&r, 0x06054B50, 4);
    put(&r, 0, 4);
    put(&r, count, 2);
    put(&r, count, 2);
    put(&r, clipped(size), 4);
    put(&r, clipped(directory), 4);
    put(&r, 0, 2);
    return hub_buf_add(z->out, r.bytes, r.size, err);
}

/* The new member is the last one. */
static enum hub_status remember(struct hub_npz_writer *z, const char *name, struct hub_error *err)
{
    const size_t size = strlen(name);
    if (size == 0 || size > MAX_NAME)
        return hub_fail(err, HUB_INVALID, "an npz member's name has 1 to %d bytes", MAX_NAME);
    if (z->count == MAX_MEMBERS)
        return hub_fail(err, HUB_TOO_BIG, "more than %d arrays in an npz", MAX_MEMBERS);
    HUB_TRY(hub_grow(&z->members, z->count, &z->capacity, sizeof *z->members, err));
    struct member *m = &z->members[z->count];
    *m = (struct member){.name = malloc(size + sizeof(".npy"))};
    HUB_TRY(hub_allocated(m->name, err));
    memcpy(m->name, name, size);
    memcpy(m->name + size, ".npy", sizeof(".npy"));
    z->count++;
    return HUB_OK;
}

void hub_npz_writer_resume(struct hub_npz_writer *z, struct hub_buf *out)
{
    z->out = out;
    z->start = out->size;
}

void hub_npz_writer_pause(struct hub_npz_writer *z)
{
    z->before = hub_npz_writer_at(z);
    z->out = NULL;
}

enum hub_status hub_npz_writer_open_member(struct hub_npz_writer *z, const char *name, uint64_t size,
                                           struct hub_error *err)
{
    HUB_TRY(remember(z, name, err));
    struct member *m = &z->members[z->count - 1];
    m->offset = hub_npz_writer_at(z);
    m->size = size;
    m->described = z->chunked;
    return put_local(z, m, err);
}

void hub_npz_writer_take(struct hub_npz_writer *z, const void *data, size_t size)
{
    struct member *m = &z->members[z->count - 1];
    m->crc = libdeflate_crc32(m->crc, data, size);
}

void hub_npz_writer_skip(struct hub_npz_writer *z, uint64_t size)
{
    z->before += size;
}

enum hub_status hub_npz_writer_close_member(struct hub_npz_writer *z, struct hub_error *err)
{
    const struct member *m = &z->members[z->count - 1];
    const unsigned width = beyond_32(m->size) ? 8 : 4;
    struct zip_record r = {.size = 0};
    if (!m->described) {
        put(&r, m->crc, 4);
        memcpy(z->out->data + z->start + m->offset + CRC_AT, r.bytes, r.size);
        return HUB_OK;
    }
    put(&r, 0x08074B50, 4);
    put(&r, m->crc, 4);
    put(&r, m->size, width);
    put(&r, m->size, width);
    return hub_buf_add(z->out, r.bytes, r.size, err);
}

enum hub_status hub_npz_writer_finish(struct hub_npz_writer *z, struct hub_error *err)
{
    const uint64_t directory = hub_npz_writer_at(z);
    for (size_t i = 0; i < z->count; i++)
        HUB_TRY(put_central(z, &z->members[i], err));
    return put_end(z, directory, err);
}

/* ---- tables: an array a column, one after another ---- */

static enum hub_status begin(struct hub_table_stream *t, struct hub_buf *out, struct hub_error *err)
{
    return hub_npz_writer_begin(t->whole ? out : NULL, &t->zip, err);
}

/* The array of a column, or that of its lengths. */
static enum hub_npy_array array_of(const struct hub_table_stream *t, uint32_t column, bool lengths)
{
    return lengths ? HUB_NPY_LENGTHS : hub_npy_array_of(t->columns[column].type, &t->columns[column].variant);
}

static enum hub_status name_of(const struct hub_table_stream *t, uint32_t column, bool lengths,
                               struct hub_buf *out, struct hub_error *err)
{
    HUB_TRY(hub_buf_addf(out, err, "%s%s", t->columns[column].name, lengths ? "__length" : ""));
    for (uint32_t i = 0; i < t->count && lengths; i++)
        if (strcmp(t->columns[i].name, out->data) == 0)
            return hub_fail_as(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE,
                               "two fields would be named '%.200s' in one npz: request them separately",
                               out->data);
    return HUB_OK;
}

/* Its header is in `header`, and the member is open. */
static enum hub_status open_array(const struct hub_table_stream *t, struct hub_npz_writer *zip,
                                  uint32_t column, bool lengths, struct hub_buf *header,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(64 * KIB);
    const struct hub_stream_column *c = &t->columns[column];
    const enum hub_npy_array as = array_of(t, column, lengths);
    const struct hub_rows shape = {.variant = c->variant,
                                   .rows = hub_table_stream_column_rows(t, column),
                                   .windows = c->windowed ? t->rows : 0};
    HUB_TRY(name_of(t, column, lengths, &name, err));
    HUB_TRY(hub_npy_array_header(as, &shape, c->bare, c->longest, header, err));
    const uint64_t size = header->size + shape.rows * hub_npy_row_bytes(as, &c->variant, c->longest);
    HUB_TRY(hub_npz_writer_open_member(zip, name.data, size, err));
    hub_npz_writer_take(zip, header->data, header->size);
    return HUB_OK;
}

/* All of it, without what the members hold. */
static enum hub_status length(const struct hub_table_stream *t, uint64_t *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf all = HUB_BUF_INIT(16 * MIB), header = HUB_BUF_INIT(4 * KIB);
    HUB_CLEANUP(npz_freep) struct hub_npz_writer *zip = NULL;
    HUB_TRY(hub_npz_writer_begin(NULL, &zip, err));
    hub_npz_writer_resume(zip, &all);
    for (uint32_t i = 0; i < t->count; i++)
        for (int lengths = 0; lengths <= (array_of(t, i, false) == HUB_NPY_BYTES); lengths++) {
            header.size = 0;
            HUB_TRY(open_array(t, zip, i, lengths, &header, err));
            hub_npz_writer_skip(zip, zip->members[zip->count - 1].size);
            HUB_TRY(hub_npz_writer_close_member(zip, err));
        }
    HUB_TRY(hub_npz_writer_finish(zip, err));
    *out = hub_npz_writer_at(zip);
    return HUB_OK;
}

/* Rows of one size are read where they are sent from. */
static enum hub_status add_values(struct hub_table_stream *t, uint64_t most, struct hub_buf *out,
                                  struct hub_error *err)
{
    const uint64_t row = hub_variant_row_bytes(&t->columns[t->column].variant),
                   left = hub_table_stream_column_rows(t, t->column) - t->at;
    HUB_TRY(hub_buf_reserve(out, (size_t)(HUB_MIN(most, left) * row) + 1, err));
    uint8_t *to = (uint8_t *)out->data + out->size;
    HUB_TRY(hub_table_stream_read(t, t->column, most, to, err));
    if (t->part->data != to)
        memcpy(to, t->part->data, t->read_rows * row);
    out->size += t->read_rows * row;
    return HUB_OK;
}

static enum hub_status add_rows(struct hub_table_stream *t, struct hub_buf *out, struct hub_error *err)
{
    const enum hub_npy_array as = array_of(t, t->column, t->lengths);
    const uint64_t most = hub_table_stream_block_rows(t, t->column);
    const size_t from = out->size;
    if (as == HUB_NPY_VALUES) {
        HUB_TRY(add_values(t, most, out, err));
    } else {
        HUB_TRY(hub_table_stream_read(t, t->column, most, NULL, err));
        HUB_TRY(hub_npy_array_rows(as, t->part, t->columns[t->column].longest, out, err));
    }
    hub_npz_writer_take(t->zip, out->data + from, out->size - from);
    t->at += t->read_rows;
    return HUB_OK;
}

static enum hub_status open_column(struct hub_table_stream *t, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf header = HUB_BUF_INIT(4 * KIB);
    HUB_TRY(hub_table_stream_measure(t, t->column, err));
    HUB_TRY(open_array(t, t->zip, t->column, t->lengths, &header, err));
    t->open = true;
    return hub_buf_add_view(out, hub_buf_view(&header), err);
}

static enum hub_status add_column(struct hub_table_stream *t, struct hub_buf *out, struct hub_error *err)
{
    const uint64_t rows = hub_table_stream_column_rows(t, t->column);
    if (t->open && t->at < rows)
        HUB_TRY(add_rows(t, out, err));
    else if (!t->open)
        HUB_TRY(open_column(t, out, err));
    if (t->at < rows)
        return HUB_OK;
    HUB_TRY(hub_npz_writer_close_member(t->zip, err));
    const bool lengths_follow = array_of(t, t->column, t->lengths) == HUB_NPY_BYTES;
    t->open = false;
    t->at = 0;
    if (lengths_follow)
        t->lengths = true;
    else
        hub_table_stream_next_column(t);
    return HUB_OK;
}

static enum hub_status in_chunk(struct hub_table_stream *t, struct hub_buf *out,
                                enum hub_status (*what)(struct hub_table_stream *t, struct hub_buf *out,
                                                        struct hub_error *err),
                                struct hub_error *err)
{
    if (!t->whole)
        hub_npz_writer_resume(t->zip, out);
    const enum hub_status st = what(t, out, err);
    if (!t->whole)
        hub_npz_writer_pause(t->zip);
    return st;
}

static enum hub_status column(struct hub_table_stream *t, struct hub_buf *out, struct hub_error *err)
{
    return in_chunk(t, out, add_column, err);
}

static enum hub_status finish(struct hub_table_stream *t, struct hub_buf *out, struct hub_error *err)
{
    (void)out;
    return hub_npz_writer_finish(t->zip, err);
}

static enum hub_status end(struct hub_table_stream *t, struct hub_buf *out, struct hub_error *err)
{
    return in_chunk(t, out, finish, err);
}

static const struct hub_stream_writer table = {
    .cells = HUB_CELLS_ARRAY, .begin = begin, .column = column, .end = end, .length = length};
const struct hub_writer hub_write_npz = {
    .several = true,
    .memory = hub_encoding_bytes, /* as much again, for a buffer that grows */
    .write = hub_encoding_write_table,
    .table = &table,
};
