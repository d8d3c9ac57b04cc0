#include "server/http/http.h"

#include <criterion/criterion.h>

static const struct hub_route routes[] = {
    {"GET", "/", NULL, "front", HUB_FOR_ANYBODY},
    {"GET", "/api/v1/datasets", NULL, "datasets", HUB_FOR_ANYBODY},
    {"GET", "/api/v1/datasets/{id}", NULL, "dataset", HUB_FOR_ANYBODY},
    {"GET", "/api/v1/datasets/{id}/episodes", NULL, "episodes", HUB_FOR_ANYBODY},
    {"GET", "/api/v1/datasets/{id}/episodes/{n}?fields", NULL, "fields", HUB_FOR_ANYBODY},
    {"GET", "/api/v1/datasets/{id}/episodes/{n}", NULL, "episode", HUB_FOR_ANYBODY},
    {"GET", "/api/v1/datasets/{id}/episodes/{n}/{path}", NULL, "field", HUB_FOR_ANYBODY},
    {"GET", "/api/v1/datasets/{id}/files", NULL, "files", HUB_FOR_ANYBODY},
    {"GET", "/api/v1/datasets/{id}/files/{path}", NULL, "file", HUB_FOR_ANYBODY},
    {"PUT", "/api/v1/datasets/{id}/files/{path}", NULL, "upload", HUB_FOR_ANYBODY},
    {"GET", "/api/v1/datasets/{id}/archive.tar", NULL, "archive", HUB_FOR_ANYBODY},
    {"GET", "/api/v1/datasets/{id}/~log", NULL, "log", HUB_FOR_ANYBODY},
    {"POST", "/api/v1/batch", NULL, "batch", HUB_FOR_ANYBODY, .body_limit = 1},
    {0},
};

struct route_case {
    const char *target, *label, *id, *n, *path;
};

static const struct route_case cases[] = {
    {"/", "front", NULL, NULL, NULL},
    {"/api/v1/datasets", "datasets", NULL, NULL, NULL},
    {"/api/v1/datasets?limit=1", "datasets", NULL, NULL, NULL},
    {"/api/v1/datasets/door-human-v0", "dataset", "door-human-v0", NULL, NULL},
    {"/api/v1/datasets/D4RL/door/human-v2", "dataset", "D4RL/door/human-v2", NULL, NULL},
    {"/api/v1/datasets/D4RL%2Fdoor%2Fhuman-v2", "dataset", "D4RL/door/human-v2", NULL, NULL},
    {"/api/v1/datasets/D4RL/door/human-v2/episodes", "episodes", "D4RL/door/human-v2", NULL, NULL},
    {"/api/v1/datasets/a/episodes/3", "episode", "a", "3", NULL},
    {"/api/v1/datasets/a/episodes/3?start=1&fields=x", "fields", "a", "3", NULL},
    {"/api/v1/datasets/a/episodes/3?start=1", "episode", "a", "3", NULL},
    {"/api/v1/datasets/a/b/episodes/3/observations/files/x", "field", "a/b", "3", "observations/files/x"},
    {"/api/v1/datasets/a/episodes/3/a%2Fb", "field", "a", "3", "a/b"},
    {"/api/v1/datasets/a/files", "files", "a", NULL, NULL},
    {"/api/v1/datasets/a/files/data/episodes/x%20y.hdf5", "file", "a", NULL, "data/episodes/x y.hdf5"},
    {"/api/v1/datasets/a/archive.tar", "archive", "a", NULL, NULL},
    {"/api/v1/datasets/a/b/~log", "log", "a/b", NULL, NULL},
    {"/api/v1/datasets/%7Elog", NULL, NULL, NULL, NULL}, /* a reserved segment ends the id before it began */
    {"/api/v1/datasets/episodes/3", NULL, NULL, NULL, NULL},
    {"/api/v1/datasets/a/~other", NULL, NULL, NULL, NULL},
    {"/api/v1/datasets/a/batch", NULL, NULL, NULL, NULL},
    {"/api/v1/data", NULL, NULL, NULL, NULL},
    {"/api/v1/datasetsx/a", NULL, NULL, NULL, NULL},
    {"/api", NULL, NULL, NULL, NULL},
};

static void same(struct hub_view got, const char *want, const char *target)
{
    if (want)
        cr_assert(hub_view_is(got, want), "%s: \"%s\", not \"%s\"", target, got.data, want);
    else
        cr_assert_null(got.data, "%s", target);
}

