/* What is wrong, as Google's clients read it: "error" is an object, its reason one of their words; XML where
 * names are paths. */
#include "server/facade/handlers.h"

#include <criterion/criterion.h>
#include <stdio.h>

static void write_as(const struct hub_problem_shape *shape, const char *detail, const char *name,
                     unsigned status, struct hub_buf *out)
{
    struct hub_error err = {0};
    const struct hub_request request = {.target = "/"};
    if (detail)
        hub_fail(&err, HUB_INVALID, "%s", detail);
    *out = HUB_BUF_INIT(4 * KIB);
    cr_assert_eq(shape->write(out, &request, &err, name, status, "\"extra\":1"), HUB_OK);
}

/* https://cloud.google.com/storage/docs/json_api/v1/status-codes */
Test(gcs_error, words)
{
    static const struct {
        unsigned status;
        const char *reason, *code;
    } cases[] = {
        {400, "invalid", "InvalidArgument"},
        {401, "required", "AccessDenied"},
        {403, "forbidden", "AccessDenied"},
        {404, "notFound", "NoSuchKey"},
        {405, "methodNotAllowed", "MethodNotAllowed"},
        {409, "conflict", NULL},
        {410, "notFound", "NoSuchKey"},
        {412, "conditionNotMet", "PreconditionFailed"},
        {413, NULL, "EntityTooLarge"},
        {416, "requestedRangeNotSatisfiable", "InvalidRange"},
        {429, "rateLimitExceeded", "SlowDown"},
        {500, "backendError", "InternalError"},
        {503, "backendError", "ServiceUnavailable"}, /* rclone tries again on these words */
        {507, "backendError", "InternalError"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf json = {0}, xml = {0};
        char wanted[100];
        write_as(&hub_gcs_shape, "why", "name", cases[i].status, &json);
        write_as(&hub_gcs_xml_shape, "why", "name", cases[i].status, &xml);
        snprintf(wanted, sizeof wanted, "\"reason\":\"%s\"", cases[i].reason ? cases[i].reason : "");
        cr_expect(!cases[i].reason || strstr(json.data, wanted), "%s", json.data);
        snprintf(wanted, sizeof wanted, "<Code>%s</Code>", cases[i].code ? cases[i].code : "");
        cr_expect(!cases[i].code || strstr(xml.data, wanted), "%s", xml.data);
    }
}

Test(gcs_error, json)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf said = {0}, silent = {0};
    write_as(&hub_gcs_shape, "no object \"a\\b\"", "file-not-found", 404, &said);
    cr_expect_str_eq(said.data,
                     "{\"error\":{\"code\":404,\"message\":\"no object \\\"a\\\\b\\\"\",\"errors\":[{"
                     "\"message\":\"no object \\\"a\\\\b\\\"\",\"domain\":\"global\",\"reason\":"
                     "\"notFound\"}]}}");
    write_as(&hub_gcs_shape, NULL, "overloaded", 503, &silent);
    cr_expect(strstr(silent.data, "\"message\":\"overloaded\""), "%s", silent.data);
    cr_expect_str_eq(hub_gcs_shape.content_type, "application/json; charset=UTF-8");
}

Test(gcs_error, xml)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf said = {0}, silent = {0};
    write_as(&hub_gcs_xml_shape, "there is no object '<b>&'", "file-not-found", 404, &said);
    cr_expect_str_eq(said.data, "<?xml version='1.0' encoding='UTF-8'?><Error><Code>NoSuchKey</Code><Message>"
                                "there is no object &#39;&lt;b&gt;&amp;&#39;</Message></Error>\n");
    write_as(&hub_gcs_xml_shape, NULL, "too-large", 413, &silent);
    cr_expect(strstr(silent.data, "<Message>too-large</Message>"), "%s", silent.data);
    cr_expect_str_eq(hub_gcs_xml_shape.content_type, "application/xml; charset=UTF-8");
}
