/* Numbers inside rows of JSON, as fields of their own: see json_rows.h. */
#include "storage/formats/kit/json_leaf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_EPISODE_BYTES (256 * MIB) /* of the numbers inside the rows of one field */

static struct hub_json_column *current(const struct hub_json_rows *r)
{
    return &r->columns[r->current];
}

static void forget_episode(struct hub_json_leaf *leaf)
{
    free(leaf->items);
    leaf->items = NULL;
    leaf->seen = leaf->inner = false;
    leaf->filled = 0;
    leaf->why[0] = '\0';
}

void hub_json_rows_dispose(struct hub_json_rows *r)
{
    for (uint32_t c = 0; c < r->count; c++) {
        struct hub_json_column *column = &r->columns[c];
        for (uint32_t i = 0; i < column->count; i++) {
            forget_episode(&column->leaves[i]);
            free(column->leaves[i].path);
            free(column->leaves[i].runs);
            free(column->leaves[i].refusals);
        }
        free(column->leaves);
        free(column->path);
    }
    free(r->columns);
    free(r->value);
}

/* ---- one row ---- */

/* NULL: there are too many. */
static enum hub_status find_leaf(struct hub_json_rows *r, struct hub_view path, struct hub_json_leaf **out,
                                 struct hub_error *err)
{
    struct hub_json_column *column = current(r);
    *out = NULL;
    for (uint32_t i = 0; i < column->count; i++) {
        const uint32_t at = (column->next + i) % column->count;
        if (!hub_view_is(path, column->leaves[at].path))
            continue;
        column->next = at + 1;
        *out = &column->leaves[at];
        return HUB_OK;
    }
    if (column->count == HUB_JSON_ROWS_VALUES || r->leaf_count == HUB_JSON_ROWS_VALUES_ALL) {
        column->full = true;
        return HUB_OK;
    }
    HUB_TRY(hub_grow(&column->leaves, column->count, &column->capacity, sizeof *column->leaves, err));
    struct hub_json_leaf *leaf = &column->leaves[column->count];
    *leaf = (struct hub_json_leaf){.path = hub_view_dup(path)};
    HUB_TRY(hub_allocated(leaf->path, err));
    column->count++;
    r->leaf_count++;
    *out = leaf;
    return HUB_OK;
}

static void refuse(struct hub_json_leaf *leaf, const char *what, uint64_t row)
{
    if (!leaf->why[0])
        snprintf(leaf->why, sizeof leaf->why, "%s at row %llu", what, (unsigned long long)row);
}

static void to_floats(struct hub_json_leaf *leaf)
{
    const uint64_t items = leaf->filled * leaf->count;
    for (uint64_t i = 0; leaf->kind == HUB_JSON_INTEGERS && i < items; i++)
        hub_json_item_to_real(&leaf->items[i]);
    leaf->kind = HUB_JSON_FLOATS;
}

/* Rows up to this one have no value. */
static void fill_missing(struct hub_json_leaf *leaf, uint64_t row)
{
    if (leaf->filled == row || leaf->why[0])
        return;
    if (leaf->kind == HUB_JSON_BOOLS) {
        refuse(leaf, "no value", leaf->filled);
        return;
    }
    to_floats(leaf);
    for (uint64_t i = leaf->filled * leaf->count; i < row * leaf->count; i++)
        leaf->items[i].real = NAN;
    leaf->filled = row;
}

/* The first value in an episode says what all of them are. */
static enum hub_status begin_leaf(struct hub_json_rows *r, struct hub_json_leaf *leaf,
                                  const struct hub_json_value *v, struct hub_error *err)
{
    const uint64_t bytes = r->rows * v->count * sizeof *leaf->items;
    leaf->seen = true;
    leaf->kind = v->kind;
    leaf->rank = v->rank;
    leaf->count = v->count;
    memcpy(leaf->dims, v->dims, v->rank * sizeof *v->dims);
    if (v->kind == HUB_JSON_NO_NUMBERS)
        return HUB_OK;
    if (r->rows > MAX_EPISODE_BYTES || bytes > MAX_EPISODE_BYTES - r->bytes) {
        leaf->too_much = true;
        snprintf(leaf->why, sizeof leaf->why, "more than %zu MiB of numbers", MAX_EPISODE_BYTES / MIB);
        return HUB_OK;
    }
    r->bytes += bytes;
    return hub_new(&leaf->items, (size_t)(r->rows * v->count), sizeof *leaf->items, err);
}

