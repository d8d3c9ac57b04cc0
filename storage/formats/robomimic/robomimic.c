/*
 * robomimic (https://robomimic.github.io/docs/datasets/overview.html): one HDF5 file is a dataset, its
 * episodes are the groups data/demo_N, its splits the lists of names in mask/ (in early descriptions
 * data/mask/). Its relatives write the same, and more beside it, and are named as eras:
 *   robosuite: recorded and not converted, without env_args, num_samples, or any attribute
 *   libero: problem_info of data/ holds the instruction, which is the task; attributes of numbers
 *   mimicgen: (DexMimicGen too) datagen_info/ and src_demo_* of each demo
 *   isaac-lab: initial_state/ of one row, nested states/, seed and success of each demo
 * RoboCasa (v0.x) and robosuite 1.5 keep the task in ep_meta of a demo.
 *
 * Problems: not-fetched, permission-denied, length-mismatch, actions-not-normalized, and those of
 * storage/formats/kit/h5_kit.h.
 */
#include "storage/formats/kit/h5_kit.h"
#include "storage/text/json.h"

#include <math.h>
#include <stdio.h>

#define DEMO "demo_"

struct robomimic {
    struct hub_h5_object root, data;
    struct hub_h5_episodes episodes;
    struct hub_h5_splits splits;
    struct hub_h5_notes notes;
    struct hub_buf split_names;
    struct hub_buf task, demo_task; /* of the file, which holds for all demos; of the demo */
    bool converted, raw, libero;    /* of the file: who wrote its attributes */
    int64_t samples;                /* of the demo: -1 unknown */
    int8_t success;
    char seed[24];
    struct hub_location model; /* where its model_file lies; size 0: nowhere */
    uint32_t model_field;
    struct hub_tally lengths, wide;
};

static void dispose(struct robomimic *r)
{
    struct hub_h5 *file = r->episodes.tree.file;
    hub_h5_episodes_dispose(&r->episodes);
    hub_h5_splits_dispose(&r->splits);
    hub_h5_notes_dispose(&r->notes);
    hub_buf_dispose(&r->split_names);
    hub_buf_dispose(&r->task);
    hub_buf_dispose(&r->demo_task);
    hub_h5_object_dispose(&r->root);
    hub_h5_object_dispose(&r->data);
    hub_h5_close(file);
}

/* The file, its root and its group "data". */
static enum hub_status open_data(struct robomimic *r, struct hub_files *files, uint32_t number,
                                 struct hub_error *err)
{
    uint64_t address;
    struct hub_h5 **file = &r->episodes.tree.file;
    HUB_TRY(hub_h5_open_root(files, number, file, &r->root, err));
    HUB_TRY(hub_h5_resolve(*file, r->root.address, HUB_VIEW("data"), &address, err));
    HUB_TRY(hub_h5_object_load(*file, address, &r->data, err));
    return r->data.kind == HUB_H5_GROUP ? HUB_OK : hub_fail(err, HUB_NOT_ACCEPTABLE, "data is not a group");
}

/* ---- claim ---- */

static enum hub_status look_at_attribute(void *user, const struct hub_h5_attribute *a, struct hub_error *err)
{
    struct robomimic *r = user;
    (void)err;
    r->converted |= hub_view_is(a->name, "env_args");
    r->raw |= hub_view_is(a->name, "env_info") || hub_view_is(a->name, "repository_version");
    r->libero |= hub_view_is(a->name, "problem_info") || hub_view_is(a->name, "bddl_file_name");
    return HUB_OK;
}

enum { MAX_TRIED = 16 };

/* A demo has actions, but for one that is damaged; a file without demos says by its attributes what it is. */
static bool is_mine(struct robomimic *r)
{
    HUB_CLEANUP(hub_h5_links_dispose) struct hub_h5_links links = {0};
    struct hub_h5 *file = r->episodes.tree.file;
    char path[64];
    int64_t number;
    uint64_t address;
    (void)!hub_h5_attributes(file, &r->data, look_at_attribute, r, NULL);
    if (r->converted)
        return true;
    (void)!hub_h5_links_load(file, &r->data, &links, NULL);
    for (uint32_t i = 0, tried = 0; i < links.count && tried < MAX_TRIED; i++) {
        if (!hub_numbered(links.items[i].name, DEMO, &number))
            continue;
        snprintf(path, sizeof path, DEMO "%lld/actions", (long long)number);
        if (hub_h5_resolve(file, r->data.address, hub_view_of(path), &address, NULL) == HUB_OK)
            return true;
        tried++;
    }
    return false;
}

