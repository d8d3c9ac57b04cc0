/*
 * Columns of rows of many episodes: see transitions.h.
 *
 * What follows a step is the next row of the observation, or a field of its own (next_observations) where
 * there is one. Where observations end with the last step, and not with the state behind it, the last step
 * of an episode is a transition only if the episode terminated there, where nobody looks at what follows:
 * its observation stands twice. Else it is left out, as D4RL's qlearning_dataset does. Infos are those that
 * a step returned.
 */
#include "storage/rows/transitions.h"

#include "storage/episodes/episode_reader.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_ROOM = 16 };

struct builder {
    const struct hub_transitions_query *query;
    struct hub_row_reader *reading;
    struct hub_transitions *out;
    size_t used; /* of the names */
};

static const struct hub_dataset_field *field_at(const struct builder *b, uint32_t i)
{
    return &b->query->state->dataset->fields[b->query->fields->fields[i]];
}

/* The column of the i-th of the fields. */
static enum hub_status add(struct builder *b, uint32_t i, const char *group, const char *name, unsigned ahead,
                           struct hub_error *err)
{
    struct hub_row_reader *r = b->reading;
    const uint32_t n = r->column_count;
    const struct hub_dataset_field *field = field_at(b, i);
    char *to = b->out->names + b->used;
    if (n + 6 > HUB_MAX_SELECTED)
        return hub_fail_about(err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LARGE, "fields", "",
                              "more than %d columns: name some with fields=", HUB_MAX_SELECTED - 6);
    b->used += (size_t)sprintf(to, "%s%s%s", group, *group && *name ? "/" : "", name) + 1;
    r->columns[n] = (struct hub_row_reader_column){.field = b->query->fields->fields[i], .ahead = ahead};
    r->columns[n].as_items = !b->query->npz || field->type != HUB_FIELD_PADDED_JSON;
    r->as[n].name = to;
    b->out->exact[n] = b->query->fields->exact[i];
    b->out->purpose[n] = HUB_ENDING_NOT;
    r->column_count++;
    return HUB_OK;
}

/* ---- names ---- */

static bool is_next(const char *path)
{
    return strncmp(path, "next_", 5) == 0 || strncmp(path, "next.", 5) == 0;
}

/* What tells it from others of its role: "observations/goal" and "observation.goal" are "goal". */
static const char *rest_of(const char *path)
{
    const char *slash = strchr(path, '/');
    const char *dot = strchr(is_next(path) ? path + 5 : path, '.');
    return slash ? slash + 1 : dot ? dot + 1 : path;
}

static bool is_of(const struct builder *b, uint32_t i, enum hub_role role, bool next)
{
    const struct hub_dataset_field *field = field_at(b, i);
    return field->role == role && (role != HUB_ROLE_OBSERVATION || is_next(field->path) == next);
}

/* One of several has its rest behind the group's name; all have their whole path where two rests are the
 * same. */
static const char *name_of(const struct builder *b, uint32_t i, enum hub_role role, bool next)
{
    const char *path = field_at(b, i)->path;
    uint32_t count = 0, same = 0;
    for (uint32_t k = 0; k < b->query->fields->count; k++) {
        if (!is_of(b, k, role, next))
            continue;
        count++;
        for (uint32_t m = 0; m < k; m++)
            same += is_of(b, m, role, next) &&
                    strcmp(rest_of(field_at(b, m)->path), rest_of(field_at(b, k)->path)) == 0;
    }
    return count == 1 ? "" : same ? path : rest_of(path);
}

/* ---- columns ---- */

static enum hub_status add_role(struct builder *b, enum hub_role role, bool next, const char *group,
                                unsigned ahead, struct hub_error *err)
{
    for (uint32_t i = 0; i < b->query->fields->count; i++) {
        if (!is_of(b, i, role, next))
            continue;
        /* infos with one of the first state too: those of a step stand behind it */
        const bool behind = role == HUB_ROLE_INFO && field_at(b, i)->axis == HUB_AXIS_STATE;
        HUB_TRY(add(b, i, group, name_of(b, i, role, next), ahead + behind, err));
    }
    return HUB_OK;
}

/* The word of a flag without what stands before it: "next.done" and "infos/done" are "done". */
static enum hub_transitions_purpose purpose_of(const char *path)
{
    static const struct {
        const char *word;
        enum hub_transitions_purpose purpose;
    } words[] = {{"termina", HUB_ENDING_TERMINATED},
                 {"truncat", HUB_ENDING_TRUNCATED},
                 {"timeout", HUB_ENDING_TRUNCATED},
                 {"done", HUB_ENDING_DONE}};
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    name += is_next(name) ? 5 : 0;
    for (size_t i = 0; i < HUB_COUNT(words); i++)
        if (strncmp(name, words[i].word, strlen(words[i].word)) == 0)
            return words[i].purpose;
    return HUB_ENDING_NOT;
}

/* Flags of an ending are read, not shown; of each kind the first. */
static enum hub_status add_flags(struct builder *b, struct hub_error *err)
{
    bool has[HUB_ENDING_DONE + 1] = {0};
    for (uint32_t i = 0; i < b->query->fields->count; i++) {
        const struct hub_dataset_field *field = field_at(b, i);
        const enum hub_transitions_purpose purpose = purpose_of(field->path);
        const bool number = field->type == HUB_FIELD_BOOL || field->type == HUB_FIELD_NUMBER;
        if (field->role != HUB_ROLE_DONE || !number || purpose == HUB_ENDING_NOT || has[purpose] ||
            field->axis == HUB_AXIS_NONE)
            continue;
        HUB_TRY(add(b, i, "", field->path, 0, err));
        has[purpose] = true;
        b->reading->columns[b->reading->column_count - 1].hidden = true;
        b->out->purpose[b->reading->column_count - 1] = purpose;
        b->out->exact[b->reading->column_count - 1] = false;
    }
    return HUB_OK;
}

