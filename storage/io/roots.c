/* The roots and the rule about links: see roots.h. */
#include "storage/io/roots.h"

#include "storage/io/credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char *hub_path_join(const char *directory, const char *name)
{
    const size_t a = strlen(directory), b = strlen(name), slash = a && b;
    char *joined = malloc(a + slash + b + 1);
    if (!joined)
        return NULL;
    memcpy(joined, directory, a);
    if (slash)
        joined[a] = '/';
    memcpy(joined + a + slash, name, b + 1);
    return joined;
}

const char *hub_path_below(const char *path, const char *directory)
{
    size_t n = strlen(directory);
    while (n && directory[n - 1] == '/')
        n--;
    if (strncmp(path, directory, n) != 0 || (n && path[n] != '/' && path[n] != '\0'))
        return NULL;
    path += n;
    return path + strspn(path, "/");
}

/* ---- filling ---- */

static enum hub_status add(struct hub_root *to, uint32_t *count, const char *path, const char *name,
                           struct hub_error *err)
{
    if (*count == HUB_MAX_ROOTS)
        return hub_fail(err, HUB_TOO_BIG, "more than %d roots", HUB_MAX_ROOTS);
    struct hub_root root = {.path = strdup(path), .real = realpath(path, NULL)};
    if (!root.real)
        root.real = strdup(path);
    root.name = name ? strdup(name) : NULL;
    to[(*count)++] = root;
    return root.path && root.real && (root.name || !name) ? HUB_OK : hub_no_memory(err);
}

enum hub_status hub_roots_add(struct hub_roots *roots, const char *path, const char *name,
                              struct hub_error *err)
{
    return add(roots->roots, &roots->count, path, name, err);
}

enum hub_status hub_roots_allow(struct hub_roots *roots, const char *path, struct hub_error *err)
{
    return add(roots->targets, &roots->target_count, path, NULL, err);
}

static void dispose(struct hub_root *roots, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free(roots[i].path);
        free(roots[i].real);
        free(roots[i].name);
    }
}

void hub_roots_dispose(struct hub_roots *roots)
{
    dispose(roots->roots, roots->count);
    dispose(roots->targets, roots->target_count);
    *roots = (struct hub_roots){0};
}

const char *hub_roots_key(const struct hub_roots *roots, uint32_t root, char number[16])
{
    if (roots && root < roots->count)
        return hub_root_key(&roots->roots[root]);
    snprintf(number, 16, "#%u", root);
    return number;
}

uint32_t hub_roots_number(const struct hub_roots *roots, const char *key)
{
    char number[16];
    for (uint32_t i = 0; i < HUB_MAX_ROOTS; i++)
        if (strcmp(hub_roots_key(roots, i, number), key) == 0)
            return i;
    return UINT32_MAX;
}

