/* Rows of fields of one episode: see rows.h. */
#include "storage/rows/rows.h"

#include "storage/rows/open.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Chunks, extents or pages that may be looked at on an event thread: some 50 us. */
enum { INLINE_STEPS = 2048 };

void hub_selection_dispose(struct hub_selection *s)
{
    hub_plan_files_dispose(&s->files);
    hub_wants_dispose(&s->wants);
    hub_fetch_put(s->fetch);
    for (uint32_t i = 0; i < s->count; i++)
        hub_layout_put(s->fields[i].layout);
    free(s->fields);
    *s = (struct hub_selection){0};
}

static enum hub_status one_row(const struct hub_row_range *range, uint64_t rows, struct hub_slice *out,
                               struct hub_error *err)
{
    const int64_t row = range->row < 0 ? range->row + (int64_t)rows : range->row;
    char value[24];
    snprintf(value, sizeof value, "%" PRId64, range->row);
    if (row < 0 || (uint64_t)row >= rows)
        return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_SLICE, "row", value,
                              "row %s is out of range: there are %" PRIu64 " rows", value, rows);
    *out = (struct hub_slice){(uint64_t)row, 1, 1};
    return HUB_OK;
}

/* A field of shape () has nothing to cut. */
static enum hub_status whole_value(const struct hub_row_range *range, struct hub_slice *out,
                                   struct hub_error *err)
{
    const bool cut = range->has_row || range->has_start || range->has_stop || range->has_step;
    if (cut && !range->of_several)
        return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_SLICE,
                              range->has_row     ? "row"
                              : range->has_start ? "start"
                              : range->has_stop  ? "stop"
                                                 : "step",
                              "", "this field is a single value: leave out start, stop, step and row");
    *out = (struct hub_slice){0, 1, 1};
    return HUB_OK;
}

/* Steps -> rows of one field. `state` rows precede their action, `shifted` rows follow it. */
static enum hub_status cut(const struct hub_row_range *range, enum hub_axis axis, uint64_t steps,
                           uint64_t rows, struct hub_slice *out, struct hub_error *err)
{
    const int64_t *start = range->has_start ? &range->start : NULL,
                  *stop = range->has_stop ? &range->stop : NULL;
    const int64_t *step = range->has_step ? &range->step : NULL;
    if (range->has_row)
        return one_row(range, rows, out, err);
    if (!range->by_steps || axis == HUB_AXIS_NONE)
        return range->by_steps ? hub_slice_resolve(NULL, NULL, NULL, rows, out, err)
                               : hub_slice_resolve(start, stop, step, rows, out, err);
    HUB_TRY(hub_slice_resolve(start, stop, step, steps, out, err));
    if (axis == HUB_AXIS_SHIFTED)
        out->start++;
    if (axis == HUB_AXIS_STATE && range->final_row && out->step > 0 && out->count)
        out->count++;
    hub_slice_within(out, rows); /* a field may be shorter than its episode */
    return HUB_OK;
}

/* A last action that only says that the policy is done is no step to learn from. */
static uint64_t steps_of(const struct hub_selection *s, const struct hub_row_range *range)
{
    bool shifted = false;
    for (uint32_t i = 0; range->drop_sentinel && i < s->dataset->field_count; i++)
        shifted |= s->dataset->fields[i].axis == HUB_AXIS_SHIFTED;
    return s->episode->steps - (shifted && s->episode->steps);
}

static enum hub_status select_field(const struct hub_rows_context *context, struct hub_selection *s,
                                    uint32_t field, const struct hub_row_range *range, struct hub_error *err)
{
    const struct hub_dataset_field *f = &s->dataset->fields[field];
    struct hub_selected_field *selected = &s->fields[s->count];
    selected->field = field;
    HUB_TRY(hub_layout_get(context->catalog, s->dataset, s->episode->part, field, context->may_block,
                           &selected->layout, err));
    s->count++;
    const struct hub_layout *layout = hub_layout_of(selected->layout);
    const struct hub_window *window;
    HUB_TRY(hub_layout_find(selected->layout, s->episode, &window, err));
    struct hub_plan *plan = &selected->plan;
    plan->layout = layout;
    plan->array = &layout->arrays[window->array];
    const bool scalar = plan->array->flags & HUB_ARRAY_SCALAR;
    HUB_TRY(scalar ? whole_value(range, &selected->slice, err)
                   : cut(range, f->axis, steps_of(s, range), window->count, &selected->slice, err));
    selected->bare = range->has_row || scalar;
    plan->variant = &layout->variants[plan->array->variant];
    plan->slice = selected->slice;
    plan->slice.start += window->first;
    return HUB_OK;
}

