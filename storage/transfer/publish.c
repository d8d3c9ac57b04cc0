/* Publishing by rename: see publish.h. */
#include "storage/transfer/publish.h"

#include "storage/ids/id.h"
#include "storage/io/roots.h"
#include "storage/remote/remote.h"
#include "storage/text/json.h"
#include "storage/transfer/move.h"
#include "storage/transfer/removed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_ENTRIES = 10000, JOURNAL_BYTES = 64 * 1024 };

/* ---- the pair of renames: its journal is a file in "replace", of names relative to root and folder ---- */

static enum hub_status write_journal(const struct hub_private *place, const char *id, const char *tree,
                                     const struct hub_tree_move *m, int *folder, char journal[64],
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(JOURNAL_BYTES);
    struct hub_json json = hub_json_to(&text, err);
    char unique[48];
    hub_json_object(&json);
    hub_json_put_text(&json, "id", id);
    hub_json_put_text(&json, "new", tree);
    hub_json_put_text(&json, "old", m->old);
    if (m->keep)
        hub_json_put_text(&json, "keep", m->keep);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    HUB_TRY(hub_private_folder(place->folder, "replace", true, folder, err));
    hub_private_name(unique);
    snprintf(journal, 64, "%s.json", unique);
    return hub_fs_write(*folder, journal, hub_buf_view(&text), 0600, err);
}

static enum hub_status replace_in_two(const struct hub_private *place, const char *id, const char *tree,
                                      const struct hub_tree_move *m, struct hub_error *err)
{
    char journal[64];
    HUB_CLEANUP(hub_closep) int folder = -1;
    HUB_TRY(write_journal(place, id, tree, m, &folder, journal, err));
    if (renameat(m->parent, m->name, m->trash, m->old) || renameat(place->folder, tree, m->parent, m->name)) {
        const int why = errno;
        if (hub_is_there(m->trash, m->old) && !hub_is_there(m->parent, m->name))
            (void)renameat(m->trash, m->old, m->parent, m->name);
        (void)unlinkat(folder, journal, 0);
        return hub_fail_errno(err, why, "'%s' cannot be replaced", id);
    }
    HUB_TRY(hub_sync_both(m->parent, m->trash, err));
    (void)unlinkat(folder, journal, 0);
    return HUB_OK;
}

static bool is_tree_of(const char *path, const char *head, const char *letters)
{
    const size_t size = strlen(head), key = strlen(path) <= size ? 0 : strspn(path + size, letters);
    return strncmp(path, head, size) == 0 && key && strcmp(path + size + key, "/tree") == 0;
}

/* "incoming/0123456789abcdef/tree" or "drafts/abcdefghij234567/tree", and nothing else. */
static bool is_tree(const char *path)
{
    return is_tree_of(path, "incoming/", "0123456789abcdef") ||
           is_tree_of(path, "drafts/", "abcdefghijklmnopqrstuvwxyz234567");
}

/* Where a journal may say that the old one is kept. */
static bool is_kept(const char *path)
{
    const char *below = hub_path_below(path, "kept");
    return below && *below && hub_folder_check(hub_view_of(below), NULL) == HUB_OK;
}

static enum hub_status read_journal(int folder, const char *name, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(JOURNAL_BYTES);
    HUB_CLEANUP(hub_closep) int fd = -1;
    HUB_TRY(hub_fs_open_beneath(folder, name, O_RDONLY | O_NONBLOCK, HUB_FS_NO_LINKS, &fd, err));
    HUB_TRY(hub_fs_read_fd(fd, &text, err));
    return hub_json_parse(hub_buf_view(&text), JOURNAL_BYTES, out, err);
}

/* Whether nothing is left to do about a journal. What cannot be a journal of ours is nothing to act on. */
static bool replay(const struct hub_private *place, int folder, const char *journal)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *doc = NULL;
    HUB_CLEANUP(hub_tree_move_end) struct hub_tree_move m = {.parent = -1, .trash = -1};
    if (read_journal(folder, journal, &doc, NULL))
        return true;
    const char *id = hub_member_text(doc, "id"), *tree = hub_member_text(doc, "new"),
               *old = hub_member_text(doc, "old");
    m.keep = hub_member_text(doc, "keep");
    if (!id || !tree || !old || hub_folder_check(hub_view_of(id), NULL) || !is_tree(tree) ||
        !(m.keep ? is_kept(m.keep) : hub_private_name_is_ours(old, "")))
        return true;
    if (hub_tree_move_begin(place, id, true, &m, NULL))
        return false;
    old = m.keep ? m.old : old;
    if (hub_is_there(m.parent, m.name) ||
        !hub_is_there(m.trash, old)) /* begun not at all, or finished, or undone */
        return true;
    if (renameat(place->folder, tree, m.parent, m.name) && /* the new one was whole: finish; else undo */
        renameat(m.trash, old, m.parent, m.name))
        return false;
    return !hub_sync_both(m.parent, m.trash, NULL);
}