static void append(struct hub_json_leaf *leaf, const struct hub_json_value *v)
{
    if (v->kind == HUB_JSON_FLOATS)
        to_floats(leaf);
    for (uint32_t i = 0; i < v->count; i++) {
        union hub_json_item item = v->items[i];
        if (leaf->kind == HUB_JSON_FLOATS && v->kind == HUB_JSON_INTEGERS)
            hub_json_item_to_real(&item);
        leaf->items[leaf->filled * leaf->count + i] = item;
    }
    leaf->filled++;
}

static bool is_number(enum hub_json_number kind)
{
    return kind == HUB_JSON_INTEGERS || kind == HUB_JSON_FLOATS;
}

static enum hub_status take_value(void *user, const struct hub_json_value *v, struct hub_error *err)
{
    struct hub_json_rows *r = user;
    struct hub_json_leaf *leaf;
    HUB_TRY(find_leaf(r, v->path, &leaf, err));
    if (!leaf)
        return HUB_OK;
    leaf->inner |= r->rows < 3 || (r->row > 0 && r->row + 1 < r->rows);
    if (leaf->why[0])
        return HUB_OK;
    leaf->filled = HUB_MIN(leaf->filled, r->row); /* the last of equal keys counts */
    if (!leaf->seen)
        HUB_TRY(begin_leaf(r, leaf, v, err));
    if (leaf->kind != v->kind && !(is_number(leaf->kind) && is_number(v->kind)))
        refuse(leaf, "type differs", r->row);
    else if (leaf->kind != HUB_JSON_NO_NUMBERS &&
             (leaf->rank != v->rank || memcmp(leaf->dims, v->dims, v->rank * sizeof *v->dims) != 0))
        refuse(leaf, "shape differs", r->row);
    if (leaf->kind == HUB_JSON_NO_NUMBERS)
        return HUB_OK;
    fill_missing(leaf, r->row);
    if (!leaf->why[0])
        append(leaf, v);
    return HUB_OK;
}

/* ---- the rows of an episode ---- */

static enum hub_status find_column(struct hub_json_rows *r, struct hub_view path, struct hub_error *err)
{
    for (uint32_t i = 0; i < r->count; i++) {
        r->current = (r->current + 1) % r->count; /* they come in the same order again and again */
        if (hub_view_is(path, current(r)->path))
            return HUB_OK;
    }
    HUB_TRY(hub_grow(&r->columns, r->count, &r->capacity, sizeof *r->columns, err));
    struct hub_json_column *column = &r->columns[r->count];
    *column = (struct hub_json_column){.path = hub_view_dup(path)};
    HUB_TRY(hub_allocated(column->path, err));
    r->current = r->count++;
    return HUB_OK;
}

enum hub_status hub_json_rows_begin(struct hub_json_rows *r, const struct hub_field *field, uint32_t episode,
                                    uint64_t rows, struct hub_error *err)
{
    HUB_TRY(find_column(r, field->path, err));
    current(r)->role = field->role;
    current(r)->axis = field->axis;
    r->episode = episode;
    r->rows = rows;
    r->row = r->bytes = 0;
    return r->value ? HUB_OK : hub_new(&r->value, 1, sizeof *r->value, err);
}

enum hub_status hub_json_rows_take(struct hub_json_rows *r, struct hub_view text, struct hub_error *err)
{
    current(r)->next = 0;
    HUB_TRY(hub_json_numbers(text, r->value, take_value, r, err));
    r->row++;
    return HUB_OK;
}

void hub_json_rows_drop(struct hub_json_rows *r)
{
    for (uint32_t i = 0; i < current(r)->count; i++)
        forget_episode(&current(r)->leaves[i]);
}

/* ---- to the side data ---- */

