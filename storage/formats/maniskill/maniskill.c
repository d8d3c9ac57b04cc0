/*
 * ManiSkill3 (https://maniskill.readthedocs.io, user_guide/datasets/demos.html): trajectory.*.h5 of groups
 * traj_N, and beside it a .json of the same name, which says of each who, how and whether it succeeded. Both
 * together are one dataset. A trajectory of T actions has T+1 states: obs (an array or nested groups),
 * env_states/ (actors, articulations); rewards, success, terminated, truncated are of the steps.
 *
 * Problems: not-fetched, permission-denied, missing-file, bad-metadata, count-mismatch, fewer-than-claimed,
 * length-mismatch, and those of storage/formats/kit/h5_kit.h.
 */
#include "storage/formats/kit/h5_kit.h"

#include <stdio.h>
#include <stdlib.h>

#define PREFIX "traj_"

struct maniskill {
    struct hub_h5_object root;
    struct hub_h5_episodes episodes;
    json_t *sidecar, *listed; /* the second by "0", "1", ...: its episodes */
    const json_t *said;       /* of them the episode at hand; NULL: none */
    struct hub_buf attributes;
    char seed[24];
    uint32_t unlisted;
    struct hub_tally lengths;
};

static void dispose(struct maniskill *m)
{
    struct hub_h5 *file = m->episodes.tree.file;
    hub_h5_episodes_dispose(&m->episodes);
    hub_h5_object_dispose(&m->root);
    hub_buf_dispose(&m->attributes);
    json_decref(m->listed);
    json_decref(m->sidecar);
    hub_h5_close(file);
}

/* "trajectory.state.h5" -> "trajectory.state.json"; false: neither .h5 nor .hdf5, or too long a name. */
static bool sidecar_of(struct hub_view path, char out[HUB_MAX_PATH])
{
    const char *end = hub_ending_of(path, hub_h5_endings);
    return end &&
           snprintf(out, HUB_MAX_PATH, "%.*s.json", (int)(path.size - strlen(end)), path.data) < HUB_MAX_PATH;
}

/* ---- claim ---- */

/* Nothing but trajectories at the root, whose actions are numbers: rows of bytes are MolmoSpaces'. */
static bool is_mine(struct hub_files *listing, uint32_t number)
{
    HUB_CLEANUP(dispose) struct maniskill m = {0};
    HUB_CLEANUP(hub_h5_links_dispose) struct hub_h5_links links = {0};
    HUB_CLEANUP(hub_h5_object_dispose) struct hub_h5_object holder = {0};
    struct hub_h5_dataset actions;
    int64_t unused;
    if (hub_h5_open_root(listing, number, &m.episodes.tree.file, &m.root, NULL))
        return false;
    struct hub_h5 *file = m.episodes.tree.file;
    (void)!hub_h5_links_load(file, &m.root, &links, NULL);
    for (uint32_t i = 0; i < links.count; i++)
        if (!hub_numbered(links.items[i].name, PREFIX, &unused))
            return false;
    if (!hub_h5_episodes_sample(file, &m.root, PREFIX, "actions", &holder, &actions))
        return false;
    return actions.type.field == HUB_FIELD_NUMBER && actions.variant.item_size > 1;
}

/* A file, and the one beside it. */
static int claim_files(struct hub_files *listing, struct hub_claim *claim)
{
    char sidecar[sizeof claim->name + 8];
    const int confidence = hub_claim_file(listing, claim, hub_h5_endings, is_mine, 72);
    if (!confidence)
        return 0;
    snprintf(sidecar, sizeof sidecar, "%s.json", claim->name);
    const uint32_t beside = hub_files_find(listing, sidecar);
    if (beside != HUB_NONE && !listing->entries[beside].directory)
        claim->files[claim->file_count++] = beside;
    return confidence;
}

/* ---- one trajectory ---- */

