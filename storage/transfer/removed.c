/* Trees to be removed: see removed.h. */
#include "storage/transfer/removed.h"

#include "storage/io/fs.h"

#include <errno.h>
#include <stdio.h>

enum { MOST_TREES = 1000000 };

static const char removed[] = "removed";

enum hub_status hub_removed_put(const struct hub_private *place, int directory, const char *name,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int folder = -1;
    char unique[48];
    hub_private_name(unique);
    HUB_TRY(hub_private_folder(place->folder, removed, true, &folder, err));
    return renameat(directory, name, folder, unique) && errno != ENOENT
               ? hub_fail_errno(err, errno, "'%.200s' cannot be removed", name)
               : HUB_OK;
}

enum hub_status hub_removed_empty(const struct hub_private *place, const atomic_bool *stop,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int folder = -1;
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    const enum hub_status st = hub_private_folder(place->folder, removed, false, &folder, err);
    if (st)
        return st == HUB_NOT_FOUND ? HUB_OK : st;
    HUB_TRY(hub_fs_list(folder, "", MOST_TREES, &names, err));
    for (size_t i = 0; i < names.count; i++)
        HUB_TRY(hub_fs_remove_until(folder, names.items[i].text, stop, err));
    return HUB_OK;
}
