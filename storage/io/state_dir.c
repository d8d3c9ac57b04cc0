/* The lock and the mark of a run: see state_dir.h. */
#include "storage/io/state_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PATH_BYTES = 3500 };

static void path_of(const struct hub_state_dir *dir, const char *name, char out[4096])
{
    snprintf(out, 4096, "%s/%s", dir->path, name);
}

static enum hub_status take_lock(struct hub_state_dir *dir, struct hub_error *err)
{
    char path[4096], owner[32] = "";
    path_of(dir, "lock", path);
    dir->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (dir->lock_fd < 0)
        return hub_fail_errno(err, errno, "opening %s", path);
    if (flock(dir->lock_fd, LOCK_EX | LOCK_NB)) {
        const ssize_t n = pread(dir->lock_fd, owner, sizeof owner - 1, 0);
        owner[n > 0 ? strcspn(owner, "\n") : 0] = '\0';
        return hub_fail(
            err, HUB_BUSY,
            "another minari-hub (process %s) uses the state directory %s: stop it, or give --state",
            owner[0] ? owner : "?", dir->path);
    }
    const int n = snprintf(owner, sizeof owner, "%ld\n", (long)getpid());
    if (ftruncate(dir->lock_fd, 0) || pwrite(dir->lock_fd, owner, (size_t)n, 0) != n)
        return hub_fail_errno(err, errno, "writing %s", path);
    return HUB_OK;
}

static enum hub_status mark_run(struct hub_state_dir *dir, struct hub_error *err)
{
    char path[4096];
    path_of(dir, "running", path);
    dir->unclean = access(path, F_OK) == 0;
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return hub_fail_errno(err, errno, "writing %s", path);
    close(fd);
    return HUB_OK;
}

/* Was it a state directory before, or is it empty? One that also holds something else, such as /tmp, is left
 * as it is. */
static bool is_own(const char *path)
{
    DIR *folder = opendir(path);
    bool empty = true, known = false;
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        known = known || strcmp(entry->d_name, "hub.db") == 0;
        empty = empty && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0);
    }
    if (folder)
        closedir(folder);
    return folder && (known || empty);
}

/* Digests of tokens and what datasets hold are in it: for its owner alone. What earlier versions left open
 * is closed; a directory of another owner, such as a volume, may stay readable: the files in it are not. */
static enum hub_status close_to_others(const char *path, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st))
        return hub_fail_errno(err, errno, "the state directory %s", path);
    if (!(st.st_mode & 077) || (is_own(path) && fchmod(fd, st.st_mode & 0700) == 0))
        return HUB_OK;
    if (!(st.st_mode & S_IWOTH))
        return HUB_OK;
    return hub_fail(
        err, HUB_DENIED,
        "everybody may write to the state directory %s (mode %04o): run `chmod 0700` on it as its "
        "owner, or name a directory of the hub's own with --state DIR",
        path, (unsigned)st.st_mode & 07777);
}

/* What others left there is theirs; hub.db may not be. */
static enum hub_status close_file(const struct hub_state_dir *dir, int folder, const char *name,
                                  struct hub_error *err)
{
    struct stat st;
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) || !(st.st_mode & 077))
        return HUB_OK;
    if (fchmodat(folder, name, st.st_mode & 0700, 0) == 0 || strncmp(name, "hub.db", 6) != 0)
        return HUB_OK;
    return hub_fail(
        err, HUB_DENIED,
        "others may read %s/%s (mode %04o), which belongs to another user: run `chmod 0600` on it "
        "as that user, or give it to this one",
        dir->path, name, (unsigned)st.st_mode & 07777);
}

static enum hub_status close_files(const struct hub_state_dir *dir, struct hub_error *err)
{
    DIR *folder = opendir(dir->path);
    enum hub_status st = HUB_OK;
    if (!folder)
        return hub_fail_errno(err, errno, "the state directory %s", dir->path);
    for (const struct dirent *entry; !st && (entry = readdir(folder));)
        st = close_file(dir, dirfd(folder), entry->d_name, err);
    closedir(folder);
    return st;
}

static enum hub_status open_in(struct hub_state_dir *dir, const char *path, struct hub_error *err)
{
    if (strlen(path) > MAX_PATH_BYTES)
        return hub_fail(err, HUB_INVALID, "the state directory's path is too long");
    HUB_TRY(hub_dup(&dir->path, path, err));
    if (mkdir(path, 0700) && errno != EEXIST)
        return hub_fail_errno(err, errno, "making the state directory %s", path);
    HUB_TRY(close_to_others(path, err));
    HUB_TRY(take_lock(dir, err));
    HUB_TRY(close_files(dir, err));
    return mark_run(dir, err);
}

enum hub_status hub_state_dir_open(const char *path, struct hub_state_dir **out, struct hub_error *err)
{
    struct hub_state_dir *dir = calloc(1, sizeof *dir);
    HUB_TRY(hub_allocated(dir, err));
    dir->lock_fd = -1;
    const enum hub_status st = open_in(dir, path, err);
    if (st)
        hub_state_dir_close(dir);
    else
        *out = dir;
    return st;
}

void hub_state_dir_close(struct hub_state_dir *dir)
{
    char path[4096];
    if (!dir)
        return;
    if (dir->sound) {
        path_of(dir, "running", path);
        (void)unlink(path);
    }
    if (dir->lock_fd >= 0)
        close(dir->lock_fd);
    free(dir->path);
    free(dir);
}
