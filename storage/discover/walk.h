/** Listing what lies beneath the roots. Hidden names are not seen at all. Safe from any thread once made. */
#ifndef HUB_DISCOVER_WALK_H
#define HUB_DISCOVER_WALK_H

#include "storage/inspect/formats.h"
#include "storage/io/roots.h"
#include "storage/model/findings.h"

#include <stdatomic.h>

enum {
    HUB_MAX_LISTED = 1000000,
    HUB_MAX_FILES = 4000000,
    HUB_MAX_DIRECTORIES = 1000000,
    HUB_MAX_NOTED = 100
};

struct hub_walk {
    const struct hub_roots *roots;
    uint64_t max_directories; /* of one dataset, and in one sweep of one root; HUB_MAX_DIRECTORIES */
    const atomic_bool *stop;  /* may be NULL; set: whatever goes on ends as HUB_CANCELLED */
    /* may be NULL; called for each directory before it is read, from any thread */
    void (*opened)(void *user, uint32_t root, const char *path, int fd);
    /* may be NULL; called for each symbolic link, from any thread: see hub_links_add */
    void (*linked)(void *user, uint32_t root, const char *path, const char *real);
    void *user;
};

bool hub_walk_stopped(const struct hub_walk *walk);

struct hub_entry {
    const char *name;
    bool directory;
    bool link;              /* a symbolic link; what follows is of its end */
    bool elsewhere;         /* ... to a directory that has a name of its own under a root */
    struct hub_stamp stamp; /* of the link's end, as the rest */
    uint64_t ctime_ns;      /* 0: of a file that the hub owns */
    uint64_t device, inode; /* tell directories apart within one run; not to be stored */
};

/** `name` is borrowed. */
struct hub_entry hub_entry_of(const char *name, const struct stat *st);
/** When it changed last; a time to come says nothing. */
uint64_t hub_entry_newest_ns(const struct hub_entry *entry);

/** One directory: its directories and regular files, sorted by name. */
struct hub_listing {
    uint64_t device, inode; /* of the directory itself */
    uint64_t newest_ns;     /* when it changed last; a time to come says nothing */
    struct hub_entry *entries;
    uint32_t count;
    char *names;
    char *leaving;  /* names of links that were not followed, each behind the other's NUL, the last one empty;
                      NULL: none */
    char *withheld; /* in the same way: names of files that hold a login; they are not among the entries */
};

HUB_MUST_USE enum hub_status hub_walk_list(const struct hub_walk *walk, uint32_t root, const char *path,
                                           struct hub_listing *out, struct hub_error *err);
void hub_listing_dispose(struct hub_listing *listing);
/** The entry of this name, or NULL. */
const struct hub_entry *hub_listing_find(const struct hub_listing *listing, const char *name);

/* ---- collect.c ---- */

/** The detail of "link-leaves". */
extern const char hub_link_leaves[];
/** The detail of "credentials-withheld". */
extern const char hub_withheld[];

/** The files of a dataset, sorted by path, and what was wrong on the way. */
struct hub_fileset {
    struct hub_dataset_file *files; /* paths are allocated one by one */
    uint32_t count, capacity;
    /* when one of them, or a directory of theirs, changed last; times to come say nothing */
    uint64_t newest_ns;
    bool may_change; /* one of them is not the hub's own, so that somebody may be writing to it */
    struct hub_found_problem *problems; /* texts are allocated one by one */
    uint32_t problem_count;             /* the first HUB_MAX_NOTED are kept */
    char **nested; /* directories below that are datasets of their own: their files are not here */
    uint32_t nested_count;
};

/**
 * All files below a directory. Each directory is entered once, by its own name rather than by a link to it;
 * what cannot be entered is a problem of the set. With `formats`, a directory below that has a name which
 * makes a dataset ("x/data/main_data.hdf5") is left out and reported as nested. `listed` is the directory's
 * own listing where somebody has it, else NULL.
 *
 * @return HUB_TOO_BIG over HUB_MAX_FILES or the walk's directories: `out` has what was found until then;
 * HUB_NOT_FOUND: the directory itself is not there; HUB_CANCELLED
 */
HUB_MUST_USE enum hub_status hub_walk_collect(const struct hub_walk *walk, uint32_t root, const char *path,
                                              const struct hub_format_table *formats,
                                              const struct hub_listing *listed, struct hub_fileset *out,
                                              struct hub_error *err);
/** Stat the same files again; a missing one is HUB_NOT_FOUND. */
HUB_MUST_USE enum hub_status hub_walk_restat(const struct hub_walk *walk, uint32_t root, const char *path,
                                             const struct hub_fileset *of, struct hub_fileset *out,
                                             struct hub_error *err);
HUB_MUST_USE enum hub_status hub_fileset_add(struct hub_fileset *set, const char *prefix,
                                             const struct hub_entry *entry, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_fileset_problem(struct hub_fileset *set, const char *code, const char *path,
                                                 struct hub_error *err, const char *fmt, ...)
    HUB_PRINTF(5, 6);
/** The same problem of each name of a list of `hub_listing`, which may be NULL, of the folder `below`. */
HUB_MUST_USE enum hub_status hub_fileset_problems(struct hub_fileset *set, const char *code,
                                                  const char *below, const char *names, const char *detail,
                                                  struct hub_error *err);
void hub_fileset_sort(struct hub_fileset *set);
void hub_fileset_dispose(struct hub_fileset *set);

#endif
