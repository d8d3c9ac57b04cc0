#include "server/http/http.h"

#include <criterion/criterion.h>
#include <stdio.h>

Test(request, targets_that_are_refused)
{
    static const char *const bad[] = {
        "",        "x",       "http://x/", "*",         "//",          "/a//b",     "/a//",    "/.",
        "/..",     "/a/../b", "/%2e",      "/%2E%2e/a", "/a%2F..%2Fb", "/a%2F%2Fb", "/%2Fa",   "/a%2F",
        "/%",      "/%4",     "/%4g",      "/%00",      "/a%0Ab",      "/%7F",      "/%C2%80", "/%ff",
        "/%C0%AF", "/\xff",   "/a b",      "/a\tb",     "/a\\b",       "/a?q=%zz",  "/a?b c=d"};
    struct hub_request request = {0};
    for (size_t i = 0; i < HUB_COUNT(bad); i++) {
        struct hub_error err = {0};
        cr_assert_eq(hub_request_init(&request, HUB_GET, bad[i], &err), HUB_INVALID, "%s", bad[i]);
        cr_assert_eq(err.problem, HUB_PROBLEM_BAD_REQUEST);
    }
    hub_request_dispose(&request);
}

Test(request, a_last_segment_may_end_with_an_encoded_slash)
{
    static const char *const bad[] = {"/a%2F", "/a/%2F", "/a/b%2F%2F", "/a/b%2F/c", "/a/b%2F/", "/a/..%2F"};
    struct hub_request request = {0};
    struct hub_error err = {0};
    cr_assert_eq(hub_request_init(&request, HUB_GET, "/a/b%2Fc%2f", &err), HUB_OK);
    cr_assert_eq(request.segment_count, 2);
    cr_assert_str_eq(request.segments[1].data, "b/c/");
    cr_assert(!request.trailing_slash);
    for (size_t i = 0; i < HUB_COUNT(bad); i++)
        cr_assert_eq(hub_request_init(&request, HUB_GET, bad[i], &err), HUB_INVALID, "%s", bad[i]);
    hub_request_dispose(&request);
}

Test(request, parameters_that_are_no_text)
{
    static const struct {
        const char *target, *says;
    } cases[] = {{"/a?q=%00", "parameter 'q' holds a control character"},
                 {"/a?q=a%14b", "parameter 'q' holds a control character"},
                 {"/a?q=%ff", "parameter 'q' is not UTF-8"},
                 {"/a?%ff=1", "the name of a parameter is not UTF-8"}};
    struct hub_request request = {0};
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct hub_error err = {0};
        cr_assert_eq(hub_request_init(&request, HUB_GET, cases[i].target, &err), HUB_INVALID);
        cr_assert_eq(err.problem, HUB_PROBLEM_BAD_PARAMETER);
        cr_assert_str_eq(err.detail, cases[i].says);
    }
    hub_request_dispose(&request);
}

Test(request, a_slash_at_the_end_belongs_to_no_segment)
{
    struct hub_request request = {0};
    cr_assert_eq(hub_request_init(&request, HUB_GET, "/a/b/?c=d", NULL), HUB_OK);
    cr_assert_eq(request.segment_count, 2);
    cr_assert(request.trailing_slash);
    cr_assert_str_eq(request.target, "/a/b/");
    cr_assert_str_eq(request.query_text, "c=d");
    cr_assert_eq(hub_request_init(&request, HUB_GET, "/", NULL), HUB_OK);
    cr_assert_not(request.trailing_slash);
    cr_assert_str_eq(request.query_text, "");
    hub_request_dispose(&request);
}

Test(request, long_text_is_not_kept)
{
    static char target[60000] = "/a?q=";
    struct hub_request request = {0};
    cr_assert_eq(hub_request_init(&request, HUB_GET, "/a", NULL), HUB_OK);
    hub_request_end(&request);
    cr_assert_not_null(request.text);
    memset(target + strlen(target), 'x', sizeof target - strlen(target) - 1);
    cr_assert_eq(hub_request_init(&request, HUB_GET, target, NULL), HUB_OK);
    hub_request_end(&request);
    cr_assert_null(request.text);
    cr_assert_eq(hub_request_init(&request, HUB_GET, "/a", NULL), HUB_OK);
    hub_request_dispose(&request);
}

Test(request, segments_and_parameters)
{
    struct hub_request request = {0};
    struct hub_error err = {0};
    cr_assert_eq(hub_request_init(&request, HUB_GET,
                                  "/a%20b/%C3%A9+%2B/...%5C?x=1&y=a+b%2Bc&x=2&&z&=v&w=a%0A%26=", &err),
                 HUB_OK, "%s", err.detail);
    cr_assert_str_eq(request.target, "/a%20b/%C3%A9+%2B/...%5C");
    cr_assert_eq(request.segment_count, 3);
    cr_assert_str_eq(request.segments[0].data, "a b");
    cr_assert_str_eq(request.segments[1].data, "\xC3\xA9++", "a plus stays a plus in a path");
    cr_assert_str_eq(request.segments[2].data, "...\\");
    cr_assert_eq(request.query_count, 6);
    cr_assert_str_eq(hub_request_query(&request, "x").data, "1", "the first one");
    cr_assert_str_eq(hub_request_query(&request, "y").data, "a b+c");
    cr_assert_eq(hub_request_query(&request, "z").size, 0);
    cr_assert_not_null(hub_request_query(&request, "z").data);
    cr_assert_str_eq(hub_request_query(&request, "").data, "v");
    cr_assert_str_eq(hub_request_query(&request, "w").data, "a\n&=");
    cr_assert_null(hub_request_query(&request, "absent").data);
    hub_request_dispose(&request);
}

Test(request, limits)
{
    char target[8192] = "";
    struct hub_request request = {0};
    size_t used = 0;
    for (int i = 0; i < HUB_MAX_SEGMENTS; i++)
        used += (size_t)sprintf(target + used, "/a");
    cr_assert_eq(hub_request_init(&request, HUB_GET, target, NULL), HUB_OK);
    sprintf(target + used, "/b%%2Fc/d");
    cr_assert_eq(hub_request_init(&request, HUB_GET, target, NULL), HUB_OK);
    cr_assert_eq(request.segment_count, HUB_MAX_SEGMENTS);
    cr_assert_str_eq(request.segments[HUB_MAX_SEGMENTS - 1].data, "a/b/c/d", "the last one has the rest");
    sprintf(target + used, "/b/../d");
    cr_assert_eq(hub_request_init(&request, HUB_GET, target, NULL), HUB_INVALID);
    used = (size_t)sprintf(target, "/a?");
    for (int i = 0; i <= HUB_MAX_QUERY; i++)
        used += (size_t)sprintf(target + used, "a=%d&", i);
    cr_assert_eq(hub_request_init(&request, HUB_GET, target, NULL), HUB_INVALID);
    hub_request_dispose(&request);
}
