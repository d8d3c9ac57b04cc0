/*
 * Columns of an episode's Parquet file as fields: their type and shape are found in the file itself,
 * info.json is compared with it. Each column of each file is one array, its row groups the pieces. What
 * cannot be read in one episode hides nothing in the others: the field is unreadable only where no episode
 * has it.
 */
#include "storage/formats/lerobot/lerobot.h"

#include <stdio.h>
#include <stdlib.h>

/* The shape of a column without rows is the one info.json states; false when it states none. */
static bool stated_shape(const json_t *feature, unsigned rank, uint32_t *dims)
{
    const json_t *shape = json_object_get(feature, "shape");
    if (json_array_size(shape) != rank)
        return false;
    for (unsigned i = 0; i < rank; i++) {
        const json_int_t n = json_integer_value(json_array_get(shape, i));
        if (n <= 0 || n > UINT32_MAX)
            return false;
        dims[i] = (uint32_t)n;
    }
    return true;
}

static const json_t *feature_of(const struct lerobot_columns *c, const struct hub_table_field *field)
{
    return json_object_get(c->features, field->path);
}

/* What info.json adds to what was found. */
static enum hub_status read_shaped(struct hub_table *t, const json_t *feature, struct hub_table_column *c,
                                   struct hub_error *why)
{
    struct hub_picture picture;
    const enum hub_status st = hub_table_read(t, c->index, UINT64_MAX, c, why);
    if (st && (!c->unshaped || !stated_shape(feature, c->variant.rank, c->variant.dims)))
        return st;
    if (c->variant.kind == HUB_KIND_VAR)
        return HUB_OK;
    if (!hub_variant_valid(&c->variant))
        return hub_fail(why, HUB_TOO_BIG, "a row of more than 1 GiB");
    if (hub_lerobot_is(feature, "image") && c->type == HUB_FIELD_NUMBER &&
        hub_picture_of(&c->variant, &picture) && !picture.ranged)
        c->type = HUB_FIELD_IMAGE_RAW;
    return HUB_OK;
}

/* One picture whose first bytes are damaged does not change what the column is. */
static void keep_type(const struct hub_table_field *field, bool image, const json_t *feature,
                      struct hub_table_column *c)
{
    const bool unknown = c->type == HUB_FIELD_BYTES,
               picture = c->type == HUB_FIELD_IMAGE_PNG || c->type == HUB_FIELD_IMAGE_JPEG;
    if (field->readings.readable && ((image && unknown) || (picture && field->type == HUB_FIELD_BYTES)))
        c->type = field->type;
    else if (image && unknown && hub_lerobot_is(feature, "image") &&
             !json_is_true(
                 json_object_get(hub_lerobot_video_info(feature), "is_depth_map"))) /* those are TIFF */
        c->type = HUB_FIELD_IMAGE_PNG;                                              /* what LeRobot writes */
}

static enum hub_status read_column(void *user, struct hub_table *t, struct hub_table_field *field,
                                   struct hub_table_column *c, struct hub_error *why)
{
    const json_t *feature = feature_of(user, field);
    if (!t->rows && field->readings.readable) { /* writers guess the type from values: there are none */
        c->type = field->type;
        c->variant = field->variant;
        return HUB_OK;
    }
    HUB_TRY(read_shaped(t, feature, c, why));
    keep_type(field, t->parquet.leaves[c->index].image, feature, c);
    return HUB_OK;
}

static const struct hub_table_dialect dialect = {.read = read_column, .by_file = true};

void hub_lerobot_columns_begin(struct lerobot_columns *c, struct hub_files *files, struct hub_sink *sink)
{
    c->fields = (struct hub_table_fields){.dialect = &dialect, .user = c, .files = files, .sink = sink};
}

/* ---- what info.json says otherwise, reported once a field ---- */

enum { SHAPE_REPORTED = 1, DTYPE_REPORTED = 2 };

/* LeRobot states (1,) of a column of single numbers. */
static bool same_shape(const json_t *shape, const struct hub_variant *v)
{
    const size_t rank = json_array_size(shape);
    if (v->rank == 0)
        return rank == 0 || (rank == 1 && json_integer_value(json_array_get(shape, 0)) == 1);
    bool same = rank == v->rank;
    for (size_t i = 0; same && i < rank; i++)
        same = json_integer_value(json_array_get(shape, i)) == (json_int_t)v->dims[i];
    return same;
}

