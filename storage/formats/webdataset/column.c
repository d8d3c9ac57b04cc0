/* Columns of a tar shard, gathered member by member: see webdataset.h. A column is readable when every sample
 * has one value of it and all are of the same type and shape. */
#include "storage/formats/webdataset/webdataset.h"

#include <stdio.h>
#include <stdlib.h>

#define INLINE_BYTES 64 /* scalars up to this many bytes in all stay in the layout */

void hub_wds_spoil(struct hub_wds_column *column, const char *fmt, ...)
{
    va_list args;
    if (column->reason[0])
        return;
    va_start(args, fmt);
    vsnprintf(column->reason, sizeof column->reason, fmt, args);
    va_end(args);
}

static enum hub_status new_column(struct hub_wds_columns *c, struct hub_view path, struct hub_error *err)
{
    if (c->count == WDS_MAX_COLUMNS)
        return hub_fail(err, HUB_TOO_BIG, "more than %d fields in a shard", WDS_MAX_COLUMNS);
    HUB_TRY(hub_grow(&c->items, c->count, &c->capacity, sizeof *c->items, err));
    char *copy = hub_view_dup(path);
    HUB_TRY(hub_allocated(copy, err));
    c->items[c->count++] = (struct hub_wds_column){.path = copy};
    return HUB_OK;
}

/* The first run whose `at` lies behind. */
static uint32_t run_behind(const struct hub_wds_runs *runs, uint32_t at)
{
    const uint32_t next = at + 1;
    return hub_lower_bound(&next, runs->items, runs->count, sizeof *runs->items, hub_by_u32);
}

/* From this row on, it is `at`. */
static enum hub_status add_run(struct hub_wds_runs *runs, uint32_t row, uint32_t at, struct hub_error *err)
{
    HUB_TRY(hub_grow(&runs->items, runs->count, &runs->capacity, sizeof *runs->items, err));
    runs->items[runs->count++] = (struct hub_wds_run){at, row, false};
    return HUB_OK;
}

const struct hub_wds_column *hub_wds_find(struct hub_wds_columns *c, struct hub_view path)
{
    for (uint32_t i = 0; i < c->count; i++) {
        const uint32_t at = (c->hint + i) % c->count;
        if (!hub_view_is(path, c->items[at].path))
            continue;
        c->hint = at;
        return &c->items[at];
    }
    return NULL;
}

static enum hub_status find_column(struct hub_wds_columns *c, struct hub_view path, struct hub_error *err)
{
    if (hub_wds_find(c, path))
        return HUB_OK;
    HUB_TRY(new_column(c, path, err));
    c->hint = c->count - 1;
    return HUB_OK;
}

enum hub_status hub_wds_column(struct hub_wds_columns *c, struct hub_view path, uint32_t sample,
                               struct hub_wds_column **out, struct hub_error *err)
{
    HUB_TRY(find_column(c, path, err));
    *out = &c->items[c->hint];
    struct hub_wds_runs *seen = &(*out)->seen;
    if (seen->count == 0 || seen->items[seen->count - 1].at < sample)
        return add_run(seen, sample, sample + 1, err);
    seen->items[seen->count - 1].at = sample + 1;
    return HUB_OK;
}

