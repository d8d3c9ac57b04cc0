/*
 * D4RL (https://github.com/Farama-Foundation/d4rl/wiki/Tasks) before Minari: one HDF5 file is a dataset (or
 * one .npz with the same arrays: npz.c), and its rows are steps of all episodes, one behind the other:
 * observations, actions, rewards, terminals, timeouts (since v1), next_observations, infos/. An episode ends
 * behind a row whose terminals or timeouts say so; without timeouts, where next_observations is not the next
 * observation. What is left at the end is an episode too.
 *
 * Problems: not-fetched, permission-denied, boundary-unknown, shuffled-transitions, open-tail, rows-differ,
 * and those of storage/formats/kit/h5_kit.h.
 */
#include "storage/formats/d4rl/d4rl.h"

#include <stdlib.h>

enum { SLAB_BYTES = 256 * 1024 };

struct d4rl {
    struct hub_h5_object root;
    struct hub_h5_tree tree;
    struct hub_h5_fields fields;
    struct d4rl_cuts c;
};

static void dispose(struct d4rl *d)
{
    struct hub_h5 *file = d->tree.file;
    hub_h5_tree_dispose(&d->tree);
    hub_h5_fields_dispose(&d->fields);
    hub_h5_object_dispose(&d->root);
    hub_h5_close(file);
    d4rl_cuts_dispose(&d->c);
}

/* ---- claim ---- */

static bool is_mine(struct hub_files *listing, uint32_t number)
{
    static const char *const columns[] = {"observations", "actions", "rewards", "terminals", "timeouts"};
    HUB_CLEANUP(dispose) struct d4rl d = {0};
    HUB_CLEANUP(hub_h5_links_dispose) struct hub_h5_links links = {0};
    unsigned found = 0;
    if (hub_view_ends(listing->entries[number].path, ".npz"))
        return d4rl_npz_claim(listing, number);
    if (hub_h5_open_root(listing, number, &d.tree.file, &d.root, NULL))
        return false;
    (void)!hub_h5_links_load(d.tree.file, &d.root, &links, NULL);
    for (uint32_t i = 0; i < links.count; i++)
        for (unsigned k = 0; k < HUB_COUNT(columns); k++)
            if (hub_view_is(links.items[i].name, columns[k]))
                found |= 1u << k;
    return (found & 7) == 7 && found > 7;
}

static int claim_files(struct hub_files *listing, struct hub_claim *claim)
{
    static const char *const endings[] = {".hdf5", ".h5", ".npz", NULL};
    return hub_claim_file(listing, claim, endings, is_mine, 70);
}

static enum hub_status load_file(struct d4rl *d, struct hub_files *files, struct hub_sink *sink,
                                 struct hub_error *err)
{
    if (files->count == 0)
        return hub_fail(err, HUB_NOT_ACCEPTABLE, "there is no file");
    d->tree.sink = sink;
    HUB_TRY(hub_files_usable(files, 0, err));
    return hub_h5_open_root(files, 0, &d->tree.file, &d->root, err);
}

static enum hub_status plan(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    static const uint32_t first = 0;
    HUB_CLEANUP(dispose) struct d4rl d = {0};
    if (d4rl_npz_is(files))
        return d4rl_npz_plan(files, sink, err);
    HUB_TRY(load_file(&d, files, sink, err));
    HUB_TRY(hub_h5_report_open(d.tree.file, files, sink, "h5py and d4rl", err));
    HUB_TRY(hub_h5_notes_report(&d.tree, &d.root, err));
    return hub_sink_part(sink, &(struct hub_part){files->entries[0].path, &first, 1, HUB_VIEW("")}, err);
}

/* ---- where episodes end ---- */

/* A column of one flag a row; not `good` where there is none, or none that can be used. */
static enum hub_status read_flags(struct d4rl *d, const char *path, uint8_t mark, bool *good,
                                  struct hub_error *err)
{
    d4rl_flags_begin(&d->c, mark);
    const bool read = hub_h5_each(&d->tree, path, d4rl_take_flag, &d->c);
    *good = d4rl_flags_end(&d->c, read);
    if (*good || !hub_h5_tree_find(&d->tree, path))
        return HUB_OK;
    return d4rl_report_flags(&d->c, d->tree.sink, path, err);
}

