/* Publishing by rename: see publish.h. */
#include "client/lib/publish.h"

#include "client/lib/staging.h"
#include "storage/base/fs.h"
#include "storage/base/id.h"
#include "storage/base/json.h"
#include "storage/base/time.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_JOURNALS = 10000 };

static enum hub_status join(char out[PATH_MAX], struct hub_error *err, const char *a, const char *b)
{
    const int n = snprintf(out, PATH_MAX, "%s/%s", a, b);
    return n > 0 && n < PATH_MAX ? HUB_OK
                                 : hub_fail(err, HUB_INVALID, "the path '%.100s/%.100s' is too long", a, b);
}

static bool exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

/* The folder a path lies in. */
static void parent_of(const char *path, char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    snprintf(out, PATH_MAX, "%.*s", slash > path ? (int)(slash - path) : 1, slash ? path : ".");
}

static enum hub_status sync_parents(const char *a, const char *b, struct hub_error *err)
{
    char folder[PATH_MAX];
    parent_of(a, folder);
    HUB_TRY(hub_fs_sync_dir(AT_FDCWD, folder, err));
    parent_of(b, folder);
    return hub_fs_sync_dir(AT_FDCWD, folder, err);
}

/* A name in ROOT/.minari-hub/trash that nobody has; its owner's pid is in it, so that another process leaves
 * it alone. */
static enum hub_status trash_name(const char *root, char out[PATH_MAX], struct hub_error *err)
{
    char folder[PATH_MAX], name[64];
    HUB_TRY(join(folder, err, root, HUB_PRIVATE_DIR "/trash"));
    HUB_TRY(hub_fs_make_dirs(AT_FDCWD, folder, 0777, err));
    snprintf(name, sizeof name, "%d-%" PRIu64, (int)getpid(), hub_time_mono_us());
    return join(out, err, folder, name);
}

/* ---- the pair of renames: its journal is a file in ROOT/.minari-hub/replace/ ---- */

static enum hub_status write_journal(const char *root, const char *target, const char *tree, const char *old,
                                     char journal[PATH_MAX], struct hub_error *err)
{
    char folder[PATH_MAX], name[64];
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    struct hub_json json = hub_json_to(&text, err);
    hub_json_object(&json);
    hub_json_put_text(&json, "target", target);
    hub_json_put_text(&json, "new", tree);
    hub_json_put_text(&json, "old", old);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    HUB_TRY(join(folder, err, root, HUB_PRIVATE_DIR "/replace"));
    HUB_TRY(hub_fs_make_dirs(AT_FDCWD, folder, 0777, err));
    snprintf(name, sizeof name, "%d-%" PRIu64 ".json", (int)getpid(), hub_time_mono_us());
    HUB_TRY(join(journal, err, folder, name));
    return hub_fs_write(AT_FDCWD, journal, hub_buf_view(&text), 0644, err);
}

static enum hub_status replace_in_two(const char *root, const char *target, const char *tree, const char *old,
                                      struct hub_error *err)
{
    char journal[PATH_MAX];
    HUB_TRY(write_journal(root, target, tree, old, journal, err));
    if (rename(target, old) || rename(tree, target)) {
        const int why = errno;
        if (exists(old) && !exists(target))
            (void)rename(old, target);
        (void)unlink(journal);
        return hub_fail_errno(err, why, "'%s' cannot be replaced", target);
    }
    HUB_TRY(sync_parents(target, old, err));
    (void)unlink(journal);
    return HUB_OK;
}

/* Who wrote the journal or the trash may still be at work. */
static bool owner_lives(const char *name)
{
    const long pid = strtol(name, NULL, 10);
    return pid > 0 && pid != getpid() && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

static void finish_journal(const char *path)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *doc = NULL;
    if (hub_fs_read(AT_FDCWD, path, &text, NULL) || hub_json_parse(hub_buf_view(&text), 64 * KIB, &doc, NULL))
        return;
    const char *target = json_string_value(json_object_get(doc, "target"));
    const char *tree = json_string_value(json_object_get(doc, "new"));
    const char *old = json_string_value(json_object_get(doc, "old"));
    if (target && tree && old && !exists(target)) {
        if (rename(tree, target)) /* the new one was whole: finish */
            (void)rename(old, target);
        (void)sync_parents(target, old, NULL);
    }
    (void)unlink(path);
}

