/* Reading tar archives: see tar.h. POSIX.1-2001 pax interchange format and the GNU tar manual, "Basic Tar
 * Format". */
#include "storage/io/tar.h"
#include "storage/text/number.h"

enum { BLOCK = HUB_TAR_BLOCK, MAX_PAX = 1024 * 1024 };

/* Field positions of a header block. */
enum {
    NAME = 0,
    NAME_SIZE = 100,
    SIZE = 124,
    MTIME = 136,
    NUMBER_SIZE = 12,
    CHECKSUM = 148,
    CHECKSUM_SIZE = 8,
    TYPE = 156,
    MAGIC = 257,
    PREFIX = 345,
    PREFIX_SIZE = 155
};

void hub_tar_begin(struct hub_tar *tar, hub_tar_read *read, void *user, uint64_t size)
{
    *tar = (struct hub_tar){.read = read, .user = user, .size = size, .name = HUB_BUF_INIT(HUB_TAR_MAX_NAME)};
}

void hub_tar_dispose(struct hub_tar *tar)
{
    hub_buf_dispose(&tar->name);
}

/* Octal digits between spaces and NULs, or GNU's base-256: the first bit set, then a big-endian number. */
static bool number(const uint8_t *field, size_t size, uint64_t *out)
{
    uint64_t n = 0;
    if (field[0] & 0x80) {
        if (field[0] != 0x80)
            return false; /* negative or huge */
        for (size_t i = 1; i < size; i++) {
            if (n >> 55)
                return false;
            n = n << 8 | field[i];
        }
        *out = n;
        return true;
    }
    size_t i = 0;
    while (i < size && field[i] == ' ')
        i++;
    for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
        n = n << 3 | (uint64_t)(field[i] - '0');
    if (i < size && field[i] != ' ' && field[i] != '\0')
        return false;
    *out = n;
    return true;
}

bool hub_tar_is_header(const uint8_t block[512])
{
    uint64_t stated;
    uint64_t sum = 0;
    int64_t signed_sum = 0; /* some old writers summed signed bytes */
    for (size_t i = 0; i < BLOCK; i++) {
        const uint8_t byte = i >= CHECKSUM && i < CHECKSUM + CHECKSUM_SIZE ? ' ' : block[i];
        sum += byte;
        signed_sum += (int8_t)byte;
    }
    return number(block + CHECKSUM, CHECKSUM_SIZE, &stated) &&
           (stated == sum || (int64_t)stated == signed_sum);
}

static bool all_zero(const uint8_t *block)
{
    for (size_t i = 0; i < BLOCK; i++)
        if (block[i])
            return false;
    return true;
}

static uint64_t padded(uint64_t size)
{
    return (size + BLOCK - 1) / BLOCK * BLOCK;
}

static enum hub_status read_body(struct hub_tar *tar, uint64_t offset, uint64_t size, struct hub_buf *out,
                                 struct hub_error *err)
{
    out->size = 0;
    if (size > out->limit)
        return hub_fail(err, HUB_TOO_BIG, "a tar name or header of %llu bytes", (unsigned long long)size);
    size_t got = 0;
    HUB_TRY(hub_buf_reserve(out, (size_t)size, err));
    HUB_TRY(tar->read(tar->user, offset, out->data, (size_t)size, &got, err));
    if (got < size)
        return hub_fail(err, HUB_CORRUPT, "the archive was cut short in the header at %llu",
                        (unsigned long long)tar->at);
    out->size = (size_t)size;
    out->data[size] = '\0';
    return HUB_OK;
}

/* What extension headers said about the member that follows them. */
struct extension {
    bool has_name, has_size, has_mtime, spelled;
    uint64_t size;
    int64_t mtime_ns;
};