static enum hub_status compare_shape(const struct lerobot_columns *c, struct hub_table_field *field,
                                     struct hub_error *err)
{
    const struct hub_variant *v = &field->variant;
    const json_t *shape = json_object_get(feature_of(c, field), "shape");
    char found[HUB_MAX_RANK * 12 + 4] = "";
    size_t n = 0;
    const bool lists = v->kind == HUB_KIND_VAR && v->sequence;
    if (field->noted & SHAPE_REPORTED || !json_is_array(shape) ||
        (!lists && (v->kind == HUB_KIND_VAR || same_shape(shape, v))))
        return HUB_OK;
    field->noted |= SHAPE_REPORTED;
    for (unsigned i = 0; i < v->rank; i++)
        n += (size_t)snprintf(found + n, sizeof found - n, "%s%u", i ? "," : "", v->dims[i]);
    HUB_CLEANUP(hub_freep) char *stated = json_dumps(shape, JSON_COMPACT);
    if (lists)
        return hub_sink_problem(c->fields.sink, "shape-mismatch", hub_view_of(field->path), err,
                                "info.json states %.100s, the files hold lists of different lengths",
                                stated ? stated : "?");
    return hub_sink_problem(c->fields.sink, "shape-mismatch", hub_view_of(field->path), err,
                            "info.json states %.100s, the files hold [%s]", stated ? stated : "?", found);
}

/* What info.json says of the type of a column. */
static enum hub_status compare_dtype(const struct lerobot_columns *c, struct hub_table_field *field,
                                     struct hub_error *err)
{
    char found[24];
    const char *stated = hub_lerobot_text(feature_of(c, field), "dtype");
    const bool picture = field->type == HUB_FIELD_IMAGE_PNG || field->type == HUB_FIELD_IMAGE_JPEG;
    const struct hub_variant item = hub_variant_item(&field->variant);
    hub_variant_name(&item, field->type, found);
    const char *name = picture ? "image" : field->type == HUB_FIELD_TEXT ? "string" : found;
    if (stated && field->type == HUB_FIELD_TEXT && strcmp(stated, "language") == 0) /* lists of structs */
        return HUB_OK;
    const bool image = stated && strcmp(stated, "image") == 0; /* also where the pixels are numbers */
    if (field->noted & DTYPE_REPORTED || !stated || strcmp(stated, name) == 0 ||
        (image && (field->type == HUB_FIELD_IMAGE_RAW || field->type == HUB_FIELD_BYTES)))
        return HUB_OK;
    field->noted |= DTYPE_REPORTED;
    return hub_sink_problem(c->fields.sink, "dtype-mismatch", hub_view_of(field->path), err,
                            "info.json states %.40s, the files hold %s", stated, name);
}

/* ---- laying out ---- */

/* The column of a file, or of a run of its row groups. */
static enum hub_status lay_out(struct lerobot_columns *c, struct hub_table_field *field, struct hub_table *t,
                               uint32_t index, struct hub_window *windows, uint32_t count,
                               struct hub_error *why)
{
    HUB_TRY(hub_table_field_lay_out(&c->fields, field, t, index, windows, count, why));
    HUB_TRY(compare_shape(c, field, why));
    return compare_dtype(c, field, why);
}

static bool group_readable(struct lerobot_columns *c, struct hub_table_field *field, struct hub_table *t,
                           uint32_t index, const struct hub_parquet *whole, uint32_t group)
{
    HUB_CLEANUP(hub_table_column_dispose) struct hub_table_column column = {.index = index};
    hub_table_narrow(t, whole, group, 1);
    return !read_column(c, t, field, &column, NULL) &&
           (!field->readings.readable || field->type == column.type);
}

/* Episodes whose rows of a column were not laid out yet. */
struct rest {
    struct hub_window *windows;
    uint32_t count;
};

/* Take out the windows that lie within rows [row, row + rows), counted from there. */
static uint32_t take_within(struct rest *rest, uint64_t row, uint64_t rows, struct hub_window *out)
{
    uint32_t n = 0, kept = 0;
    for (uint32_t i = 0; i < rest->count; i++) {
        const struct hub_window w = rest->windows[i];
        if (w.first < row || w.first + w.count > row + rows)
            rest->windows[kept++] = w;
        else
            out[n++] = (struct hub_window){.episode = w.episode, .first = w.first - row, .count = w.count};
    }
    rest->count = kept;
    return n;
}

