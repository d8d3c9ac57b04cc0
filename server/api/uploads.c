/* Refusals of uploads: see uploads.h. */
#include "server/api/uploads.h"

enum hub_status hub_no_uploads(const struct hub_request *request, enum hub_status st,
                               enum hub_problem_code problem, const char *more, struct hub_error *err)
{
    return hub_fail_as(
        err, st, problem,
        "Nothing is uploaded to %.200s: datasets are pushed with `minari-cli upload PATH ID`, by "
        "/api/v1/drafts, or by clients of Hugging Face; those of buckets only read here%s",
        request->target, more);
}

enum hub_status hub_refuse_method(const struct hub_request *request, const char *allow, struct hub_error *err)
{
    if (strcmp(allow, "GET, HEAD") != 0)
        return HUB_OK;
    return hub_no_uploads(request, HUB_INVALID, HUB_PROBLEM_METHOD_NOT_ALLOWED, "; allowed here: GET, HEAD",
                          err);
}
