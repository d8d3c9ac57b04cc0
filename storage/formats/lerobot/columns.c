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

/* What info.json adds to what was found. */
static enum hub_status apply_feature(const struct hub_parquet_leaf *leaf, const json_t *feature,
                                     struct hub_parquet_column *l, struct hub_error *err)
{
    if (leaf->item.kind == HUB_KIND_VAR || l->variant.kind == HUB_KIND_VAR)
        return HUB_OK;
    if (leaf->max_rep && !l->shape.known[0] && !stated_shape(feature, leaf->max_rep, l->variant.dims))
        return hub_fail(err, HUB_UNSUPPORTED, "it has no rows, so that its shape is unknown");
    if (!hub_variant_valid(&l->variant))
        return hub_fail(err, HUB_TOO_BIG, "a row of more than 1 GiB");
    struct hub_picture picture;
    const char *dtype = hub_lerobot_text(feature, "dtype");
    if (dtype && strcmp(dtype, "image") == 0 && l->type == HUB_FIELD_NUMBER &&
        hub_picture_of(&l->variant, &picture) && !picture.ranged)
        l->type = HUB_FIELD_IMAGE_RAW;
    return HUB_OK;
}

/* ---- columns ---- */

static enum hub_status find_column(struct lerobot_columns *c, const struct hub_parquet_leaf *leaf,
                                   uint32_t hint, struct lerobot_column **out, struct hub_error *err)
{
    *out = NULL;
    for (uint32_t i = 0; i < c->count && !*out;
         i++) /* files of a set have the same columns in the same order */
        if (strcmp(c->items[(hint + i) % c->count].path, leaf->path) == 0)
            *out = &c->items[(hint + i) % c->count];
    if (*out)
        return HUB_OK;
    HUB_TRY(hub_grow(&c->items, c->count, &c->capacity, sizeof *c->items, err));
    char *path = strdup(leaf->path);
    HUB_TRY(hub_allocated(path, err));
    *out = &c->items[c->count++];
    **out = (struct lerobot_column){.path = path, .field = HUB_NONE};
    return HUB_OK;
}

static enum hub_status declare(struct lerobot_columns *c, struct lerobot_column *column,
                               enum hub_field_type type, struct hub_error *err)
{
    const struct hub_view path = hub_view_of(column->path);
    column->type = type;
    return hub_sink_field(
        c->sink,
        &(struct hub_field){.path = path, .type = type, .role = hub_role_of(path), .axis = HUB_AXIS_STEP},
        &column->field, err);
}

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

static enum hub_status compare_shape(struct lerobot_columns *c, struct lerobot_column *column,
                                     const json_t *feature, const struct hub_variant *v,
                                     struct hub_error *err)
{
    const json_t *shape = json_object_get(feature, "shape");
    char found[HUB_MAX_RANK * 12 + 4] = "";
    size_t n = 0;
    const bool lists = v->kind == HUB_KIND_VAR && v->sequence;
    if (column->shape_reported || !json_is_array(shape) ||
        (!lists && (v->kind == HUB_KIND_VAR || same_shape(shape, v))))
        return HUB_OK;
    column->shape_reported = true;
    for (unsigned i = 0; i < v->rank; i++)
        n += (size_t)snprintf(found + n, sizeof found - n, "%s%u", i ? "," : "", v->dims[i]);
    HUB_CLEANUP(hub_freep) char *stated = json_dumps(shape, JSON_COMPACT);
    if (lists)
        return hub_sink_problem(c->sink, "shape-mismatch", hub_view_of(column->path), err,
                                "info.json states %.100s, the files hold lists of different lengths",
                                stated ? stated : "?");
    return hub_sink_problem(c->sink, "shape-mismatch", hub_view_of(column->path), err,
                            "info.json states %.100s, the files hold [%s]", stated ? stated : "?", found);
}

