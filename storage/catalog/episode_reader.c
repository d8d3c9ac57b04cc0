/* Episodes out of their columns: see columns.h. */
#include "storage/catalog/episode_reader.h"

#include "storage/base/json.h"

#include <stdlib.h>

struct columns_ref {
    struct hub_cached_blob blob; /* first */
    struct hub_columns columns;
};

static void leave(struct hub_column_cursor *cursor)
{
    if (cursor->at)
        hub_lru_put(&cursor->at->blob.item);
    cursor->at = NULL;
}

void hub_episode_reader_dispose(struct hub_episode_reader *reader)
{
    for (size_t i = 0; i < HUB_COUNT(reader->columns); i++)
        leave(&reader->columns[i]);
    for (size_t i = 0; i < HUB_COUNT(reader->splits); i++)
        json_decref(reader->splits[i].json);
    json_decref(reader->attributes.json);
    json_decref(reader->statistics.json);
    json_decref(reader->tasks);
    free(reader->set);
}

/* ---- cells ---- */

struct wanted_blob {
    const struct hub_state *state;
    int64_t part;
    enum hub_episode_column column;
};

static enum hub_status make_columns(struct hub_cached_blob *blob, void *user, struct hub_error *err)
{
    const struct wanted_blob *wanted = user;
    struct hub_columns *columns = &((struct columns_ref *)blob)->columns;
    if (hub_columns_open((struct hub_view){blob->data, blob->size}, wanted->column, columns))
        return HUB_OK;
    return hub_blob_damaged(blob->catalog, wanted->state->db, wanted->part, err);
}

static enum hub_status move_to(struct hub_column_cursor *cursor, struct wanted_blob wanted, uint32_t run,
                               uint32_t index, struct hub_error *err)
{
    const struct hub_state *state = wanted.state;
    const struct hub_blob_maker maker = {sizeof(struct columns_ref), make_columns, &wanted};
    const struct hub_lru_key key = {HUB_CACHE_EPISODES, (uint64_t)wanted.part,
                                    (uint64_t)wanted.column << 32 | run};
    char name[HUB_COLUMN_NAME];
    leave(cursor);
    cursor->part = wanted.part;
    cursor->run = run;
    cursor->moves++;
    hub_columns_name(wanted.column, index, name);
    const struct hub_blob_id id = {state->catalog, state->db, wanted.part, HUB_BLOB_EPISODES, name};
    struct hub_cached_blob *blob = hub_blob_cached(state->catalog, &key, name);
    const enum hub_status st = blob ? HUB_OK : hub_blob_load(&id, &key, &maker, &blob, err);
    if (st)
        return st == HUB_NOT_FOUND ? hub_blob_damaged(state->catalog, state->db, wanted.part, err) : st;
    cursor->at = (struct columns_ref *)blob;
    return HUB_OK;
}

/* Where the episode's cell of a column lies: in these columns, at this place. */
static enum hub_status find(struct hub_episode_reader *reader, enum hub_episode_column column,
                            const struct hub_dataset_episode *e, const struct hub_columns **columns,
                            uint32_t *place, struct hub_error *err)
{
    struct hub_column_cursor *cursor = &reader->columns[column];
    const int64_t part = reader->state->dataset->parts[e->part].row;
    const uint32_t rows = hub_columns_run(column), run = e->index / rows;
    if (!cursor->at || cursor->part != part || cursor->run != run)
        HUB_TRY(move_to(cursor, (struct wanted_blob){reader->state, part, column}, run, e->index, err));
    const struct columns_ref *at = cursor->at;
    if (!at || e->index % rows >= at->columns.count)
        return hub_blob_damaged(reader->state->catalog, reader->state->db, part, err);
    *place = e->index % rows;
    *columns = &at->columns;
    return HUB_OK;
}

enum hub_status hub_episode_row(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                struct hub_found_episode *out, struct hub_error *err)
{
    const struct hub_columns *columns = NULL;
    uint32_t place = 0;
    HUB_TRY(find(reader, HUB_COLUMN_ROWS, e, &columns, &place, err));
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
    else if (json_is_string(json))
        give(reader, hub_value_text((struct hub_view){json_string_value(json), json_string_length(json)}),
             out);
}

static enum hub_status get_key(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                               enum hub_episode_column column, struct hub_values *out, struct hub_error *err)
{
    const struct hub_columns *columns = NULL;
    uint32_t place = 0;
    struct hub_value value;
    HUB_TRY(find(reader, column, e, &columns, &place, err));
    if (hub_columns_key(columns, place, &value))
        give(reader, value, out);
    return HUB_OK;
}

/* What was found out of a text holds for as long as it lies there. */
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
    HUB_TRY(hub_episode_row(reader, e, &row, err));
    if (row.attributes && strstr(row.attributes, "\"tasks\""))
        HUB_TRY(
            parse(&reader->columns[HUB_COLUMN_ROWS], row.attributes, &reader->attributes, &attributes, err));
    const json_t *all = json_object_get(attributes, "tasks");
    HUB_TRY(make_room(reader, 2 + 2 * json_array_size(all), err));
    *out = (struct hub_values){.first = reader->set};
    add_task(reader, own, out);
    json_array_foreach(all, i, task) if (json_is_string(task) && !hub_view_is(own, json_string_value(task)))
        add_task(reader, hub_view_of(json_string_value(task)), out);
    return HUB_OK;
}

/* Rarely asked for: of the episode's whole row. */
static enum hub_status get_of_row(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                  const struct hub_property *name, struct hub_values *out,
                                  struct hub_error *err)
{
    const struct hub_column_cursor *rows = &reader->columns[HUB_COLUMN_ROWS];
    const json_t *json = NULL;
    struct hub_found_episode row;
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

enum hub_status hub_episode_values_of(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                      const struct hub_property *name, struct hub_values *out,
                                      struct hub_error *err)
{
    *out = (struct hub_values){0};
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
        return get_of_row(reader, e, name, out, err);
    }
}
