/* The journal of a download: see journal.h. */
#include "storage/transfer/journal.h"

#include "storage/base/cursor.h"
#include "storage/base/digest.h"
#include "storage/io/fs.h"

enum { BODY = HUB_SEGMENT_RECORD - 4 };

static void put(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

enum hub_status hub_journal_add(int fd, const struct hub_segment *s, struct hub_error *err)
{
    uint8_t record[HUB_SEGMENT_RECORD];
    for (unsigned i = 0; i < 4; i++)
        put(record + 4 * i, (uint32_t)(s->names[i / 2] >> (32 * (i % 2))));
    put(record + 16, s->number);
    put(record + 20, s->crc32c);
    put(record + BODY, hub_crc32c(0, record, BODY));
    return hub_fs_write_fd(fd, (struct hub_view){(const char *)record, sizeof record}, err);
}

void hub_journal_read(struct hub_view bytes, void (*take)(const struct hub_segment *, void *user), void *user,
                      size_t *valid_bytes)
{
    struct hub_cursor c = hub_cursor_of(bytes.data, bytes.size);
    *valid_bytes = 0;
    while (hub_cursor_left(&c) >= HUB_SEGMENT_RECORD) {
        const uint32_t check = hub_crc32c(0, c.at, BODY);
        struct hub_segment s;
        for (unsigned i = 0; i < 2; i++) {
            const uint32_t low = hub_cursor_u32(&c);
            s.names[i] = low | (uint64_t)hub_cursor_u32(&c) << 32;
        }
        s.number = hub_cursor_u32(&c);
        s.crc32c = hub_cursor_u32(&c);
        if (hub_cursor_u32(&c) != check)
            break;
        take(&s, user);
        *valid_bytes += HUB_SEGMENT_RECORD;
    }
}

uint64_t hub_segment_count(uint64_t size, uint64_t segment_bytes)
{
    return size / segment_bytes + (size % segment_bytes != 0);
}

void hub_segment_range(uint64_t size, uint64_t segment_bytes, uint64_t number, uint64_t *first,
                       uint64_t *count)
{
    *first = number * segment_bytes;
    *count = HUB_MIN(segment_bytes, size - *first);
}
