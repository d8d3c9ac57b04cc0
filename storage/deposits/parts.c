/* Objects that come in parts: see parts.h. */
#include "storage/deposits/parts.h"

#include "storage/deposits/folder.h"
#include "storage/deposits/room.h"
#include "storage/io/fs.h"
#include "storage/io/roots.h"
#include "storage/text/time.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

enum { NAME_BYTES = 20, NAME = 2 * NAME_BYTES + 1, HOUR_MS = 3600 * 1000 };

/* ---- the file ---- */

enum hub_status hub_parts_count(const struct hub_parted *of, uint32_t *out, struct hub_error *err)
{
    const uint64_t count = of->part_bytes ? of->size / of->part_bytes + (of->size % of->part_bytes != 0) : 0;
    *out = (uint32_t)HUB_MIN(count, HUB_PARTS + 1);
    return count && count <= HUB_PARTS
               ? HUB_OK
               : hub_fail(err, HUB_INVALID, "an object has from 1 to %d parts", HUB_PARTS);
}

static uint64_t row_at(const struct hub_parted *of, uint32_t number)
{
    return of->size + (uint64_t)(number - 1) * HUB_PART_ROW;
}

/* One a writer, object and division. */
static enum hub_status name_file(const struct hub_parted *of, char out[NAME], struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(4 * KIB);
    uint8_t sum[HUB_DIGEST_MAX];
    char hex[2 * HUB_SHA256_BYTES + 1];
    hub_hex(of->sha256, sizeof of->sha256, hex);
    HUB_TRY(
        hub_buf_addf(&text, err, "%s\n%s\n%" PRIu64 "\n%" PRIu64, of->who, hex, of->size, of->part_bytes));
    HUB_TRY(hub_digest_of(HUB_SHA256, hub_buf_view(&text), sum, err));
    hub_hex(sum, NAME_BYTES, out);
    return HUB_OK;
}

/* Parts share the file, and who puts them together has it alone: else a part that still comes could change
 * what was hashed. What has been put together meanwhile is not this file any more. */
static enum hub_status lock(int folder, const char *name, int fd, int how, struct hub_error *err)
{
    struct stat mine, there;
    if (flock(fd, how | LOCK_NB))
        return errno == EWOULDBLOCK
                   ? hub_fail(err, HUB_BUSY, "other parts of the object are on their way: try again")
                   : hub_fail_errno(err, errno,
                                    "an object in parts cannot be locked: set --upload-part above its size");
    if (fstat(fd, &mine) == 0 && fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
        mine.st_ino == there.st_ino && mine.st_dev == there.st_dev)
        return HUB_OK;
    return hub_fail(err, HUB_BUSY, "the object has been put together: try again");
}

static enum hub_status write_at(int fd, const void *bytes, size_t size, uint64_t at, struct hub_error *err)
{
    for (const char *from = bytes; size;) {
        const ssize_t done = pwrite(fd, from, size, (off_t)at);
        if (done < 0 && errno != EINTR)
            return hub_fail_errno(err, errno, "a part of an object cannot be stored");
        const size_t more = done > 0 ? (size_t)done : 0;
        from += more;
        at += more;
        size -= more;
    }
    return HUB_OK;
}

/* ---- a part that comes ---- */

enum hub_status hub_parts_room(const struct hub_deposits *deposits, const struct hub_parted *of,
                               struct hub_error *err)
{
    char name[NAME];
    HUB_TRY(name_file(of, name, err));
    return hub_room_to_wait(deposits, of->size, name, err);
}

/* The first part takes the room of all. */
static enum hub_status make_room(const struct hub_deposits *deposits, const struct hub_parted *of,
                                 const struct hub_object_part *part, struct hub_error *err)
{
    struct stat st;
    uint32_t count;
    HUB_TRY(hub_parts_count(of, &count, err));
    if (fstat(part->fd, &st))
        return hub_fail_errno(err, errno, "%s/parts", part->place.path);
    if (st.st_size)
        return HUB_OK;
    HUB_TRY(hub_room_on_disk(deposits, part->place.path, of->size, err));
    HUB_TRY(hub_parts_room(deposits, of, err));
    return ftruncate(part->fd, (off_t)row_at(of, count + 1))
               ? hub_fail_errno(err, errno, "%s/parts", part->place.path)
               : HUB_OK;
}

