/* Names and texts that a dataset has: see name_check.h. One that it has is found soon; only for one that it
 * does
 * not have all episodes are read. */
#include "storage/episodes/name_check.h"

#include "storage/base/nearest.h"
#include "storage/catalog/internal.h"
#include "storage/episodes/episode_reader.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_LISTED = 160, LONGEST = 80 }; /* bytes of names in an error; of one of them */

/* One look at episodes, one after another. */
struct episode_scan {
    struct hub_episode_reader reader;
    const struct hub_dataset *dataset;
    const struct hub_parallel *parallel;
};

static void look_dispose(struct episode_scan *look)
{
    hub_episode_reader_dispose(&look->reader);
}

static struct episode_scan look_at(const struct hub_state *state, const struct hub_parallel *parallel)
{
    return (struct episode_scan){{.state = state}, state->dataset, parallel};
}

/* Between two episodes; `i` counts them. */
static enum hub_status go_on(const struct episode_scan *look, uint32_t i, struct hub_error *err)
{
    enum { BETWEEN = 1024 };
    return i % BETWEEN == 0 && hub_parallel_cancelled(look->parallel)
               ? hub_fail(err, HUB_CANCELLED, "the request for these episodes has ended")
               : HUB_OK;
}

/* ---- what there is, for the error ---- */

struct name_list {
    struct hub_nearest nearest; /* of copies */
    bool may_be_near;
    struct hub_buf text;
    json_t *seen;
};

static void names_dispose(struct name_list *names)
{
    for (uint32_t i = 0; i < names->nearest.count; i++)
        free((void *)names->nearest.items[i]);
    hub_buf_dispose(&names->text);
    json_decref(names->seen);
}

static enum hub_status names_init(struct name_list *names, struct hub_view to, struct hub_error *err)
{
    *names = (struct name_list){.text = HUB_BUF_INIT((size_t)4 * MAX_LISTED), .seen = json_object()};
    names->may_be_near = hub_nearest_begin(&names->nearest, to, HUB_NEAR_NAMES);
    return hub_allocated(names->seen, err);
}

static bool is_near_already(const struct name_list *names, struct hub_view name)
{
    for (uint32_t i = 0; i < names->nearest.count; i++)
        if (hub_view_is(name, names->nearest.items[i]))
            return true;
    return false;
}

static enum hub_status offer(struct name_list *names, struct hub_view name, struct hub_error *err)
{
    if (!names->may_be_near || name.size >= HUB_NEAR_NAME_BYTES || is_near_already(names, name))
        return HUB_OK;
    char *copy = hub_view_dup(name);
    HUB_TRY(hub_allocated(copy, err));
    free((void *)hub_nearest_offer(&names->nearest, copy, copy));
    return HUB_OK;
}

static enum hub_status add_name(struct name_list *names, struct hub_view name, struct hub_error *err)
{
    HUB_TRY(offer(names, name, err));
    if (names->text.size >= MAX_LISTED || json_object_getn(names->seen, name.data, name.size))
        return HUB_OK;
    if (json_object_setn_new_nocheck(names->seen, name.data, name.size, json_true()))
        return hub_no_memory(err);
    HUB_TRY(hub_buf_addf(&names->text, err, "%s%.*s", names->text.size ? ", " : "",
                         (int)HUB_MIN(name.size, (size_t)LONGEST), name.data));
    return names->text.size >= MAX_LISTED ? hub_buf_add_text(&names->text, ", ...", err) : HUB_OK;
}

/* "WHAT; did you mean 'A' or 'B'? it has A, B, C" */
static enum hub_status unknown(const struct name_list *names, const char *what, struct hub_near_names *near,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT((size_t)4 * HUB_NEAR_NAME_BYTES);
    const uint32_t count = names->nearest.count;
    near->count = count;
    for (uint32_t i = 0; i < count; i++) {
        snprintf(near->names[i], sizeof near->names[i], "%s", (const char *)names->nearest.items[i]);
        HUB_TRY(hub_buf_addf(&text, err, "%s'%s'", !i ? "" : i + 1 < count ? ", " : " or ", near->names[i]));
    }
    return hub_fail(err, HUB_INVALID, "%s%s%s%s it has %s", what, count ? "; did you mean " : ";",
                    count ? text.data : "", count ? "?" : "", names->text.size ? names->text.data : "none");
}

/* ---- fields ---- */

static bool has_numbers(const struct hub_dataset_field *field)
{
    return hub_field_is_measured(field->type);
}

