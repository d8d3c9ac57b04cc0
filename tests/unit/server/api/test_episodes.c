/* Pages of episodes and one episode. */
#include "tests/support/api_kit.h"

#include <criterion/criterion.h>

TestSuite(episodes, .init = api_kit_open, .fini = api_kit_close, .timeout = 60);

#define DOOR "/api/v1/datasets/door-human-v0/episodes"

Test(episodes, pages)
{
    static const struct api_case cases[] = {
        {DOOR, 200, NULL, "\"total\":12,\"next\":null"},
        {DOOR "?limit=5", 200, NULL, "\"next\":\"http://hub" DOOR "?"},
        {DOOR "?sort=-number&limit=1", 200, NULL, "{\"items\":[{\"number\":11,"},
        {DOOR "?sort=steps", 200, NULL, "\"total\":12,"},
        {DOOR "?split=none", 400, "bad-parameter", "has no split 'none'; it has none"},
        {DOOR "?where=split%20%3D%20'none'", 200, NULL, "{\"items\":[],\"total\":0,"},
        {DOOR "?sort=colour", 400, "bad-parameter", "sort must be one of number"},
        {DOOR "?limit=many", 400, "bad-parameter", NULL},
        {DOOR "?cursor=e30", 400, "bad-cursor", NULL},
        {DOOR "?wherever=1", 400, "bad-parameter", "unknown parameter"},
        {DOOR "?where=reward%20%3E%201", 400, "bad-where", "at 1 (\"reward > 1\"): a name is one of"},
        {DOOR "?sort=reward", 400, "bad-parameter", "sort must be one of"},
        {"/api/v1/datasets/nothing/episodes", 404, "dataset-not-found", NULL},
        {"/api/v1/datasets/cut-v0/episodes", 422, "dataset-broken", NULL},
    };
    api_kit_expect(cases, HUB_COUNT(cases));
}

Test(episodes, one)
{
    static const struct api_case cases[] = {
        {DOOR "/0", 200, NULL, "\"number\":0,"},
        {DOOR "/11", 200, NULL, "\"fields\":[{\"path\":\"actions\""},
        {DOOR "/12", 404, "episode-missing", NULL},
        {DOOR "/-1", 404, "episode-missing", NULL},
        {DOOR "/first", 404, "episode-missing", NULL},
        {DOOR "/0?start=1", 400, "bad-parameter", "start needs fields="},
        {DOOR "/0?fields=actions&fields=rewards&start=0&stop=2", 200, NULL, "\"rewards\":["},
        {DOOR "/0?fields=nothing", 404, "field-not-found", NULL},
        {"/api/v1/datasets/cut-v0/episodes/0", 422, "dataset-broken", NULL},
    };
    api_kit_expect(cases, HUB_COUNT(cases));
}

#define STATISTICS "/api/v1/datasets/door-human-v0/~statistics"

Test(episodes, statistics_that_nobody_waits_for)
{
    static const char *const targets[] = {
        STATISTICS,
        STATISTICS "?field=return",
        STATISTICS "?field=actions",
        STATISTICS "?by=return,steps",
        STATISTICS "?field=steps&where=steps%20%3E%201",
    };
    for (size_t i = 0; i < HUB_COUNT(targets); i++)
        api_kit_expect_given_up(targets[i]);
    cr_expect(api_kit_body(STATISTICS "?field=steps").size > 0);
}
