/*
 * Windows that are named one by one, of several datasets, in one answer: POST /api/v1/batch with
 *     {"items": [{"dataset", "episode", "start"?, "stop"?, "fields"?}, ...], "fields"?, "pad"?, "final"?}
 * as npz, or with ?format= as arrow.
 * Every item has the same fields and, where nothing is padded, as many steps.
 */
#include "server/api/handlers.h"
#include "server/api/rows/windows.h"
#include "storage/text/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_DATASETS = 256 };

struct batch_request {
    struct hub_target *targets; /* one a dataset */
    const struct hub_dataset **datasets;
    const char **ids; /* as asked for; of `json` */
    struct hub_named_fields *fields;
    uint32_t dataset_count;
    json_t *json;
    const json_t *first_fields;
    struct hub_window_query *queries;
    uint32_t count;
    uint64_t length;
    enum hub_pad pad;
    const struct hub_representation *as;
    bool final_row, planned;
    struct hub_windows windows;
};

static void forget(struct batch_request *b)
{
    hub_windows_dispose(&b->windows);
    for (uint32_t i = 0; i < b->dataset_count; i++)
        hub_target_dispose(&b->targets[i]);
    free(b->targets);
    free(b->datasets);
    free(b->ids);
    free(b->fields);
    free(b->queries);
    json_decref(b->json);
    *b = (struct batch_request){0};
}

static void free_batch(void *state)
{
    forget(state);
    free(state);
}

/* ---- errors, which name the item ---- */

static void name_member(uint32_t item, const char *member, struct hub_error *err)
{
    if (err)
        snprintf(err->parameter, sizeof err->parameter, "items[%" PRIu32 "].%s", item, member);
}

static enum hub_status wrong(uint32_t item, const char *member, const json_t *value, const char *what,
                             struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    (void)hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_PARAMETER, member, text ? text : "",
                         "items[%" PRIu32 "].%s %s", item, member, what);
    name_member(item, member, err);
    return HUB_INVALID;
}

static enum hub_status bad_body(const char *member, const json_t *value, const char *what,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_PARAMETER, member, text ? text : "", "%s %s",
                          member, what);
}

/* ---- datasets and their fields ---- */

/* The fields of a dataset that the names mean; the same ones, by name, as in the first dataset. */
static enum hub_status choose_fields(const struct hub_request *request, struct batch_request *b,
                                     uint32_t dataset, const json_t *names, uint32_t item,
                                     struct hub_error *err)
{
    const struct hub_dataset *ds = b->datasets[dataset], *first = b->datasets[0];
    struct hub_named_fields *f = &b->fields[dataset];
    for (size_t i = 0; i < json_array_size(names); i++) {
        const enum hub_status st =
            hub_request_add_field(request, &b->targets[dataset].state,
                                  hub_view_of(json_string_value(json_array_get(names, i))), f, err);
        if (st)
            name_member(item, "fields", err);
        HUB_TRY(st);
    }
    bool same = f->count == b->fields[0].count;
    for (uint32_t i = 0; same && i < f->count; i++)
        same = strcmp(ds->fields[f->fields[i]].path, first->fields[b->fields[0].fields[i]].path) == 0;
    return same ? HUB_OK
                : wrong(item, "fields", names,
                        "differ between this dataset and that of items[0]: one array holds one kind of rows, "
                        "so request them separately",
                        err);
}

static enum hub_status find_dataset(struct hub_request *request, struct hub_response *response,
                                    struct batch_request *b, const json_t *names, uint32_t item,
                                    uint32_t *out, struct hub_error *err)
{
    const json_t *object = json_array_get(json_object_get(b->json, "items"), item);
    const char *member = json_object_get(object, "dataset") ? "dataset" : "id"; /* the older name of it */
    const json_t *value = json_object_get(object, member);
    const char *id = json_string_value(value);
    if (!id || !*id || (value != json_object_get(object, "id") && json_object_get(object, "id")))
        return wrong(item, member, value, "is the id of a dataset, and named once", err);
    for (*out = 0; *out < b->dataset_count; ++*out)
        if (strcmp(b->ids[*out], id) == 0)
            return HUB_OK;
    if (*out == MAX_DATASETS)
        return wrong(item, member, value, "exceeds the limit of 256 datasets in one answer", err);
    struct hub_target *target = &b->targets[b->dataset_count++];
    const enum hub_status st = hub_resolve_id(request, response, hub_view_of(id),
                                              HUB_TO_DATASET | HUB_TO_READY | HUB_TO_SEVERAL, target, err);
    if (st)
        name_member(item, member, err);
    HUB_TRY(st);
    b->ids[*out] = id;
    b->datasets[*out] = target->state.dataset;
    return choose_fields(request, b, *out, names, item, err);
}

/* ---- items ---- */

