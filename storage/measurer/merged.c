/* Parts joined: see merged.h. */
#include "storage/measurer/merged.h"

#include "storage/model/space.h"
#include "storage/text/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FIELDS_BYTES (900 * MIB)
#define MAX_FACT_BYTES (16 * MIB)

void hub_merged_fields_dispose(struct hub_merged_fields *merged)
{
    for (uint32_t i = 0; i < merged->count; i++)
        hub_measured_field_dispose(&merged->fields[i]);
    free(merged->fields);
    *merged = (struct hub_merged_fields){0};
}

/* Takes the folds of the first part that has the field. */
static void add_field(const struct hub_dataset *dataset, struct hub_merged_fields *out,
                      struct hub_measured_field *field)
{
    const uint32_t number = hub_dataset_find_field(dataset, hub_view_of(field->path));
    if (number != HUB_NONE && !out->fields[number].dims) {
        const char *path = out->fields[number].path;
        out->fields[number] = *field;
        out->fields[number].path = path;
        field->folds = NULL;
    } else if (number != HUB_NONE) {
        (void)hub_measured_field_merge(&out->fields[number], field);
    }
    hub_measured_field_dispose(field);
}

static enum hub_status add_part(const struct hub_state *state, uint32_t part, struct hub_merged_fields *out,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf blob = HUB_BUF_INIT(MAX_FIELDS_BYTES);
    struct hub_measured_field field;
    char path[4096];
    HUB_TRY(hub_measures_read(state, part, "fields", &blob, err));
    struct hub_cursor cursor = hub_cursor_of(blob.data, blob.size);
    while (hub_measured_field_unpack(&cursor, &field, path))
        add_field(state->dataset, out, &field);
    return HUB_OK;
}

enum hub_status hub_merged_fields_read(const struct hub_state *state, enum hub_measured how_far,
                                       struct hub_merged_fields *out, struct hub_error *err)
{
    const struct hub_dataset *dataset = state->dataset;
    HUB_CLEANUP(hub_freep) struct hub_measured_state *parts = NULL;
    HUB_CLEANUP(hub_merged_fields_dispose) struct hub_merged_fields merged = {0};
    HUB_TRY(hub_measures_states(state, &parts, err));
    HUB_TRY(hub_new(&merged.fields, (size_t)dataset->field_count + 1, sizeof *merged.fields, err));
    merged.count = dataset->field_count;
    for (uint32_t i = 0; i < merged.count; i++)
        merged.fields[i].path = dataset->fields[i].path;
    for (uint32_t i = 0; i < dataset->part_count; i++)
        if (!dataset->parts[i].broken && parts[i].how_far >= how_far)
            HUB_TRY(add_part(state, i, &merged, err));
    *out = merged;
    merged = (struct hub_merged_fields){0};
    return HUB_OK;
}

enum hub_status hub_histogram_parts(const struct hub_state *state, const char *field,
                                    struct hub_histogram *histogram, bool **there, struct hub_error *err)
{
    const struct hub_dataset *dataset = state->dataset;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(64 * KIB);
    HUB_CLEANUP(hub_freep) bool *found = calloc((size_t)dataset->part_count + 1, sizeof *found);
    HUB_TRY(hub_allocated(found, err));
    HUB_TRY(hub_buf_addf(&name, err, "histogram:%u:%s", histogram->bins, field));
    for (uint32_t i = 0; i < dataset->part_count; i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf blob = HUB_BUF_INIT(MAX_FIELDS_BYTES);
        const enum hub_status st = hub_measures_read(state, i, name.data, &blob, err);
        if (st && st != HUB_NOT_FOUND)
            return st;
        found[i] = !st && hub_histogram_add(histogram, hub_buf_view(&blob));
    }
    *there = found;
    found = NULL;
    return HUB_OK;
}

/* ---- ranges ---- */

static enum hub_status add_box(const json_t *box, struct hub_motion_field *field, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) double *low = NULL, *high = NULL;
    HUB_TRY(hub_new(&low, field->dims, sizeof *low, err));
    HUB_TRY(hub_new(&high, field->dims, sizeof *high, err));
    if (!hub_space_bounds(box, field->dims, low, high))
        return HUB_OK;
    for (uint32_t d = 0; d < field->dims; d++) {
        field->of[d].low = low[d];
        field->of[d].high = high[d];
        if (isfinite(low[d]) && isfinite(high[d]) && high[d] > low[d])
            field->of[d].range = high[d] - low[d];
    }
    return HUB_OK;
}

