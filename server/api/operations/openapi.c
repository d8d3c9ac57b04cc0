/* The contract. server/api/openapi.json has what people write: schemas, and what each operation answers. The
 * parameters of an operation come from the rows of its routes, its problems from the statuses in
 * "x-problems". */
#include "server/api/app.h"
#include "server/api/handlers.h"
#include "server/api/reply.h"
#include "server/http/parameter.h"
#include "server/http/server.h"
#include "storage/encode/representation.h"
#include "storage/text/json.h"

extern const unsigned char hub_openapi_json[]; /* embedded from server/api/openapi.json */
extern const unsigned long hub_openapi_json_size;

/* ---- parameters ---- */

/* "random=3&seed=1" of `seed` is "1"; of a path it is the value. */
static struct hub_view example_of(const struct hub_parameter *row)
{
    struct hub_view rest = hub_view_of(row->example ? row->example : "");
    const size_t size = strlen(row->name);
    while (!row->in_path && rest.size) {
        const size_t end = strcspn(rest.data, "&");
        if (hub_view_starts(rest, row->name) && rest.data[size] == '=')
            return (struct hub_view){rest.data + size + 1, end - size - 1};
        rest = hub_view_of(rest.data + end + (rest.data[end] == '&'));
    }
    return rest;
}

static void write_list(struct hub_json *json, struct hub_view text)
{
    hub_json_array(json);
    for (const char *at = text.data, *end = text.data + text.size; at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const size_t size = (size_t)((comma ? comma : end) - at);
        hub_json_string(json, (struct hub_view){at, size});
        at += size + 1;
    }
    hub_json_end_array(json);
}

/* A value as its type has it. */
static void write_value(struct hub_json *json, const struct hub_parameter *row, struct hub_view text)
{
    switch (row->type) {
    case HUB_PARAM_WHOLE:
        return hub_json_int(json, strtoll(text.data, NULL, 10));
    case HUB_PARAM_REAL:
        return hub_json_double(json, strtod(text.data, NULL));
    case HUB_PARAM_FLAG:
        return hub_json_bool(json, hub_view_starts(text, "1") || hub_view_starts(text, "true"));
    case HUB_PARAM_LIST:
        return write_list(json, text);
    case HUB_PARAM_TEXTS:
        hub_json_array(json);
        hub_json_string(json, text);
        return hub_json_end_array(json);
    case HUB_PARAM_TEXT:
    case HUB_PARAM_WORD:
    case HUB_PARAM_FORM:
    case HUB_PARAM_OTHERS:
        break;
    }
    hub_json_string(json, text);
}

static void write_words(struct hub_json *json, const struct hub_parameter *row)
{
    struct hub_view rest = hub_view_of(row->words ? row->words : ""), word;
    const struct hub_representation *as = NULL;
    hub_json_put_array(json, "enum");
    while ((word = hub_parameter_word(&rest)).size)
        hub_json_string(json, word);
    while (row->type == HUB_PARAM_FORM &&
           (as = hub_representations_next((enum hub_representation_list)row->forms, as)))
        hub_json_string(json, hub_view_of(as->name));
    hub_json_end_array(json);
}

static void write_items(struct hub_json *json, const struct hub_parameter *row)
{
    hub_json_put_object(json, "items");
    hub_json_put_text(json, "type", "string");
    if (row->words)
        write_words(json, row);
    hub_json_end_object(json);
}

static void write_bounds(struct hub_json *json, const struct hub_parameter *row)
{
    const bool any = !row->least && !row->most;
    if (row->type == HUB_PARAM_WHOLE)
        hub_json_put_text(json, "format", "int64");
    hub_json_put_int(json, "minimum", any ? INT64_MIN : row->least);
    if (any || row->most != INT64_MAX)
        hub_json_put_int(json, "maximum", any ? INT64_MAX : row->most);
}

static void write_schema(struct hub_json *json, const struct hub_parameter *row)
{
    static const char *const types[] = {
        [HUB_PARAM_TEXTS] = "array", [HUB_PARAM_LIST] = "array",   [HUB_PARAM_WHOLE] = "integer",
        [HUB_PARAM_REAL] = "number", [HUB_PARAM_FLAG] = "boolean", [HUB_PARAM_TEXT] = "string",
        [HUB_PARAM_WORD] = "string", [HUB_PARAM_FORM] = "string",  [HUB_PARAM_OTHERS] = "string"};
    hub_json_put_object(json, "schema");
    hub_json_put_text(json, "type", types[row->type]);
    if (row->type == HUB_PARAM_TEXTS || row->type == HUB_PARAM_LIST)
        write_items(json, row);
    if (row->type == HUB_PARAM_WORD || row->type == HUB_PARAM_FORM)
        write_words(json, row);
    if (row->type == HUB_PARAM_WHOLE || row->type == HUB_PARAM_REAL)
        write_bounds(json, row);
    if (row->schema)
        hub_json_raw(json, hub_view_of(row->schema));
    if (row->preset) {
        hub_json_key(json, HUB_VIEW("default"));
        write_value(json, row, hub_view_of(row->preset));
    }
    hub_json_end_object(json);
}

struct listed {
    const struct hub_parameter *row;
    bool required;
};

static void write_parameter(struct hub_json *json, const struct listed *listed)
{
    const struct hub_parameter *row = listed->row;
    hub_json_object(json);
    hub_json_put_text(json, "name", row->name);
    hub_json_put_text(json, "in", row->in_path ? "path" : "query");
    hub_json_put_bool(json, "required", listed->required);
    hub_json_put_text(json, "description", row->help);
    write_schema(json, row);
    if (row->type == HUB_PARAM_LIST)
        hub_json_put_bool(json, "explode", false);
    hub_json_key(json, HUB_VIEW("example"));
    write_value(json, row, example_of(row));
    hub_json_end_object(json);
}

