/* Adoption: see adopt.h. */
#include "storage/drafts/adopt.h"

#include "storage/drafts/kept.h"
#include "storage/io/roots.h"
#include "storage/transfer/record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { DEPTH = 32, MOST_NAMES = 10000000 };

void hub_adoption_dispose(struct hub_adoption *a)
{
    hub_closep(&a->folder);
    hub_private_close(&a->place);
    hub_remote_files_dispose(&a->files);
    free(a->stamps);
    *a = HUB_ADOPTION_INIT;
}

/* ---- what it is ---- */

static enum hub_status no_file(const char *path, const struct stat *st, struct hub_error *err)
{
    return hub_fail(err, HUB_INVALID,
                    S_ISLNK(st->st_mode) ? "'%.200s' is a link: put the file itself there"
                                         : "'%.200s' is neither a file nor a folder: move it away",
                    path);
}

static bool is_foreign(const struct stat *st)
{
    return geteuid() != 0 && st->st_uid != geteuid();
}

static enum hub_status check_file(const char *path, const struct stat *st, struct hub_error *err)
{
    char user[HUB_USER_BYTES];
    if (!S_ISREG(st->st_mode))
        return no_file(path, st, err);
    if (st->st_nlink > 1 && !hub_stat_is_owned(st)) /* else the others are earlier revisions */
        return hub_fail(err, HUB_INVALID,
                        "'%.200s' has more than one link, so that it could be changed by another name: put a "
                        "copy of it in its place (cp -p, then mv)",
                        path);
    if (!is_foreign(st))
        return HUB_OK;
    hub_fs_user(user);
    return hub_fail(err, HUB_DENIED,
                    "'%.200s' belongs to another user than the hub, which cannot make it read-only: chown it "
                    "to %s",
                    path, user);
}

/* What is replaced is moved: its folders have to let that happen. */
static enum hub_status check_folder(const struct hub_adoption *a, int fd, const char *path,
                                    struct hub_error *err)
{
    struct stat st, root;
    char user[HUB_USER_BYTES];
    if (fstat(fd, &st) || fstat(a->place.root, &root))
        return hub_fail_errno(err, errno, "'%.200s'", path);
    if (st.st_dev != root.st_dev)
        return hub_fail(err, HUB_INVALID,
                        "'%.200s' lies on another file system than its root: move it there, or serve it as a "
                        "root of its own",
                        path);
    if (!faccessat(fd, ".", W_OK | X_OK, AT_EACCESS))
        return HUB_OK;
    hub_fs_user(user);
    return hub_fail(err, HUB_DENIED, "the hub may not write to the folder '%.200s': give it to %s", path,
                    user);
}

static enum hub_status list_folder(struct hub_adoption *a, int fd, const char *path, unsigned depth,
                                   struct hub_error *err);

static enum hub_status list_name(struct hub_adoption *a, int fd, const char *name, const char *path,
                                 unsigned depth, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int below = -1;
    struct stat st;
    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW))
        return hub_fail_errno(err, errno, "'%.200s'", path);
    HUB_TRY(hub_draft_path_check(hub_view_of(path), err));
    if (S_ISDIR(st.st_mode)) {
        HUB_TRY(hub_private_folder(fd, name, false, &below, err));
        return list_folder(a, below, path, depth + 1, err);
    }
    HUB_TRY(check_file(path, &st, err));
    return hub_remote_files_add(&a->files, path, (uint64_t)st.st_size, NULL, err);
}

/* A record that was being written when the hub ended: hub_fs_write. */
static bool is_half(const char *name)
{
    const struct hub_view text = hub_view_of(name);
    return hub_view_starts(text, "." HUB_RECORD_FILE ".") && hub_view_ends(text, ".tmp");
}