/* Call `act` with each entry of ROOT/.minari-hub/FOLDER whose process is gone. */
static enum hub_status each_orphan(const char *root, const char *folder, void (*act)(const char *path),
                                   struct hub_error *err)
{
    char at[PATH_MAX], path[PATH_MAX];
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    HUB_TRY(join(at, err, root, folder));
    const enum hub_status st = hub_fs_list(AT_FDCWD, at, MAX_JOURNALS, &names, err);
    if (st)
        return st == HUB_NOT_FOUND ? HUB_OK : st;
    for (size_t i = 0; i < names.count; i++)
        if (names.items[i].text[0] != '.' && !owner_lives(names.items[i].text) &&
            !join(path, NULL, at, names.items[i].text))
            act(path);
    return HUB_OK;
}

static void remove_tree(const char *path)
{
    hub_best_effort(hub_fs_remove(AT_FDCWD, path, NULL));
}

enum hub_status hub_publish_recover(const char *root, struct hub_error *err)
{
    HUB_TRY(each_orphan(root, HUB_PRIVATE_DIR "/replace", finish_journal, err));
    return each_orphan(root, HUB_PRIVATE_DIR "/trash", remove_tree, err);
}

/* ---- publish ---- */

static enum hub_status replace(const char *root, const char *target, const char *tree, bool pair,
                               struct hub_error *err)
{
    char old[PATH_MAX];
    HUB_TRY(trash_name(root, old, err));
    if (!pair && renameat2(AT_FDCWD, tree, AT_FDCWD, target, RENAME_EXCHANGE) == 0) {
        HUB_TRY(sync_parents(target, tree, err));
        if (rename(tree, old))
            return hub_fail_errno(err, errno, "'%s' cannot be moved away", tree);
    } else if (!pair && errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) {
        return hub_fail_errno(err, errno, "'%s' cannot be replaced", target);
    } else {
        HUB_TRY(replace_in_two(root, target, tree, old, err));
    }
    return hub_fs_remove(AT_FDCWD, old, err);
}

enum hub_status hub_publish(const char *root, const char *id, const char *tree, bool may_replace, bool pair,
                            struct hub_error *err)
{
    char target[PATH_MAX], folder[PATH_MAX];
    HUB_TRY(hub_id_check(hub_view_of(id), err));
    HUB_TRY(join(target, err, root, id));
    parent_of(target, folder);
    HUB_TRY(hub_fs_make_dirs(AT_FDCWD, folder, 0777, err));
    HUB_TRY(hub_fs_sync_dir(AT_FDCWD, tree, err));
    if (renameat2(AT_FDCWD, tree, AT_FDCWD, target, RENAME_NOREPLACE) == 0)
        return sync_parents(target, tree, err);
    const int why = errno;
    if (exists(target))
        return may_replace ? replace(root, target, tree, pair, err)
                           : hub_fail(err, HUB_EXISTS, "'%s' is there already", target);
    /* a file system without RENAME_NOREPLACE: rename(2) over nothing, or over an empty folder at worst */
    if ((why == EINVAL || why == ENOSYS || why == ENOTSUP) && rename(tree, target) == 0)
        return sync_parents(target, tree, err);
    return hub_fail_errno(err, why, "'%s' cannot be published", target);
}

enum hub_status hub_withdraw(const char *root, const char *id, struct hub_error *err)
{
    char target[PATH_MAX], old[PATH_MAX], folder[PATH_MAX];
    HUB_TRY(hub_id_check(hub_view_of(id), err));
    HUB_TRY(join(target, err, root, id));
    if (!exists(target))
        return hub_fail_as(err, HUB_NOT_FOUND, "dataset-not-found", "there is no '%s'", target);
    HUB_TRY(trash_name(root, old, err));
    if (rename(target, old))
        return hub_fail_errno(err, errno, "'%s' cannot be moved to the trash", target);
    HUB_TRY(sync_parents(target, old, err));
    HUB_TRY(hub_fs_remove(AT_FDCWD, old, err));
    for (char *slash; (slash = strrchr(target, '/')) && (size_t)(slash - target) > strlen(root);) {
        *slash = '\0';
        parent_of(target, folder);
        if (rmdir(target)) /* not empty: fine */
            break;
    }
    return HUB_OK;
}