static enum hub_status add_transitions(struct builder *b, struct hub_error *err)
{
    struct hub_row_reader *r = b->reading;
    bool next = false;
    for (uint32_t i = 0; i < b->query->fields->count; i++)
        next |= is_of(b, i, HUB_ROLE_OBSERVATION, true);
    HUB_TRY(add_role(b, HUB_ROLE_OBSERVATION, false, "obs", 0, err));
    const uint32_t first = r->column_count;
    if (!first)
        return hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_FIELD_NOT_FOUND, "fields", "@observation",
                              "'%s' has no field with the role observation, so there are no transitions",
                              b->query->state->dataset->summary->id);
    HUB_TRY(add_role(b, HUB_ROLE_OBSERVATION, next, "next_obs", next ? 0 : 1, err));
    for (uint32_t c = first; c < r->column_count && !next; c++)
        r->columns[c].last_again = true;
    HUB_TRY(add_role(b, HUB_ROLE_ACTION, false, "acts", 0, err));
    HUB_TRY(add_role(b, HUB_ROLE_REWARD, false, "rews", 0, err));
    HUB_TRY(add_role(b, HUB_ROLE_INFO, false, "infos", 0, err));
    return add_flags(b, err);
}

enum hub_status hub_transitions_columns(const struct hub_transitions_query *query,
                                        struct hub_row_reader *reading, struct hub_transitions *out,
                                        struct hub_error *err)
{
    struct builder b = {.query = query, .reading = reading, .out = out};
    size_t room = 1;
    for (uint32_t i = 0; i < query->fields->count; i++)
        room += 2 * (strlen(field_at(&b, i)->path) + NAME_ROOM);
    HUB_TRY(hub_new(&out->names, room, 1, err));
    if (query->transitions)
        return add_transitions(&b, err);
    for (uint32_t i = 0; i < query->fields->count; i++)
        HUB_TRY(add(&b, i, "", field_at(&b, i)->path, 0, err));
    return HUB_OK;
}

/* ---- rows ---- */

static enum hub_status has_terminated(struct hub_episode_reader *reader,
                                      const struct hub_dataset_episode *episode, bool *out,
                                      struct hub_error *err)
{
    const struct hub_property terminated = {.kind = HUB_PROPERTY_TERMINATED};
    struct hub_values values;
    HUB_TRY(hub_episode_values_of(reader, episode, &terminated, &values, err));
    *out = values.count && values.first->kind == HUB_VALUE_INT && values.first->number;
    return HUB_OK;
}

static bool is_shifted(const struct hub_dataset *dataset)
{
    for (uint32_t i = 0; i < dataset->field_count; i++)
        if (dataset->fields[i].axis == HUB_AXIS_SHIFTED)
            return true;
    return false;
}

/* How many rows of what follows are there, of the column that has fewest; one that an episode lacks is left
 * out of the answer later. */
static enum hub_status look_behind(struct hub_row_reader *r, uint32_t column, uint32_t episode,
                                   uint64_t *there, struct hub_error *err)
{
    uint64_t rows;
    struct hub_error why = {0};
    if (r->dataset->fields[r->columns[column].field].axis == HUB_AXIS_NONE)
        return HUB_OK;
    const enum hub_status st = hub_row_reader_there(r, column, episode, &rows, &why);
    if (st == HUB_NOT_FOUND || st == HUB_UNSUPPORTED)
        return HUB_OK;
    if (st)
        return hub_pass(st, &why, err);
    *there = HUB_MIN(*there, rows);
    return HUB_OK;
}

enum hub_status hub_transitions_ends(const struct hub_transitions_query *query, struct hub_row_reader *r,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_episode_reader_dispose) struct hub_episode_reader reader = {.state = query->state};
    const bool drop = query->drop_sentinel && is_shifted(query->state->dataset);
    uint64_t all = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct hub_dataset_episode *episode = &query->state->dataset->episodes[r->places[i]];
        uint64_t rows = episode->steps - (drop && episode->steps), there = rows;
        bool terminated = true;
        HUB_TRY(hub_row_reader_wanted(r, err));
        for (uint32_t c = 0; c < r->column_count && rows; c++)
            if (r->columns[c].last_again)
                HUB_TRY(look_behind(r, c, i, &there, err));
        if (there < rows)
            HUB_TRY(has_terminated(&reader, episode, &terminated, err));
        rows -= !terminated;
        all += rows;
        r->ends[i] = all;
    }
    for (uint32_t c = 0; c < r->column_count; c++)
        hub_row_reader_release(r, c); /* columns are moved to the places of those that are left out */
    return HUB_OK;
}

void hub_transitions_made(const struct hub_transitions_query *query, struct hub_row_reader *r,
                          const struct hub_transitions *columns)
{
    for (uint32_t c = 0; c < r->field_count; c++) {
        if (columns->purpose[c] == HUB_ENDING_TERMINATED)
            r->terminated = c;
        else if (columns->purpose[c] == HUB_ENDING_TRUNCATED)
            r->truncated = c;
        else if (columns->purpose[c] == HUB_ENDING_DONE)
            r->done = c;
    }
    if (query->transitions) {
        hub_row_reader_add_computed(r, "dones", HUB_COMPUTED_DONE);
        hub_row_reader_add_computed(r, "terminated", HUB_COMPUTED_TERMINATED);
        hub_row_reader_add_computed(r, "truncated", HUB_COMPUTED_TRUNCATED);
    }
    hub_row_reader_add_computed(r, "episode", HUB_COMPUTED_EPISODE);
    hub_row_reader_add_computed(r, "step", HUB_COMPUTED_STEP);
}
