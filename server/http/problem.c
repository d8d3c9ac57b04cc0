/* Errors as HTTP answers (RFC 9457). This file alone decides which row of problems.h an error is answered
 * with. */
#include "server/http/http.h"
#include "storage/text/json.h"

#include <stdio.h>

/* What an error is that carries no problem; one that says all is well is a bug. */
static const enum hub_problem_code of_status[] = {
    [HUB_OK] = HUB_PROBLEM_INTERNAL,
    [HUB_NOT_FOUND] = HUB_PROBLEM_FILE_NOT_FOUND,
    [HUB_EXISTS] = HUB_PROBLEM_EXISTS,
    [HUB_INVALID] = HUB_PROBLEM_BAD_REQUEST,
    [HUB_OUT_OF_RANGE] = HUB_PROBLEM_RANGE_NOT_SATISFIABLE,
    [HUB_TOO_BIG] = HUB_PROBLEM_TOO_LARGE,
    [HUB_NOT_ACCEPTABLE] = HUB_PROBLEM_NOT_ACCEPTABLE,
    [HUB_UNSUPPORTED] = HUB_PROBLEM_FIELD_UNREADABLE,
    [HUB_CORRUPT] = HUB_PROBLEM_DATASET_BROKEN,
    [HUB_DENIED] = HUB_PROBLEM_FORBIDDEN,
    [HUB_CHANGED] = HUB_PROBLEM_DATASET_CHANGING,
    [HUB_BUSY] = HUB_PROBLEM_OVERLOADED,
    [HUB_AGAIN] = HUB_PROBLEM_OVERLOADED,
    [HUB_TIMEOUT] = HUB_PROBLEM_OVERLOADED,
    [HUB_IO] = HUB_PROBLEM_INTERNAL,
    [HUB_NO_SPACE] = HUB_PROBLEM_NO_SPACE,
    [HUB_NO_MEMORY] = HUB_PROBLEM_OVERLOADED,
    [HUB_CANCELLED] = HUB_PROBLEM_DRAINING,
};
_Static_assert(HUB_COUNT(of_status) == HUB_CANCELLED + 1, "one of each");

static const struct hub_problem_row *find(const struct hub_error *err)
{
    if (hub_problem_rows[err->problem].status)
        return &hub_problem_rows[err->problem];
    const bool about = err->status == HUB_INVALID && err->parameter[0];
    return &hub_problem_rows[about ? HUB_PROBLEM_BAD_PARAMETER : of_status[err->status]];
}

unsigned hub_problem_status(const struct hub_error *err)
{
    return find(err)->status;
}

static enum hub_status member(struct hub_buf *out, const char *name, const char *value, struct hub_error *err)
{
    HUB_TRY(hub_buf_addf(out, err, ",\"%s\":", name));
    return hub_json_add_string(out, hub_view_of(value), err);
}

static enum hub_status write_document(struct hub_buf *out, const struct hub_problem_row *problem,
                                      const struct hub_error *err, const struct hub_request *request,
                                      const char *extra, struct hub_error *why)
{
    HUB_TRY(hub_buf_addf(out, why, "{\"type\":\"urn:minari-hub:%s\"", problem->name));
    HUB_TRY(member(out, "title", problem->title, why));
    HUB_TRY(hub_buf_addf(out, why, ",\"status\":%u", problem->status));
    HUB_TRY(member(out, "detail", err->detail[0] ? err->detail : problem->title, why));
    HUB_TRY(member(out, "instance", request->target ? request->target : "", why));
    if (err->parameter[0]) {
        HUB_TRY(member(out, "parameter", err->parameter, why));
        HUB_TRY(member(out, "value", err->value, why));
    }
    if (extra && extra[0]) {
        HUB_TRY(hub_buf_add_text(out, ",", why));
        HUB_TRY(hub_buf_add_text(out, extra, why));
    }
    return hub_buf_add_text(out, "}\n", why);
}

/* Where a path that begins at `at` ends: at the quote it is in, else at white space or a comma. */
static size_t path_size(const char *text, const char *at)
{
    const char before = at > text ? at[-1] : ' ';
    const char *close = before == '\'' || before == '"' ? strchr(at, before) : NULL;
    return close ? (size_t)(close - at) : strcspn(at, " \t\n,:;)");
}

void hub_problem_hide_paths(char *text)
{
    for (char *at = strchr(text, '/'); at; at = strchr(at + 1, '/')) {
        if (at > text && !strchr(" \t'\"(:=", at[-1]))
            continue; /* inside a relative one */
        const size_t size = path_size(text, at);
        if (size < 4)
            continue;
        memcpy(at, "...", 3);
        memmove(at + 3, at + size, strlen(at + size) + 1);
    }
}

void hub_problem_write(struct hub_response *response, const struct hub_request *request,
                       const struct hub_error *err, const char *extra)
{
    const struct hub_problem_row *problem = find(err);
    const struct hub_problem_shape *shape = request->shape;
    struct hub_buf *out = hub_response_buffer(
        response, problem->status, shape ? shape->content_type : "application/problem+json", 1 * MIB);
    if (shape ? shape->write(out, request, err, problem, extra)
              : write_document(out, problem, err, request, extra, NULL))
        out->size = 0; /* no memory even for this: the status alone has to do */
    unsigned retry_s = err->retry_after_s ? err->retry_after_s : problem->retry_s;
    enum hub_status st = HUB_OK;
    if (retry_s)
        st = hub_response_header(response, NULL, "Retry-After", "%u", retry_s);
    if (!st && problem->status == 401 && !(shape && shape->has_form))
        st = hub_response_header(response, NULL, "WWW-Authenticate", "Bearer, Basic realm=\"minari-hub\"");
    if (!st)
        st = hub_response_header(response, NULL, "Cache-Control", "no-store");
    if (!st && shape && shape->headers)
        st = shape->headers(response, request, err, problem);
    if (st)
        response->status = problem->status; /* an answer without these headers is still the answer */
}
