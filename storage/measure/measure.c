/* Pass 1: one field after the other, episode by episode, block by block. */
#include "storage/measure/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_OPEN = 64 };

void hub_measured_field_dispose(struct hub_measured_field *field)
{
    free(field->folds);
    free(field->each);
    field->folds = field->each = NULL;
}

static enum hub_status new_column(double **out, uint32_t count, struct hub_error *err)
{
    HUB_TRY(hub_new(out, (size_t)count + 1, sizeof **out, err));
    for (uint32_t i = 0; i < count; i++)
        (*out)[i] = NAN;
    return HUB_OK;
}

enum hub_status hub_measured_part_init(struct hub_measured_part *part, struct hub_error *err)
{
    HUB_TRY(new_column(&part->returns, part->episodes, err));
    for (unsigned m = 0; m < HUB_METRIC_COUNT; m++) {
        HUB_TRY(new_column(&part->metrics[m], part->episodes, err));
        HUB_TRY(new_column(&part->at[m], part->episodes, err));
    }
    HUB_TRY(hub_new(&part->lost, (size_t)part->episodes + 1, 1, err));
    return hub_new(&part->sparks, (size_t)part->episodes + 1, HUB_SPARK, err);
}

void hub_measured_part_dispose(struct hub_measured_part *part)
{
    free(part->returns);
    for (unsigned m = 0; m < HUB_METRIC_COUNT; m++) {
        free(part->metrics[m]);
        free(part->at[m]);
    }
    free(part->sparks);
    free(part->lost);
    hub_plan_files_dispose(&part->files);
}

struct hub_lost hub_measured_part_lost(const struct hub_measured_part *part, int what)
{
    struct hub_lost lost = {0};
    for (uint32_t i = 0; i < part->episodes; i++)
        if (part->lost[i] & what) {
            lost.episodes++;
            lost.steps += part->steps[i];
        }
    return lost;
}

enum hub_status hub_measure_close_files(struct hub_measured_part *part, struct hub_error *err)
{
    for (uint32_t i = 0; i < part->files.count; i++)
        if (part->files.items[i].file)
            HUB_TRY(hub_file_unchanged(part->files.items[i].file, err));
    hub_plan_files_dispose(&part->files);
    return HUB_OK;
}

/* ---- what the values of an episode come to besides their folds ---- */

/* Of one number a row: rewards and times. */
struct number_series {
    uint64_t rows;          /* of the episode */
    double sums[HUB_SPARK]; /* of buckets; of fewer rows the values */
    double before, widest;  /* the value of the row before; the largest difference */
    uint64_t widest_at;
    bool falls;
};

/* Bucket k holds rows k * rows / HUB_SPARK and on. */
static void add_to_spark(struct number_series *s, const struct hub_block *b, uint64_t from)
{
    for (uint64_t i = 0; i < b->rows; i++) {
        const uint64_t row = from + i;
        if (s->rows < HUB_SPARK)
            s->sums[row] = b->values[i];
        else
            s->sums[((row + 1) * HUB_SPARK - 1) / s->rows] += b->values[i];
    }
}

static void add_to_gaps(struct number_series *s, const struct hub_block *b, uint64_t from)
{
    for (uint64_t i = 0; i < b->rows; i++) {
        const double apart = b->values[i] - s->before;
        if (from + i && !(apart > 0)) {
            s->falls = true;
            s->widest_at = from + i;
        } else if (from + i && !s->falls && apart > s->widest) {
            s->widest = apart;
            s->widest_at = from + i;
        }
        s->before = b->values[i];
    }
}

static void put_spark(const struct number_series *s, uint8_t out[HUB_SPARK])
{
    double means[HUB_SPARK], low = INFINITY, high = -INFINITY;
    for (uint64_t k = 0; k < HUB_SPARK; k++) {
        const uint64_t first = k * s->rows / HUB_SPARK, next = (k + 1) * s->rows / HUB_SPARK;
        means[k] = s->rows < HUB_SPARK ? s->sums[first] : s->sums[k] / (double)(next - first);
        if (isfinite(means[k])) {
            low = fmin(low, means[k]);
            high = fmax(high, means[k]);
        }
    }
    for (uint64_t k = 0; k < HUB_SPARK; k++)
        out[k] = !isfinite(means[k]) ? 0
                 : high > low        ? (uint8_t)lround((means[k] / 2 - low / 2) / (high / 2 - low / 2) * 255)
                                     : 128;
}