static bool holds_demos(struct hub_files *listing, uint32_t number)
{
    HUB_CLEANUP(dispose) struct robomimic r = {0};
    return !open_data(&r, listing, number, NULL) && is_mine(&r);
}

static int claim_files(struct hub_files *listing, struct hub_claim *claim)
{
    return hub_claim_file(listing, claim, hub_h5_endings, holds_demos, 75);
}

/* ---- one demo ---- */

/* An attribute as a note. Does it tell the task? "lang" is in ep_meta, "language_instruction" in
 * problem_info. */
static enum hub_status take_note(struct robomimic *r, const struct hub_h5_attribute *a, struct hub_buf *task,
                                 bool *parsed, struct hub_error *err)
{
    const uint32_t before = r->notes.count;
    const char *key = hub_view_is(a->name, "ep_meta")        ? "lang"
                      : hub_view_is(a->name, "problem_info") ? "language_instruction"
                                                             : NULL;
    HUB_TRY(hub_h5_notes_take_json(&r->notes, &r->episodes.tree, a, parsed, err));
    return *parsed && key
               ? hub_json_text_of(hub_buf_view(&r->notes.items[before].value), key, false, task, err)
               : HUB_OK;
}

static enum hub_status take_attribute(void *user, const struct hub_h5_attribute *a, struct hub_error *err)
{
    struct robomimic *r = user;
    struct hub_h5_tree *tree = &r->episodes.tree;
    int64_t value;
    bool parsed;
    if (hub_view_is(a->name, "num_samples") && hub_h5_attribute_int(a, &value) && value >= 0) {
        r->samples = value;
        return HUB_OK;
    }
    if (hub_view_is(a->name, "success") && hub_h5_attribute_int(a, &value)) {
        r->success = value != 0;
        return HUB_OK;
    }
    if (hub_view_is(a->name, "seed") && hub_h5_attribute_int(a, &value)) {
        snprintf(r->seed, sizeof r->seed, "%lld", (long long)value);
        return HUB_OK;
    }
    if (hub_view_is(a->name, "model_file") && !hub_h5_attribute_location(tree->file, a, &r->model, NULL))
        return HUB_OK;
    return take_note(r, a, &r->demo_task, &parsed, err);
}

/* Learning wants them between -1 and 1; nothing in a file says so, hence no more than a warning. */
static void check_actions(struct robomimic *r, const struct hub_h5_tree *tree)
{
    double largest;
    if (!tree->quiet && hub_h5_largest(tree, "actions", &largest) && !(largest <= 1))
        hub_tally_add(&r->wide, "%.*s has %s%g", (int)tree->episode.size, tree->episode.data,
                      isnan(largest) ? "" : "a magnitude of ", largest);
}

/* num_samples and the rows of actions should agree; where they do not, what both have is served. */
static enum hub_status load(void *user, struct hub_h5_tree *tree, uint64_t *steps, struct hub_error *err)
{
    struct robomimic *r = user;
    uint64_t rows;
    r->samples = -1;
    r->success = -1;
    r->model = (struct hub_location){0};
    r->seed[0] = '\0';
    r->demo_task.size = 0;
    hub_h5_notes_clear(&r->notes);
    HUB_TRY(hub_h5_tree_attributes(tree, &tree->groups[0], take_attribute, r, err));
    check_actions(r, tree);
    HUB_TRY(hub_h5_notes_write(&r->notes, tree, err));
    const bool acted = hub_h5_tree_rows(tree, "actions", &rows), stated = r->samples >= 0;
    *steps = acted ? rows : stated ? (uint64_t)r->samples : 0;
    if (!acted || !stated || rows == (uint64_t)r->samples)
        return HUB_OK;
    if (!tree->quiet)
        hub_tally_add(&r->lengths, "%.*s says %lld and has %llu", (int)tree->episode.size, tree->episode.data,
                      (long long)r->samples, (unsigned long long)rows);
    *steps = HUB_MIN(rows, (uint64_t)r->samples);
    for (uint32_t i = 0; i < tree->count; i++)
        if (tree->leaves[i].rows == rows)
            tree->leaves[i].rows = *steps;
    return HUB_OK;
}

