/* Zip archives: see zip.h. The directory at the end is read whole; of each member's local header its name,
 * which has to be the directory's, and the length of its extra field, which may be another one. */
#include "storage/formats/zip.h"

#include "storage/base/cursor.h"
#include "storage/formats/unpack.h"

#include <libdeflate.h>
#include <stdlib.h>

#define MAX_DIRECTORY (64 * MIB)

enum {
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR_BYTES = 20,
    ENTRY_BYTES = 46,
    LOCAL_BYTES = 30,
    MAX_COMMENT = 65535,
    FLAG_ENCRYPTED = 1,
    CHECK_BYTES = MIB, /* read at once where a checksum is compared */
};

static const uint32_t ENTRY = 0x02014b50, LOCAL = 0x04034b50, END = 0x06054b50, END64 = 0x06064b50,
                      LOCATOR = 0x07064b50;

bool hub_zip_is(const uint8_t *head, size_t size)
{
    struct hub_cursor c = hub_cursor_of(head, size);
    const uint32_t magic = hub_cursor_u32(&c);
    return magic == LOCAL || magic == END;
}

/* ---- the directory ---- */

struct directory {
    uint64_t offset, size, count, end; /* end: where it must end in the file */
};

/* The last end record; what follows it and its comment is nobody's. */
static enum hub_status find_end(struct hub_byte_source *s, struct hub_buf *tail, struct directory *d,
                                struct hub_error *err)
{
    const size_t size = (size_t)HUB_MIN(s->size, END_BYTES + MAX_COMMENT);
    HUB_TRY(hub_buf_reserve(tail, size, err));
    HUB_TRY(hub_byte_source_read(s, s->size - size, tail->data, size, err));
    for (size_t at = size < END_BYTES ? SIZE_MAX : size - END_BYTES; at != SIZE_MAX; at--) {
        struct hub_cursor c = hub_cursor_of(tail->data + at, size - at);
        if (hub_cursor_u32(&c) != END)
            continue;
        const uint32_t disks = hub_cursor_u32(&c);
        hub_cursor_u16(&c);
        d->count = hub_cursor_u16(&c);
        d->size = hub_cursor_u32(&c);
        d->offset = hub_cursor_u32(&c);
        if (hub_cursor_u16(&c) > hub_cursor_left(&c))
            continue;
        d->end = s->size - size + at;
        return disks ? hub_fail(err, HUB_UNSUPPORTED, "an archive of several disks") : HUB_OK;
    }
    return hub_fail(err, HUB_CORRUPT, "there is no directory at the end of the archive: it is cut short");
}

static bool is_end64(struct hub_byte_source *s, uint64_t at)
{
    uint8_t bytes[4];
    if (hub_byte_source_read(s, at, bytes, sizeof bytes, NULL))
        return false;
    struct hub_cursor c = hub_cursor_of(bytes, sizeof bytes);
    return hub_cursor_u32(&c) == END64;
}

/* The larger numbers of zip64, where there are any. */
static enum hub_status find_end64(struct hub_byte_source *s, struct directory *d, struct hub_error *err)
{
    uint8_t bytes[END64_BYTES];
    if (d->end < LOCATOR_BYTES)
        return HUB_OK;
    HUB_TRY(hub_byte_source_read(s, d->end - LOCATOR_BYTES, bytes, LOCATOR_BYTES, err));
    struct hub_cursor c = hub_cursor_of(bytes, LOCATOR_BYTES);
    if (hub_cursor_u32(&c) != LOCATOR)
        return HUB_OK;
    hub_cursor_u32(&c);
    uint64_t at = hub_cursor_u64(&c);
    if (!is_end64(s, at) && d->end >= LOCATOR_BYTES + END64_BYTES)
        at = d->end - LOCATOR_BYTES - END64_BYTES; /* there are bytes in front of the archive */
    if (!is_end64(s, at))
        return hub_fail(err, HUB_CORRUPT, "the zip64 record is missing");
    HUB_TRY(hub_byte_source_read(s, at, bytes, END64_BYTES, err));
    c = hub_cursor_of(bytes, END64_BYTES);
    hub_cursor_u32(&c);
    hub_cursor_skip(&c, 28);
    d->count = hub_cursor_u64(&c);
    d->size = hub_cursor_u64(&c);
    d->offset = hub_cursor_u64(&c);
    d->end = at;
    return HUB_OK;
}

