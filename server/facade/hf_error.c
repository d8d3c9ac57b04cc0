/* What is wrong, as the hub of Hugging Face says it: clients go by the header. */
#include "server/facade/handlers.h"

#include "storage/text/json.h"

static enum hub_status write_problem(struct hub_buf *out, const struct hub_request *request,
                                     const struct hub_error *err, const struct hub_problem_row *problem,
                                     const char *extra)
{
    (void)request;
    (void)extra;
    struct hub_json json = hub_json_to(out, NULL);
    hub_json_object(&json);
    hub_json_put_text(&json, "error", err->detail[0] ? err->detail : problem->name);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

static enum hub_status write_headers(struct hub_response *response, const struct hub_request *request,
                                     const struct hub_error *err, const struct hub_problem_row *problem)
{
    (void)request;
    bool fits = err->detail[0]; /* one line of ASCII: all that an answer to HEAD can say */
    for (const char *c = err->detail; *c; c++)
        fits = fits && *c >= ' ' && *c < 0x7f;
    if (fits)
        HUB_TRY(hub_response_header(response, NULL, "X-Error-Message", "%s", err->detail));
    return problem->hugging_face
               ? hub_response_header(response, NULL, "X-Error-Code", "%s", problem->hugging_face)
               : HUB_OK;
}

const struct hub_problem_shape hub_hf_shape = {
    .content_type = "application/json; charset=utf-8", .write = write_problem, .headers = write_headers};
