/*
 * What a pickle of demonstrations holds. Each benchmark had its own way:
 *   atari       array of dictionaries {states, actions, dones}, each a list; as many states as actions
 *   dm_control  list of imitation's Trajectory objects, by their attributes obs, acts, rews, infos
 *   magical     {trajectory: a named tuple (acts, obs, infos), score, env_name}
 *   procgen     {obs, acts, rews, dones}: lists, all trajectories one after another, cut where dones is true
 * There is one observation more than transitions; where there are as many, the last action and done are
 * dropped, as the project's loader does.
 */
#include "storage/formats/il/il.h"
#include "storage/text/json.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- lookup ---- */

static uint32_t get(const struct hub_pickle *p, uint32_t dict, const char *key)
{
    return hub_pickle_get(p, dict, hub_view_of(key));
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
            return hub_pickle_item(p, v->b, i);
    return attribute;
}

/* A member of one of two names; HUB_PICKLE_NONE: it has neither. */
static uint32_t either(const struct hub_pickle *p, uint32_t trajectory, const char *key, const char *other)
{
    const uint32_t value = member(p, trajectory, key);
    return value != HUB_PICKLE_NONE || !other ? value : member(p, trajectory, other);
}

static bool is_trajectory(const struct hub_pickle *p, uint32_t value)
{
    return either(p, value, "obs", "states") != HUB_PICKLE_NONE &&
           either(p, value, "acts", "actions") != HUB_PICKLE_NONE;
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
    const uint32_t list = root->kind == HUB_PICKLE_ARRAY ? root->b : p->root,
                   first = hub_pickle_item(p, list, 0);
    if (!is_trajectory(p, first))
        return (struct il_demos){0};
    const bool objects = hub_pickle_at(p, first)->kind == HUB_PICKLE_OBJECT;
    return (struct il_demos){objects ? "dm_control" : "atari", list, true};
}

/* ---- an episode ---- */

/* A member: its rows, or those below each of its keys where it is a dictionary of arrays. */
struct trajectory_field {
    const char *path;
    uint32_t value; /* HUB_PICKLE_NONE: not there */
    bool whole;     /* it has rows, for all steps */
    struct il_rows rows;
};

enum { OBS, ACTS, DONES, REWS, INFOS, FIELDS };

struct trajectory {
    struct il_file *file;
    uint32_t value, number;
    struct trajectory_field fields[FIELDS];
    uint64_t steps;         /* of all episodes in it */
    double *ends, *rewards; /* a number a step; NULL: not there */
};

static void dispose(struct trajectory *t)
{
    free(t->ends);
    free(t->rewards);
}

/* Rows of a member; of a dictionary those of its first value. */
static bool count_rows(const struct hub_pickle *p, uint32_t value, struct il_rows *out)
{
    const struct hub_pickle_value *v = hub_pickle_at(p, value);
    uint32_t key, first;
    if (v && v->kind == HUB_PICKLE_DICT) {
        uint32_t cell = v->first;
        return hub_pickle_next(p, &cell, &key) && hub_pickle_next(p, &cell, &first) &&
               il_rows_of(p, first, out);
    }
    return il_rows_of(p, value, out);
}

static enum hub_status problem(const struct trajectory *t, const char *code, struct hub_error *err,
                               const char *key, const char *what)
{
    return hub_sink_problem(t->file->sink, code, hub_view_of(key), err, "trajectory %u: %s", t->number, what);
}

/* What the steps do not need may be shorter, which is reported, and then left out. */
static enum hub_status check_length(struct trajectory *t, struct trajectory_field *f, struct hub_error *err)
{
    char what[80];
    f->whole = f->value != HUB_PICKLE_NONE && f->rows.count >= t->steps;
    if (f->value == HUB_PICKLE_NONE || f->rows.count == 0 || f->whole)
        return HUB_OK;
    snprintf(what, sizeof what, "%llu values for %llu steps", (unsigned long long)f->rows.count,
             (unsigned long long)t->steps);
    return problem(t, "length-mismatch", err, f->path, what);
}

