/* Errors as HTTP answers (RFC 9457). This file alone decides the status, the stable name and Retry-After of
 * an error. */
#include "server/http/http.h"
#include "storage/text/json.h"

#include <stdio.h>

struct problem {
    const char *name;
    unsigned status;
    unsigned retry_s; /* advice where the error gives none; 0: no Retry-After */
    const char *title;
};

/* The names of all problems that something answers with. A name never changes; an error that carries one
 * answers with its status. */
static const struct problem problems[] = {
    {"bad-request", 400, 0, "The request is malformed"},
    {"bad-parameter", 400, 0, "A query parameter is not valid"},
    {"bad-id", 400, 0, "The dataset id is not valid"},
    {"bad-cursor", 400, 0, "The cursor is not valid"},
    {"bad-where", 400, 0, "The filter of episodes is not valid"},
    {"bad-slice", 400, 0, "The slice is not valid"},
    {"forbidden", 403, 0, "Not allowed"},
    {"dataset-not-found", 404, 0, "There is no such dataset"},
    {"episode-missing", 404, 0, "There is no such episode"},
    {"field-not-found", 404, 0, "There is no such field"},
    {"camera-not-found", 404, 0, "There is no such camera"},
    {"file-not-found", 404, 0, "There is no such file"},
    {"namespace-not-found", 404, 0, "There is no such namespace"},
    {"revision-not-found", 404, 0, "There is no such revision"},
    {"mirror-not-found", 404, 0, "There is no such mirror rule"},
    {"job-not-found", 404, 0, "There is no such job"},
    {"route-not-found", 404, 0, "There is nothing at this address"},
    {"method-not-allowed", 405, 0, "The method is not allowed here"},
    {"not-acceptable", 406, 0, "The representation is not available"},
    {"needs-decoding", 406, 0, "The image needs decoding"},
    {"exists", 409, 0, "It exists already"},
    {"revision-gone", 410, 0, "This revision is no longer here"},
    {"precondition-failed", 412, 0, "A precondition is not met"},
    {"too-large", 413, 0, "The request or its answer is too large"},
    {"range-not-satisfiable", 416, 0, "The range is out of bounds"},
    {"dataset-broken", 422, 0, "The dataset is broken"},
    {"field-unreadable", 422, 0, "The field cannot be read"},
    {"file-damaged", 422, 0, "The file is damaged"},
    {"not-measured", 422, 0, "It is not measured"},
    {"internal", 500, 0, "The server failed"},
    {"upstream-failed", 502, 0, "The upstream refused"},
    {"upstream-unavailable", 503, 15, "The upstream does not answer"},
    {"dataset-changing", 503, 3, "The dataset is being changed"},
    {"pending", 503, 2, "The dataset is still being fetched, inspected or measured"},
    {"storage-unavailable", 503, 2, "The storage does not answer"},
    {"root-missing", 503, 60, "A root is not mounted"},
    {"overloaded", 503, 1, "The server is overloaded"},
    {"starting", 503, 1, "The server is starting"},
    {"draining", 503, 5, "The server is shutting down"},
    {"no-space", 507, 0, "The disk is full"},
};

/* The name of an error that carries none; one that says all is well is a bug. */
static const char *const of_status[] = {
    [HUB_OK] = "internal",
    [HUB_NOT_FOUND] = "file-not-found",
    [HUB_EXISTS] = "exists",
    [HUB_INVALID] = "bad-request",
    [HUB_OUT_OF_RANGE] = "range-not-satisfiable",
    [HUB_TOO_BIG] = "too-large",
    [HUB_NOT_ACCEPTABLE] = "not-acceptable",
    [HUB_UNSUPPORTED] = "field-unreadable",
    [HUB_CORRUPT] = "dataset-broken",
    [HUB_DENIED] = "forbidden",
    [HUB_CHANGED] = "dataset-changing",
    [HUB_BUSY] = "overloaded",
    [HUB_AGAIN] = "overloaded",
    [HUB_TIMEOUT] = "overloaded",
    [HUB_IO] = "internal",
    [HUB_NO_SPACE] = "no-space",
    [HUB_NO_MEMORY] = "overloaded",
    [HUB_CANCELLED] = "draining",
};
_Static_assert(HUB_COUNT(of_status) == HUB_CANCELLED + 1, "one of each");

static const struct problem *named(const char *name)
{
    for (size_t i = 0; i < HUB_COUNT(problems); i++)
        if (strcmp(problems[i].name, name) == 0)
            return &problems[i];
    return NULL;
}

static const struct problem *find(const struct hub_error *err)
{
    const struct problem *problem = err->problem[0] ? named(err->problem) : NULL;
    if (!problem && err->status == HUB_INVALID && err->parameter[0])
        problem = named("bad-parameter");
    return problem ? problem : named(of_status[err->status]);
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

static enum hub_status write_document(struct hub_buf *out, const struct problem *problem,
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
    const struct problem *problem = find(err);
    const struct hub_problem_shape *shape = request->shape;
    struct hub_buf *out = hub_response_buffer(
        response, problem->status, shape ? shape->content_type : "application/problem+json", 1 * MIB);
    if (shape ? shape->write(out, request, err, problem->name, problem->status, extra)
              : write_document(out, problem, err, request, extra, NULL))
        out->size = 0; /* no memory even for this: the status alone has to do */
    unsigned retry_s = err->retry_after_s ? err->retry_after_s : problem->retry_s;
    enum hub_status st = HUB_OK;
    if (retry_s)
        st = hub_response_header(response, NULL, "Retry-After", "%u", retry_s);
    if (!st)
        st = hub_response_header(response, NULL, "Cache-Control", "no-store");
    if (!st && shape && shape->headers)
        st = shape->headers(response, request, err, problem->name);
    if (st)
        response->status = problem->status; /* an answer without these headers is still the answer */
}
