/*
 * D4RL (https://github.com/Farama-Foundation/d4rl/wiki/Tasks) before Minari: one HDF5 file is a dataset, and
 * its rows are steps of all episodes, one behind the other: observations, actions, rewards, terminals,
 * timeouts (since v1), next_observations, infos/. An episode ends behind a row whose terminals or timeouts
 * say so; without timeouts, where next_observations is not the next observation. What is left at the end is
 * an episode too.
 *
 * Problems: not-fetched, permission-denied, boundary-unknown, open-tail, rows-differ, and those of
 * storage/formats/kit/h5_kit.h.
 */
#include "storage/formats/kit/h5_kit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_ROWS = 16 * 1024 * 1024, SLAB_BYTES = 256 * 1024 };
enum { TERMINAL = 1, TIMEOUT = 2, BREAK = 4 }; /* why an episode ends behind a row */

struct d4rl {
    struct hub_h5_object root;
    struct hub_h5_tree tree;
    struct hub_h5_fields fields;
    uint64_t rows;
    uint8_t *ends; /* of each row */
    uint64_t at;   /* of the column that is read */
    uint8_t mark;
    bool terminals, timeouts, rewards;
    struct hub_h5_cut *cuts;
    uint32_t count, capacity;
    double *returns; /* of each cut */
    uint32_t cut;    /* of the reward that is read */
};

static void dispose(struct d4rl *d)
{
    struct hub_h5 *file = d->tree.file;
    hub_h5_tree_dispose(&d->tree);
    hub_h5_fields_dispose(&d->fields);
    hub_h5_object_dispose(&d->root);
    hub_h5_close(file);
    free(d->ends);
    free(d->cuts);
    free(d->returns);
}

/* ---- claim ---- */

static bool is_mine(struct hub_files *listing, uint32_t number)
{
    static const char *const columns[] = {"observations", "actions", "rewards", "terminals", "timeouts"};
    HUB_CLEANUP(dispose) struct d4rl d = {0};
    HUB_CLEANUP(hub_h5_links_dispose) struct hub_h5_links links = {0};
    unsigned found = 0;
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
    return hub_claim_file(listing, claim, hub_h5_endings, is_mine, 70);
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
    HUB_TRY(load_file(&d, files, sink, err));
    HUB_TRY(hub_h5_tell_open(d.tree.file, files, sink, "h5py and d4rl", err));
    HUB_TRY(hub_h5_notes_report(&d.tree, &d.root, err));
    return hub_sink_part(sink, &(struct hub_part){files->entries[0].path, &first, 1, HUB_VIEW("")}, err);
}

/* ---- where episodes end ---- */

static void take_flag(void *user, double value)
{
    struct d4rl *d = user;
    if (d->at < d->rows && !isnan(value) && value != 0)
        d->ends[d->at] |= d->mark;
    d->at++;
}

/* A column of one flag a row; not `good` where there is none, or none that can be used. */
static enum hub_status read_flags(struct d4rl *d, const char *path, uint8_t mark, bool *good,
                                  struct hub_error *err)
{
    d->at = 0;
    d->mark = mark;
    *good = hub_h5_each(&d->tree, path, take_flag, d) && d->at == d->rows;
    for (uint64_t i = 0; !*good && i < d->rows; i++)
        d->ends[i] &= (uint8_t)~mark;
    if (*good || !hub_h5_tree_find(&d->tree, path))
        return HUB_OK;
    return hub_sink_problem(d->tree.sink, "rows-differ", hub_view_of(path), err,
                            "not one flag for each of the %" PRIu64 " rows: it ends no episode", d->rows);
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
            d->ends[first + i] |= BREAK;
    return true;
}

static bool find_breaks(struct d4rl *d)
{
    const struct hub_h5_leaf *here = hub_h5_tree_find(&d->tree, "observations"),
                             *next = hub_h5_tree_find(&d->tree, "next_observations");
    if (!here || !next || here->rows != d->rows || next->rows != d->rows || here->dataset.unreadable[0] ||
        next->dataset.unreadable[0] || here->dataset.variant.kind == HUB_KIND_VAR ||
        memcmp(&here->dataset.variant, &next->dataset.variant, sizeof here->dataset.variant) != 0)
        return false;
    const uint64_t row = hub_h5_row_bytes(&here->dataset);
    if (row == 0 || row > SLAB_BYTES)
        return false;
    const uint64_t most = SLAB_BYTES / row;
    HUB_CLEANUP(hub_freep) uint8_t *room = malloc((size_t)(2 * most * row));
    bool good = room;
    for (uint64_t first = 0; good && first + 1 < d->rows; first += most)
        good =
            compare(d, &here->dataset, &next->dataset, first, HUB_MIN(most, d->rows - 1 - first), row, room);
    return good;
}

