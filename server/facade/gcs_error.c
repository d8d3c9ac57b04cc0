/* What is wrong, as Google's services say it: in JSON, and in XML where names are paths. */
#include "server/facade/handlers.h"

#include "server/facade/markup.h"
#include "storage/text/json.h"

static enum hub_status write_problem(struct hub_buf *out, const struct hub_request *request,
                                     const struct hub_error *err, const struct hub_problem_row *problem,
                                     const char *extra)
{
    (void)request;
    (void)extra;
    struct hub_json json = hub_json_to(out, NULL);
    const char *text = err->detail[0] ? err->detail : problem->name;
    hub_json_object(&json);
    hub_json_put_object(&json, "error");
    hub_json_put_uint(&json, "code", problem->status);
    hub_json_put_text(&json, "message", text);
    hub_json_put_array(&json, "errors");
    hub_json_object(&json);
    hub_json_put_text(&json, "message", text);
    hub_json_put_text(&json, "domain", "global");
    hub_json_put_text(&json, "reason", problem->reason);
    hub_json_end_object(&json);
    hub_json_end_array(&json);
    hub_json_end_object(&json);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

const struct hub_problem_shape hub_gcs_shape = {.content_type = "application/json; charset=UTF-8",
                                                .write = write_problem};

static enum hub_status write_xml(struct hub_buf *out, const struct hub_request *request,
                                 const struct hub_error *err, const struct hub_problem_row *problem,
                                 const char *extra)
{
    (void)request;
    (void)extra;
    HUB_TRY(hub_buf_addf(out, NULL, "<?xml version='1.0' encoding='UTF-8'?><Error><Code>%s</Code><Message>",
                         problem->google_code));
    HUB_TRY(hub_markup_add(hub_view_of(err->detail[0] ? err->detail : problem->name), out, NULL));
    return hub_buf_add_text(out, "</Message></Error>\n", NULL);
}

const struct hub_problem_shape hub_gcs_xml_shape = {.content_type = "application/xml; charset=UTF-8",
                                                    .write = write_xml};
