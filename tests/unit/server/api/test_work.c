/* How the work of each route ends when its client has left; every route has an entry here. */
#include "server/api/work.h"
#include "server/service/routes.h"
#include "tests/support/api_kit.h"

#include <criterion/criterion.h>

TestSuite(work, .init = api_kit_open, .fini = api_kit_close, .timeout = 60);

#define DOOR "/api/v1/datasets/door-human-v0"
#define PAGE "/d/door-human-v0"
#define BUCKET "/storage/v1/b/minari-datasets"
#define REPO "/datasets/farama-minari/door-human-v0"

/* ENDS: looks at whether anybody waits, and ends. PRICED: its price is known before it begins, and what is
 * dear waits among the heavy. STREAMED: made a block at a time, which nobody asks for any more. BOUNDED: a
 * page, or what does not grow with the data. DONE: ends with its last line alone, whoever waits: the
 * admin's, or it is passed on. */
enum ending { ENDS, PRICED, STREAMED, BOUNDED, DONE };

static const struct {
    const char *pattern, *target;
    enum ending ending;
} routes[] = {
    {"/api/v1/datasets/{id}/episodes/{n}/~media", DOOR "/episodes/0/~media", BOUNDED},
    {"/api/v1/datasets/{id}/episodes/{n}/~media/{camera}", DOOR "/episodes/0/~media/top", STREAMED},
    {"/api/v1/datasets/{id}/episodes/{n}/{path}", DOOR "/episodes/0/actions", PRICED},
    {"/api/v1/datasets/{id}/episodes/{n}/{path}?buckets?width", DOOR "/episodes/0/actions?buckets=16", ENDS},
    {"/api/v1/datasets/{id}/episodes/{n}/{path}?runs", DOOR "/episodes/0/terminations?runs=5", ENDS},
    {"/api/v1/datasets/{id}/files/{path}", DOOR "/files/data/main_data.hdf5", STREAMED},
    {"/api/v1/datasets/{id}/archive.tar", DOOR "/archive.tar", STREAMED},
    {"/api/v1/datasets", "/api/v1/datasets?q=door", BOUNDED},
    {"/api/v1/datasets?columns", "/api/v1/datasets?columns=id", BOUNDED},
    {"/api/v1/datasets/{id}", DOOR, PRICED},
    {"/api/v1/datasets/{path}", "/api/v1/datasets/rows", BOUNDED},
    {"/api/v1/datasets/{id}/~statistics", DOOR "/~statistics", ENDS},
    {"/api/v1/datasets/{id}/~poster", DOOR "/~poster", BOUNDED},
    {"/api/v1/datasets/{id}/~kerchunk.json", DOOR "/~kerchunk.json", STREAMED},
    {"/api/v1/datasets/{id}/~findings", DOOR "/~findings", ENDS},
    {"/api/v1/datasets/{id}/~spaces", DOOR "/~spaces?of=action", BOUNDED},
    {"/api/v1/datasets/{id}/episodes", DOOR "/episodes", BOUNDED},
    {"/api/v1/datasets/{id}/episodes", DOOR "/episodes?sort=return", ENDS},
    {"/api/v1/datasets/{id}/episodes", DOOR "/episodes?random=3", BOUNDED},
    {"/api/v1/datasets/{id}/episodes?columns", DOOR "/episodes?columns=number,steps&sort=steps", ENDS},
    {"/api/v1/datasets/{id}/episodes/{n}", DOOR "/episodes/0?sort=return", ENDS},
    {"/api/v1/datasets/{id}/episodes/{n}?buckets?width", DOOR "/episodes/0?fields=actions&buckets=16", ENDS},
    {"/api/v1/datasets/{id}/episodes/{n}?fields", DOOR "/episodes/0?fields=actions&format=npz", PRICED},
    {"/api/v1/datasets/{id}/sample", DOOR "/sample?windows=2&length=1&fields=actions", PRICED},
    {"/api/v1/datasets/{id}/sample", DOOR "/sample?windows=2&length=1&fields=actions&where=steps%3E1", ENDS},
    {"/api/v1/batch", NULL, PRICED},
    {"/api/v1/datasets/{id}/rows", DOOR "/rows?fields=actions", ENDS},
    {"/api/v1/datasets/{id}/files", DOOR "/files", PRICED},
    {"/api/v1/datasets/{id}/files?prefix?delimiter?limit?cursor?format", DOOR "/files?limit=9", BOUNDED},
    {"/api/v1/datasets/{id}/files?episodes?where?split?task", DOOR "/files?where=steps%3E1", ENDS},
    {"/api/v1/namespaces", "/api/v1/namespaces", BOUNDED},
    {"/api/v1/namespaces/{path}", NULL, BOUNDED},
    {"/api/v1/status", "/api/v1/status", BOUNDED},
    {"/api/v1/jobs", "/api/v1/jobs", BOUNDED},
    {"/api/v1/jobs/{id}", NULL, BOUNDED},
    {"/api/v1/mirrors", "/api/v1/mirrors", BOUNDED},
    {"/api/v1/mirrors/{name}", NULL, BOUNDED},
    {"/api/v1/problems", "/api/v1/problems", BOUNDED},
    {"/api/v1/links", NULL, BOUNDED},
    {"/api/v1/datasets/{id}/~revisions", NULL, BOUNDED},
    {"/api/v1/drafts", "/api/v1/drafts", BOUNDED},
    {"/api/v1/drafts/{name}", NULL, BOUNDED},
    {"/api/v1/drafts/{name}/commit", NULL, BOUNDED},
    {"/api/v1/drafts/{name}/archive.tar", NULL, BOUNDED},
    {"/api/v1/drafts/{name}/files", NULL, BOUNDED},
    {"/api/v1/drafts/{name}/files/{path}", NULL, BOUNDED},
    {"/healthz", "/healthz", BOUNDED},
    {"/readyz", "/readyz", BOUNDED},
    {"/metrics", "/metrics", BOUNDED},
    {"/openapi.json", "/openapi.json", BOUNDED},
    {"/", "/", BOUNDED},
    {"/d/{id}", PAGE, BOUNDED},
    {"/d/{path}", "/d/rows", BOUNDED},
    {"/d/{id}/episodes", PAGE "/episodes", ENDS},
    {"/d/{id}/episodes/{n}", PAGE "/episodes/0", BOUNDED},
    {"/d/{id}/files", PAGE "/files", BOUNDED},
    {"/d/{id}/~statistics", PAGE "/~statistics", ENDS},
    {"/d/{id}/~findings", PAGE "/~findings", ENDS},
    {"/d/{id}/~compare", PAGE "/~compare?e=0&e=1", BOUNDED},
    {"/d/{id}/~revisions", NULL, BOUNDED},
    {"/d/{id}/~use", PAGE "/~use", BOUNDED},
    {"/~operations", "/~operations", BOUNDED},
    {"/~drafts", "/~drafts", BOUNDED},
    {"/~drafts/{name}", NULL, BOUNDED},
    {"/~guide", "/~guide?q=verify", BOUNDED},
    {"/~guide/{path}", "/~guide/start", BOUNDED},
    {"/~login", "/~login?next=/~guide", BOUNDED},
    {"/~logout", NULL, BOUNDED},
    {"/~csp", NULL, BOUNDED},
    {"/~assets/{build}/{path}", NULL, BOUNDED},
    {"/storage/v1/b", "/storage/v1/b", BOUNDED},
    {"/storage/v1/b/{bucket}", BUCKET, BOUNDED},
    {"/storage/v1/b/{bucket}/o", BUCKET "/o", PRICED},
    {"/storage/v1/b/{bucket}/o/{path}", BUCKET "/o/notes.txt", BOUNDED},
    {"/download/storage/v1/b/{bucket}/o/{path}", "/download" BUCKET "/o/notes.txt?alt=media", STREAMED},
    {"/upload", NULL, BOUNDED},
    {"/upload/{path}", NULL, BOUNDED},
    {"/resumable", NULL, BOUNDED},
    {"/resumable/{path}", NULL, BOUNDED},
    {"/oauth", NULL, BOUNDED},
    {"/oauth/{path}", NULL, BOUNDED},
    {"/oauth2", NULL, BOUNDED},
    {"/oauth2/{path}", NULL, BOUNDED},
    {"/xet", NULL, BOUNDED},
    {"/xet/{path}", NULL, BOUNDED},
    {"/xet/{epoch}/v1/xorbs/default/{hash}", NULL, BOUNDED},
    {"/xet/{epoch}/v1/shards", NULL, DONE},
    {"/xet/{epoch}/v2/shards", NULL, STREAMED},
    {"/batch/{path}", NULL, BOUNDED},
    {"/b", "/b", BOUNDED},
    {"/b/{bucket}", "/b/minari-datasets", BOUNDED},
    {"/b/{bucket}/o", "/b/minari-datasets/o?matchGlob=*", PRICED},
    {"/b/{bucket}/o/{path}", "/b/minari-datasets/o/notes.txt", BOUNDED},
    {"/datasets/{org}/{name}/resolve/{rev}/{path}", REPO "/resolve/main/data/main_data.hdf5", STREAMED},
    {"/datasets/{org}/{name}/raw/{rev}/{path}", REPO "/raw/main/data/main_data.hdf5", STREAMED},
    {"/api/datasets", "/api/datasets", BOUNDED},
    {"/api/datasets/{org}/{name}", "/api" REPO, BOUNDED},
    {"/api/datasets/{org}/{name}/revision/{rev}", "/api" REPO "/revision/main", BOUNDED},
    {"/api/datasets/{org}/{name}/tree/{rev}", "/api" REPO "/tree/main", BOUNDED},
    {"/api/datasets/{org}/{name}/tree/{rev}/{path}", "/api" REPO "/tree/main/data", BOUNDED},
    {"/api/datasets/{org}/{name}/paths-info/{rev}", NULL, BOUNDED},
    {"/api/datasets/{org}/{name}/refs", "/api" REPO "/refs", BOUNDED},
    {"/api/datasets/{org}/{name}/commits/{rev}", "/api" REPO "/commits/main", BOUNDED},
    {"/api/datasets/{org}/{name}/xet-write-token/{rev}", NULL, BOUNDED},
    {"/api/datasets/{org}/{name}/auth-check", "/api" REPO "/auth-check", BOUNDED},
    {"/api/repos/create", NULL, BOUNDED},
    {"/api/repos/delete", NULL, BOUNDED},
    {"/api/repos/move", NULL, BOUNDED},
    {"/api/validate-yaml", NULL, BOUNDED},
    {"/api/datasets/{org}/{name}/preupload/{rev}", NULL, BOUNDED},
    {"/api/datasets/{org}/{name}/commit/{rev}", NULL, BOUNDED},
    {"/api/datasets/{org}/{name}/branch/{path}", NULL, BOUNDED},
    {"/api/datasets/{org}/{name}/tag/{path}", NULL, BOUNDED},
    {"/datasets/{org}/{name}/info/lfs/objects/batch", NULL, BOUNDED},
    {"/datasets/{org}/{name}/info/lfs/verify", NULL, BOUNDED},
    {"/datasets/{org}/{name}/info/lfs/objects/{oid}/{size}", NULL, BOUNDED},
    {"/datasets/{org}/{name}/info/lfs/objects/{oid}/{size}/{bytes}/{part}", NULL, BOUNDED},
    {"/datasets/{org}/{name}/info/lfs/objects/{oid}/{size}/{bytes}", NULL, BOUNDED},
    {"/api/whoami-v2", NULL, BOUNDED},
    {"/api/datasets/{org}/{name}/{path}", NULL, DONE},
    {"/api/datasets/{path}", NULL, DONE},
    {"/api/models", NULL, DONE},
    {"/api/spaces", NULL, DONE},
    {"/api/models/{path}", NULL, DONE},
    {"/api/spaces/{path}", NULL, DONE},
    {"/datasets/{org}/{name}", NULL, DONE},
    {"/datasets/{org}/{name}/{path}", NULL, DONE},
    {"/datasets/{path}", NULL, DONE},
    {"/api/repos/{path}", NULL, DONE},
    {"/{bucket}/", "/minari-datasets/", STREAMED},
    {"/{bucket}", "/minari-datasets?list-type=2", PRICED},
    {"/{bucket}/{path}/", "/minari-datasets/door-human-v0/", STREAMED},
    {"/{bucket}/{path}", "/minari-datasets/notes.txt", STREAMED},
};

