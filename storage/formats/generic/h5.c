/* Any HDF5 file: all its datasets are fields of one episode, the attributes of its root are metadata. */
#include "storage/formats/generic/generic.h"
#include "storage/formats/kit/h5_kit.h"

#include <stdlib.h>

struct plain {
    struct hub_h5 *file;
    struct hub_h5_tree tree;
    struct hub_h5_fields fields;
};

static void dispose(struct plain *p)
{
    hub_h5_fields_dispose(&p->fields);
    hub_h5_tree_dispose(&p->tree);
    hub_h5_close(p->file);
}

static enum hub_status load(struct plain *p, struct hub_files *files, struct hub_sink *sink, bool quiet,
                            struct hub_error *err)
{
    HUB_TRY(hub_files_usable(files, 0, err));
    HUB_TRY(hub_h5_open(files, 0, &p->file, err));
    p->tree = (struct hub_h5_tree){.file = p->file, .sink = sink, .quiet = quiet};
    return HUB_OK;
}

static enum hub_status plan(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct plain p = {0};
    HUB_CLEANUP(hub_h5_object_dispose) struct hub_h5_object root = {0};
    HUB_TRY(load(&p, files, sink, false, err));
    HUB_TRY(hub_h5_report_open(p.file, files, sink, "h5py and libhdf5", err));
    HUB_TRY(hub_h5_object_load(p.file, hub_h5_root(p.file), &root, err));
    return hub_h5_notes_report(&p.tree, &root, err);
}

static size_t vote(const void *state, struct hub_row_vote *votes, size_t room)
{
    const struct hub_h5_tree *tree = &((const struct plain *)state)->tree;
    size_t count = 0;
    for (uint32_t i = 0; i < tree->count && count < room; i++) {
        const struct hub_h5_dataset *d = &tree->leaves[i].dataset;
        struct hub_variant item = d->variant;
        item.rank = 0;
        if (d->rank != HUB_NONE && d->rank > 0)
            votes[count++] = hub_row_vote_of(&item, d->dims, d->rank);
    }
    return count;
}

static bool pictured(const void *user, struct hub_view path)
{
    (void)user;
    (void)path;
    return false; /* only what has the shape of pictures */
}

static enum hub_status open(const struct generic_input *at, void **state, struct hub_error *err)
{
    struct plain *p = NULL;
    HUB_TRY(hub_new(&p, 1, sizeof *p, err));
    *state = p;
    HUB_TRY(load(p, at->files, at->sink, false, err));
    p->fields.pictured = pictured;
    return hub_h5_tree_load(&p->tree, hub_h5_root(p->file), err);
}

static enum hub_status lay_out(const struct generic_input *at, void *state, struct hub_error *err)
{
    struct plain *p = state;
    HUB_TRY(hub_h5_fields_lay_out(&p->fields, &p->tree, at->episode, at->steps, err));
    return hub_h5_fields_finish(&p->fields, at->sink, err);
}

static void close(void *state)
{
    dispose(state);
    free(state);
}

static const char *const endings[] = {".hdf5", ".h5", ".hdf", ".he5", ".mat", NULL};
const struct generic_container generic_h5 = {.endings = endings,
                                             .found = hub_h5_is,
                                             .plan = plan,
                                             .open = open,
                                             .vote = vote,
                                             .lay_out = lay_out,
                                             .close = close};