/* Sizes and offset that do not fit into 32 bits stand in an extra field, in this order. */
static void read_zip64(struct hub_cursor extra, struct hub_zip_member *m)
{
    while (!extra.failed && hub_cursor_left(&extra) >= 4) {
        const uint16_t id = hub_cursor_u16(&extra), size = hub_cursor_u16(&extra);
        const uint8_t *data = hub_cursor_bytes(&extra, size);
        if (id != 1 || !data)
            continue;
        struct hub_cursor c = hub_cursor_of(data, size);
        m->size = m->size == UINT32_MAX ? hub_cursor_u64(&c) : m->size;
        m->stored = m->stored == UINT32_MAX ? hub_cursor_u64(&c) : m->stored;
        m->header = m->header == UINT32_MAX ? hub_cursor_u64(&c) : m->header;
    }
}

static bool read_entry(struct hub_cursor *c, struct hub_zip_member *m)
{
    const bool entry = hub_cursor_u32(c) == ENTRY;
    hub_cursor_skip(c, 4);
    m->flags = hub_cursor_u16(c);
    m->method = hub_cursor_u16(c);
    hub_cursor_skip(c, 4);
    m->crc = hub_cursor_u32(c);
    m->stored = hub_cursor_u32(c);
    m->size = hub_cursor_u32(c);
    const uint16_t name = hub_cursor_u16(c), extra = hub_cursor_u16(c), comment = hub_cursor_u16(c);
    hub_cursor_skip(c, 8);
    m->header = hub_cursor_u32(c);
    const uint8_t *text = hub_cursor_bytes(c, name), *more = hub_cursor_bytes(c, extra);
    hub_cursor_skip(c, comment);
    if (!entry || c->failed)
        return false;
    m->name = (struct hub_view){(const char *)text, name};
    read_zip64(hub_cursor_of(more, extra), m);
    return true;
}

enum hub_status hub_zip_read(struct hub_zip *zip, struct hub_byte_source *source, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf tail = HUB_BUF_INIT(END_BYTES + MAX_COMMENT);
    struct directory d = {0};
    zip->source = source;
    zip->text.limit = MAX_DIRECTORY;
    HUB_TRY(find_end(source, &tail, &d, err));
    HUB_TRY(find_end64(source, &d, err));
    if (d.size > d.end || d.count > d.size / ENTRY_BYTES)
        return hub_fail(err, HUB_CORRUPT, "a directory of %llu members in %llu bytes",
                        (unsigned long long)d.count, (unsigned long long)d.size);
    /* bytes in front of the archive; wraps where it lies */
    const uint64_t before = d.end - d.size - d.offset;
    HUB_TRY(hub_buf_reserve(&zip->text, (size_t)d.size, err));
    HUB_TRY(hub_byte_source_read(source, d.end - d.size, zip->text.data, (size_t)d.size, err));
    HUB_TRY(hub_new(&zip->members, (size_t)d.count + 1, sizeof *zip->members, err));
    struct hub_cursor c = hub_cursor_of(zip->text.data, (size_t)d.size);
    for (; zip->count < d.count; zip->count++) {
        if (!read_entry(&c, &zip->members[zip->count]))
            return hub_fail(err, HUB_CORRUPT, "a damaged directory: entry %u", zip->count);
        zip->members[zip->count].header += before;
    }
    return HUB_OK;
}

/* ---- a member ---- */