static enum hub_status list_ours(const struct hub_private *place, const char *name, int *fd,
                                 struct hub_names *out, struct hub_error *err)
{
    const enum hub_status st = hub_private_folder(place->folder, name, false, fd, err);
    if (st)
        return st == HUB_NOT_FOUND ? HUB_OK : st;
    return hub_fs_list(*fd, "", MAX_ENTRIES, out, err);
}

static enum hub_status recover(const struct hub_private *place, struct hub_error *err)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names journals = {0}, trash = {0};
    HUB_CLEANUP(hub_closep) int replace_fd = -1, trash_fd = -1;
    bool replayed = true;
    HUB_TRY(list_ours(place, "replace", &replace_fd, &journals, err));
    for (size_t i = 0; i < journals.count; i++) {
        if (!hub_private_name_is_ours(journals.items[i].text, ".json"))
            continue;
        if (replay(place, replace_fd, journals.items[i].text))
            (void)unlinkat(replace_fd, journals.items[i].text, 0);
        else
            replayed = false;
    }
    if (!replayed) /* the trash may hold what is still wanted */
        return HUB_OK;
    HUB_TRY(list_ours(place, "trash", &trash_fd, &trash, err));
    for (size_t i = 0; i < trash.count; i++)
        if (hub_private_name_is_ours(trash.items[i].text, ""))
            (void)!hub_fs_remove(trash_fd, trash.items[i].text, NULL);
    return HUB_OK;
}

enum hub_status hub_publish_recover(const struct hub_private *place, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int lock = -1;
    HUB_TRY(hub_private_lock(place, &lock, err));
    return recover(place, err);
}

/* ---- publish ---- */

/* What the new tree has as well loses its name in the old one now, and not when the trash is emptied: a
 * file's stamp changes with its links, and what is known of it is kept by its stamp. Whoever reads it has
 * it open. */
static void drop_links(int directory, const char *path, unsigned depth)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    HUB_CLEANUP(hub_closep) int fd = -1;
    struct stat st;
    if (depth == HUB_MOVE_DEPTH || hub_private_folder(directory, path, false, &fd, NULL) ||
        hub_fs_list(fd, "", HUB_MOVE_FILES, &names, NULL))
        return;
    for (size_t i = 0; i < names.count; i++) {
        const char *name = names.items[i].text;
        if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        if (S_ISDIR(st.st_mode))
            drop_links(fd, name, depth + 1);
        else if (S_ISREG(st.st_mode) && st.st_nlink > 1)
            (void)unlinkat(fd, name, 0);
    }
}

