/* One object that comes: see deposit.h. */
#include "storage/deposits/deposit.h"

#include "storage/deposits/folder.h"
#include "storage/deposits/room.h"
#include "storage/io/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { LOOK_BYTES = 64 * 1024 * 1024 }; /* between two looks at the free space */

static enum hub_status begin(struct hub_deposit *deposit, bool git, struct hub_error *err)
{
    const struct hub_deposits *deposits = deposit->deposits;
    HUB_TRY(hub_deposits_folder(deposits, deposit->root, "objects", true, &deposit->place, &deposit->folder,
                                err));
    HUB_TRY(hub_room_on_disk(deposits, deposit->place.path, deposit->size, err));
    HUB_TRY(hub_room_to_wait(deposits, deposit->size, NULL, err));
    hub_private_name(deposit->name);
    deposit->fd = openat(deposit->folder, deposit->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (deposit->fd < 0)
        return hub_fail_errno(err, errno, "an object cannot be stored");
    return hub_file_hasher_begin(&deposit->hasher, git ? HUB_GIT_SHA1 : HUB_BY_CRC32C, deposit->size, err);
}

enum hub_status hub_deposit_begin(const struct hub_deposits *deposits, const struct hub_deposit_order *order,
                                  struct hub_deposit *out, struct hub_error *err)
{
    *out = HUB_DEPOSIT_INIT;
    out->deposits = deposits;
    out->root = order->root;
    out->size = order->size;
    snprintf(out->who, sizeof out->who, "%s", order->who);
    const enum hub_status st = begin(out, order->git, err);
    if (st)
        hub_deposit_abandon(out);
    return st;
}

enum hub_status hub_deposit_write(struct hub_deposit *deposit, struct hub_view bytes, struct hub_error *err)
{
    const uint64_t at = deposit->hasher.at;
    if (bytes.size > deposit->size - at)
        return hub_fail(err, HUB_TOO_BIG, "more bytes came than the %llu that the object has",
                        (unsigned long long)deposit->size);
    if (at / LOOK_BYTES != (at + bytes.size) / LOOK_BYTES) /* others write, too */
        HUB_TRY(hub_room_on_disk(deposit->deposits, deposit->place.path, deposit->size - at, err));
    HUB_TRY(hub_fs_write_fd(deposit->fd, bytes, err));
    return hub_file_hasher_add(&deposit->hasher, bytes, err);
}

/* Under its name; the same bytes may lie there already, unless somebody changed them. */
static enum hub_status put(const struct hub_deposit *deposit, const char *name, struct hub_error *err)
{
    struct stat st;
    if (linkat(deposit->folder, deposit->name, deposit->folder, name, 0) == 0 ||
        (errno == EEXIST && fstatat(deposit->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
         hub_stat_is_owned(&st) && (uint64_t)st.st_size == deposit->size))
        return HUB_OK;
    return renameat(deposit->folder, deposit->name, deposit->folder, name)
               ? hub_fail_errno(err, errno, "the object %s cannot be stored", name)
               : HUB_OK;
}

/* Its row comes first: whoever tidies up removes no object that has one. */
static enum hub_status keep(const struct hub_deposit *deposit, const struct hub_deposit_row *row,
                            struct hub_error *err)
{
    char name[HUB_OBJECT_NAME];
    hub_hex(row->sha256, sizeof row->sha256, name);
    HUB_TRY(hub_fs_own(deposit->fd, name, err));
    HUB_TRY(hub_deposit_add(deposit->deposits->truth, row, err));
    return put(deposit, name, err);
}

enum hub_status hub_deposit_finish(struct hub_deposit *deposit, const uint8_t *sha256,
                                   struct hub_deposit_row *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_sums_dispose) struct hub_sums sums = {0};
    struct hub_deposit_row row = {.root = deposit->root, .who = deposit->who, .size = deposit->size};
    if (deposit->hasher.at != deposit->size)
        return hub_fail(err, HUB_INVALID, "%llu of the object's %llu bytes came: send it again",
                        (unsigned long long)deposit->hasher.at, (unsigned long long)deposit->size);
    HUB_TRY(hub_file_hasher_end(&deposit->hasher, &sums, err));
    memcpy(row.sha256, sums.sha256, sizeof row.sha256);
    row.has_sha1 = sums.kind == HUB_GIT_SHA1;
    if (row.has_sha1)
        memcpy(row.sha1, sums.other, sizeof row.sha1);
    if (sha256 && memcmp(sha256, sums.sha256, HUB_SHA256_BYTES) != 0)
        return hub_fail_as(
            err, HUB_CORRUPT, HUB_PROBLEM_DIGEST_MISMATCH,
            "the SHA-256 of what came is another than the one that was stated: it was not kept");
    HUB_TRY(keep(deposit, &row, err));
    if (out)
        *out = row;
    hub_deposit_abandon(deposit);
    return HUB_OK;
}

void hub_deposit_abandon(struct hub_deposit *deposit)
{
    if (deposit->fd >= 0)
        (void)unlinkat(deposit->folder, deposit->name, 0);
    hub_file_hasher_dispose(&deposit->hasher);
    hub_closep(&deposit->fd);
    hub_closep(&deposit->folder);
    deposit->fd = deposit->folder = -1; /* once: the number may be another file's by then */
    hub_private_close(&deposit->place);
    *deposit = HUB_DEPOSIT_INIT;
}
