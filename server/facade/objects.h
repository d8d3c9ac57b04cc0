/**
 * The hub as one sorted set of objects, which is how object stores show files: a file's name is where it
 * lies below its root, behind the root's name where it has one ("D4RL/door/human-v2/data/main_data.hdf5").
 * Names are bytes, and in their order.
 */
#ifndef HUB_FACADE_OBJECTS_H
#define HUB_FACADE_OBJECTS_H

#include "server/api/remote_view.h"
#include "server/api/resolve.h"
#include "storage/truth/digests.h"

struct hub_cached_response;
struct hub_objects_order;

/** One file of one dataset; or that of a namespace, which is made when it is asked for (space.h). */
struct hub_object {
    struct hub_view name; /* lives until the next call */
    const struct hub_dataset *dataset;
    const struct hub_dataset_file *file; /* NULL: of a namespace */
    const struct hub_remote_view *view;  /* not NULL: it is not here, and this is what its upstream says */
    size_t author; /* bytes that ids begin with, and that a repo's clients leave out of them: "lab/" */
};
/** Whether Minari loads it: what its releases look for in a bucket or a repo is shown of such datasets. */
bool hub_is_minari(const struct hub_summary *summary);

/** Walks objects in order of their names. Blocking; of one thread. */
struct hub_objects {
    struct hub_app *app;
    const struct hub_snapshot *snapshot;
    struct hub_cached_response *answer;    /* that holds */
    const struct hub_objects_order *order; /* this */
    struct hub_objects_cursor *heap; /* datasets that are being walked: the one with the first name on top */
    uint32_t count, capacity;
    uint32_t next;  /* of the order: the first that is not being walked */
    bool others;    /* walk what no list shows too: another commit of a repo */
    size_t author;  /* of each object */
    uint32_t space; /* the namespace that comes next */
    enum { HUB_GAVE_NOTHING, HUB_GAVE_FILE, HUB_GAVE_SPACE } gave;
    struct hub_buf name, start;
    bool remote;    /* what only an upstream has was come by */
    unsigned asked; /* upstreams, for the files of a dataset: a page ends at HUB_MOST_ASKED */
};
enum { HUB_MOST_ASKED = 64 };
HUB_MUST_USE enum hub_status hub_objects_open(const struct hub_request *request, struct hub_objects *out,
                                              struct hub_error *err);
void hub_objects_dispose(struct hub_objects *objects);
/** Go on at the first name that is not before `start`. */
HUB_MUST_USE enum hub_status hub_objects_seek(struct hub_objects *objects, struct hub_view start,
                                              struct hub_error *err);
/** HUB_NOT_FOUND: there are no more (without an error). */
HUB_MUST_USE enum hub_status hub_objects_next(struct hub_objects *objects, struct hub_object *out,
                                              struct hub_error *err);

/** The datasets in a folder, whose names begin with `begins`: from `*at` on, which is 0 at first. NULL: no
 * more. */
const struct hub_summary *hub_objects_below(const struct hub_objects *objects, struct hub_view begins,
                                            uint32_t *at);

/**
 * The object of a name. HUB_AGAIN where the dataset would have to be loaded and the request may not block;
 * HUB_NOT_FOUND "file-not-found".
 *
 * @param target  what its dataset is borrowed from; disposed by the caller whatever happens
 */
HUB_MUST_USE enum hub_status hub_object_find(struct hub_request *request, struct hub_view name,
                                             struct hub_target *target, struct hub_object *out,
                                             struct hub_error *err);

#endif
