/* Parquet files and Arrow IPC ones, files and streams: a field a column. */
#include "storage/formats/generic/generic.h"
#include "storage/formats/kit/array.h"
#include "storage/formats/table/table.h"

static bool is_parquet(const uint8_t *head, size_t size)
{
    return size >= 4 && (memcmp(head, "PAR1", 4) == 0 || memcmp(head, "PARE", 4) == 0);
}

static bool is_arrow(const uint8_t *head, size_t size)
{
    return size >= 8 && (memcmp(head, "ARROW1\0", 8) == 0 || memcmp(head, "\xff\xff\xff\xff", 4) == 0);
}

static enum hub_status declare(struct hub_sink *sink, struct hub_view path, const struct hub_table_column *c,
                               uint32_t *number, struct hub_error *err)
{
    return hub_sink_field(sink,
                          &(struct hub_field){.path = path,
                                              .type = hub_column_type(c->type, &c->variant, path, false),
                                              .role = hub_role_of(path),
                                              .axis = HUB_AXIS_STEP},
                          number, err);
}

static enum hub_status place(struct hub_table *table, struct hub_table_column *c, struct hub_files *files,
                             struct hub_sink *sink, uint32_t episode, struct hub_error *err)
{
    const struct hub_view path = hub_view_of(hub_table_path(table, c->index));
    struct hub_window window = {.episode = episode, .count = c->rows};
    struct hub_layout_builder *builder;
    struct hub_error why = {0};
    uint32_t number;
    HUB_TRY(declare(sink, path, c, &number, err));
    HUB_TRY(hub_sink_layout(sink, number, &builder, err));
    const enum hub_status st = hub_table_place(table, c, files, builder, &window.array, &why);
    if (hub_is_local(st))
        return hub_sink_refuse(sink, number, episode, why.detail, err);
    if (st)
        return hub_pass(st, &why, err);
    HUB_TRY(hub_tell_nulls(sink, path, hub_lost_nulls(&c->variant, c->nulls), err));
    return hub_layout_add_window(builder, &window, err);
}

static enum hub_status add_column(struct hub_table *table, uint32_t index, struct hub_files *files,
                                  struct hub_sink *sink, uint32_t episode, struct hub_error *err)
{
    HUB_CLEANUP(hub_table_column_dispose) struct hub_table_column c = {.index = index};
    const char *path = hub_table_path(table, index);
    struct hub_error why = {0};
    if (!path)
        return HUB_OK;
    if (hub_table_find(table, path) != index)
        return hub_tell_repeated(sink, hub_view_of(path), err);
    const enum hub_status st = hub_table_read(table, index, table->rows, &c, &why);
    if (hub_is_local(st))
        return hub_tell_unreadable(sink, hub_view_of(path), episode, why.detail, err);
    return st ? hub_pass(st, &why, err) : place(table, &c, files, sink, episode, err);
}

static enum hub_status inspect(struct hub_files *files, const struct generic_one *one, struct hub_sink *sink,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_table_dispose) struct hub_table table = {.rows = 0};
    uint32_t index;
    HUB_TRY(hub_table_open(files, one->file, &table, err));
    HUB_TRY(generic_episode(sink, one, table.rows, &index, err));
    for (uint32_t i = 0; i < table.count; i++)
        HUB_TRY(add_column(&table, i, files, sink, index, err));
    return HUB_OK;
}

static bool same_columns(const struct hub_table *a, const struct hub_table *b)
{
    for (uint32_t i = 0; i < a->count; i++) {
        const char *path = hub_table_path(a, i);
        if (path && hub_table_find(b, path) == HUB_NONE)
            return false;
    }
    return a->count == b->count;
}

static bool alike(struct hub_files *files, uint32_t a, uint32_t b)
{
    HUB_CLEANUP(hub_table_dispose) struct hub_table one = {.rows = 0}, other = {.rows = 0};
    return !hub_table_open(files, a, &one, NULL) && !hub_table_open(files, b, &other, NULL) &&
           same_columns(&one, &other);
}

static const char *const parquet_endings[] = {".parquet", NULL};
static const char *const arrow_endings[] = {".arrow", ".feather", NULL};
const struct generic_container generic_parquet = {parquet_endings, is_parquet, NULL, inspect, NULL, alike};
const struct generic_container generic_arrow = {arrow_endings, is_arrow, NULL, inspect, NULL, alike};
