/*
 * One HDF5 file of a Minari dataset: its episodes in number order. main_data.hdf5 holds its own;
 * additional_data_<k>.hdf5 holds those that external links in main_data.hdf5 name, under the links' numbers.
 */
#include "storage/formats/minari/minari.h"

#include <math.h>

struct minari_part {
    struct hub_files *files;
    struct hub_view hint;
    bool linked; /* the episodes are those that main_data.hdf5 links here */
    struct hub_h5_episodes episodes;
    struct mh5_episode episode;
    struct hub_tally steps_differ, ids_differ;
};

static bool takes(void *user, const struct hub_h5_link *link)
{
    const struct minari_part *p = user;
    uint32_t number;
    if (link->kind != HUB_H5_EXTERNAL)
        return !p->linked;
    return p->linked && minari_link_target(p->files, link->file, &number) == MINARI_LINK_GOOD &&
           number == hub_h5_number(p->episodes.tree.file);
}

static enum hub_status load(void *user, struct hub_h5_tree *tree, uint64_t *steps, struct hub_error *err)
{
    struct minari_part *p = user;
    HUB_TRY(mh5_episode_load(tree, &p->episode, err));
    *steps = mh5_episode_steps(tree, &p->episode);
    return HUB_OK;
}

static void note_differences(struct minari_part *p, const struct hub_h5_tree *tree,
                             const struct hub_episode *episode)
{
    const struct mh5_episode *e = &p->episode;
    const int size = (int)tree->episode.size;
    if (e->has_steps && (e->steps < 0 || (uint64_t)e->steps != episode->steps))
        hub_tally_add(&p->steps_differ, "%.*s says %lld and has %llu", size, tree->episode.data,
                      (long long)e->steps, (unsigned long long)episode->steps);
    if (e->has_id && e->id != episode->number)
        hub_tally_add(&p->ids_differ, "%.*s says %lld", size, tree->episode.data, (long long)e->id);
}

static enum hub_status describe(void *user, struct hub_h5_tree *tree, struct hub_episode *episode,
                                struct hub_error *err)
{
    struct minari_part *p = user;
    const struct mh5_episode *e = &p->episode;
    (void)err;
    note_differences(p, tree, episode);
    episode->seed = hub_view_of(e->seed);
    episode->terminated = hub_h5_last_flag(tree, "terminations");
    episode->truncated = hub_h5_last_flag(tree, "truncations");
    episode->attributes = hub_buf_view(&e->notes.json);
    episode->success = hub_success_of(episode->attributes);
    if (episode->success < 0)
        episode->success = hub_h5_last_flag(tree, "infos/success");
    episode->statistics = hub_buf_view(&e->statistics);
    if (e->has_stat[0]) {
        episode->has_return = true;
        episode->episode_return = e->stats[0];
    } else {
        hub_h5_return(tree, "rewards", 0, episode);
    }
    return HUB_OK;
}

static bool pictured(const void *user, struct hub_view path)
{
    return minari_hint_image(((const struct minari_part *)user)->hint, path);
}

static enum hub_status report_differences(const struct minari_part *p, struct hub_sink *sink,
                                          struct hub_error *err)
{
    if (p->steps_differ.count)
        HUB_TRY(hub_sink_problem(sink, "length-mismatch", HUB_VIEW(""), err,
                                 "total_steps of %u episodes differs from their number of rewards: %s",
                                 p->steps_differ.count, p->steps_differ.first));
    if (p->ids_differ.count)
        HUB_TRY(hub_sink_problem(sink, "number-mismatch", HUB_VIEW(""), err,
                                 "the id of %u episodes differs from that of their name: %s",
                                 p->ids_differ.count, p->ids_differ.first));
    return HUB_OK;
}

static enum hub_status inspect_part(struct minari_part *p, const struct hub_part *part, struct hub_error *err)
{
    HUB_CLEANUP(hub_h5_closep) struct hub_h5 *index = NULL;
    HUB_CLEANUP(hub_h5_object_dispose) struct hub_h5_object root = {0};
    struct hub_h5_tree *tree = &p->episodes.tree;
    HUB_TRY(hub_h5_open(p->files, part->files[0], &tree->file, err));
    if (p->linked) {
        HUB_TRY(hub_h5_report_open(tree->file, p->files, tree->sink, MINARI_READERS, err));
        HUB_TRY(hub_h5_open(p->files, part->files[1], &index, err));
    }
    struct hub_h5 *lists = index ? index : tree->file;
    HUB_TRY(hub_h5_object_load(lists, hub_h5_root(lists), &root, err));
    HUB_TRY(hub_h5_episodes_list(&p->episodes, lists, &root, err));
    HUB_TRY(hub_h5_episodes_report(&p->episodes, err));
    HUB_TRY(report_differences(p, tree->sink, err));
    return hub_h5_fields_finish(&p->episodes.fields, tree->sink, err);
}

enum hub_status minari_inspect(struct hub_files *files, const struct hub_part *part, struct hub_sink *sink,
                               struct hub_error *err)
{
    static const struct hub_h5_dialect dialect = {MINARI_EPISODE, takes, load, describe, NULL};
    struct minari_part p = {.files = files, .hint = part->hint, .linked = part->file_count > 1};
    p.episodes = (struct hub_h5_episodes){.dialect = &dialect,
                                          .user = &p,
                                          .tree = {.sink = sink},
                                          .fields = {.pictured = pictured, .user = &p}};
    if (part->file_count < 1)
        return hub_fail(err, HUB_INVALID, "a part without a file");
    const enum hub_status st = inspect_part(&p, part, err);
    hub_h5_close(p.episodes.tree.file);
    hub_h5_episodes_dispose(&p.episodes);
    mh5_episode_dispose(&p.episode);
    return st;
}
