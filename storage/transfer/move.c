/* See move.h. */
#include "storage/transfer/move.h"

#include "storage/ids/id.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void hub_tree_move_end(struct hub_tree_move *m)
{
    hub_closep(&m->parent);
    hub_closep(&m->trash);
}

enum hub_status hub_kept_parent(const struct hub_private *place, const char *keep, bool make, int *fd,
                                const char **name, struct hub_error *err)
{
    const char *slash = strrchr(keep, '/');
    HUB_CLEANUP(hub_freep) char *above = strndup(keep, slash ? (size_t)(slash - keep) : 0);
    HUB_TRY(hub_allocated(above, err));
    *name = slash ? slash + 1 : keep;
    if (strlen(*name) > NAME_MAX)
        return hub_fail(err, HUB_INVALID, "'%.200s' is too long for the name of a file", *name);
    if (make)
        HUB_TRY(hub_fs_make_dirs(place->folder, above, 0700, err));
    return hub_fs_open_beneath(place->folder, above, O_RDONLY | O_DIRECTORY, HUB_FS_NO_LINKS, fd, err);
}

enum hub_status hub_tree_move_begin(const struct hub_private *place, const char *id, bool make,
                                    struct hub_tree_move *m, struct hub_error *err)
{
    const char *kept;
    HUB_TRY(hub_private_parent(place, id, make, &m->parent, &m->name, err));
    if (m->keep) {
        HUB_TRY(hub_kept_parent(place, m->keep, true, &m->trash, &kept, err));
        snprintf(m->old, sizeof m->old, "%s", kept);
        return HUB_OK;
    }
    hub_private_name(m->old);
    return hub_private_folder(place->folder, "trash", true, &m->trash, err);
}

bool hub_is_there(int directory, const char *name)
{
    struct stat st;
    return fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

enum hub_status hub_sync_both(int a, int b, struct hub_error *err)
{
    HUB_TRY(hub_fs_sync_dir(a, "", err));
    return hub_fs_sync_dir(b, "", err);
}

enum hub_status hub_not_a_dataset(const char *id, enum hub_status status, struct hub_error *err)
{
    return hub_fail_as(
        err, status, HUB_PROBLEM_NOT_A_DATASET,
        "'%s' exists but is not a dataset: it has neither a data folder nor the record of a download", id);
}
