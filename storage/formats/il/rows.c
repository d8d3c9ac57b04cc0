/* Values of a pickle as rows of a field: arrays where they lie, numbers gathered in side data. */
#include "storage/formats/il/il.h"
#include "storage/model/dtype.h"

#include <stdlib.h>

enum { SCALAR_BYTES = 16, MAX_ROWS = 4000000 };

/* ---- items ---- */

/* The container whose items are the rows: of an array of objects its list. */
static const struct hub_pickle_value *items_of(const struct hub_pickle *p, uint32_t value)
{
    const struct hub_pickle_value *v = hub_pickle_at(p, value);
    if (v && v->kind == HUB_PICKLE_ARRAY)
        v = hub_pickle_at(p, v->b);
    return v && (v->kind == HUB_PICKLE_LIST || v->kind == HUB_PICKLE_TUPLE) ? v : NULL;
}

bool il_rows_of(const struct hub_pickle *p, uint32_t value, struct il_rows *out)
{
    struct hub_pickle_data data;
    const struct hub_pickle_value *items = items_of(p, value);
    *out = (struct il_rows){.value = value};
    if (items)
        out->count = items->count;
    else if (!hub_pickle_array(p, value, &data, NULL) && data.variant.rank)
        out->count = data.variant.dims[0];
    else
        return false;
    return out->count <= MAX_ROWS;
}

/* The items of a window in their order, down to the member that is meant. */
struct item_cursor {
    const struct hub_pickle *p;
    const struct il_rows *rows;
    uint32_t cell;
};

static struct item_cursor items_from(const struct hub_pickle *p, struct il_rows *rows, uint64_t first)
{
    uint32_t value;
    if (first < rows->at || rows->at == 0) {
        rows->at = 0;
        rows->cell = items_of(p, rows->value)->first;
    }
    while (rows->at < first && hub_pickle_next(p, &rows->cell, &value))
        rows->at++;
    return (struct item_cursor){p, rows, rows->cell};
}

static uint32_t next_item(struct item_cursor *c)
{
    uint32_t value = HUB_PICKLE_NONE;
    if (!hub_pickle_next(c->p, &c->cell, &value))
        return HUB_PICKLE_NONE;
    for (uint32_t i = 0; i < c->rows->key_count; i++)
        value = hub_pickle_get(c->p, value, c->rows->keys[i]);
    return value;
}

/* ---- one item as a row ---- */

struct object_item {
    struct hub_pickle_data data;
    bool held; /* a plain number, not an array: its bytes */
    uint8_t bytes[8];
};

static void hold(struct object_item *out, enum hub_kind kind, uint32_t size, const void *bytes)
{
    out->held = true;
    out->data.variant = (struct hub_variant){.kind = (uint8_t)kind, .item_size = size};
    memcpy(out->bytes, bytes, size);
}

static enum hub_status item_of(const struct hub_pickle *p, uint32_t value, struct object_item *out,
                               struct hub_error *err)
{
    const struct hub_pickle_value *v = hub_pickle_at(p, value);
    *out = (struct object_item){0};
    if (!v)
        return hub_fail(err, HUB_UNSUPPORTED, "not every step has it");
    const uint8_t truth = v->integer != 0;
    if (v->kind == HUB_PICKLE_BOOL)
        hold(out, HUB_KIND_BOOL, 1, &truth);
    else if (v->kind == HUB_PICKLE_INT && v->known)
        hold(out, HUB_KIND_INT, 8, &v->integer);
    else if (v->kind == HUB_PICKLE_FLOAT)
        hold(out, HUB_KIND_FLOAT, 8, &v->real);
    else if (v->kind != HUB_PICKLE_ARRAY && v->kind != HUB_PICKLE_SCALAR)
        return hub_fail(err, HUB_UNSUPPORTED, "%s", hub_pickle_what(v));
    else
        return hub_pickle_array(p, value, &out->data, err);
    return HUB_OK;
}

static enum hub_status copy_item(struct il_file *f, const struct object_item *item, uint8_t *out,
                                 struct hub_error *err)
{
    if (!item->held)
        return hub_pickle_copy(&f->source, &item->data, out, err);
    memcpy(out, item->bytes, item->data.variant.item_size);
    return HUB_OK;
}

/* ---- rows as a piece ---- */

struct rows_layout {
    struct hub_variant variant;
    struct hub_piece piece;
    struct hub_extent *extents; /* of a piece of extents: put into the layout with it */
};

static void drop_extents(struct rows_layout *p)
{
    free(p->extents);
}

