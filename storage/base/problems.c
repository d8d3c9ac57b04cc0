/* The rows of problems.h. */
#include "storage/base/problems.h"

#include <stddef.h>
#include <string.h>

/* An HTTP status, and what the protocols of Google call it. */
#define HTTP_0 0, NULL, NULL
#define HTTP_400 400, "invalid", "InvalidArgument"
#define HTTP_401 401, "required", "AccessDenied"
#define HTTP_403 403, "forbidden", "AccessDenied"
#define HTTP_404 404, "notFound", "NoSuchKey"
#define HTTP_405 405, "methodNotAllowed", "MethodNotAllowed"
#define HTTP_406 406, "invalid", "InvalidArgument"
#define HTTP_409 409, "conflict", "InvalidArgument"
#define HTTP_410 410, "notFound", "NoSuchKey"
#define HTTP_412 412, "conditionNotMet", "PreconditionFailed"
#define HTTP_413 413, "invalid", "EntityTooLarge"
#define HTTP_416 416, "requestedRangeNotSatisfiable", "InvalidRange"
#define HTTP_422 422, "invalid", "InvalidArgument"
#define HTTP_429 429, "rateLimitExceeded", "SlowDown"
#define HTTP_500 500, "backendError", "InternalError"
#define HTTP_502 502, "backendError", "InternalError"
#define HTTP_503 503, "backendError", "ServiceUnavailable"
#define HTTP_507 507, "backendError", "InternalError"

#define ROW(code, name, http, client, ...) [HUB_PROBLEM_##code] = {name, HTTP_##http, __VA_ARGS__},

const struct hub_problem_row hub_problem_rows[HUB_PROBLEM_COUNT] = {
    [HUB_PROBLEM_NONE] = {.name = ""}, HUB_PROBLEMS(ROW) /* */
};

const char *hub_problem_name(enum hub_problem_code code)
{
    return hub_problem_rows[code].name;
}

const char *hub_problem_name_or(enum hub_problem_code code, const char *otherwise)
{
    return code ? hub_problem_name(code) : otherwise;
}

enum hub_problem_code hub_problem_find(const char *name)
{
    for (enum hub_problem_code code = HUB_PROBLEM_NONE + 1; code < HUB_PROBLEM_COUNT; code++)
        if (strcmp(hub_problem_rows[code].name, name) == 0)
            return code;
    return HUB_PROBLEM_NONE;
}
