/* Numbers of episodes: see measured.h. */
#include "server/api/measured.h"

#include <math.h>
#include <stdlib.h>

void hub_series_dispose(struct hub_series *s)
{
    free(s->values);
    free(s->episodes);
    free(s->sorted);
}

double hub_value_real_of(const struct hub_value *value)
{
    return value->kind == HUB_VALUE_REAL   ? value->real
           : value->kind == HUB_VALUE_UINT ? (double)value->large
                                           : (double)value->number;
}

/* What stands in the file's row is its claim, unless the driver summed it up itself. */
static enum hub_status count_origin(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                    enum hub_property_kind kind, struct hub_series *out,
                                    struct hub_error *err)
{
    struct hub_found_episode row;
    bool claimed = kind == HUB_PROPERTY_STEPS;
    if (kind == HUB_PROPERTY_RETURN) {
        HUB_TRY(hub_episode_row(reader, e, &row, err));
        claimed = row.has_return && !row.return_computed;
    }
    out->claimed += claimed;
    out->computed += !claimed;
    return HUB_OK;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static enum hub_status sort(struct hub_series *s, struct hub_error *err)
{
    HUB_TRY(hub_new(&s->sorted, (size_t)s->count + 1, sizeof *s->sorted, err));
    for (uint32_t i = 0; i < s->count; i++)
        if (isfinite(s->values[i]))
            s->sorted[s->finite++] = s->values[i];
    if (s->finite)
        qsort(s->sorted, s->finite, sizeof *s->sorted, by_value);
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
        HUB_TRY(count_origin(&reader, &dataset->episodes[i], kind, out, err));
    }
    return sort(out, err);
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

const char *hub_measured_role(const struct hub_dataset *dataset, enum hub_role role)
{
    for (uint32_t i = 0; role != HUB_ROLE_OTHER && i < dataset->field_count; i++)
        if (dataset->fields[i].role == role)
            return dataset->fields[i].path;
    return NULL;
}