static enum hub_status add_side(struct il_file *f, const void *bytes, size_t size, struct rows_layout *out,
                                struct hub_error *err)
{
    out->piece.kind = HUB_PIECE_STRIDED;
    out->piece.file = HUB_SIDE_FILE;
    out->piece.row_stride = (int64_t)hub_variant_row_bytes(&out->variant);
    return hub_files_side_add(f->files, bytes, size, &out->piece.offset, err);
}

/* Rows that are not served as they lie: numbers, arrays in Fortran order, bytes of protocol 2. */
static enum hub_status gather(struct il_file *f, struct il_rows *rows, const struct il_window *w,
                              struct rows_layout *out, struct hub_error *err)
{
    const uint64_t row = hub_variant_row_bytes(&out->variant);
    struct item_cursor cursor = items_from(&f->pickle, rows, w->first);
    struct object_item item;
    if (row && w->count > f->files->side_budget / row)
        return hub_fail(err, HUB_TOO_BIG, "side-file budget");
    HUB_CLEANUP(hub_freep) uint8_t *bytes = malloc((size_t)(row * w->count) + 1);
    HUB_TRY(hub_allocated(bytes, err));
    for (uint64_t i = 0; i < w->count; i++) {
        HUB_TRY(item_of(&f->pickle, next_item(&cursor), &item, err));
        HUB_TRY(copy_item(f, &item, bytes + i * row, err));
    }
    return add_side(f, bytes, (size_t)(row * w->count), out, err);
}

static enum hub_status point(struct il_file *f, struct il_rows *rows, const struct il_window *w,
                             struct rows_layout *out, struct hub_error *err)
{
    struct item_cursor cursor = items_from(&f->pickle, rows, w->first);
    struct object_item item;
    out->extents = calloc((size_t)w->count + 1, sizeof *out->extents);
    HUB_TRY(hub_allocated(out->extents, err));
    for (uint64_t i = 0; i < w->count; i++) {
        HUB_TRY(item_of(&f->pickle, next_item(&cursor), &item, err));
        out->extents[i] = (struct hub_extent){.offset = item.data.offset, .length = (uint32_t)item.data.size};
    }
    out->piece.kind = HUB_PIECE_EXTENTS;
    out->piece.count = (uint32_t)w->count;
    return HUB_OK;
}

/* A list: all items alike. */
static enum hub_status lay_out_list(struct il_file *f, struct il_rows *rows, const struct il_window *w,
                                    struct rows_layout *out, struct hub_error *err)
{
    struct item_cursor cursor = items_from(&f->pickle, rows, w->first);
    struct object_item item = {0};
    bool in_place = w->count > 0;
    if (w->count == 0) { /* what its rows would be, an item before or behind says */
        struct item_cursor any = items_from(&f->pickle, rows, 0);
        HUB_TRY(item_of(&f->pickle, next_item(&any), &item, err));
        out->variant = item.data.variant;
        return HUB_OK;
    }
    for (uint64_t i = 0; i < w->count; i++) {
        HUB_TRY(item_of(&f->pickle, next_item(&cursor), &item, err));
        if (i == 0)
            out->variant = item.data.variant;
        if (memcmp(&out->variant, &item.data.variant, sizeof out->variant) != 0)
            return hub_fail(err, HUB_UNSUPPORTED, "step %llu has another shape or type",
                            (unsigned long long)(w->first + i));
        in_place &= !item.held && !item.data.fortran && !item.data.latin1;
    }
    in_place &= hub_variant_row_bytes(&out->variant) > SCALAR_BYTES;
    return in_place ? point(f, rows, w, out, err) : gather(f, rows, w, out, err);
}

static enum hub_status copy_array(struct il_file *f, const struct hub_pickle_data *data, uint64_t *offset,
                                  struct hub_error *err)
{
    const uint64_t bytes = hub_variant_row_bytes(&data->variant);
    HUB_CLEANUP(hub_freep) uint8_t *copy = malloc((size_t)bytes + 1);
    HUB_TRY(hub_allocated(copy, err));
    HUB_TRY(hub_pickle_copy(&f->source, data, copy, err));
    return hub_files_side_add(f->files, copy, (size_t)bytes, offset, err);
}

/* One array of all steps. */
static enum hub_status lay_out_array(struct il_file *f, struct il_rows *rows, const struct il_window *w,
                                     struct rows_layout *out, struct hub_error *err)
{
    struct hub_pickle_data data;
    HUB_TRY(hub_pickle_array(&f->pickle, rows->value, &data, err));
    const struct hub_variant whole = data.variant;
    out->variant = whole;
    out->variant.rank--;
    memmove(out->variant.dims, whole.dims + 1, out->variant.rank * sizeof whole.dims[0]);
    out->variant.dims[out->variant.rank] = 0;
    const uint64_t row = hub_variant_row_bytes(&out->variant);
    out->piece.kind = HUB_PIECE_STRIDED;
    out->piece.row_stride = (int64_t)row;
    out->piece.offset = data.offset + w->first * row;
    if (!data.fortran && !data.latin1)
        return HUB_OK;
    if (!rows->copied)
        HUB_TRY(copy_array(f, &data, &rows->side, err));
    rows->copied = true;
    out->piece.file = HUB_SIDE_FILE;
    out->piece.offset = rows->side + w->first * row;
    return HUB_OK;
}