static double most_of(const struct hub_json_leaf *leaf)
{
    double most = 0;
    for (uint64_t i = 0; i < leaf->filled * leaf->count; i++) {
        const double size =
            fabs(leaf->kind == HUB_JSON_FLOATS ? leaf->items[i].real : (double)leaf->items[i].integer);
        most = isfinite(size) && size > most ? size : most;
    }
    return most;
}

/* Narrower items are put at the beginning of the memory that they are in. */
static void pack(struct hub_json_leaf *leaf, uint32_t width)
{
    uint8_t *to = (uint8_t *)leaf->items;
    for (uint64_t i = 0; width < sizeof *leaf->items && i < leaf->filled * leaf->count; i++, to += width) {
        const union hub_json_item item = leaf->items[i];
        const float real = width == sizeof real ? (float)item.real : 0;
        const uint8_t flag = item.integer != 0;
        memcpy(to, width == sizeof real ? (const void *)&real : &flag, width);
    }
}

/* A failure to write is this episode's, and `why`. */
static enum hub_status write_run(struct hub_json_rows *r, struct hub_json_leaf *leaf, struct hub_error *err)
{
    static const uint8_t kinds[] = {[HUB_JSON_BOOLS] = HUB_KIND_BOOL,
                                    [HUB_JSON_INTEGERS] = HUB_KIND_INT,
                                    [HUB_JSON_FLOATS] = HUB_KIND_FLOAT};
    struct hub_json_run run = {.episode = r->episode, .rows = r->rows, .most = most_of(leaf)};
    const bool narrow = leaf->kind == HUB_JSON_FLOATS && r->narrow && run.most <= HUB_MOST_NARROW;
    struct hub_error why = {0};
    run.variant = (struct hub_variant){.kind = kinds[leaf->kind],
                                       .rank = (uint8_t)leaf->rank,
                                       .item_size = leaf->kind == HUB_JSON_BOOLS ? 1
                                                    : narrow                     ? 4
                                                                                 : 8};
    memcpy(run.variant.dims, leaf->dims, leaf->rank * sizeof *leaf->dims);
    pack(leaf, run.variant.item_size);
    const enum hub_status st = hub_files_side_add(
        r->files, leaf->items, (size_t)(run.rows * hub_variant_row_bytes(&run.variant)), &run.offset, &why);
    if (st && !hub_is_local(st))
        return hub_pass(st, &why, err);
    if (st) {
        leaf->too_much = true;
        snprintf(leaf->why, sizeof leaf->why, "%.40s", why.detail);
        return HUB_OK;
    }
    HUB_TRY(hub_grow(&leaf->runs, leaf->run_count, &leaf->run_capacity, sizeof *leaf->runs, err));
    leaf->runs[leaf->run_count++] = run;
    return HUB_OK;
}

enum hub_status hub_json_leaf_refuse(struct hub_json_leaf *leaf, uint32_t episode, const char *why,
                                     struct hub_error *err)
{
    HUB_TRY(
        hub_grow(&leaf->refusals, leaf->refusal_count, &leaf->refusal_capacity, sizeof *leaf->refusals, err));
    struct hub_json_refusal *refusal = &leaf->refusals[leaf->refusal_count++];
    refusal->episode = episode;
    snprintf(refusal->why, sizeof refusal->why, "%.*s", (int)sizeof refusal->why - 1, why);
    return HUB_OK;
}

enum hub_status hub_json_rows_end(struct hub_json_rows *r, struct hub_error *err)
{
    enum hub_status st = HUB_OK;
    for (uint32_t i = 0; !st && i < current(r)->count; i++) {
        struct hub_json_leaf *leaf = &current(r)->leaves[i];
        if (!leaf->seen || !leaf->inner)
            continue;
        const bool numbers = leaf->kind != HUB_JSON_NO_NUMBERS;
        if (numbers)
            fill_missing(leaf, r->rows);
        if (numbers && !leaf->why[0])
            st = write_run(r, leaf, err);
        if (!st && leaf->why[0])
            st = hub_json_leaf_refuse(leaf, r->episode, leaf->why, err);
    }
    hub_json_rows_drop(r);
    return st;
}
