/*
 * What a pickle of demonstrations holds. Each benchmark had its own way:
 *   atari       array of dictionaries {states, actions, dones}, each a list; as many states as actions
 *   dm_control  list of imitation's Trajectory objects, by their attributes obs, acts, rews, infos
 *   magical     {trajectory: a named tuple (acts, obs, infos), score, env_name}
 *   procgen     {obs, acts, rews, dones}: lists, all trajectories one after another, cut where dones is true
 * There is one observation more than transitions; where there are as many, the last action and done are
 * dropped, as the project's loader does.
 */
#include "storage/base/json.h"
#include "storage/formats/il/il.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- lookup ---- */

static uint32_t get(const struct hub_pickle *p, uint32_t dict, const char *key)
{
    const struct hub_pickle_value *v = hub_pickle_at(p, dict);
    uint32_t name, value;
    if (!v || v->kind != HUB_PICKLE_DICT)
        return HUB_PICKLE_NONE;
    for (uint32_t cell = v->first; hub_pickle_next(p, &cell, &name) && hub_pickle_next(p, &cell, &value);)
        if (hub_view_is(hub_pickle_text(p, name), key))
            return value;
    return HUB_PICKLE_NONE;
}

static uint32_t item_at(const struct hub_pickle *p, uint32_t container, uint32_t index)
{
    const struct hub_pickle_value *v = hub_pickle_at(p, container);
    uint32_t value = HUB_PICKLE_NONE;
    if (!v || (v->kind != HUB_PICKLE_TUPLE && v->kind != HUB_PICKLE_LIST) || index >= v->count)
        return HUB_PICKLE_NONE;
    for (uint32_t cell = v->first; index + 1 && hub_pickle_next(p, &cell, &value); index--)
        ;
    return value;
}

/* A member of a trajectory, be it a dictionary, an object with attributes, or a named tuple. */
static uint32_t member(const struct hub_pickle *p, uint32_t trajectory, const char *key)
{
    static const char *const tuple[] = {"acts", "obs", "infos"};
    const struct hub_pickle_value *v = hub_pickle_at(p, trajectory);
    if (!v || v->kind != HUB_PICKLE_OBJECT)
        return get(p, trajectory, key);
    const uint32_t attribute = get(p, v->c, key);
    for (uint32_t i = 0; attribute == HUB_PICKLE_NONE && i < HUB_COUNT(tuple); i++)
        if (strcmp(tuple[i], key) == 0)
            return item_at(p, v->b, i);
    return attribute;
}

static bool rows_of(const struct hub_pickle *p, uint32_t trajectory, const char *key, const char *other,
                    struct il_rows *out)
{
    return il_rows_of(p, member(p, trajectory, key), out) ||
           (other && il_rows_of(p, member(p, trajectory, other), out));
}

static bool is_trajectory(const struct hub_pickle *p, uint32_t value)
{
    struct il_rows obs, acts;
    return rows_of(p, value, "obs", "states", &obs) && rows_of(p, value, "acts", "actions", &acts);
}

struct il_demos il_demos_of(const struct hub_pickle *p)
{
    const struct hub_pickle_value *root = hub_pickle_at(p, p->root);
    const uint32_t trajectory = get(p, p->root, "trajectory");
    if (!root)
        return (struct il_demos){0};
    if (trajectory != HUB_PICKLE_NONE && is_trajectory(p, trajectory))
        return (struct il_demos){"magical", trajectory, false};
    if (is_trajectory(p, p->root))
        return (struct il_demos){"procgen", p->root, false};
    const uint32_t list = root->kind == HUB_PICKLE_ARRAY ? root->b : p->root, first = item_at(p, list, 0);
    if (!is_trajectory(p, first))
        return (struct il_demos){0};
    const bool objects = hub_pickle_at(p, first)->kind == HUB_PICKLE_OBJECT;
    return (struct il_demos){objects ? "dm_control" : "atari", list, true};
}

/* ---- an episode ---- */

struct trajectory {
    struct il_file *file;
    uint32_t value;
    struct il_rows obs, acts, dones, rews, infos;
    uint64_t steps;         /* of all episodes in it */
    double *ends, *rewards; /* a number a step; NULL: not there */
};

static void dispose(struct trajectory *t)
{
    free(t->ends);
    free(t->rewards);
}

/* Rows that are there for all steps, else none. */
static void rows_if_all(struct trajectory *t, const char *key, struct il_rows *out)
{
    if (!rows_of(&t->file->pickle, t->value, key, NULL, out) || out->count < t->steps)
        *out = (struct il_rows){.value = HUB_PICKLE_NONE};
}

static enum hub_status numbers_of(struct trajectory *t, const struct il_rows *rows, double **out,
                                  struct hub_error *err)
{
    if (rows->value == HUB_PICKLE_NONE)
        return HUB_OK;
    *out = calloc((size_t)t->steps + 1, sizeof **out);
    HUB_TRY(hub_allocated(*out, err));
    if (!il_rows_numbers(t->file, rows, t->steps, *out)) {
        free(*out);
        *out = NULL;
    }
    return HUB_OK;
}

static enum hub_status load(struct trajectory *t, struct hub_error *err)
{
    if (!rows_of(&t->file->pickle, t->value, "obs", "states", &t->obs) ||
        !rows_of(&t->file->pickle, t->value, "acts", "actions", &t->acts))
        return hub_fail(err, HUB_CORRUPT, "it has no observations or no actions");
    t->steps = HUB_MIN(t->acts.count, t->obs.count ? t->obs.count - 1 : 0);
    rows_if_all(t, "dones", &t->dones);
    rows_if_all(t, "rews", &t->rews);
    rows_if_all(t, "infos", &t->infos);
    HUB_TRY(numbers_of(t, &t->dones, &t->ends, err));
    return numbers_of(t, &t->rews, &t->rewards, err);
}

