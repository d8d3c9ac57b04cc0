/* Fields of a part: one blob of what each is, a blob of each layout, and one of the windows that layouts
 * share: in a part of very many episodes they are nearly all of a layout, and those of most fields are the
 * same. */
#include "storage/catalog/fields.h"

#include "storage/base/pack.h"

#include <stdlib.h>

#define MAX_FIELDS_BYTES (64 * MIB)

enum { SHARED_WINDOWS = 4096, MAX_SHARED = 8 }; /* fewer are not worth a blob; different ones of a part */

/* ---- shapes ---- */

void hub_shape_add(struct hub_shape *shape, const struct hub_shape *more)
{
    if (!more->dtype[0])
        return;
    if (!shape->dtype[0]) {
        *shape = *more;
        return;
    }
    shape->known = shape->known && more->known && shape->rank == more->rank;
    for (uint32_t i = 0; shape->known && i < shape->rank; i++)
        if (shape->dims[i] != more->dims[i])
            shape->dims[i] = HUB_DIMS_VARIES;
}

static void shape_of_layout(const struct hub_layout *layout, enum hub_field_type type, struct hub_shape *out)
{
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < layout->counts[HUB_T_ARRAYS]; i++) {
        const uint32_t number = layout->arrays[i].variant;
        if (number >= layout->counts[HUB_T_VARIANTS])
            continue;
        const struct hub_variant *variant = &layout->variants[number];
        struct hub_shape one = {.known = variant->rank <= HUB_MAX_RANK, .rank = variant->rank};
        hub_variant_name(variant, type, one.dtype);
        for (uint32_t j = 0; one.known && j < one.rank; j++)
            one.dims[j] = variant->dims[j];
        if (variant->kind == HUB_KIND_VAR && variant->sequence) {
            one.rank = 1;
            one.dims[0] = HUB_DIMS_VARIES;
        }
        hub_shape_add(out, &one);
    }
}

/* ---- writing ---- */

static enum hub_status put_shape(struct hub_buf *out, const struct hub_shape *shape, struct hub_error *err)
{
    HUB_TRY(hub_pack_text(out, shape->dtype, err));
    HUB_TRY(hub_pack_uint(out, shape->known, err));
    const uint32_t rank = shape->known ? shape->rank : 0;
    HUB_TRY(hub_pack_uint(out, rank, err));
    return hub_buf_add(out, shape->dims, rank * sizeof shape->dims[0], err);
}

/* Windows of a part that have a blob of their own. */
struct shared_windows {
    struct hub_view items[MAX_SHARED];
    uint32_t count;
};

static enum hub_status write_windows(struct hub_db *db, int64_t part, struct shared_windows *shared,
                                     struct hub_view windows, uint32_t *number, struct hub_error *err)
{
    char name[HUB_WINDOWS_NAME];
    for (*number = 1; *number <= shared->count; ++*number)
        if (hub_view_equal(shared->items[*number - 1], windows))
            return HUB_OK;
    shared->items[shared->count++] = windows;
    hub_windows_name(*number, name);
    return hub_blob_write(db, part, HUB_BLOB_WINDOWS, name, windows, err);
}

static enum hub_status write_layout(struct hub_db *db, int64_t part, const char *path,
                                    struct shared_windows *shared, const struct hub_layout *layout,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf cut = HUB_BUF_INIT(HUB_MAX_LAYOUT_BYTES);
    const uint32_t count = layout->counts[HUB_T_WINDOWS];
    const struct hub_view windows = {(const char *)layout->windows, count * sizeof *layout->windows};
    uint32_t number;
    if (count < SHARED_WINDOWS || shared->count == MAX_SHARED)
        return hub_blob_write(db, part, HUB_BLOB_LAYOUT, path,
                              (struct hub_view){(const char *)layout->head, layout->size}, err);
    HUB_TRY(write_windows(db, part, shared, windows, &number, err));
    HUB_TRY(hub_layout_cut(layout, number, &cut, err));
    return hub_blob_write(db, part, HUB_BLOB_LAYOUT, path, hub_buf_view(&cut), err);
}

