/* What the hub says of itself: status, problems, jobs, health, the contract. */
#include "storage/catalog/schema.h"
#include "storage/catalog/write.h"
#include "storage/sqlite/db.h"
#include "storage/text/json.h"
#include "storage/truth/jobs.h"
#include "tests/support/api_kit.h"

#include <criterion/criterion.h>
#include <stdio.h>

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
        {"/api/v1/jobs", 200, NULL, "{\"items\":[],\"total\":0,\"next\":null,\"prev\":null}", NULL},
        {"/api/v1/jobs?kind=sleep", 400, "bad-parameter", "kind must be one of inspect, hash"},
        {"/api/v1/jobs?state=asleep", 400, "bad-parameter", "state must be one of"},
        {"/healthz", 200, NULL, "ok\n", "Content-Type: text/plain; charset=utf-8"},
        {"/readyz", 200, NULL, "ready\n", NULL},
        {"/metrics", 200, NULL, "minari_hub_datasets", NULL},
        {"/metrics", 200, NULL, "minari_hub_memory_cache_misses_total{cache=\"catalogue\"}", NULL},
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

static bool is_public_id(const char *id)
{
    return strlen(id) == HUB_JOB_ID && strspn(id, "abcdefghijklmnopqrstuvwxyz234567") == HUB_JOB_ID;
}

/* Jobs of one kind and target that ended, in the order that they were made in. */
static void add_jobs(unsigned count, char ids[][HUB_JOB_ID + 1])
{
    struct hub_truth *truth = api_kit_app()->truth;
    const struct hub_job_draft draft = {.kind = "import", .target = "lab"};
    for (unsigned i = 0; i < count; i++) {
        struct hub_lease lease;
        cr_assert_eq(hub_job_begin(truth, &draft, 30, &lease, NULL), HUB_OK);
        cr_assert_eq(hub_job_end(truth, lease, HUB_JOB_DONE, 0, true, NULL, NULL), HUB_OK);
        cr_assert_eq(hub_job_public_id(truth, lease.job, ids[i], NULL), HUB_OK);
    }
}

/* The page after this one as a target; "": there is none. */
static void next_target(const json_t *page, char target[2048])
{
    const char *next = json_string_value(json_object_get(page, "next")),
               *path = next ? strstr(next, "/api/") : NULL;
    snprintf(target, 2048, "%s", path ? path : "");
}

/* Pages go on in the order of time, though ids tell nothing of it. */
Test(status, jobs_have_random_ids_and_are_paged_in_order)
{
    char ids[5][HUB_JOB_ID + 1], target[2048] = "/api/v1/jobs?kind=import&limit=2", one[64];
    unsigned seen = 0;
    add_jobs(HUB_COUNT(ids), ids);
    while (*target) {
        HUB_CLEANUP(hub_json_decrefp) json_t *page = NULL;
        const json_t *item;
        size_t i;
        cr_assert_eq(hub_json_parse(api_kit_body(target), MIB, &page, NULL), HUB_OK);
        json_array_foreach(json_object_get(page, "items"), i, item)
        {
            cr_assert_lt(seen, HUB_COUNT(ids));
            cr_expect_str_eq(json_string_value(json_object_get(item, "id")), ids[seen]);
            cr_expect(is_public_id(ids[seen]), "%s", ids[seen]);
            seen++;
        }
        next_target(page, target);
    }
    cr_expect_eq(seen, HUB_COUNT(ids));
    snprintf(one, sizeof one, "/api/v1/jobs/%s", ids[3]);
    cr_expect_neq(api_kit_body(one).size, 0);
    api_kit_expect(&(struct api_case){"/api/v1/jobs/4", 404, "job-not-found", "there is no job '4'", NULL},
                   1);
}

static void publish_odd(const char *id)
{
    struct hub_found_problem odd = {"odd", "", "seen"};
    const struct hub_findings plan = {.problems = &odd, .problem_count = 1};
    const struct hub_draft draft = {
        .id = id, .path = id, .format = "files", .status = HUB_DATASET_READY, .plan = &plan, .revision = ""};
    cr_assert_eq(hub_catalog_publish(api_kit_app()->catalog, &draft, NULL), HUB_OK);
}

/* What cannot be told of one dataset is told; the others' problems are. */
Test(status, damage_hides_no_other_problem)
{
    static const struct api_case cases[] = {
        {"/api/v1/problems", 200, NULL,
         "{\"dataset\":\"a-v0\",\"code\":\"internal\",\"detail\":\"the index of"},
        {"/api/v1/problems", 200, NULL, "{\"dataset\":\"b-v0\",\"code\":\"odd\""},
        {"/api/v1/problems", 200, NULL, "\"total\":3,\"next\":null"},
        {"/api/v1/problems?limit=1", 200, NULL, "{\"dataset\":\"a-v0\",\"code\":\"internal\""},
    };
    char path[4096];
    struct hub_db *db;
    publish_odd("a-v0");
    publish_odd("b-v0");
    cr_assert_eq(hub_catalog_flush(api_kit_app()->catalog, NULL), HUB_OK);
    hub_catalog_on_damage(api_kit_app()->catalog, NULL, NULL); /* it stays so */
    snprintf(path, sizeof path, "%s/%s", api_kit_app()->state, hub_index_name);
    cr_assert_eq(hub_db_open(path, HUB_DB_WRITE, &db, NULL), HUB_OK);
    cr_assert_eq(hub_db_exec(db,
                             "UPDATE blobs SET checksum = checksum + 1 WHERE kind = 5 AND owner ="
                             " (SELECT -row FROM datasets WHERE id = 'a-v0')",
                             NULL),
                 HUB_OK);
    hub_db_close(db);
    api_kit_expect(cases, HUB_COUNT(cases));
}
