/**
 * Which datasets lie below some roots: a walk from the top in which drivers bid on each directory (in the
 * inspector's sandbox), the winner owns its subtree, and only what nobody claimed is descended. Needs no
 * catalogue: `minari-inspect ROOT` uses it too.
 */
#ifndef HUB_DISCOVER_DISCOVER_H
#define HUB_DISCOVER_DISCOVER_H

#include "storage/discover/walk.h"
#include "storage/inspect/inspect.h"

/** A dataset that was found. Borrowed during the callback, except `files`, which the callback may take (and
 * zero). */
struct hub_found_dataset {
    uint32_t root;
    const char *id;             /* valid, unique in this discovery */
    const char *path;           /* below the root; "" the root itself */
    bool single_files;          /* a claim of files in `path`; else of all below it */
    const char *const *formats; /* bidders, best first; "files": nobody claimed it */
    uint32_t format_count;
    const char *broken; /* why it cannot be inspected, whatever its files are; or NULL */
    struct hub_fileset *files;
};

/** A part of a root: a folder with all that lies below it, or, shallow, without what lies in its folders. */
struct hub_scope {
    const char *path;
    uint32_t root;
    bool shallow;
};

/** Whether a scope leads through a folder, so that not all below the folder is in it. */
static inline bool hub_scope_passes(const struct hub_scope *scope, const char *path)
{
    const char *below = hub_path_below(scope->path, path);
    return below && (*below || scope->shallow);
}

/** Whether a folder is on the way to a scope or in it; its own files are. */
static inline bool hub_scope_has(const struct hub_scope *scope, const char *path)
{
    return hub_path_below(scope->path, path) || (!scope->shallow && hub_path_below(path, scope->path));
}

struct hub_discovery {
    const struct hub_walk *walk;
    /** NULL: all. Else what is in the scope alone, and the files of folders on the way to it, on the
     * understanding that each of these, but for the root, has a claimed dataset outside of the scope. */
    const struct hub_scope *only;
    struct hub_inspector *inspector;
    unsigned jobs;       /* directories asked about at once; 0: cores */
    const char *drivers; /* names the set of drivers; what is remembered counts only under the same */
    atomic_bool *cancel; /* may be NULL; that of `walk` */
    /** Whether two datasets had this id the last time: both then say so. May be NULL. */
    bool (*clashed)(void *user, const char *id);
    /** Two datasets have this id. */
    void (*clash)(void *user, const char *id);
    /** What is remembered about a directory, by a key; may be NULL. Called from several threads.
     * HUB_NOT_FOUND: nothing. */
    enum hub_status (*recall)(void *user, const char *key, struct hub_buf *value, struct hub_error *err);
    enum hub_status (*remember)(void *user, const char *key, struct hub_view value, struct hub_error *err);
    /** One dataset; never two at once, but from several threads, in no order. A failure ends the
     * discovery. */
    enum hub_status (*each)(void *user, struct hub_found_dataset *dataset, struct hub_error *err);
    /** All of one root was handed out; may be NULL. A failure ends the discovery. */
    enum hub_status (*walked)(void *user, struct hub_error *err);
    /** A directory is looked at; may be NULL. */
    void (*progress)(void *user, const char *path);
    void *user;
};

struct hub_discovered {
    uint64_t directories, datasets;
    uint64_t clashes;     /* datasets whose id another one had: they were given one of their own */
    uint64_t missed;      /* directories whose claim job was killed or too slow: to be looked at again soon */
    uint64_t unasked;     /* directories whose claim job failed: what is in them counts as plain files */
    uint64_t not_entered; /* directories that could not be read, or were too many: listed as broken */
    /* By root number (the caller's, may be NULL): it, or something below, could not be read now, so that what
     * was not found may still be there. One that is set is not walked. */
    bool *root_missing;
    bool beyond; /* with a scope: what was found may have changed what is outside of it */
};

HUB_MUST_USE enum hub_status hub_scan_discover(const struct hub_discovery *discovery,
                                               struct hub_discovered *out, struct hub_error *err);

#endif
