/* The private folder of a root: see private.h. */
#include "storage/transfer/private.h"

#include "storage/ids/id.h"
#include "storage/io/fs.h"
#include "storage/text/time.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

enum { FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

/* A descriptor of a folder; -1 with errno. O_DIRECTORY | O_NOFOLLOW says ENOTDIR of a link. */
static int open_folder(int directory, const char *name, bool make, unsigned mode)
{
    if (make && mkdirat(directory, name, mode) && errno != EEXIST)
        return -1;
    return openat(directory, name, FOLDER);
}

/* Our owner on the file system of `root`, where mounts and network servers may give all files another owner:
 * the owner of a file we make. It is looked at by its descriptor, so nobody can exchange it. */
static bool owner_here(int root, uid_t *out)
{
    char unique[48], name[80];
    struct stat st;
    hub_private_name(unique);
    snprintf(name, sizeof name, HUB_PRIVATE_DIR "-%s", unique);
    HUB_CLEANUP(hub_closep) int fd = openat(root, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    const bool known = fstat(fd, &st) == 0;
    (void)unlinkat(root, name, 0);
    *out = st.st_uid;
    return known;
}

static bool belongs_to_us(int root, const struct stat *st)
{
    uid_t here;
    return st->st_uid == geteuid() || (owner_here(root, &here) && here == st->st_uid);
}

static bool others_may_write(const struct stat *st)
{
    return st->st_mode & (S_IWGRP | S_IWOTH);
}

/* Open one candidate. `last`: there is no other one, so that one with loose permissions is closed to others
 * instead of left alone; where the file system has no permissions at all nothing better can be had. */
static int try_folder(int root, const char *name, bool make, bool last)
{
    struct stat st;
    const int fd = open_folder(root, name, make, 0700);
    if (fd < 0)
        return -1;
    const bool ours = fstat(fd, &st) == 0 && belongs_to_us(root, &st);
    if (ours && others_may_write(&st) && last)
        (void)fchmod(fd, 0700);
    if (ours && (last || !others_may_write(&st)))
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

/* The candidate is somebody else's, or is no folder, or does not exist: there is another one to try. A disk
 * that fails or is full says nothing of whose it is, and what was put into another one would be missed
 * here. */
static bool is_another(int errnum)
{
    return errnum == ENOENT || errnum == EPERM || errnum == EACCES || errnum == ENOTDIR || errnum == ELOOP;
}

enum hub_status hub_private_open(const char *root, bool make, struct hub_private *out, struct hub_error *err)
{
    char own[48];
    *out = HUB_PRIVATE_INIT;
    out->root = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (out->root < 0)
        return hub_fail_errno(err, errno, "'%s' cannot be opened", root);
    snprintf(own, sizeof own, HUB_PRIVATE_DIR "-%u", (unsigned)geteuid());
    const char *const names[] = {HUB_PRIVATE_DIR, own};
    int why = ENOENT;
    for (size_t i = 0; i < HUB_COUNT(names) && out->folder < 0 && is_another(why); i++) {
        const int n = snprintf(out->path, sizeof out->path, "%s/%s", root, names[i]);
        if (n < 0 || n >= (int)sizeof out->path - 300)
            return hub_fail(err, HUB_INVALID, "the root's path is too long");
        out->folder = try_folder(out->root, names[i], make, i + 1 == HUB_COUNT(names));
        if (out->folder < 0 && (i == 0 || errno != ENOENT))
            why = errno;
    }
    if (out->folder >= 0)
        return HUB_OK;
    hub_private_close(out);
    if (why != EPERM && why != ENOTDIR && why != ELOOP)
        return hub_fail_errno(err, why, "'%s' cannot be opened", out->path);
    return hub_fail(err, HUB_DENIED,
                    "'%s' is not private to this user, so the download is not safe in it: check who may "
                    "write in '%s', or choose another folder",
                    out->path, root);
}

void hub_private_close(struct hub_private *place)
{
    hub_closep(&place->root);
    hub_closep(&place->folder);
    place->root = place->folder = -1;
}

enum hub_status hub_private_folder(int directory, const char *name, bool make, int *fd, struct hub_error *err)
{
    *fd = open_folder(directory, name, make, 0777);
    if (*fd >= 0)
        return HUB_OK;
    if (errno == ENOTDIR || errno == ELOOP)
        return hub_fail(err, HUB_DENIED, "'%s' is a link or a file instead of a folder", name);
    return hub_fail_errno(err, errno, "folder '%s' cannot be %s", name, make ? "made" : "opened");
}

enum hub_status hub_private_lock(const struct hub_private *place, int *fd, struct hub_error *err)
{
    int rc;
    *fd = openat(place->folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (*fd < 0)
        return hub_fail_errno(err, errno, "'%s/lock' cannot be opened", place->path);
    do
        rc = flock(*fd, LOCK_EX);
    while (rc && errno == EINTR);
    if (!rc || errno == ENOLCK || errno == EOPNOTSUPP)
        return HUB_OK;
    return hub_fail_errno(err, errno, "'%s/lock' cannot be locked", place->path);
}

enum hub_status hub_private_parent(const struct hub_private *place, const char *id, bool make, int *fd,
                                   const char **name, struct hub_error *err)
{
    char segment[HUB_MAX_ID + 1];
    HUB_TRY(hub_folder_check(hub_view_of(id), err));
    int at = openat(place->root, ".", FOLDER);
    if (at < 0)
        return hub_fail_errno(err, errno, "the root cannot be opened");
    for (const char *slash; (slash = strchr(id, '/')); id = slash + 1) {
        int next = -1;
        snprintf(segment, sizeof segment, "%.*s", (int)(slash - id), id);
        /* a namespace that is new has to last as long as what is published in it */
        const bool made = make && mkdirat(at, segment, 0777) == 0;
        enum hub_status st = made ? hub_fs_sync_dir(at, "", err) : HUB_OK;
        if (!st)
            st = hub_private_folder(at, segment, make, &next, err);
        close(at);
        if (st)
            return st;
        at = next;
    }
    *fd = at;
    *name = id;
    return HUB_OK;
}

bool hub_private_is_dataset(int directory, const char *name)
{
    struct stat st;
    HUB_CLEANUP(hub_closep) int fd = openat(directory, name, FOLDER);
    return fd >= 0 && ((fstatat(fd, "data", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode)) ||
                       (fstatat(fd, HUB_RECORD_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode)));
}

void hub_private_name(char out[48])
{
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
        random = hub_time_mono_us();
    snprintf(out, 48, "%d-%" PRIu64, (int)getpid(), random);
}

bool hub_private_name_is_ours(const char *name, const char *suffix)
{
    const size_t first = strspn(name, "0123456789");
    const size_t second = name[first] == '-' ? strspn(name + first + 1, "0123456789") : 0;
    return first && second && strcmp(name + first + 1 + second, suffix) == 0;
}
