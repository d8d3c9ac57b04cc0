/* Pages of episodes and one episode. */
#include "server/api/episodes/episode_parameters.h"
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
        {DOOR "?where=split%20%3D%20'none'", 400, "bad-where", "has no split 'none'; it has none"},
        {DOOR "?sort=colour", 400, "bad-parameter", "sort must be one name"},
        {DOOR "?limit=many", 400, "bad-parameter", NULL},
        {DOOR "?cursor=e30", 400, "bad-cursor", NULL},
        {DOOR "?wherever=1", 400, "bad-parameter", "unknown parameter"},
        {DOOR "?where=retrun%20%3E%201", 400, "bad-where", "at 1 (\"retrun > 1\"): did you mean return?"},
        {DOOR "?sort=retur", 400, "bad-parameter", "did you mean return?"},
        {"/api/v1/datasets/nothing/episodes", 404, "dataset-not-found", NULL},
        {"/api/v1/datasets/cut-v0/episodes", 422, "dataset-broken", NULL},
    };
    api_kit_expect(cases, HUB_COUNT(cases));
}

#define WHERE "where=steps%20%3E%201"

Test(episodes, choices_that_nobody_waits_for)
{
    static const char *const targets[] = {
        DOOR "?" WHERE,
        DOOR "?" WHERE "&random=2",
        "/api/v1/datasets/door-human-v0/files?" WHERE,
        "/api/v1/datasets/door-human-v0/rows?fields=actions&" WHERE,
    };
    for (size_t i = 0; i < HUB_COUNT(targets); i++)
        api_kit_expect_given_up(targets[i]);
    cr_expect(api_kit_body(DOOR "?" WHERE).size > 0);
}

/* What is compared with what costs, and what costs much waits among the heavy. */
Test(episodes, choices_among_many)
{
    static const struct {
        const char *query;
        uint32_t episodes;
        bool heavy;
    } cases[] = {
        {"limit=1", UINT32_MAX, false}, {WHERE, 12, false},
        {WHERE, 1000000, true},         {"sort=steps", 1000000, true},
        {"split=train", 1000000, true}, {"where=steps%20in%20(1,2,3,4,5,6,7,8,9,10,11,12)", 50000, true},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        char target[200];
        struct hub_error err = {0};
        struct hub_request request = {0};
        struct hub_dataset dataset = {.episode_count = cases[i].episodes};
        const struct hub_state state = {.dataset = &dataset};
        HUB_CLEANUP(hub_episode_parameters_dispose) struct hub_episode_parameters asked = {0};
        snprintf(target, sizeof target, "/api/v1/datasets/a/episodes?%s", cases[i].query);
        cr_assert_eq(hub_request_init(&request, HUB_GET, target, &err), HUB_OK);
        cr_assert_eq(hub_episode_parameters_parse(&request, &asked, &err), HUB_OK, "%s", err.detail);
        cr_expect_eq(hub_episodes_admit(&request, &state, &asked.query, &err),
                     cases[i].heavy ? HUB_AGAIN : HUB_OK, "%s", target);
        cr_expect_eq(request.wait.on, cases[i].heavy ? HUB_WAIT_HEAVY : HUB_WAIT_WORKER);
        request.heavy = cases[i].heavy;
        cr_expect_eq(hub_episodes_admit(&request, &state, &asked.query, &err), HUB_OK,
                     "it runs on a thread for long work");
        hub_request_dispose(&request);
    }
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
