/**
 * Listing and opening beneath the roots, with the one rule about links: a link is followed only when its end
 * lies under a root or an allowed target. Hidden names are not seen at all. Safe from any thread once made.
 */
#ifndef HUB_SCAN_WALK_H
#define HUB_SCAN_WALK_H

#include "storage/catalog/catalog.h"

enum { HUB_MAX_DEPTH = 64, HUB_MAX_LISTED = 1000000, HUB_MAX_FILES = 4000000 };

struct hub_walk {
    char **roots, **bases; /* bases: the roots and allowed targets, links resolved */
    uint32_t root_count, base_count;
};

HUB_MUST_USE enum hub_status hub_walk_init(struct hub_walk *walk, const char *const *roots,
                                           uint32_t root_count, const char *const *allowed,
                                           uint32_t allowed_count, struct hub_error *err);
void hub_walk_dispose(struct hub_walk *walk);

/** Open a directory or file by its path below a root; "" is the root. */
HUB_MUST_USE enum hub_status hub_walk_open(const struct hub_walk *walk, uint32_t root, const char *path,
                                           int flags, int *fd, struct hub_error *err);

struct hub_entry {
    const char *name;
    bool directory;
    struct hub_stamp stamp; /* of the link's end, as the rest */
    uint64_t ctime_ns;
    uint64_t device, inode; /* tell directories apart within one run; not to be stored */
};

/** One directory: its directories and regular files, sorted by name. */
struct hub_listing {
    uint64_t device, inode; /* of the directory itself */
    struct hub_entry *entries;
    uint32_t count;
    char *names;
    char *leaving; /* names of links that were not followed, each behind the other's NUL, the last one empty;
                      NULL: none */
};

HUB_MUST_USE enum hub_status hub_walk_list(const struct hub_walk *walk, uint32_t root, const char *path,
                                           struct hub_listing *out, struct hub_error *err);
void hub_listing_dispose(struct hub_listing *listing);

/** The files of a dataset, sorted by path, and what was wrong on the way. */
struct hub_fileset {
    struct hub_ds_file *files; /* paths are allocated one by one */
    uint32_t count, capacity;
    uint64_t newest_ns; /* when one of them changed last; times to come say nothing */
    char *leaving;      /* path of the first link that was not followed, or NULL */
};

/** All files below a directory. HUB_TOO_BIG over HUB_MAX_FILES. */
HUB_MUST_USE enum hub_status hub_walk_collect(const struct hub_walk *walk, uint32_t root, const char *path,
                                              struct hub_fileset *out, struct hub_error *err);
/** Stat the same files again; a missing one is HUB_NOT_FOUND. */
HUB_MUST_USE enum hub_status hub_walk_restat(const struct hub_walk *walk, uint32_t root, const char *path,
                                             const struct hub_fileset *of, struct hub_fileset *out,
                                             struct hub_error *err);
HUB_MUST_USE enum hub_status hub_fileset_add(struct hub_fileset *set, const char *prefix,
                                             const struct hub_entry *entry, struct hub_error *err);
void hub_fileset_sort(struct hub_fileset *set);
void hub_fileset_dispose(struct hub_fileset *set);

/** "a/b" of "a" and "b"; either may be empty. The caller frees it. */
char *hub_walk_join(const char *directory, const char *name);

#endif