/* Mark the rows first .. first+n-1 whose next observation is not that of the row behind them. */
static bool compare(struct d4rl *d, const struct hub_h5_dataset *here, const struct hub_h5_dataset *next,
                    uint64_t first, uint64_t n, uint64_t row, uint8_t *room)
{
    if (hub_h5_read(d->tree.file, next, first, n, room, NULL) ||
        hub_h5_read(d->tree.file, here, first + 1, n, room + n * row, NULL))
        return false;
    for (uint64_t i = 0; i < n; i++)
        if (memcmp(room + i * row, room + (n + i) * row, row) != 0)
            d->c.ends[first + i] |= D4RL_BREAK;
    return true;
}

static bool find_breaks(struct d4rl *d)
{
    const struct hub_h5_leaf *here = hub_h5_tree_find(&d->tree, "observations"),
                             *next = hub_h5_tree_find(&d->tree, "next_observations");
    if (!here || !next || here->rows != d->c.rows || next->rows != d->c.rows || here->dataset.unreadable[0] ||
        next->dataset.unreadable[0] || here->dataset.variant.kind == HUB_KIND_VAR ||
        memcmp(&here->dataset.variant, &next->dataset.variant, sizeof here->dataset.variant) != 0)
        return false;
    const uint64_t row = hub_h5_row_bytes(&here->dataset);
    if (row == 0 || row > SLAB_BYTES)
        return false;
    const uint64_t most = SLAB_BYTES / row;
    HUB_CLEANUP(hub_freep) uint8_t *room = malloc((size_t)(2 * most * row));
    bool good = room;
    for (uint64_t first = 0; good && first + 1 < d->c.rows; first += most)
        good = compare(d, &here->dataset, &next->dataset, first, HUB_MIN(most, d->c.rows - 1 - first), row,
                       room);
    return good;
}

/* Nothing follows anything: each row is an episode of one step. */
static enum hub_status report_shuffled(struct d4rl *d, struct hub_error *err)
{
    for (uint64_t i = 0; i + 1 < d->c.rows; i++)
        if (!d->c.ends[i])
            return HUB_OK;
    return d->c.rows > 2
               ? hub_sink_problem(d->tree.sink, "shuffled-transitions", HUB_VIEW("next_observations"), err,
                                  "no row continues the one before it: these look like shuffled transitions, "
                                  "so each row is an episode of one step")
               : HUB_OK;
}

static enum hub_status find_ends(struct d4rl *d, struct hub_error *err)
{
    HUB_TRY(read_flags(d, "terminals", D4RL_TERMINAL, &d->c.terminals, err));
    HUB_TRY(read_flags(d, "timeouts", D4RL_TIMEOUT, &d->c.timeouts, err));
    if (d->c.timeouts || d->c.rows == 0)
        return HUB_OK;
    if (find_breaks(d))
        return report_shuffled(d, err);
    for (uint64_t i = 0; i < d->c.rows; i++)
        d->c.ends[i] &= D4RL_TERMINAL;
    return d4rl_report_unknown(&d->c, d->tree.sink, err);
}

/* What collected the steps is of the whole file, however many rows it has. */
static enum hub_axis axis_of(const struct hub_h5_leaf *leaf, enum hub_axis by_rows)
{
    return hub_view_starts(leaf->path, "metadata/") ? HUB_AXIS_NONE : by_rows;
}

static enum hub_status inspect(struct hub_files *files, const struct hub_part *part, struct hub_sink *sink,
                               struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct d4rl d = {.fields.axis = axis_of};
    (void)part;
    if (d4rl_npz_is(files))
        return d4rl_npz_inspect(files, sink, err);
    HUB_TRY(load_file(&d, files, sink, err));
    HUB_TRY(hub_h5_tree_load(&d.tree, d.root.address, err));
    if (!hub_h5_tree_rows(&d.tree, "actions", &d.c.rows) &&
        !hub_h5_tree_rows(&d.tree, "observations", &d.c.rows))
        return hub_fail(err, HUB_CORRUPT, "neither actions nor observations can be read");
    HUB_TRY(d4rl_cuts_begin(&d.c, err));
    HUB_TRY(find_ends(&d, err));
    HUB_TRY(d4rl_cut_rows(&d.c, sink, err));
    const bool read = hub_h5_each(&d.tree, "rewards", d4rl_take_reward, &d.c);
    HUB_TRY(d4rl_report(&d.c, read, sink, err));
    HUB_TRY(hub_h5_fields_cut(&d.fields, &d.tree, d.c.cuts, d.c.count, d.c.rows, err));
    return hub_h5_fields_finish(&d.fields, sink, err);
}

const struct hub_format hub_format_d4rl = {
    .name = "d4rl",
    .marks = hub_marks_d4rl,
    .claim_files = claim_files,
    .plan = plan,
    .inspect = inspect,
};
