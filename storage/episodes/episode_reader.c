/* Episodes out of their columns: see columns.h. */
#include "storage/episodes/episode_cells.h"

#include <stdlib.h>

void hub_episode_reader_dispose(struct hub_episode_reader *reader)
{
    for (size_t i = 0; i < HUB_COUNT(reader->columns); i++)
        hub_column_cursor_reset(&reader->columns[i]);
    for (size_t i = 0; i < HUB_COUNT(reader->made); i++)
        hub_column_cursor_reset(&reader->made[i]);
    for (size_t i = 0; i < HUB_COUNT(reader->splits); i++)
        json_decref(reader->splits[i].json);
    hub_measured_values_dispose(&reader->measured);
    json_decref(reader->attributes.json);
    json_decref(reader->statistics.json);
    json_decref(reader->tasks);
    free(reader->set);
}

enum hub_status hub_episode_row(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                struct hub_found_episode *out, struct hub_error *err)
{
    const struct hub_columns *columns = NULL;
    uint32_t place = 0;
    HUB_TRY(hub_episode_cell_find(reader, HUB_COLUMN_ROWS, e, &columns, &place, err));
    hub_columns_row(columns, place, out);
    return HUB_OK;
}

/* ---- values ---- */

static void give(struct hub_episode_reader *reader, struct hub_value value, struct hub_values *out)
{
    reader->one = value;
    *out = (struct hub_values){&reader->one, 1};
}

/* NaN is no value. */
static void give_json(struct hub_episode_reader *reader, const json_t *json, struct hub_values *out)
{
    if (json_is_boolean(json))
        give(reader, hub_value_uint(json_is_true(json)), out);
    else if (json_is_integer(json))
        give(reader, (struct hub_value){.kind = HUB_VALUE_INT, .number = json_integer_value(json)}, out);
    else if (json_is_real(json))
        give(reader, hub_value_real(json_real_value(json)), out);
    else if (json_is_string(json)) {
        const struct hub_view text = {json_string_value(json), json_string_length(json)};
        struct hub_value wide;
        give(reader, hub_value_wide(text, &wide) ? wide : hub_value_text(text), out);
    }
}

static enum hub_status get_key(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                               enum hub_episode_column column, struct hub_values *out, struct hub_error *err)
{
    const struct hub_columns *columns = NULL;
    uint32_t place = 0;
    struct hub_value value;
    HUB_TRY(hub_episode_cell_find(reader, column, e, &columns, &place, err));
    if (hub_columns_key(columns, place, &value))
        give(reader, value, out);
    return HUB_OK;
}

/* A parsed text is valid as long as its bytes stay in place. */
static enum hub_status parse(const struct hub_column_cursor *cursor, const char *text,
                             struct hub_parsed *parsed, const json_t **out, struct hub_error *err)
{
    if (parsed->text != text || parsed->moves != cursor->moves) {
        json_decref(parsed->json);
        *parsed = (struct hub_parsed){text, cursor->moves, NULL};
        HUB_TRY(hub_json_parse(hub_view_of(text), HUB_MAX_ATTRIBUTES, &parsed->json, err));
    }
    *out = parsed->json;
    return HUB_OK;
}

static enum hub_status make_room(struct hub_episode_reader *reader, size_t count, struct hub_error *err)
{
    if (count <= reader->room)
        return HUB_OK;
    free(reader->set);
    reader->set = NULL;
    reader->room = 0;
    HUB_TRY(hub_new(&reader->set, count, sizeof *reader->set, err));
    reader->room = count;
    return HUB_OK;
}

static enum hub_status get_splits(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                  struct hub_values *out, struct hub_error *err)
{
    const struct hub_column_cursor *cursor = &reader->columns[HUB_COLUMN_SPLITS];
    const json_t *array, *split;
    size_t i;
    HUB_TRY(get_key(reader, e, HUB_COLUMN_SPLITS, out, err));
    if (!out->count)
        return HUB_OK;
    const char *text = out->first->text.data;
    const size_t slot = (uintptr_t)text % HUB_COUNT(reader->splits);
    *out = (struct hub_values){0};
    HUB_TRY(parse(cursor, text, &reader->splits[slot], &array, err));
    HUB_TRY(make_room(reader, json_array_size(array), err));
    json_array_foreach(array, i, split) reader->set[i] =
        hub_value_text(hub_view_of(json_string_value(split)));
    *out = (struct hub_values){reader->set, json_array_size(array)};
    return HUB_OK;
}

static enum hub_status read_task_list(struct hub_episode_reader *reader, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf fact = HUB_BUF_INIT((size_t)HUB_MAX_TEXT);
    HUB_CLEANUP(hub_json_decrefp) json_t *list = NULL;
    const json_t *task;
    size_t i;
    HUB_TRY(hub_dataset_fact(reader->state, "tasks", &fact, err));
    reader->knows_tasks = true;
    if (!fact.size)
        return HUB_OK;
    HUB_TRY(hub_json_parse(hub_buf_view(&fact), fact.limit, &list, err));
    reader->tasks = json_object();
    HUB_TRY(hub_allocated(reader->tasks, err));
    json_array_foreach(list, i, task)
    {
        const char *text = json_string_value(json_object_get(task, "task"));
        if (text && json_object_set(reader->tasks, text, json_object_get(task, "index")))
            return hub_no_memory(err);
    }
    return HUB_OK;
}

