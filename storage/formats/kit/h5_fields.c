/*
 * The fields of a part: path, type, role, axis, and where each episode's rows lie. The axis is what most of
 * the first episodes say (n+1 rows: state, n rows: step); episodes that differ are reported and served as
 * they are.
 */
#include "storage/formats/kit/h5_kit.h"

#include <stdio.h>
#include <stdlib.h>

enum { SLAB_BYTES = 512 * 1024 };
#define MAX_WHOLE (16 * MIB) /* bytes that are one value */

static enum hub_role role_of(const struct hub_h5_fields *fields, struct hub_view path)
{
    return fields->role ? fields->role(path) : hub_role_of(path);
}

static enum hub_axis axis_of(const struct hub_h5_fields *fields, const struct hub_h5_leaf *leaf,
                             uint64_t steps)
{
    if (leaf->dataset.rank == HUB_NONE || leaf->dataset.rank == 0)
        return HUB_AXIS_NONE;
    const enum hub_axis by_rows = hub_axis_of(leaf->rows, steps);
    return fields->axis ? fields->axis(leaf, by_rows) : by_rows;
}

static enum hub_status find(struct hub_h5_fields *fields, struct hub_view path, struct hub_h5_field **out,
                            struct hub_error *err)
{
    *out = NULL;
    for (uint32_t i = 0; i < fields->count; i++) {
        /* fields come in the same order again and again */
        const uint32_t at = (fields->last + 1 + i) % fields->count;
        if (hub_view_is(path, fields->items[at].path)) {
            fields->last = at;
            *out = &fields->items[at];
            return HUB_OK;
        }
    }
    if (fields->count >= HUB_MAX_FIELDS) {
        fields->full = true;
        return HUB_OK;
    }
    HUB_TRY(hub_grow(&fields->items, fields->count, &fields->capacity, sizeof *fields->items, err));
    struct hub_h5_field *field = &fields->items[fields->count];
    *field = (struct hub_h5_field){.path = hub_view_dup(path), .number = HUB_NONE};
    HUB_TRY(hub_allocated(field->path, err));
    fields->last = fields->count++;
    *out = field;
    return HUB_OK;
}

/* The vote; where it is even, state wins for observations and infos, since their extra row is what is
 * expected. */
static enum hub_axis elected(const struct hub_h5_field *field, enum hub_role role, enum hub_axis here)
{
    const uint32_t step = field->votes[HUB_AXIS_STEP], state = field->votes[HUB_AXIS_STATE],
                   none = field->votes[HUB_AXIS_NONE], shifted = field->votes[HUB_AXIS_SHIFTED];
    const bool extra = role == HUB_ROLE_OBSERVATION || role == HUB_ROLE_INFO;
    if (step + state + none + shifted == 0)
        return here;
    if (none > step && none > state && none > shifted)
        return HUB_AXIS_NONE;
    if (shifted > state && shifted >= step)
        return HUB_AXIS_SHIFTED;
    return state > step || (state == step && extra) ? HUB_AXIS_STATE : HUB_AXIS_STEP;
}

/* ---- types ---- */

static bool is_u8(const struct hub_variant *v)
{
    return v->kind == HUB_KIND_UINT && v->item_size == 1;
}

/* Is the first row a picture's file? Only its head is looked at, but for rows of one size the row's chunk is
 * decoded. */
static enum hub_field_type picture_type(struct hub_h5 *file, const struct hub_h5_dataset *d)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf row = HUB_BUF_INIT(64 * MIB);
    const uint64_t size = d->variant.kind == HUB_KIND_VAR ? 0 : hub_h5_row_bytes(d);
    if (d->rows == 0 || d->unreadable[0] || d->library || d->element != d->type.size || size > row.limit)
        return HUB_FIELD_BYTES;
    enum hub_status st;
    if (d->variant.kind == HUB_KIND_VAR) {
        st = hub_h5_read_text(file, d, 0, &row, NULL);
    } else {
        st = hub_buf_reserve(&row, (size_t)size, NULL);
        st = st ? st : hub_h5_read(file, d, 0, 1, row.data, NULL);
        row.size = (size_t)size;
    }
    return st ? HUB_FIELD_BYTES : hub_image_type((const uint8_t *)row.data, row.size);
}

/* Bytes along one dimension: rows, unless they are one value. */
static bool may_be_whole(const struct hub_h5_fields *fields, const struct hub_h5_dataset *d)
{
    return fields->whole && d->rank == 1 && d->variant.rank == 0 && is_u8(&d->variant) && d->rows &&
           d->rows <= MAX_WHOLE && d->element == 1 && !d->unreadable[0];
}

