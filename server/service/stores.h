/** The state directory with all that is in it, for the program and for commands that run without a hub. */
#ifndef HUB_SERVICE_STORES_H
#define HUB_SERVICE_STORES_H

#include "storage/catalog/catalog.h"
#include "storage/truth/truth.h"

struct hub_stores {
    struct hub_state_dir *dir;
    struct hub_truth *truth;
    struct hub_catalog *catalog; /* NULL: hub.db alone */
};

/** Hold the directory and open hub.db. */
HUB_MUST_USE enum hub_status hub_stores_open_truth(const char *state, const struct hub_roots *roots,
                                                   struct hub_stores *out, struct hub_error *err);
/** The same, and the catalogue. `options->dir` is filled in here. */
HUB_MUST_USE enum hub_status hub_stores_open(const struct hub_catalog_options *options,
                                             struct hub_stores *out, struct hub_error *err);
void hub_stores_close(struct hub_stores *stores);

#endif
