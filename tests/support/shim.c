/* Preloaded into a program under test (LD_PRELOAD): counts what it does to files, ends it at one of those
 * moments or lets it fail there, and moves its clock and its disk's number. All of it is told and asked by
 * the file that HUB_SHIM names, which holds a struct shim (tests/support/shim.py); programs that are called
 * otherwise than HUB_SHIM_IN are left alone. It also proves an order: when a folder gets its final name, all
 * that was written in it has been synced, and so have the names of the folders above it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { SEEN = 1 << 20, DIRTY = 1 << 16 };

struct shim {
    _Atomic uint64_t count; /* moments so far */
    uint64_t at;            /* the moment something happens, from 1; 0: none */
    uint32_t what;          /* 0: SIGKILL before it takes place; else the errno it fails with */
    uint32_t sticky;        /* also all that come later */
    char kinds[16];  /* which count: F sync, S syncfs, R rename, L link, U unlink, M mkdir, W write, T cut */
    int64_t clock_s; /* added to the time of day */
    uint64_t device; /* added to st_dev */
    _Atomic uint64_t unsynced; /* what was not on the disk when a folder around it got its name */
    char first[256];           /* of them */
    char seen[SEEN];           /* the kinds, as they came */
    char where[512];           /* the file of the last one that something happened at */
    char below[512];           /* only what happens below this folder counts; empty: everything */
};

static struct shim *shim;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("HUB_SHIM"), *in = getenv("HUB_SHIM_IN");
    if (!path || !in || strcmp(program_invocation_short_name, in) != 0)
        return;
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *shim, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        abort();
    close(fd);
    shim = at;
}

#define REAL(name)                                                                                           \
    static __typeof__(&name) real;                                                                           \
    if (!real)                                                                                               \
        real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);

/* ---- moments ---- */

static void name_of(int directory, const char *path, char out[512])
{
    char link[64], at[256] = "";
    const int why = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    if (!path || *path != '/')
        (void)!readlink(directory == AT_FDCWD ? "/proc/self/cwd" : link, at, sizeof at - 1);
    snprintf(out, 512, "%s%s%.240s", at, path && *path != '/' ? "/" : "", path ? path : "");
    errno = why;
}

static bool counts(char kind, int directory, const char *path)
{
    char name[512];
    if (!shim || !strchr(shim->kinds, kind))
        return false;
    if (!*shim->below)
        return true;
    name_of(directory, path, name);
    return strncmp(name, shim->below, strlen(shim->below)) == 0;
}

/* Of a name in a folder, or of an open file (NULL). False: it fails, and errno says how. */
static bool moment(char kind, int directory, const char *path)
{
    if (!counts(kind, directory, path))
        return true;
    const uint64_t n = atomic_fetch_add(&shim->count, 1) + 1;
    if (n <= SEEN)
        shim->seen[n - 1] = kind;
    if (!shim->at || n < shim->at || (n > shim->at && !shim->sticky))
        return true;
    name_of(directory, path, shim->where);
    while (!shim->what)
        kill(getpid(), SIGKILL);
    errno = (int)shim->what;
    return false;
}

/* ---- what is not on the disk yet: files and folders, by their inodes ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct inode {
    dev_t device;
    ino_t number;
} dirty[DIRTY];

static struct inode *slot(const struct stat *st)
{
    size_t at = st->st_ino * 0x9E3779B97F4A7C15u >> 48;
    while (dirty[at].number && (dirty[at].number != st->st_ino || dirty[at].device != st->st_dev))
        at = (at + 1) % DIRTY;
    return &dirty[at];
}

enum { CLEAN = (ino_t)-1 }; /* in a slot whose inode was synced: the search goes on behind it */

static void touch(const struct stat *st)
{
    pthread_mutex_lock(&lock);
    *slot(st) = (struct inode){st->st_dev, st->st_ino};
    pthread_mutex_unlock(&lock);
}

static bool is_dirty(const struct stat *st)
{
    pthread_mutex_lock(&lock);
    const bool found = slot(st)->number == st->st_ino;
    pthread_mutex_unlock(&lock);
    return found;
}

static void synced(const struct stat *st, bool all)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; all && i < DIRTY; i++)
        if (dirty[i].device == st->st_dev && dirty[i].number)
            dirty[i] = (struct inode){0, CLEAN};
    if (!all && slot(st)->number)
        *slot(st) = (struct inode){0, CLEAN};
    pthread_mutex_unlock(&lock);
}

static int look(int directory, const char *path, struct stat *st)
{
    return fstatat(directory, path, st, AT_SYMLINK_NOFOLLOW);
}