static bool is_whole(const struct hub_h5_dataset *d, enum hub_field_type type)
{
    return is_u8(&d->variant) && (type == HUB_FIELD_TEXT || (type == HUB_FIELD_PADDED_JSON && d->rank == 1));
}

/* `expected`: the dataset says that this is a picture. Stored as files these are rows of bytes or texts
 * when all have one length or are padded to it, else items of varying length. */
static enum hub_field_type type_of(const struct hub_h5_fields *fields, struct hub_h5 *file,
                                   const struct hub_h5_leaf *leaf)
{
    const struct hub_h5_dataset *d = &leaf->dataset;
    if (may_be_whole(fields, d))
        return fields->whole(leaf, d->type.field);
    const bool expected = fields->pictured ? fields->pictured(fields->user, leaf->path)
                                           : role_of(fields, leaf->path) == HUB_ROLE_OBSERVATION;
    if (fields->padded && is_u8(&d->variant) && d->variant.rank == 1 && d->rank == 2 &&
        fields->padded(leaf->path))
        return HUB_FIELD_PADDED_JSON;
    const bool file_like = d->type.field == HUB_FIELD_BYTES ||
                           (is_u8(&d->variant) && d->variant.rank == 1 && d->rank == 2) ||
                           (d->variant.kind == HUB_KIND_FIXED && d->variant.rank == 0 && d->rank == 1);
    const enum hub_field_type picture = file_like && expected ? picture_type(file, d) : HUB_FIELD_BYTES;
    if (picture != HUB_FIELD_BYTES)
        return picture;
    return hub_column_type(d->type.field, &d->variant, leaf->path, expected);
}

enum hub_status hub_h5_fields_vote(struct hub_h5_fields *fields, const struct hub_h5_tree *tree,
                                   uint64_t steps, struct hub_error *err)
{
    for (uint32_t i = 0; i < tree->count; i++) {
        struct hub_h5_field *field;
        HUB_TRY(find(fields, tree->leaves[i].path, &field, err));
        if (!field)
            continue;
        field->votes[axis_of(fields, &tree->leaves[i], steps)]++;
        if (!tree->leaves[i].dataset.unreadable[0])
            field->types[type_of(fields, tree->file, &tree->leaves[i])]++;
    }
    return HUB_OK;
}

/* What most of the first episodes say; the first one readable, where as many say so. */
static enum hub_field_type elected_type(const struct hub_h5_field *field, enum hub_field_type here)
{
    for (unsigned type = 0; type < HUB_FIELD_TYPE_COUNT; type++)
        if (field->types[type] > field->types[here])
            here = (enum hub_field_type)type;
    return here;
}

/* ---- placing ---- */

/* The episodes that datasets are laid out for, and the rows of a dataset that is cut into them. */
struct cuts {
    const struct hub_h5_cut *items;
    uint32_t count;
    uint64_t rows;
};

static enum hub_status declare(struct hub_h5_fields *fields, struct hub_h5_tree *tree,
                               struct hub_h5_field *field, const struct hub_h5_leaf *leaf,
                               const struct cuts *cuts, struct hub_error *err)
{
    const enum hub_role role = role_of(fields, leaf->path);
    field->type = elected_type(field, type_of(fields, tree->file, leaf));
    const bool shared = cuts->count > 1 && leaf->rows != cuts->rows; /* by episodes of other lengths */
    field->axis = shared ? HUB_AXIS_NONE : elected(field, role, axis_of(fields, leaf, cuts->rows));
    const struct hub_field declared = {
        .path = leaf->path, .type = field->type, .role = role, .axis = field->axis};
    return hub_sink_field(tree->sink, &declared, &field->number, err);
}

static void note_odd(const struct hub_h5_fields *fields, struct hub_h5_field *field,
                     const struct hub_h5_tree *tree, const struct hub_h5_leaf *leaf, uint64_t steps)
{
    if (field->axis != HUB_AXIS_NONE && axis_of(fields, leaf, steps) != field->axis)
        hub_tally_add(&field->odd, "%.*s has %llu rows for %llu steps", (int)HUB_MIN(tree->episode.size, 60),
                      tree->episode.data, (unsigned long long)leaf->rows, (unsigned long long)steps);
}

static enum hub_status refuse(struct hub_h5_tree *tree, struct hub_h5_field *field, const struct cuts *cuts,
                              const char *why, struct hub_error *err)
{
    for (uint32_t i = 0; i < cuts->count; i++) {
        hub_tally_add(&field->readings.unreadable, "%s", why);
        HUB_TRY(hub_sink_refuse(tree->sink, field->number, cuts->items[i].episode, why, err));
    }
    return HUB_OK;
}

