/* Columns of tables as fields: see table_kit.h. */
#include "storage/formats/kit/table_kit.h"

#include <stdlib.h>

struct hub_table_field hub_table_field_of(char *path)
{
    return (struct hub_table_field){.path = path,
                                    .number = HUB_NONE,
                                    .role = hub_role_of(hub_view_of(path)),
                                    .type = HUB_FIELD_OPAQUE,
                                    .last = HUB_NONE};
}

enum hub_status hub_table_fields_find(struct hub_table_fields *fields, const char *path, uint32_t near,
                                      struct hub_table_field **out, struct hub_error *err)
{
    char *own = NULL;
    for (uint32_t i = 0; i < fields->count; i++) { /* tables of a set have the same columns in one order */
        *out = &fields->items[(near + i) % fields->count];
        if (strcmp((*out)->path, path) == 0)
            return HUB_OK;
    }
    HUB_TRY(hub_grow(&fields->items, fields->count, &fields->capacity, sizeof *fields->items, err));
    HUB_TRY(hub_dup(&own, path, err));
    *out = &fields->items[fields->count++];
    **out = hub_table_field_of(own);
    return HUB_OK;
}

void hub_table_fields_dispose(struct hub_table_fields *fields)
{
    for (uint32_t i = 0; i < fields->count; i++)
        free(fields->items[i].path);
    free(fields->items);
}

enum hub_status hub_table_field_declare(const struct hub_table_fields *fields, struct hub_table_field *field,
                                        enum hub_field_type type, struct hub_error *err)
{
    const struct hub_field declared = {
        .path = hub_view_of(field->path), .type = type, .role = field->role, .axis = field->axis};
    field->type = type;
    return hub_sink_field(fields->sink, &declared, &field->number, err);
}

enum hub_status hub_table_field_lay_out(const struct hub_table_fields *fields, struct hub_table_field *field,
                                        struct hub_table *table, uint32_t index, struct hub_window *windows,
                                        uint32_t count, struct hub_error *why)
{
    HUB_CLEANUP(hub_table_column_dispose) struct hub_table_column column = {.index = index};
    struct hub_layout_builder *builder;
    uint32_t array;
    HUB_TRY(fields->dialect->read(fields->user, table, field, &column, why));
    if (field->readings.readable && field->type != column.type)
        return hub_fail(why, HUB_UNSUPPORTED, "its type differs from the first episode's");
    if (!field->readings.readable)
        HUB_TRY(hub_table_field_declare(fields, field, column.type, why));
    field->variant = column.variant;
    HUB_TRY(hub_sink_layout(fields->sink, field->number, &builder, why));
    HUB_TRY(hub_table_lay_out(table, &column, fields->files, builder, &array, why));
    for (uint32_t i = 0; i < count; i++) {
        windows[i].array = array;
        HUB_TRY(hub_layout_add_window(builder, &windows[i], why));
    }
    field->readings.readable += fields->dialect->by_file ? 1 : count;
    field->nulls += hub_lost_nulls(&column.variant, column.nulls);
    return HUB_OK;
}

enum hub_status hub_table_field_refuse(const struct hub_table_fields *fields, struct hub_table_field *field,
                                       const struct hub_window *windows, uint32_t count, const char *why,
                                       struct hub_error *err)
{
    if (field->number == HUB_NONE)
        HUB_TRY(hub_table_field_declare(fields, field, HUB_FIELD_OPAQUE, err));
    for (uint32_t i = 0; i < count; i++)
        HUB_TRY(hub_sink_refuse(fields->sink, field->number, windows[i].episode, why, err));
    return HUB_OK;
}

enum hub_status hub_table_field_add(const struct hub_table_fields *fields, struct hub_table_field *field,
                                    struct hub_table *table, uint32_t index, struct hub_window *windows,
                                    uint32_t count, struct hub_error *err)
{
    struct hub_error why = {0};
    const enum hub_status st = hub_table_field_lay_out(fields, field, table, index, windows, count, &why);
    if (!hub_is_local(st))
        return st ? hub_pass(st, &why, err) : HUB_OK;
    for (uint32_t i = 0; i < count; i++)
        hub_tally_add(&field->readings.unreadable, "%s", why.detail);
    return hub_table_field_refuse(fields, field, windows, count, why.detail, err);
}

enum hub_status hub_table_field_report_odd(const struct hub_table_fields *fields,
                                           const struct hub_table_field *field, struct hub_error *err)
{
    uint32_t odd = 0;
    for (unsigned axis = 0; field->axis != HUB_AXIS_NONE && axis < HUB_AXIS_COUNT; axis++)
        odd += axis == field->axis ? 0 : field->votes[axis];
    return hub_report_odd(fields->sink, hub_view_of(field->path), odd, field->axis, "", err);
}

void hub_table_cut(const uint64_t *offsets, struct hub_window *windows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        windows[i].first = offsets[i];
        windows[i].count = offsets[i + 1] - offsets[i];
    }
}
