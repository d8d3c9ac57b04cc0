/* What is wrong, as Google's clients read it: "error" is an object, its reason one of their words; XML where
 * names are paths. */
#include "server/facade/handlers.h"

#include <criterion/criterion.h>
#include <stdio.h>

static void write_as(const struct hub_problem_shape *shape, const char *detail, enum hub_problem_code problem,
                     struct hub_buf *out)
{
    struct hub_error err = {0};
    const struct hub_request request = {.target = "/"};
    if (detail)
        hub_fail(&err, HUB_INVALID, "%s", detail);
    *out = HUB_BUF_INIT(4 * KIB);
    cr_assert_eq(shape->write(out, &request, &err, &hub_problem_rows[problem], "\"extra\":1"), HUB_OK);
}

/* https://cloud.google.com/storage/docs/json_api/v1/status-codes */
Test(gcs_error, words)
{
    static const struct {
        enum hub_problem_code problem;
        const char *reason, *code;
    } cases[] = {
        {HUB_PROBLEM_BAD_REQUEST, "invalid", "InvalidArgument"},
        {HUB_PROBLEM_FORBIDDEN, "forbidden", "AccessDenied"},
        {HUB_PROBLEM_FILE_NOT_FOUND, "notFound", "NoSuchKey"},
        {HUB_PROBLEM_METHOD_NOT_ALLOWED, "methodNotAllowed", "MethodNotAllowed"},
        {HUB_PROBLEM_EXISTS, "conflict", NULL},
        {HUB_PROBLEM_REVISION_GONE, "notFound", "NoSuchKey"},
        {HUB_PROBLEM_PRECONDITION_FAILED, "conditionNotMet", "PreconditionFailed"},
        {HUB_PROBLEM_TOO_LARGE, NULL, "EntityTooLarge"},
        {HUB_PROBLEM_RANGE_NOT_SATISFIABLE, "requestedRangeNotSatisfiable", "InvalidRange"},
        {HUB_PROBLEM_INTERNAL, "backendError", "InternalError"},
        {HUB_PROBLEM_OVERLOADED, "backendError",
         "ServiceUnavailable"}, /* rclone tries again on these words */
        {HUB_PROBLEM_NO_SPACE, "backendError", "InternalError"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf json = {0}, xml = {0};
        char wanted[100];
        write_as(&hub_gcs_shape, "why", cases[i].problem, &json);
        write_as(&hub_gcs_xml_shape, "why", cases[i].problem, &xml);
        snprintf(wanted, sizeof wanted, "\"reason\":\"%s\"", cases[i].reason ? cases[i].reason : "");
        cr_expect(!cases[i].reason || strstr(json.data, wanted), "%s", json.data);
        snprintf(wanted, sizeof wanted, "<Code>%s</Code>", cases[i].code ? cases[i].code : "");
        cr_expect(!cases[i].code || strstr(xml.data, wanted), "%s", xml.data);
    }
}

Test(gcs_error, json)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf said = {0}, silent = {0};
    write_as(&hub_gcs_shape, "no object \"a\\b\"", HUB_PROBLEM_FILE_NOT_FOUND, &said);
    cr_expect_str_eq(said.data,
                     "{\"error\":{\"code\":404,\"message\":\"no object \\\"a\\\\b\\\"\",\"errors\":[{"
                     "\"message\":\"no object \\\"a\\\\b\\\"\",\"domain\":\"global\",\"reason\":"
                     "\"notFound\"}]}}");
    write_as(&hub_gcs_shape, NULL, HUB_PROBLEM_OVERLOADED, &silent);
    cr_expect(strstr(silent.data, "\"message\":\"overloaded\""), "%s", silent.data);
    cr_expect_str_eq(hub_gcs_shape.content_type, "application/json; charset=UTF-8");
}

Test(gcs_error, xml)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf said = {0}, silent = {0};
    write_as(&hub_gcs_xml_shape, "there is no object '<b>&'", HUB_PROBLEM_FILE_NOT_FOUND, &said);
    cr_expect_str_eq(said.data, "<?xml version='1.0' encoding='UTF-8'?><Error><Code>NoSuchKey</Code><Message>"
                                "there is no object &#39;&lt;b&gt;&amp;&#39;</Message></Error>\n");
    write_as(&hub_gcs_xml_shape, NULL, HUB_PROBLEM_TOO_LARGE, &silent);
    cr_expect(strstr(silent.data, "<Message>too-large</Message>"), "%s", silent.data);
    cr_expect_str_eq(hub_gcs_xml_shape.content_type, "application/xml; charset=UTF-8");
}