/* ---- rows as numbers ---- */

/* One element: a number, or an array that holds one. */
static bool number_of(struct il_file *f, const struct object_item *item, double *out)
{
    uint8_t bytes[SCALAR_BYTES];
    struct hub_variant v = item->data.variant;
    if (hub_variant_row_items(&v) != 1 || v.item_size > 8 || copy_item(f, item, bytes, NULL))
        return false;
    v.rank = 0;
    *out = hub_variant_scalar(&v, bytes).real;
    return true;
}

/* An array of one element a row. */
static bool array_numbers(struct il_file *f, uint32_t value, uint64_t count, double *out)
{
    struct hub_pickle_data data;
    if (hub_pickle_array(&f->pickle, value, &data, NULL) || data.variant.rank == 0 ||
        data.variant.item_size > 8 || hub_variant_row_items(&data.variant) != data.variant.dims[0] ||
        count > data.variant.dims[0])
        return false;
    HUB_CLEANUP(hub_freep) uint8_t *bytes = malloc((size_t)hub_variant_row_bytes(&data.variant) + 1);
    if (!bytes || hub_pickle_copy(&f->source, &data, bytes, NULL))
        return false;
    struct hub_variant one = data.variant;
    one.rank = 0;
    for (uint64_t i = 0; i < count; i++)
        out[i] = hub_variant_scalar(&one, bytes + i * one.item_size).real;
    return true;
}

bool il_rows_numbers(struct il_file *f, struct il_rows *rows, uint64_t count, double *out)
{
    struct object_item item;
    if (!items_of(&f->pickle, rows->value))
        return array_numbers(f, rows->value, count, out);
    struct item_cursor cursor = items_from(&f->pickle, rows, 0);
    for (uint64_t i = 0; i < count; i++)
        if (item_of(&f->pickle, next_item(&cursor), &item, NULL) || !number_of(f, &item, &out[i]))
            return false;
    return true;
}

/* ---- fields ---- */

static enum hub_status add_window(struct hub_layout_builder *b, struct rows_layout *p,
                                  const struct il_window *w, struct hub_error *err)
{
    struct hub_window window = {.episode = w->episode, .count = w->count};
    HUB_TRY(hub_layout_array_of(b, &p->variant, &window.array, err));
    if (p->extents)
        HUB_TRY(hub_layout_extents(b, p->extents, p->piece.count, &p->piece.table, err));
    if (w->count)
        HUB_TRY(hub_layout_piece(b, &p->piece, err));
    return hub_layout_add_window(b, &window, err);
}

static enum hub_status declare(struct il_file *f, struct hub_view path, const struct hub_variant *v,
                               uint32_t *field, struct hub_error *err)
{
    const struct hub_field declared = {.path = path,
                                       .type = v ? hub_array_type(v, path) : HUB_FIELD_OPAQUE,
                                       .role = hub_role_of(path),
                                       .axis = HUB_AXIS_STEP};
    return hub_sink_field(f->sink, &declared, field, err);
}

static enum hub_status lay_out_leaf(struct il_file *f, struct hub_view path, struct il_rows *rows,
                                    const struct il_window *w, struct hub_error *err)
{
    HUB_CLEANUP(drop_extents)
    struct rows_layout p = {.piece = {.file = f->source.number, .rows = w->count, .geometry = HUB_NONE}};
    struct hub_error why = {0};
    struct hub_layout_builder *b;
    uint32_t field;
    if (rows->count == 0)
        return HUB_OK; /* nothing says what its rows would be */
    const enum hub_status st = items_of(&f->pickle, rows->value) ? lay_out_list(f, rows, w, &p, &why)
                                                                 : lay_out_array(f, rows, w, &p, &why);
    if (st && !hub_is_local(st))
        return hub_pass(st, &why, err);
    HUB_TRY(declare(f, path, st ? NULL : &p.variant, &field, err));
    if (st)
        return hub_sink_refuse(f->sink, field, w->episode, why.detail, err);
    HUB_TRY(hub_sink_layout(f->sink, field, &b, err));
    return add_window(b, &p, w, err);
}

