/* What leaves its place by rename: see publish.h. */
#include "storage/transfer/publish.h"

#include "storage/base/order.h"
#include "storage/ids/id.h"
#include "storage/io/roots.h"
#include "storage/remote/remote.h"
#include "storage/transfer/move.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A walk through a dataset, by what was fetched into it. */
struct withdrawal {
    const struct hub_fetched *fetched;
    bool removes; /* remove the fetched files, except the record */
    bool others;  /* there are other files */
    int why;      /* 0, or the first errno of what could not be removed */
};

static void look_at_file(struct withdrawal *w, int directory, const char *name, const char *path)
{
    if (strcmp(path, HUB_RECORD_FILE) == 0)
        return;
    if (!w->fetched->count ||
        !bsearch(&path, w->fetched->files, w->fetched->count, sizeof *w->fetched->files, hub_by_text))
        w->others = true;
    else if (w->removes && unlinkat(directory, name, 0) && !w->why)
        w->why = errno;
}

/* What cannot be read may hold other files. */
static void look_into(struct withdrawal *w, int directory, const char *name, const char *path, unsigned depth)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    HUB_CLEANUP(hub_closep) int fd = -1;
    struct stat st;
    if (depth == HUB_MOVE_DEPTH || hub_private_folder(directory, name, false, &fd, NULL) ||
        hub_fs_list(fd, "", HUB_MOVE_FILES, &names, NULL)) {
        w->others = true;
        return;
    }
    for (size_t i = 0; i < names.count; i++) {
        const char *entry = names.items[i].text;
        HUB_CLEANUP(hub_freep) char *below = hub_path_join(path, entry);
        if (!below || fstatat(fd, entry, &st, AT_SYMLINK_NOFOLLOW)) {
            w->others = true;
        } else if (!S_ISDIR(st.st_mode)) {
            look_at_file(w, fd, entry, below);
        } else {
            look_into(w, fd, entry, below, depth + 1);
            if (w->removes)
                (void)unlinkat(fd, entry, AT_REMOVEDIR); /* not empty: fine */
        }
    }
}

enum hub_status hub_publish_others(const struct hub_private *place, const char *id,
                                   const struct hub_fetched *own, bool *others, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int parent = -1;
    const char *name;
    struct withdrawal walk = {.fetched = own};
    HUB_TRY(hub_private_parent(place, id, false, &parent, &name, err));
    look_into(&walk, parent, name, "", 0);
    *others = walk.others;
    return HUB_OK;
}

/* The record goes last: until then it is still a dataset, and withdrawn once more. */
static enum hub_status remove_fetched(const struct hub_tree_move *m, const char *id, struct withdrawal *w,
                                      struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    w->removes = true;
    look_into(w, m->parent, m->name, "", 0);
    if (w->why)
        return hub_fail_errno(err, w->why, "'%s' cannot be removed", id);
    HUB_TRY(hub_private_folder(m->parent, m->name, false, &fd, err));
    if (unlinkat(fd, HUB_RECORD_FILE, 0) && errno != ENOENT)
        return hub_fail_errno(err, errno, "'%s' cannot be removed", id);
    return hub_fs_sync_dir(fd, "", err);
}

/* The namespaces above a dataset, from the innermost, as far as nothing is in them. */
static void tidy(const struct hub_private *place, const char *id)
{
    char above[HUB_MAX_ID + 1];
    snprintf(above, sizeof above, "%s", id);
    for (char *slash; (slash = strrchr(above, '/'));) {
        HUB_CLEANUP(hub_closep) int parent = -1;
        const char *name;
        *slash = '\0';
        if (hub_private_parent(place, above, false, &parent, &name, NULL) ||
            unlinkat(parent, name, AT_REMOVEDIR)) /* not empty: fine */
            return;
    }
}

/* Open the place of a dataset that must be there; the lock is held. */
static enum hub_status begin_withdrawal(const struct hub_private *place, const char *id,
                                        struct hub_tree_move *m, struct hub_error *err)
{
    const enum hub_status st = hub_tree_move_begin(place, id, false, m, err);
    if (st == HUB_NOT_FOUND || (!st && !hub_is_there(m->parent, m->name)))
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND, "there is no dataset '%s' here",
                           id);
    if (!st && !hub_private_is_dataset(m->parent, m->name))
        return hub_not_a_dataset(id, HUB_NOT_FOUND, err);
    return st;
}

enum hub_status hub_withdraw(const struct hub_private *place, const char *id,
                             const struct hub_fetched *fetched, struct hub_error *err)
{
    struct withdrawal walk = {.fetched = fetched};
    HUB_CLEANUP(hub_closep) int lock = -1;
    HUB_CLEANUP(hub_tree_move_end) struct hub_tree_move m = {.parent = -1, .trash = -1};
    HUB_TRY(hub_private_lock(place, &lock, err));
    HUB_TRY(begin_withdrawal(place, id, &m, err));
    if (fetched)
        look_into(&walk, m.parent, m.name, "", 0);
    if (walk.others)
        return remove_fetched(&m, id, &walk, err);
    if (renameat(m.parent, m.name, m.trash, m.old))
        return hub_fail_errno(err, errno, "'%s' cannot be moved to the trash", id);
    HUB_TRY(hub_sync_both(m.parent, m.trash, err));
    HUB_TRY(hub_fs_remove(m.trash, m.old, err));
    tidy(place, id);
    return HUB_OK;
}

enum hub_status hub_withdraw_keeping(const struct hub_private *place, const char *id, const char *keep,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int lock = -1;
    HUB_CLEANUP(hub_tree_move_end) struct hub_tree_move m = {.parent = -1, .trash = -1, .keep = keep};
    HUB_TRY(hub_private_lock(place, &lock, err));
    HUB_TRY(begin_withdrawal(place, id, &m, err));
    if (renameat(m.parent, m.name, m.trash, m.old))
        return hub_fail_errno(err, errno, "'%s' cannot be moved to what is kept", id);
    HUB_TRY(hub_sync_both(m.parent, m.trash, err));
    tidy(place, id);
    return HUB_OK;
}

enum hub_status hub_publish_move(const struct hub_private *place, const char *from, const char *to,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int lock = -1, old = -1, new = -1;
    const char *name, *new_name;
    HUB_TRY(hub_private_lock(place, &lock, err));
    const enum hub_status st = hub_private_parent(place, from, false, &old, &name, err);
    if (st == HUB_NOT_FOUND || (!st && !hub_is_there(old, name)))
        return HUB_OK;
    HUB_TRY(st);
    HUB_TRY(hub_private_parent(place, to, true, &new, &new_name, err));
    if (hub_is_there(new, new_name))
        return hub_fail(err, HUB_EXISTS, "'%s' already exists", to);
    if (renameat(old, name, new, new_name))
        return hub_fail_errno(err, errno, "'%s' cannot be moved to '%s'", from, to);
    HUB_TRY(hub_sync_both(new, old, err));
    tidy(place, from);
    return HUB_OK;
}
