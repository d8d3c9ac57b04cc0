/* Numbers inside rows of JSON become fields once all episodes of a part were read: see json_rows.h. */
#include "storage/formats/kit/json_leaf.h"

#include <stdio.h>
#include <stdlib.h>

/* What the rows of all of them can be: the element of the first one where it is a bool, else the widest. */
static struct hub_variant common_of(const struct hub_json_rows *r, const struct hub_json_leaf *leaf)
{
    struct hub_variant common = leaf->run_count ? leaf->runs[0].variant : (struct hub_variant){0};
    bool floats = false, wide = false;
    for (uint32_t i = 0; i < leaf->run_count; i++) {
        floats |= leaf->runs[i].variant.kind == HUB_KIND_FLOAT;
        wide |= !r->narrow || leaf->runs[i].most > HUB_MOST_NARROW;
    }
    if (common.kind != HUB_KIND_BOOL && floats) {
        common.kind = HUB_KIND_FLOAT;
        common.item_size = wide ? 8 : 4;
    }
    return common;
}

/* Written again as wider numbers, or as floats. */
static enum hub_status widen(struct hub_json_rows *r, struct hub_json_run *run,
                             const struct hub_variant *common, struct hub_error *err)
{
    const struct hub_variant old = run->variant;
    const size_t items = (size_t)(run->rows * hub_variant_row_items(&old));
    HUB_CLEANUP(hub_freep) uint8_t *from = malloc(items * old.item_size + 1);
    HUB_CLEANUP(hub_freep) uint8_t *to = malloc(items * common->item_size + 1);
    size_t got;
    HUB_TRY(hub_allocated(from && to, err));
    HUB_TRY(hub_files_read(r->files, HUB_SIDE_FILE, run->offset, from, items * old.item_size, &got, err));
    if (got != items * old.item_size)
        return hub_fail(err, HUB_IO, "side data end too early");
    for (size_t i = 0; i < items; i++) {
        const double wide = hub_variant_scalar(&old, from + i * old.item_size).real;
        const float narrow = (float)wide;
        memcpy(to + i * common->item_size, common->item_size == 4 ? (const void *)&narrow : &wide,
               common->item_size);
    }
    run->variant.kind = common->kind;
    run->variant.item_size = common->item_size;
    return hub_files_side_add(r->files, to, items * common->item_size, &run->offset, err);
}

/* The runs that are of one element; the others are refused. */
static enum hub_status make_alike(struct hub_json_rows *r, struct hub_json_leaf *leaf,
                                  const struct hub_variant *common, struct hub_error *err)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < leaf->run_count; i++) {
        struct hub_json_run run = leaf->runs[i];
        struct hub_error why = {0};
        enum hub_status st = HUB_OK;
        if ((run.variant.kind == HUB_KIND_BOOL) != (common->kind == HUB_KIND_BOOL))
            st = hub_fail(&why, HUB_UNSUPPORTED, "type differs from other episodes");
        else if (run.variant.kind != common->kind || run.variant.item_size != common->item_size)
            st = widen(r, &run, common, &why);
        if (st && !hub_is_local(st))
            return hub_pass(st, &why, err);
        if (st)
            HUB_TRY(hub_json_leaf_refuse(leaf, run.episode, why.detail, err));
        else
            leaf->runs[kept++] = run;
    }
    leaf->run_count = kept;
    return HUB_OK;
}

static enum hub_status lay_out(const struct hub_json_leaf *leaf, struct hub_layout_builder *b,
                               struct hub_error *err)
{
    for (uint32_t i = 0; i < leaf->run_count; i++) {
        const struct hub_json_run *run = &leaf->runs[i];
        const struct hub_piece piece = {.kind = HUB_PIECE_STRIDED,
                                        .file = HUB_SIDE_FILE,
                                        .rows = run->rows,
                                        .offset = run->offset,
                                        .row_stride = (int64_t)hub_variant_row_bytes(&run->variant),
                                        .geometry = HUB_NONE};
        struct hub_window window = {.episode = run->episode, .count = run->rows};
        HUB_TRY(hub_layout_array_of(b, &run->variant, &window.array, err));
        HUB_TRY(hub_layout_piece(b, &piece, err));
        HUB_TRY(hub_layout_add_window(b, &window, err));
    }
    return HUB_OK;
}

static enum hub_status declare(struct hub_json_rows *r, const struct hub_json_column *column,
                               struct hub_json_leaf *leaf, struct hub_sink *sink, struct hub_error *err)
{
    char path[HUB_MAX_PATH + 1];
    struct hub_layout_builder *builder;
    struct hub_readings readings = {0};
    uint32_t number;
    const int size = snprintf(path, sizeof path, "%s/%s", column->path, leaf->path);
    if ((!leaf->run_count && !leaf->too_much) || size < 0 || (size_t)size >= sizeof path ||
        hub_sink_find_field(sink, hub_view_of(path)) != HUB_NONE)
        return HUB_OK;
    const struct hub_variant common = common_of(r, leaf);
    const bool flags = common.kind == HUB_KIND_BOOL;
    const struct hub_field field = {.path = hub_view_of(path),
                                    .type = flags ? HUB_FIELD_BOOL : HUB_FIELD_NUMBER,
                                    .role = column->role,
                                    .axis = column->axis};
    HUB_TRY(make_alike(r, leaf, &common, err));
    HUB_TRY(hub_sink_field(sink, &field, &number, err));
    HUB_TRY(hub_sink_layout(sink, number, &builder, err));
    HUB_TRY(lay_out(leaf, builder, err));
    readings.readable = leaf->run_count;
    for (uint32_t i = 0; i < leaf->refusal_count; i++) {
        hub_tally_add(&readings.unreadable, "%s", leaf->refusals[i].why);
        HUB_TRY(hub_sink_refuse(sink, number, leaf->refusals[i].episode, leaf->refusals[i].why, err));
    }
    return hub_readings_report(&readings, sink, field.path, "episodes", err);
}

enum hub_status hub_json_rows_finish(struct hub_json_rows *r, struct hub_sink *sink, struct hub_error *err)
{
    for (uint32_t c = 0; c < r->count; c++) {
        struct hub_json_column *column = &r->columns[c];
        for (uint32_t i = 0; i < column->count; i++)
            HUB_TRY(declare(r, column, &column->leaves[i], sink, err));
        if (column->full)
            HUB_TRY(hub_sink_problem(
                sink, "too-many-fields", hub_view_of(column->path), err,
                "its rows are objects with more than %u values: only the first numbers are fields",
                column->count));
    }
    return HUB_OK;
}
