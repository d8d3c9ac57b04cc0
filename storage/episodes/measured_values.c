/* Measured values by name: see measured_values.h. */
#include "storage/episodes/episode_reader.h"

#include <stdio.h>

void hub_measured_values_dispose(struct hub_measured_values *values)
{
    for (size_t i = 0; i < HUB_COUNT(values->slots); i++)
        hub_measure_reader_dispose(&values->slots[i].reader);
}

static double number_of(const json_t *metadata, const char *key, bool *all)
{
    const json_t *value = json_object_get(metadata, key);
    *all = *all && json_is_number(value);
    return json_number_value(value);
}

static enum hub_status read_scores(struct hub_episode_reader *reader, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf fact = HUB_BUF_INIT((size_t)HUB_MAX_TEXT);
    HUB_CLEANUP(hub_json_decrefp) json_t *metadata = NULL;
    struct hub_measured_values *m = &reader->measured;
    HUB_TRY(hub_dataset_fact(reader->state, "metadata", &fact, err));
    m->knows_scores = true;
    if (!fact.size || hub_json_parse(hub_buf_view(&fact), fact.limit, &metadata, NULL))
        return HUB_OK;
    bool all = true;
    m->score_low = number_of(metadata, "ref_min_score", &all);
    m->score_high = number_of(metadata, "ref_max_score", &all);
    m->has_scores = all && m->score_low != m->score_high;
    return HUB_OK;
}

static double real_of(const struct hub_value *value)
{
    return value->kind == HUB_VALUE_REAL   ? value->real
           : value->kind == HUB_VALUE_UINT ? (double)value->large
                                           : (double)value->number;
}

static enum hub_status score_of(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                struct hub_value *out, bool *found, struct hub_error *err)
{
    const struct hub_property name = {.kind = HUB_PROPERTY_RETURN};
    struct hub_measured_values *m = &reader->measured;
    struct hub_values values;
    *found = false;
    if (!m->knows_scores)
        HUB_TRY(read_scores(reader, err));
    if (!m->has_scores)
        return HUB_OK;
    HUB_TRY(hub_episode_values_of(reader, e, &name, &values, err));
    *found = values.count > 0;
    if (*found)
        *out = hub_value_real((real_of(values.first) - m->score_low) / (m->score_high - m->score_low));
    return HUB_OK;
}

/* Spell the name out, and find its column. */
static enum hub_status look_up(struct hub_measured_slot *slot, const struct hub_dataset_episode *e,
                               const struct hub_property *name, struct hub_value *out, bool *found,
                               struct hub_error *err)
{
    char column[512];
    const struct hub_dataset *dataset = slot->reader.state->dataset;
    const uint32_t field = name->of.size ? hub_dataset_find_field(dataset, name->of) : HUB_NONE;
    const struct hub_view of = field == HUB_NONE ? name->of : hub_view_of(dataset->fields[field].path);
    const int size = snprintf(column, sizeof column, "%s%s%.*s", hub_property_word(name->kind),
                              of.size ? ":" : "", (int)of.size, of.data);
    if (size < 0 || size >= (int)sizeof column)
        return HUB_OK;
    slot->kind = name->kind;
    slot->of = name->of;
    return hub_measure_of(&slot->reader, (struct hub_view){column, (size_t)size}, e, out, found, err);
}

enum hub_status hub_measured_value(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                   const struct hub_property *name, struct hub_value *out, bool *found,
                                   struct hub_error *err)
{
    *found = false;
    if (name->kind == HUB_PROPERTY_SCORE)
        return score_of(reader, e, out, found, err);
    const size_t at = (name->kind * 7 + name->of.size) % HUB_COUNT(reader->measured.slots);
    struct hub_measured_slot *slot = &reader->measured.slots[at];
    slot->reader.state = reader->state;
    if (hub_measure_reader_has(&slot->reader, e) && slot->kind == name->kind &&
        hub_view_equal(slot->of, name->of))
        *found = slot->reader.column && hub_measure_value(slot->reader.column, e->index, out);
    else
        HUB_TRY(look_up(slot, e, name, out, found, err));
    const enum hub_property_type type = hub_property_row(name->kind)->type;
    if (*found && (type == HUB_PROPERTY_INT || type == HUB_PROPERTY_TRUTH) && out->kind == HUB_VALUE_REAL)
        *out = hub_value_uint((uint64_t)out->real);
    return HUB_OK;
}