static enum hub_status layout_whole(const struct hub_h5_tree *tree, const struct hub_h5_field *field,
                                    const struct hub_h5_leaf *leaf, struct hub_layout_builder *builder,
                                    uint32_t *array, struct hub_error *err)
{
    const uint32_t size = (uint32_t)leaf->dataset.rows;
    const struct hub_variant text = {.kind = HUB_KIND_FIXED, .item_size = size},
                             bytes = {.kind = HUB_KIND_UINT, .item_size = 1, .rank = 1, .dims = {size}};
    return hub_h5_layout_whole(tree->file, &leaf->dataset, field->type == HUB_FIELD_TEXT ? &text : &bytes,
                               builder, array, err);
}

static enum hub_status add_windows(struct hub_h5_tree *tree, struct hub_h5_field *field,
                                   const struct hub_h5_leaf *leaf, const struct cuts *cuts,
                                   struct hub_error *err)
{
    struct hub_layout_builder *builder;
    struct hub_error why = {0};
    uint32_t array;
    const bool one = is_whole(&leaf->dataset, field->type);
    HUB_TRY(hub_sink_layout(tree->sink, field->number, &builder, err));
    const enum hub_status st = one ? layout_whole(tree, field, leaf, builder, &array, &why)
                                   : hub_h5_layout(tree->file, &leaf->dataset, builder, &array, &why);
    if (st && !hub_h5_is_local(tree->file, st))
        return hub_pass(st, &why, err);
    if (st)
        HUB_TRY(refuse(tree, field, cuts, why.detail, err));
    if (st == HUB_CORRUPT)
        return hub_h5_tree_problem(tree, "dataset-damaged", leaf->path, err, why.detail);
    for (uint32_t i = 0; !st && i < cuts->count; i++) {
        const struct hub_h5_cut *cut = &cuts->items[i];
        const bool whole =
            one || leaf->dataset.rank == 0 || leaf->rows != cuts->rows || field->axis == HUB_AXIS_NONE;
        const struct hub_window window = {.episode = cut->episode,
                                          .array = array,
                                          .first = whole ? 0 : cut->first,
                                          .count = one     ? 1
                                                   : whole ? leaf->rows
                                                           : cut->count};
        field->readings.readable++;
        HUB_TRY(hub_layout_add_window(builder, &window, err));
    }
    return HUB_OK;
}

/* A row of JSON, up to its padding; nothing of one that is none, which is reported. */
static struct hub_view check_row(struct hub_h5_fields *fields, const struct hub_h5_tree *tree,
                                 const struct hub_h5_leaf *leaf, uint64_t row, const char *text, size_t size)
{
    const bool full = text[size - 1] != '\0';
    while (size && text[size - 1] == '\0')
        size--;
    fields->scratch.size = 0;
    fields->scratch.limit = 16 * (size_t)SLAB_BYTES;
    if (!size || !hub_json_strict((struct hub_view){text, size}, &fields->scratch, NULL))
        return (struct hub_view){text, size};
    hub_tally_add(full ? &fields->cut_rows : &fields->bad_rows, "%.*s/%.*s, row %llu",
                  (int)HUB_MIN(tree->episode.size, 60), tree->episode.data,
                  (int)HUB_MIN(leaf->path.size, 100), leaf->path.data, (unsigned long long)row);
    return HUB_VIEW("");
}

/* `*whole` false: they cannot be read to their end, as the field itself says. */
static enum hub_status look_through(struct hub_h5_fields *fields, const struct hub_h5_tree *tree,
                                    const struct hub_h5_leaf *leaf, bool *whole, struct hub_error *err)
{
    const struct hub_h5_dataset *d = &leaf->dataset;
    const size_t size = (size_t)hub_h5_row_bytes(d);
    const uint64_t most = SLAB_BYTES / size;
    HUB_CLEANUP(hub_freep) char *slab = malloc(SLAB_BYTES);
    HUB_TRY(hub_allocated(slab, err));
    for (uint64_t first = 0; first < d->rows; first += most) {
        const uint64_t count = HUB_MIN(most, d->rows - first);
        *whole = !hub_h5_read(tree->file, d, first, count, slab, NULL);
        for (uint64_t i = 0; *whole && i < count; i++) {
            const struct hub_view text = check_row(fields, tree, leaf, first + i, slab + i * size, size);
            if (fields->inside.files)
                HUB_TRY(hub_json_rows_take(&fields->inside, text, err));
        }
        if (!*whole)
            return HUB_OK;
    }
    return HUB_OK;
}

