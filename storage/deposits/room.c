/* See room.h. */
#include "storage/deposits/room.h"

#include "storage/deposits/folder.h"
#include "storage/io/fs.h"
#include "storage/io/roots.h"

#include <fcntl.h>

enum hub_status hub_room_on_disk(const struct hub_deposits *deposits, const char *path, uint64_t more,
                                 struct hub_error *err)
{
    const uint64_t spare = deposits->spare_bytes;
    uint64_t left = 0;
    HUB_TRY(hub_fs_free_bytes(path, &left, err));
    if (left >= spare && left - spare >= more)
        return HUB_OK;
    return hub_fail_as(err, HUB_NO_SPACE, HUB_PROBLEM_NO_SPACE,
                       "the disk has no room for %llu bytes more: %llu are free, and %llu of them stay so "
                       "(--min-free)",
                       (unsigned long long)more, (unsigned long long)left, (unsigned long long)spare);
}

/* Objects in parts take all their room from the first part on. */
static uint64_t in_parts(const struct hub_deposits *deposits, uint32_t root, const char *but)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_closep) int folder = -1;
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    struct stat st;
    uint64_t bytes = 0;
    if (hub_deposits_folder(deposits, root, "parts", false, &place, &folder, NULL) ||
        hub_fs_list(folder, ".", HUB_PARTED_MOST, &names, NULL))
        return 0;
    for (size_t i = 0; i < names.count; i++)
        if ((!but || strcmp(names.items[i].text, but) != 0) &&
            fstatat(folder, names.items[i].text, &st, AT_SYMLINK_NOFOLLOW) == 0)
            bytes += (uint64_t)st.st_size;
    return bytes;
}

enum hub_status hub_room_to_wait(const struct hub_deposits *deposits, uint64_t more, const char *but,
                                 struct hub_error *err)
{
    uint64_t beside = 0;
    for (uint32_t root = 0; root < deposits->roots->count; root++)
        beside += in_parts(deposits, root, but);
    return hub_deposits_room(deposits->truth, beside, more, deposits->budget_bytes, err);
}
