/**
 * Datasets of remotes that keep only files: found by their names, described by their metadata, in the shape
 * that a
 * hub's API gives them.
 */
#ifndef HUB_REMOTE_FOUND_H
#define HUB_REMOTE_FOUND_H

#include "storage/remote/remote.h"

struct hub_found {
    char *id;
    uint64_t size; /* of its files together */
    int64_t modified_ns;
    uint32_t files;
    char revision[HUB_REVISION_CHARS + 1];
    char *url;          /* where its metadata.json is asked for; NULL: nowhere */
    json_t *metadata;   /* as stored, or NULL */
    char *problem;      /* why it cannot be described, or NULL */
    bool plain;         /* a tree of files, and no dataset of Minari's */
    const char *format; /* of a plain one, as far as names tell; NULL: "files" */
    bool old;           /* of Minari before 0.5: without a metadata.json */
};

struct hub_found_list {
    struct hub_found *items;
    uint32_t count, capacity;
};

void hub_found_dispose(struct hub_found_list *list);

/** One more dataset: the files of a sorted tree below its folder. `*out` is valid until the next. */
HUB_MUST_USE enum hub_status hub_found_add(struct hub_found_list *list, const char *id,
                                           const struct hub_remote_files *tree, const char *folder,
                                           struct hub_found **out, struct hub_error *err);

/** Whether [first, end) of a sorted tree is nothing but what describes namespaces: it comes with their
 * datasets. */
bool hub_found_describes(const struct hub_remote_files *tree, uint32_t first, uint32_t end);

/** The datasets of Minari in a sorted tree, by their layout: ID/data/metadata.json, else
 * ID/data/main_data.hdf5 with metadata of its own. Their ids begin with `head`. */
HUB_MUST_USE enum hub_status hub_found_scan(struct hub_found_list *list, const struct hub_remote_files *tree,
                                            const char *head, struct hub_error *err);

/** The format that bids most on the names of a folder of a sorted tree; NULL: none does. */
const char *hub_found_format(const struct hub_remote_files *tree, const char *folder);

/**
 * Cut what is no dataset of Minari's in a sorted tree into datasets (divide.c): folders on whose names
 * some format's driver bids, and of the rest the shallowest folders that hold none of these. The same files
 * make the same datasets whatever else comes, but for a folder in which a marked one appears: then it is
 * cut in its turn.
 *
 * Files beside such folders belong to none.
 */
struct hub_division {
    const struct hub_remote_files *tree;
    const char *base; /* a folder: what lies elsewhere is not looked at; "": all */
    const char *name; /* the id of all of the tree */
    const char *head; /* what the other ids begin with */
    bool cuts;   /* the base has folders that are unlike: it is not one dataset for want of marks in it */
    bool counts; /* nothing is listed but Minari's: the others are counted in `left` */
    struct hub_remote_left *left; /* or NULL */
};
/** @param list  has the datasets of Minari's, as hub_found_scan found them; the others are added */
HUB_MUST_USE enum hub_status hub_found_divide(const struct hub_division *division,
                                              struct hub_found_list *list, struct hub_error *err);

/** What hub_remote_kind.list and .describe do, over what was found; both load metadata where `url` says. */
HUB_MUST_USE enum hub_status hub_found_each(struct hub_remote *remote, struct hub_found_list *list,
                                            const struct hub_remote_query *query, hub_remote_item_fn fn,
                                            void *user, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_found_describe(struct hub_remote *remote, struct hub_found_list *list,
                                                const char *id, const char *release, struct hub_buf *text,
                                                json_t **out, struct hub_error *err);

#endif
