/*
 * Fields of an Arrow schema as a flat tree, where the buffers of each stand in a record batch, and the
 * columns a reader sees: leaves of structs, each with all the lists around its values. A struct {bytes,
 * path}, as the library datasets stores pictures, is one column.
 */
#include "storage/formats/arrow/schema.h"

#include <stdlib.h>

/* Tables of Schema.fbs, by the numbers of their fields. */
enum { SCHEMA_ENDIANNESS, SCHEMA_FIELDS };
enum {
    FIELD_NAME,
    FIELD_NULLABLE,
    FIELD_TYPE_TYPE,
    FIELD_TYPE,
    FIELD_DICTIONARY,
    FIELD_CHILDREN,
    FIELD_METADATA
};
enum { KEY_VALUE_KEY, KEY_VALUE_VALUE };
enum { MAX_SHAPE = 120, MAX_PAIRS = 1000 };

static void describe_integer(struct hub_arrow_field *f, bool is_signed, int64_t bits)
{
    f->item = (struct hub_variant){.kind = is_signed ? HUB_KIND_INT : HUB_KIND_UINT,
                                   .item_size = (uint32_t)(bits / 8)};
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
        f->trouble = "integers of an impossible width";
}

static void describe_float(struct hub_arrow_field *f, int64_t precision)
{
    f->item = (struct hub_variant){.kind = HUB_KIND_FLOAT, .item_size = (uint32_t)2 << (precision & 3)};
    if (precision < 0 || precision > 2)
        f->trouble = "floats of an unknown precision";
}

/* Times are given as the integers they are. */
static void describe_type(struct hub_arrow_field *f, const struct hub_flat_table *type)
{
    switch ((enum hub_arrow_type)f->type) {
    case HUB_ARROW_INT:
        describe_integer(f, hub_flat_int(type, 1, 1, 0) != 0, hub_flat_int(type, 0, 4, 0));
        break;
    case HUB_ARROW_FLOAT:
        describe_float(f, hub_flat_int(type, 0, 2, 0));
        break;
    case HUB_ARROW_BOOL:
        f->item = (struct hub_variant){.kind = HUB_KIND_BOOL, .item_size = 1};
        break;
    case HUB_ARROW_DATE: /* of days, or (the default) of milliseconds */
        describe_integer(f, true, hub_flat_int(type, 0, 2, 1) == 0 ? 32 : 64);
        break;
    case HUB_ARROW_TIME:
        describe_integer(f, true, hub_flat_int(type, 1, 4, 32));
        break;
    case HUB_ARROW_TIMESTAMP:
    case HUB_ARROW_DURATION:
        describe_integer(f, true, 64);
        break;
    case HUB_ARROW_FIXED_BINARY:
    case HUB_ARROW_FIXED_LIST: {
        const int64_t width = hub_flat_int(type, 0, 4, 0);
        f->width = width > 0 ? (uint32_t)width : 0;
        if (width < 0)
            f->trouble = "rows of a negative length";
        break;
    }
    case HUB_ARROW_BINARY:
    case HUB_ARROW_UTF8:
    case HUB_ARROW_LARGE_BINARY:
    case HUB_ARROW_LARGE_UTF8:
    case HUB_ARROW_LIST:
    case HUB_ARROW_LARGE_LIST:
    case HUB_ARROW_STRUCT:
        break;
    case HUB_ARROW_NULL:
        f->trouble = "nothing but nulls";
        break;
    case HUB_ARROW_DECIMAL:
        f->trouble = "decimal numbers; write them as floats";
        break;
    case HUB_ARROW_INTERVAL:
        f->trouble = "intervals; write them as durations";
        break;
    case HUB_ARROW_UNION:
        f->width = hub_flat_int(type, 0, 2, 0) == 0 ? 1 : 2; /* sparse, dense: its buffers */
        f->trouble = "a union; write each of its types as a column";
        break;
    case HUB_ARROW_MAP:
        f->trouble = "a map; write it as a struct";
        break;
    case HUB_ARROW_RUN_END:
        f->trouble = "run-end encoded; write it plain";
        break;
    case HUB_ARROW_BINARY_VIEW:
    case HUB_ARROW_UTF8_VIEW:
        f->trouble = "string views; write them as utf8 or binary";
        break;
    case HUB_ARROW_LIST_VIEW:
    case HUB_ARROW_LARGE_LIST_VIEW:
        f->trouble = "list views; write them as lists";
        break;
    default:
        f->trouble = "an unknown type";
    }
}

/* How many buffers a batch has for a field itself (Columnar format, version 5). */
static uint32_t own_buffers(const struct hub_arrow_field *f)
{
    switch ((enum hub_arrow_type)f->type) {
    case HUB_ARROW_NULL:
    case HUB_ARROW_RUN_END:
        return 0;
    case HUB_ARROW_UNION:
        return f->width;
    case HUB_ARROW_STRUCT:
    case HUB_ARROW_FIXED_LIST:
        return 1;
    case HUB_ARROW_BINARY:
    case HUB_ARROW_UTF8:
    case HUB_ARROW_LARGE_BINARY:
    case HUB_ARROW_LARGE_UTF8:
    case HUB_ARROW_LIST_VIEW:
    case HUB_ARROW_LARGE_LIST_VIEW:
        return 3;
    default:
        return 2; /* views: and others behind them, as many as the batch says */
    }
}

