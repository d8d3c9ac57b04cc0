/* Numbers of episodes: see measured.h. */
#include "storage/statistics/measured.h"

#include "storage/measure/measure.h"
#include "storage/text/base64.h"

#include <math.h>
#include <stdlib.h>

void hub_series_dispose(struct hub_series *s)
{
    free(s->values);
    free(s->episodes);
    free(s->sorted);
}

/* A number whose bits, unsigned, are in the order of the doubles they stand for; and back. */
static uint64_t ordered_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits ^ (bits >> 63 ? UINT64_MAX : UINT64_C(1) << 63);
}

static double value_of(uint64_t ordered)
{
    const uint64_t bits = ordered ^ (ordered >> 63 ? UINT64_C(1) << 63 : UINT64_MAX);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

enum { DIGIT = 8, DIGITS = 64 / DIGIT, KINDS = 1 << DIGIT };

/* From one place into the other, in the order of one digit; those of equal digits stay in theirs. */
static void sort_by_digit(const uint64_t *from, uint64_t *to, uint32_t count, const uint32_t *counts,
                          unsigned digit)
{
    uint32_t begin[KINDS], at = 0;
    for (unsigned k = 0; k < KINDS; k++) {
        begin[k] = at;
        at += counts[k];
    }
    for (uint32_t i = 0; i < count; i++)
        to[begin[from[i] >> digit * DIGIT & (KINDS - 1)]++] = from[i];
}

/* Digit by digit, from the last: a million takes a tenth of what comparing them takes. `keys` are the
 * ordered ones and room for as many more; the sorted ones are at the returned place. */
static const uint64_t *sort_keys(uint64_t *keys, uint32_t count)
{
    uint32_t counts[DIGITS][KINDS] = {0};
    uint64_t *from = keys, *to = keys + count;
    for (uint32_t i = 0; i < count; i++)
        for (unsigned d = 0; d < DIGITS; d++)
            counts[d][keys[i] >> d * DIGIT & (KINDS - 1)]++;
    for (unsigned d = 0; count && d < DIGITS; d++) {
        if (counts[d][keys[0] >> d * DIGIT & (KINDS - 1)] == count)
            continue; /* all the same */
        sort_by_digit(from, to, count, counts[d], d);
        uint64_t *other = from;
        from = to;
        to = other;
    }
    return from;
}

enum hub_status hub_series_sort(struct hub_series *s, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint64_t *keys = NULL;
    HUB_TRY(hub_new(&s->sorted, (size_t)s->count + 1, sizeof *s->sorted, err));
    HUB_TRY(hub_new(&keys, 2 * (size_t)s->count + 1, sizeof *keys, err));
    for (uint32_t i = 0; i < s->count; i++)
        if (isfinite(s->values[i]))
            keys[s->finite++] = ordered_of(s->values[i]);
    const uint64_t *sorted = sort_keys(keys, s->finite);
    for (uint32_t i = 0; i < s->finite; i++)
        s->sorted[i] = value_of(sorted[i]);
    return HUB_OK;
}

enum hub_status hub_series_read(const struct hub_state *state, const bool *chosen,
                                enum hub_property_kind kind, struct hub_series *out, struct hub_error *err)
{
    const struct hub_dataset *dataset = state->dataset;
    const struct hub_property name = {.kind = kind};
    HUB_CLEANUP(hub_episode_reader_dispose) struct hub_episode_reader reader = {.state = state};
    HUB_TRY(hub_new(&out->values, (size_t)dataset->episode_count + 1, sizeof *out->values, err));
    HUB_TRY(hub_new(&out->episodes, (size_t)dataset->episode_count + 1, sizeof *out->episodes, err));
    for (uint32_t i = 0; i < dataset->episode_count; i++) {
        struct hub_values values;
        if (chosen && !chosen[i])
            continue;
        HUB_TRY(hub_episode_values_of(&reader, &dataset->episodes[i], &name, &values, err));
        if (!values.count || values.first->kind == HUB_VALUE_TEXT)
            continue;
        out->episodes[out->count] = i;
        out->values[out->count++] = hub_value_real_of(values.first);
        out->claimed += !values.first->computed;
        out->computed += values.first->computed;
    }
    return HUB_OK;
}

/* Between the two nearest, as far as the place is from the lower one. */
double hub_series_quantile(const struct hub_series *s, double q)
{
    const double at = q * (s->finite - 1);
    const uint32_t below = (uint32_t)at;
    const double part = at - below, low = s->sorted[below],
                 high = s->sorted[HUB_MIN(below + 1, s->finite - 1)];
    return part >= 0.5 ? high - (high - low) * (1 - part) : low + (high - low) * part;
}

void hub_measured_number(struct hub_json *json, const char *key, double value)
{
    if (isfinite(value))
        hub_json_put_double(json, key, value);
    else
        hub_json_put_text(json, key, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
}

const char *hub_measured_role(const struct hub_dataset *dataset, const char *role)
{
    for (uint32_t i = 0; *role && i < dataset->field_count; i++)
        if (strcmp(hub_role_name(dataset->fields[i].role), role) == 0)
            return dataset->fields[i].path;
    return NULL;
}

/* ---- in an episode's document ---- */

static void put_value(struct hub_json *json, const struct hub_value *value)
{
    if (value->kind == HUB_VALUE_INT)
        hub_json_safe_int(json, value->number);
    else if (value->kind == HUB_VALUE_UINT)
        hub_json_safe_uint(json, value->large);
    else if (isfinite(value->real))
        hub_json_double(json, value->real);
    else
        hub_json_string(json, value->real > 0 ? HUB_VIEW("Infinity") : HUB_VIEW("-Infinity"));
}

static enum hub_status put_one(struct hub_json *json, const struct hub_state *state,
                               const struct hub_dataset_episode *e, const char *word, const char *of,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_column_cursor_reset) struct hub_column_cursor cursor = {0};
    const struct hub_column_id id = {state, word, hub_view_of(of), e->part};
    struct hub_value value;
    bool found;
    HUB_TRY(hub_column_measured(&cursor, &id, e->index, &value, &found, err));
    if (!found)
        return HUB_OK;
    hub_json_key(json, hub_view_of(word));
    put_value(json, &value);
    return HUB_OK;
}

static enum hub_status put_statistics(struct hub_json *json, const struct hub_state *state,
                                      const struct hub_dataset_episode *e, const char *path,
                                      struct hub_error *err)
{
    HUB_CLEANUP(hub_column_cursor_reset) struct hub_column_cursor cursor = {0};
    const struct hub_column_id id = {state, hub_property_word(HUB_PROPERTY_SUM), hub_view_of(path), e->part};
    struct hub_value value;
    bool found;
    HUB_TRY(hub_column_measured(&cursor, &id, e->index, &value, &found, err));
    if (!found)
        return HUB_OK;
    hub_json_put_object(json, path);
    for (enum hub_property_kind kind = HUB_PROPERTY_SUM; kind <= HUB_PROPERTY_MAX; kind++)
        HUB_TRY(put_one(json, state, e, hub_property_word(kind), path, err));
    hub_json_end_object(json);
    return HUB_OK;
}

/* Its cells are eight bytes each. Nothing is added to `text` where there is none. */
static enum hub_status read_spark(const struct hub_state *state, const struct hub_dataset_episode *e,
                                  struct hub_buf *text, struct hub_error *err)
{
    enum { CELLS = HUB_SPARK / 8 };
    HUB_CLEANUP(hub_column_cursor_reset) struct hub_column_cursor cursor = {0};
    const struct hub_column_id id = {.state = state, .word = "spark", .part = e->part};
    uint64_t cells[CELLS];
    unsigned found = 0;
    _Static_assert(HUB_COLUMN_RUN % CELLS == 0, "those of an episode lie in one run");
    HUB_TRY(hub_column_cursor_move_measured(&cursor, &id, e->index * CELLS, err));
    for (unsigned i = 0; i < CELLS; i++) {
        struct hub_value value = {0};
        found += hub_column_cursor_get(&cursor, e->index * CELLS + i, &value);
        cells[i] = value.large;
    }
    return found == CELLS ? hub_base64_encode((struct hub_view){(const char *)cells, sizeof cells}, text, err)
                          : HUB_OK;
}

static enum hub_status put_spark(struct hub_json *json, const struct hub_state *state,
                                 const struct hub_dataset_episode *e, bool or_null, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(4 * HUB_SPARK);
    HUB_TRY(read_spark(state, e, &text, err));
    if (!text.size && !or_null)
        return HUB_OK;
    hub_json_key(json, HUB_VIEW("spark"));
    if (text.size)
        hub_json_string(json, hub_buf_view(&text));
    else
        hub_json_null(json);
    return HUB_OK;
}

/* ---- in a list of them ---- */

void hub_measured_items_leave(struct hub_measured_items *items)
{
    for (size_t i = 0; i < HUB_COUNT(items->cursors); i++)
        hub_column_cursor_reset(&items->cursors[i]);
}

static enum hub_status put_metrics(struct hub_json *json, struct hub_measured_items *items,
                                   const struct hub_state *state, const struct hub_dataset_episode *e,
                                   struct hub_error *err)
{
    bool any = false;
    hub_json_key(json, HUB_VIEW("metrics"));
    for (unsigned m = 0; m < HUB_METRIC_COUNT; m++) {
        const char *word = hub_metric_row(m)->word;
        const struct hub_column_id id = {.state = state, .word = word, .part = e->part};
        struct hub_value value;
        bool found;
        HUB_TRY(hub_column_measured(&items->cursors[m], &id, e->index, &value, &found, err));
        if (!found)
            continue;
        if (!any)
            hub_json_object(json);
        any = true;
        hub_json_key(json, hub_view_of(word));
        put_value(json, &value);
    }
    if (any)
        hub_json_end_object(json);
    else
        hub_json_null(json);
    return HUB_OK;
}

enum hub_status hub_measured_item(struct hub_json *json, struct hub_measured_items *items,
                                  const struct hub_state *state, const struct hub_dataset_episode *e,
                                  struct hub_error *err)
{
    if (items->metrics)
        HUB_TRY(put_metrics(json, items, state, e, err));
    return items->spark ? put_spark(json, state, e, true, err) : HUB_OK;
}

/* ---- the document of one ---- */

enum hub_status hub_measured_put(struct hub_json *json, const struct hub_state *state,
                                 const struct hub_dataset_episode *e, struct hub_error *err)
{
    hub_json_put_object(json, "measured");
    HUB_TRY(put_one(json, state, e, hub_property_word(HUB_PROPERTY_RETURN), "", err));
    HUB_TRY(put_spark(json, state, e, false, err));
    hub_json_put_object(json, "metrics");
    for (unsigned m = 0; m < HUB_METRIC_COUNT; m++)
        HUB_TRY(put_one(json, state, e, hub_metric_row(m)->word, "", err));
    hub_json_end_object(json);
    hub_json_put_object(json, "statistics");
    for (uint32_t i = 0; i < state->dataset->field_count; i++) {
        const enum hub_field_type type = state->dataset->fields[i].type;
        if (hub_field_is_measured(type))
            HUB_TRY(put_statistics(json, state, e, state->dataset->fields[i].path, err));
    }
    hub_json_end_object(json);
    hub_json_end_object(json);
    return hub_json_status(json);
}