/* What info.json says of the type of a column. */
static enum hub_status compare_dtype(struct lerobot_columns *c, struct lerobot_column *column,
                                     const json_t *feature, const struct hub_variant *v,
                                     struct hub_error *err)
{
    char found[24];
    const char *stated = hub_lerobot_text(feature, "dtype");
    const bool picture = column->type == HUB_FIELD_IMAGE_PNG || column->type == HUB_FIELD_IMAGE_JPEG;
    const struct hub_variant item = hub_variant_item(v);
    hub_variant_name(&item, column->type, found);
    const char *name = picture ? "image" : column->type == HUB_FIELD_TEXT ? "string" : found;
    if (stated && column->type == HUB_FIELD_TEXT && strcmp(stated, "language") == 0) /* lists of structs */
        return HUB_OK;
    const bool image = stated && strcmp(stated, "image") == 0; /* also where the pixels are numbers */
    if (column->dtype_reported || !stated || strcmp(stated, name) == 0 ||
        (image && (column->type == HUB_FIELD_IMAGE_RAW || column->type == HUB_FIELD_BYTES)))
        return HUB_OK;
    column->dtype_reported = true;
    return hub_sink_problem(c->sink, "dtype-mismatch", hub_view_of(column->path), err,
                            "info.json states %.40s, the files hold %s", stated, name);
}

static enum hub_status add_array(struct hub_layout_builder *b, const struct hub_parquet *parquet,
                                 uint32_t file, struct hub_parquet_column *l, const struct lerobot_cuts *cuts,
                                 struct hub_error *err)
{
    uint32_t array;
    HUB_TRY(hub_layout_array_of(b, &l->variant, &array, err));
    HUB_TRY(hub_parquet_column_place(l, parquet, file, b, err));
    for (uint32_t i = 0; i < cuts->count; i++)
        HUB_TRY(hub_layout_add_window(
            b,
            &(struct hub_window){cuts->items[i].episode, array, cuts->items[i].first, cuts->items[i].count},
            err));
    return HUB_OK;
}

/* One picture whose first bytes are damaged does not change what the column is. */
static void keep_type(const struct lerobot_column *column, const struct hub_parquet_leaf *leaf,
                      const json_t *feature, struct hub_parquet_column *l)
{
    const char *dtype = hub_lerobot_text(feature, "dtype");
    const bool unknown = l->type == HUB_FIELD_BYTES,
               picture = l->type == HUB_FIELD_IMAGE_PNG || l->type == HUB_FIELD_IMAGE_JPEG;
    if (column->readings.readable &&
        ((leaf->image && unknown) || (picture && column->type == HUB_FIELD_BYTES)))
        l->type = column->type;
    else if (leaf->image && unknown && dtype && strcmp(dtype, "image") == 0 &&
             !json_is_true(
                 json_object_get(hub_lerobot_video_info(feature), "is_depth_map"))) /* those are TIFF */
        l->type = HUB_FIELD_IMAGE_PNG;                                              /* what LeRobot writes */
}

static enum hub_status read_leaf(const struct lerobot_columns *c, const struct lerobot_column *column,
                                 const struct hub_parquet *parquet, uint32_t leaf,
                                 struct hub_parquet_decoder *d, struct hub_parquet_column *l,
                                 struct hub_error *why)
{
    const struct hub_parquet_leaf *schema = &parquet->leaves[leaf];
    if (!parquet->rows &&
        column->readings.readable) { /* writers guess the type from values: there are none */
        l->type = column->type;
        l->variant = column->variant;
        return HUB_OK;
    }
    HUB_TRY(hub_parquet_column_read(parquet, leaf, d, l, why));
    HUB_TRY(apply_feature(schema, json_object_get(c->features, column->path), l, why));
    keep_type(column, schema, json_object_get(c->features, column->path), l);
    if (column->readings.readable && column->type != l->type)
        return hub_fail(why, HUB_UNSUPPORTED, "its type differs from the first episode's");
    return HUB_OK;
}

