#include "storage/net/answer.h"
#include "storage/net/problem.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

struct range_case {
    char text[64];
    bool good;
    uint64_t first, last, total;
};

ParameterizedTestParameters(answer, content_range)
{
    static struct range_case cases[] = {
        {"bytes 0-9/100", true, 0, 9, 100},
        {"Bytes 99-99/100", true, 99, 99, 100},
        {"bytes 0-18446744073709551614/18446744073709551615", true, 0, UINT64_MAX - 1, UINT64_MAX},
        {"bytes 0-9/*", false, 0, 0, 0},
        {"bytes */100", false, 0, 0, 0},
        {"bytes 9-0/100", false, 0, 0, 0},
        {"bytes 0-100/100", false, 0, 0, 0}, /* past the end */
        {"bytes 0-9/18446744073709551616", false, 0, 0, 0},
        {"bytes 0-9", false, 0, 0, 0},
        {"bytes -9/100", false, 0, 0, 0},
        {"bytes 0-9/100 ", false, 0, 0, 0},
        {"items 0-9/100", false, 0, 0, 0},
        {"", false, 0, 0, 0},
    };
    return cr_make_param_array(struct range_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(const struct range_case *c, answer, content_range)
{
    uint64_t first, last, total;
    const struct hub_view text = hub_view_of(c->text);
    /* lines come trimmed; by itself it is no range */
    const bool trailing = text.size && text.data[text.size - 1] == ' ';
    cr_assert_eq(hub_answer_range(text, &first, &last, &total), c->good || trailing, "%s", c->text);
    if (c->good) {
        cr_assert_eq(first, c->first);
        cr_assert_eq(last, c->last);
        cr_assert_eq(total, c->total);
    }
}

static void feed(struct hub_answer *a, const char *line)
{
    hub_answer_line(a, hub_view_of(line), 1000000000);
}

Test(answer, a_head)
{
    struct hub_answer a = {0};
    feed(&a, "HTTP/1.1 302 Found\r\n");
    feed(&a, "ETag: \"of the redirect\"\r\n");
    feed(&a, "HTTP/1.1 206 Partial Content\r\n");
    cr_assert_str_eq(a.etag, "");
    feed(&a, "content-length:  42 \r\n");
    feed(&a, "Content-Range: bytes 8-49/50\r\n");
    feed(&a, "ETag: \"abc\"\r\n");
    feed(&a, "Content-Type: application/json; charset=utf-8\r\n");
    feed(&a, "Repr-Digest: md5=:AAAA:, sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:\r\n");
    feed(&a, "X-Shape: 10,39\r\n");
    feed(&a, "X-Nonfinite: 3\r\n");
    feed(&a, "Accept-Ranges: bytes\r\n");
    cr_assert_eq(a.status, 206);
    cr_assert(a.has_length && a.length == 42);
    cr_assert(a.has_range && a.first == 8 && a.last == 49 && a.total == 50);
    cr_assert_str_eq(a.etag, "\"abc\"");
    cr_assert_str_eq(a.type, "application/json");
    cr_assert(a.has_sha256 && a.sha256[0] == 0xe3 && a.sha256[31] == 0x55);
    cr_assert_str_eq(a.shape, "10,39");
    cr_assert_eq(a.nonfinite, 3);
    cr_assert(a.parts);
}

Test(answer, what_is_not_believed)
{
    struct hub_answer a = {0};
    feed(&a, "HTTP/1.1 99999 Odd\r\n");
    feed(&a, "Content-Length: 18446744073709551616\r\n");
    feed(&a, "ETag: W/\"weak\"\r\n");
    feed(&a, "Repr-Digest: sha-256=:AAAA:\r\n");
    feed(&a, "X-Shape: a\033[31mb\r\n");
    feed(&a, "Accept-Ranges: none\r\n");
    cr_assert_eq(a.status, 0);
    cr_assert_not(a.has_length);
    cr_assert_str_eq(a.etag, "");
    cr_assert_not(a.has_sha256);
    cr_assert_not(a.parts);
    cr_assert_str_eq(a.shape, "");
}

Test(answer, retry_after)
{
    struct hub_answer a = {0};
    feed(&a, "Retry-After: 7\r\n");
    cr_assert_eq(a.retry_after_s, 7);
    feed(&a, "HTTP/1.1 503 Busy\r\n");
    feed(&a, "Retry-After: Sun, 09 Sep 2001 01:47:40 GMT\r\n"); /* a minute after now */
    cr_assert_eq(a.retry_after_s, 60);
    feed(&a, "HTTP/1.1 503 Busy\r\n");
    feed(&a, "Retry-After: Sun, 09 Sep 2001 01:45:40 GMT\r\n"); /* past */
    cr_assert_eq(a.retry_after_s, 0);
    feed(&a, "Retry-After: soon\r\n");
    cr_assert_eq(a.retry_after_s, 0);
}

Test(answer, problems)
{
    struct hub_error err = {0};
    struct hub_answer a = {.status = 404, .type = "application/problem+json"};
    const char *body = "{\"type\":\"urn:minari-hub:dataset-not-found\",\"detail\":\"no dataset "
                       "'a'\",\"versions\":[\"a-v0\",\"a-v1\"]}";
    cr_assert_eq(hub_problem_read(&a, hub_view_of(body), &err), HUB_NOT_FOUND);
    cr_assert_eq(err.problem, HUB_PROBLEM_DATASET_NOT_FOUND);
    cr_assert_str_eq(err.detail, "no dataset 'a' (there are: a-v0, a-v1)");
    a = (struct hub_answer){.status = 502, .type = "text/html"};
    cr_assert_eq(hub_problem_read(&a, HUB_VIEW("<html>"), &err), HUB_IO);
    cr_assert_eq(err.problem, HUB_PROBLEM_UPSTREAM);
    a = (struct hub_answer){.status = 404, .type = "application/json"};
    cr_assert_eq(hub_problem_read(&a, HUB_VIEW("{\"type\":\"about:blank\",\"detail\":\"\"}"), &err),
                 HUB_NOT_FOUND);
    cr_assert_eq(err.problem, HUB_PROBLEM_NO_HUB);
    a = (struct hub_answer){.status = 503, .type = "text/plain", .retry_after_s = 4};
    cr_assert_eq(hub_problem_read(&a, HUB_VIEW(""), &err), HUB_BUSY);
    cr_assert_eq(err.retry_after_s, 4);
}

Test(answer, what_other_services_say)
{
    struct hub_answer a = {0};
    feed(&a, "HTTP/1.1 429 Too Many Requests\r\n");
    feed(&a, "RateLimit: \"api\";r=0;t=55\r\n");
    feed(&a, "X-Goog-Generation: 1700000000000001\r\n");
    feed(&a, "X-Error-Code: RepoNotFound\r\n");
    feed(&a, "Link: <https://x/a?cursor=1>; rel=\"prev\", <https://x/a?cursor=3>; rel=\"next\"\r\n");
    cr_assert_eq(a.retry_after_s, 55);
    cr_assert_eq(a.generation, 1700000000000001);
    cr_assert_str_eq(a.code, "RepoNotFound");
    cr_assert_str_eq(a.next, "https://x/a?cursor=3");
    feed(&a, "HTTP/1.1 200 OK\r\n");
    feed(&a, "RateLimit: \"api\";r=7;t=55\r\n");
    feed(&a, "Link: <https://x/a>; rel=\"prev\"\r\n");
    cr_assert_eq(a.retry_after_s, 0);
    cr_assert_str_eq(a.next, "");
}