/* "-12.5": seconds; digits behind the ninth do not count. */
static bool read_time(struct hub_view text, int64_t *ns)
{
    const bool negative = text.size && text.data[0] == '-';
    const char *point = text.size ? memchr(text.data, '.', text.size) : NULL;
    struct hub_view whole = {text.data + negative, text.size - negative}, rest = {NULL, 0};
    uint64_t seconds = 0, fraction = 0;
    if (point) {
        rest = (struct hub_view){point + 1, (size_t)(text.data + text.size - point - 1)};
        whole.size = (size_t)(point - whole.data);
    }
    if (!hub_number_read(whole, INT64_MAX / 1000000000 - 1, &seconds))
        return false;
    for (size_t i = 0; i < 9; i++) {
        const char digit = i < rest.size ? rest.data[i] : '0';
        if (digit < '0' || digit > '9')
            return false;
        fraction = fraction * 10 + (uint64_t)(digit - '0');
    }
    const int64_t sum = (int64_t)(seconds * 1000000000 + fraction);
    *ns = negative ? -sum : sum;
    return true;
}

static enum hub_status pax_record(struct hub_tar *tar, struct hub_view key, struct hub_view value,
                                  struct extension *ext, struct hub_error *err)
{
    if (hub_view_starts(key, "GNU.sparse."))
        return hub_fail(err, HUB_UNSUPPORTED, "a sparse member");
    if (hub_view_is(key, "size")) {
        if (!hub_number_read(value, INT64_MAX, &ext->size))
            return hub_fail(err, HUB_CORRUPT, "malformed size in a pax header");
        ext->has_size = true;
    } else if (hub_view_is(key, "mtime")) {
        ext->has_mtime = read_time(value, &ext->mtime_ns); /* one that is none is not worth the member */
    } else if (hub_view_is(key, "comment")) {
        ext->spelled = hub_view_is(value, HUB_TAR_SPELLED);
    } else if (hub_view_is(key, "path")) {
        if (memchr(value.data, '\0', value.size))
            return hub_fail(err, HUB_CORRUPT, "a NUL byte in a member's name");
        tar->name.size = 0;
        HUB_TRY(hub_buf_add_view(&tar->name, value, err));
        ext->has_name = true;
    }
    return HUB_OK;
}

/* Records "LENGTH KEY=VALUE\n", LENGTH counting the whole record. */
static enum hub_status pax_header(struct hub_tar *tar, struct hub_view text, struct extension *ext,
                                  struct hub_error *err)
{
    while (text.size) {
        const char *space = memchr(text.data, ' ', text.size);
        uint64_t length = 0;
        const size_t digits = space ? (size_t)(space - text.data) : 0;
        if (!space || !hub_number_read((struct hub_view){text.data, digits}, INT64_MAX, &length) ||
            length > text.size || length < digits + 3 || text.data[length - 1] != '\n')
            return hub_fail(err, HUB_CORRUPT, "malformed pax header");
        const char *key = space + 1, *end = text.data + length - 1;
        const char *equals = memchr(key, '=', (size_t)(end - key));
        if (!equals)
            return hub_fail(err, HUB_CORRUPT, "malformed pax header");
        HUB_TRY(pax_record(tar, (struct hub_view){key, (size_t)(equals - key)},
                           (struct hub_view){equals + 1, (size_t)(end - equals - 1)}, ext, err));
        text = (struct hub_view){text.data + length, text.size - (size_t)length};
    }
    return HUB_OK;
}

static enum hub_status extend(struct hub_tar *tar, uint8_t type, uint64_t body, uint64_t size,
                              struct extension *ext, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MAX_PAX);
    if (type == 'g' || type == 'K')
        return HUB_OK; /* archive-wide comments, link targets */
    if (type == 'x') {
        HUB_TRY(read_body(tar, body, size, &text, err));
        return pax_header(tar, hub_buf_view(&text), ext, err);
    }
    HUB_TRY(read_body(tar, body, size, &tar->name, err));
    tar->name.size = strnlen(tar->name.data, tar->name.size);
    ext->has_name = true;
    return HUB_OK;
}