/* The text, and its number where the dataset has a list. */
static void add_task(struct hub_episode_reader *reader, struct hub_view text, struct hub_values *out)
{
    const json_t *number = json_object_getn(reader->tasks, text.data, text.size);
    reader->set[out->count++] = hub_value_text(text);
    if (json_is_integer(number))
        reader->set[out->count++] =
            (struct hub_value){.kind = HUB_VALUE_INT, .number = json_integer_value(number)};
}

/* An episode of several tasks has the first as its own, and all in its attributes. */
static enum hub_status get_tasks(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                 struct hub_values *out, struct hub_error *err)
{
    struct hub_found_episode row;
    const json_t *attributes = NULL, *task;
    size_t i;
    HUB_TRY(get_key(reader, e, HUB_COLUMN_TASK, out, err));
    if (!out->count)
        return HUB_OK;
    if (!reader->knows_tasks)
        HUB_TRY(read_task_list(reader, err));
    if (!reader->tasks)
        return HUB_OK;
    const struct hub_view own = out->first->text;
    if (out->first->several) {
        HUB_TRY(hub_episode_row(reader, e, &row, err));
        HUB_TRY(
            parse(&reader->columns[HUB_COLUMN_ROWS], row.attributes, &reader->attributes, &attributes, err));
    }
    const json_t *all = json_object_get(attributes, "tasks");
    HUB_TRY(make_room(reader, 2 + 2 * json_array_size(all), err));
    *out = (struct hub_values){.first = reader->set};
    add_task(reader, own, out);
    json_array_foreach(all, i, task) if (json_is_string(task) && !hub_view_is(own, json_string_value(task)))
        add_task(reader, hub_view_of(json_string_value(task)), out);
    return HUB_OK;
}

enum hub_status hub_episode_value_of_row(struct hub_episode_reader *reader,
                                         const struct hub_dataset_episode *e, const struct hub_property *name,
                                         struct hub_values *out, struct hub_error *err)
{
    const struct hub_column_cursor *rows = &reader->columns[HUB_COLUMN_ROWS];
    const json_t *json = NULL;
    struct hub_found_episode row;
    *out = (struct hub_values){0};
    HUB_TRY(hub_episode_row(reader, e, &row, err));
    if (name->kind == HUB_PROPERTY_NAME && row.name)
        give(reader, hub_value_text(hub_view_of(row.name)), out);
    else if (name->kind == HUB_PROPERTY_ATTRIBUTE && row.attributes)
        HUB_TRY(parse(rows, row.attributes, &reader->attributes, &json, err));
    else if (name->kind != HUB_PROPERTY_NAME && name->kind != HUB_PROPERTY_ATTRIBUTE && row.statistics)
        HUB_TRY(parse(rows, row.statistics, &reader->statistics, &json, err));
    json = json_object_getn(json, name->of.data, name->of.size);
    give_json(reader,
              name->kind == HUB_PROPERTY_ATTRIBUTE ? json
                                                   : json_object_get(json, hub_property_word(name->kind)),
              out);
    return HUB_OK;
}

/* Out of a column that was made of the rows; where it cannot be kept, of the row. */
static enum hub_status get_made(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                const struct hub_property *name, struct hub_values *out,
                                struct hub_error *err)
{
    const struct hub_columns *columns;
    uint32_t place;
    struct hub_value value;
    if (!hub_episode_cell_compute(reader, name, e, &columns, &place))
        return hub_episode_value_of_row(reader, e, name, out, err);
    if (hub_columns_key(columns, place, &value))
        give(reader, value, out);
    return HUB_OK;
}

static enum hub_status get_known(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                 const struct hub_property *name, struct hub_values *out,
                                 struct hub_error *err)
{
    switch (name->kind) {
    case HUB_PROPERTY_NUMBER:
        give(reader, (struct hub_value){.kind = HUB_VALUE_INT, .number = e->number}, out);
        return HUB_OK;
    case HUB_PROPERTY_STEPS:
        give(reader, hub_value_uint(e->steps), out);
        return HUB_OK;
    case HUB_PROPERTY_RETURN:
        return get_key(reader, e, HUB_COLUMN_RETURN, out, err);
    case HUB_PROPERTY_SEED:
        return get_key(reader, e, HUB_COLUMN_SEED, out, err);
    case HUB_PROPERTY_TASK:
        return get_tasks(reader, e, out, err);
    case HUB_PROPERTY_SUCCESS:
        return get_key(reader, e, HUB_COLUMN_SUCCESS, out, err);
    case HUB_PROPERTY_TERMINATED:
        return get_key(reader, e, HUB_COLUMN_TERMINATED, out, err);
    case HUB_PROPERTY_TRUNCATED:
        return get_key(reader, e, HUB_COLUMN_TRUNCATED, out, err);
    case HUB_PROPERTY_SPLIT:
        return get_splits(reader, e, out, err);
    default:
        return get_made(reader, e, name, out, err);
    }
}

/* What the files state comes first, then what was measured. */
enum hub_status hub_episode_values_of(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                      const struct hub_property *name, struct hub_values *out,
                                      struct hub_error *err)
{
    struct hub_value value;
    bool found = false;
    *out = (struct hub_values){0};
    const struct hub_property_row *row = hub_property_row(name->kind);
    if (row->source != HUB_FROM_MEASURE)
        HUB_TRY(get_known(reader, e, name, out, err));
    if (!out->count && row->how_far)
        HUB_TRY(hub_measured_value(reader, e, name, &value, &found, err));
    if (found) {
        value.computed = true;
        give(reader, value, out);
    }
    return HUB_OK;
}