/* The column of a file, or of a run of its row groups. */
static enum hub_status place_leaf(struct lerobot_columns *c, struct lerobot_column *column,
                                  const struct hub_parquet *parquet, uint32_t leaf,
                                  struct hub_parquet_decoder *d, const struct lerobot_cuts *cuts,
                                  struct hub_error *why)
{
    struct hub_layout_builder *b;
    HUB_CLEANUP(hub_parquet_column_dispose) struct hub_parquet_column l = {.count = 0};
    const json_t *feature = json_object_get(c->features, column->path);
    HUB_TRY(read_leaf(c, column, parquet, leaf, d, &l, why));
    if (!column->readings.readable)
        HUB_TRY(declare(c, column, l.type, why));
    column->variant = l.variant;
    HUB_TRY(compare_shape(c, column, feature, &l.variant, why));
    HUB_TRY(compare_dtype(c, column, feature, &l.variant, why));
    column->readings.readable++;
    if (l.variant.kind != HUB_KIND_FLOAT && l.variant.kind != HUB_KIND_VAR)
        column->nulls += l.shape.nulls;
    HUB_TRY(hub_sink_layout(c->sink, column->field, &b, why));
    return add_array(b, parquet, d->source->number, &l, cuts, why);
}

/* The row groups [first, first + count) as a file of their own, whose rows begin at `row` of the whole. */
static struct hub_parquet groups_of(const struct hub_parquet *parquet, uint32_t first, uint32_t count,
                                    uint64_t *row)
{
    struct hub_parquet part = *parquet;
    *row = part.rows = 0;
    for (uint32_t g = 0; g < first; g++)
        *row += parquet->group_rows[g];
    for (uint32_t g = first; g < first + count; g++)
        part.rows += parquet->group_rows[g];
    part.group_rows += first;
    part.chunks += (size_t)first * parquet->leaf_count;
    part.group_count = count;
    return part;
}

static bool group_readable(const struct lerobot_columns *c, const struct lerobot_column *column,
                           const struct hub_parquet *parquet, uint32_t leaf, struct hub_parquet_decoder *d,
                           uint32_t group)
{
    uint64_t row;
    HUB_CLEANUP(hub_parquet_column_dispose) struct hub_parquet_column l = {.count = 0};
    const struct hub_parquet one = groups_of(parquet, group, 1, &row);
    return !read_leaf(c, column, &one, leaf, d, &l, NULL);
}

/* The cuts that lie within rows [row, row + rows), counted from there; those are marked as served. */
static uint32_t cuts_within(const struct lerobot_cuts *cuts, uint64_t row, uint64_t rows,
                            struct lerobot_cut *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < cuts->count; i++) {
        const struct lerobot_cut *cut = &cuts->items[i];
        if (cuts->served[i] || cut->first < row || cut->first + cut->count > row + rows)
            continue;
        cuts->served[i] = true;
        out[n] = *cut;
        out[n++].first -= row;
    }
    return n;
}

/* A row group that is damaged hides only the episodes that have rows in it. */
static enum hub_status add_groups(struct lerobot_columns *c, struct lerobot_column *column,
                                  const struct hub_parquet *parquet, uint32_t leaf,
                                  struct hub_parquet_decoder *d, const struct lerobot_cuts *cuts,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct lerobot_cut *within = calloc((size_t)cuts->count + 1, sizeof *within);
    HUB_TRY(hub_allocated(within, err));
    for (uint32_t g = 0, n; g < parquet->group_count; g += n + 1) {
        uint64_t row;
        for (n = 0; g + n < parquet->group_count && group_readable(c, column, parquet, leaf, d, g + n); n++)
            ;
        const struct hub_parquet part = groups_of(parquet, g, n, &row);
        const uint32_t count = n ? cuts_within(cuts, row, part.rows, within) : 0;
        struct hub_error why = {0};
        const enum hub_status st =
            count ? place_leaf(c, column, &part, leaf, d, &(struct lerobot_cuts){within, count, NULL}, &why)
                  : HUB_OK;
        if (st)
            return hub_pass(st, &why, err);
    }
    return HUB_OK;
}