/* Dictionaries of one step are alike in all: the first one's keys are the fields. */
static enum hub_status lay_out_members(struct il_file *f, struct hub_view path, struct il_rows *rows,
                                       const struct hub_pickle_value *dict, const struct il_window *w,
                                       struct hub_error *err)
{
    uint32_t key, value;
    for (uint32_t cell = dict->first;
         hub_pickle_next(&f->pickle, &cell, &key) && hub_pickle_next(&f->pickle, &cell, &value);) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf below = HUB_BUF_INIT(HUB_MAX_PATH);
        struct il_rows member = *rows;
        const struct hub_view name = hub_pickle_text(&f->pickle, key);
        if (name.size == 0 || memchr(name.data, '\0', name.size) || path.size + name.size >= HUB_MAX_PATH)
            continue; /* not a name */
        member.keys[member.key_count++] = name;
        HUB_TRY(hub_buf_addf(&below, err, "%.*s/%.*s", (int)path.size, path.data, (int)name.size, name.data));
        HUB_TRY(il_rows_lay_out(f, hub_buf_view(&below), &member, w, err));
    }
    return HUB_OK;
}

/* Do dictionaries say nothing at all? */
static bool all_are_empty(struct item_cursor rest, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const struct hub_pickle_value *v = hub_pickle_at(rest.p, next_item(&rest));
        if (!v || v->kind != HUB_PICKLE_DICT || v->count)
            return false;
    }
    return true;
}

enum hub_status il_rows_lay_out(struct il_file *f, struct hub_view path, struct il_rows *rows,
                                const struct il_window *window, struct hub_error *err)
{
    if (items_of(&f->pickle, rows->value) && window->count) {
        struct item_cursor cursor = items_from(&f->pickle, rows, window->first);
        const struct hub_pickle_value *first = hub_pickle_at(&f->pickle, next_item(&cursor));
        if (first && first->kind == HUB_PICKLE_DICT && first->count == 0 &&
            all_are_empty(cursor, window->count - 1))
            return HUB_OK;
        if (first && first->kind == HUB_PICKLE_DICT && first->count &&
            rows->key_count < HUB_COUNT(rows->keys))
            return lay_out_members(f, path, rows, first, window, err);
    }
    return lay_out_leaf(f, path, rows, window, err);
}

enum hub_status il_flags_lay_out(struct il_file *f, struct hub_view path, const uint8_t *flags,
                                 const struct il_window *window, struct hub_error *err)
{
    struct rows_layout p = {.variant = {.kind = HUB_KIND_BOOL, .item_size = 1},
                            .piece = {.rows = window->count, .geometry = HUB_NONE}};
    struct hub_layout_builder *b;
    uint32_t field;
    HUB_TRY(add_side(f, flags, (size_t)window->count, &p, err));
    HUB_TRY(declare(f, path, &p.variant, &field, err));
    HUB_TRY(hub_sink_layout(f->sink, field, &b, err));
    return add_window(b, &p, window, err);
}

/* ---- arrays of objects ---- */

static enum hub_status refuse_objects(struct hub_sink *sink, const struct il_objects *o, const char *why,
                                      struct hub_error *err)
{
    for (uint32_t i = 0; i < o->count; i++)
        HUB_TRY(hub_report_unreadable(sink, o->array->path, o->windows[i].episode, why, err));
    return HUB_OK;
}

static void dispose_file(struct il_file *f)
{
    hub_pickle_dispose(&f->pickle);
}

enum hub_status il_objects_lay_out(struct hub_files *files, struct hub_sink *sink, const struct il_objects *o,
                                   struct hub_error *err)
{
    HUB_CLEANUP(dispose_file)
    struct il_file f = {.files = files, .sink = sink, .source = o->npz->source};
    const struct hub_npz_array *a = o->array;
    struct il_rows rows;
    struct hub_error why = {0};
    hub_pickle_init(&f.pickle);
    if (a->file == HUB_SIDE_FILE)
        hub_byte_source_side(&f.source, files, a->npy.data_offset + a->npy.data_bytes);
    const enum hub_status st =
        hub_pickle_read(&f.pickle, &f.source, a->npy.data_offset, a->npy.data_bytes, &why);
    if (st && !hub_is_local(st))
        return hub_pass(st, &why, err);
    if (st)
        return refuse_objects(sink, o, why.detail, err);
    if (!il_rows_of(&f.pickle, f.pickle.root, &rows) || rows.count < o->rows)
        return refuse_objects(sink, o, "no row for every step", err);
    for (uint32_t i = 0; i < o->count; i++) {
        const struct il_window w = {o->windows[i].episode, o->windows[i].first, o->windows[i].count};
        HUB_TRY(il_rows_lay_out(&f, a->path, &rows, &w, err));
    }
    return HUB_OK;
}
