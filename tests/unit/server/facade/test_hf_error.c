/* What is wrong, as clients of Hugging Face read it: they go by X-Error-Code, and "error" is a string. */
#include "server/facade/handlers.h"

#include <criterion/criterion.h>

static const char *header_of(const struct hub_response *response, const char *name)
{
    for (unsigned i = 0; i < response->header_count; i++)
        if (strcmp(response->headers[i].name, name) == 0)
            return response->headers[i].value;
    return NULL;
}

Test(hf_error, headers)
{
    static const struct {
        enum hub_problem_code problem;
        const char *detail, *code, *message; /* code, message: NULL: no such header */
    } cases[] = {
        {HUB_PROBLEM_DATASET_NOT_FOUND, "Repository not found: a/b", "RepoNotFound",
         "Repository not found: a/b"},
        {HUB_PROBLEM_REVISION_NOT_FOUND, "Invalid rev id: x", "RevisionNotFound", "Invalid rev id: x"},
        {HUB_PROBLEM_FILE_NOT_FOUND, "Entry not found: x", "EntryNotFound", "Entry not found: x"},
        {HUB_PROBLEM_FILE_NOT_FOUND, "Entry not found: \xC3\xB6", "EntryNotFound",
         NULL}, /* a header holds ASCII */
        {HUB_PROBLEM_FILE_NOT_FOUND, "two\nlines", "EntryNotFound", NULL},
        {HUB_PROBLEM_FILE_NOT_FOUND, "", "EntryNotFound", NULL},
        {HUB_PROBLEM_OVERLOADED, "try again", NULL, "try again"},
        {HUB_PROBLEM_ROUTE_NOT_FOUND, "nothing here", NULL,
         "nothing here"}, /* it says nothing of the repository */
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct hub_response response;
        struct hub_error err = {0};
        hub_fail(&err, HUB_NOT_FOUND, "%s", cases[i].detail);
        hub_response_init(&response);
        cr_assert_eq(hub_hf_shape.headers(&response, NULL, &err, &hub_problem_rows[cases[i].problem]),
                     HUB_OK);
        const char *code = header_of(&response, "X-Error-Code"),
                   *message = header_of(&response, "X-Error-Message");
        cr_expect(code && cases[i].code ? !strcmp(code, cases[i].code) : code == cases[i].code, "%s: %s",
                  hub_problem_name(cases[i].problem), code ? code : "none");
        cr_expect(message && cases[i].message ? !strcmp(message, cases[i].message)
                                              : message == cases[i].message,
                  "%s: %s", cases[i].detail, message ? message : "none");
        hub_response_dispose(&response);
    }
}

Test(hf_error, body)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf said = HUB_BUF_INIT(KIB), silent = HUB_BUF_INIT(KIB);
    struct hub_error err = {0}, none = {0};
    hub_fail(&err, HUB_NOT_FOUND, "Entry not found: \"\xC3\xB6\"");
    cr_assert_eq(hub_hf_shape.write(&said, NULL, &err, &hub_problem_rows[HUB_PROBLEM_FILE_NOT_FOUND], NULL),
                 HUB_OK);
    cr_expect_str_eq(said.data, "{\"error\":\"Entry not found: \\\"\xC3\xB6\\\"\"}");
    cr_assert_eq(
        hub_hf_shape.write(&silent, NULL, &none, &hub_problem_rows[HUB_PROBLEM_OVERLOADED], "\"extra\":1"),
        HUB_OK);
    cr_expect_str_eq(silent.data, "{\"error\":\"overloaded\"}");
}
