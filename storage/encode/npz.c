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

struct hub_npz_writer {
    struct hub_buf *out;
    size_t start;    /* of the ZIP in `out` ... */
    uint64_t before; /* ... but for so many bytes that are gone already */
    struct member *members;
    uint32_t count, capacity;
};

enum hub_status hub_npz_writer_begin(struct hub_buf *out, struct hub_npz_writer **npz, struct hub_error *err)
{
    struct hub_npz_writer *z = calloc(1, sizeof(*z));
    HUB_TRY(hub_allocated(z, err));
    z->out = out;
    z->start = out->size;
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

enum hub_status hub_npz_writer_add(struct hub_npz_writer *npz, const char *name, struct hub_view npy,
                                   struct hub_error *err)
{
    HUB_TRY(remember(npz, name, err));
    struct member *m = &npz->members[npz->count - 1];
    m->offset = hub_npz_writer_at(npz);
    m->size = npy.size;
    m->crc = libdeflate_crc32(0, npy.data, npy.size);
    HUB_TRY(put_local(npz, m, err));
    return hub_buf_add_view(npz->out, npy, err);
}

enum hub_status hub_npz_writer_begin_rows(struct hub_npz_writer *npz, const char *name,
                                          const struct hub_rows *shape, uint64_t bytes, void *room,
                                          struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf header = HUB_BUF_INIT(4 * KIB);
    HUB_TRY(hub_npy_rows_header(shape, false, &header, err));
    HUB_TRY(remember(npz, name, err));
    struct member *m = &npz->members[npz->count - 1];
    m->offset = npz->out->size - npz->start;
    m->size = header.size + bytes;
    HUB_TRY(put_local(npz, m, err));
    HUB_TRY(hub_buf_reserve(npz->out, m->size, err));
    HUB_TRY(hub_buf_add_view(npz->out, hub_buf_view(&header), err));
    *(char **)room = npz->out->data + npz->out->size;
    npz->out->size += bytes;
    return HUB_OK;
}

void hub_npz_writer_end_rows(struct hub_npz_writer *npz)
{
    enum { CRC_AT = 14 }; /* in the local header */
    struct member *m = &npz->members[npz->count - 1];
    struct zip_record crc = {.size = 0};
    m->crc = libdeflate_crc32(0, npz->out->data + npz->out->size - m->size, m->size);
    put(&crc, m->crc, 4);
    memcpy(npz->out->data + npz->start + m->offset + CRC_AT, crc.bytes, crc.size);
}

enum hub_status hub_npz_writer_end(struct hub_npz_writer *npz, struct hub_error *err)
{
    HUB_CLEANUP(npz_freep) struct hub_npz_writer *z = npz;
    return hub_npz_writer_finish(z, err);
}

/* ---- in blocks ---- */

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
    m->described = true;
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

/* ---- the representation ---- */

/* A field of the same answer may have the name of another's lengths. */
static enum hub_status check_name(const struct hub_encoding *e, const char *name, struct hub_error *err)
{
    for (uint32_t i = 0; i < e->count; i++)
        if (strcmp(e->fields[i].name, name) == 0)
            return hub_fail_as(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE,
                               "two fields would be named '%.200s' in one npz: request them separately",
                               name);
    return HUB_OK;
}

/* NAME and NAME__length. */
static enum hub_status write_bytes(struct hub_encoding *e, uint32_t i, struct hub_npz_writer *zip,
                                   struct hub_buf *member, struct hub_error *err)
{
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows rows = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(64 * KIB);
    const struct hub_encoding_field *c = &e->fields[i];
    HUB_TRY(e->read(e, i, NULL, &rows, err));
    HUB_TRY(hub_encode_reserve_padded(e, i, &rows, false, 2, err));
    HUB_TRY(hub_npy_bytes(&rows, c->bare, member, err));
    HUB_TRY(hub_npz_writer_add(zip, c->name, hub_buf_view(member), err));
    member->size = 0;
    HUB_TRY(hub_npy_lengths(&rows, c->bare, member, err));
    HUB_TRY(hub_buf_addf(&name, err, "%s__length", c->name));
    HUB_TRY(check_name(e, name.data, err));
    return hub_npz_writer_add(zip, name.data, hub_buf_view(member), err);
}

static enum hub_status write_field(struct hub_encoding *e, uint32_t i, struct hub_npz_writer *zip,
                                   struct hub_buf *member, struct hub_error *err)
{
    const struct hub_encoding_field *c = &e->fields[i];
    member->size = 0;
    if (hub_encode_as_bytes(c->type, c->plan->variant))
        return write_bytes(e, i, zip, member, err);
    HUB_TRY(hub_npy_field(e, i, 2, member, err));
    return hub_npz_writer_add(zip, c->name, hub_buf_view(member), err);
}

static enum hub_status write_npz(struct hub_encoding *e, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf member = HUB_BUF_INIT(out->limit);
    struct hub_npz_writer *zip = NULL;
    HUB_TRY(hub_npz_writer_begin(out, &zip, err));
    enum hub_status st = HUB_OK;
    for (uint32_t i = 0; i < e->count && !st; i++)
        st = write_field(e, i, zip, &member, err);
    if (!st)
        return hub_npz_writer_end(zip, err);
    hub_npz_writer_free(zip);
    return st;
}

const struct hub_writer hub_write_npz = {
    .several = true,
    .memory = hub_encoding_bytes, /* a member, and its copy in the archive */
    .write = write_npz,
};