static enum hub_status read_bound(const json_t *object, uint32_t item, const char *member, int64_t *value,
                                  bool *given, struct hub_error *err)
{
    const json_t *bound = json_object_get(object, member);
    *given = bound && !json_is_null(bound);
    *value = json_integer_value(bound);
    return !*given || json_is_integer(bound) ? HUB_OK : wrong(item, member, bound, "is a whole number", err);
}

static enum hub_status read_steps(const json_t *object, uint32_t item, struct hub_window_query *window,
                                  struct hub_error *err)
{
    struct hub_slice slice;
    int64_t start, stop;
    bool has_start, has_stop;
    HUB_TRY(read_bound(object, item, "start", &start, &has_start, err));
    HUB_TRY(read_bound(object, item, "stop", &stop, &has_stop, err));
    HUB_TRY(hub_slice_resolve(has_start ? &start : NULL, has_stop ? &stop : NULL, NULL,
                              window->episode->steps, &slice, err));
    if (slice.count > HUB_MAX_WINDOW_LENGTH)
        return wrong(item, "stop", json_object_get(object, "stop"),
                     "is too far from start: at most 1000000 steps", err);
    window->start = slice.start;
    window->steps = slice.count;
    return HUB_OK;
}

static bool are_names(const json_t *list)
{
    bool names = json_array_size(list) > 0 && json_array_size(list) <= HUB_MAX_SELECTED;
    for (size_t i = 0; i < json_array_size(list); i++)
        names = names && json_is_string(json_array_get(list, i));
    return names;
}

/* What the items name as fields is the same in all of them, or stands beside `items`. */
static enum hub_status read_fields(struct batch_request *b, const json_t *object, uint32_t item,
                                   const json_t **out, struct hub_error *err)
{
    const json_t *own = json_object_get(object, "fields");
    *out = own ? own : json_object_get(b->json, "fields");
    if (item && (*out == b->first_fields || json_equal(*out, b->first_fields)))
        return HUB_OK;
    if (!are_names(*out))
        return wrong(item, "fields", *out,
                     "is a list of names of fields, groups or roles, here or beside items", err);
    if (item)
        return wrong(
            item, "fields", *out,
            "differ from those of items[0]: one array holds one kind of rows, so request them separately",
            err);
    b->first_fields = *out;
    return HUB_OK;
}

static enum hub_status read_item(struct hub_request *request, struct hub_response *response,
                                 struct batch_request *b, uint32_t i, struct hub_error *err)
{
    const json_t *object = json_array_get(json_object_get(b->json, "items"), i), *names;
    const json_t *number = json_object_get(object, "episode");
    struct hub_window_query *window = &b->queries[i];
    HUB_TRY(read_fields(b, object, i, &names, err));
    HUB_TRY(find_dataset(request, response, b, names, i, &window->dataset, err));
    if (!json_is_integer(number))
        return wrong(i, "episode", number, "is the number of an episode", err);
    window->episode = hub_dataset_find_episode(b->datasets[window->dataset], json_integer_value(number));
    if (!window->episode) {
        (void)hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_EPISODE_MISSING, "episode", "",
                             "'%s' has no episode %" JSON_INTEGER_FORMAT, b->ids[window->dataset],
                             json_integer_value(number));
        name_member(i, "episode", err);
        return HUB_NOT_FOUND;
    }
    HUB_TRY(read_steps(object, i, window, err));
    if (i && b->pad == HUB_PAD_REFUSE && window->steps != b->length)
        return wrong(
            i, json_object_get(object, "stop") ? "stop" : "start",
            json_object_get(object, json_object_get(object, "stop") ? "stop" : "start"),
            "has another number of steps than items[0]: repeat it with \"pad\": \"edge\" or \"zero\"", err);
    b->length = HUB_MAX(b->length, window->steps);
    return HUB_OK;
}

/* ---- the body ---- */

static enum hub_status read_pad(struct batch_request *b, struct hub_error *err)
{
    static const char *const words[] = {
        [HUB_PAD_REFUSE] = "none", [HUB_PAD_EDGE] = "edge", [HUB_PAD_ZERO] = "zero"};
    const json_t *value = json_object_get(b->json, "pad"), *final_row = json_object_get(b->json, "final");
    const char *word = value ? json_string_value(value) : words[0];
    if (final_row && !json_is_boolean(final_row))
        return bad_body("final", final_row, "is true or false", err);
    b->final_row = json_is_true(final_row);
    for (size_t i = 0; word && i < HUB_COUNT(words); i++)
        if (strcmp(word, words[i]) == 0) {
            b->pad = (enum hub_pad)i;
            return HUB_OK;
        }
    return bad_body("pad", value, "is \"none\", \"edge\" or \"zero\"", err);
}

static enum hub_status check_members(const json_t *object, const char *const *known, const char *whose,
                                     struct hub_error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        bool found = false;
        for (size_t i = 0; known[i] && !found; i++)
            found = strcmp(key, known[i]) == 0;
        if (found)
            continue;
        char names[128] = "";
        for (size_t i = 0; known[i]; i++)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "", known[i]);
        return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_PARAMETER, key, "",
                              "%s has no member '%.40s'; it has %s", whose, key, names);
    }
    return HUB_OK;
}