static enum hub_status replace(const struct hub_private *place, const char *id, const char *tree,
                               const struct hub_tree_move *m, bool pair, struct hub_error *err)
{
    if (!hub_private_is_dataset(m->parent, m->name))
        return hub_not_a_dataset(id, HUB_EXISTS, err);
    if (!pair && renameat2(place->folder, tree, m->parent, m->name, RENAME_EXCHANGE) == 0) {
        HUB_TRY(hub_fs_sync_dir(m->parent, "", err));
        if (renameat(place->folder, tree, m->trash, m->old))
            return hub_fail_errno(err, errno, "'%s' cannot be moved away", id);
        return hub_fs_sync_dir(m->trash, "", err);
    }
    if (!pair && errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
        return hub_fail_errno(err, errno, "'%s' cannot be replaced", id);
    return replace_in_two(place, id, tree, m, err);
}

/* The lock is held. */
static enum hub_status publish(const struct hub_private *place, const char *id, const char *tree,
                               const char *keep, bool may_replace, bool pair, struct hub_error *err)
{
    HUB_CLEANUP(hub_tree_move_end) struct hub_tree_move m = {.parent = -1, .trash = -1, .keep = keep};
    HUB_TRY(hub_tree_move_begin(place, id, true, &m, err));
    HUB_TRY(hub_fs_sync_dir(place->folder, tree, err));
    if (renameat2(place->folder, tree, m.parent, m.name, RENAME_NOREPLACE) == 0)
        return hub_fs_sync_dir(m.parent, "", err);
    const int why = errno;
    if (hub_is_there(m.parent, m.name)) {
        if (!may_replace)
            return hub_fail(err, HUB_EXISTS, "'%s' already exists", id);
        HUB_TRY(replace(place, id, tree, &m, pair, err));
        if (!keep)
            drop_links(m.trash, m.old, 0);
        return HUB_OK;
    }
    /* a file system without RENAME_NOREPLACE: rename(2) over nothing, or over an empty folder at worst */
    if ((why == EINVAL || why == ENOSYS || why == ENOTSUP) &&
        renameat(place->folder, tree, m.parent, m.name) == 0)
        return hub_fs_sync_dir(m.parent, "", err);
    return hub_fail_errno(err, why, "'%s' cannot be published", id);
}

enum hub_status hub_publish(const struct hub_private *place, const char *id, const char *tree,
                            bool may_replace, bool pair, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int lock = -1;
    HUB_TRY(hub_private_lock(place, &lock, err));
    return publish(place, id, tree, NULL, may_replace, pair, err);
}

enum hub_status hub_publish_keeping(const struct hub_private *place, const char *id, const char *tree,
                                    const char *keep, bool pair, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int lock = -1;
    HUB_TRY(hub_private_lock(place, &lock, err));
    return publish(place, id, tree, keep, true, pair, err);
}

/* ---- kept trees ---- */

enum hub_status hub_publish_keep(const struct hub_private *place, const char *tree, const char *keep,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int above = -1;
    const char *name;
    if (!hub_is_there(place->folder, tree))
        return HUB_OK;
    HUB_TRY(hub_kept_parent(place, keep, true, &above, &name, err));
    if (hub_is_there(above, name))
        return HUB_OK;
    if (renameat(place->folder, tree, above, name))
        return hub_fail_errno(err, errno, "'%.200s' cannot be kept", keep);
    return hub_fs_sync_dir(above, "", err);
}

static void remove_empty_above(const struct hub_private *place, const char *keep)
{
    HUB_CLEANUP(hub_freep) char *above = strdup(keep);
    for (char *slash; above && (slash = strrchr(above, '/'));) {
        *slash = '\0';
        if (unlinkat(place->folder, above, AT_REMOVEDIR))
            return;
    }
}

enum hub_status hub_publish_drop(const struct hub_private *place, const char *keep, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int lock = -1, above = -1;
    const char *name;
    HUB_TRY(hub_private_lock(place, &lock, err));
    const enum hub_status st = hub_kept_parent(place, keep, false, &above, &name, err);
    if (st)
        return st == HUB_NOT_FOUND ? HUB_OK : st;
    HUB_TRY(hub_removed_put(place, above, name, err));
    remove_empty_above(place, keep);
    return HUB_OK;
}

/* What lies above its place is no dataset. */
enum hub_status hub_publish_above(const struct hub_private *place, const char *target, struct hub_error *err)
{
    for (const char *slash = strchr(target, '/'); slash; slash = strchr(slash + 1, '/')) {
        HUB_CLEANUP(hub_closep) int parent = -1;
        HUB_CLEANUP(hub_freep) char *above = strndup(target, (size_t)(slash - target));
        const char *name;
        HUB_TRY(hub_allocated(above, err));
        if (hub_private_parent(place, above, false, &parent, &name, NULL))
            return HUB_OK; /* it is made with the dataset */
        if (hub_private_is_dataset(parent, name))
            return hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_EXISTS,
                               "'%.200s' is a dataset: another one cannot lie in it", above);
    }
    return HUB_OK;
}

enum hub_status hub_publish_free(const struct hub_private *place, const char *target, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int parent = -1;
    const char *name;
    HUB_TRY(hub_publish_above(place, target, err));
    const enum hub_status st = hub_private_parent(place, target, false, &parent, &name, err);
    if (st)
        return st == HUB_NOT_FOUND ? HUB_OK : st;
    return hub_is_there(parent, name) ? hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_EXISTS,
                                                    "something is in the folder '%.200s' already", target)
                                      : HUB_OK;
}

enum hub_status hub_publish_replaceable(const struct hub_private *place, const char *id,
                                        struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int parent = -1;
    const char *name;
    const enum hub_status st = hub_private_parent(place, id, false, &parent, &name, err);
    if (st)
        return st == HUB_NOT_FOUND ? HUB_OK : st;
    return hub_is_there(parent, name) && !hub_private_is_dataset(parent, name)
               ? hub_not_a_dataset(id, HUB_EXISTS, err)
               : HUB_OK;
}
