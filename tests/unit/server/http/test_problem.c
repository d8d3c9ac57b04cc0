#include "server/http/http.h"
#include "storage/text/json.h"

#include <criterion/criterion.h>

/* The names of all problems, by status. */
struct name_case {
    const char *name;
    unsigned status;
    bool retry;
};
static const struct name_case names[] = {
    {"bad-request", 400, false},
    {"bad-parameter", 400, false},
    {"bad-id", 400, false},
    {"bad-cursor", 400, false},
    {"bad-slice", 400, false},
    {"forbidden", 403, false},
    {"method-not-allowed", 405, false},
    {"dataset-not-found", 404, false},
    {"episode-missing", 404, false},
    {"field-not-found", 404, false},
    {"file-not-found", 404, false},
    {"route-not-found", 404, false},
    {"not-acceptable", 406, false},
    {"needs-decoding", 406, false},
    {"exists", 409, false},
    {"revision-gone", 410, false},
    {"precondition-failed", 412, false},
    {"too-large", 413, false},
    {"range-not-satisfiable", 416, false},
    {"dataset-broken", 422, false},
    {"field-unreadable", 422, false},
    {"internal", 500, false},
    {"dataset-changing", 503, true},
    {"pending", 503, true},
    {"storage-unavailable", 503, true},
    {"overloaded", 503, true},
    {"starting", 503, true},
    {"draining", 503, true},
    {"no-space", 507, false},
};

struct status_case {
    enum hub_status status;
    const char *name;
    unsigned code;
};
static const struct status_case statuses[] = {
    {HUB_NOT_FOUND, "file-not-found", 404},
    {HUB_EXISTS, "exists", 409},
    {HUB_INVALID, "bad-request", 400},
    {HUB_OUT_OF_RANGE, "range-not-satisfiable", 416},
    {HUB_TOO_BIG, "too-large", 413},
    {HUB_NOT_ACCEPTABLE, "not-acceptable", 406},
    {HUB_UNSUPPORTED, "field-unreadable", 422},
    {HUB_CORRUPT, "dataset-broken", 422},
    {HUB_DENIED, "forbidden", 403},
    {HUB_CHANGED, "dataset-changing", 503},
    {HUB_BUSY, "overloaded", 503},
    {HUB_TIMEOUT, "overloaded", 503},
    {HUB_IO, "internal", 500},
    {HUB_NO_SPACE, "no-space", 507},
    {HUB_NO_MEMORY, "overloaded", 503},
    {HUB_CANCELLED, "draining", 503},
};

static json_t *document(struct hub_response *response, const struct hub_error *err, const char *extra)
{
    const struct hub_request request = {.target = "/a\"b\xff"};
    json_t *out = NULL;
    hub_response_init(response);
    hub_problem_write(response, &request, err, extra);
    cr_assert_eq(hub_json_parse(hub_buf_view(&response->buffer), 64 * KIB, &out, NULL), HUB_OK, "%s",
                 response->buffer.data);
    return out;
}

static const char *header(const struct hub_response *response, const char *name)
{
    for (unsigned i = 0; i < response->header_count; i++)
        if (strcmp(response->headers[i].name, name) == 0)
            return response->headers[i].value;
    return NULL;
}

Test(problem, every_name_has_its_status)
{
    for (size_t i = 0; i < HUB_COUNT(names); i++) {
        struct hub_error err = {0};
        struct hub_response response;
        char type[80];
        (void)hub_fail_as(&err, HUB_IO, hub_problem_find(names[i].name), "why");
        json_t *json = document(&response, &err, NULL);
        snprintf(type, sizeof type, "urn:minari-hub:%s", names[i].name);
        cr_assert_str_eq(json_string_value(json_object_get(json, "type")), type);
        cr_assert_eq(json_integer_value(json_object_get(json, "status")), names[i].status, "%s",
                     names[i].name);
        cr_assert_eq(response.status, names[i].status);
        cr_assert_eq(hub_problem_status(&err), names[i].status);
        cr_assert_eq(header(&response, "Retry-After") != NULL, names[i].retry, "%s", names[i].name);
        cr_assert_str_eq(header(&response, "Content-Type"), "application/problem+json");
        json_decref(json);
        hub_response_dispose(&response);
    }
}

Test(problem, every_status_has_a_name)
{
    for (size_t i = 0; i < HUB_COUNT(statuses); i++) {
        struct hub_error err = {0};
        struct hub_response response;
        (void)hub_fail(&err, statuses[i].status, "why");
        json_t *json = document(&response, &err, NULL);
        cr_assert(strstr(json_string_value(json_object_get(json, "type")), statuses[i].name));
        cr_assert_eq(response.status, statuses[i].code);
        json_decref(json);
        hub_response_dispose(&response);
    }
}

Test(problem, members)
{
    struct hub_error err = {0};
    struct hub_response response;
    (void)hub_fail_about(&err, HUB_INVALID, HUB_PROBLEM_NONE, "limit", "x\x01", "say \"it\"\n");
    err.retry_after_s = 7;
    json_t *json = document(&response, &err, "\"nearest\":[\"a\"]");
    cr_assert_str_eq(json_string_value(json_object_get(json, "type")), "urn:minari-hub:bad-parameter");
    cr_assert_str_eq(json_string_value(json_object_get(json, "detail")), "say \"it\"\n");
    cr_assert_str_eq(json_string_value(json_object_get(json, "instance")), "/a\"b\xEF\xBF\xBD");
    cr_assert_str_eq(json_string_value(json_object_get(json, "parameter")), "limit");
    cr_assert_str_eq(json_string_value(json_object_get(json, "value")), "x\x01");
    cr_assert_eq(json_array_size(json_object_get(json, "nearest")), 1);
    cr_assert_str_eq(header(&response, "Retry-After"), "7");
    json_decref(json);
    hub_response_dispose(&response);
}

Test(problem, paths_of_the_machine_are_cut_out)
{
    static const char *const cases[][2] = {
        {"'a/b.h5' is a link to '/nfs/x y/b.h5', outside the roots",
         "'a/b.h5' is a link to '...', outside the roots"},
        {"opening /var/lib/minari-hub/hub.db: disk full", "opening ...: disk full"},
        {"/data/a", "..."},
        {"catalogue (/state/hub.db) and 1 / 2 of a/b/c", "catalogue (...) and 1 / 2 of a/b/c"},
        {"nothing here", "nothing here"},
        {"", ""},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        char text[128];
        strcpy(text, cases[i][0]);
        hub_problem_hide_paths(text);
        cr_assert_str_eq(text, cases[i][1], "%s", text);
    }
}
