/* Opening a file beneath a directory: see fs.h. The kernel does it in one call since Linux 5.6 (openat2);
 * where that is missing or forbidden (old kernels, container profiles) each segment is opened with
 * O_NOFOLLOW. */
#include "storage/io/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

static enum hub_status failed(struct hub_error *err, int errnum, const char *path)
{
    if (errnum == EXDEV || errnum == ELOOP)
        return hub_fail(err, HUB_DENIED, "'%s' leads out of its directory or is a link", path);
    return hub_fail_errno(err, errnum, "'%s' cannot be opened", path);
}

bool hub_path_plain(struct hub_view path)
{
    while (true) {
        const char *slash = path.size ? memchr(path.data, '/', path.size) : NULL;
        const struct hub_view segment = {path.data, slash ? (size_t)(slash - path.data) : path.size};
        if (segment.size == 0 || hub_view_is(segment, ".") || hub_view_is(segment, ".."))
            return false;
        if (!slash)
            return true;
        path = (struct hub_view){slash + 1, path.size - segment.size - 1};
    }
}

static int open_at_once(int directory, const char *path, int flags, unsigned options)
{
    struct open_how how = {.flags = (uint64_t)(unsigned)flags,
                           .mode = flags & O_CREAT ? 0666 : 0,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    if (options & HUB_FS_NO_LINKS)
        how.resolve |= RESOLVE_NO_SYMLINKS;
    long fd;
    int tries = 0;
    do /* EAGAIN: something was renamed while the kernel looked */
        fd = syscall(SYS_openat2, directory, path, &how, sizeof(how));
    while (fd < 0 && (errno == EINTR || (errno == EAGAIN && ++tries < 10)));
    return (int)fd;
}

/* A link is ELOOP, also where O_PATH would open the link itself. */
static int open_segment(int directory, const char *name, int flags)
{
    int fd;
    struct stat st;
    do
        fd = openat(directory, name, flags | O_NOFOLLOW, 0666);
    while (fd < 0 && errno == EINTR);
    if (fd >= 0 && (flags & O_PATH) && fstat(fd, &st) == 0 && S_ISLNK(st.st_mode)) {
        close(fd);
        errno = ELOOP;
        return -1;
    }
    return fd;
}

/* errno tells on failure. O_DIRECTORY | O_NOFOLLOW on a link says ENOTDIR, which is made ELOOP. */
static int open_walk(int directory, const char *path, int flags)
{
    char name[256];
    int at = directory;
    while (true) {
        const size_t n = strcspn(path, "/");
        if (n >= sizeof(name)) {
            errno = ENAMETOOLONG;
            break;
        }
        memcpy(name, path, n);
        name[n] = '\0';
        const bool last = !path[n];
        const int next = open_segment(at, name, last ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC);
        struct stat st;
        if (next < 0 && errno == ENOTDIR && fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            errno = S_ISLNK(st.st_mode) ? ELOOP : ENOTDIR;
        const int saved = errno;
        if (at != directory)
            close(at);
        errno = saved;
        if (last || next < 0)
            return next;
        at = next;
        path += n + 1;
    }
    const int saved = errno;
    if (at != directory)
        close(at);
    errno = saved;
    return -1;
}

enum hub_status hub_fs_open_beneath(int directory, const char *path, int flags, unsigned options, int *fd,
                                    struct hub_error *err)
{
    flags |= O_CLOEXEC;
    if (*path && !hub_path_plain(hub_view_of(path)))
        return hub_fail(err, HUB_DENIED, "'%s' is not a plain relative path", path);
    const char *target = *path ? path : ".";
    int opened = -1;
    bool walk = options & HUB_FS_WALK;
    if (!walk) {
        opened = open_at_once(directory, target, flags, options);
        walk = opened < 0 && (errno == ENOSYS || errno == EPERM || errno == EAGAIN || errno == EINVAL);
    }
    if (walk)
        opened = open_walk(directory, target, flags);
    if (opened < 0)
        return failed(err, errno, path);
    *fd = opened;
    return HUB_OK;
}
