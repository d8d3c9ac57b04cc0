/* Measures of a part, packed for the catalogue: see measure_columns.h. */
#include "storage/measurer/measure_columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_BLOB_BYTES (900 * MIB)

struct hub_named_blob {
    char *name;
    struct hub_buf data;
    bool is_column;
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

static enum hub_status new_column(struct hub_measure_columns *c, const char *name, const char *of,
                                  struct hub_buf **out, struct hub_error *err)
{
    HUB_TRY(hub_measure_columns_new(c, name, of, out, err));
    c->blobs[c->count - 1].is_column = true;
    return HUB_OK;
}

static enum hub_status add_column(struct hub_measure_columns *c, const char *name, const char *of,
                                  const double *values, struct hub_error *err)
{
    struct hub_buf *out;
    HUB_TRY(new_column(c, name, of, &out, err));
    return hub_measures_pack(values, c->episodes, out, err);
}

/* Of wide integers the smallest or the largest as they are. */
static enum hub_status add_wide(struct hub_measure_columns *c, const char *name,
                                const struct hub_measured_field *f, bool most, struct hub_error *err)
{
    const uint32_t n = c->episodes;
    const bool is_signed = f->variant.kind == HUB_KIND_INT;
    HUB_CLEANUP(hub_freep) uint64_t *bits = calloc((size_t)n + 1, sizeof *bits);
    HUB_CLEANUP(hub_freep) uint8_t *valid = calloc((size_t)n + 1, 1);
    struct hub_buf *out;
    HUB_TRY(hub_allocated(bits && valid, err));
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t key = most ? f->each[i].most_key : f->each[i].least_key;
        bits[i] = is_signed ? (uint64_t)hub_wide_signed(key) : key;
        valid[i] = f->each[i].count > 0;
    }
    HUB_TRY(new_column(c, name, f->path, &out, err));
    return hub_measures_pack_wide(bits, valid, n, is_signed, out, err);
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

enum hub_status hub_measure_columns_add_field(struct hub_measure_columns *c,
                                              const struct hub_measured_field *f, struct hub_error *err)
{
    static const struct {
        const char *name;
        double (*of)(const struct hub_fold *fold);
        int wide; /* as it is: 1 the smallest, 2 the largest */
    } columns[] = {{"sum:", sum_of, 0},
                   {"mean:", mean_of, 0},
                   {"std:", hub_fold_std, 0},
                   {"min:", min_of, 1},
                   {"max:", max_of, 2}};
    const uint32_t n = c->episodes;
    HUB_CLEANUP(hub_freep) double *values = calloc((size_t)n + 1, sizeof *values);
    HUB_TRY(hub_allocated(values, err));
    for (size_t k = 0; k < HUB_COUNT(columns); k++) {
        if (columns[k].wide && hub_numbers_wide(&f->variant)) {
            HUB_TRY(add_wide(c, columns[k].name, f, columns[k].wide == 2, err));
            continue;
        }
        for (uint32_t i = 0; i < n; i++)
            values[i] = f->each[i].count ? columns[k].of(&f->each[i]) : NAN;
        HUB_TRY(add_column(c, columns[k].name, f->path, values, err));
    }
    return hub_measured_field_pack(f, &c->fields, err);
}

/* Four cells an episode, of eight bytes each. */
static enum hub_status add_sparks(struct hub_measure_columns *c, const struct hub_measured_part *measured,
                                  struct hub_error *err)
{
    enum { CELLS = HUB_SPARK / 8 };
    const uint32_t n = c->episodes * CELLS;
    HUB_CLEANUP(hub_freep) uint64_t *bits = calloc((size_t)n + 1, sizeof *bits);
    HUB_CLEANUP(hub_freep) uint8_t *valid = calloc((size_t)n + 1, 1);
    struct hub_buf *out;
    HUB_TRY(hub_allocated(bits && valid, err));
    memcpy(bits, measured->sparks, (size_t)n * sizeof *bits);
    for (uint32_t i = 0; i < n; i++)
        valid[i] = (uint8_t)!isnan(measured->metrics[HUB_METRIC_FLAT_REWARD][i / CELLS]);
    HUB_TRY(new_column(c, "spark", "", &out, err));
    return hub_measures_pack_wide(bits, valid, n, false, out, err);
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
        HUB_TRY(add_column(c, row->word, "", measured->metrics[m], err));
        if (has_any(measured->at[m], c->episodes))
            HUB_TRY(add_column(c, "at:", row->word, measured->at[m], err));
    }
    return HUB_OK;
}

enum hub_status hub_measure_columns_add_part(struct hub_measure_columns *c,
                                             const struct hub_measured_part *measured, struct hub_error *err)
{
    struct hub_buf *out;
    HUB_TRY(add_column(c, "return", "", measured->returns, err));
    HUB_TRY(hub_measure_columns_add_metrics(c, measured, HUB_MEASURED_REWARDS, err));
    HUB_TRY(add_sparks(c, measured, err));
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
        blobs[i] = (struct hub_measure_blob){c->blobs[i].name, hub_buf_view(&c->blobs[i].data),
                                             c->blobs[i].is_column};
    return hub_measures_write(catalog, part_row, state, blobs, c->count, found, err);
}
