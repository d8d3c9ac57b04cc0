/* Parquet files and Arrow IPC ones, files and streams: a field a column. */
#include "storage/formats/generic/generic.h"
#include "storage/formats/kit/table_kit.h"

#include <stdlib.h>

static bool is_parquet(const uint8_t *head, size_t size)
{
    return size >= 4 && (memcmp(head, "PAR1", 4) == 0 || memcmp(head, "PARE", 4) == 0);
}

static bool is_arrow(const uint8_t *head, size_t size)
{
    return size >= 8 && (memcmp(head, "ARROW1\0", 8) == 0 || memcmp(head, "\xff\xff\xff\xff", 4) == 0);
}

/* `user`: what of the field's path says its role. */
static enum hub_status read_column(void *user, struct hub_table *table, struct hub_table_field *field,
                                   struct hub_table_column *c, struct hub_error *why)
{
    const struct hub_view *named = user;
    HUB_TRY(hub_table_read(table, c->index, table->rows, c, why));
    c->type = hub_column_type(c->type, &c->variant, *named, false);
    field->role = hub_role_of(*named);
    field->axis = HUB_AXIS_STEP;
    return HUB_OK;
}

static const struct hub_table_dialect dialect = {.read = read_column};

static enum hub_status add_column(const struct generic_input *at, struct hub_table *table, uint32_t index,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(HUB_MAX_PATH);
    const char *path = hub_table_path(table, index);
    struct hub_view named;
    struct hub_window window = {.episode = at->episode, .count = table->rows};
    const struct hub_table_fields fields = {
        .dialect = &dialect, .user = &named, .files = at->files, .sink = at->sink};
    if (!path)
        return HUB_OK;
    HUB_TRY(generic_path(at, hub_view_of(path), &text, &named, err));
    if (hub_table_find(table, path) != index)
        return hub_report_repeated(at->sink, hub_buf_view(&text), err);
    struct hub_table_field field = hub_table_field_of(text.data);
    HUB_TRY(hub_table_field_add(&fields, &field, table, index, &window, 1, err));
    return hub_report_nulls(at->sink, hub_buf_view(&text), field.nulls, err);
}

static enum hub_status open(const struct generic_input *at, void **state, struct hub_error *err)
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

static enum hub_status lay_out(const struct generic_input *at, void *state, struct hub_error *err)
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
                                                  .lay_out = lay_out,
                                                  .close = close,
                                                  .alike = alike};
const struct generic_container generic_arrow = {.endings = arrow_endings,
                                                .is = is_arrow,
                                                .open = open,
                                                .vote = vote,
                                                .lay_out = lay_out,
                                                .close = close,
                                                .alike = alike};