bool hub_roots_find(const struct hub_roots *roots, const char *text, uint32_t *out)
{
    for (uint32_t i = 0; i < roots->count; i++) {
        const struct hub_root *root = &roots->roots[i];
        if (strcmp(hub_root_key(root), text) == 0 || strcmp(root->path, text) == 0 ||
            strcmp(root->real, text) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

/* ---- the rule about links ---- */

/* The root or target that a path without links lies in, and what of it lies below. */
static const struct hub_root *holder_of(const struct hub_root *roots, uint32_t count, const char *real,
                                        const char **below)
{
    for (uint32_t i = 0; i < count; i++)
        if ((*below = hub_path_below(real, roots[i].real)))
            return &roots[i];
    return NULL;
}

static const struct hub_root *holder(const struct hub_roots *roots, const char *real, const char **below)
{
    const struct hub_root *root = holder_of(roots->roots, roots->count, real, below);
    return root ? root : holder_of(roots->targets, roots->target_count, real, below);
}

const char *hub_roots_below(const struct hub_roots *roots, const char *real)
{
    const char *below;
    return holder_of(roots->roots, roots->count, real, &below) ? below : NULL;
}

/* As whom the hub runs is not said: it is stored, and shown to strangers. */
static enum hub_status not_permitted(struct hub_error *err, const char *path)
{
    return hub_fail(err, HUB_DENIED, "%s%spermission denied", path, *path ? ": " : "");
}

enum hub_status hub_roots_real(const struct hub_roots *roots, uint32_t root, const char *path, char **real,
                               struct hub_error *err)
{
    const char *below;
    HUB_CLEANUP(hub_freep) char *full = hub_path_join(roots->roots[root].path, path);
    HUB_CLEANUP(hub_freep) char *end = full ? realpath(full, NULL) : NULL;
    HUB_TRY(hub_allocated(full, err));
    if (!end)
        return errno == EACCES ? not_permitted(err, path) : hub_fail_errno(err, errno, "'%s'", path);
    if (!holder(roots, end, &below))
        return hub_fail(err, HUB_DENIED,
                        "'%s' is a link to '%s', outside the roots: --allow-target permits it", path, end);
    *real = end;
    end = NULL;
    return HUB_OK;
}

enum hub_status hub_open_below(const char *directory, const char *path, int flags, unsigned options, int *fd,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) const int at = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0) /* opened again each time: it may be mounted later */
        return hub_fail_errno(err, errno, "the root %s", directory);
    if (!(flags & O_PATH)) /* openat2 takes nothing beside that it does not heed */
        flags |= O_NONBLOCK | O_NOCTTY;
    return hub_fs_open_beneath(at, path, flags, options, fd, err);
}

/* A link on the way leaves the root. Its end is opened beneath what holds it without following anything, so
 * that what was checked is what is opened. */
static enum hub_status open_linked(const struct hub_roots *roots, uint32_t root, const char *path, int flags,
                                   int *fd, struct hub_error *err)
{
    const char *below = NULL;
    HUB_CLEANUP(hub_freep) char *real = NULL;
    HUB_TRY(hub_roots_real(roots, root, path, &real, err));
    const struct hub_root *in = holder(roots, real, &below);
    return hub_open_below(in->real, below, flags, HUB_FS_NO_LINKS, fd, err);
}

static enum hub_status open_any(const struct hub_roots *roots, uint32_t root, const char *path, int flags,
                                int *fd, struct hub_error *err)
{
    if (root >= roots->count)
        return hub_fail(err, HUB_NOT_FOUND, "no root %u", root);
    errno = 0;
    enum hub_status st = hub_open_below(roots->roots[root].path, path, flags, 0, fd, err);
    /* the path itself was fine if it can only be the links on it: "..", "." and empty segments stay
     * refused */
    if (st == HUB_DENIED && (errno == EXDEV || errno == ELOOP)) {
        errno = 0;
        st = open_linked(roots, root, path, flags, fd, err);
    }
    return st == HUB_DENIED && errno == EACCES ? not_permitted(err, path) : st;
}

static bool is_credentials(const struct hub_roots *roots, uint32_t root, const char *path)
{
    const char *slash = strrchr(path, '/');
    HUB_CLEANUP(hub_freep) char *folder = strndup(path, slash ? (size_t)(slash - path) : 0);
    HUB_CLEANUP(hub_closep) int at = -1;
    return !folder || (!open_any(roots, root, folder, O_PATH | O_DIRECTORY, &at, NULL) &&
                       hub_credentials_in(at, slash ? slash + 1 : path));
}

enum hub_status hub_roots_open(const struct hub_roots *roots, uint32_t root, const char *path, int flags,
                               int *fd, struct hub_error *err)
{
    if (hub_credentials_named(path) && !(flags & O_PATH) && is_credentials(roots, root, path))
        return hub_fail(err, HUB_NOT_FOUND, "'%s' holds credentials: it is not served", path);
    return open_any(roots, root, path, flags, fd, err);
}