static enum hub_status refuse_rest(struct lerobot_columns *c, struct lerobot_column *column,
                                   const struct lerobot_cuts *cuts, const char *why, struct hub_error *err)
{
    if (column->field == HUB_NONE) /* what it is, may still be found */
        HUB_TRY(declare(c, column, HUB_FIELD_OPAQUE, err));
    for (uint32_t i = 0; i < cuts->count; i++)
        if (!cuts->served[i])
            HUB_TRY(hub_sink_refuse(c->sink, column->field, cuts->items[i].episode, why, err));
    return HUB_OK;
}

static enum hub_status add_leaf(struct lerobot_columns *c, const struct hub_parquet *parquet, uint32_t leaf,
                                struct hub_parquet_decoder *d, const struct lerobot_cuts *cuts,
                                struct hub_error *err)
{
    struct lerobot_column *column;
    struct hub_error why = {0};
    HUB_TRY(find_column(c, &parquet->leaves[leaf], leaf, &column, err));
    column->files++;
    const uint32_t before = column->readings.readable;
    const enum hub_status st = place_leaf(c, column, parquet, leaf, d, cuts, &why);
    if (!st || !hub_is_local(st) || column->readings.readable > before)
        return st ? hub_pass(st, &why, err) : HUB_OK;
    HUB_CLEANUP(hub_freep) bool *served = calloc((size_t)cuts->count + 1, sizeof *served);
    HUB_TRY(hub_allocated(served, err));
    if (parquet->rows) /* an episode without rows lacks nothing */
        hub_tally_add(&column->readings.unreadable, "%s", why.detail);
    const struct lerobot_cuts marked = {cuts->items, cuts->count, served};
    if (parquet->group_count > 1 && cuts->count > 1)
        HUB_TRY(add_groups(c, column, parquet, leaf, d, &marked, err));
    return refuse_rest(c, column, &marked, why.detail, err);
}

enum hub_status hub_lerobot_add_columns(struct lerobot_columns *c, const struct hub_parquet *parquet,
                                        struct hub_parquet_decoder *d, const struct lerobot_cuts *cuts,
                                        struct hub_error *err)
{
    c->files_seen++;
    for (uint32_t i = 0; i < parquet->leaf_count; i++)
        if (!parquet->leaves[i].part)
            HUB_TRY(add_leaf(c, parquet, i, d, cuts, err));
    return HUB_OK;
}

static enum hub_status finish_column(struct lerobot_columns *c, struct lerobot_column *column,
                                     struct hub_error *err)
{
    const struct hub_view path = hub_view_of(column->path);
    if (column->nulls)
        HUB_TRY(hub_sink_problem(c->sink, "nulls", path, err,
                                 "%llu nulls in a column of numbers: null in JSON, 0 in arrays",
                                 (unsigned long long)column->nulls));
    if (column->files < c->files_seen)
        HUB_TRY(hub_sink_problem(c->sink, "missing-column", path, err,
                                 "%u of %u episode files do not have it", c->files_seen - column->files,
                                 c->files_seen));
    return hub_readings_report(&column->readings, c->sink, path, "episode files", err);
}

enum hub_status hub_lerobot_finish_columns(struct lerobot_columns *c, struct hub_error *err)
{
    const char *name;
    json_t *feature;
    for (uint32_t i = 0; i < c->count; i++)
        HUB_TRY(finish_column(c, &c->items[i], err));
    json_object_foreach((json_t *)c->features, name, feature)
    {
        const char *dtype = hub_lerobot_text(feature, "dtype");
        bool found = dtype && strcmp(dtype, "video") == 0;
        for (uint32_t i = 0; i < c->count && !found; i++)
            found = strcmp(c->items[i].path, name) == 0;
        if (!found && c->count)
            HUB_TRY(hub_sink_problem(c->sink, "missing-column", hub_view_of(name), err,
                                     "info.json has this feature, the files do not"));
    }
    return HUB_OK;
}

void hub_lerobot_columns_dispose(struct lerobot_columns *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        free(c->items[i].path);
    free(c->items);
}