/* What a route needs that is chosen by its "?name" is not needed by the others of the operation. */
static void add_rows(const struct hub_route *route, struct listed rows[HUB_MAX_QUERY], unsigned *count)
{
    const bool chosen = strchr(route->pattern, '?');
    for (const struct hub_parameter *const *row = route->parameters; *row; row++) {
        unsigned i = 0;
        while (i < *count && strcmp(rows[i].row->name, (*row)->name) != 0)
            i++;
        if (i == *count && (*row)->help && *count < HUB_MAX_QUERY)
            rows[(*count)++] = (struct listed){*row, (*row)->in_path || ((*row)->required && !chosen)};
    }
}

/* Of all routes of the path and the method, which differ in their "?name": the first that explains a
 * parameter. Those that ignore others are the page at "/". */
static enum hub_status add_parameters(const struct hub_route *route, const char *path, const char *method,
                                      json_t *operation, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MIB);
    struct hub_json json = hub_json_to(&text, err);
    struct listed rows[HUB_MAX_QUERY];
    unsigned count = 0;
    json_t *parameters;
    for (; route->pattern; route++) {
        const struct hub_view pattern = {route->pattern, strcspn(route->pattern, "?")};
        const bool is_of_path = hub_view_is(pattern, path) && strcasecmp(route->method, method) == 0;
        if (is_of_path && route->parameters && !hub_parameter_ignores_others(route->parameters))
            add_rows(route, rows, &count);
    }
    hub_json_array(&json);
    for (unsigned i = 0; i < count; i++)
        write_parameter(&json, &rows[i]);
    hub_json_end_array(&json);
    HUB_TRY(hub_json_status(&json));
    HUB_TRY(hub_json_parse(hub_buf_view(&text), text.size, &parameters, err));
    return hub_allocated(json_object_set_new(operation, "parameters", parameters) == 0, err);
}

/* ---- operations ---- */

static bool add_problem(json_t *responses, struct hub_view status)
{
    char ref[64];
    snprintf(ref, sizeof ref, "#/components/responses/%.*s", (int)status.size, status.data);
    return !json_object_setn_new(responses, status.data, status.size, json_pack("{ss}", "$ref", ref));
}

/* Besides those that it states, each refuses a token that is not good, and slows down who sends many. */
static enum hub_status add_problems(json_t *operation, struct hub_error *err)
{
    json_t *responses = json_object_get(operation, "responses");
    const char *statuses = json_string_value(json_object_get(operation, "x-problems"));
    struct hub_view rest = hub_view_of(statuses ? statuses : ""), word;
    bool added = add_problem(responses, HUB_VIEW("401")) && add_problem(responses, HUB_VIEW("429"));
    while ((word = hub_parameter_word(&rest)).size)
        added &= add_problem(responses, word);
    added &= add_problem(responses, HUB_VIEW("default"));
    (void)json_object_del(operation, "x-problems");
    return hub_allocated(added, err);
}

/* Of rows, in place of a mark such as "@media-types@"; but the first of all, which stands beside it. */
static bool add_media_types(json_t *content)
{
    static const char *const marks[] = {[HUB_LIST_ALL] = "@media-types@",
                                        [HUB_LIST_OF_SEVERAL] = "@media-types-of-several@",
                                        [HUB_LIST_OF_VALUES] = "@media-types-of-values@",
                                        [HUB_LIST_OF_ROWS] = "@media-types-of-rows@",
                                        [HUB_LIST_OF_WINDOWS] = "@media-types-of-windows@"};
    bool added = true;
    for (size_t which = 0; which < HUB_COUNT(marks); which++) {
        json_t *binary = json_object_get(content, marks[which]);
        const struct hub_representation *as = hub_representations;
        while (binary && (as = hub_representations_next((enum hub_representation_list)which, as)))
            added &= strchr(as->media_type, '*') || !json_object_set(content, as->media_type, binary);
        if (binary)
            (void)json_object_del(content, marks[which]);
    }
    return added;
}

static enum hub_status complete_answers(json_t *operation, struct hub_error *err)
{
    const char *status;
    json_t *answer;
    bool added = true;
    json_object_foreach(json_object_get(operation, "responses"), status, answer)
    {
        added &= add_media_types(json_object_get(answer, "content"));
    }
    return hub_allocated(added, err);
}

static enum hub_status complete(json_t *document, const struct hub_route *routes, struct hub_error *err)
{
    const char *path, *method;
    json_t *item, *operation;
    json_object_foreach(json_object_get(document, "paths"), path, item)
    {
        json_object_foreach(item, method, operation)
        {
            HUB_TRY(add_parameters(routes, path, method, operation, err));
            HUB_TRY(add_problems(operation, err));
            HUB_TRY(complete_answers(operation, err));
        }
    }
    return HUB_OK;
}

enum hub_status hub_openapi_show(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    HUB_TRY(hub_reply_on_worker(request));
    const struct hub_view text = {(const char *)hub_openapi_json, hub_openapi_json_size};
    HUB_TRY(hub_json_parse(text, text.size, &document, err));
    HUB_TRY(complete(document, hub_http_routes(request->app->http), err));
    HUB_CLEANUP(hub_freep) char *dump = json_dumps(document, JSON_COMPACT);
    HUB_TRY(hub_allocated(dump, err));
    HUB_TRY(hub_buf_add_text(hub_response_buffer(response, 200, "application/json", 4 * MIB), dump, err));
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-cache"));
    return hub_reply_document(request, response, err);
}
