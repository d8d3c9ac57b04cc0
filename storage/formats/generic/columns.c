/* Parquet files and Arrow IPC ones, files and streams: a field a column. */
#include "storage/formats/generic/generic.h"
#include "storage/formats/table/table.h"

#include <stdlib.h>

static bool is_parquet(const uint8_t *head, size_t size)
{
    return size >= 4 && (memcmp(head, "PAR1", 4) == 0 || memcmp(head, "PARE", 4) == 0);
}

static bool is_arrow(const uint8_t *head, size_t size)
{
    return size >= 8 && (memcmp(head, "ARROW1\0", 8) == 0 || memcmp(head, "\xff\xff\xff\xff", 4) == 0);
}

struct naming {
    struct hub_view path, named;
};

static enum hub_status declare(struct hub_sink *sink, const struct naming *name,
                               const struct hub_table_column *c, uint32_t *number, struct hub_error *err)
{
    return hub_sink_field(
        sink,
        &(struct hub_field){.path = name->path,
                            .type = hub_column_type(c->type, &c->variant, name->named, false),
                            .role = hub_role_of(name->named),
                            .axis = HUB_AXIS_STEP},
        number, err);
}

static enum hub_status place_column(const struct generic_place *at, struct hub_table *table,
                                    struct hub_table_column *c, const struct naming *name,
                                    struct hub_error *err)
{
    struct hub_window window = {.episode = at->episode, .count = c->rows};
    struct hub_layout_builder *builder;
    struct hub_error why = {0};
    uint32_t number;
    HUB_TRY(declare(at->sink, name, c, &number, err));
    HUB_TRY(hub_sink_layout(at->sink, number, &builder, err));
    const enum hub_status st = hub_table_place(table, c, at->files, builder, &window.array, &why);
    if (hub_is_local(st))
        return hub_sink_refuse(at->sink, number, at->episode, why.detail, err);
    if (st)
        return hub_pass(st, &why, err);
    HUB_TRY(hub_report_nulls(at->sink, name->path, hub_lost_nulls(&c->variant, c->nulls), err));
    return hub_layout_add_window(builder, &window, err);
}

static enum hub_status add_column(const struct generic_place *at, struct hub_table *table, uint32_t index,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_table_column_dispose) struct hub_table_column c = {.index = index};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(HUB_MAX_PATH);
    const char *path = hub_table_path(table, index);
    struct naming name;
    struct hub_error why = {0};
    if (!path)
        return HUB_OK;
    HUB_TRY(generic_path(at, hub_view_of(path), &text, &name.named, err));
    name.path = hub_buf_view(&text);
    if (hub_table_find(table, path) != index)
        return hub_report_repeated(at->sink, name.path, err);
    const enum hub_status st = hub_table_read(table, index, table->rows, &c, &why);
    if (hub_is_local(st))
        return hub_report_unreadable(at->sink, name.path, at->episode, why.detail, err);
    return st ? hub_pass(st, &why, err) : place_column(at, table, &c, &name, err);
}

static enum hub_status open(const struct generic_place *at, void **state, struct hub_error *err)
{
    struct hub_table *table = NULL;
    HUB_TRY(hub_new(&table, 1, sizeof *table, err));
    *state = table;
    return hub_table_open(at->files, at->file, table, err);
}

/* A vote a column, so that a table counts for what it holds; one without columns has rows all the same. */
static size_t vote(const void *state, struct hub_row_vote *votes, size_t room)
{
    const struct hub_table *table = state;
    const size_t count = HUB_MIN(HUB_MAX(table->count, 1U), room);
    for (size_t i = 0; i < count; i++)
        votes[i] = (struct hub_row_vote){.rows = table->rows};
    return count;
}

static enum hub_status place(const struct generic_place *at, void *state, struct hub_error *err)
{
    struct hub_table *table = state;
    for (uint32_t i = 0; i < table->count; i++)
        HUB_TRY(add_column(at, table, i, err));
    return HUB_OK;
}

static void close(void *state)
{
    hub_table_dispose(state);
    free(state);
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
const struct generic_container generic_parquet = {.endings = parquet_endings,
                                                  .is = is_parquet,
                                                  .open = open,
                                                  .vote = vote,
                                                  .place = place,
                                                  .close = close,
                                                  .alike = alike};
const struct generic_container generic_arrow = {.endings = arrow_endings,
                                                .is = is_arrow,
                                                .open = open,
                                                .vote = vote,
                                                .place = place,
                                                .close = close,
                                                .alike = alike};
