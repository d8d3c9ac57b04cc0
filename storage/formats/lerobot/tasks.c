/* Tasks and subtasks by their numbers: lines of a .jsonl file, or the rows of a table, whose text was the
 * index of a pandas frame: its column has the name of the text, or up to lerobot 0.4 none. */
#include "storage/formats/lerobot/lerobot.h"

#include <stdlib.h>

enum { MAX_FACT = 1024 * 1024 };

const struct lerobot_texts hub_lerobot_tasks = {"tasks", LEROBOT_TASK_TABLE, LEROBOT_TASKS, "task_index",
                                                "task"},
                           hub_lerobot_subtasks = {"subtasks", "meta/subtasks.parquet", "meta/subtasks.jsonl",
                                                   "subtask_index", "subtask"};

struct tasks_reader {
    const struct lerobot_texts *of;
    struct lerobot_said_list *list;
};

static enum hub_status keep(struct tasks_reader *r, int64_t number, json_t *line, struct hub_error *err)
{
    struct lerobot_said_list *list = r->list;
    HUB_TRY(hub_grow(&list->items, list->count, &list->capacity, sizeof *list->items, err));
    list->items[list->count++] = (struct lerobot_said){number, json_incref(line), HUB_NONE, 0};
    return HUB_OK;
}

static enum hub_status keep_line(void *user, json_t *line, uint32_t number, struct hub_error *err)
{
    struct tasks_reader *r = user;
    const json_t *index = json_object_get(line, r->of->number);
    if (!hub_lerobot_text(line, r->of->text))
        return HUB_OK;
    return keep(r, json_is_integer(index) ? json_integer_value(index) : (int64_t)number - 1, line, err);
}

static enum hub_status read_texts(const struct lerobot_texts *of, struct hub_table *t,
                                  struct hub_parquet_items *out, struct hub_error *err)
{
    uint32_t leaf = hub_parquet_find(&t->parquet, of->text);
    if (leaf == HUB_NONE)
        leaf = hub_parquet_find(&t->parquet, "__index_level_0__");
    for (uint32_t i = 0; leaf == HUB_NONE && i < t->parquet.leaf_count; i++)
        if (t->parquet.leaves[i].text)
            leaf = i;
    if (leaf == HUB_NONE || t->parquet.leaves[leaf].item.kind != HUB_KIND_VAR)
        return hub_fail(err, HUB_CORRUPT, "it has no column of texts");
    return hub_lerobot_table_leaf(t, leaf, 0, t->rows, out, err);
}

static enum hub_status keep_rows(struct tasks_reader *r, const struct hub_parquet_items *numbers,
                                 const struct hub_parquet_items *texts, bool *moved, struct hub_error *err)
{
    for (uint64_t row = 0; row < texts->row_count; row++) {
        const int64_t number = numbers->starts ? hub_lerobot_integer(numbers, row) : (int64_t)row;
        if (number < 0 || texts->starts[row] == texts->starts[row + 1])
            continue;
        HUB_CLEANUP(hub_json_decrefp) json_t *line = json_object();
        const struct hub_view text = hub_lerobot_string(texts, texts->starts[row]);
        *moved |= number != (int64_t)row;
        if (json_object_set_new(line, r->of->text, json_stringn(text.data, text.size)))
            continue; /* it is no UTF-8 */
        HUB_TRY(keep(r, number, line, err));
    }
    return HUB_OK;
}

static enum hub_status read_table(struct tasks_reader *r, struct hub_table *t, bool *moved,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_parquet_items_dispose) struct hub_parquet_items numbers = {0}, texts = {0};
    const enum hub_status st = hub_lerobot_table_read(t, r->of->number, 0, t->rows, &numbers, err);
    if (st && st != HUB_NOT_FOUND)
        return st;
    HUB_TRY(read_texts(r->of, t, &texts, err));
    return keep_rows(r, &numbers, &texts, moved, err);
}

enum hub_status hub_lerobot_read_texts(struct hub_files *files, struct hub_sink *sink,
                                       const struct lerobot_texts *of, struct lerobot_said_list *list,
                                       struct hub_error *err)
{
    struct tasks_reader r = {of, list};
    struct hub_error why = {0};
    bool moved = false;
    const uint32_t file = hub_files_find(files, of->table);
    if (file != HUB_NONE) {
        HUB_CLEANUP(hub_table_dispose) struct hub_table table = {.rows = 0};
        enum hub_status st = hub_lerobot_table_open(files, file, &table, &why);
        if (!st)
            st = read_table(&r, &table, &moved, &why);
        if (st && !hub_is_local(st))
            return hub_pass(st, &why, err);
        if (st && sink)
            HUB_TRY(hub_sink_problem(sink, hub_problem_name_or(why.problem, "bad-metadata"),
                                     hub_view_of(of->table), err, "%s", why.detail));
        if (moved && sink)
            HUB_TRY(hub_sink_problem(
                sink, "task-order", hub_view_of(of->table), err,
                "its rows are not in the order of %s: LeRobot uses the row, this hub the number",
                of->number));
    } else {
        HUB_TRY(hub_lerobot_lines(
            &(struct lerobot_lines){files, sink, of->lines, 0, INT64_MAX, keep_line, &r}, err));
    }
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, hub_by_i64);
    return HUB_OK;
}

/* [{"index":0,"task":"pick","description":"Pick it up"}], as many as a page can stand. */
enum hub_status hub_lerobot_send_texts(struct hub_sink *sink, const struct lerobot_texts *of,
                                       const struct lerobot_said_list *list, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT((size_t)HUB_MAX_TEXT);
    struct hub_json json = hub_json_to(&text, err);
    uint32_t shown = 0;
    if (list->count == 0)
        return HUB_OK;
    hub_json_array(&json);
    for (; shown < list->count && text.size < MAX_FACT; shown++) {
        const struct lerobot_said *said = &list->items[shown];
        hub_json_object(&json);
        hub_json_put_int(&json, "index", said->episode);
        hub_json_put_text(&json, of->text, hub_lerobot_text(said->line, of->text));
        hub_json_put_text(&json, "description", hub_lerobot_text(said->line, "description"));
        hub_json_end_object(&json);
    }
    hub_json_end_array(&json);
    HUB_TRY(hub_json_status(&json));
    return hub_sink_fact(sink, of->fact, hub_buf_view(&text), err);
}
