/* Measures of a part, packed for the catalogue: see measure_columns.h. */
#include "storage/measurer/measure_columns.h"

#include "storage/catalog/columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_BLOB_BYTES (900 * MIB)

struct hub_named_blob {
    char *name;
    struct hub_buf data;
};

void hub_measure_columns_init(struct hub_measure_columns *c, uint32_t episodes)
{
    *c = (struct hub_measure_columns){.episodes = episodes, .fields = HUB_BUF_INIT(MAX_BLOB_BYTES)};
}

void hub_measure_columns_dispose(struct hub_measure_columns *c)
{
    hub_buf_dispose(&c->fields);
    for (uint32_t i = 0; i < c->count; i++) {
        free(c->blobs[i].name);
        hub_buf_dispose(&c->blobs[i].data);
    }
    free(c->blobs);
}

enum hub_status hub_measure_columns_new(struct hub_measure_columns *c, const char *name, const char *of,
                                        struct hub_buf **out, struct hub_error *err)
{
    HUB_TRY(hub_grow(&c->blobs, c->count, &c->capacity, sizeof *c->blobs, err));
    struct hub_named_blob *blob = &c->blobs[c->count];
    *blob = (struct hub_named_blob){.data = HUB_BUF_INIT(MAX_BLOB_BYTES)};
    if (asprintf(&blob->name, "%s%s", name, of) < 0)
        return hub_no_memory(err);
    c->count++;
    *out = &blob->data;
    return HUB_OK;
}

/* The value of a cell; false: it has none. */
typedef bool cell_value(const void *of, uint32_t cell, struct hub_value *out);

static enum hub_status add_run(struct hub_measure_columns *c, const char *name, cell_value *value,
                               const void *of, uint32_t first, uint32_t end, struct hub_error *err)
{
    HUB_CLEANUP(hub_column_run_dispose) struct hub_column_run run = {0};
    struct hub_buf *out;
    HUB_TRY(hub_column_run_begin(&run, 1, err));
    for (uint32_t i = first; i < end; i++) {
        struct hub_value cell;
        const bool has = value(of, i, &cell);
        HUB_TRY(hub_column_run_add(&run, &cell, has, err));
    }
    HUB_TRY(hub_column_run_end(&run, err));
    HUB_TRY(hub_measure_columns_new(c, name, "", &out, err));
    return hub_buf_add_view(out, hub_buf_view(&run.cells), err);
}

/* A column of so many cells, of a word and a field; at least one run, which says that it was measured. */
static enum hub_status add_column(struct hub_measure_columns *c, const char *word, const char *field,
                                  cell_value *value, const void *of, uint32_t cells, struct hub_error *err)
{
    for (uint32_t run = 0; !run || run * (uint64_t)HUB_COLUMN_RUN < cells; run++) {
        const uint32_t first = run * HUB_COLUMN_RUN;
        char name[HUB_COLUMN_NAME];
        if (!hub_column_name(word, hub_view_of(field), run, name))
            return hub_fail(err, HUB_TOO_BIG, "the name of a measure has %zu bytes", strlen(field));
        HUB_TRY(add_run(c, name, value, of, first, HUB_MIN(cells - first, (uint32_t)HUB_COLUMN_RUN) + first,
                        err));
    }
    return HUB_OK;
}

/* NaN is no value. */
static bool real_at(const void *of, uint32_t cell, struct hub_value *out)
{
    *out = hub_value_real(((const double *)of)[cell]);
    return !isnan(out->real);
}

static double sum_of(const struct hub_fold *fold)
{
    return hub_fold_sum(fold);
}

static double mean_of(const struct hub_fold *fold)
{
    return fold->mean;
}

static double min_of(const struct hub_fold *fold)
{
    return fold->min;
}

static double max_of(const struct hub_fold *fold)
{
    return fold->max;
}

static bool value_at(const void *of, uint32_t cell, struct hub_value *out)
{
    *out = ((const struct hub_value *)of)[cell];
    return out->kind != HUB_VALUE_REAL || !isnan(out->real);
}

enum hub_status hub_measure_columns_add_values(struct hub_measure_columns *c, const char *word,
                                               const char *field, const struct hub_value *values,
                                               struct hub_error *err)
{
    return add_column(c, word, field, value_at, values, c->episodes, err);
}

/* What a field's values of an episode come to. */
struct fold_column {
    const struct hub_measured_field *field;
    enum hub_property_kind kind;
    double (*real)(const struct hub_fold *fold);
    bool wide; /* integers of 64 bits, the smallest or the largest of which is kept as it is */
};