static bool is_time(const char *path)
{
    return hub_view_is(hub_view_behind(hub_view_of(path), '/'), "timestamp");
}

static void put_series(struct hub_measured_part *part, const struct hub_measured_field *field,
                       const struct number_series *s, uint32_t episode)
{
    const struct hub_fold *fold = &field->each[episode];
    if (!s->rows)
        return;
    if (field->role == HUB_ROLE_REWARD) {
        const bool all = !hub_fold_nonfinite(fold);
        part->returns[episode] = all ? hub_fold_sum(fold) : NAN;
        part->metrics[HUB_METRIC_FLAT_REWARD][episode] = all && fold->min == fold->max;
        put_spark(s, part->sparks + (size_t)episode * HUB_SPARK);
    }
    if (is_time(field->path) && part->fps > 0 && s->rows > 1) {
        part->metrics[HUB_METRIC_GAP][episode] = s->falls ? INFINITY : s->widest * part->fps;
        part->at[HUB_METRIC_GAP][episode] = (double)s->widest_at;
    }
}

/* ---- an episode ---- */

struct pass {
    struct hub_measured_part *part;
    struct hub_measured_field *field;
    struct hub_row_source source;
    struct hub_fold *folds; /* of this episode, by dimension */
    uint32_t room;
    double odd_at; /* of this episode the first row with a number that is not finite; NaN: there is none */
};

static enum hub_status make_room(struct pass *p, uint32_t dims, struct hub_error *err)
{
    if (dims > p->room) {
        free(p->folds);
        p->folds = NULL;
        p->room = 0;
        HUB_TRY(hub_new(&p->folds, dims, sizeof *p->folds, err));
        p->room = dims;
    }
    for (uint32_t d = 0; d < dims; d++)
        p->folds[d] = HUB_FOLD_INIT;
    return HUB_OK;
}

/* Its last row of NaN alone has no value. */
static bool forget_missing(struct pass *p, const struct hub_block *b)
{
    const double *last = b->values + (b->rows - 1) * b->dims;
    uint32_t none = 0;
    while (none < b->dims && isnan(last[none]))
        none++;
    for (uint32_t d = 0; none == b->dims && d < b->dims; d++)
        p->folds[d].nan--;
    return none == b->dims;
}

/* Of the `rows` of a block that begins at row `from`. */
static void find_odd(struct pass *p, const struct hub_block *b, uint64_t from, uint64_t rows)
{
    for (uint64_t i = 0; isnan(p->odd_at) && i < rows * b->dims; i++) {
        const uint64_t row = from + i / b->dims;
        if (!isfinite(b->values[i]))
            p->odd_at = (double)row;
    }
}

static enum hub_status fold_rows(struct pass *p, const struct hub_window *window,
                                 struct number_series *series, struct hub_error *err)
{
    struct hub_block b;
    p->odd_at = NAN;
    for (uint64_t row = 0; row < window->count; row += b.rows) {
        HUB_TRY(hub_source_get(&p->source, window, row, window->count - row, &b, err));
        hub_fold_rows(p->folds, b.dims, b.values, b.rows);
        const bool last = p->field->sparse && row + b.rows == window->count;
        find_odd(p, &b, row, b.rows - (last && forget_missing(p, &b)));
        if (hub_numbers_wide(b.variant))
            hub_fold_wide(p->folds, b.dims, b.variant, b.raw, b.valid, b.rows);
        if (series->rows && p->field->role == HUB_ROLE_REWARD)
            add_to_spark(series, &b, row);
        else if (series->rows)
            add_to_gaps(series, &b, row);
    }
    return HUB_OK;
}