/* The numbers of a member for as many steps as it has. */
static enum hub_status numbers_of(struct trajectory *t, struct trajectory_field *f, double **out,
                                  struct hub_error *err)
{
    if (f->value == HUB_PICKLE_NONE || f->rows.count == 0)
        return HUB_OK;
    HUB_TRY(hub_new(out, (size_t)t->steps + 1, sizeof **out, err));
    if (il_rows_numbers(t->file, &f->rows, HUB_MIN(t->steps, f->rows.count), *out))
        return HUB_OK;
    free(*out);
    *out = NULL;
    return HUB_OK;
}

static enum hub_status load(struct trajectory *t, struct hub_error *err)
{
    static const char *const names[FIELDS][2] = {
        {"obs", "states"}, {"acts", "actions"}, {"dones", NULL}, {"rews", NULL}, {"infos", NULL}};
    const struct hub_pickle *p = &t->file->pickle;
    for (size_t i = 0; i < FIELDS; i++) {
        struct trajectory_field *f = &t->fields[i];
        f->path = names[i][0];
        f->value = either(p, t->value, names[i][0], names[i][1]);
        if (!count_rows(p, f->value, &f->rows))
            f->rows.count = 0;
    }
    const uint64_t obs = t->fields[OBS].rows.count, acts = t->fields[ACTS].rows.count;
    t->steps = !acts ? (obs ? obs - 1 : 0) : !obs ? acts : HUB_MIN(acts, obs - 1);
    for (size_t i = DONES; i < FIELDS; i++)
        HUB_TRY(check_length(t, &t->fields[i], err));
    HUB_TRY(numbers_of(t, &t->fields[DONES], &t->ends, err));
    if (!t->ends && t->fields[DONES].value != HUB_PICKLE_NONE && t->steps)
        HUB_TRY(problem(t, "boundary-unknown", err, "dones",
                        "they are not numbers: the trajectory is one episode"));
    return t->fields[REWS].whole ? numbers_of(t, &t->fields[REWS], &t->rewards, err) : HUB_OK;
}

/* A member without rows: an empty list is none at all; all else is unreadable, and says why. */
static enum hub_status report_no_rows(struct trajectory *t, struct hub_view path, uint32_t value,
                                      const struct il_window *w, struct hub_error *err)
{
    const struct hub_pickle_value *v = hub_pickle_at(&t->file->pickle, value);
    struct hub_pickle_data data;
    struct hub_error why = {0};
    if ((v->kind == HUB_PICKLE_LIST || v->kind == HUB_PICKLE_TUPLE) && v->count == 0)
        return HUB_OK;
    const bool array = v->kind == HUB_PICKLE_ARRAY && hub_pickle_array(&t->file->pickle, value, &data, &why);
    return hub_report_unreadable(t->file->sink, path, w->episode, array ? why.detail : hub_pickle_what(v),
                                 err);
}

/* The rows of a member, or of each of its keys. */
static enum hub_status lay_out_member(struct trajectory *t, struct hub_view path, uint32_t value,
                                      struct il_rows *rows, const struct il_window *w, struct hub_error *err)
{
    const struct hub_pickle *p = &t->file->pickle;
    const struct hub_pickle_value *v = hub_pickle_at(p, value);
    uint32_t key, below;
    if (v->kind != HUB_PICKLE_DICT)
        return rows->count ? il_rows_lay_out(t->file, path, rows, w, err)
                           : report_no_rows(t, path, value, w, err);
    for (uint32_t cell = v->first; hub_pickle_next(p, &cell, &key) && hub_pickle_next(p, &cell, &below);) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(HUB_MAX_PATH);
        const struct hub_view text = hub_pickle_text(p, key);
        struct il_rows its;
        if (text.size == 0 || path.size + text.size >= HUB_MAX_PATH)
            continue; /* not a name */
        HUB_TRY(hub_buf_addf(&name, err, "%.*s/%.*s", (int)path.size, path.data, (int)text.size, text.data));
        const bool fits = il_rows_of(p, below, &its) && its.count >= w->first + w->count;
        HUB_TRY(fits ? il_rows_lay_out(t->file, hub_buf_view(&name), &its, w, err)
                     : hub_report_unreadable(t->file->sink, hub_buf_view(&name), w->episode,
                                             "no row for every step", err));
    }
    return HUB_OK;
}