static void shape_text(const struct hub_variant *v, char *out, size_t size)
{
    char name[24];
    hub_variant_name(v, HUB_FIELD_NUMBER, name);
    size_t n = (size_t)snprintf(out, size, "%s (", name);
    for (unsigned i = 0; i < v->rank && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%u", i ? ", " : "", v->dims[i]);
    if (n < size)
        snprintf(out + n, size - n, ")");
}

/* Texts among bytes are bytes; everything else must be alike. */
static bool alike(struct hub_wds_column *column, const struct hub_wds_value *value)
{
    struct hub_wds_value *first = &column->sample;
    if (!hub_variant_equal(&first->variant, &value->variant) || first->held != value->held)
        return false;
    if (first->type != value->type && first->variant.kind == HUB_KIND_VAR)
        first->type = HUB_FIELD_BYTES;
    return first->variant.kind == HUB_KIND_VAR || first->type == value->type;
}

/* The sample behind the last one that has a value. */
static uint32_t next_sample(const struct hub_wds_column *column)
{
    if (column->samples.count == 0)
        return 0;
    const struct hub_wds_run *last = &column->samples.items[column->samples.count - 1];
    return last->at + (column->rows - last->row);
}

static bool acceptable(struct hub_wds_column *column, const struct hub_wds_value *value)
{
    char a[80], b[80];
    if (!value->held && value->size > GIB) {
        hub_wds_spoil(column, "a value of more than 1 GiB");
        return false;
    }
    if (column->rows == 0)
        column->sample = *value;
    if (alike(column, value))
        return true;
    shape_text(&column->sample.variant, a, sizeof a);
    shape_text(&value->variant, b, sizeof b);
    hub_wds_spoil(column, "samples differ: %s and %s", a, b);
    return false;
}

enum hub_status hub_wds_give(struct hub_wds_columns *c, struct hub_wds_column *column, uint32_t sample,
                             const struct hub_wds_value *value, struct hub_error *err)
{
    if ((column->rows && sample < next_sample(column)) || !acceptable(column, value))
        return HUB_OK;
    if (++c->values > WDS_MAX_VALUES)
        return hub_fail(err, HUB_TOO_BIG, "more than %d values in a shard", WDS_MAX_VALUES);
    HUB_TRY(column->sample.held
                ? hub_grow(&column->scalars, column->rows, &column->capacity, value->variant.item_size, err)
                : hub_grow(&column->extents, column->rows, &column->capacity, sizeof *column->extents, err));
    if (column->rows == 0 || sample != next_sample(column))
        HUB_TRY(add_run(&column->samples, column->rows, sample, err));
    if (value->held) {
        memcpy(column->scalars + (size_t)column->rows * value->variant.item_size, value->scalar,
               value->variant.item_size);
    } else {
        const struct hub_wds_run *last =
            column->files.count ? &column->files.items[column->files.count - 1] : NULL;
        if (!last || last->at != value->file || last->fortran != value->fortran) {
            HUB_TRY(add_run(&column->files, column->rows, value->file, err));
            column->files.items[column->files.count - 1].fortran = value->fortran;
        }
        column->extents[column->rows] = (struct hub_extent){value->offset, (uint32_t)value->size, 0};
    }
    column->rows++;
    return HUB_OK;
}

bool hub_wds_has(const struct hub_wds_column *column, uint32_t first, uint32_t count, uint32_t *row)
{
    const uint32_t behind = run_behind(&column->samples, first);
    if (behind == 0)
        return false;
    /* begins at or before the first sample */
    const struct hub_wds_run *run = &column->samples.items[behind - 1];
    const uint32_t end = behind < column->samples.count ? run[1].row : column->rows;
    const uint64_t skip = first - run->at;
    if (skip + count > end - run->row)
        return false;
    *row = run->row + (uint32_t)skip;
    return true;
}

/* Does any of these samples have a value, be it one that cannot be read? */
static bool seen_in(const struct hub_wds_column *column, const struct hub_wds_window *window)
{
    const uint32_t at = run_behind(&column->seen, window->first); /* ends behind the window's begin */
    return at < column->seen.count && column->seen.items[at].row < window->first + window->count;
}

double hub_wds_number(const struct hub_wds_column *column, uint32_t sample)
{
    const struct hub_variant *v = &column->sample.variant;
    uint32_t row;
    if (!column->sample.held || v->item_size > 8 || !hub_wds_has(column, sample, 1, &row))
        return 0;
    return hub_variant_scalar(v, column->scalars + (size_t)row * v->item_size).real;
}

static void trim(struct hub_wds_column *column, uint32_t samples)
{
    struct hub_wds_runs *runs = &column->samples, *files = &column->files;
    while (runs->count && runs->items[runs->count - 1].at >= samples)
        column->rows = runs->items[--runs->count].row;
    if (runs->count) {
        const struct hub_wds_run *last = &runs->items[runs->count - 1];
        column->rows = HUB_MIN(column->rows, last->row + (samples - last->at));
    }
    while (files->count && files->items[files->count - 1].row >= column->rows)
        files->count--;
}

void hub_wds_trim(struct hub_wds_columns *c, uint32_t samples)
{
    for (uint32_t i = 0; i < c->count; i++)
        trim(&c->items[i], samples);
}

/* ---- reporting ---- */

static enum hub_status add_scalars(struct hub_layout_builder *b, struct hub_wds_column *column,
                                   struct hub_files *files, struct hub_error *err)
{
    const uint32_t item = column->sample.variant.item_size;
    const size_t size = (size_t)column->rows * item;
    struct hub_piece piece = {.kind = HUB_PIECE_STRIDED,
                              .file = HUB_SIDE_FILE,
                              .rows = column->rows,
                              .row_stride = item,
                              .geometry = HUB_NONE};
    if (size > INLINE_BYTES) {
        HUB_TRY(hub_files_side_add(files, column->scalars, size, &piece.offset, err));
        return hub_layout_piece(b, &piece, err);
    }
    uint32_t at;
    HUB_TRY(hub_layout_bytes(b, column->scalars, (uint32_t)size, &at, err));
    piece = (struct hub_piece){
        .kind = HUB_PIECE_INLINE, .file = HUB_NONE, .rows = column->rows, .offset = at, .geometry = HUB_NONE};
    return hub_layout_piece(b, &piece, err);
}

/* Rows in Fortran order: as many as follow each other at one distance are a piece. */
static enum hub_status add_strided(struct hub_layout_builder *b, const struct hub_wds_column *column,
                                   uint32_t file, uint32_t from, uint32_t to, struct hub_error *err)
{
    const struct hub_variant *v = &column->sample.variant;
    int64_t strides[HUB_MAX_RANK], stride = v->item_size;
    struct hub_piece piece = {.kind = HUB_PIECE_STRIDED, .file = file};
    for (uint32_t i = 0; i < v->rank; stride *= v->dims[i++])
        strides[i] = stride;
    HUB_TRY(hub_layout_strides(b, strides, v->rank, &piece.geometry, err));
    while (from < to) {
        const struct hub_extent *e = &column->extents[from];
        const uint64_t step = to - from > 1 ? e[1].offset - e->offset : (uint64_t)stride;
        piece.rows = 1;
        while (from + piece.rows < to && e[piece.rows].offset - e[piece.rows - 1].offset == step)
            piece.rows++;
        piece.offset = e->offset;
        piece.row_stride = (int64_t)step;
        HUB_TRY(hub_layout_piece(b, &piece, err));
        from += (uint32_t)piece.rows;
    }
    return HUB_OK;
}

static enum hub_status add_extents(struct hub_layout_builder *b, const struct hub_wds_column *column,
                                   struct hub_error *err)
{
    uint32_t first;
    HUB_TRY(hub_layout_extents(b, column->extents, column->rows, &first, err));
    for (uint32_t i = 0; i < column->files.count; i++) {
        const struct hub_wds_run *run = &column->files.items[i];
        const uint32_t from = run->row, to = i + 1 < column->files.count ? run[1].row : column->rows;
        const struct hub_piece piece = {.kind = HUB_PIECE_EXTENTS,
                                        .file = run->at,
                                        .rows = to - from,
                                        .table = first + from,
                                        .count = to - from,
                                        .geometry = HUB_NONE};
        HUB_TRY(run->fortran ? add_strided(b, column, run->at, from, to, err)
                             : hub_layout_piece(b, &piece, err));
    }
    return HUB_OK;
}

/* HUB_TOO_BIG: there is no room for them. */
static enum hub_status add_array(struct hub_wds_column *column, struct hub_files *files,
                                 struct hub_layout_builder *b, uint32_t *array, struct hub_error *err)
{
    HUB_TRY(hub_layout_array_of(b, &column->sample.variant, array, err));
    return column->sample.held ? add_scalars(b, column, files, err) : add_extents(b, column, err);
}

static enum hub_status add_windows(struct hub_wds_column *column, uint32_t field, struct hub_files *files,
                                   struct hub_sink *sink, const struct hub_wds_windows *windows,
                                   struct hub_error *err)
{
    struct hub_layout_builder *b;
    struct hub_error why = {0};
    uint32_t array = 0, row;
    HUB_TRY(hub_sink_layout(sink, field, &b, err));
    const enum hub_status st = column->rows ? add_array(column, files, b, &array, &why) : HUB_OK;
    if (st && st != HUB_TOO_BIG)
        return hub_pass(st, &why, err);
    for (uint32_t i = 0; i < windows->count; i++) {
        if (!st && hub_wds_has(column, windows->items[i].first, windows->items[i].count, &row))
            HUB_TRY(hub_layout_add_window(
                b, &(struct hub_window){windows->items[i].episode, array, row, windows->items[i].count},
                err));
        else if (seen_in(column, &windows->items[i]))
            HUB_TRY(hub_sink_refuse(sink, field, windows->items[i].episode, st ? why.detail : column->reason,
                                    err));
    }
    return HUB_OK;
}

static enum hub_status finish_column(struct hub_wds_column *column, struct hub_files *files,
                                     struct hub_sink *sink, const struct hub_wds_windows *windows,
                                     struct hub_error *err)
{
    const struct hub_view path = hub_view_of(column->path);
    struct hub_field f = {
        .path = path, .type = column->sample.type, .role = hub_role_of(path), .axis = windows->axis};
    f.type = hub_column_type(f.type, &column->sample.variant, path, f.role == HUB_ROLE_OBSERVATION);
    uint32_t field, row, whole = 0;
    bool seen = false;
    if (hub_sink_find_field(sink, path) != HUB_NONE)
        return hub_sink_problem(
            sink, "repeated-field", path, err,
            "demonstrations have a field of this name: members of that name are not shown");
    for (uint32_t i = 0; i < windows->count; i++) {
        whole += hub_wds_has(column, windows->items[i].first, windows->items[i].count, &row);
        seen = seen || seen_in(column, &windows->items[i]);
    }
    if (whole < windows->count)
        hub_wds_spoil(column, "only %u of %u samples have it", column->rows, windows->samples);
    if (!f.type)
        f.type = HUB_FIELD_OPAQUE;
    HUB_TRY(hub_sink_field(sink, &f, &field, err));
    if (whole < windows->count && (whole || !seen)) /* else it cannot be read at all, which is reported */
        HUB_TRY(hub_sink_problem(sink, "uneven-field", path, err, "not in %u of %u episodes: %s",
                                 windows->count - whole, windows->count, column->reason));
    return add_windows(column, field, files, sink, windows, err);
}

enum hub_status hub_wds_finish(struct hub_wds_columns *c, struct hub_files *files, struct hub_sink *sink,
                               const struct hub_wds_windows *windows, struct hub_error *err)
{
    for (uint32_t i = 0; i < c->count; i++)
        HUB_TRY(finish_column(&c->items[i], files, sink, windows, err));
    return HUB_OK;
}

void hub_wds_dispose(struct hub_wds_columns *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        free(c->items[i].path);
        free(c->items[i].extents);
        free(c->items[i].samples.items);
        free(c->items[i].seen.items);
        free(c->items[i].files.items);
        free(c->items[i].scalars);
    }
    free(c->items);
}
