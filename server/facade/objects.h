/**
 * The hub as one sorted set of objects, which is how object stores show files: a file's name is where it lies below its
 * root, behind the root's name where it has one ("D4RL/door/human-v2/data/main_data.hdf5"). Names are bytes, and in
 * their order.
 */
#ifndef HUB_FACADE_OBJECTS_H
#define HUB_FACADE_OBJECTS_H

#include "server/api/remote_view.h"
#include "server/api/resolve.h"
#include "storage/truth/digests.h"

struct hub_objects_order;

/** One file of one dataset; or that of a namespace, which is made when it is asked for (space.h). */
struct hub_object {
    struct hub_view name; /* lives until the next call */
    const struct hub_dataset *dataset;
    const struct hub_dataset_file *file; /* NULL: of a namespace */
    const struct hub_remote_view *view;  /* not NULL: it is not here, and this is what its upstream says */
};
bool hub_is_minari(const struct hub_summary *summary);

/** The state of a file as a number above 0: another size or another time is another one. */
int64_t hub_object_generation(uint64_t size, int64_t modified_ns);

/** Walks objects in order of their names. Blocking; of one thread. */
struct hub_objects {
    struct hub_app *app;
    const struct hub_snapshot *snapshot;
    struct hub_objects_order *order;
    struct hub_objects_cursor *heap; /* datasets that are being walked: the one with the first name on top */
    uint32_t count, capacity;
    uint32_t next;  /* of the order: the first that is not being walked */
    bool others;    /* walk what no list shows too: another commit of a repo */
    uint32_t space; /* the namespace that comes next */
    enum { HUB_GAVE_NOTHING, HUB_GAVE_FILE, HUB_GAVE_SPACE } gave;
    struct hub_buf name, start;
    bool remote;    /* what only an upstream has was come by */
    unsigned asked; /* upstreams, for the files of a dataset: a page ends at HUB_MOST_ASKED */
};
enum { HUB_MOST_ASKED = 64 };
HUB_MUST_USE enum hub_status hub_objects_open(struct hub_app *app, struct hub_objects *out,
                                              struct hub_error *err);
void hub_objects_dispose(struct hub_objects *objects);
/** Go on at the first name that is not before `start`. */
HUB_MUST_USE enum hub_status hub_objects_seek(struct hub_objects *objects, struct hub_view start,
                                              struct hub_error *err);
/** HUB_NOT_FOUND: there are no more (without an error). */
HUB_MUST_USE enum hub_status hub_objects_next(struct hub_objects *objects, struct hub_object *out,
                                              struct hub_error *err);

/** The datasets in a folder, whose names begin with `begins`: from `*at` on, which is 0 at first. NULL: no more. */
const struct hub_summary *hub_objects_below(const struct hub_objects *objects, struct hub_view begins,
                                            uint32_t *at);

/** What is said of an object. */
struct hub_object_facts {
    uint64_t size;
    int64_t modified_ns, generation;
    struct hub_file_digests digests; /* empty ones are not known by now */
    struct hub_buf text;             /* of a namespace's file */
    char etag[32];                   /* under which it is sent, if the protocol has its own; else "" */
};
void hub_object_facts_dispose(struct hub_object_facts *facts);
/** HUB_AGAIN where that may take a while and `may_block` is false. */
HUB_MUST_USE enum hub_status hub_object_facts(struct hub_app *app, const struct hub_object *object,
                                              bool may_block, struct hub_object_facts *out,
                                              struct hub_error *err);

/** Where its digests are not known yet, they are made next and waited for, a second and a half at most; on a worker,
 * HUB_AGAIN before. */
HUB_MUST_USE enum hub_status hub_object_await(struct hub_request *request, const struct hub_object *object,
                                              struct hub_object_facts *facts, struct hub_error *err);

/**
 * The object of a name. HUB_AGAIN where the dataset would have to be loaded and the request may not block;
 * HUB_NOT_FOUND "file-not-found".
 *
 * @param target  what its dataset is borrowed from; disposed by the caller whatever happens
 */
HUB_MUST_USE enum hub_status hub_object_find(struct hub_request *request, struct hub_view name,
                                             struct hub_target *target, struct hub_object *out,
                                             struct hub_error *err);

/** Answer with its bytes, or with a part of them: conditions, range. What an upstream has is fetched because of that,
 * but for the metadata of Minari, which is read to know what there is. `facts` are taken. */
HUB_MUST_USE enum hub_status hub_object_send(struct hub_request *request, const struct hub_target *target,
                                             const struct hub_object *object, struct hub_object_facts *facts,
                                             struct hub_response *response, struct hub_error *err);

#endif