static enum hub_status tell_unknown(struct d4rl *d, struct hub_error *err)
{
    if (d->terminals)
        return hub_sink_problem(
            d->tree.sink, "boundary-unknown", HUB_VIEW("timeouts"), err,
            "without timeouts and next_observations only terminals end an episode: one that "
            "ran out of time is joined with the next");
    return hub_sink_problem(d->tree.sink, "boundary-unknown", HUB_VIEW("terminals"), err,
                            "neither terminals nor timeouts can be read: all rows are one episode");
}

static enum hub_status find_ends(struct d4rl *d, struct hub_error *err)
{
    HUB_TRY(hub_new(&d->ends, (size_t)d->rows + 1, 1, err));
    HUB_TRY(read_flags(d, "terminals", TERMINAL, &d->terminals, err));
    HUB_TRY(read_flags(d, "timeouts", TIMEOUT, &d->timeouts, err));
    if (d->timeouts || d->rows == 0 || find_breaks(d))
        return HUB_OK;
    for (uint64_t i = 0; i < d->rows; i++)
        d->ends[i] &= TERMINAL;
    return tell_unknown(d, err);
}

static enum hub_status cut_rows(struct d4rl *d, struct hub_error *err)
{
    uint64_t first = 0;
    for (uint64_t i = 0; i < d->rows; i++) {
        if (!d->ends[i] && i + 1 < d->rows)
            continue;
        if (d->count >= HUB_MAX_EPISODES)
            return hub_fail(err, HUB_TOO_BIG, "more than %d episodes", HUB_MAX_EPISODES);
        HUB_TRY(hub_grow(&d->cuts, d->count, &d->capacity, sizeof *d->cuts, err));
        d->cuts[d->count++] = (struct hub_h5_cut){.first = first, .count = i + 1 - first};
        first = i + 1;
    }
    if (d->rows && !d->ends[d->rows - 1])
        return hub_sink_problem(d->tree.sink, "open-tail", HUB_VIEW(""), err,
                                "the last %" PRIu64 " rows have no end and are an episode all the same; "
                                "sequence_dataset of d4rl leaves them out",
                                d->cuts[d->count - 1].count);
    return HUB_OK;
}

/* ---- the episodes ---- */

static void take_reward(void *user, double value)
{
    struct d4rl *d = user;
    while (d->cut < d->count && d->at >= d->cuts[d->cut].first + d->cuts[d->cut].count)
        d->cut++;
    if (d->cut < d->count)
        d->returns[d->cut] += value;
    d->at++;
}

static enum hub_status report(struct d4rl *d, uint32_t i, struct hub_error *err)
{
    struct hub_h5_cut *cut = &d->cuts[i];
    const uint8_t end = d->ends[cut->first + cut->count - 1];
    char name[16];
    snprintf(name, sizeof name, "%u", i);
    struct hub_episode episode = {.number = i,
                                  .name = hub_view_of(name),
                                  .steps = cut->count,
                                  .has_return = d->rewards,
                                  .return_computed = true,
                                  .success = -1,
                                  .terminated = d->terminals ? (end & TERMINAL) != 0 : -1,
                                  .truncated = d->timeouts ? (end & TIMEOUT) != 0 : -1};
    if (episode.has_return)
        episode.episode_return = d->returns[i];
    return hub_sink_episode(d->tree.sink, &episode, &cut->episode, err);
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
    HUB_TRY(load_file(&d, files, sink, err));
    HUB_TRY(hub_h5_tree_load(&d.tree, d.root.address, err));
    if (!hub_h5_tree_rows(&d.tree, "actions", &d.rows) && !hub_h5_tree_rows(&d.tree, "observations", &d.rows))
        return hub_fail(err, HUB_CORRUPT, "neither actions nor observations can be read");
    if (d.rows > MAX_ROWS)
        return hub_fail(err, HUB_TOO_BIG, "more than %d rows", MAX_ROWS);
    HUB_TRY(find_ends(&d, err));
    HUB_TRY(cut_rows(&d, err));
    HUB_TRY(hub_new(&d.returns, (size_t)d.count + 1, sizeof *d.returns, err));
    d.at = 0;
    d.rewards = hub_h5_each(&d.tree, "rewards", take_reward, &d) && d.at == d.rows;
    for (uint32_t i = 0; i < d.count; i++)
        HUB_TRY(report(&d, i, err));
    HUB_TRY(hub_h5_fields_cut(&d.fields, &d.tree, d.cuts, d.count, d.rows, err));
    return hub_h5_fields_finish(&d.fields, sink, err);
}

static const char *const names[] = {"*.hdf5", "*.h5", NULL};

const struct hub_format hub_format_d4rl = {
    .name = "d4rl",
    .names = names,
    .claim_files = claim_files,
    .plan = plan,
    .inspect = inspect,
};
