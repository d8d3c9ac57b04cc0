/* What the metadata says of episodes: lines of episodes.jsonl, or rows of the tables below meta/episodes.
 * All of it is a claim, kept as the JSON object that a line is; of a table's row its plain columns are. */
#include "storage/formats/lerobot/lerobot.h"

#include <stdio.h>
#include <stdlib.h>

bool hub_lerobot_is_episodes(struct hub_view path)
{
    return hub_view_starts(path, "meta/episodes/") && hub_view_ends(path, ".parquet");
}

bool hub_lerobot_has_tables(const struct hub_files *files)
{
    for (uint32_t i = 0; i < files->count; i++)
        if (hub_lerobot_is_episodes(files->entries[i].path))
            return true;
    return false;
}

/* ---- lists ---- */

static enum hub_status keep(struct lerobot_said_list *list, const struct lerobot_said *said,
                            struct hub_error *err)
{
    HUB_TRY(hub_grow(&list->items, list->count, &list->capacity, sizeof *list->items, err));
    list->items[list->count++] = *said;
    return HUB_OK;
}

const struct lerobot_said *hub_lerobot_said(const struct lerobot_said_list *list, int64_t episode)
{
    return list->count ? bsearch(&episode, list->items, list->count, sizeof *list->items, hub_by_i64) : NULL;
}

void hub_lerobot_said_dispose(struct lerobot_said_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        json_decref(list->items[i].line);
    free(list->items);
    for (uint32_t i = 0; i < list->table_count; i++)
        hub_lerobot_statistics_dispose(&list->tables[i]);
    free(list->tables);
    *list = (struct lerobot_said_list){0};
}

/* ---- lines ---- */

static enum hub_status keep_line(void *user, json_t *line, uint32_t number, struct hub_error *err)
{
    struct lerobot_said_list *list = user;
    const struct lerobot_said said = {hub_lerobot_line_episode(line), line, HUB_NONE, 0};
    (void)number;
    if (said.episode < list->first || said.episode > list->last)
        return HUB_OK;
    json_incref(line);
    const enum hub_status st = keep(list, &said, err);
    if (st)
        json_decref(line);
    return st;
}

enum hub_status hub_lerobot_read_lines(struct hub_files *files, struct hub_sink *sink, const char *path,
                                       struct lerobot_said_list *list, struct hub_error *err)
{
    HUB_TRY(hub_lerobot_lines(
        &(struct lerobot_lines){files, sink, path, list->first, list->last, keep_line, list}, err));
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, hub_by_i64);
    return HUB_OK;
}

/* ---- tables ---- */

static bool is_statistic(const struct hub_parquet_leaf *leaf)
{
    return strncmp(leaf->path, "stats/", 6) == 0;
}

/* One item, and of a list its items. A number that is whole is one without a fraction. */
static json_t *value_of(const struct hub_parquet_leaf *leaf, const struct hub_parquet_items *items,
                        uint64_t item)
{
    double value;
    if (leaf->item.kind == HUB_KIND_VAR) {
        const struct hub_view text = hub_lerobot_string(items, item);
        return json_stringn(text.data, text.size);
    }
    memcpy(&value, items->numbers.data + item * sizeof value, sizeof value);
    if (leaf->item.kind == HUB_KIND_BOOL)
        return json_boolean(value != 0);
    return leaf->item.kind == HUB_KIND_FLOAT ? json_real(value) : json_integer((json_int_t)value);
}

static enum hub_status put_column(struct lerobot_said *rows, const struct hub_parquet_leaf *leaf,
                                  const struct hub_parquet_items *items, struct hub_error *err)
{
    for (uint64_t r = 0; r < items->row_count; r++) {
        const uint64_t from = items->starts[r], to = items->starts[r + 1];
        if (from >= to)
            continue;
        json_t *value = leaf->max_rep ? json_array() : value_of(leaf, items, from);
        for (uint64_t i = from; leaf->max_rep && i < to; i++)
            (void)json_array_append_new(value, value_of(leaf, items, i)); /* a NULL is left out */
        if (value && json_object_set_new(rows[r].line, leaf->path, value))
            return hub_no_memory(err);
    }
    return HUB_OK;
}

