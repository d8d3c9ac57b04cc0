/* Headers of tar members: see tar.h. */
#include "storage/io/tar.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME_BYTES = 100, MAX_OCTAL_BITS = 33 };

/* A header block as POSIX has it; what is not named here is zero. */
struct tar_header {
    char name[NAME_BYTES], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, linked[100];
    char magic[8]; /* "ustar", a NUL, "00" */
    char rest[247];
};
_Static_assert(sizeof(struct tar_header) == HUB_TAR_BLOCK, "one block");

static enum hub_status put_block(const char *name, char type, uint64_t size, uint64_t mtime_s,
                                 struct hub_buf *out, struct hub_error *err)
{
    struct tar_header b = {.type = type};
    unsigned sum = 0;
    memcpy(b.name, name, strnlen(name, sizeof b.name));
    memcpy(b.mode, "0000644", 7);
    memcpy(b.uid, "0000000", 7);
    memcpy(b.gid, "0000000", 7);
    snprintf(b.size, sizeof b.size, "%011" PRIo64, size);
    snprintf(b.mtime, sizeof b.mtime, "%011" PRIo64, mtime_s);
    memcpy(b.magic,
           "ustar\0"
           "00",
           8);
    memset(b.checksum, ' ', sizeof b.checksum);
    for (size_t i = 0; i < sizeof b; i++)
        sum += ((const uint8_t *)&b)[i];
    snprintf(b.checksum, sizeof b.checksum, "%06o", sum);
    return hub_buf_add(out, &b, sizeof b, err);
}

/* "LENGTH KEY=VALUE\n"; the length counts its own digits. */
static enum hub_status put_record(struct hub_buf *out, const char *key, const char *value,
                                  struct hub_error *err)
{
    const size_t rest = strlen(key) + strlen(value) + 3;
    size_t length = rest + 1;
    for (int digits; (digits = snprintf(NULL, 0, "%zu", length)) > 0 && rest + (size_t)digits != length;)
        length = rest + (size_t)digits;
    return hub_buf_addf(out, err, "%zu %s=%s\n", length, key, value);
}

static bool is_ascii(const char *text)
{
    while (*text > 0)
        text++;
    return !*text;
}

static enum hub_status put_time(struct hub_buf *out, int64_t ns, struct hub_error *err)
{
    const uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    char text[40];
    snprintf(text, sizeof text, "%s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "", size / 1000000000,
             size % 1000000000);
    return put_record(out, "mtime", text, err);
}

static uint64_t seconds(const struct hub_tar_file *file)
{
    return file->mtime_ns < 0 ? 0 : (uint64_t)file->mtime_ns / 1000000000;
}

/* What fits a header block, else nothing. */
static uint64_t octal(uint64_t value)
{
    return value >> MAX_OCTAL_BITS ? 0 : value;
}

/* What the header block cannot say. */
static enum hub_status put_records(const struct hub_tar_file *file, struct hub_buf *out,
                                   struct hub_error *err)
{
    char size[24];
    if (file->spelled)
        HUB_TRY(put_record(out, "comment", HUB_TAR_SPELLED, err));
    if (strlen(file->name) > NAME_BYTES || !is_ascii(file->name))
        HUB_TRY(put_record(out, "path", file->name, err));
    if (file->size >> MAX_OCTAL_BITS) {
        snprintf(size, sizeof size, "%" PRIu64, file->size);
        HUB_TRY(put_record(out, "size", size, err));
    }
    return file->mtime_ns < 0 || file->mtime_ns % 1000000000 || seconds(file) >> MAX_OCTAL_BITS
               ? put_time(out, file->mtime_ns, err)
               : HUB_OK;
}

static const char zeros[2 * HUB_TAR_BLOCK];

enum hub_status hub_tar_pad(uint64_t size, struct hub_buf *out, struct hub_error *err)
{
    return hub_buf_add(out, zeros, (size_t)(-size % HUB_TAR_BLOCK), err);
}

enum hub_status hub_tar_end(struct hub_buf *out, struct hub_error *err)
{
    return hub_buf_add(out, zeros, sizeof zeros, err);
}

enum hub_status hub_tar_header(const struct hub_tar_file *file, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf records = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(put_records(file, &records, err));
    if (records.size) {
        HUB_TRY(put_block("././@PaxHeader", 'x', records.size, 0, out, err));
        HUB_TRY(hub_buf_add_view(out, hub_buf_view(&records), err));
        HUB_TRY(hub_tar_pad(records.size, out, err));
    }
    return put_block(file->name, '0', octal(file->size), octal(seconds(file)), out, err);
}