static enum hub_status header_name(struct hub_tar *tar, const uint8_t *block, struct hub_error *err)
{
    const char *name = (const char *)block + NAME, *prefix = (const char *)block + PREFIX;
    tar->name.size = 0;
    if (memcmp(block + MAGIC, "ustar\0", 6) == 0 && prefix[0]) {
        HUB_TRY(hub_buf_add(&tar->name, prefix, strnlen(prefix, PREFIX_SIZE), err));
        HUB_TRY(hub_buf_add_text(&tar->name, "/", err));
    }
    return hub_buf_add(&tar->name, name, strnlen(name, NAME_SIZE), err);
}

/* 0: it has none that is known. */
static int64_t header_time(const uint8_t *block)
{
    uint64_t seconds = 0;
    const bool good = number(block + MTIME, NUMBER_SIZE, &seconds) && seconds < INT64_MAX / 1000000000;
    return good ? (int64_t)seconds * 1000000000 : 0;
}

static bool is_regular(uint8_t type)
{
    return type == '0' || type == '\0' || type == '7';
}

/* Links, devices and directories have no bytes whatever their header says; unknown types do. */
static bool has_body(uint8_t type)
{
    return type < '1' || type > '6';
}

static enum hub_status next_header(struct hub_tar *tar, uint8_t block[BLOCK], bool *end,
                                   struct hub_error *err)
{
    size_t got = 0;
    *end = true;
    if (tar->at < tar->size)
        HUB_TRY(tar->read(tar->user, tar->at, block, BLOCK, &got, err));
    if (!got) {
        tar->unterminated = true;
        return HUB_OK;
    }
    if (got < BLOCK && tar->beginning)
        return HUB_OK;
    if (got < BLOCK)
        return hub_fail(err, HUB_CORRUPT, "the archive was cut short in the header at %llu",
                        (unsigned long long)tar->at);
    if (all_zero(block)) {
        /* writers pad to records of 10 KiB, some to 32 KiB: more than that is something else */
        tar->trailing = tar->size - tar->at > 64 * KIB;
        return HUB_OK;
    }
    *end = false;
    if (!hub_tar_is_header(block))
        return hub_fail(err, HUB_CORRUPT, "no valid header at %llu", (unsigned long long)tar->at);
    return HUB_OK;
}

enum hub_status hub_tar_next(struct hub_tar *tar, struct hub_tar_member *out, bool *end,
                             struct hub_error *err)
{
    struct extension ext = {0};
    for (;;) {
        uint8_t block[BLOCK];
        uint64_t size = 0;
        HUB_TRY(next_header(tar, block, end, err));
        if (*end)
            return HUB_OK;
        const uint8_t type = block[TYPE];
        const uint64_t body = tar->at + BLOCK;
        const bool extends = type == 'x' || type == 'g' || type == 'L' || type == 'K';
        if (!number(block + SIZE, NUMBER_SIZE, &size))
            return hub_fail(err, HUB_CORRUPT, "malformed size at %llu", (unsigned long long)tar->at);
        if (!extends && ext.has_size)
            size = ext.size;
        if (!extends && !has_body(type))
            size = 0;
        const uint64_t left = tar->size - HUB_MIN(body, tar->size);
        if (size > left && (extends || !tar->beginning))
            return hub_fail(err, HUB_CORRUPT,
                            "the archive was cut short: %llu of %llu bytes of the member at %llu exist",
                            (unsigned long long)left, (unsigned long long)size, (unsigned long long)tar->at);
        tar->at = body + padded(size); /* may pass the end when the last padding is missing */
        if (extends) {
            HUB_TRY(extend(tar, type, body, size, &ext, err));
            continue;
        }
        if (type == 'S')
            return hub_fail(err, HUB_UNSUPPORTED, "a sparse member");
        if (!ext.has_name)
            HUB_TRY(header_name(tar, block, err));
        *out = (struct hub_tar_member){.name = hub_buf_view(&tar->name),
                                       .offset = body,
                                       .size = size,
                                       .regular = is_regular(type),
                                       .type = (char)type,
                                       .mtime_ns = ext.has_mtime ? ext.mtime_ns : header_time(block),
                                       .spelled = ext.spelled};
        return HUB_OK;
    }
}