static enum hub_status list_folder(struct hub_adoption *a, int fd, const char *path, unsigned depth,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    HUB_TRY(check_folder(a, fd, *path ? path : ".", err));
    if (depth > DEPTH)
        return hub_fail(err, HUB_TOO_BIG, "'%.200s' lies in too many folders", path);
    HUB_TRY(hub_fs_list(fd, "", MOST_NAMES, &names, err));
    for (size_t i = 0; i < names.count; i++) {
        if (!depth && (strcmp(names.items[i].text, HUB_RECORD_FILE) == 0 || is_half(names.items[i].text)))
            continue; /* of a download, or of before: it gets another one */
        HUB_CLEANUP(hub_freep) char *below = hub_path_join(path, names.items[i].text);
        HUB_TRY(hub_allocated(below, err));
        HUB_TRY(list_name(a, fd, names.items[i].text, below, depth, err));
    }
    return HUB_OK;
}

/* ---- who writes to it ---- */

/* A lease for reading is given where nobody has the file open for writing; it is given back at once. A file
 * system without leases says nothing. Who opens the file meanwhile makes the kernel send a signal: one that
 * is ignored. */
static bool is_written(int fd)
{
    (void)fcntl(fd, F_SETSIG, SIGURG);
    if (fcntl(fd, F_SETLEASE, F_RDLCK))
        return errno == EAGAIN;
    (void)fcntl(fd, F_SETLEASE, F_UNLCK);
    return false;
}

static enum hub_status check_unwritten(int fd, const char *path, struct hub_error *err)
{
    return is_written(fd)
               ? hub_fail(err, HUB_BUSY, "somebody has '%.200s' open for writing: wait until that has ended",
                          path)
               : HUB_OK;
}

static enum hub_status open_file(const struct hub_adoption *a, uint32_t i, int *fd, struct stat *st,
                                 struct hub_error *err)
{
    const char *path = a->files.items[i].path;
    HUB_TRY(hub_fs_open_beneath(a->folder, path, O_RDONLY | O_NONBLOCK, HUB_FS_NO_LINKS, fd, err));
    if (fstat(*fd, st))
        return hub_fail_errno(err, errno, "'%.200s'", path);
    return check_file(path, st, err);
}

static enum hub_status find_stamps(struct hub_adoption *a, struct hub_error *err)
{
    HUB_TRY(hub_new(&a->stamps, a->files.count + (size_t)1, sizeof *a->stamps, err));
    for (uint32_t i = 0; i < a->files.count; i++) {
        HUB_CLEANUP(hub_closep) int fd = -1;
        struct stat st;
        HUB_TRY(open_file(a, i, &fd, &st, err));
        HUB_TRY(check_unwritten(fd, a->files.items[i].path, err));
        a->stamps[i] = hub_stamp_of(&st);
        a->files.items[i].size = a->stamps[i].size;
        a->files.items[i].modified_ns = (int64_t)a->stamps[i].mtime_ns;
    }
    return HUB_OK;
}

static enum hub_status look(const char *root, const char *path, struct hub_adoption *a, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int parent = -1;
    const char *name;
    if (!*path)
        return hub_fail(err, HUB_INVALID, "it is all of its root: move it into a folder of its own");
    HUB_TRY(hub_draft_name_check(path, err));
    HUB_TRY(hub_private_open(root, true, &a->place, err));
    HUB_TRY(hub_private_parent(&a->place, path, false, &parent, &name, err));
    HUB_TRY(check_folder(a, parent, path, err));
    HUB_TRY(hub_private_folder(parent, name, false, &a->folder, err));
    HUB_TRY(list_folder(a, a->folder, "", 0, err));
    HUB_TRY(hub_remote_files_finish(&a->files, err));
    return a->files.count ? find_stamps(a, err) : hub_fail(err, HUB_INVALID, "it has no file");
}

enum hub_status hub_adopt_look(const char *root, const char *path, struct hub_adoption *out,
                               struct hub_error *err)
{
    *out = HUB_ADOPTION_INIT;
    const enum hub_status st = look(root, path, out, err);
    if (st)
        hub_adoption_dispose(out);
    return st;
}

/* ---- its files ---- */