static enum hub_status describe(void *user, struct hub_h5_tree *tree, struct hub_episode *episode,
                                struct hub_error *err)
{
    struct robomimic *r = user;
    HUB_TRY(hub_h5_splits_of(&r->splits, episode->number, &r->split_names, err));
    episode->splits = hub_buf_view(&r->split_names);
    episode->attributes = hub_buf_view(&r->notes.json);
    episode->success = r->success;
    episode->seed = hub_view_of(r->seed);
    episode->task = hub_buf_view(r->demo_task.size ? &r->demo_task : &r->task);
    hub_h5_return(tree, "rewards", 0, episode);
    return HUB_OK;
}

/* The simulator's model, up to 200 KB of XML an episode, is a field of one row: read where it is asked
 * for. */
static enum hub_status lay_out_model(void *user, struct hub_h5_tree *tree, uint32_t index,
                                     struct hub_error *err)
{
    struct robomimic *r = user;
    const struct hub_field field = {.path = HUB_VIEW("model_file"),
                                    .type = HUB_FIELD_TEXT,
                                    .role = HUB_ROLE_OTHER,
                                    .axis = HUB_AXIS_NONE};
    const struct hub_extent extent = {.offset = r->model.offset, .length = (uint32_t)r->model.stored};
    struct hub_piece piece = {
        .kind = HUB_PIECE_EXTENTS, .file = r->model.file, .rows = 1, .count = 1, .geometry = HUB_NONE};
    struct hub_window window = {.episode = index, .count = 1};
    struct hub_layout_builder *b;
    if (!r->model.stored || hub_h5_tree_find(tree, "model_file"))
        return HUB_OK;
    if (r->model_field == HUB_NONE)
        HUB_TRY(hub_sink_field(tree->sink, &field, &r->model_field, err));
    HUB_TRY(hub_sink_layout(tree->sink, r->model_field, &b, err));
    HUB_TRY(hub_layout_array_of(b, &(struct hub_variant){.kind = HUB_KIND_VAR}, &window.array, err));
    HUB_TRY(hub_layout_extents(b, &extent, 1, &piece.table, err));
    HUB_TRY(hub_layout_piece(b, &piece, err));
    return hub_layout_add_window(b, &window, err);
}

/* ---- the file ---- */

/* Masks that cannot be read hide no demo. */
static enum hub_status load_splits(struct robomimic *r, const char *mask, uint64_t address,
                                   struct hub_error *err)
{
    struct hub_error why = {0};
    const enum hub_status st = hub_h5_splits_load(&r->splits, &r->episodes, address, &why);
    return hub_h5_tree_finish(&r->episodes.tree, st, "bad-split", hub_view_of(mask), &why, err);
}

static enum hub_status load_file(struct robomimic *r, struct hub_files *files, struct hub_sink *sink,
                                 bool quiet, struct hub_error *err)
{
    static const struct hub_h5_dialect dialect = {DEMO, NULL, load, describe, lay_out_model};
    static const char *const masks[] = {"mask", "data/mask"};
    struct hub_h5 **file = &r->episodes.tree.file;
    uint64_t address;
    r->episodes.dialect = &dialect;
    r->episodes.user = r;
    r->episodes.tree.sink = sink;
    r->episodes.tree.quiet = r->splits.quiet = quiet;
    r->model_field = HUB_NONE;
    r->split_names.limit = r->task.limit = r->demo_task.limit = HUB_MAX_ATTRIBUTES;
    if (files->count == 0)
        return hub_fail(err, HUB_NOT_ACCEPTABLE, "there is no file");
    HUB_TRY(hub_files_usable(files, 0, err));
    HUB_TRY(open_data(r, files, 0, err));
    HUB_TRY(hub_h5_episodes_list(&r->episodes, *file, &r->data, err));
    for (size_t i = 0; i < HUB_COUNT(masks); i++)
        if (hub_h5_resolve(*file, r->root.address, hub_view_of(masks[i]), &address, NULL) == HUB_OK)
            return load_splits(r, masks[i], address, err);
    return HUB_OK;
}

/* An attribute of data/. */
static enum hub_status take_fact(void *user, const struct hub_h5_attribute *a, struct hub_error *err)
{
    struct robomimic *r = user;
    int64_t total;
    HUB_TRY(look_at_attribute(r, a, err));
    if (hub_view_is(a->name, "total") && hub_h5_attribute_int(a, &total))
        HUB_TRY(hub_sink_count(r->episodes.tree.sink, "claimed_steps", total, err));
    const uint32_t before = r->notes.count;
    bool parsed;
    HUB_TRY(take_note(r, a, &r->task, &parsed, err));
    if (!parsed || !hub_view_is(a->name, "env_args"))
        return HUB_OK;
    return hub_sink_fact(r->episodes.tree.sink, "env_spec", hub_buf_view(&r->notes.items[before].value), err);
}