/* dones are as stored, else true at the last step alone. */
static enum hub_status place_dones(struct trajectory *t, const struct il_window *w, struct hub_error *err)
{
    if (t->dones.value != HUB_PICKLE_NONE)
        return il_rows_place(t->file, HUB_VIEW("dones"), &t->dones, w, err);
    HUB_CLEANUP(hub_freep) uint8_t *flags = calloc((size_t)w->count + 1, 1);
    HUB_TRY(hub_allocated(flags, err));
    if (w->count)
        flags[w->count - 1] = 1;
    return il_flags_place(t->file, HUB_VIEW("dones"), flags, w, err);
}

static enum hub_status place_fields(struct trajectory *t, const struct il_window *w, struct hub_error *err)
{
    const struct il_window next = {w->episode, w->first + 1, w->count};
    HUB_TRY(il_rows_place(t->file, HUB_VIEW("obs"), &t->obs, w, err));
    HUB_TRY(il_rows_place(t->file, HUB_VIEW("next_obs"), &t->obs, &next, err));
    HUB_TRY(il_rows_place(t->file, HUB_VIEW("acts"), &t->acts, w, err));
    HUB_TRY(place_dones(t, w, err));
    if (t->rews.value != HUB_PICKLE_NONE)
        HUB_TRY(il_rows_place(t->file, HUB_VIEW("rews"), &t->rews, w, err));
    return t->infos.value != HUB_PICKLE_NONE ? il_rows_place(t->file, HUB_VIEW("infos"), &t->infos, w, err)
                                             : HUB_OK;
}

/* What stands beside a trajectory: a score, the name of its environment. */
static enum hub_status attributes_of(const struct il_file *f, uint32_t trajectory, struct hub_buf *out,
                                     struct hub_error *err)
{
    const struct hub_pickle *p = &f->pickle;
    const struct hub_pickle_value *root = hub_pickle_at(p, p->root);
    struct hub_json json = hub_json_to(out, err);
    uint32_t name, value;
    if (root->kind != HUB_PICKLE_DICT || trajectory == p->root)
        return HUB_OK;
    hub_json_object(&json);
    for (uint32_t cell = root->first;
         hub_pickle_next(p, &cell, &name) && hub_pickle_next(p, &cell, &value);) {
        const struct hub_pickle_value *v = hub_pickle_at(p, value);
        const struct hub_view key = hub_pickle_text(p, name), text = hub_pickle_text(p, value);
        if (key.size == 0 || (v->kind != HUB_PICKLE_FLOAT && !(v->kind == HUB_PICKLE_TEXT && text.size)))
            continue;
        hub_json_key(&json, key);
        if (v->kind == HUB_PICKLE_FLOAT)
            hub_json_double(&json, v->real);
        else
            hub_json_string(&json, text);
    }
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

static enum hub_status report_episode(struct trajectory *t, uint64_t first, uint64_t count, uint32_t *number,
                                      struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf attributes = HUB_BUF_INIT(HUB_MAX_ATTRIBUTES);
    struct hub_episode episode = {
        .number = -1, .steps = count, .success = -1, .terminated = -1, .truncated = -1};
    struct il_window window = {.first = first, .count = count};
    char name[32];
    snprintf(name, sizeof name, "%u", (*number)++);
    HUB_TRY(attributes_of(t->file, t->value, &attributes, err));
    episode.name = hub_view_of(name);
    episode.attributes = hub_buf_view(&attributes);
    for (uint64_t i = first; t->rewards && i < first + count; i++)
        episode.episode_return += t->rewards[i];
    episode.has_return = episode.return_computed = t->rewards && isfinite(episode.episode_return);
    HUB_TRY(hub_sink_episode(t->file->sink, &episode, &window.episode, err));
    return place_fields(t, &window, err);
}

/* One episode, or several one after another, each to the step that is done. */
static enum hub_status report_trajectory(struct il_file *f, uint32_t value, uint32_t *number,
                                         struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct trajectory t = {.file = f, .value = value};
    struct hub_error why = {0};
    uint64_t first = 0;
    const enum hub_status st = load(&t, &why);
    if (st == HUB_CORRUPT)
        return hub_sink_problem(f->sink, "unreadable-episode", HUB_VIEW(""), err, "trajectory %u: %s",
                                *number, why.detail);
    if (st)
        return hub_pass(st, &why, err);
    if (t.acts.count > t.steps + 1 || t.obs.count > t.steps + 1)
        HUB_TRY(hub_sink_problem(f->sink, "length-mismatch", HUB_VIEW(""), err,
                                 "trajectory %u has %llu observations and %llu actions", *number,
                                 (unsigned long long)t.obs.count, (unsigned long long)t.acts.count));
    for (uint64_t i = 0; t.ends && i + 1 < t.steps; i++)
        if (t.ends[i] != 0) {
            HUB_TRY(report_episode(&t, first, i + 1 - first, number, err));
            first = i + 1;
        }
    return report_episode(&t, first, t.steps - first, number, err);
}

enum hub_status il_demos_report(struct il_file *f, const struct il_demos *demos, struct hub_error *err)
{
    const struct hub_pickle_value *list = hub_pickle_at(&f->pickle, demos->value);
    uint32_t trajectory, number = 0;
    if (!demos->several)
        return report_trajectory(f, demos->value, &number, err);
    for (uint32_t cell = list->first; hub_pickle_next(&f->pickle, &cell, &trajectory);)
        HUB_TRY(report_trajectory(f, trajectory, &number, err));
    return HUB_OK;
}