/* Rows of JSON are looked through: those that are none are null, and numbers inside are fields of their
 * own. */
static enum hub_status check_rows(struct hub_h5_fields *fields, const struct hub_h5_tree *tree,
                                  const struct hub_h5_leaf *leaf, const struct hub_h5_field *field,
                                  uint32_t episode, struct hub_error *err)
{
    const struct hub_h5_dataset *d = &leaf->dataset;
    const uint64_t size = d->library ? 0 : hub_h5_row_bytes(d);
    bool whole = true;
    if (size == 0 || size > SLAB_BYTES || size != d->variant.dims[0])
        return HUB_OK;
    const struct hub_field json = {
        .path = leaf->path, .role = role_of(fields, leaf->path), .axis = field->axis};
    const bool inside = fields->inside.files;
    if (inside)
        HUB_TRY(hub_json_rows_begin(&fields->inside, &json, episode, d->rows, err));
    HUB_TRY(look_through(fields, tree, leaf, &whole, err));
    if (inside && !whole)
        hub_json_rows_drop(&fields->inside);
    return inside && whole ? hub_json_rows_end(&fields->inside, err) : HUB_OK;
}

static enum hub_status lay_out(struct hub_h5_fields *fields, struct hub_h5_tree *tree,
                               const struct hub_h5_leaf *leaf, const struct cuts *cuts, struct hub_error *err)
{
    struct hub_h5_field *field;
    HUB_TRY(find(fields, leaf->path, &field, err));
    if (!field)
        return HUB_OK;
    if (!field->readings.readable) /* what a field is, is what its first episodes say */
        HUB_TRY(declare(fields, tree, field, leaf, cuts, err));
    note_odd(fields, field, tree, leaf, cuts->rows);
    if (leaf->dataset.unreadable[0])
        return refuse(tree, field, cuts, leaf->dataset.unreadable, err);
    const enum hub_field_type type = type_of(fields, tree->file, leaf);
    if (type != field->type) {
        char detail[128];
        snprintf(detail, sizeof detail, "%s here, %s in most of the first episodes; left out",
                 hub_field_type_name(type), hub_field_type_name(field->type));
        HUB_TRY(refuse(tree, field, cuts, detail, err));
        return hub_h5_tree_problem(tree, "type-differs", leaf->path, err, detail);
    }
    if (type == HUB_FIELD_PADDED_JSON)
        HUB_TRY(check_rows(fields, tree, leaf, field, cuts->items[0].episode, err));
    return add_windows(tree, field, leaf, cuts, err);
}

enum hub_status hub_h5_fields_cut(struct hub_h5_fields *fields, struct hub_h5_tree *tree,
                                  const struct hub_h5_cut *cuts, uint32_t count, uint64_t rows,
                                  struct hub_error *err)
{
    const struct cuts all = {cuts, count, rows};
    for (uint32_t i = 0; i < tree->count; i++)
        HUB_TRY(lay_out(fields, tree, &tree->leaves[i], &all, err));
    return HUB_OK;
}

enum hub_status hub_h5_fields_lay_out(struct hub_h5_fields *fields, struct hub_h5_tree *tree, uint32_t index,
                                      uint64_t steps, struct hub_error *err)
{
    const struct hub_h5_cut whole = {index, 0, steps};
    return hub_h5_fields_cut(fields, tree, &whole, 1, steps, err);
}

static enum hub_status finish(const struct hub_h5_field *field, struct hub_sink *sink, struct hub_error *err)
{
    const struct hub_view path = hub_view_of(field->path);
    if (field->number == HUB_NONE)
        return HUB_OK;
    HUB_TRY(hub_readings_report(&field->readings, sink, path, "episodes", err));
    return hub_report_odd(sink, path, field->odd.count, field->axis, field->odd.first, err);
}

enum hub_status hub_h5_fields_finish(struct hub_h5_fields *fields, struct hub_sink *sink,
                                     struct hub_error *err)
{
    for (uint32_t i = 0; i < fields->count; i++)
        HUB_TRY(finish(&fields->items[i], sink, err));
    HUB_TRY(hub_json_rows_finish(&fields->inside, sink, err));
    if (fields->full)
        return hub_sink_problem(sink, "too-many-fields", HUB_VIEW(""), err,
                                "more than %d fields; the others are left out", HUB_MAX_FIELDS);
    return HUB_OK;
}

void hub_h5_fields_dispose(struct hub_h5_fields *fields)
{
    for (uint32_t i = 0; i < fields->count; i++)
        free(fields->items[i].path);
    free(fields->items);
    hub_json_rows_dispose(&fields->inside);
    hub_buf_dispose(&fields->scratch);
}
