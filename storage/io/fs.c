/* File helpers: see fs.h. */
#include "storage/io/fs.h"
#include "storage/base/order.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/statvfs.h>
#include <unistd.h>

bool hub_stamp_equal(const struct hub_stamp *a, const struct hub_stamp *b)
{
    return a->size == b->size && a->mtime_ns == b->mtime_ns && a->tag == b->tag;
}

static uint64_t nanoseconds(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * 1000000000U + (uint64_t)t->tv_nsec;
}

uint64_t hub_ctime_ns(const struct stat *st)
{
    return nanoseconds(&st->st_ctim);
}

bool hub_stat_is_owned(const struct stat *st)
{
    return S_ISREG(st->st_mode) && (st->st_mode & (S_ISUID | S_ISGID | S_ISVTX | 0222)) == S_ISVTX;
}

enum hub_status hub_fs_own(int fd, const char *path, struct hub_error *err)
{
    struct stat st;
    return fstat(fd, &st) || fchmod(fd, (st.st_mode & 0444) | S_ISVTX)
               ? hub_fail_errno(err, errno, "'%.200s' cannot be made read-only", path)
               : HUB_OK;
}

/* Of two states of one inode, and of two inodes at one time, the tags always differ. hub.db was migrated to
 * the same formula. A file of the hub's own has one state: each link to it moves its ctime. */
struct hub_stamp hub_stamp_of(const struct stat *st)
{
    const uint64_t inode = (uint64_t)st->st_ino, state = hub_stat_is_owned(st) ? 0 : hub_ctime_ns(st);
    return (struct hub_stamp){.size = (uint64_t)st->st_size,
                              .mtime_ns = nanoseconds(&st->st_mtim),
                              .tag = state ^ (inode << 32 | inode >> 32)};
}

/* ---- seals ---- */

struct seal {
    char magic[8];
    uint64_t tag;
};
_Static_assert(sizeof(struct seal) == HUB_SEAL_BYTES, "the header says so");
static const char seal_magic[8] = {'H', 'U', 'B', 'S', 'E', 'A', 'L', '1'};

enum hub_status hub_fs_seal(int fd, struct hub_stamp *stamp, struct hub_error *err)
{
    struct seal seal;
    const off_t end = lseek(fd, 0, SEEK_END);
    memcpy(seal.magic, seal_magic, sizeof seal.magic);
    if (end < 0 || getrandom(&seal.tag, sizeof seal.tag, 0) != sizeof seal.tag)
        return hub_fail_errno(err, errno, "sealing a file");
    HUB_TRY(hub_fs_write_fd(fd, (struct hub_view){(const char *)&seal, sizeof seal}, err));
    *stamp = (struct hub_stamp){.size = (uint64_t)end + sizeof seal, .tag = seal.tag};
    return HUB_OK;
}

enum hub_status hub_fs_sealed_stamp(int fd, struct hub_stamp *stamp, struct hub_error *err)
{
    struct seal seal;
    struct stat st;
    if (fstat(fd, &st))
        return hub_fail_errno(err, errno, "a sealed file");
    const ssize_t n =
        st.st_size < (off_t)sizeof seal ? 0 : pread(fd, &seal, sizeof seal, st.st_size - (off_t)sizeof seal);
    if (n < 0)
        return hub_fail_errno(err, errno, "reading a seal");
    if (n != sizeof seal || memcmp(seal.magic, seal_magic, sizeof seal_magic) != 0)
        return hub_fail(err, HUB_CHANGED, "a file is not sealed");
    *stamp = (struct hub_stamp){.size = (uint64_t)st.st_size, .tag = seal.tag};
    return HUB_OK;
}

/* ---- whole files ---- */

enum hub_status hub_fs_read_fd(int fd, struct hub_buf *out, struct hub_error *err)
{
    struct stat st;
    size_t step = 16 * KIB;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && (uint64_t)st.st_size < out->limit)
        step = (size_t)st.st_size;
    while (true) {
        const size_t room = out->limit - out->size;
        step = HUB_MIN(step, room);
        HUB_TRY(hub_buf_reserve(out, step, err));
        char extra; /* a full buffer still has to meet the end of the file */
        const ssize_t n = step ? read(fd, out->data + out->size, step) : read(fd, &extra, 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return hub_fail_errno(err, errno, "reading failed");
        if (n > 0 && !step)
            return hub_fail(err, HUB_TOO_BIG, "a file has more than %zu bytes", out->limit);
        out->size += (size_t)n;
        out->data[out->size] = '\0';
        if (n == 0)
            return HUB_OK;
        step = 16 * KIB;
    }
}