/* A header of another name stands in front of another member, or of none. */
static enum hub_status check_name(struct hub_zip *zip, const struct hub_zip_member *m, uint32_t size,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *name = malloc((size_t)size + 1);
    HUB_TRY(hub_allocated(name, err));
    HUB_TRY(hub_byte_source_read(zip->source, m->header + LOCAL_BYTES, name, size, err));
    return hub_view_equal(m->name, (struct hub_view){name, size})
               ? HUB_OK
               : hub_fail(err, HUB_CORRUPT, "its header and the directory differ in its name");
}

enum hub_status hub_zip_find(struct hub_zip *zip, const struct hub_zip_member *m, uint64_t *offset,
                             struct hub_error *err)
{
    uint8_t bytes[LOCAL_BYTES];
    if (m->flags & FLAG_ENCRYPTED)
        return hub_fail(err, HUB_UNSUPPORTED, "encrypted");
    if (m->method != HUB_ZIP_STORED && m->method != HUB_ZIP_DEFLATED)
        return hub_fail(err, HUB_UNSUPPORTED, "compressed by method %u, which numpy does not write",
                        m->method);
    HUB_TRY(hub_byte_source_read(zip->source, m->header, bytes, sizeof bytes, err));
    struct hub_cursor c = hub_cursor_of(bytes, sizeof bytes);
    if (hub_cursor_u32(&c) != LOCAL)
        return hub_fail(err, HUB_CORRUPT, "the directory points elsewhere");
    hub_cursor_skip(&c, 22);
    const uint32_t name = hub_cursor_u16(&c), extra = hub_cursor_u16(&c);
    *offset = m->header + LOCAL_BYTES + name + extra;
    if (*offset > zip->source->size || m->stored > zip->source->size - *offset)
        return hub_fail(err, HUB_CORRUPT, "%llu bytes that reach beyond the file",
                        (unsigned long long)m->stored);
    if (m->method == HUB_ZIP_STORED && m->stored != m->size)
        return hub_fail(err, HUB_CORRUPT, "stored without compression, but %llu bytes are %llu",
                        (unsigned long long)m->size, (unsigned long long)m->stored);
    return check_name(zip, m, name, err);
}

enum hub_status hub_zip_check(struct hub_byte_source *source, const struct hub_zip_member *m, uint64_t offset,
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint8_t *bytes = malloc(CHECK_BYTES);
    const struct hub_files *files = source->files; /* NULL: in memory */
    uint32_t crc = 0;
    HUB_TRY(hub_allocated(bytes, err));
    for (uint64_t done = 0, n; done < m->stored; done += n) {
        if (files && !hub_files_may_check(files))
            return hub_fail(err, HUB_TIMEOUT, "there is no time left to check its checksum");
        n = HUB_MIN(m->stored - done, (uint64_t)CHECK_BYTES);
        HUB_TRY(hub_byte_source_read(source, offset + done, bytes, (size_t)n, err));
        crc = libdeflate_crc32(crc, bytes, (size_t)n);
    }
    return crc == m->crc ? HUB_OK : hub_fail(err, HUB_CORRUPT, "damaged: its CRC-32 is wrong");
}

enum hub_status hub_zip_unpack(struct hub_zip *zip, const struct hub_zip_member *m, struct hub_files *files,
                               uint64_t *offset, struct hub_buf *head, struct hub_error *err)
{
    struct hub_packed packed = {.source = zip->source, .size = m->stored, .packing = HUB_PACKED_DEFLATE};
    struct hub_inflated out;
    HUB_TRY(hub_zip_find(zip, m, &packed.offset, err));
    if (m->size > files->side_budget - HUB_MIN(files->side_size, files->side_budget))
        return hub_fail(err, HUB_TOO_BIG, "side-file budget: %llu bytes when unpacked",
                        (unsigned long long)m->size);
    HUB_TRY(hub_unpack(&packed, files, head, &out, err));
    if (out.size != m->size || out.crc != m->crc)
        return hub_fail(err, HUB_CORRUPT, "wrong checksum or length after unpacking");
    *offset = out.offset;
    return HUB_OK;
}

void hub_zip_dispose(struct hub_zip *zip)
{
    hub_buf_dispose(&zip->text);
    free(zip->members);
}
