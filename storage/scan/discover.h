/**
 * Which datasets lie below some roots: a walk from the top in which drivers bid on each directory (in the
 * inspector's sandbox), the winner owns its subtree, and only what nobody claimed is descended. Needs no
 * catalogue: `minari-inspect ROOT` uses it too.
 */
#ifndef HUB_SCAN_DISCOVER_H
#define HUB_SCAN_DISCOVER_H

#include "storage/inspect/inspect.h"
#include "storage/scan/walk.h"

/** A dataset that was found. Borrowed during the callback, except `files`, which the callback may take (and
 * zero). */
struct hub_found_dataset {
    uint32_t root;
    const char *id;             /* valid, unique in this discovery (the first of two stays) */
    const char *path;           /* below the root; "" the root itself */
    bool single_files;          /* a claim of files in `path`; else of all below it */
    const char *const *formats; /* bidders, best first; "files": nobody claimed it */
    uint32_t format_count;
    struct hub_fileset *files; /* empty but for `leaving`: a link that is not followed */
};

struct hub_discovery {
    const struct hub_walk *walk;
    const char *const *names; /* by root number: what its ids begin with, or NULL; may be NULL itself */
    struct hub_inspector *inspector;
    unsigned jobs;       /* directories asked about at once; 0: cores */
    const char *drivers; /* names the set of drivers; what is remembered counts only under the same */
    atomic_bool *cancel; /* may be NULL */
    /** What is remembered about a directory, by a key; may be NULL. Called from several threads.
     * HUB_NOT_FOUND: nothing. */
    enum hub_status (*recall)(void *user, const char *key, struct hub_buf *value, struct hub_error *err);
    enum hub_status (*remember)(void *user, const char *key, struct hub_view value, struct hub_error *err);
    /** One dataset; never two at once, but from several threads, in no order. A failure ends the discovery.
     */
    enum hub_status (*each)(void *user, struct hub_found_dataset *dataset, struct hub_error *err);
    /** A directory is looked at; may be NULL. */
    void (*progress)(void *user, uint32_t root, const char *path);
    void *user;
};

struct hub_discovered {
    uint64_t directories, datasets;
    uint64_t clashes;   /* datasets left out because another has their id */
    uint64_t missed;    /* directories whose claim job was killed or too slow: to be looked at again soon */
    uint64_t unasked;   /* directories whose claim job failed: nothing below them is known this time */
    bool *root_missing; /* by root number (caller's, may be NULL): it, or something below, could not be read
                           now, so that what was not found may still be there */
};

HUB_MUST_USE enum hub_status hub_scan_discover(const struct hub_discovery *discovery,
                                               struct hub_discovered *out, struct hub_error *err);

/* ---- claim.c ---- */

struct hub_bid {
    char *format, *name; /* name: single files; NULL: the directory */
    uint32_t *files;     /* entries of the listing */
    uint32_t file_count;
};

/** What the drivers bid on a directory, best first: either bids on all of it, or claims of files. */
struct hub_bids {
    struct hub_bid *bids;
    uint32_t count;
};

HUB_MUST_USE enum hub_status hub_claim_ask(const struct hub_discovery *discovery, uint32_t root,
                                           const char *path, const struct hub_listing *listing,
                                           struct hub_bids *out, struct hub_error *err);
void hub_bids_dispose(struct hub_bids *bids);

#endif
