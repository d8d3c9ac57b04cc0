/**
 * Where datasets lie: the roots, by number, and the directories besides them that symbolic links may lead to.
 * The one place of the rule about links: a link is followed only when its end lies under a root or under such
 * a directory. Filled once; then safe from any thread.
 */
#ifndef HUB_IO_ROOTS_H
#define HUB_IO_ROOTS_H

#include "storage/io/fs.h"

enum { HUB_MAX_ROOTS = 64 };

struct hub_root {
    char *path, *real; /* as given; links resolved, as far as it was there */
    char *name;        /* what its ids begin with, or NULL */
    bool read_only;    /* the admin's word that the hub never writes there */
};

/** What it is called in all that is stored: its name, else its path. Its number may be another at the next
 * start. */
static inline const char *hub_root_key(const struct hub_root *root)
{
    return root->name ? root->name : root->path;
}

struct hub_roots {
    struct hub_root roots[HUB_MAX_ROOTS];
    struct hub_root targets[HUB_MAX_ROOTS]; /* that links may lead to */
    uint32_t count, target_count;
};

/** The key of a root by its number, `number` holding the text of one that is not there ("#3"); and the other
 * way round, UINT32_MAX (HUB_NONE) for a key that is none of theirs. Roots may be NULL. */
const char *hub_roots_key(const struct hub_roots *roots, uint32_t root, char number[16]);
uint32_t hub_roots_number(const struct hub_roots *roots, const char *key);

/** The number of the root that is called so: by its name, or by its directory. */
bool hub_roots_find(const struct hub_roots *roots, const char *text, uint32_t *out);

/** Texts are copied; a root that is not there yet may be mounted later. HUB_TOO_BIG over HUB_MAX_ROOTS. */
HUB_MUST_USE enum hub_status hub_roots_add(struct hub_roots *roots, const char *path, const char *name,
                                           struct hub_error *err);
HUB_MUST_USE enum hub_status hub_roots_allow(struct hub_roots *roots, const char *path,
                                             struct hub_error *err);
void hub_roots_dispose(struct hub_roots *roots);

/**
 * Open a directory or file by its path below a root; "" is the root. A pipe or a device does not hold the
 * caller (O_NONBLOCK). `errno` tells of EMFILE and its like. A file that holds a login (credentials.h) is
 * not opened for reading: HUB_NOT_FOUND.
 *
 * @return HUB_NOT_FOUND; HUB_DENIED for a link that leads elsewhere, a path that is not plain and what this
 *         user may not read
 */
HUB_MUST_USE enum hub_status hub_roots_open(const struct hub_roots *roots, uint32_t root, const char *path,
                                            int flags, int *fd, struct hub_error *err);

/** Where a path really is, links resolved; the caller frees it. HUB_DENIED: out of the roots and targets. */
HUB_MUST_USE enum hub_status hub_roots_real(const struct hub_roots *roots, uint32_t root, const char *path,
                                            char **real, struct hub_error *err);
/** What of such a path lies below a root; NULL: it lies below an allowed target. Borrows `real`. */
const char *hub_roots_below(const struct hub_roots *roots, const char *real);

/** hub_fs_open_beneath of a directory that is opened for it. */
HUB_MUST_USE enum hub_status hub_open_below(const char *directory, const char *path, int flags,
                                            unsigned options, int *fd, struct hub_error *err);

/** What of a path lies below a directory, without the slash between them; "" is the directory itself, NULL
 * elsewhere. Below "" and "/" lies everything. */
const char *hub_path_below(const char *path, const char *directory);
/** "directory/name", or the one of both that is not empty. The caller frees it; NULL: no memory. */
char *hub_path_join(const char *directory, const char *name);

#endif
