/** Which datasets are in a commit of a repo. */
#ifndef HUB_API_PUSHES_SETS_H
#define HUB_API_PUSHES_SETS_H

#include "storage/truth/repos.h"

struct hub_push_set {
    char *begins; /* what the paths of its files begin with: "door/human-v2/"; "": all files of the repo */
};
struct hub_push_sets {
    struct hub_push_set *items;
    uint32_t count, capacity;
};
void hub_push_sets_dispose(struct hub_push_sets *sets);
/** Those of Minari, where the repo is one of its namespaces, else the repo itself. None: it has no files. */
HUB_MUST_USE enum hub_status hub_push_sets_find(struct hub_truth *truth, const struct hub_push *push,
                                                struct hub_push_sets *out, struct hub_error *err);
/** The id of one, or its path, from that of the repo. NULL: no memory. Free it. */
char *hub_push_set_id(const char *repo, const struct hub_push_set *set);

#endif
