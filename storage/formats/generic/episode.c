/* An episode of one file, or of several: then the fields of each stand below its name. */
#include "storage/formats/generic/generic.h"

#include <stdlib.h>

enum hub_status generic_path(const struct generic_input *at, struct hub_view name, struct hub_buf *path,
                             struct hub_view *named, struct hub_error *err)
{
    path->size = 0;
    HUB_TRY(hub_buf_add_view(path, at->prefix, err));
    if (at->prefix.size && name.size)
        HUB_TRY(hub_buf_add(path, "/", 1, err));
    HUB_TRY(hub_buf_add_view(path, name, err));
    *named = hub_buf_view(path);
    if (name.size && hub_role_of(*named) == HUB_ROLE_OTHER)
        *named = name;
    return HUB_OK;
}

struct opened_files {
    void *states[GENERIC_MAX_FILES]; /* NULL: it cannot be read */
    struct generic_input *inputs;
    uint32_t count, usable;
};

static void close_all(struct opened_files *o)
{
    for (uint32_t i = 0; i < o->count; i++)
        if (o->states[i])
            o->inputs[i].container->close(o->states[i]);
}

static enum hub_status open_one(struct opened_files *o, uint32_t i, struct hub_error *err)
{
    const struct generic_input *at = &o->inputs[i];
    struct hub_error why = {0};
    const enum hub_status st = at->container->open(at, &o->states[i], &why);
    o->usable += !st;
    if (!st)
        return HUB_OK;
    if (o->states[i])
        at->container->close(o->states[i]);
    o->states[i] = NULL;
    if (o->count == 1 || !hub_is_local(st))
        return hub_pass(st, &why, err);
    return hub_sink_problem(at->sink, hub_problem_name_or(why.problem, "unreadable-file"),
                            at->files->entries[at->file].path, err, "%s", why.detail);
}

static uint64_t steps_of(const struct opened_files *o)
{
    struct hub_row_vote votes[HUB_MAX_FIELDS];
    size_t count = 0;
    for (uint32_t i = 0; i < o->count; i++)
        if (o->states[i])
            count += o->inputs[i].container->vote(o->states[i], votes + count, HUB_COUNT(votes) - count);
    return hub_common_rows(votes, count);
}

enum hub_status generic_inspect_episode(struct generic_input *inputs, uint32_t count,
                                        const struct generic_one *one, struct hub_error *err)
{
    HUB_CLEANUP(close_all) struct opened_files o = {.inputs = inputs, .count = count};
    uint32_t index;
    for (uint32_t i = 0; i < count; i++)
        HUB_TRY(open_one(&o, i, err));
    if (!o.usable)
        return HUB_OK; /* each of them was reported */
    const uint64_t steps = steps_of(&o);
    struct hub_episode episode = hub_episode_of(one->name, one->file, steps);
    episode.number = one->number;
    episode.attributes = one->attributes;
    HUB_TRY(hub_sink_episode(inputs[0].sink, &episode, &index, err));
    for (uint32_t i = 0; i < count; i++) {
        inputs[i].episode = index;
        inputs[i].steps = steps;
        if (o.states[i])
            HUB_TRY(inputs[i].container->lay_out(&inputs[i], o.states[i], err));
    }
    return HUB_OK;
}