static bool fold_at(const void *of, uint32_t cell, struct hub_value *out)
{
    const struct fold_column *column = of;
    const struct hub_fold *fold = &column->field->each[cell];
    const uint64_t key = column->kind == HUB_PROPERTY_MAX ? fold->most_key : fold->least_key;
    if (!column->wide)
        *out = hub_value_real(fold->count ? column->real(fold) : NAN);
    else if (column->field->variant.kind == HUB_KIND_INT)
        *out = (struct hub_value){.kind = HUB_VALUE_INT, .number = hub_wide_signed(key)};
    else
        *out = hub_value_uint(key);
    return fold->count && (column->wide || !isnan(out->real));
}

enum hub_status hub_measure_columns_add_field(struct hub_measure_columns *c,
                                              const struct hub_measured_field *f, struct hub_error *err)
{
    static double (*const reals[])(const struct hub_fold *fold) = {sum_of, mean_of, hub_fold_std, min_of,
                                                                   max_of};
    _Static_assert(HUB_COUNT(reals) == HUB_PROPERTY_MAX - HUB_PROPERTY_SUM + 1, "one of each");
    for (enum hub_property_kind kind = HUB_PROPERTY_SUM; kind <= HUB_PROPERTY_MAX; kind++) {
        const struct fold_column column = {f, kind, reals[kind - HUB_PROPERTY_SUM],
                                           kind >= HUB_PROPERTY_MIN && hub_numbers_wide(&f->variant)};
        HUB_TRY(add_column(c, hub_property_word(kind), f->path, fold_at, &column, c->episodes, err));
    }
    return hub_measured_field_pack(f, &c->fields, err);
}

/* Four cells an episode, of eight bytes each. */
enum { SPARK_CELLS = HUB_SPARK / 8 };

static bool spark_at(const void *of, uint32_t cell, struct hub_value *out)
{
    const struct hub_measured_part *measured = of;
    uint64_t bits;
    memcpy(&bits, measured->sparks + (size_t)cell * sizeof bits, sizeof bits);
    *out = (struct hub_value){.kind = HUB_VALUE_UINT, .large = bits};
    return !isnan(measured->metrics[HUB_METRIC_FLAT_REWARD][cell / SPARK_CELLS]);
}

/* Some of them are worst at a step. */
static bool has_any(const double *values, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && isnan(values[i]))
        i++;
    return i < count;
}

enum hub_status hub_measure_columns_add_metrics(struct hub_measure_columns *c,
                                                const struct hub_measured_part *measured,
                                                enum hub_measured how_far, struct hub_error *err)
{
    for (unsigned m = 0; m < HUB_METRIC_COUNT; m++) {
        const struct hub_property_row *row = hub_metric_row(m);
        if (row->how_far != how_far)
            continue;
        HUB_TRY(add_column(c, row->word, "", real_at, measured->metrics[m], c->episodes, err));
        if (has_any(measured->at[m], c->episodes))
            HUB_TRY(add_column(c, "at", row->word, real_at, measured->at[m], c->episodes, err));
    }
    return HUB_OK;
}

enum hub_status hub_measure_columns_add_part(struct hub_measure_columns *c,
                                             const struct hub_measured_part *measured, struct hub_error *err)
{
    struct hub_buf *out;
    HUB_TRY(add_column(c, hub_property_word(HUB_PROPERTY_RETURN), "", real_at, measured->returns, c->episodes,
                       err));
    HUB_TRY(hub_measure_columns_add_metrics(c, measured, HUB_MEASURED_REWARDS, err));
    HUB_TRY(add_column(c, "spark", "", spark_at, measured, c->episodes * SPARK_CELLS, err));
    HUB_TRY(hub_measure_columns_new(c, "fields", "", &out, err));
    return hub_buf_add_view(out, hub_buf_view(&c->fields), err);
}

enum hub_status hub_measure_columns_keep(const struct hub_measure_columns *c, struct hub_catalog *catalog,
                                         int64_t part_row, const struct hub_measured_state *state,
                                         const struct hub_findings *found, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_measure_blob *blobs = NULL;
    HUB_TRY(hub_new(&blobs, (size_t)c->count + 1, sizeof *blobs, err));
    for (uint32_t i = 0; i < c->count; i++)
        blobs[i] = (struct hub_measure_blob){c->blobs[i].name, hub_buf_view(&c->blobs[i].data)};
    return hub_measures_write(catalog, part_row, state, blobs, c->count, found, err);
}