static enum hub_status keep_shape(struct pass *p, const struct hub_window *window, uint32_t dims,
                                  struct hub_error *err)
{
    struct hub_measured_field *f = p->field;
    if (f->dims)
        return HUB_OK;
    HUB_TRY(hub_new(&f->folds, dims, sizeof *f->folds, err));
    f->variant = f->layout->variants[f->layout->arrays[window->array].variant];
    f->dims = dims;
    for (uint32_t d = 0; d < dims; d++)
        f->folds[d] = HUB_FOLD_INIT;
    return HUB_OK;
}

/* The wide kind stays where both are; keys of another kind are none. */
static void add_episode(struct pass *p, const struct hub_window *window, uint32_t dims)
{
    struct hub_measured_field *f = p->field;
    struct hub_fold *each = &f->each[window->episode];
    *each = HUB_FOLD_INIT;
    for (uint32_t d = 0; d < dims; d++)
        hub_fold_merge(each, &p->folds[d]);
    double *nonfinite = &p->part->metrics[HUB_METRIC_NONFINITE][window->episode];
    double *at = &p->part->at[HUB_METRIC_NONFINITE][window->episode];
    *nonfinite = (isnan(*nonfinite) ? 0 : *nonfinite) + (double)hub_fold_nonfinite(each);
    *at = fmin(*at, p->odd_at); /* the one that is a number */
    if (dims != f->dims)
        return;
    f->episodes++;
    for (uint32_t d = 0; d < dims; d++)
        hub_fold_merge(&f->folds[d], &p->folds[d]);
}

enum hub_status hub_measure_breathe(struct hub_measured_part *part, struct hub_error *err)
{
    return part->files.count > MAX_OPEN ? hub_measure_close_files(part, err) : HUB_OK;
}

static void lose_episode(struct pass *p, uint32_t episode, const char *why)
{
    struct hub_measured_field *f = p->field;
    if (!f->why[0])
        snprintf(f->why, sizeof f->why, "%.250s", why);
    f->lost.episodes++;
    f->lost.steps += p->part->steps[episode];
    p->part->lost[episode] |= HUB_LOST_ANY;
    if (f->role == HUB_ROLE_REWARD)
        p->part->lost[episode] |= HUB_LOST_REWARD;
}

static enum hub_status measure_window(struct pass *p, const struct hub_window *whole, struct hub_error *err)
{
    struct hub_measured_field *f = p->field;
    const struct hub_window steps = hub_window_of_steps(*whole, f->axis), *window = &steps;
    const uint32_t dims = hub_source_dims(f->layout, window);
    struct number_series series = {0};
    struct hub_error why = {0};
    if (!dims || window->episode >= p->part->episodes)
        return HUB_OK;
    HUB_TRY(keep_shape(p, window, dims, err));
    HUB_TRY(make_room(p, dims, err));
    if (dims == 1 && (f->role == HUB_ROLE_REWARD || is_time(f->path)))
        series.rows = window->count;
    const enum hub_status st = fold_rows(p, window, &series, &why);
    if (hub_measure_is_verdict(st)) {
        lose_episode(p, window->episode, why.detail);
        return HUB_OK;
    }
    if (st)
        return hub_pass(st, &why, err);
    add_episode(p, window, dims);
    put_series(p->part, f, &series, window->episode);
    return hub_measure_breathe(p->part, err);
}

static void pass_dispose(struct pass *p)
{
    hub_source_dispose(&p->source);
    free(p->folds);
}

enum hub_status hub_measure_field(struct hub_measured_part *part, struct hub_measured_field *field,
                                  struct hub_error *err)
{
    HUB_CLEANUP(pass_dispose)
    struct pass p = {.part = part,
                     .field = field,
                     .source = {.host = part->host, .layout = field->layout, .files = &part->files}};
    HUB_TRY(hub_new(&field->each, (size_t)part->episodes + 1, sizeof *field->each, err));
    for (uint32_t i = 0; i < part->episodes; i++)
        field->each[i] = HUB_FOLD_INIT;
    for (uint32_t i = 0; i < field->layout->counts[HUB_T_WINDOWS]; i++)
        HUB_TRY(measure_window(&p, &field->layout->windows[i], err));
    return HUB_OK;
}
