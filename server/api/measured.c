/* Numbers of episodes: see measured.h. */
#include "server/api/measured.h"

#include "storage/base/base64.h"
#include "storage/measure/measure.h"

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

enum hub_status hub_series_sort(struct hub_series *s, struct hub_error *err)
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

const char *hub_measured_role(const struct hub_dataset *dataset, enum hub_role role)
{
    for (uint32_t i = 0; role != HUB_ROLE_OTHER && i < dataset->field_count; i++)
        if (dataset->fields[i].role == role)
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

static enum hub_status put_one(struct hub_json *json, struct hub_measure_reader *reader,
                               const struct hub_dataset_episode *e, const char *key, const char *column,
                               struct hub_error *err)
{
    struct hub_value value;
    bool found;
    HUB_TRY(hub_measure_of(reader, hub_view_of(column), e, &value, &found, err));
    if (!found)
        return HUB_OK;
    hub_json_key(json, hub_view_of(key));
    put_value(json, &value);
    return HUB_OK;
}

static enum hub_status put_statistics(struct hub_json *json, struct hub_measure_reader *reader,
                                      const struct hub_dataset_episode *e, const char *path,
                                      struct hub_error *err)
{
    static const char *const words[] = {"sum", "mean", "std", "min", "max"};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(64 * KIB);
    struct hub_value value;
    bool found;
    HUB_TRY(hub_buf_addf(&name, err, "sum:%s", path));
    HUB_TRY(hub_measure_of(reader, hub_buf_view(&name), e, &value, &found, err));
    if (!found)
        return HUB_OK;
    hub_json_put_object(json, path);
    for (size_t i = 0; i < HUB_COUNT(words); i++) {
        name.size = 0;
        HUB_TRY(hub_buf_addf(&name, err, "%s:%s", words[i], path));
        HUB_TRY(put_one(json, reader, e, words[i], name.data, err));
    }
    hub_json_end_object(json);
    return HUB_OK;
}

/* Its cells are eight bytes each. Nothing is added to `text` where there is none. */
static enum hub_status read_spark(const struct hub_state *state, const struct hub_dataset_episode *e,
                                  struct hub_buf *text, struct hub_error *err)
{
    enum { CELLS = HUB_SPARK / 8 };
    struct hub_measure_column *column;
    uint64_t cells[CELLS];
    unsigned found = 0;
    _Static_assert(HUB_MEASURE_RUN % CELLS == 0, "those of an episode lie in one run");
    const enum hub_status st =
        hub_measure_column_get(state, e->part, HUB_VIEW("spark"), e->index * CELLS, &column, err);
    if (st)
        return st == HUB_NOT_FOUND ? HUB_OK : st;
    for (unsigned i = 0; i < CELLS; i++) {
        struct hub_value value = {0};
        found += hub_measure_value(column, e->index * CELLS + i, &value);
        cells[i] = value.kind == HUB_VALUE_UINT ? value.large : (uint64_t)value.number;
    }
    hub_measure_column_put(column);
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
    for (size_t i = 0; i < HUB_COUNT(items->readers); i++)
        hub_measure_reader_dispose(&items->readers[i]);
}

static enum hub_status put_metrics(struct hub_json *json, struct hub_measured_items *items,
                                   const struct hub_state *state, const struct hub_dataset_episode *e,
                                   struct hub_error *err)
{
    bool any = false;
    hub_json_key(json, HUB_VIEW("metrics"));
    for (unsigned m = 0; hub_metric_words[m]; m++) {
        struct hub_value value;
        bool found;
        items->readers[m].state = state;
        HUB_TRY(hub_measure_of(&items->readers[m], hub_view_of(hub_metric_words[m]), e, &value, &found, err));
        if (!found)
            continue;
        if (!any)
            hub_json_object(json);
        any = true;
        hub_json_key(json, hub_view_of(hub_metric_words[m]));
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
    HUB_CLEANUP(hub_measure_reader_dispose) struct hub_measure_reader reader = {.state = state};
    hub_json_put_object(json, "measured");
    HUB_TRY(put_one(json, &reader, e, "return", "return", err));
    HUB_TRY(put_spark(json, state, e, false, err));
    hub_json_put_object(json, "metrics");
    for (unsigned m = 0; hub_metric_words[m]; m++)
        HUB_TRY(put_one(json, &reader, e, hub_metric_words[m], hub_metric_words[m], err));
    hub_json_end_object(json);
    hub_json_put_object(json, "statistics");
    for (uint32_t i = 0; i < state->dataset->field_count; i++) {
        const enum hub_field_type type = state->dataset->fields[i].type;
        if (type == HUB_FIELD_NUMBER || type == HUB_FIELD_BOOL)
            HUB_TRY(put_statistics(json, &reader, e, state->dataset->fields[i].path, err));
    }
    hub_json_end_object(json);
    hub_json_end_object(json);
    return hub_json_status(json);
}
