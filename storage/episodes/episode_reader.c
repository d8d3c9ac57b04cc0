/* Episodes out of their columns: see columns.h. */
#include "storage/episodes/episode_reader.h"

#include <stdio.h>
#include <stdlib.h>

void hub_episode_reader_dispose(struct hub_episode_reader *reader)
{
    hub_column_cursor_reset(&reader->rows);
    for (size_t i = 0; i < HUB_COUNT(reader->slots); i++) {
        hub_column_cursor_reset(&reader->slots[i].known);
        hub_column_cursor_reset(&reader->slots[i].measured);
    }
    json_decref(reader->attributes.json);
    json_decref(reader->statistics.json);
    json_decref(reader->tasks);
    free(reader->set);
}

enum hub_status hub_episode_row(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                struct hub_found_episode *out, struct hub_error *err)
{
    const struct hub_column_id id = {.state = reader->state, .word = HUB_ROWS, .part = e->part};
    if (!hub_column_cursor_has(&reader->rows, e->part, e->index))
        HUB_TRY(hub_column_cursor_move(&reader->rows, &id, e->index, reader->passing, err));
    hub_columns_row(&reader->rows.columns, e->index - reader->rows.first, out);
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

static enum hub_status make_room(struct hub_episode_reader *reader, uint32_t count, struct hub_error *err)
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

static void take_slot(struct hub_property_slot *slot, const struct hub_property *name)
{
    hub_column_cursor_reset(&slot->known);
    hub_column_cursor_reset(&slot->measured);
    slot->name = *name;
}

/* The place of a name. Two names of one place take turns. */
static struct hub_property_slot *slot_of(struct hub_episode_reader *reader, const struct hub_property *name)
{
    const bool word = name->kind < HUB_PROPERTY_SUM;
    struct hub_property_slot *slot =
        &reader->slots[word ? name->kind : HUB_PROPERTY_ATTRIBUTE + name->index % HUB_NAMES];
    if (slot->name.kind != name->kind || (!word && !hub_property_same(&slot->name, name)))
        take_slot(slot, name);
    return slot;
}

/* What the cursor has of it: one value, or a set of texts, behind which there is room for as many numbers. */
static enum hub_status give_cell(struct hub_episode_reader *reader, const struct hub_column_cursor *cursor,
                                 const struct hub_dataset_episode *e, struct hub_values *out,
                                 struct hub_error *err)
{
    const uint32_t count = hub_column_cursor_get(cursor, e->index, &reader->one);
    if (!count)
        return HUB_OK;
    *out = (struct hub_values){&reader->one, 1};
    if (reader->one.kind != HUB_VALUE_TEXT)
        return HUB_OK;
    HUB_TRY(make_room(reader, 2 * count, err));
    reader->set[0] = reader->one;
    for (uint32_t i = 1; i < count; i++)
        reader->set[i] = hub_value_text(hub_columns_next(reader->set[i - 1].text));
    *out = (struct hub_values){reader->set, count};
    return HUB_OK;
}

static enum hub_status move_to_stated(struct hub_episode_reader *reader, struct hub_column_cursor *cursor,
                                      const struct hub_dataset_episode *e, const struct hub_property *name,
                                      struct hub_error *err)
{
    const struct hub_column_id id = {
        .state = reader->state, .word = hub_property_word(name->kind), .part = e->part};
    return hub_column_cursor_move(cursor, &id, e->index, reader->passing, err);
}

static enum hub_status get_stated(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                  const struct hub_property *name, struct hub_values *out,
                                  struct hub_error *err)
{
    struct hub_column_cursor *cursor = &slot_of(reader, name)->known;
    if (!hub_column_cursor_has(cursor, e->part, e->index))
        HUB_TRY(move_to_stated(reader, cursor, e, name, err));
    return give_cell(reader, cursor, e, out, err);
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

/* Behind the texts the numbers of those that the dataset's list has. */
static enum hub_status get_tasks(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                 const struct hub_property *name, struct hub_values *out,
                                 struct hub_error *err)
{
    HUB_TRY(get_stated(reader, e, name, out, err));
    if (!out->count)
        return HUB_OK;
    if (!reader->knows_tasks)
        HUB_TRY(read_task_list(reader, err));
    if (!reader->tasks)
        return HUB_OK;
    const uint32_t texts = (uint32_t)out->count;
    for (uint32_t i = 0; i < texts; i++) {
        const struct hub_view text = reader->set[i].text;
        const json_t *number = json_object_getn(reader->tasks, text.data, text.size);
        if (json_is_integer(number))
            reader->set[out->count++] =
                (struct hub_value){.kind = HUB_VALUE_INT, .number = json_integer_value(number)};
    }
    return HUB_OK;
}

/* The value in the episode's row. */
static enum hub_status value_of_row(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                    const struct hub_property *name, struct hub_values *out,
                                    struct hub_error *err)
{
    const struct hub_column_cursor *rows = &reader->rows;
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

/* A column of a name, made by a reader of its own, whose rows leave the columns their room in the cache. */
struct row_values {
    struct hub_episode_reader reader;
    const struct hub_property *name;
    uint32_t part;
};

static enum hub_status make_column(void *user, uint32_t first, uint32_t count, struct hub_column_run *run,
                                   struct hub_error *err)
{
    struct row_values *rows = user;
    for (uint32_t i = 0; i < count; i++) {
        const struct hub_dataset_episode e = {.part = rows->part, .index = first + i};
        struct hub_values values;
        HUB_TRY(value_of_row(&rows->reader, &e, rows->name, &values, err));
        HUB_TRY(hub_column_run_add(run, values.first, values.count, err));
    }
    return HUB_OK;
}

static void move_to_made(struct hub_episode_reader *reader, struct hub_column_cursor *cursor,
                         const struct hub_dataset_episode *e, const struct hub_property *name)
{
    struct row_values rows = {
        .reader = {.state = reader->state, .passing = true}, .name = name, .part = e->part};
    const struct hub_column_id id = {reader->state, hub_property_word(name->kind), name->of, e->part};
    hub_column_cursor_move_made(cursor, &id, e->index, make_column, &rows);
    hub_episode_reader_dispose(&rows.reader);
}

/* Out of a column that was made of the rows; where it cannot be kept, of the row. */
static enum hub_status get_made(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                const struct hub_property *name, struct hub_values *out,
                                struct hub_error *err)
{
    struct hub_column_cursor *cursor = &slot_of(reader, name)->known;
    if (!hub_column_cursor_has(cursor, e->part, e->index))
        move_to_made(reader, cursor, e, name);
    return cursor->at ? give_cell(reader, cursor, e, out, err) : value_of_row(reader, e, name, out, err);
}

static enum hub_status get_known(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                 const struct hub_property *name, struct hub_values *out,
                                 struct hub_error *err)
{
    switch (hub_property_row(name->kind)->source) {
    case HUB_FROM_DIRECTORY:
        give(reader,
             name->kind == HUB_PROPERTY_STEPS
                 ? hub_value_uint(e->steps)
                 : (struct hub_value){.kind = HUB_VALUE_INT, .number = e->number},
             out);
        return HUB_OK;
    case HUB_FROM_COLUMN:
        return name->kind == HUB_PROPERTY_TASK ? get_tasks(reader, e, name, out, err)
                                               : get_stated(reader, e, name, out, err);
    case HUB_FROM_ROW:
        return get_made(reader, e, name, out, err);
    case HUB_FROM_MEASURE:
        break;
    }
    return HUB_OK;
}

/* ---- measured ---- */

static double number_of(const json_t *metadata, const char *key, bool *all)
{
    const json_t *value = json_object_get(metadata, key);
    *all = *all && json_is_number(value);
    return json_number_value(value);
}

static enum hub_status read_scores(struct hub_episode_reader *reader, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf fact = HUB_BUF_INIT((size_t)HUB_MAX_TEXT);
    HUB_CLEANUP(hub_json_decrefp) json_t *metadata = NULL;
    struct hub_reference_scores *scores = &reader->scores;
    HUB_TRY(hub_dataset_fact(reader->state, "metadata", &fact, err));
    scores->read = true;
    if (!fact.size || hub_json_parse(hub_buf_view(&fact), fact.limit, &metadata, NULL))
        return HUB_OK;
    bool all = true;
    scores->low = number_of(metadata, "ref_min_score", &all);
    scores->high = number_of(metadata, "ref_max_score", &all);
    scores->there = all && scores->low != scores->high;
    return HUB_OK;
}

static enum hub_status get_score(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                 struct hub_values *out, struct hub_error *err)
{
    const struct hub_reference_scores *scores = &reader->scores;
    if (!scores->read)
        HUB_TRY(read_scores(reader, err));
    if (!scores->there)
        return HUB_OK;
    HUB_TRY(hub_episode_values_of(reader, e, &(struct hub_property){.kind = HUB_PROPERTY_RETURN}, out, err));
    if (out->count)
        give(reader,
             hub_value_real((hub_value_real_of(out->first) - scores->low) / (scores->high - scores->low)),
             out);
    return HUB_OK;
}

/* A field goes by the path that the dataset has of it. */
static enum hub_status move_to_measured(const struct hub_state *state, struct hub_column_cursor *cursor,
                                        const struct hub_dataset_episode *e, const struct hub_property *name,
                                        struct hub_error *err)
{
    const struct hub_dataset *dataset = state->dataset;
    char word[HUB_PROPERTY_COLUMN];
    struct hub_column_id id = {state, word, name->of, e->part};
    hub_property_column(name, word);
    const uint32_t field = name->of.size ? hub_dataset_find_field(dataset, name->of) : HUB_NONE;
    if (field != HUB_NONE)
        id.of = hub_view_of(dataset->fields[field].path);
    return hub_column_cursor_move_measured(cursor, &id, e->index, err);
}

/* Numbers of things, and truths, are kept as doubles like the rest. */
static enum hub_status get_measured(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                    const struct hub_property *name, struct hub_values *out,
                                    struct hub_error *err)
{
    const enum hub_property_type type = hub_property_row(name->kind)->type;
    struct hub_column_cursor *cursor = &slot_of(reader, name)->measured;
    struct hub_value value = {.kind = HUB_VALUE_INT};
    if (!hub_column_cursor_has(cursor, e->part, e->index))
        HUB_TRY(move_to_measured(reader->state, cursor, e, name, err));
    if (!hub_column_cursor_get(cursor, e->index, &value))
        return HUB_OK;
    if ((type == HUB_PROPERTY_INT || type == HUB_PROPERTY_TRUTH) && value.kind == HUB_VALUE_REAL)
        value = hub_value_uint((uint64_t)value.real);
    give(reader, value, out);
    return HUB_OK;
}

/* What the files state comes first, then what was measured. */
enum hub_status hub_episode_values_of(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                      const struct hub_property *name, struct hub_values *out,
                                      struct hub_error *err)
{
    *out = (struct hub_values){0};
    HUB_TRY(get_known(reader, e, name, out, err));
    if (out->count || !hub_property_row(name->kind)->how_far)
        return HUB_OK;
    HUB_TRY(name->kind == HUB_PROPERTY_SCORE ? get_score(reader, e, out, err)
                                             : get_measured(reader, e, name, out, err));
    reader->one.computed = true; /* where it has a value, it is this one */
    return HUB_OK;
}