/* The rows from the first to the last one that is wanted: tables are in the order of their episodes. */
static void find_rows(const struct lerobot_said_list *list, const struct hub_parquet_items *numbers,
                      uint64_t *first, uint64_t *count)
{
    uint64_t end = 0;
    *first = 0;
    for (uint64_t r = 0; r < numbers->row_count; r++) {
        const int64_t episode = hub_lerobot_integer(numbers, r);
        if (episode < list->first || episode > list->last)
            continue;
        *first = end ? *first : r;
        end = r + 1;
    }
    *count = end - *first;
}

static enum hub_status read_rows(struct hub_table *t, struct lerobot_said *rows, uint64_t first,
                                 uint64_t count, struct hub_error *err)
{
    for (uint32_t i = 0; i < t->parquet.leaf_count; i++) {
        HUB_CLEANUP(hub_parquet_items_dispose) struct hub_parquet_items items = {0};
        const struct hub_parquet_leaf *leaf = &t->parquet.leaves[i];
        if (is_statistic(leaf) || leaf->image || leaf->part || leaf->node != HUB_NONE ||
            !hub_utf8_valid(hub_view_of(leaf->path)) || strncmp(leaf->path, "__", 2) == 0)
            continue;
        const enum hub_status st = hub_lerobot_table_leaf(t, i, first, count, &items, err);
        if (hub_is_local(st)) /* a column of another kind adds nothing */
            continue;
        HUB_TRY(st);
        HUB_TRY(put_column(rows, leaf, &items, err));
    }
    return HUB_OK;
}

static enum hub_status keep_rows(struct lerobot_said_list *list, const struct lerobot_said *rows,
                                 uint64_t count, struct hub_error *err)
{
    for (uint64_t r = 0; r < count; r++) {
        struct lerobot_said said = rows[r];
        said.episode = hub_lerobot_line_episode(said.line);
        if (said.episode < list->first || said.episode > list->last)
            continue;
        HUB_TRY(keep(list, &said, err));
        json_incref(said.line);
    }
    return HUB_OK;
}

static enum hub_status read_table(struct hub_table *t, struct lerobot_said_list *list, struct hub_error *err)
{
    HUB_CLEANUP(hub_parquet_items_dispose) struct hub_parquet_items numbers = {0};
    HUB_CLEANUP(hub_freep) struct lerobot_said *rows = NULL;
    uint64_t first, count;
    HUB_TRY(hub_lerobot_table_read(t, "episode_index", 0, t->rows, &numbers, err));
    find_rows(list, &numbers, &first, &count);
    if (count == 0)
        return HUB_OK;
    HUB_TRY(hub_new(&rows, (size_t)count, sizeof *rows, err));
    for (uint64_t r = 0; r < count; r++)
        rows[r] = (struct lerobot_said){.line = json_object(), .table = list->table_count, .row = r};
    enum hub_status st = read_rows(t, rows, first, count, err);
    if (!st)
        st = keep_rows(list, rows, count, err);
    for (uint64_t r = 0; r < count; r++)
        json_decref(rows[r].line);
    HUB_TRY(st);
    uint32_t capacity = list->table_count;
    HUB_TRY(hub_grow(&list->tables, list->table_count, &capacity, sizeof *list->tables, err));
    return hub_lerobot_statistics_read(t, first, count, &list->tables[list->table_count++], err);
}

enum hub_status hub_lerobot_read_tables(struct hub_files *files, struct lerobot_said_list *list,
                                        struct hub_error *err)
{
    for (uint32_t i = 0; i < files->count; i++) {
        HUB_CLEANUP(hub_table_dispose) struct hub_table table = {.rows = 0};
        struct hub_error why = {0};
        if (!hub_lerobot_is_episodes(files->entries[i].path))
            continue;
        enum hub_status st = hub_lerobot_table_open(files, i, &table, &why);
        if (!st)
            st = read_table(&table, list, &why);
        if (st && !hub_is_local(st)) /* the plan has reported what is damaged */
            return hub_pass(st, &why, err);
    }
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, hub_by_i64);
    return HUB_OK;
}
