/*
 * Rows chosen by their own numbers: see step_where.h. The fields that are tested are read once for all
 * episodes before the answer begins, as its length and the ends of episodes come first; what was chosen
 * is kept as runs of rows.
 */
#include "server/api/rows/step_where.h"

#include "storage/base/nearest.h"
#include "storage/query/where.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_RUNS = 4 * 1024 * 1024, BLOCK_ROWS = 64 * 1024, BLOCK_BYTES = 1024 * 1024 };

void hub_step_where_dispose(struct hub_step_where *steps)
{
    hub_where_free(steps->where);
    steps->where = NULL;
}

enum hub_status hub_step_where_read(const struct hub_request *request, struct hub_step_where *out,
                                    struct hub_error *err)
{
    const struct hub_view text = hub_request_query(request, "step_where");
    return text.data ? hub_step_where_parse(text, &out->where, err) : HUB_OK;
}

/* ---- fields ---- */

static enum hub_status wrong(struct hub_view name, struct hub_error *err, const char *why)
{
    return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_WHERE, "step_where", NULL, "'%.*s' %s",
                          (int)HUB_MIN(name.size, (size_t)120), name.data, why);
}

/* Numbers, a row of them a step. */
static bool is_tested(const struct hub_dataset_field *field)
{
    return (field->type == HUB_FIELD_NUMBER || field->type == HUB_FIELD_BOOL) && field->axis != HUB_AXIS_NONE;
}