static enum hub_status keep_shape(struct hub_arrow_field *f, const struct hub_flat_table *field,
                                  struct hub_error *err)
{
    const struct hub_flat_vector pairs = hub_flat_vector(field, FIELD_METADATA, 4);
    for (uint32_t i = 0; i < HUB_MIN(pairs.count, MAX_PAIRS) && !f->shape; i++) {
        const struct hub_flat_table pair = hub_flat_item(&pairs, i);
        const struct hub_view value = hub_flat_text(&pair, KEY_VALUE_VALUE);
        if (!hub_view_is(hub_flat_text(&pair, KEY_VALUE_KEY), "shape") || value.size > MAX_SHAPE)
            continue;
        f->shape = hub_view_dup(value);
        HUB_TRY(hub_allocated(f->shape, err));
    }
    return HUB_OK;
}

static const char *children_trouble(const struct hub_arrow_field *f, uint32_t children)
{
    const bool list =
        f->type == HUB_ARROW_LIST || f->type == HUB_ARROW_LARGE_LIST || f->type == HUB_ARROW_FIXED_LIST;
    return list && children != 1                              ? "a list without items of one type"
           : children && !list && f->type != HUB_ARROW_STRUCT ? "members of a type that has none"
                                                              : NULL;
}

static enum hub_status add_field(struct hub_arrow *a, const struct hub_flat_table *field, uint32_t parent,
                                 unsigned depth, struct hub_error *err);

/* A dictionary's values, and what is below them, lie in other messages: the batch has its indices. */
static enum hub_status add_below(struct hub_arrow *a, uint32_t at, const struct hub_flat_table *field,
                                 unsigned depth, struct hub_error *err)
{
    const struct hub_flat_vector children = hub_flat_vector(field, FIELD_CHILDREN, 4);
    const bool dictionary = hub_flat_table(field, FIELD_DICTIONARY).in != NULL;
    if (dictionary)
        a->fields[at].trouble = "dictionary-encoded; write it plain";
    else if (!a->fields[at].trouble)
        a->fields[at].trouble = children_trouble(&a->fields[at], children.count);
    a->buffer_count += dictionary ? 2 : own_buffers(&a->fields[at]);
    for (uint32_t i = 0; !dictionary && i < children.count; i++) {
        const struct hub_flat_table child = hub_flat_item(&children, i);
        HUB_TRY(add_field(a, &child, at, depth + 1, err));
        a->fields[at].children++;
    }
    a->fields[at].end = a->field_count;
    return HUB_OK;
}

static enum hub_status add_field(struct hub_arrow *a, const struct hub_flat_table *field, uint32_t parent,
                                 unsigned depth, struct hub_error *err)
{
    if (depth > HUB_ARROW_MAX_DEPTH || a->field_count == HUB_ARROW_MAX_FIELDS)
        return hub_fail(err, HUB_TOO_BIG, "a schema of more than %d fields, or nested deeper than %d",
                        HUB_ARROW_MAX_FIELDS, HUB_ARROW_MAX_DEPTH);
    const struct hub_view name = hub_flat_text(field, FIELD_NAME);
    if (!field->in || field->in->failed || memchr(name.data, '\0', name.size))
        return hub_fail(err, HUB_CORRUPT, "a damaged schema");
    if (name.size > HUB_MAX_PATH)
        return hub_fail(err, HUB_TOO_BIG, "a column's name of %zu bytes", name.size);
    HUB_TRY(hub_grow(&a->fields, a->field_count, &a->field_capacity, sizeof *a->fields, err));
    const uint32_t at = a->field_count++;
    struct hub_arrow_field *f = &a->fields[at];
    *f = (struct hub_arrow_field){.name = hub_view_dup(name),
                                  .parent = parent,
                                  .node = a->node_count++,
                                  .buffer = a->buffer_count,
                                  .type = (uint8_t)hub_flat_int(field, FIELD_TYPE_TYPE, 1, 0)};
    HUB_TRY(hub_allocated(f->name, err));
    const struct hub_flat_table type = hub_flat_table(field, FIELD_TYPE);
    describe_type(f, &type);
    HUB_TRY(keep_shape(f, field, err));
    return add_below(a, at, field, depth, err);
}

/* ---- columns ---- */

static bool is_text(uint8_t type)
{
    return type == HUB_ARROW_UTF8 || type == HUB_ARROW_LARGE_UTF8;
}