static enum hub_status begin(const struct hub_deposits *deposits, const struct hub_parted *of,
                             uint32_t number, struct hub_object_part *part, struct hub_error *err)
{
    static const uint8_t none[HUB_PART_ROW];
    char name[NAME];
    uint32_t count;
    HUB_TRY(hub_parts_count(of, &count, err));
    if (!number || number > count)
        return hub_fail(err, HUB_INVALID, "the object has %u parts, and none of number %u", count, number);
    part->at = (number - 1) * of->part_bytes;
    part->end = HUB_MIN(part->at + of->part_bytes, of->size);
    part->row = row_at(of, number);
    HUB_TRY(name_file(of, name, err));
    HUB_TRY(hub_deposits_folder(deposits, of->root, "parts", true, &part->place, &part->folder, err));
    part->fd = openat(part->folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (part->fd < 0)
        return hub_fail_errno(err, errno, "%s/parts", part->place.path);
    HUB_TRY(lock(part->folder, name, part->fd, LOCK_SH, err));
    HUB_TRY(make_room(deposits, of, part, err));
    HUB_TRY(hub_room_on_disk(deposits, part->place.path, part->end - part->at, err));
    HUB_TRY(write_at(part->fd, none, sizeof none, part->row, err)); /* it comes again */
    return hub_digest_begin(&part->sha256, HUB_SHA256, err);
}

enum hub_status hub_object_part_begin(const struct hub_deposits *deposits, const struct hub_parted *of,
                                      uint32_t number, struct hub_object_part *out, struct hub_error *err)
{
    *out = HUB_OBJECT_PART_INIT;
    const enum hub_status st = begin(deposits, of, number, out, err);
    if (st)
        hub_object_part_close(out);
    return st;
}

enum hub_status hub_object_part_write(struct hub_object_part *part, struct hub_view bytes,
                                      struct hub_error *err)
{
    if (bytes.size > part->end - part->at)
        return hub_fail(err, HUB_TOO_BIG, "more bytes came than the part has");
    HUB_TRY(write_at(part->fd, bytes.data, bytes.size, part->at, err));
    part->at += bytes.size;
    return hub_digest_add(&part->sha256, bytes, err);
}

enum hub_status hub_object_part_finish(struct hub_object_part *part, uint8_t row[HUB_PART_ROW],
                                       struct hub_error *err)
{
    uint8_t sum[HUB_DIGEST_MAX];
    if (part->at != part->end)
        return hub_fail(err, HUB_INVALID, "%" PRIu64 " bytes of the part are missing: send it again",
                        part->end - part->at);
    HUB_TRY(hub_digest_end(&part->sha256, sum, err));
    memcpy(row, sum, HUB_PART_ROW);
    HUB_TRY(write_at(part->fd, row, HUB_PART_ROW, part->row, err));
    hub_object_part_close(part);
    return HUB_OK;
}

void hub_object_part_close(struct hub_object_part *part)
{
    hub_digest_dispose(&part->sha256);
    hub_closep(&part->fd);
    hub_closep(&part->folder);
    part->fd = part->folder = -1;
    hub_private_close(&part->place);
}

/* ---- all of them ---- */

static enum hub_status check_rows(const struct hub_parted *of, int fd, const uint8_t (*rows)[HUB_PART_ROW],
                                  uint32_t count, struct hub_error *err)
{
    static const uint8_t none[HUB_PART_ROW];
    uint32_t wanted;
    HUB_TRY(hub_parts_count(of, &wanted, err));
    if (count != wanted)
        return hub_fail(err, HUB_INVALID, "the object has %u parts, and %u are listed", wanted, count);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t row[HUB_PART_ROW];
        if (hub_fs_pread(fd, row, sizeof row, row_at(of, i + 1)) != sizeof row ||
            !memcmp(row, none, sizeof row))
            return hub_fail(err, HUB_INVALID, "part %u of the object was not sent", i + 1);
        if (memcmp(row, rows[i], sizeof row) != 0)
            return hub_fail(err, HUB_INVALID, "part %u of the object came again since: its ETag is another",
                            i + 1);
    }
    return HUB_OK;
}