static void touch_fd(int fd)
{
    struct stat st;
    const int why = errno;
    if (shim && fd > 2 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        touch(&st);
    errno = why;
}

/* The folder that a name is in. */
static void touch_parent(int directory, const char *path)
{
    struct stat st;
    char above[PATH_MAX];
    const int why = errno;
    const char *slash = strrchr(path, '/');
    snprintf(above, sizeof above, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    if (shim && look(directory, above, &st) == 0)
        touch(&st);
    errno = why;
}

static void complain(const char *path, const char *name)
{
    if (atomic_fetch_add(&shim->unsynced, 1) == 0)
        snprintf(shim->first, sizeof shim->first, "%s/%s", path, name);
}

static void prove(int directory, const char *path)
{
    struct stat st;
    if (look(directory, path, &st) || !S_ISDIR(st.st_mode))
        return;
    if (is_dirty(&st))
        complain(path, ".");
    const int fd = openat(directory, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *e; list && (e = readdir(list));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || look(fd, e->d_name, &st))
            continue;
        if (S_ISDIR(st.st_mode))
            prove(fd, e->d_name);
        else if (is_dirty(&st))
            complain(path, e->d_name);
    }
    if (list)
        closedir(list);
}

/* ---- folders whose names are not on the disk yet, each with the folder it was made in ---- */

enum { NEW_FOLDERS = 1 << 12 };
static struct new_folder {
    struct inode own, above;
} new_folders[NEW_FOLDERS];
static size_t new_count;

static void made(int directory, const char *path)
{
    struct stat st, above;
    char parent[PATH_MAX];
    snprintf(parent, sizeof parent, "%s/..", path);
    if (!shim || look(directory, path, &st) || look(directory, parent, &above))
        return;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < new_count && i < NEW_FOLDERS; i++) /* of one that was removed */
        if (new_folders[i].own.number == st.st_ino && new_folders[i].own.device == st.st_dev)
            new_folders[i].own.number = 0;
    new_folders[new_count++ % NEW_FOLDERS] =
        (struct new_folder){{st.st_dev, st.st_ino}, {above.st_dev, above.st_ino}};
    pthread_mutex_unlock(&lock);
}

static bool is_new(const struct stat *st)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < new_count && i < NEW_FOLDERS; i++)
        found = found || (new_folders[i].own.number == st->st_ino && new_folders[i].own.device == st->st_dev);
    pthread_mutex_unlock(&lock);
    return found;
}

static void named(const struct stat *folder, bool all)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < new_count && i < NEW_FOLDERS; i++)
        if (new_folders[i].above.device == folder->st_dev &&
            (all || new_folders[i].above.number == folder->st_ino))
            new_folders[i].own.number = 0;
    pthread_mutex_unlock(&lock);
}

/* Above where a folder gets its final name; what lies in a private folder has none. */
static void prove_above(int directory, const char *path)
{
    struct stat st;
    char at[PATH_MAX] = "", link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    const ssize_t n =
        *path == '/' ? 0 : readlink(directory == AT_FDCWD ? "/proc/self/cwd" : link, at, sizeof at - 1);
    if (n < 0 || strlen(path) + (size_t)n + 2 > sizeof at)
        return;
    snprintf(at + n, sizeof at - (size_t)n, "/%s", path);
    for (char *slash; !strstr(at, "/.minari-hub") && (slash = strrchr(at, '/')) && slash > at;) {
        *slash = '\0';
        if (stat(at, &st) == 0 && is_new(&st))
            complain(at, "");
    }
}

static void renamed(int from_fd, const char *from, int to_fd, const char *to)
{
    touch_parent(from_fd, from);
    touch_parent(to_fd, to);
}

/* ---- files ---- */

#define SYNC(name, kind, all)                                                                                \
    int name(int fd)                                                                                         \
    {                                                                                                        \
        REAL(name)                                                                                           \
        struct stat st;                                                                                      \
        if (!moment(kind, fd, NULL))                                                                         \
            return -1;                                                                                       \
        const int rc = real(fd);                                                                             \
        if (shim && rc == 0 && fstat(fd, &st) == 0)                                                          \
            synced(&st, all), named(&st, all);                                                               \
        return rc;                                                                                           \
    }
SYNC(fsync, 'F', false)
SYNC(fdatasync, 'F', false)
SYNC(syncfs, 'S', true)