static enum hub_status load(void *user, struct hub_h5_tree *tree, uint64_t *steps, struct hub_error *err)
{
    struct maniskill *m = user;
    char key[40];
    uint64_t states;
    (void)err;
    snprintf(key, sizeof key, "%.*s", (int)tree->episode.size, tree->episode.data);
    m->said = json_object_get(m->listed, key + strlen(PREFIX));
    if (!hub_h5_tree_rows(tree, "actions", steps))
        *steps = hub_h5_tree_rows(tree, "obs", &states) && states ? states - 1 : 0;
    const json_t *elapsed = json_object_get(m->said, "elapsed_steps");
    if (json_is_integer(elapsed) && (uint64_t)json_integer_value(elapsed) != *steps && !tree->quiet)
        hub_tally_add(&m->lengths, "%s says %lld and has %llu", key, (long long)json_integer_value(elapsed),
                      (unsigned long long)*steps);
    return HUB_OK;
}

/* What the sidecar says of an episode, unless that is too much. */
static void write_attributes(struct maniskill *m)
{
    struct hub_json json = hub_json_to(&m->attributes, NULL);
    m->attributes.size = 0;
    if (m->said)
        hub_json_parsed(&json, m->said);
    if (hub_json_status(&json))
        m->attributes.size = 0;
}

/* Of one number, or of each parallel environment. */
static void read_seed(struct maniskill *m)
{
    const json_t *seed = json_object_get(m->said, "episode_seed");
    m->seed[0] = '\0';
    seed = json_is_array(seed) ? json_array_get(seed, 0) : seed;
    if (json_is_integer(seed))
        snprintf(m->seed, sizeof m->seed, "%lld", (long long)json_integer_value(seed));
}

static enum hub_status describe(void *user, struct hub_h5_tree *tree, struct hub_episode *episode,
                                struct hub_error *err)
{
    struct maniskill *m = user;
    const json_t *success = json_object_get(m->said, "success");
    (void)err;
    write_attributes(m);
    read_seed(m);
    m->unlisted += m->listed && !m->said;
    episode->seed = hub_view_of(m->seed);
    episode->attributes = hub_buf_view(&m->attributes);
    episode->success = json_is_boolean(success) ? json_is_true(success) : hub_h5_last_flag(tree, "success");
    episode->terminated = hub_h5_last_flag(tree, "terminated");
    episode->truncated = hub_h5_last_flag(tree, "truncated");
    hub_h5_return(tree, "rewards", 0, episode);
    return HUB_OK;
}

/* ---- the file ---- */

/* Its episodes by their numbers. Without it, or where it is damaged, the trajectories are served all the
 * same: the plan says why. */
static enum hub_status load_sidecar(struct maniskill *m, struct hub_files *files, const char *path,
                                    struct hub_error *why)
{
    size_t i;
    json_t *episode;
    char key[24];
    HUB_TRY(hub_json_file(files, path, NULL, &m->sidecar, why));
    json_t *episodes = json_object_get(m->sidecar, "episodes");
    if (!json_is_array(episodes))
        return hub_fail(why, HUB_CORRUPT, "%s lists no episodes", path);
    m->listed = json_object();
    HUB_TRY(hub_allocated(m->listed, why));
    json_array_foreach(episodes, i, episode)
    {
        const json_t *id = json_object_get(episode, "episode_id");
        snprintf(key, sizeof key, "%lld",
                 (long long)(json_is_integer(id) ? json_integer_value(id) : (json_int_t)i));
        if (json_object_set(m->listed, key, episode))
            return hub_no_memory(why);
    }
    return HUB_OK;
}

static enum hub_status load_file(struct maniskill *m, struct hub_files *files, struct hub_sink *sink,
                                 bool quiet, struct hub_error *err)
{
    static const struct hub_h5_dialect dialect = {PREFIX, NULL, load, describe, NULL};
    struct hub_error why = {0};
    char path[HUB_MAX_PATH];
    uint32_t number = 0;
    while (number < files->count && !sidecar_of(files->entries[number].path, path))
        number++;
    if (number == files->count)
        return hub_fail(err, HUB_NOT_ACCEPTABLE, "there is no file of trajectories");
    m->episodes.dialect = &dialect;
    m->episodes.user = m;
    m->episodes.tree.sink = sink;
    m->episodes.tree.quiet = quiet;
    m->attributes.limit = HUB_MAX_ATTRIBUTES;
    HUB_TRY(hub_files_usable(files, number, err));
    HUB_TRY(hub_h5_open_root(files, number, &m->episodes.tree.file, &m->root, err));
    HUB_TRY(hub_h5_episodes_list(&m->episodes, m->episodes.tree.file, &m->root, err));
    const enum hub_status st = load_sidecar(m, files, path, &why);
    if (st && !hub_is_local(st))
        return hub_pass(st, &why, err);
    if (st && !quiet)
        return hub_sink_problem(sink, st == HUB_NOT_FOUND ? "missing-file" : "bad-metadata",
                                hub_view_of(path), err, "%s: its description of the episodes is left out",
                                why.detail);
    return HUB_OK;
}

