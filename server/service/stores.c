/* Opening and closing in order: see stores.h. */
#include "server/service/stores.h"

#include "storage/io/state_dir.h"

static enum hub_status open_truth(const char *state, const struct hub_roots *roots, struct hub_lru_room *room,
                                  struct hub_stores *out, struct hub_error *err)
{
    HUB_TRY(hub_state_dir_open(state, &out->dir, err));
    const struct hub_truth_options options = {
        .state = state, .roots = roots, .check = out->dir->unclean, .room = room};
    return hub_truth_open(&options, &out->truth, err);
}

enum hub_status hub_stores_open_truth(const char *state, const struct hub_roots *roots,
                                      struct hub_stores *out, struct hub_error *err)
{
    *out = (struct hub_stores){0};
    const enum hub_status st = open_truth(state, roots, NULL, out, err);
    if (st)
        hub_stores_close(out);
    else
        out->dir->sound = !out->dir->unclean; /* the index is still to be checked */
    return st;
}

enum hub_status hub_stores_open(const struct hub_catalog_options *options, struct hub_stores *out,
                                struct hub_error *err)
{
    *out = (struct hub_stores){0};
    struct hub_catalog_options own = *options;
    enum hub_status st = open_truth(options->state, options->roots, options->room, out, err);
    own.dir = out->dir;
    if (!st)
        st = hub_catalog_open(&own, &out->catalog, err);
    if (st)
        hub_stores_close(out);
    else
        out->dir->sound = true;
    return st;
}

void hub_stores_close(struct hub_stores *stores)
{
    if (stores->catalog)
        hub_catalog_close(stores->catalog);
    hub_truth_close(stores->truth);
    hub_state_dir_close(stores->dir);
    *stores = (struct hub_stores){0};
}