/* The member of a struct {bytes, path} that holds pictures, or HUB_NONE. */
static uint32_t picture_of(const struct hub_arrow *a, uint32_t at)
{
    const struct hub_arrow_field *f = &a->fields[at];
    if (f->type != HUB_ARROW_STRUCT || f->children != 2 || f->end != at + 3)
        return HUB_NONE;
    for (uint32_t i = 1; i <= 2; i++) {
        const struct hub_arrow_field *bytes = &a->fields[at + i], *path = &a->fields[at + 3 - i];
        if (strcmp(bytes->name, "bytes") == 0 && strcmp(path->name, "path") == 0 && is_text(path->type) &&
            (bytes->type == HUB_ARROW_BINARY || bytes->type == HUB_ARROW_LARGE_BINARY))
            return at + i;
    }
    return HUB_NONE;
}

static enum hub_status add_column(struct hub_arrow *a, const char *path, uint32_t top, uint32_t leaf,
                                  const char *trouble, struct hub_error *err)
{
    HUB_TRY(hub_grow(&a->columns, a->column_count, &a->column_capacity, sizeof *a->columns, err));
    char *copy;
    HUB_TRY(hub_dup(&copy, path, err));
    a->columns[a->column_count++] = (struct hub_arrow_column){copy, top, leaf, trouble};
    return HUB_OK;
}

static enum hub_status add_columns(struct hub_arrow *a, const char *path, uint32_t top, uint32_t at,
                                   bool in_list, struct hub_error *err)
{
    const struct hub_arrow_field *f = &a->fields[at];
    const uint32_t picture = picture_of(a, at);
    if (f->trouble)
        return add_column(a, path, top, at, f->trouble, err);
    if (f->type == HUB_ARROW_STRUCT && in_list)
        return add_column(a, path, top, at, NULL, err); /* its rows are JSON */
    if (picture != HUB_NONE)
        return add_column(a, path, top, picture, a->fields[picture].trouble, err);
    if (f->type == HUB_ARROW_LIST || f->type == HUB_ARROW_LARGE_LIST || f->type == HUB_ARROW_FIXED_LIST)
        return add_columns(a, path, top, at + 1, true, err);
    if (f->type != HUB_ARROW_STRUCT)
        return add_column(a, path, top, at, NULL, err);
    for (uint32_t child = at + 1; child < f->end; child = a->fields[child].end) {
        HUB_CLEANUP(hub_buf_dispose)
        struct hub_buf below = HUB_BUF_INIT((HUB_ARROW_MAX_DEPTH + 1) * (HUB_MAX_PATH + 1));
        const enum hub_status st = hub_buf_addf(&below, err, "%s/%s", path, a->fields[child].name);
        HUB_TRY(st ? st : add_columns(a, below.data, top, child, false, err));
    }
    return HUB_OK;
}

/* ---- the whole ---- */

enum hub_status hub_arrow_read_schema(struct hub_arrow *a, const struct hub_flat_table *schema,
                                      struct hub_error *err)
{
    const struct hub_flat_vector fields = hub_flat_vector(schema, SCHEMA_FIELDS, 4);
    if (!schema->in || schema->in->failed)
        return hub_fail(err, HUB_CORRUPT, "a damaged schema");
    if (hub_flat_int(schema, SCHEMA_ENDIANNESS, 2, 0) != 0)
        return hub_fail(err, HUB_UNSUPPORTED, "big-endian Arrow data; write it on a little-endian machine");
    for (uint32_t i = 0; i < fields.count; i++) {
        const struct hub_flat_table field = hub_flat_item(&fields, i);
        HUB_TRY(add_field(a, &field, HUB_NONE, 0, err));
    }
    if (schema->in->failed)
        return hub_fail(err, HUB_CORRUPT, "a damaged schema");
    for (uint32_t at = 0; at < a->field_count; at = a->fields[at].end)
        HUB_TRY(add_columns(a, a->fields[at].name, at, at, false, err));
    return HUB_OK;
}

bool hub_arrow_same_schema(const struct hub_arrow *a, const struct hub_arrow *b)
{
    bool same = a->field_count == b->field_count;
    for (uint32_t i = 0; same && i < a->field_count; i++) {
        const struct hub_arrow_field *x = &a->fields[i], *y = &b->fields[i];
        same = x->type == y->type && x->width == y->width && x->end == y->end &&
               hub_variant_equal(&x->item, &y->item) && x->trouble == y->trouble &&
               strcmp(x->name, y->name) == 0;
    }
    return same;
}

uint32_t hub_arrow_find(const struct hub_arrow *arrow, const char *path)
{
    for (uint32_t i = 0; i < arrow->column_count; i++)
        if (strcmp(arrow->columns[i].path, path) == 0)
            return i;
    return HUB_NONE;
}

void hub_arrow_dispose(struct hub_arrow *arrow)
{
    for (uint32_t i = 0; i < arrow->field_count; i++) {
        free(arrow->fields[i].name);
        free(arrow->fields[i].shape);
    }
    for (uint32_t i = 0; i < arrow->column_count; i++)
        free(arrow->columns[i].path);
    free(arrow->fields);
    free(arrow->columns);
    free(arrow->batches);
    free(arrow->nodes);
    free(arrow->buffers);
    hub_buf_dispose(&arrow->stored);
    hub_buf_dispose(&arrow->plain);
    *arrow = (struct hub_arrow){0};
}