/* The sidecar lists the episodes. */
static enum hub_status report_claim(const struct maniskill *m, const struct hub_files *files,
                                    struct hub_sink *sink, struct hub_error *err)
{
    char path[HUB_MAX_PATH];
    if (sidecar_of(files->entries[hub_h5_number(m->episodes.tree.file)].path, path))
        HUB_TRY(hub_sink_fact(sink, "claimed_in", hub_view_of(path), err));
    return hub_sink_count(sink, "claimed_episodes", (int64_t)json_object_size(m->listed), err);
}

static enum hub_status report_facts(struct maniskill *m, const struct hub_files *files, struct hub_sink *sink,
                                    struct hub_error *err)
{
    uint32_t missing = 0;
    const char *key;
    json_t *episode;
    if (!m->listed)
        return HUB_OK;
    HUB_TRY(hub_sink_json(sink, "env_spec", json_object_get(m->sidecar, "env_info"), err));
    HUB_TRY(report_claim(m, files, sink, err));
    json_object_foreach(m->listed, key, episode)
    {
        const int64_t number = strtoll(key, NULL, 10);
        missing += !m->episodes.count || !bsearch(&number, m->episodes.entries, m->episodes.count,
                                                  sizeof *m->episodes.entries, hub_by_i64);
    }
    if (missing)
        HUB_TRY(hub_sink_problem(sink, "fewer-than-claimed", HUB_VIEW("episodes"), err,
                                 "%u of the %zu episodes that the .json lists have no trajectory", missing,
                                 json_object_size(m->listed)));
    json_object_del(m->sidecar, "episodes"); /* each is reported with its trajectory */
    return hub_sink_json(sink, "metadata", m->sidecar, err);
}

static enum hub_status plan(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct maniskill m = {0};
    HUB_CLEANUP(hub_freep) uint32_t *all = NULL;
    HUB_TRY(load_file(&m, files, sink, false, err));
    HUB_TRY(hub_h5_report_open(m.episodes.tree.file, files, sink, "h5py and ManiSkill", err));
    HUB_TRY(report_facts(&m, files, sink, err));
    HUB_TRY(hub_new(&all, files->count, sizeof *all, err));
    for (uint32_t i = 0; i < files->count; i++)
        all[i] = i;
    const struct hub_view name = files->entries[hub_h5_number(m.episodes.tree.file)].path;
    return hub_sink_part(sink, &(struct hub_part){name, all, files->count, HUB_VIEW("")}, err);
}

static enum hub_status inspect(struct hub_files *files, const struct hub_part *part, struct hub_sink *sink,
                               struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct maniskill m = {0};
    (void)part;
    HUB_TRY(load_file(&m, files, sink, true, err));
    HUB_TRY(hub_h5_episodes_report(&m.episodes, err));
    if (m.unlisted)
        HUB_TRY(hub_sink_problem(sink, "count-mismatch", HUB_VIEW("episodes"), err,
                                 "%u trajectories are not listed in the .json", m.unlisted));
    if (m.lengths.count)
        HUB_TRY(hub_sink_problem(sink, "length-mismatch", HUB_VIEW("actions"), err,
                                 "elapsed_steps of %u episodes differs from their number of actions: %s",
                                 m.lengths.count, m.lengths.first));
    return hub_h5_fields_finish(&m.episodes.fields, sink, err);
}

const struct hub_format hub_format_maniskill = {
    .name = "maniskill",
    .marks = hub_marks_maniskill,
    .claim_files = claim_files,
    .plan = plan,
    .inspect = inspect,
};
