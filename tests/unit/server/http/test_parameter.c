#include "server/http/http.h"
#include "server/http/parameter.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>

static const struct hub_parameter
    start = {.type = HUB_PARAM_WHOLE, .name = "start"},
    stop = {.type = HUB_PARAM_WHOLE, .name = "stop"}, fields = {.type = HUB_PARAM_TEXTS, .name = "fields"},
    limit = {.type = HUB_PARAM_WHOLE, .name = "limit", .least = 1, .most = 1000, .preset = "100"},
    step = {.type = HUB_PARAM_WHOLE, .name = "step", .least = 1, .most = INT64_MAX},
    k = {.type = HUB_PARAM_REAL, .name = "k", .most = 1000},
    final = {.type = HUB_PARAM_FLAG, .name = "final"},
    pad = {.type = HUB_PARAM_WORD, .name = "pad", .words = "none edge zero"},
    include = {.type = HUB_PARAM_LIST, .name = "include", .words = "metrics spark"},
    sort = {.type = HUB_PARAM_WORD, .name = "sort", .words = "id -id name -name"},
    layout = {.type = HUB_PARAM_TEXT, .name = "layout", .was = "view"},
    id = {.type = HUB_PARAM_TEXT, .name = "id", .in_path = true},
    of = {.type = HUB_PARAM_WORD,
          .name = "of",
          .example = "of=action",
          .words = "observation action",
          .required = true},
    others = {.type = HUB_PARAM_OTHERS, .name = ""};

static const struct hub_parameter *const rows[] = {&id,    &start, &stop,    &fields, &limit, &step, &k,
                                                   &final, &pad,   &include, &layout, &sort,  NULL};

static struct hub_request request;

static enum hub_status ask(const char *target, const struct hub_parameter *const *parameters,
                           struct hub_error *err)
{
    *err = (struct hub_error){0};
    cr_assert_eq(hub_request_init(&request, HUB_GET, target, err), HUB_OK);
    request.parameters = parameters;
    return hub_request_check(&request, err);
}

static void end(void)
{
    hub_request_dispose(&request);
}

TestSuite(parameter, .fini = end);

Test(parameter, that_a_route_takes)
{
    static const struct hub_parameter *const names[] = {&id, &start, &stop, NULL}, *const none[] = {NULL};
    static const struct hub_parameter *const repeated[] = {&fields, NULL};
    struct hub_error err;
    cr_assert_eq(ask("/a?start=1&stopp=2", names, &err), HUB_INVALID);
    cr_assert_eq(err.problem, HUB_PROBLEM_BAD_PARAMETER);
    cr_assert_str_eq(err.parameter, "stopp");
    cr_assert_str_eq(err.value, "2");
    cr_assert_str_eq(err.detail,
                     "unknown parameter 'stopp', did you mean 'stop'? This resource takes start, stop");
    cr_assert_eq(ask("/a?start=x&stopp=2", names, &err), HUB_INVALID);
    cr_assert_str_eq(err.parameter, "stopp", "names come before values");
    cr_assert_eq(ask("/a?start=1", none, &err), HUB_INVALID);
    cr_assert_str_eq(err.detail, "unknown parameter 'start'; this resource takes none");
    cr_assert_eq(ask("/a?id=1", names, &err), HUB_INVALID, "that is in the path");
    cr_assert_eq(ask("/a?start=1&stop=2", names, &err), HUB_OK);
    cr_assert_eq(ask("/a?start=1&stop=2&start=3", names, &err), HUB_INVALID);
    cr_assert_eq(err.problem, HUB_PROBLEM_BAD_PARAMETER);
    cr_assert_str_eq(err.parameter, "start");
    cr_assert_str_eq(err.value, "3");
    cr_assert_str_eq(err.detail, "parameter 'start' is given more than once");
    cr_assert_eq(ask("/a?fields=1&fields=2", repeated, &err), HUB_OK);
    cr_assert_eq(ask("/a?field=1", repeated, &err), HUB_INVALID);
    cr_assert_str_eq(err.detail,
                     "unknown parameter 'field', did you mean 'fields'? This resource takes fields");
}

/* "/a?columns" is a route beside "/a": who mistypes the name comes to the latter. */
Test(parameter, that_chooses_another_route)
{
    static const struct hub_parameter columns = {.type = HUB_PARAM_TEXT, .name = "columns"};
    static const struct hub_parameter *const plain[] = {&limit, NULL}, *const table[] = {&columns, &sort,
                                                                                         NULL};
    static const struct hub_route routes[] = {
        {.method = "GET", .pattern = "/a?columns", .parameters = table},
        {.method = "GET", .pattern = "/a", .parameters = plain},
        {.method = "GET", .pattern = "/ab?columns", .parameters = table},
        {.pattern = NULL}};
    const struct hub_route *route;
    struct hub_error err = {0};
    char allow[64];
    cr_assert_eq(hub_request_init(&request, HUB_GET, "/a?colums=1", &err), HUB_OK);
    cr_assert_eq(hub_route_find(&request, routes, &route, allow, &err), HUB_OK);
    cr_assert_eq(route, &routes[1]);
    request.parameters = route->parameters;
    cr_assert_eq(hub_request_check(&request, &err), HUB_INVALID);
    cr_assert_str_eq(
        err.detail, "unknown parameter 'colums', did you mean 'columns'? This resource takes limit, columns");
}