static enum hub_status no_field(const struct hub_dataset *dataset, struct hub_view name,
                                struct hub_error *err)
{
    struct hub_nearest nearest;
    char why[300];
    const bool any = hub_nearest_begin(&nearest, name, 1);
    for (uint32_t i = 0; any && i < dataset->field_count; i++)
        if (is_tested(&dataset->fields[i]))
            (void)hub_nearest_offer(&nearest, dataset->fields[i].path, dataset->fields[i].path);
    const char *near = any && nearest.count ? nearest.items[0] : NULL;
    snprintf(why, sizeof why, "is not a field of '%.100s' with numbers at each step%s%.100s%s",
             dataset->summary->id, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return wrong(name, err, why);
}

static enum hub_status find_column(struct hub_step_where *steps, struct hub_row_reader *r,
                                   const struct hub_property *name, uint32_t *out, struct hub_error *err)
{
    const uint32_t field = hub_dataset_find_field(r->dataset, name->of);
    if (field == HUB_NONE || !is_tested(&r->dataset->fields[field]))
        return no_field(r->dataset, name->of, err);
    for (*out = r->column_count - steps->column_count; *out < r->column_count; ++*out)
        if (r->columns[*out].field == field)
            return HUB_OK;
    if (r->column_count == HUB_MAX_SELECTED)
        return hub_fail(err, HUB_TOO_BIG, "more than %d columns: name some with fields=", HUB_MAX_SELECTED);
    r->columns[r->column_count] = (struct hub_row_reader_column){.hidden = true, .field = field};
    r->as[r->column_count].name = r->dataset->fields[field].path;
    r->column_count++;
    steps->column_count++;
    return HUB_OK;
}

enum hub_status hub_step_where_columns(struct hub_step_where *steps, struct hub_row_reader *r,
                                       struct hub_error *err)
{
    const struct hub_property *name;
    while (steps->where && (name = hub_where_name(steps->where, steps->tests))) {
        HUB_TRY(find_column(steps, r, name, &steps->columns[steps->tests], err));
        steps->numbers[steps->tests++] = name->component;
    }
    return HUB_OK;
}

/* Which number of a row is meant is known once its shape is. */
static enum hub_status check_shapes(const struct hub_step_where *steps, const struct hub_row_reader *r,
                                    struct hub_error *err)
{
    for (uint32_t i = 0; i < steps->tests; i++) {
        const struct hub_property *name = hub_where_name(steps->where, i);
        const struct hub_variant *variant = &r->as[steps->columns[i]].variant;
        const uint64_t numbers = hub_variant_row_items(variant);
        char why[160];
        if (variant->kind == HUB_KIND_VAR || variant->kind == HUB_KIND_COMPLEX)
            return wrong(name->of, err, "holds no numbers that can be compared");
        if (name->of_row ? name->component < numbers : numbers == 1)
            continue;
        snprintf(why, sizeof why,
                 "has %" PRIu64 " numbers at each step: name one, \"%.*s\"[0] to \"%.*s\"[%" PRIu64 "]",
                 numbers, (int)HUB_MIN(name->of.size, (size_t)40), name->of.data,
                 (int)HUB_MIN(name->of.size, (size_t)40), name->of.data, numbers ? numbers - 1 : 0);
        return wrong(name->of, err, why);
    }
    return HUB_OK;
}

/* ---- rows ---- */

struct tested {
    const struct hub_step_where *steps;
    const struct hub_row_reader *reading;
    uint64_t row; /* of the block */
    struct hub_value value;
};

static enum hub_status get(void *user, const struct hub_property *name, struct hub_values *out,
                           struct hub_error *err)
{
    struct tested *t = user;
    uint32_t i = 0;
    (void)err;
    while (hub_where_name(t->steps->where, i) != name)
        i++;
    const struct hub_rows *rows = &t->reading->rows[t->steps->columns[i]];
    const uint64_t at = t->row * hub_variant_row_items(&rows->variant) + t->steps->numbers[i];
    *out = (struct hub_values){&t->value, 1};
    if (rows->valid && !rows->valid[at]) {
        out->count = 0;
        return HUB_OK;
    }
    const struct hub_scalar value =
        hub_variant_scalar(&rows->variant, rows->data + at * rows->variant.item_size);
    if (rows->variant.kind == HUB_KIND_FLOAT)
        t->value = hub_value_real(value.real);
    else if (rows->variant.kind == HUB_KIND_INT)
        t->value = (struct hub_value){.kind = HUB_VALUE_INT, .number = value.integer};
    else
        t->value = hub_value_uint((uint64_t)value.integer);
    return HUB_OK;
}

/* What is chosen of a reading whose own rows stay as they are until all of them were looked at. */
struct choice {
    struct hub_row_reader_run *runs;
    uint64_t count, rows;
    uint64_t *ends;
    uint64_t next;    /* the row of the episode that would go on in the last run */
    uint32_t episode; /* of that row; HUB_NONE: there is no run yet */
    uint64_t most;    /* runs that there is room for */
};

static void choice_dispose(struct choice *c)
{
    free(c->runs);
    free(c->ends);
}

static enum hub_status choose(struct choice *c, uint32_t episode, uint64_t row, uint64_t stride,
                              struct hub_error *err)
{
    if (episode != c->episode || row != c->next) {
        if (c->count == c->most)
            return hub_fail_as(err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LARGE,
                               "step_where chooses rows in more than %d pieces: choose fewer episodes",
                               MOST_RUNS);
        c->runs[c->count++] = (struct hub_row_reader_run){row, c->rows};
    }
    c->episode = episode;
    c->next = row + stride;
    c->runs[c->count - 1].end = ++c->rows;
    c->ends[episode] = c->rows;
    return HUB_OK;
}

/* Rows [first, first + count) of the reading, which were read. */
static enum hub_status choose_of_block(const struct hub_step_where *steps, const struct hub_row_reader *r,
                                       uint64_t first, uint64_t count, struct choice *c,
                                       struct hub_error *err)
{
    struct tested tested = {.steps = steps, .reading = r};
    const struct hub_episode_values values = {get, &tested};
    struct hub_row_reader_spot spot = {0};
    uint32_t episode = hub_row_reader_episode(r, first);
    for (; tested.row < count; tested.row++, spot.row += r->stride, spot.left--) {
        bool holds;
        while (first + tested.row >= r->ends[episode])
            episode++;
        if (!spot.left)
            spot = hub_row_reader_spot(r, episode, first + tested.row);
        HUB_TRY(hub_where_holds(steps->where, &values, &holds, err));
        if (holds)
            HUB_TRY(choose(c, episode, spot.row, r->stride, err));
    }
    return HUB_OK;
}

static enum hub_status choose_all(const struct hub_step_where *steps, struct hub_row_reader *r,
                                  struct choice *c, struct hub_error *err)
{
    const uint32_t first = r->column_count - steps->column_count;
    const uint64_t all = hub_row_reader_count(r),
                   row = hub_row_reader_row_bytes(r, first, steps->column_count);
    const uint64_t most =
        HUB_MAX(HUB_MIN(BLOCK_BYTES / HUB_MAX(row, (uint64_t)1), (uint64_t)BLOCK_ROWS), (uint64_t)1);
    uint64_t got = 0;
    for (uint64_t at = 0; at < all; at += got) {
        HUB_TRY(hub_row_reader_rows(r, first, steps->column_count, at, HUB_MIN(all - at, most), &got, err));
        HUB_TRY(choose_of_block(steps, r, at, got, c, err));
    }
    for (uint32_t i = 1; i < r->count;
         i++) /* those of which nothing was chosen end where the one before does */
        c->ends[i] = HUB_MAX(c->ends[i], c->ends[i - 1]);
    return HUB_OK;
}

/* The reading takes what was chosen. */
static void take(struct hub_row_reader *r, struct choice *c)
{
    const struct choice before = {.runs = r->runs, .ends = r->ends};
    r->runs = c->runs;
    r->run_count = c->count;
    r->ends = c->ends;
    *c = before;
}

enum hub_status hub_step_where_choose(struct hub_step_where *steps, struct hub_request *request,
                                      struct hub_response *response, struct hub_row_reader *r,
                                      struct hub_error *err)
{
    HUB_CLEANUP(choice_dispose) struct choice choice = {.episode = HUB_NONE};
    if (!steps->where)
        return HUB_OK;
    choice.most = HUB_MIN(hub_row_reader_count(r), (uint64_t)MOST_RUNS);
    HUB_TRY(hub_budget_take(
        request->app->budget, request, response,
        choice.most * sizeof *choice.runs + r->count * sizeof *choice.ends + 2 * (uint64_t)BLOCK_BYTES, err));
    HUB_TRY(hub_new(&choice.runs, (size_t)choice.most + 1, sizeof *choice.runs, err));
    HUB_TRY(hub_new(&choice.ends, (size_t)r->count + 1, sizeof *choice.ends, err));
    for (uint32_t c = r->column_count - steps->column_count; c < r->column_count; c++) {
        const enum hub_status st = hub_row_reader_look(r, c, err);
        if (st && err)
            snprintf(err->parameter, sizeof err->parameter, "step_where");
        HUB_TRY(st);
    }
    HUB_TRY(check_shapes(steps, r, err));
    HUB_TRY(choose_all(steps, r, &choice, err));
    take(r, &choice);
    while (steps->column_count) {
        hub_row_reader_drop(r);
        steps->column_count--;
    }
    return HUB_OK;
}