/* Memory that the body takes at most once it is parsed: an empty object takes 240 bytes, a member 100, a
 * value or text 50. */
static uint64_t parsed_bytes(struct hub_view body)
{
    static const uint16_t each[256] = {['{'] = 256, ['['] = 160, [':'] = 96, [','] = 48, ['"'] = 24};
    uint64_t bytes = 2 * body.size + 1024;
    for (size_t i = 0; i < body.size; i++)
        bytes += each[(uint8_t)body.data[i]];
    return bytes;
}

static enum hub_status read_body(struct hub_request *request, struct hub_response *response,
                                 struct batch_request *b, struct hub_error *err)
{
    static const char *const of_body[] = {"items", "fields", "pad", "final", NULL}, *const of_item[] = {
                                                                                        "id",      "dataset",
                                                                                        "episode", "fields",
                                                                                        "start",   "stop",
                                                                                        NULL};
    struct hub_error why = {0};
    HUB_TRY(hub_windows_format(request, &b->as, err));
    HUB_TRY(hub_budget_take(request->app->budget, request, response, parsed_bytes(request->body), err));
    if (!request->body.size || hub_json_parse(request->body, request->body.size, &b->json, &why))
        return hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_BAD_REQUEST, "the body is not JSON: %.300s",
                           request->body.size ? why.detail : "it is empty");
    HUB_TRY(check_members(b->json, of_body, "a batch", err));
    const json_t *items = json_object_get(b->json, "items");
    const size_t count = json_array_size(items);
    if (!json_is_object(b->json) || !count)
        return bad_body("items", items,
                        "is a list of windows, in an object: {\"items\": [{\"id\": \"ID\", "
                        "\"episode\": 0, \"start\": 0, \"stop\": 16}]}",
                        err);
    if (count > HUB_MAX_WINDOWS)
        return hub_fail_about(err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LARGE, "items", "",
                              "%zu items; at most %d in one answer", count, HUB_MAX_WINDOWS);
    for (size_t i = 0; i < count; i++)
        HUB_TRY(check_members(json_array_get(items, i), of_item, "an item", err));
    b->count = (uint32_t)count;
    return read_pad(b, err);
}

static enum hub_status make_plan(struct hub_request *request, struct hub_response *response,
                                 struct batch_request *b, struct hub_error *err)
{
    HUB_TRY(read_body(request, response, b, err));
    const uint32_t most = HUB_MIN(b->count, (uint32_t)MAX_DATASETS);
    HUB_TRY(hub_budget_take(request->app->budget, request, response,
                            b->count * sizeof *b->queries + most * (sizeof *b->fields + sizeof *b->targets),
                            err));
    HUB_TRY(hub_new(&b->targets, most, sizeof *b->targets, err));
    HUB_TRY(hub_new(&b->datasets, most, sizeof *b->datasets, err));
    HUB_TRY(hub_new(&b->ids, most, sizeof *b->ids, err));
    HUB_TRY(hub_new(&b->fields, most, sizeof *b->fields, err));
    HUB_TRY(hub_new(&b->queries, b->count, sizeof *b->queries, err));
    for (uint32_t i = 0; i < b->count; i++)
        HUB_TRY(read_item(request, response, b, i, err));
    if (!b->length)
        return bad_body("items", NULL, "have no steps: start must be less than stop", err);
    const struct hub_windows_query query = {.datasets = b->datasets,
                                            .dataset_count = b->dataset_count,
                                            .fields = b->fields,
                                            .windows = b->queries,
                                            .count = b->count,
                                            .length = b->length,
                                            .final_row = b->final_row,
                                            .pad = b->pad,
                                            .as = b->as,
                                            .counted = "items"};
    return hub_windows_plan(request, response, &query, &b->windows, err);
}

/* ---- the answer ---- */

enum hub_status hub_batch_post(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    struct batch_request *b = request->state;
    enum hub_status st = HUB_OK;
    if (!request->may_block)
        return HUB_AGAIN;
    if (!b) {
        HUB_TRY(hub_new(&b, 1, sizeof *b, err));
        request->state = b;
        request->free_state = free_batch;
    }
    const bool waited = b->planned;
    if (!waited)
        st = make_plan(request, response, b, err);
    b->planned = !st;
    if (!st)
        st = hub_response_header(response, err, "Cache-Control", "no-store");
    if (!st)
        st = hub_windows_answer(request, &b->windows, response, err);
    if (st == HUB_AGAIN && request->wait.on == HUB_WAIT_BYTES)
        return st; /* for what is coming by this plan */
    forget(b);
    if (st != HUB_CHANGED || !waited)
        return st;
    hub_response_dispose(response); /* published again while it waited: from the start */
    return hub_batch_post(request, response, err);
}