Test(router, table)
{
    struct hub_request request = {0};
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        const struct hub_route *route = NULL;
        char allow[64];
        struct hub_error err = {0};
        cr_assert_eq(hub_request_init(&request, HUB_GET, cases[i].target, &err), HUB_OK, "%s", err.detail);
        enum hub_status st = hub_route_find(&request, routes, &route, allow, &err);
        if (!cases[i].label) {
            cr_assert_eq(st, HUB_NOT_FOUND, "%s", cases[i].target);
            cr_assert_eq(err.problem, HUB_PROBLEM_ROUTE_NOT_FOUND);
            continue;
        }
        cr_assert_eq(st, HUB_OK, "%s: %s", cases[i].target, err.detail);
        cr_assert_str_eq(route->label, cases[i].label);
        same(hub_request_capture(&request, "id"), cases[i].id, cases[i].target);
        same(hub_request_capture(&request, "n"), cases[i].n, cases[i].target);
        same(hub_request_capture(&request, "path"), cases[i].path, cases[i].target);
    }
    hub_request_dispose(&request);
}

Test(router, other_methods)
{
    struct hub_request request = {0};
    const struct hub_route *route = NULL;
    char allow[64];
    struct hub_error err = {0};
    cr_assert_eq(hub_request_init(&request, HUB_HEAD, "/api/v1/datasets/a", &err), HUB_OK);
    cr_assert_eq(hub_route_find(&request, routes, &route, allow, &err), HUB_OK, "HEAD is where GET is");
    cr_assert_eq(hub_request_init(&request, HUB_PUT, "/api/v1/datasets/a/files/x", &err), HUB_OK);
    cr_assert_eq(hub_route_find(&request, routes, &route, allow, &err), HUB_OK);
    cr_assert_str_eq(route->label, "upload");
    cr_assert_eq(hub_request_init(&request, HUB_DELETE, "/api/v1/datasets/a/files/x", &err), HUB_OK);
    cr_assert_eq(hub_route_find(&request, routes, &route, allow, &err), HUB_INVALID);
    cr_assert_eq(err.problem, HUB_PROBLEM_METHOD_NOT_ALLOWED);
    cr_assert_str_eq(allow, "GET, HEAD, PUT");
    cr_assert_eq(hub_problem_status(&err), 405);
    cr_assert_eq(hub_request_init(&request, HUB_GET, "/api/v1/batch", &err), HUB_OK);
    cr_assert_eq(hub_route_find(&request, routes, &route, allow, &err), HUB_INVALID);
    cr_assert_str_eq(allow, "POST");
    hub_request_dispose(&request);
}

Test(router, captured_first)
{
    static const struct hub_route open[] = {
        {"GET", "/{bucket}/{path}", NULL, "object", HUB_FOR_ANYBODY},
        {"GET", "/{bucket}/{path}/", NULL, "late", HUB_FOR_ANYBODY},
        {"GET", "/{bucket}/", NULL, "folder", HUB_FOR_ANYBODY},
        {"GET", "/api/v1", NULL, "api", HUB_FOR_ANYBODY},
        {"GET", "/api/v1", NULL, "again", HUB_FOR_ANYBODY},
        {0},
    };
    static const struct {
        const char *target, *label;
    } all[] = {{"/a/b", "object"},     {"/a/b/c", "object"}, {"/a/", "folder"},
               {"/apix/v1", "object"}, {"/api/v1", "api"},   {"/ap/v1", "object"},
               {"/api/v2", NULL},      {"/api/", NULL},      {"/a", NULL}};
    struct hub_request request = {0};
    for (size_t i = 0; i < HUB_COUNT(all); i++) {
        const struct hub_route *route = NULL;
        struct hub_error err = {0};
        char allow[64];
        cr_assert_eq(hub_request_init(&request, HUB_GET, all[i].target, &err), HUB_OK);
        const enum hub_status st = hub_route_find(&request, open, &route, allow, &err);
        cr_assert_eq(st, all[i].label ? HUB_OK : HUB_NOT_FOUND, "%s", all[i].target);
        if (all[i].label)
            cr_assert_str_eq(route->label, all[i].label, "%s", all[i].target);
    }
    hub_request_dispose(&request);
}

Test(router, local)
{
    static const struct hub_route marked[] = {
        {"POST", "/api/v1/sweep", NULL, "sweep", HUB_FOR_ADMINS},
        {0},
    };
    const struct hub_route *route = NULL;
    struct hub_request request = {0};
    struct hub_error err = {0};
    char allow[64];
    cr_assert_eq(hub_request_init(&request, HUB_POST, "/api/v1/sweep", &err), HUB_OK);
    cr_assert_eq(hub_route_find(&request, marked, &route, allow, &err), HUB_NOT_FOUND);
    cr_assert_str_empty(allow);
    request.local = true;
    cr_assert_eq(hub_route_find(&request, marked, &route, allow, &err), HUB_OK);
    cr_assert_str_eq(route->label, "sweep");
    hub_request_dispose(&request);
}
