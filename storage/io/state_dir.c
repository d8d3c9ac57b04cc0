/* The lock and the mark of a run: see state_dir.h. */
#include "storage/io/state_dir.h"

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
    dir->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0640);
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
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0640);
    if (fd < 0)
        return hub_fail_errno(err, errno, "writing %s", path);
    close(fd);
    return HUB_OK;
}

static enum hub_status open_in(struct hub_state_dir *dir, const char *path, struct hub_error *err)
{
    if (strlen(path) > MAX_PATH_BYTES)
        return hub_fail(err, HUB_INVALID, "the state directory's path is too long");
    HUB_TRY(hub_dup(&dir->path, path, err));
    if (mkdir(path, 0750) && errno != EEXIST)
        return hub_fail_errno(err, errno, "making the state directory %s", path);
    HUB_TRY(take_lock(dir, err));
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