ssize_t hub_fs_pread(int fd, void *out, size_t size, uint64_t offset)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t n = pread(fd, (char *)out + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

enum hub_status hub_fs_read(int directory, const char *path, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return hub_fail_errno(err, errno, "'%s' cannot be opened", path);
    return hub_fs_read_fd(fd, out, err);
}

enum hub_status hub_fs_write_fd(int fd, struct hub_view bytes, struct hub_error *err)
{
    while (bytes.size) {
        const ssize_t n = write(fd, bytes.data, bytes.size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return hub_fail_errno(err, errno, "writing failed");
        bytes.data += n;
        bytes.size -= (size_t)n;
    }
    return HUB_OK;
}

/* The directory part of a path, with its '/'; 0 when there is none. */
static size_t parent_size(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

enum hub_status hub_fs_sync_dir(int directory, const char *path, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep)
    int fd = openat(directory, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return hub_fail_errno(err, errno, "'%s' cannot be opened", path);
    if (fsync(fd) && errno != EINVAL && errno != EROFS) /* some file systems cannot sync a directory */
        return hub_fail_errno(err, errno, "'%s' cannot be synced", path);
    return HUB_OK;
}

/* A hidden name beside the target that nobody else uses: "DIR/.NAME.PID-COUNT.tmp". */
static int create_temporary(int directory, const char *path, unsigned mode, char out[PATH_MAX])
{
    const size_t parent = parent_size(path);
    for (unsigned i = 0; i < 1000; i++) {
        const int n = snprintf(out, PATH_MAX, "%.*s.%.200s.%d-%u.tmp", (int)parent, path, path + parent,
                               (int)getpid(), i);
        if (n < 0 || n >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        const int fd = openat(directory, out, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static enum hub_status fill_and_rename(int directory, int fd, const char *temporary, const char *path,
                                       struct hub_view bytes, bool synced, struct hub_error *err)
{
    HUB_TRY(hub_fs_write_fd(fd, bytes, err));
    if (synced && fsync(fd))
        return hub_fail_errno(err, errno, "'%s' cannot be synced", path);
    if (renameat(directory, temporary, directory, path))
        return hub_fail_errno(err, errno, "'%s' cannot be replaced", path);
    return HUB_OK;
}

static enum hub_status write_file(int directory, const char *path, struct hub_view bytes, unsigned mode,
                                  bool synced, struct hub_error *err)
{
    char temporary[PATH_MAX];
    HUB_CLEANUP(hub_closep) int fd = create_temporary(directory, path, mode, temporary);
    if (fd < 0)
        return hub_fail_errno(err, errno, "'%s' cannot be written", path);
    const enum hub_status st = fill_and_rename(directory, fd, temporary, path, bytes, synced, err);
    if (st)
        unlinkat(directory, temporary, 0);
    return st;
}

enum hub_status hub_fs_write(int directory, const char *path, struct hub_view bytes, unsigned mode,
                             struct hub_error *err)
{
    char parent[PATH_MAX];
    HUB_TRY(write_file(directory, path, bytes, mode, true, err));
    snprintf(parent, sizeof(parent), "%.*s", (int)parent_size(path), path);
    return hub_fs_sync_dir(directory, parent, err);
}

enum hub_status hub_fs_write_unsynced(int directory, const char *path, struct hub_view bytes, unsigned mode,
                                      struct hub_error *err)
{
    return write_file(directory, path, bytes, mode, false, err);
}

void hub_fs_user(char out[HUB_USER_BYTES])
{
    char room[16 * 1024];
    struct passwd entry, *found = NULL;
    if (getpwuid_r(geteuid(), &entry, room, sizeof room, &found) == 0 && found)
        snprintf(out, HUB_USER_BYTES, "%s", entry.pw_name);
    else
        snprintf(out, HUB_USER_BYTES, "%lu", (unsigned long)geteuid());
}

/* ---- directories ---- */

static bool is_directory(int directory, const char *path)
{
    struct stat st;
    return fstatat(directory, path, &st, 0) == 0 && S_ISDIR(st.st_mode);
}

static enum hub_status make_failed(const char *path, int why, struct hub_error *err)
{
    char user[HUB_USER_BYTES];
    if (why == EEXIST || why == ENOTDIR)
        return hub_fail(err, HUB_EXISTS, "directory '%s' cannot be created: a file is in its place", path);
    if (why != EACCES && why != EPERM)
        return hub_fail_errno(err, why, "directory '%s' cannot be created", path);
    hub_fs_user(user);
    return hub_fail_errno(err, why, "directory '%s' cannot be created by user %s", path, user);
}

/* As far as it may be read. */
static void sync_above(const char *path)
{
    char above[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(above, sizeof above, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    (void)!hub_fs_sync_dir(AT_FDCWD, above, NULL);
}

enum hub_status hub_fs_make_dirs(int directory, const char *path, unsigned mode, struct hub_error *err)
{
    char prefix[PATH_MAX];
    const size_t size = strlen(path);
    if (size >= sizeof(prefix))
        return hub_fail_errno(err, ENAMETOOLONG, "a directory cannot be created");
    memcpy(prefix, path, size + 1);
    for (size_t i = 1; i <= size; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        prefix[i] = '\0';
        const int why = mkdirat(directory, prefix, mode) ? errno : 0;
        if (!why && directory == AT_FDCWD)
            sync_above(prefix);
        if (why && !is_directory(directory, prefix))
            return make_failed(prefix, why, err);
        prefix[i] = path[i];
    }
    return HUB_OK;
}

void hub_names_dispose(struct hub_names *names)
{
    free(names->items);
    free(names->bytes);
    *names = (struct hub_names){0};
}

static void closedirp(DIR **dir)
{
    if (*dir)
        closedir(*dir);
}

/* Each entry as one byte of type and a terminated name. */
static enum hub_status read_names(DIR *dir, const char *path, size_t max, struct hub_buf *out, size_t *count,
                                  struct hub_error *err)
{
    while (true) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry && errno)
            return hub_fail_errno(err, errno, "'%s' cannot be listed", path);
        if (!entry)
            return HUB_OK;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (*count == max)
            return hub_fail(err, HUB_TOO_BIG, "'%s' contains more than %zu names", path, max);
        ++*count;
        HUB_TRY(hub_buf_add(out, &entry->d_type, 1, err));
        HUB_TRY(hub_buf_add(out, entry->d_name, strlen(entry->d_name) + 1, err));
    }
}

enum hub_status hub_fs_list(int directory, const char *path, size_t max, struct hub_names *out,
                            struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf bytes = HUB_BUF_INIT(256 * MIB);
    struct hub_names names = {0};
    const int fd = openat(directory, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    HUB_CLEANUP(closedirp) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        const int why = errno;
        if (fd >= 0)
            close(fd);
        return hub_fail_errno(err, why, "'%s' cannot be listed", path);
    }
    HUB_TRY(read_names(dir, path, max, &bytes, &names.count, err));
    HUB_TRY(hub_new(&names.items, names.count + 1, sizeof(*names.items), err));
    names.bytes = hub_buf_take(&bytes, NULL);
    const char *at = names.bytes;
    for (size_t i = 0; i < names.count; i++) {
        names.items[i] = (struct hub_name){.text = at + 1, .type = (uint8_t)*at};
        at += strlen(at + 1) + 2;
    }
    qsort(names.items, names.count, sizeof(*names.items), hub_by_text);
    *out = names;
    return HUB_OK;
}

enum { REMOVE_DEPTH = 64 };

static enum hub_status remove_tree(int directory, const char *path, unsigned depth, const atomic_bool *stop,
                                   struct hub_error *err)
{
    if (stop && atomic_load(stop))
        return hub_fail(err, HUB_CANCELLED, "stopped");
    if (unlinkat(directory, path, 0) == 0 || errno == ENOENT)
        return HUB_OK;
    if (errno != EISDIR && errno != EPERM)
        return hub_fail_errno(err, errno, "'%s' cannot be removed", path);
    if (depth == REMOVE_DEPTH)
        return hub_fail(err, HUB_TOO_BIG, "'%s' is nested too deeply to be removed", path);
    HUB_CLEANUP(hub_closep) int fd = openat(directory, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    if (fd < 0)
        return hub_fail_errno(err, errno, "'%s' cannot be removed", path);
    HUB_TRY(hub_fs_list(fd, "", 10000000, &names, err));
    for (size_t i = 0; i < names.count; i++)
        HUB_TRY(remove_tree(fd, names.items[i].text, depth + 1, stop, err));
    if (unlinkat(directory, path, AT_REMOVEDIR) && errno != ENOENT)
        return hub_fail_errno(err, errno, "'%s' cannot be removed", path);
    return HUB_OK;
}

enum hub_status hub_fs_remove(int directory, const char *path, struct hub_error *err)
{
    return remove_tree(directory, path, 0, NULL, err);
}

enum hub_status hub_fs_remove_until(int directory, const char *path, const atomic_bool *stop,
                                    struct hub_error *err)
{
    return remove_tree(directory, path, 0, stop, err);
}

enum hub_status hub_fs_free_bytes(const char *path, uint64_t *out, struct hub_error *err)
{
    struct statvfs fs;
    if (statvfs(path, &fs))
        return hub_fail_errno(err, errno, "free space of '%s' is unknown", path);
    *out = (uint64_t)fs.f_bavail * fs.f_frsize;
    return HUB_OK;
}
