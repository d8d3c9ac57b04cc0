/* What is wrong, as Google's services say it: in JSON, and in XML where names are paths. */
#include "server/facade/handlers.h"

#include "server/facade/markup.h"
#include "storage/text/json.h"

static const char *code_of(unsigned status)
{
    switch (status) {
    case 401:
    case 403:
        return "AccessDenied";
    case 404:
    case 410:
        return "NoSuchKey";
    case 405:
        return "MethodNotAllowed";
    case 412:
        return "PreconditionFailed";
    case 413:
        return "EntityTooLarge";
    case 416:
        return "InvalidRange";
    case 429:
        return "SlowDown";
    case 503:
        return "ServiceUnavailable";
    default:
        return status >= 500 ? "InternalError" : "InvalidArgument";
    }
}

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
                                     const struct hub_error *err, const char *name, unsigned status,
                                     const char *extra)
{
    (void)extra;
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

static enum hub_status write_xml(struct hub_buf *out, const struct hub_request *request,
                                 const struct hub_error *err, const char *name, unsigned status,
                                 const char *extra)
{
    (void)extra;
    (void)request;
    HUB_TRY(hub_buf_addf(out, NULL, "<?xml version='1.0' encoding='UTF-8'?><Error><Code>%s</Code><Message>",
                         code_of(status)));
    HUB_TRY(hub_markup_add(hub_view_of(err->detail[0] ? err->detail : name), out, NULL));
    return hub_buf_add_text(out, "</Message></Error>\n", NULL);
}

const struct hub_problem_shape hub_gcs_xml_shape = {"application/xml; charset=UTF-8", write_xml, NULL};
