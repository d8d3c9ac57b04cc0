/** Where symbolic links lead: what a change of one folder may be to datasets elsewhere. */
#ifndef HUB_DISCOVER_LINKS_H
#define HUB_DISCOVER_LINKS_H

#include "storage/discover/pair_set.h"
#include "storage/io/roots.h"

/** Zeroed: no link. */
struct hub_links {
    struct hub_pair_set hashes; /* by hash: ends, and folders that hold an end and not its link */
    bool incomplete;            /* for want of memory */
};

/**
 * Take a link, at `path` below a root.
 *
 * @param real  what its end is called, links resolved; NULL: it leads nowhere, or out of the roots
 */
void hub_links_add(struct hub_links *links, const struct hub_roots *roots, uint32_t root, const char *path,
                   const char *real);
/** Whether a link from elsewhere leads to this folder of a root, into it, or to a folder above it. */
bool hub_links_touch(const struct hub_links *links, const struct hub_roots *roots, uint32_t root,
                     const char *path);
void hub_links_dispose(struct hub_links *links);

#endif