/* A route that is added has to say how its work ends. */
Test(work, of_each_route)
{
    for (const struct hub_route *route = hub_routes; route->pattern; route++) {
        bool known = route->right == HUB_FOR_ADMINS;
        for (size_t i = 0; i < HUB_COUNT(routes) && !known; i++)
            known = strcmp(routes[i].pattern, route->pattern) == 0;
        cr_expect(known, "%s: how does its work end when nobody waits for it?", route->pattern);
    }
}

Test(work, that_nobody_waits_for)
{
    for (size_t i = 0; i < HUB_COUNT(routes); i++)
        if (routes[i].target && routes[i].ending == ENDS)
            api_kit_expect_given_up(routes[i].target);
}

/* The error of what takes too long names what that is, and the parameter that decides it. */
Test(work, says_what_takes_too_long)
{
    static const struct {
        enum hub_work_of of;
        const char *query, *what, *parameter;
    } cases[] = {{HUB_WORK_ROWS, "stop=9&fields=a", "these rows take about 2 s", "stop"},
                 {HUB_WORK_ROWS, "fields=a", "these rows", "fields"},
                 {HUB_WORK_EPISODES, "sort=jerk", "the episodes of this dataset take about 2 s", "sort"},
                 {HUB_WORK_EPISODES, "", "the episodes", "where"},
                 {HUB_WORK_FILES, "", "the files of this dataset", "limit"},
                 {HUB_WORK_OBJECTS, "matchGlob=*", "these objects", "matchGlob"}};
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct hub_request request = {0};
        struct hub_error err = {0};
        char target[100];
        snprintf(target, sizeof target, "/x?%s", cases[i].query);
        cr_assert_eq(hub_request_init(&request, HUB_GET, target, &err), HUB_OK);
        request.ceiling_ms = 1000;
        cr_expect_eq(hub_work_admit_us(&request, cases[i].of, 2e6, &err), HUB_TOO_BIG);
        cr_expect(strstr(err.detail, cases[i].what), "%s", err.detail);
        cr_expect_str_eq(err.parameter, cases[i].parameter);
        hub_request_dispose(&request);
    }
}

/* Each target is one of the route that it stands beside. */
Test(work, is_of_the_route_it_stands_beside)
{
    for (size_t i = 0; i < HUB_COUNT(routes); i++) {
        struct hub_request request = {0};
        struct hub_error err = {0};
        const struct hub_route *route = NULL;
        char allow[64];
        if (!routes[i].target)
            continue;
        cr_assert_eq(hub_request_init(&request, HUB_GET, routes[i].target, &err), HUB_OK);
        cr_expect_eq(hub_route_find(&request, hub_routes, &route, allow, &err), HUB_OK, "%s",
                     routes[i].target);
        cr_expect_str_eq(route ? route->pattern : "", routes[i].pattern, "%s", routes[i].target);
        hub_request_dispose(&request);
    }
}