static enum hub_status lay_out(struct trajectory *t, int number, const char *path, const struct il_window *w,
                               struct hub_error *err)
{
    struct trajectory_field *f = &t->fields[number];
    if (f->value == HUB_PICKLE_NONE)
        return HUB_OK;
    return lay_out_member(t, hub_view_of(path), f->value, &f->rows, w, err);
}

/* dones are as stored; where there are none at all, true at the last step alone. */
static enum hub_status lay_out_dones(struct trajectory *t, const struct il_window *w, struct hub_error *err)
{
    if (t->fields[DONES].value != HUB_PICKLE_NONE)
        return t->fields[DONES].whole ? lay_out(t, DONES, "dones", w, err) : HUB_OK;
    HUB_CLEANUP(hub_freep) uint8_t *flags = NULL;
    HUB_TRY(hub_new(&flags, (size_t)w->count + 1, 1, err));
    if (w->count)
        flags[w->count - 1] = 1;
    return il_flags_lay_out(t->file, HUB_VIEW("dones"), flags, w, err);
}

static enum hub_status lay_out_fields(struct trajectory *t, const struct il_window *w, struct hub_error *err)
{
    const struct il_window next = {w->episode, w->first + 1, w->count};
    HUB_TRY(lay_out(t, OBS, "obs", w, err));
    HUB_TRY(lay_out(t, OBS, "next_obs", &next, err));
    HUB_TRY(lay_out(t, ACTS, "acts", w, err));
    HUB_TRY(lay_out_dones(t, w, err));
    for (int i = REWS; i < FIELDS; i++)
        if (t->fields[i].whole)
            HUB_TRY(lay_out(t, i, t->fields[i].path, w, err));
    return HUB_OK;
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
    struct il_window window = {.first = first, .count = count};
    const struct hub_view of = t->file->name;
    char name[232];
    snprintf(name, sizeof name, "%.*s%s%u", (int)HUB_MIN(of.size, 200), of.data, of.size ? "/" : "", *number);
    HUB_TRY(attributes_of(t->file, t->value, &attributes, err));
    struct hub_episode episode = hub_episode_of(hub_view_of(name), t->file->number, count);
    episode.attributes = hub_buf_view(&attributes);
    hub_episode_sum(&episode, t->rewards ? t->rewards + first : NULL, count);
    HUB_TRY(hub_sink_episode(t->file->sink, &episode, &window.episode, err));
    (*number)++;
    return lay_out_fields(t, &window, err);
}

/* One episode, or several one after another, each to the step that is done. */
static enum hub_status report_trajectory(struct il_file *f, uint32_t value, uint32_t *number,
                                         struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct trajectory t = {.file = f, .value = value, .number = *number};
    uint64_t first = 0;
    HUB_TRY(load(&t, err));
    const uint64_t obs = t.fields[OBS].rows.count, acts = t.fields[ACTS].rows.count;
    if (acts > t.steps + 1 || obs > t.steps + 1)
        HUB_TRY(hub_sink_problem(f->sink, "length-mismatch", HUB_VIEW(""), err,
                                 "trajectory %u has %llu observations and %llu actions", t.number,
                                 (unsigned long long)obs, (unsigned long long)acts));
    for (uint64_t i = 0; t.ends && i + 1 < t.steps; i++)
        if (t.ends[i] != 0) {
            HUB_TRY(report_episode(&t, first, i + 1 - first, number, err));
            first = i + 1;
        }
    return report_episode(&t, first, t.steps - first, number, err);
}

enum hub_status il_demos_report(struct il_file *f, const struct il_demos *demos, uint32_t *episodes,
                                struct hub_error *err)
{
    const struct hub_pickle_value *list = hub_pickle_at(&f->pickle, demos->value);
    uint32_t trajectory;
    *episodes = 0;
    if (!demos->several)
        return report_trajectory(f, demos->value, episodes, err);
    for (uint32_t cell = list->first; hub_pickle_next(&f->pickle, &cell, &trajectory);)
        HUB_TRY(report_trajectory(f, trajectory, episodes, err));
    return HUB_OK;
}