enum hub_status hub_select(const struct hub_rows_context *context, const struct hub_row_query *query,
                           struct hub_selection *out, struct hub_error *err)
{
    const uint32_t count = query->count;
    if (count > HUB_MAX_SELECTED)
        return hub_fail(err, HUB_TOO_BIG, "%u fields at once; at most %d", count, HUB_MAX_SELECTED);
    HUB_CLEANUP(hub_selection_dispose)
    struct hub_selection s = {.dataset = query->dataset, .episode = query->episode};
    HUB_TRY(hub_new(&s.fields, count, sizeof *s.fields, err));
    for (uint32_t i = 0; i < count; i++)
        HUB_TRY(select_field(context, &s, query->fields[i], query->range, err));
    *out = s;
    s = (struct hub_selection){0};
    return HUB_OK;
}

enum hub_status hub_selection_price(const struct hub_rows_context *context, struct hub_selection *s,
                                    struct hub_error *err)
{
    uint64_t steps = 0;
    s->bytes_out = s->scratch = s->cost_us = s->wants.count = 0;
    s->files.wants = hub_store_in_place() ? NULL : &s->wants;
    for (uint32_t i = 0; i < s->count; i++) {
        struct hub_plan *plan = &s->fields[i].plan;
        plan->files = &s->files;
        plan->step_limit = context->may_block ? 0 : INLINE_STEPS + 1 - steps;
        HUB_TRY(hub_plan_price(plan, err));
        steps += plan->steps;
        s->bytes_out += plan->bytes_out;
        s->scratch = HUB_MAX(s->scratch, plan->scratch_peak);
        s->cost_us += plan->cost_us;
    }
    s->bytes_fetched = s->wants.count ? hub_wants_join(&s->wants) : 0;
    return HUB_OK;
}

enum hub_status hub_rows_open(const struct hub_rows_context *context, const struct hub_dataset *dataset,
                              uint32_t part, struct hub_plan_files *files, struct hub_error *err)
{
    for (uint32_t i = 0; i < files->count; i++) {
        struct hub_plan_file *file = &files->items[i];
        if (file->file)
            continue;
        HUB_TRY(file->number == HUB_SIDE_FILE
                    ? hub_side_open(context, dataset, &dataset->parts[part], &file->file, err)
                    : hub_files_open(context, dataset, &dataset->files[file->number], &file->file, err));
    }
    return HUB_OK;
}

enum hub_status hub_selection_open(const struct hub_rows_context *context, struct hub_selection *s,
                                   struct hub_error *err)
{
    return hub_rows_open(context, s->dataset, s->episode->part, &s->files, err);
}

enum hub_status hub_selection_fetch(struct hub_selection *s, struct hub_error *err)
{
    enum hub_status st;
    if (!s->wants.count)
        return HUB_OK;
    for (uint32_t i = 0; i < s->wants.count; i++)
        s->wants.items[i].file = hub_plan_files_get(&s->files, s->wants.items[i].number);
    if (s->fetch)
        st = hub_fetch_result(s->fetch, err);
    else
        st = hub_fetch_start(&s->wants, &s->fetch, err);
    s->files.fetch = s->fetch;
    return st;
}

enum hub_status hub_selection_read(const struct hub_rows_context *context,
                                   const struct hub_selection *selection,
                                   const struct hub_selected_field *selected, void *into,
                                   struct hub_rows *rows, struct hub_error *err)
{
    const enum hub_status st = hub_read(&selected->plan, context->may_block ? 0 : HUB_READ_NOWAIT,
                                        context->parallel, into, rows, err);
    if (st != HUB_CORRUPT)
        return st;
    const struct hub_error why = *err;
    /* short because it was cut meanwhile? */
    if (hub_selection_unchanged(context, selection, err))
        return HUB_CHANGED;
    return why.problem
               ? st
               : hub_fail_as(err, st, HUB_PROBLEM_FIELD_UNREADABLE, "rows of '%.200s' cannot be read: %s",
                             selection->dataset->fields[selected->field].path, why.detail);
}

enum hub_status hub_selection_unchanged(const struct hub_rows_context *context,
                                        const struct hub_selection *selection, struct hub_error *err)
{
    for (uint32_t i = 0; i < selection->files.count; i++)
        if (hub_file_unchanged(selection->files.items[i].file, NULL))
            return hub_rows_changed(context, selection->dataset->summary, err);
    return HUB_OK;
}