/* A value of some episode under the name, whatever it is. */
static enum hub_status any_has(const struct hub_state *state, const struct hub_property *name,
                               const struct hub_parallel *parallel, bool *any, struct hub_error *err)
{
    HUB_CLEANUP(look_dispose) struct episode_scan look = look_at(state, parallel);
    *any = false;
    for (uint32_t i = 0; i < look.dataset->episode_count && !*any; i++) {
        struct hub_values values;
        HUB_TRY(go_on(&look, i, err));
        HUB_TRY(hub_episode_values_of(&look.reader, &look.dataset->episodes[i], name, &values, err));
        *any = values.count > 0;
    }
    return HUB_OK;
}

/* Numbers of a row; 0: it is not known, or differs. */
static uint64_t numbers_of(const struct hub_dataset_field *field)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *shape = NULL;
    uint64_t numbers = 1;
    const json_t *size;
    size_t i;
    if (!*field->shape || hub_json_parse(hub_view_of(field->shape), strlen(field->shape), &shape, NULL))
        return 0;
    json_array_foreach(shape, i, size) numbers *= (uint64_t)json_integer_value(size);
    return numbers;
}

/* Which number of the row is meant has to be said where there are several, and to be there. */
static enum hub_status check_component(const struct hub_property *name, const struct hub_dataset_field *field,
                                       struct hub_error *err)
{
    const uint64_t numbers = numbers_of(field);
    const char *word = hub_property_word(name->kind);
    if (!hub_property_is_of_row(name->kind) || !numbers ||
        (name->of_row ? name->component < numbers : numbers == 1))
        return HUB_OK;
    return hub_fail(err, HUB_INVALID, "the rows of '%.80s' have %llu numbers: %s(\"%.80s\")[0] to [%llu]",
                    field->path, (unsigned long long)numbers, word, field->path,
                    (unsigned long long)numbers - 1);
}

static enum hub_status check_field(const struct hub_state *state, const struct hub_property *name,
                                   const struct hub_parallel *parallel, struct hub_near_names *near,
                                   struct hub_error *err)
{
    const struct hub_dataset *dataset = state->dataset;
    const uint32_t number = hub_dataset_find_field(dataset, name->of);
    HUB_CLEANUP(names_dispose) struct name_list names = {0};
    char what[300];
    bool stated;
    if (number != HUB_NONE && has_numbers(&dataset->fields[number]))
        return check_component(name, &dataset->fields[number], err);
    HUB_TRY(any_has(state, name, parallel, &stated, err)); /* by the files alone, as of videos */
    if (stated)
        return HUB_OK;
    HUB_TRY(names_init(&names, name->of, err));
    for (uint32_t i = 0; i < dataset->field_count; i++)
        if (has_numbers(&dataset->fields[i]))
            HUB_TRY(add_name(&names, hub_view_of(dataset->fields[i].path), err));
    snprintf(what, sizeof what, "'%.120s' has no %sfield '%.*s'", dataset->summary->id,
             number == HUB_NONE ? "" : "numbers in its ", (int)HUB_MIN(name->of.size, (size_t)LONGEST),
             name->of.data);
    return unknown(&names, what, near, err);
}

/* ---- attributes ---- */

/* Does any episode have an attribute of this name, of any type? Else those that there are. */
static enum hub_status find_attribute(struct episode_scan *look, struct hub_view name,
                                      struct name_list *names, bool *found, struct hub_error *err)
{
    *found = false;
    for (uint32_t i = 0; i < look->dataset->episode_count && !*found; i++) {
        HUB_CLEANUP(hub_json_decrefp) json_t *attributes = NULL;
        struct hub_found_episode row;
        const char *key;
        json_t *value;
        HUB_TRY(go_on(look, i, err));
        HUB_TRY(hub_episode_row(&look->reader, &look->dataset->episodes[i], &row, err));
        if (!row.attributes)
            continue;
        HUB_TRY(hub_json_parse(hub_view_of(row.attributes), HUB_MAX_ATTRIBUTES, &attributes, err));
        *found = json_object_getn(attributes, name.data, name.size);
        json_object_foreach(attributes, key, value) HUB_TRY(add_name(names, hub_view_of(key), err));
    }
    return HUB_OK;
}

static bool is_own_name(struct hub_view text)
{
    enum hub_property_kind kind;
    return hub_property_find(text, &kind) && !hub_property_row(kind)->of_field;
}

