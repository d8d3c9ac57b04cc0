#include "server/http/http.h"

#include <criterion/criterion.h>
#include <inttypes.h>

Test(response, short_and_long_headers)
{
    struct hub_response response;
    struct hub_error err = {0};
    char big[3000];
    hub_response_init(&response);
    memset(big, 'v', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    cr_assert_eq(hub_response_header(&response, &err, "ETag", "\"%d\"", 5), HUB_OK);
    cr_assert_eq(hub_response_header(&response, &err, "Link", "%s", big), HUB_OK);
    cr_assert_eq(hub_response_header(&response, &err, "Vary", "Accept"), HUB_OK);
    cr_assert_str_eq(response.headers[0].value, "\"5\"");
    cr_assert_str_eq(response.headers[1].value, big);
    cr_assert_str_eq(response.headers[2].value, "Accept");
    cr_assert_eq(response.header_count, 3);
    hub_response_dispose(&response);
    cr_assert_eq(response.header_count, 0);
}

Test(response, texts_and_numbers_of_a_header_are_as_printf_has_them)
{
    struct hub_response response;
    char big[1000];
    hub_response_init(&response);
    cr_assert_eq(hub_response_header(&response, NULL, "A", "bytes %" PRIu64 "-%" PRId64 "/%s", UINT64_MAX,
                                     INT64_MIN, "*"),
                 HUB_OK);
    cr_assert_eq(hub_response_header(&response, NULL, "B", "%s%s", "", ""), HUB_OK);
    cr_assert_eq(hub_response_header(&response, NULL, "C", "%s %5.1f%%", "of", 12.25), HUB_OK);
    memset(big, 'v', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    cr_assert_eq(hub_response_header(&response, NULL, "D", "%" PRIu64 "%s", (uint64_t)7, big), HUB_OK);
    cr_assert_str_eq(response.headers[0].value, "bytes 18446744073709551615--9223372036854775808/*");
    cr_assert_str_eq(response.headers[1].value, "");
    cr_assert_str_eq(response.headers[2].value, "of  12.2%");
    cr_assert(response.headers[3].value[0] == '7' && strcmp(response.headers[3].value + 1, big) == 0);
    hub_response_dispose(&response);
}

Test(response, no_header_can_be_smuggled_into_a_value)
{
    static const char *const bad[] = {"a\r\nX: y", "a\nb", "a\rb", "a\x01", "\x7F", "a\tb"};
    struct hub_response response;
    hub_response_init(&response);
    for (size_t i = 0; i < HUB_COUNT(bad); i++) {
        struct hub_error err = {0};
        cr_assert_eq(hub_response_header(&response, &err, "X-A", "%s", bad[i]), HUB_IO);
        cr_assert_eq(err.problem, HUB_PROBLEM_INTERNAL);
    }
    cr_assert_eq(response.header_count, 0);
    hub_response_dispose(&response);
}

Test(response, file_names_are_there_for_old_clients_too)
{
    static const struct {
        const char *name, *want;
    } cases[] = {
        {"human-v2.tar", "attachment; filename=\"human-v2.tar\"; filename*=UTF-8''human-v2.tar"},
        {"two words.bin", "attachment; filename=\"two words.bin\"; filename*=UTF-8''two%20words.bin"},
        {"s\xC3\xBC\xC3\x9F.txt", "attachment; filename=\"s__.txt\"; filename*=UTF-8''s%C3%BC%C3%9F.txt"},
        {"a\"b\\c%41", "attachment; filename=\"a_b_c_41\"; filename*=UTF-8''a%22b%5Cc%2541"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct hub_response response;
        hub_response_init(&response);
        cr_assert_eq(hub_response_file_name(&response, "attachment", hub_view_of(cases[i].name), NULL),
                     HUB_OK);
        cr_expect_str_eq(response.headers[0].name, "Content-Disposition");
        cr_expect_str_eq(response.headers[0].value, cases[i].want);
        hub_response_dispose(&response);
    }
}

Test(response, private)
{
    static const struct {
        const char *before, *after;
    } cases[] = {
        {NULL, "private"},
        {"public, max-age=31536000, immutable", "private, max-age=31536000, immutable"},
        {"no-cache", "private, no-cache"},
        {"no-store", "no-store"},
        {"private, max-age=1", "private, max-age=1"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct hub_response response;
        hub_response_init(&response);
        if (cases[i].before)
            cr_assert_eq(hub_response_header(&response, NULL, "Cache-Control", "%s", cases[i].before),
                         HUB_OK);
        cr_assert_eq(hub_response_header(&response, NULL, "Vary", "Accept"), HUB_OK);
        cr_assert_eq(hub_response_private(&response, NULL), HUB_OK);
        cr_assert_eq(response.header_count, 2);
        cr_expect_str_eq(response.headers[cases[i].before ? 0 : 1].value, cases[i].after);
        cr_expect_str_eq(response.headers[cases[i].before ? 1 : 0].value, "Accept");
        hub_response_dispose(&response);
    }
}

Test(response, at_most_32_headers)
{
    struct hub_response response;
    hub_response_init(&response);
    for (int i = 0; i < 32; i++)
        cr_assert_eq(hub_response_header(&response, NULL, "X-A", "%d", i), HUB_OK);
    cr_assert_eq(hub_response_header(&response, NULL, "X-A", "one more"), HUB_TOO_BIG);
    hub_response_dispose(&response);
}

Test(response, dispose_gives_everything_back)
{
    struct hub_response response;
    struct hub_request request = {0};
    struct hub_budget *budget = hub_budget_new(1000);
    struct hub_buf text = HUB_BUF_INIT(100);
    hub_response_init(&response);
    cr_assert_eq(hub_buf_add_text(&text, "shared", NULL), HUB_OK);
    struct hub_bytes *bytes = hub_bytes_new(&text);
    response.shared = hub_bytes_ref(bytes);
    cr_assert_eq(hub_budget_take(budget, &request, &response, 600, NULL), HUB_OK);
    cr_assert_eq(hub_budget_take(budget, &request, &response, 400, NULL), HUB_OK);
    cr_assert_eq(hub_buf_add_text(hub_response_buffer(&response, 201, "text/plain", 100), "x", NULL), HUB_OK);
    hub_response_dispose(&response);
    cr_assert_eq(response.status, 200);
    cr_assert_eq(hub_budget_take(budget, &request, &response, 1000, NULL), HUB_OK, "all of it is free again");
    cr_assert(hub_view_is(hub_bytes_view(bytes), "shared"));
    hub_response_dispose(&response);
    hub_bytes_unref(bytes);
    hub_budget_free(budget);
}