static enum hub_status open_same(const struct hub_adoption *a, uint32_t i, int *fd, struct stat *st,
                                 struct hub_error *err)
{
    HUB_TRY(open_file(a, i, fd, st, err));
    const struct hub_stamp now = hub_stamp_of(st);
    return hub_stamp_equal(&now, &a->stamps[i])
               ? HUB_OK
               : hub_fail(err, HUB_CHANGED, "'%.200s' was changed meanwhile: try again",
                          a->files.items[i].path);
}

enum hub_status hub_adopt_open(const struct hub_adoption *a, uint32_t i, int *fd, struct hub_error *err)
{
    struct stat st;
    return open_same(a, i, fd, &st, err);
}

/* From here on nobody opens it for writing; who had done so a moment ago is found by the lease. */
static enum hub_status own_file(struct hub_adoption *a, uint32_t i, mode_t *before, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    struct stat st;
    const char *path = a->files.items[i].path;
    HUB_TRY(open_same(a, i, &fd, &st, err));
    const mode_t mode = st.st_mode & 07777;
    HUB_TRY(hub_fs_own(fd, path, err));
    *before = mode;
    HUB_TRY(check_unwritten(fd, path, err));
    if (fstat(fd, &st))
        return hub_fail_errno(err, errno, "'%.200s'", path);
    const struct hub_stamp now = hub_stamp_of(&st);
    if (now.size != a->stamps[i].size || now.mtime_ns != a->stamps[i].mtime_ns)
        return hub_fail(err, HUB_CHANGED, "'%.200s' was changed meanwhile: try again", path);
    a->stamps[i] = now;
    return HUB_OK;
}

/* @param modes  those of before; 07777 and more: it was not changed */
static void give_back(const struct hub_adoption *a, const mode_t *modes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        HUB_CLEANUP(hub_closep) int fd = -1;
        if (modes[i] <= 07777 && !hub_fs_open_beneath(a->folder, a->files.items[i].path,
                                                      O_RDONLY | O_NONBLOCK, HUB_FS_NO_LINKS, &fd, NULL))
            (void)fchmod(fd, modes[i]);
    }
}

enum hub_status hub_adopt_own(struct hub_adoption *a, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) mode_t *modes = NULL;
    enum hub_status st = HUB_OK;
    HUB_TRY(hub_new(&modes, a->files.count, sizeof *modes, err));
    uint32_t i = 0;
    for (; !st && i < a->files.count; i++) {
        modes[i] = 07777 + 1;
        st = own_file(a, i, &modes[i], err);
    }
    if (st)
        give_back(a, modes, i);
    return st;
}

static void remove_halves(int folder)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    if (hub_fs_list(folder, "", MOST_NAMES, &names, NULL))
        return;
    for (size_t i = 0; i < names.count; i++)
        if (is_half(names.items[i].text))
            (void)unlinkat(folder, names.items[i].text, 0);
}

enum hub_status hub_adopt_record(const struct hub_adoption *a, const struct hub_draft_place *to,
                                 struct hub_error *err)
{
    remove_halves(a->folder);
    HUB_TRY(hub_draft_record_write(a->folder, &a->files, to, err));
    return syncfs(a->folder) ? hub_fail_errno(err, errno, "syncing the files of '%s'", to->path) : HUB_OK;
}

bool hub_adopt_is_owned(const char *root, const char *path, const char *commit)
{
    HUB_CLEANUP(hub_record_dispose) struct hub_record record = {0};
    HUB_CLEANUP(hub_closep) int folder = -1;
    char self[64];
    if (hub_kept_check(root, path, commit, NULL) ||
        hub_open_below(root, path, O_RDONLY | O_DIRECTORY, HUB_FS_NO_LINKS, &folder, NULL))
        return false;
    snprintf(self, sizeof self, "/proc/self/fd/%d", folder);
    if (hub_record_read(self, &record, NULL))
        return false;
    for (size_t i = 0; i < record.count; i++) {
        struct stat st;
        if (fstatat(folder, record.files[i].path, &st, AT_SYMLINK_NOFOLLOW) || !hub_stat_is_owned(&st) ||
            (uint64_t)st.st_size != record.files[i].size)
            return false;
    }
    return true;
}
