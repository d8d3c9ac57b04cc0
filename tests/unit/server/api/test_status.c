/* What the hub says of itself: status, problems, jobs, health, the contract. */
#include "tests/support/api_kit.h"

#include <criterion/criterion.h>

TestSuite(status, .init = api_kit_open, .fini = api_kit_close, .timeout = 60);

Test(status, documents)
{
    static const struct api_case cases[] = {
        {"/api/v1/status", 200, NULL, "\"datasets\":{\"total\":3,\"ready\":2,\"pending\":0,\"broken\":1,",
         NULL},
        {"/api/v1/status", 200, NULL, "\"full\":false", "Cache-Control: no-store"},
        {"/api/v1/status?x=1", 400, "bad-parameter", NULL},
        {"/api/v1/problems", 200, NULL, "{\"dataset\":\"cut-v0\",\"code\":\"dataset-broken\"", NULL},
        {"/api/v1/problems?prefix=door", 200, NULL, "\"total\":0,", NULL},
        {"/api/v1/problems?limit=0", 400, "bad-parameter", NULL},
        {"/api/v1/problems?cursor=x", 400, "bad-cursor", NULL},
        {"/api/v1/jobs", 200, NULL, "{\"items\":[],\"total\":0,\"next\":null}", NULL},
        {"/api/v1/jobs?kind=sleep", 400, "bad-parameter", "kind must be one of inspect, hash"},
        {"/api/v1/jobs?state=done", 400, "bad-parameter", "state must be one of"},
        {"/healthz", 200, NULL, "ok\n", "Content-Type: text/plain; charset=utf-8"},
        {"/readyz", 200, NULL, "ready\n", NULL},
        {"/metrics", 200, NULL, "minari_hub_datasets", NULL},
        {"/openapi.json", 200, NULL, "\"openapi\"", "Content-Type: application/json"},
        {"/", 200, NULL, "/openapi.json", NULL},
        {"/api/v1/nothing", 404, "route-not-found", NULL},
    };
    api_kit_expect(cases, HUB_COUNT(cases));
}

Test(status, paths_of_the_machine_are_for_its_admin)
{
    const struct hub_view body = api_kit_body("/api/v1/status");
    const char *state = api_kit_app()->state;
    cr_expect_null(memmem(body.data, body.size, state, strlen(state)));
}