static enum hub_status put_field(struct hub_db *db, int64_t part, const struct hub_found_field *field,
                                 struct shared_windows *shared, struct hub_buf *out, struct hub_error *err)
{
    struct hub_shape shape = {.dtype = ""};
    uint32_t windows = 0;
    if (field->layout) {
        struct hub_layout opened;
        HUB_TRY(hub_layout_open(field->layout, field->layout_size, &opened, err));
        shape_of_layout(&opened, field->type, &shape);
        windows = opened.counts[HUB_T_WINDOWS];
        HUB_TRY(write_layout(db, part, field->path, shared, &opened, err));
    }
    HUB_TRY(hub_pack_text(out, field->path, err));
    HUB_TRY(hub_pack_option(out, field->unreadable, err));
    HUB_TRY(hub_pack_uint(out, field->type, err));
    HUB_TRY(hub_pack_uint(out, field->role, err));
    HUB_TRY(hub_pack_uint(out, field->axis, err));
    HUB_TRY(hub_pack_uint(out, windows, err));
    return put_shape(out, &shape, err);
}

enum hub_status hub_fields_write(struct hub_db *db, int64_t part, const struct hub_findings *found,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(MAX_FIELDS_BYTES);
    struct shared_windows shared = {.count = 0};
    HUB_TRY(hub_pack_uint(&out, found->field_count, err));
    for (uint32_t i = 0; i < found->field_count; i++)
        HUB_TRY(put_field(db, part, &found->fields[i], &shared, &out, err));
    return hub_blob_write(db, part, HUB_BLOB_FIELDS, "", hub_buf_view(&out), err);
}

/* ---- reading ---- */

static void get_shape(struct hub_cursor *c, struct hub_shape *shape)
{
    const struct hub_view dtype = hub_unpack_view(c);
    memcpy(shape->dtype, dtype.data, HUB_MIN(dtype.size, sizeof shape->dtype - 1));
    shape->known = hub_unpack_uint(c);
    const uint32_t rank = hub_unpack_u32(c);
    shape->rank = HUB_MIN(rank, (uint32_t)HUB_MAX_RANK);
    const uint8_t *dims = hub_cursor_bytes(c, shape->rank * sizeof shape->dims[0]);
    if (dims)
        memcpy(shape->dims, dims, shape->rank * sizeof shape->dims[0]);
}

static void get_field(struct hub_cursor *c, char **arena, struct hub_kept_field *field)
{
    field->path = (char *)hub_unpack_text(c, arena);
    field->unreadable = (char *)hub_unpack_option(c, arena);
    field->type = (enum hub_field_type)hub_unpack_u32(c);
    field->role = (enum hub_role)hub_unpack_u32(c);
    field->axis = (enum hub_axis)hub_unpack_u32(c);
    field->episodes = hub_unpack_u32(c);
    field->readable = !field->unreadable;
    get_shape(c, &field->shape);
}

enum hub_status hub_fields_read(struct hub_catalog *catalog, struct hub_db *db, int64_t part,
                                struct hub_fields *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_view blob;
    const struct hub_blob_id id = {catalog, db, part, HUB_BLOB_FIELDS, ""};
    const enum hub_status st = hub_blob_read(&id, &stmt, &blob, err);
    if (st)
        return st == HUB_NOT_FOUND ? hub_blob_missing(catalog, db, part, err) : st;
    struct hub_cursor c = hub_cursor_of(blob.data, blob.size);
    const uint32_t count = hub_unpack_count(&c);
    HUB_TRY(hub_new(&out->items, 1, count * sizeof *out->items + blob.size + 1, err));
    char *arena = (char *)(out->items + count);
    for (out->count = 0; out->count < count && !c.failed; out->count++)
        get_field(&c, &arena, &out->items[out->count]);
    return c.failed ? hub_blob_damaged(catalog, db, part, err) : HUB_OK;
}

void hub_fields_dispose(struct hub_fields *fields)
{
    free(fields->items);
    *fields = (struct hub_fields){0};
}