Test(parameter, of_other_protocols)
{
    static const struct hub_parameter *const lenient[] = {&others, &limit, NULL};
    struct hub_error err;
    int64_t value = 0;
    cr_assert_eq(ask("/a?prettyPrint=false&limit=3&limit=4", lenient, &err), HUB_OK);
    cr_assert(hub_request_int(&request, "limit", &value) && value == 3);
    cr_assert_eq(ask("/a?limit=x", lenient, &err), HUB_INVALID);
    cr_assert_null(hub_request_if_taken(&request, "prettyPrint").data);
}

Test(parameter, whole_numbers)
{
    static const struct {
        const char *text;
        enum hub_status st;
        int64_t value;
    } cases[] = {
        {"0", HUB_OK, 0},
        {"-5", HUB_OK, -5},
        {"9223372036854775807", HUB_OK, INT64_MAX},
        {"-9223372036854775808", HUB_OK, INT64_MIN},
        {"9223372036854775808", HUB_INVALID, 0},
        {"", HUB_INVALID, 0},
        {"-", HUB_INVALID, 0},
        {"+1", HUB_INVALID, 0}, /* a space, decoded */
        {"%2B1", HUB_INVALID, 0},
        {"1.0", HUB_INVALID, 0},
        {"0x10", HUB_INVALID, 0},
        {"1%0A", HUB_INVALID, 0},
        {"abc", HUB_INVALID, 0},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        char target[64];
        int64_t value = 0;
        struct hub_error err;
        sprintf(target, "/a?start=%s", cases[i].text);
        cr_expect_eq(ask(target, rows, &err), cases[i].st, "%s", cases[i].text);
        if (cases[i].st == HUB_OK)
            cr_expect(hub_request_int(&request, "start", &value) && value == cases[i].value, "%s", target);
        else
            cr_expect_str_eq(err.detail, "start must be a whole number");
    }
    struct hub_error err;
    int64_t value = 7;
    cr_assert_eq(ask("/a", rows, &err), HUB_OK);
    cr_assert(!hub_request_int(&request, "start", &value) && value == 7);
    cr_assert(!hub_request_int(&request, "limit", &value) && value == 100, "the row's preset");
}

/* What is wrong is said by the row: its type, its bounds, its words. */
Test(parameter, types_and_bounds)
{
    static const struct {
        const char *query, *detail; /* NULL: it is right */
    } cases[] = {
        {"limit=1", NULL},
        {"limit=1000", NULL},
        {"limit=0", "limit must be from 1 to 1000"},
        {"limit=1001", "limit must be from 1 to 1000"},
        {"limit=many", "limit must be a whole number from 1 to 1000"},
        {"step=9223372036854775807", NULL},
        {"step=0", "step must be at least 1"},
        {"step=x", "step must be a whole number of at least 1"},
        {"k=1.5", NULL},
        {"k=-1", "k must be from 0 to 1000"},
        {"k=", "k must be a number from 0 to 1000"},
        {"k=nan", "k must be a number from 0 to 1000"},
        {"k=3x", "k must be a number from 0 to 1000"},
        {"final", NULL},
        {"final=true", NULL},
        {"final=0", NULL},
        {"final=yes", "final must be true or false"},
        {"pad=zero", NULL},
        {"pad=zer", "pad must be one of none, edge, zero"},
        {"pad=", "pad must be one of none, edge, zero"},
        {"sort=-name", NULL},
        {"sort=size", "sort must be one of id, name, with - for descending"},
        {"include=spark,metrics", NULL},
        {"include=", NULL},
        {"include=all", "include must be names separated by commas, from metrics, spark"},
        {"view=rows", NULL},
        {"view=rows&layout=rows", "parameter 'layout' is given more than once"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        char target[100];
        struct hub_error err;
        sprintf(target, "/a?%s", cases[i].query);
        cr_expect_eq(ask(target, rows, &err), cases[i].detail ? HUB_INVALID : HUB_OK, "%s", target);
        cr_expect_str_eq(err.detail, cases[i].detail ? cases[i].detail : "", "%s", target);
    }
}

Test(parameter, reads_what_was_checked)
{
    static const char *const names[] = {"stop", "pad", "final"};
    struct hub_error err;
    cr_assert_eq(ask("/a?pad=zero&include=spark&final&view=rows", rows, &err), HUB_OK);
    cr_expect_eq(hub_request_choice(&request, "pad"), 2);
    cr_expect_eq(hub_request_list(&request, "include"), 2U);
    cr_expect(hub_request_flag(&request, "final"));
    cr_expect(hub_view_is(hub_request_query(&request, "layout"), "rows"), "by its older name");
    cr_expect_str_eq(hub_request_any(&request, names, HUB_COUNT(names)), "pad");
    cr_assert_eq(ask("/a", rows, &err), HUB_OK);
    cr_expect_eq(hub_request_choice(&request, "pad"), -1);
    cr_expect_eq(hub_request_list(&request, "include"), 0U);
    cr_expect_not(hub_request_flag(&request, "final"));
    cr_expect_null(hub_request_any(&request, names, HUB_COUNT(names)));
}

Test(parameter, that_is_required)
{
    static const struct hub_parameter *const needs[] = {&of, NULL};
    struct hub_error err;
    cr_assert_eq(ask("/a?of=action", needs, &err), HUB_OK);
    cr_assert_eq(ask("/a", needs, &err), HUB_INVALID);
    cr_assert_str_eq(err.parameter, "of");
    cr_assert_str_eq(err.detail, "this resource needs of=, as of=action");
}

/* A handler that reads what its route does not list is a fault of the program, which ends there. */
Test(parameter, that_a_route_does_not_list, .signal = SIGABRT)
{
    struct hub_error err;
    cr_assert_eq(ask("/a?start=1", rows, &err), HUB_OK);
    (void)hub_request_query(&request, "offset");
}
