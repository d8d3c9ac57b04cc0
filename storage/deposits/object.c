/* Objects that are there: see deposit.h. */
#include "storage/deposits/folder.h"

#include "storage/io/fs.h"
#include "storage/io/roots.h"
#include "storage/text/time.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HOUR_MS = 3600 * 1000, MOST_OBJECTS = 10 * 1000 * 1000 };

enum hub_status hub_deposits_folder(const struct hub_deposits *deposits, uint32_t root, const char *name,
                                    bool make, struct hub_private *place, int *folder, struct hub_error *err)
{
    if (root >= deposits->roots->count)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_ROOT_MISSING,
                           "the root of the object is not served any more");
    HUB_TRY(hub_private_open(deposits->roots->roots[root].path, make, place, err));
    return hub_private_folder(place->folder, name, make, folder, err);
}

/* The folder, and the name of an object there. */
static enum hub_status find(const struct hub_deposits *deposits, uint32_t root, const uint8_t *sha256,
                            struct hub_private *place, int *folder, char name[HUB_OBJECT_NAME],
                            struct hub_error *err)
{
    hub_hex(sha256, HUB_SHA256_BYTES, name);
    return hub_deposits_folder(deposits, root, "objects", false, place, folder, err);
}

static enum hub_status none(const char *name, struct hub_error *err)
{
    return hub_fail(err, HUB_NOT_FOUND, "the object %s is not here: send it", name);
}

enum hub_status hub_deposit_has(const struct hub_deposits *deposits, struct hub_deposit_row *out,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    struct stat st;
    HUB_TRY(hub_deposit_find(deposits->truth, out, err));
    HUB_TRY(hub_object_file_open(deposits, out->root, out->sha256, &fd, err));
    return fstat(fd, &st) == 0 && (uint64_t)st.st_size == out->size
               ? HUB_OK
               : hub_fail(err, HUB_NOT_FOUND, "the object was changed on the disk: send it again");
}

enum hub_status hub_object_file_open(const struct hub_deposits *deposits, uint32_t root,
                                     const uint8_t sha256[HUB_SHA256_BYTES], int *fd, struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_closep) int folder = -1;
    char name[HUB_OBJECT_NAME];
    HUB_TRY(find(deposits, root, sha256, &place, &folder, name, err));
    *fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (*fd < 0)
        return errno == ENOENT ? none(name, err)
                               : hub_fail_errno(err, errno, "the object %s cannot be read", name);
    return HUB_OK;
}

enum hub_status hub_object_file_path(const struct hub_deposits *deposits, uint32_t root,
                                     const uint8_t sha256[HUB_SHA256_BYTES], struct hub_buf *out,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_closep) int folder = -1;
    char name[HUB_OBJECT_NAME];
    HUB_TRY(find(deposits, root, sha256, &place, &folder, name, err));
    return hub_buf_addf(out, err, "%s/objects/%s", strrchr(place.path, '/') + 1, name);
}

/* Files first, then the folder that names them: one call, however many they are. */
enum hub_status hub_object_files_sync(const struct hub_deposits *deposits, uint32_t root,
                                      struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_closep) int folder = -1;
    HUB_TRY(hub_deposits_folder(deposits, root, "objects", true, &place, &folder, err));
    return syncfs(folder) ? hub_fail_errno(err, errno, "%s/objects", place.path) : HUB_OK;
}

/* Folders on the way are made where the link says that there is none. */
static int link_with_folders(int from, const char *name, int tree, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (linkat(from, name, tree, path, 0) == 0)
        return 0;
    if (errno != ENOENT || !slash)
        return -1;
    char above[PATH_MAX];
    snprintf(above, sizeof above, "%.*s", (int)(slash - path), path);
    return hub_fs_make_dirs(tree, above, 0777, NULL) ? -1 : linkat(from, name, tree, path, 0);
}

enum hub_status hub_object_file_link(const struct hub_deposits *deposits, uint32_t root,
                                     const uint8_t sha256[HUB_SHA256_BYTES], int tree, const char *path,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_closep) int folder = -1;
    char name[HUB_OBJECT_NAME];
    struct stat st;
    HUB_TRY(find(deposits, root, sha256, &place, &folder, name, err));
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
        return none(name, err);
    return link_with_folders(folder, name, tree, path)
               ? hub_fail_errno(err, errno, "'%.200s' cannot be linked to its object", path)
               : HUB_OK;
}