static enum hub_status check_attribute(const struct hub_state *state, const struct hub_property *name,
                                       const struct hub_parallel *parallel, struct hub_near_names *near,
                                       struct hub_error *err)
{
    const struct hub_dataset *dataset = state->dataset;
    const struct hub_view of = {name->of.data, HUB_MIN(name->of.size, (size_t)LONGEST)};
    const uint32_t field = hub_dataset_find_field(dataset, name->of);
    HUB_CLEANUP(names_dispose) struct name_list names = {0};
    char what[200];
    bool known;
    HUB_TRY(any_has(state, name, parallel, &known, err));
    if (known || !dataset->episode_count)
        return HUB_OK;
    HUB_TRY(names_init(&names, name->of, err));
    HUB_CLEANUP(look_dispose) struct episode_scan look = look_at(state, parallel);
    HUB_TRY(find_attribute(&look, name->of, &names, &known, err));
    if (known)
        return HUB_OK;
    snprintf(what, sizeof what, "no episode has an attribute '%.*s'", (int)of.size, of.data);
    if (field != HUB_NONE && has_numbers(&dataset->fields[field]))
        return hub_fail(err, HUB_INVALID, "%s; for a field write min(\"%.*s\"), sum, mean, std or max", what,
                        (int)of.size, of.data);
    if (is_own_name(name->of))
        return hub_fail(err, HUB_INVALID, "%s; names of the hub are written without quotes: %.*s", what,
                        (int)of.size, of.data);
    return unknown(&names, what, near, err);
}

enum hub_status hub_name_check(const struct hub_state *state, const struct hub_property *name,
                               const struct hub_parallel *parallel, struct hub_near_names *near,
                               struct hub_error *err)
{
    near->count = 0;
    if (name->kind == HUB_PROPERTY_ATTRIBUTE)
        return check_attribute(state, name, parallel, near, err);
    return hub_property_row(name->kind)->of_field ? check_field(state, name, parallel, near, err) : HUB_OK;
}

/* ---- texts ---- */

/* A split or a task that the metadata lists is known, whether an episode is of it or not. */
static enum hub_status is_listed(const struct hub_state *state, enum hub_property_kind kind,
                                 struct hub_view text, bool *listed, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf fact = HUB_BUF_INIT((size_t)HUB_MAX_TEXT);
    HUB_CLEANUP(hub_json_decrefp) json_t *list = NULL;
    const json_t *task;
    size_t i;
    *listed = false;
    if (kind == HUB_PROPERTY_NAME)
        return HUB_OK;
    HUB_TRY(hub_dataset_fact(state, kind == HUB_PROPERTY_TASK ? "tasks" : "splits", &fact, err));
    if (fact.size)
        HUB_TRY(hub_json_parse(hub_buf_view(&fact), fact.limit, &list, err));
    *listed = kind == HUB_PROPERTY_SPLIT && json_object_getn(list, text.data, text.size);
    json_array_foreach(list, i, task)
    {
        const char *name = json_string_value(json_object_get(task, "task"));
        char number[24];
        snprintf(number, sizeof number, "%lld",
                 (long long)json_integer_value(json_object_get(task, "index")));
        *listed |= (name && hub_view_is(text, name)) || hub_view_is(text, number);
    }
    return HUB_OK;
}

/* Those that there are, of all episodes. */
static enum hub_status list_texts(struct episode_scan *look, const struct hub_property *name,
                                  struct name_list *names, struct hub_error *err)
{
    for (uint32_t i = 0; i < look->dataset->episode_count; i++) {
        struct hub_values values;
        HUB_TRY(go_on(look, i, err));
        HUB_TRY(hub_episode_values_of(&look->reader, &look->dataset->episodes[i], name, &values, err));
        for (size_t k = 0; k < values.count; k++)
            if (values.first[k].kind == HUB_VALUE_TEXT)
                HUB_TRY(add_name(names, values.first[k].text, err));
    }
    return HUB_OK;
}

enum hub_status hub_text_check(const struct hub_state *state, enum hub_property_kind kind,
                               struct hub_view text, const struct hub_parallel *parallel,
                               struct hub_near_names *near, struct hub_error *err)
{
    const struct hub_dataset *dataset = state->dataset;
    const struct hub_property name = {.kind = kind};
    HUB_CLEANUP(names_dispose) struct name_list names = {0};
    HUB_CLEANUP(look_dispose) struct episode_scan look = look_at(state, parallel);
    char what[300];
    bool known = false;
    near->count = 0;
    for (uint32_t i = 0; i < dataset->episode_count && !known; i++) {
        HUB_TRY(go_on(&look, i, err));
        HUB_TRY(hub_episode_has_text(&look.reader, &dataset->episodes[i], kind, text, &known, err));
    }
    if (!known)
        HUB_TRY(is_listed(state, kind, text, &known, err));
    if (known || !dataset->episode_count)
        return HUB_OK;
    HUB_TRY(names_init(&names, text, err));
    HUB_TRY(list_texts(&look, &name, &names, err));
    snprintf(what, sizeof what, "'%.120s' has no %s '%.*s'", dataset->summary->id,
             kind == HUB_PROPERTY_NAME ? "episode named" : hub_property_word(kind),
             (int)HUB_MIN(text.size, (size_t)LONGEST), text.data);
    return unknown(&names, what, near, err);
}