#define WRITE(name, more, names)                                                                             \
    ssize_t name(int fd, const void *data, size_t size more)                                                 \
    {                                                                                                        \
        REAL(name)                                                                                           \
        struct stat st;                                                                                      \
        if (shim && fd > 2 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {                                  \
            if (!moment('W', fd, NULL))                                                                      \
                return -1;                                                                                   \
            touch(&st);                                                                                      \
        }                                                                                                    \
        return real(fd, data, size names);                                                                   \
    }
#define COMMA ,
WRITE(write, , )
WRITE(pwrite, COMMA off_t at, COMMA at)
WRITE(pwrite64, COMMA off64_t at, COMMA at)

ssize_t copy_file_range(int in, off64_t *in_at, int out, off64_t *out_at, size_t size, unsigned flags)
{
    REAL(copy_file_range)
    if (!moment('W', out, NULL))
        return -1;
    touch_fd(out);
    return real(in, in_at, out, out_at, size, flags);
}

int ftruncate(int fd, off_t size)
{
    REAL(ftruncate)
    if (!moment('T', fd, NULL))
        return -1;
    touch_fd(fd);
    return real(fd, size);
}

int ftruncate64(int fd, off64_t size)
{
    return ftruncate(fd, size);
}

int fallocate(int fd, int mode, off_t from, off_t size)
{
    REAL(fallocate)
    if (!moment('W', fd, NULL))
        return -1;
    touch_fd(fd);
    return real(fd, mode, from, size);
}

int fallocate64(int fd, int mode, off64_t from, off64_t size)
{
    return fallocate(fd, mode, from, size);
}

/* ---- names ---- */

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    REAL(renameat2)
    struct stat st;
    if (!moment('R', to_fd, to))
        return -1;
    if (shim)
        prove(from_fd, from);
    if (shim && look(from_fd, from, &st) == 0 && S_ISDIR(st.st_mode))
        prove_above(to_fd, to);
    const int rc = real(from_fd, from, to_fd, to, flags);
    if (rc == 0)
        renamed(from_fd, from, to_fd, to);
    return rc;
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    return renameat2(from_fd, from, to_fd, to, 0);
}

int rename(const char *from, const char *to)
{
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    REAL(linkat)
    if (!moment('L', to_fd, to))
        return -1;
    const int rc = real(from_fd, from, to_fd, to, flags);
    if (rc == 0)
        touch_parent(to_fd, to);
    return rc;
}

int unlinkat(int directory, const char *path, int flags)
{
    REAL(unlinkat)
    if (!moment('U', directory, path))
        return -1;
    const int rc = real(directory, path, flags);
    if (rc == 0)
        touch_parent(directory, path);
    return rc;
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int mkdirat(int directory, const char *path, mode_t mode)
{
    REAL(mkdirat)
    if (!moment('M', directory, path))
        return -1;
    const int rc = real(directory, path, mode);
    if (rc == 0) {
        touch_parent(directory, path);
        made(directory, path);
    }
    return rc;
}

int openat(int directory, const char *path, int flags, ...)
{
    REAL(openat)
    va_list args;
    va_start(args, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    struct stat st;
    const bool new = shim &&flags &O_CREAT &&look(directory, path, &st);
    const int fd = real(directory, path, flags, mode);
    if (fd >= 0 && new)
        touch_parent(directory, path);
    return fd;
}

int openat64(int directory, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return openat(directory, path, flags, mode);
}

long syscall(long number, ...)
{
    REAL(syscall)
    struct stat st;
    va_list args;
    long a[6];
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    const int directory = (int)a[0];
    const char *path = (const char *)a[1];
    const bool new = shim &&number == SYS_openat2 &&
                     ((const struct open_how *)a[2])->flags &O_CREAT &&look(directory, path, &st);
    const long rc = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (rc >= 0 && new)
        touch_parent(directory, path);
    return rc;
}

/* ---- the number of the disk ---- */

static int on_another_disk(int rc, struct stat *st)
{
    if (rc == 0 && shim)
        st->st_dev += shim->device;
    return rc;
}

int fstat(int fd, struct stat *st)
{
    REAL(fstat)
    return on_another_disk(real(fd, st), st);
}

int fstatat(int directory, const char *path, struct stat *st, int flags)
{
    REAL(fstatat)
    return on_another_disk(real(directory, path, st, flags), st);
}

int stat(const char *path, struct stat *st)
{
    return fstatat(AT_FDCWD, path, st, 0);
}

int lstat(const char *path, struct stat *st)
{
    return fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int fstat64(int fd, struct stat64 *st)
{
    return fstat(fd, (struct stat *)st);
}

int fstatat64(int directory, const char *path, struct stat64 *st, int flags)
{
    return fstatat(directory, path, (struct stat *)st, flags);
}

int stat64(const char *path, struct stat64 *st)
{
    return stat(path, (struct stat *)st);
}

int lstat64(const char *path, struct stat64 *st)
{
    return lstat(path, (struct stat *)st);
}

/* ---- the time of day ---- */

int clock_gettime(clockid_t id, struct timespec *out)
{
    REAL(clock_gettime)
    const int rc = real(id, out);
    if (rc == 0 && shim && id == CLOCK_REALTIME)
        out->tv_sec += shim->clock_s;
    return rc;
}

int gettimeofday(struct timeval *out, void *zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