/* A name of a file becomes that of its object: the same file twice, or moved. */
static enum hub_status put(const struct hub_deposits *deposits, uint32_t root, int directory,
                           const char *path, const uint8_t sha256[HUB_SHA256_BYTES], bool move,
                           struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_closep) int folder = -1;
    char name[HUB_OBJECT_NAME];
    hub_hex(sha256, HUB_SHA256_BYTES, name);
    HUB_TRY(hub_deposits_folder(deposits, root, "objects", true, &place, &folder, err));
    const bool failed = move ? renameat(directory, path, folder, name) != 0
                             : linkat(directory, path, folder, name, 0) && errno != EEXIST;
    return failed ? hub_fail_errno(err, errno, "'%.200s' cannot be made an object", path) : HUB_OK;
}

enum hub_status hub_object_file_take(const struct hub_deposits *deposits, uint32_t root, int directory,
                                     const char *path, const uint8_t sha256[HUB_SHA256_BYTES],
                                     struct hub_error *err)
{
    return put(deposits, root, directory, path, sha256, false, err);
}

enum hub_status hub_object_file_move(const struct hub_deposits *deposits, uint32_t root, int directory,
                                     const char *path, const uint8_t sha256[HUB_SHA256_BYTES],
                                     struct hub_error *err)
{
    return put(deposits, root, directory, path, sha256, true, err);
}

bool hub_object_file_is_whole(const struct hub_deposits *deposits, uint32_t root,
                              const uint8_t sha256[HUB_SHA256_BYTES], uint64_t size)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_closep) int folder = -1;
    char name[HUB_OBJECT_NAME];
    struct stat st;
    return find(deposits, root, sha256, &place, &folder, name, NULL) == HUB_OK &&
           fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
           hub_stat_is_owned(&st) && (uint64_t)st.st_size == size;
}

enum hub_status hub_object_files_each(const struct hub_deposits *deposits, uint32_t root,
                                      hub_object_file_each each, void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_closep) int folder = -1;
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    uint8_t sha256[HUB_SHA256_BYTES];
    const enum hub_status st = hub_deposits_folder(deposits, root, "objects", false, &place, &folder, NULL);
    if (st)
        return st == HUB_NOT_FOUND ? HUB_OK : hub_fail(err, st, "the objects of a root cannot be read");
    HUB_TRY(hub_fs_list(folder, ".", MOST_OBJECTS, &names, err));
    for (size_t i = 0; i < names.count; i++)
        if (hub_unhex(hub_view_of(names.items[i].text), sha256, sizeof sha256))
            HUB_TRY(each(user, sha256, err));
    return HUB_OK;
}

/* ---- what goes ---- */

struct sweep {
    int folder;
    const char *name;
};

static void remove_object(void *user)
{
    const struct sweep *sweep = user;
    (void)unlinkat(sweep->folder, sweep->name, 0);
}

/* An object of which only a part came before the hub ended has a name of its own. */
static bool is_left_over(int folder, const char *name, int64_t now_ms)
{
    struct stat st;
    return hub_private_name_is_ours(name, "") && fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           now_ms - (int64_t)st.st_mtim.tv_sec * 1000 > (int64_t)HUB_DEPOSIT_HOURS * HOUR_MS;
}

static void tidy_root(const struct hub_deposits *deposits, uint32_t root, int64_t now_ms)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_closep) int folder = -1;
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    if (hub_deposits_folder(deposits, root, "objects", false, &place, &folder, NULL) ||
        hub_fs_list(folder, ".", MOST_OBJECTS, &names, NULL))
        return;
    for (size_t i = 0; i < names.count; i++) {
        uint8_t sha256[HUB_SHA256_BYTES];
        struct sweep sweep = {folder, names.items[i].text};
        if (hub_unhex(hub_view_of(sweep.name), sha256, sizeof sha256))
            (void)!hub_deposit_sweep(deposits->truth, root, sha256, remove_object, &sweep, NULL);
        else if (is_left_over(folder, sweep.name, now_ms))
            remove_object(&sweep);
    }
}

void hub_deposits_tidy(const struct hub_deposits *deposits)
{
    const int64_t now_ms = hub_time_now_ns() / 1000000;
    if (hub_deposits_expire(deposits->truth, now_ms - (int64_t)HUB_DEPOSIT_HOURS * HOUR_MS, NULL))
        return;
    for (uint32_t root = 0; root < deposits->roots->count; root++)
        if (!deposits->roots->roots[root].read_only)
            tidy_root(deposits, root, now_ms);
}
