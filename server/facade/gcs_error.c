/* What is wrong, as Google's services say it. */
#include "server/facade/handlers.h"

#include "storage/base/json.h"

static const char *reason_of(unsigned status)
{
    switch (status) {
    case 401:
        return "required";
    case 403:
        return "forbidden";
    case 404:
    case 410:
        return "notFound";
    case 405:
        return "methodNotAllowed";
    case 409:
        return "conflict";
    case 412:
        return "conditionNotMet";
    case 416:
        return "requestedRangeNotSatisfiable";
    case 429:
        return "rateLimitExceeded";
    default:
        return status >= 500 ? "backendError" : "invalid";
    }
}

static enum hub_status write_problem(struct hub_buf *out, const struct hub_request *request,
                                     const struct hub_error *err, const char *name, unsigned status)
{
    struct hub_json json = hub_json_to(out, NULL);
    (void)request;
    const char *text = err->detail[0] ? err->detail : name;
    hub_json_object(&json);
    hub_json_put_object(&json, "error");
    hub_json_put_uint(&json, "code", status);
    hub_json_put_text(&json, "message", text);
    hub_json_put_array(&json, "errors");
    hub_json_object(&json);
    hub_json_put_text(&json, "message", text);
    hub_json_put_text(&json, "domain", "global");
    hub_json_put_text(&json, "reason", reason_of(status));
    hub_json_end_object(&json);
    hub_json_end_array(&json);
    hub_json_end_object(&json);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

const struct hub_problem_shape hub_gcs_shape = {"application/json; charset=UTF-8", write_problem, NULL};