/* From here on it is as one that came in one piece. */
static enum hub_status keep(const struct hub_parted *of, int parts, const char *name,
                            struct hub_deposit *deposit, struct hub_error *err)
{
    HUB_TRY(hub_file_hasher_begin(&deposit->hasher, HUB_BY_CRC32C, of->size, err));
    HUB_TRY(hub_file_hasher_read(&deposit->hasher, deposit->fd, of->size, NULL, NULL, err));
    hub_private_name(deposit->name);
    if (renameat(parts, name, deposit->folder, deposit->name) || ftruncate(deposit->fd, (off_t)of->size))
        return hub_fail_errno(err, errno, "an object cannot be stored");
    return hub_deposit_finish(deposit, of->sha256, NULL, err);
}

static enum hub_status join(const struct hub_deposits *deposits, const struct hub_parted *of, int parts,
                            const uint8_t (*rows)[HUB_PART_ROW], uint32_t count, struct hub_error *err)
{
    HUB_CLEANUP(hub_deposit_abandon) struct hub_deposit deposit = HUB_DEPOSIT_INIT;
    char name[NAME];
    deposit.deposits = deposits;
    deposit.root = of->root;
    deposit.size = of->size;
    snprintf(deposit.who, sizeof deposit.who, "%s", of->who);
    HUB_TRY(name_file(of, name, err));
    HUB_TRY(hub_deposits_folder(deposits, of->root, "objects", true, &deposit.place, &deposit.folder, err));
    deposit.fd = openat(parts, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (deposit.fd < 0)
        return errno == ENOENT ? hub_fail(err, HUB_INVALID, "no part of the object was sent: begin again")
                               : hub_fail_errno(err, errno, "an object in parts cannot be read");
    HUB_TRY(lock(parts, name, deposit.fd, LOCK_EX, err));
    HUB_TRY(check_rows(of, deposit.fd, rows, count, err));
    return keep(of, parts, name, &deposit, err);
}

enum hub_status hub_parts_join(const struct hub_deposits *deposits, const struct hub_parted *of,
                               const uint8_t (*rows)[HUB_PART_ROW], uint32_t count, struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_closep) int parts = -1;
    struct hub_deposit_row row = {.root = of->root, .who = of->who};
    memcpy(row.sha256, of->sha256, sizeof row.sha256);
    if (hub_deposit_has(deposits, &row, NULL) == HUB_OK && row.size == of->size)
        return HUB_OK; /* the answer was lost */
    HUB_TRY(hub_deposits_folder(deposits, of->root, "parts", true, &place, &parts, err));
    return join(deposits, of, parts, rows, count, err);
}

/* ---- what goes ---- */

static void tidy_root(const struct hub_deposits *deposits, uint32_t root, int64_t now_ms)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_closep) int parts = -1;
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    struct stat st;
    if (hub_deposits_folder(deposits, root, "parts", false, &place, &parts, NULL) ||
        hub_fs_list(parts, ".", HUB_PARTED_MOST, &names, NULL))
        return;
    for (size_t i = 0; i < names.count; i++)
        if (fstatat(parts, names.items[i].text, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            now_ms - (int64_t)st.st_mtim.tv_sec * 1000 > (int64_t)HUB_DEPOSIT_HOURS * HOUR_MS)
            (void)unlinkat(parts, names.items[i].text, 0);
}

void hub_parts_tidy(const struct hub_deposits *deposits)
{
    const int64_t now_ms = hub_time_now_ns() / 1000000;
    for (uint32_t root = 0; root < deposits->roots->count; root++)
        if (!deposits->roots->roots[root].read_only)
            tidy_root(deposits, root, now_ms);
}