static enum hub_status read_fact(const struct hub_state *state, const char *key, json_t **out,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MAX_FACT_BYTES);
    HUB_TRY(hub_dataset_fact(state, key, &text, err));
    if (text.size && hub_json_parse(hub_buf_view(&text), text.limit, out, NULL))
        *out = NULL;
    return HUB_OK;
}

/* ---- states with the same names ---- */

static void pair_dim(const struct hub_ranges *r, const struct hub_dataset *dataset, const json_t *names,
                     const char *name, struct hub_action_dim *dim)
{
    for (uint32_t s = 0; s < r->state_count && dim->state == HUB_NONE; s++) {
        const json_t *of =
            json_object_get(json_object_get(names, dataset->fields[r->state_fields[s]].path), "names");
        for (size_t i = 0; i < json_array_size(of) && i < r->states[s].dims; i++) {
            const char *other = json_string_value(json_array_get(of, i));
            if (!other || strcmp(other, name) != 0)
                continue;
            dim->state = s;
            dim->state_dim = (uint32_t)i;
            break;
        }
    }
}

static void pair_names(struct hub_ranges *r, const struct hub_dataset *dataset, const json_t *names)
{
    for (uint32_t f = 0; f < r->action_count; f++) {
        const json_t *of =
            json_object_get(json_object_get(names, dataset->fields[r->action_fields[f]].path), "names");
        for (uint32_t d = 0; json_array_size(of) == r->actions[f].dims && d < r->actions[f].dims; d++) {
            const char *name = json_string_value(json_array_get(of, d));
            if (name)
                pair_dim(r, dataset, names, name, &r->actions[f].of[d]);
        }
    }
}

/* ---- all of it ---- */

static enum hub_status add_action(struct hub_ranges *r, const struct hub_measured_field *field,
                                  uint32_t number, const json_t *space, struct hub_error *err)
{
    struct hub_motion_field *action = &r->actions[r->action_count];
    action->dims = field->dims;
    HUB_TRY(hub_new(&action->of, field->dims, sizeof *action->of, err));
    r->action_fields[r->action_count++] = number;
    for (uint32_t d = 0; d < field->dims; d++) {
        const struct hub_fold *fold = &field->folds[d];
        action->of[d] = (struct hub_action_dim){.low = -INFINITY,
                                                .high = INFINITY,
                                                .range = fold->count ? fold->max - fold->min : 0,
                                                .state = HUB_NONE};
    }
    const json_t *box = hub_space_at(space, field->path);
    return box ? add_box(box, action, err) : HUB_OK;
}

static enum hub_status read_ranges(const struct hub_state *state, const struct hub_merged_fields *merged,
                                   struct hub_ranges *r, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *space = NULL, *names = NULL;
    HUB_TRY(read_fact(state, "action_space", &space, err));
    HUB_TRY(read_fact(state, "dimensions", &names, err));
    for (uint32_t i = 0; i < merged->count; i++) {
        const struct hub_measured_field *field = &merged->fields[i];
        if (field->dims && field->role == HUB_ROLE_ACTION && field->variant.kind == HUB_KIND_FLOAT)
            HUB_TRY(add_action(r, field, i, space, err));
        if (field->dims && field->role == HUB_ROLE_OBSERVATION && json_object_get(names, field->path)) {
            r->states[r->state_count].dims = field->dims;
            r->state_fields[r->state_count++] = i;
        }
    }
    pair_names(r, state->dataset, names);
    r->hash = hub_motion_hash(r->actions, r->action_count);
    return HUB_OK;
}

enum hub_status hub_ranges_read(const struct hub_state *state, struct hub_ranges *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_merged_fields_dispose) struct hub_merged_fields merged = {0};
    HUB_CLEANUP(hub_ranges_dispose) struct hub_ranges r = {0};
    const size_t room = (size_t)state->dataset->field_count + 1;
    HUB_TRY(hub_merged_fields_read(state, HUB_MEASURED_FIELDS, &merged, err));
    HUB_TRY(hub_new(&r.actions, room, sizeof *r.actions, err));
    HUB_TRY(hub_new(&r.states, room, sizeof *r.states, err));
    HUB_TRY(hub_new(&r.action_fields, room, sizeof *r.action_fields, err));
    HUB_TRY(hub_new(&r.state_fields, room, sizeof *r.state_fields, err));
    HUB_TRY(read_ranges(state, &merged, &r, err));
    *out = r;
    r = (struct hub_ranges){0};
    return HUB_OK;
}

void hub_ranges_dispose(struct hub_ranges *r)
{
    for (uint32_t i = 0; i < r->action_count; i++)
        free(r->actions[i].of);
    free(r->actions);
    free(r->states);
    free(r->action_fields);
    free(r->state_fields);
    *r = (struct hub_ranges){0};
}