/* An attribute of data/ that the demos share. */
static enum hub_status take_shared(void *user, const struct hub_h5_attribute *a, struct hub_error *err)
{
    bool parsed;
    return hub_view_is(a->name, "problem_info")
               ? take_note(user, a, &((struct robomimic *)user)->task, &parsed, err)
               : HUB_OK;
}

static bool demos_have(struct robomimic *r, const char *path)
{
    uint64_t address;
    for (uint32_t i = 0; i < r->episodes.count && i < MAX_TRIED; i++)
        if (hub_h5_resolve(r->episodes.tree.file, r->episodes.entries[i].address, hub_view_of(path), &address,
                           NULL) == HUB_OK)
            return true;
    return false;
}

/* NULL: robomimic's own. What its scripts converted may have come from anywhere. */
static const char *era_of(struct robomimic *r)
{
    if (r->libero)
        return "libero";
    if (demos_have(r, "datagen_info"))
        return "mimicgen";
    if (demos_have(r, "initial_state") && (!demos_have(r, "states") || demos_have(r, "states/articulation")))
        return "isaac-lab";
    const bool bare = demos_have(r, "states") && !demos_have(r, "obs");
    return !r->converted && (r->raw || bare) ? "robosuite" : NULL;
}

static enum hub_status report_facts(struct robomimic *r, const struct hub_files *files, struct hub_sink *sink,
                                    struct hub_error *err)
{
    hub_h5_notes_clear(&r->notes);
    r->converted = r->raw = false;
    HUB_TRY(hub_h5_tree_attributes(&r->episodes.tree, &r->data, take_fact, r, err));
    HUB_TRY(hub_h5_notes_write(&r->notes, &r->episodes.tree, err));
    if (r->notes.json.size)
        HUB_TRY(hub_sink_fact(sink, "metadata", hub_buf_view(&r->notes.json), err));
    HUB_TRY(hub_sink_fact(sink, "claimed_in", files->entries[0].path, err));
    const char *era = era_of(r);
    if (era)
        HUB_TRY(hub_sink_fact(sink, "era", hub_view_of(era), err));
    return hub_h5_splits_report(&r->splits, sink, err);
}

static enum hub_status plan(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    static const uint32_t first = 0;
    HUB_CLEANUP(dispose) struct robomimic r = {0};
    HUB_TRY(load_file(&r, files, sink, false, err));
    HUB_TRY(hub_h5_report_open(r.episodes.tree.file, files, sink, "h5py and robomimic", err));
    HUB_TRY(report_facts(&r, files, sink, err));
    return hub_sink_part(sink, &(struct hub_part){files->entries[0].path, &first, 1, HUB_VIEW("")}, err);
}

static enum hub_status inspect(struct hub_files *files, const struct hub_part *part, struct hub_sink *sink,
                               struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct robomimic r = {0};
    (void)part;
    HUB_TRY(load_file(&r, files, sink, true, err));
    hub_h5_notes_clear(&r.notes);
    HUB_TRY(hub_h5_tree_attributes(&r.episodes.tree, &r.data, take_shared, &r, err));
    HUB_TRY(hub_h5_episodes_report(&r.episodes, err));
    if (r.lengths.count)
        HUB_TRY(hub_sink_problem(
            sink, "length-mismatch", HUB_VIEW(""), err,
            "num_samples of %u demos differs from their number of actions, the smaller number counts: %s",
            r.lengths.count, r.lengths.first));
    if (r.wide.count)
        HUB_TRY(hub_sink_problem(
            sink, "actions-not-normalized", HUB_VIEW("actions"), err,
            "actions of %u demos are not all between -1 and 1, as robomimic needs them for training: %s",
            r.wide.count, r.wide.first));
    return hub_h5_fields_finish(&r.episodes.fields, sink, err);
}

static const char *const eras[] = {"robosuite: recorded by robosuite, not converted by robomimic",
                                   "isaac-lab: recorded or generated by Isaac Lab",
                                   "libero: a task of LIBERO",
                                   "mimicgen: generated by MimicGen or DexMimicGen", NULL};

const struct hub_format hub_format_robomimic = {
    .name = "robomimic",
    .marks = hub_marks_robomimic,
    .eras = eras,
    .claim_files = claim_files,
    .plan = plan,
    .inspect = inspect,
};
