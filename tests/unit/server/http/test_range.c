#include "server/http/http.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

struct range_case {
    char range[48];
    uint64_t size;
    enum hub_status st;
    bool partial;
    uint64_t first, count;
};

static struct hub_request with(enum hub_method method, const struct hub_param *headers, unsigned count)
{
    return (struct hub_request){.method = method, .headers = headers, .header_count = count, .target = "/"};
}

static struct hub_param header(const char *name, const char *value)
{
    return (struct hub_param){hub_view_of(name), hub_view_of(value)};
}

ParameterizedTestParameters(range, table)
{
    static struct range_case cases[] = {
        {"bytes=0-0", 10, HUB_OK, true, 0, 1}, /* both ends count */
        {"bytes=0-", 10, HUB_OK, true, 0, 10},
        {"bytes=-3", 10, HUB_OK, true, 7, 3},    /* the last three */
        {"bytes=-99", 10, HUB_OK, true, 0, 10},  /* more than there is: all of it */
        {"bytes=4-999", 10, HUB_OK, true, 4, 6}, /* clipped, not refused */
        {"bytes=9-9", 10, HUB_OK, true, 9, 1},
        {"bytes= 2-3 ", 10, HUB_OK, true, 2, 2},
        {"BYTES=2-3", 10, HUB_OK, true, 2, 2}, /* units are compared without case */
        {"bytes=10-", 10, HUB_OUT_OF_RANGE, false, 0, 0},
        {"bytes=10-12", 10, HUB_OUT_OF_RANGE, false, 0, 0},
        {"bytes=-0", 10, HUB_OUT_OF_RANGE, false, 0, 0},
        {"bytes=0-", 0, HUB_OUT_OF_RANGE, false, 0, 0},
        {"bytes=-5", 0, HUB_OK, false, 0, 0}, /* all of nothing */
        {"bytes=18446744073709551615-", 10, HUB_OUT_OF_RANGE, false, 0, 0},
        {"bytes=99999999999999999999999-", 10, HUB_OUT_OF_RANGE, false, 0, 0},
        {"bytes=9223372036854775808-9223372036854775809", 10, HUB_OUT_OF_RANGE, false, 0, 0},
        {"bytes=0-18446744073709551615", 10, HUB_OK, true, 0, 10},
        {"bytes=0-99999999999999999999999", 10, HUB_OK, true, 0, 10},
        {"bytes=-99999999999999999999999", 10, HUB_OK, true, 0, 10},
        {"bytes=3-2", 10, HUB_OK, false, 0, 10}, /* malformed: as if it were not there */
        {"bytes=", 10, HUB_OK, false, 0, 10},
        {"bytes=-", 10, HUB_OK, false, 0, 10},
        {"bytes=a-b", 10, HUB_OK, false, 0, 10},
        {"bytes=1-2x", 10, HUB_OK, false, 0, 10},
        {"bytes=1 - 2", 10, HUB_OK, false, 0, 10},
        {"bytes=+1-2", 10, HUB_OK, false, 0, 10},
        {"bytes=0x1-2", 10, HUB_OK, false, 0, 10},
        {"bytes=--1", 10, HUB_OK, false, 0, 10},
        {"bytes 1-2", 10, HUB_OK, false, 0, 10},
        {"rows=1-2", 10, HUB_OK, false, 0, 10},      /* another unit */
        {"bytes=0-1,4-5", 10, HUB_OK, false, 0, 10}, /* several: answered whole */
        {"", 10, HUB_OK, false, 0, 10},
    };
    return cr_make_param_array(struct range_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(const struct range_case *c, range, table)
{
    const struct hub_param headers[] = {header("Range", c->range)};
    const struct hub_request request = with(HUB_GET, headers, 1), head = with(HUB_HEAD, headers, 1);
    const struct hub_validators validators = {"\"e\"", -1};
    uint64_t first = 7, count = 7;
    bool partial = true;
    struct hub_error err = {0};
    cr_assert_eq(hub_range(&request, &validators, c->size, &first, &count, &partial, &err), c->st, "%s",
                 c->range);
    if (c->st == HUB_OK) {
        cr_assert_eq(partial, c->partial, "%s", c->range);
        cr_assert_eq(first, c->first, "%s", c->range);
        cr_assert_eq(count, c->count, "%s", c->range);
    } else {
        cr_assert_eq(err.problem, HUB_PROBLEM_RANGE_NOT_SATISFIABLE);
    }
    cr_assert_eq(hub_range(&head, &validators, c->size, &first, &count, &partial, &err), HUB_OK);
    cr_assert(!partial && first == 0 && count == c->size, "HEAD ignores Range (RFC 9110 14.2)");
}

Test(range, two_lines_are_answered_whole)
{
    const struct hub_param headers[] = {header("Range", "bytes=0-0"), header("range", "bytes=1-1")};
    const struct hub_request request = with(HUB_GET, headers, 2);
    const struct hub_validators validators = {"\"e\"", -1};
    uint64_t first = 0, count = 0;
    bool partial = true;
    cr_assert_eq(hub_range(&request, &validators, 10, &first, &count, &partial, NULL), HUB_OK);
    cr_assert(!partial && count == 10);
}

struct if_range_case {
    char value[48];
    bool holds;
};

ParameterizedTestParameters(range, if_range)
{
    static struct if_range_case cases[] = {
        {"\"e\"", true},
        {"\"other\"", false},
        {"W/\"e\"", false}, /* weak tags never select a range */
        {"e", false},
        {"Sun, 06 Nov 1994 08:49:37 GMT", true},
        {"Sunday, 06-Nov-94 08:49:37 GMT", true},
        {"Sun Nov  6 08:49:37 1994", true},
        {"Sun, 06 Nov 1994 08:49:38 GMT", false}, /* later is not the same */
        {"Sun, 06 Nov 1994 08:49:36 GMT", false},
        {"yesterday", false},
        {"", false},
    };
    return cr_make_param_array(struct if_range_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(const struct if_range_case *c, range, if_range)
{
    const struct hub_param headers[] = {header("Range", "bytes=2-4"), header("If-Range", c->value)};
    const struct hub_request request = with(HUB_GET, headers, 2);
    const struct hub_validators validators = {"\"e\"", 784111777};
    uint64_t first = 0, count = 0;
    bool partial = false;
    cr_assert_eq(hub_range(&request, &validators, 10, &first, &count, &partial, NULL), HUB_OK);
    cr_assert_eq(partial, c->holds, "%s", c->value);
    cr_assert_eq(count, c->holds ? 3 : 10);
}

Test(range, answer)
{
    const struct hub_validators validators = {"\"x\"", -1};
    struct hub_error err = {0};
    struct hub_param range = header("Range", "bytes=4-");
    struct hub_request request = with(HUB_GET, &range, 1);
    struct hub_response response;
    struct hub_byte_range out = {0};
    hub_response_init(&response);
    cr_assert_eq(hub_bytes_range(&request, &validators, 10, &response, &out, &err), HUB_OK);
    cr_expect(response.status == 206 && out.partial && !out.answered && out.first == 4 && out.count == 6);
    cr_expect_str_eq(response.headers[0].value, "bytes 4-9/10");
    range = header("Range", "bytes=10-");
    cr_assert_eq(hub_bytes_range(&request, &validators, 10, &response, &out, &err), HUB_OK);
    cr_expect(response.status == 416 && out.answered);
    cr_expect_str_eq(response.headers[response.header_count - 1].value, "bytes */10");
    hub_response_dispose(&response);
}