/* A row group that is damaged hides only the episodes that have rows in it. */
static enum hub_status add_groups(struct lerobot_columns *c, struct hub_table_field *field,
                                  struct hub_table *t, uint32_t index, struct rest *rest,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_window *within = NULL;
    const struct hub_parquet whole = t->parquet;
    struct hub_error why = {0};
    enum hub_status st = HUB_OK;
    HUB_TRY(hub_new(&within, rest->count, sizeof *within, err));
    for (uint32_t g = 0, n; !st && g < whole.group_count; g += n + 1) {
        for (n = 0; g + n < whole.group_count && group_readable(c, field, t, index, &whole, g + n); n++)
            ;
        const uint64_t row = hub_table_narrow(t, &whole, g, n);
        const uint32_t count = n ? take_within(rest, row, t->rows, within) : 0;
        st = count ? lay_out(c, field, t, index, within, count, &why) : HUB_OK;
    }
    hub_table_narrow(t, &whole, 0, whole.group_count);
    return st ? hub_pass(st, &why, err) : HUB_OK;
}

static enum hub_status add_column(struct lerobot_columns *c, struct hub_table *t, uint32_t index,
                                  struct hub_window *windows, uint32_t count, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_window *left = NULL;
    struct hub_table_field *field;
    struct hub_error why = {0};
    HUB_TRY(hub_table_fields_find(&c->fields, hub_table_path(t, index), index, &field, err));
    field->axis = HUB_AXIS_STEP;
    field->files++;
    const enum hub_status st = lay_out(c, field, t, index, windows, count, &why);
    if (!hub_is_local(st))
        return st ? hub_pass(st, &why, err) : HUB_OK;
    HUB_TRY(hub_new(&left, (size_t)count + 1, sizeof *left, err));
    memcpy(left, windows, count * sizeof *left);
    struct rest rest = {left, count};
    if (t->rows) /* an episode without rows lacks nothing */
        hub_tally_add(&field->readings.unreadable, "%s", why.detail);
    if (t->parquet.group_count > 1 && count > 1)
        HUB_TRY(add_groups(c, field, t, index, &rest, err));
    return hub_table_field_refuse(&c->fields, field, rest.windows, rest.count, why.detail, err);
}

enum hub_status hub_lerobot_add_columns(struct lerobot_columns *c, struct hub_table *t,
                                        struct hub_window *windows, uint32_t count, struct hub_error *err)
{
    c->files_seen++;
    for (uint32_t i = 0; i < t->count; i++)
        if (hub_table_path(t, i))
            HUB_TRY(add_column(c, t, i, windows, count, err));
    return HUB_OK;
}

static enum hub_status finish_field(const struct lerobot_columns *c, const struct hub_table_field *field,
                                    struct hub_error *err)
{
    const struct hub_view path = hub_view_of(field->path);
    HUB_TRY(hub_report_nulls(c->fields.sink, path, field->nulls, err));
    if (field->files < c->files_seen)
        HUB_TRY(hub_sink_problem(c->fields.sink, "missing-column", path, err,
                                 "%u of %u episode files do not have it", c->files_seen - field->files,
                                 c->files_seen));
    return hub_readings_report(&field->readings, c->fields.sink, path, "episode files", err);
}

enum hub_status hub_lerobot_finish_columns(struct lerobot_columns *c, struct hub_error *err)
{
    const char *name;
    json_t *feature;
    for (uint32_t i = 0; i < c->fields.count; i++)
        HUB_TRY(finish_field(c, &c->fields.items[i], err));
    json_object_foreach((json_t *)c->features, name, feature)
    {
        bool found = hub_lerobot_is(feature, "video");
        for (uint32_t i = 0; i < c->fields.count && !found; i++)
            found = strcmp(c->fields.items[i].path, name) == 0;
        if (!found && c->fields.count)
            HUB_TRY(hub_sink_problem(c->fields.sink, "missing-column", hub_view_of(name), err,
                                     "info.json has this feature, the files do not"));
    }
    return HUB_OK;
}
