/* Rows of fields in every representation. */
#include "storage/catalog/schema.h"
#include "storage/catalog/write.h"
#include "storage/sqlite/db.h"
#include "tests/support/api_kit.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(fields, .init = api_kit_open, .fini = api_kit_close, .timeout = 60);

#define ZERO "/api/v1/datasets/door-human-v0/episodes/0"

Test(fields, rows)
{
    static const struct api_case cases[] = {
        {ZERO "/rewards?start=0&stop=2", 200, NULL, "[", "X-Shape: 2"},
        {ZERO "/rewards?row=0", 200, NULL, NULL, "X-Dtype: float64"},
        {ZERO "/rewards?start=5&stop=5", 200, NULL, "[]", "X-Shape: 0"},
        {ZERO "/rewards?stop=3&step=-1", 200, NULL, "[", "Content-Type: application/json"},
        {ZERO "/rewards?format=npy", 200, NULL, "\x93NUMPY", "Content-Type: application/x-npy"},
        {ZERO "/rewards?format=npz", 200, NULL, "PK", NULL},
        {ZERO "/rewards?format=raw&stop=1", 200, NULL, NULL, "Content-Type: application/octet-stream"},
        {ZERO "/rewards?format=raw&stop=1", 200, NULL, NULL, NULL, HUB_HEAD},
        {ZERO "/rewards?row=1000000", 400, "bad-slice", "out of range"},
        {ZERO "/rewards?step=0", 400, "bad-slice", NULL},
        {ZERO "/rewards?start=x", 400, "bad-parameter", NULL},
        {ZERO "/rewards?format=tea", 400, "bad-parameter", "format must be one of json"},
        {ZERO "/rewards?format=png", 406, "not-acceptable", NULL},
        {ZERO "/nothing", 404, "field-not-found", NULL},
        {"/api/v1/datasets/door-human-v0/episodes/99/rewards", 404, "episode-missing", NULL},
        {"/api/v1/datasets/nothing/episodes/0/rewards", 404, "dataset-not-found", NULL},
        {"/api/v1/datasets/cut-v0/episodes/0/rewards", 422, "dataset-broken", NULL},
    };
    api_kit_expect(cases, HUB_COUNT(cases));
}

Test(fields, of_a_role)
{
    static const struct api_case cases[] = {
        {ZERO "?fields=@reward&stop=1", 200, NULL, "{\"rewards\":["},
        {ZERO "?fields=@observation&fields=rewards&fields=@reward&stop=0", 200, NULL,
         "{\"observations\":[],\"rewards\":[]}"},
        {ZERO "?fields=@done&stop=0&format=npz", 200, NULL, "PK", NULL},
        {ZERO "?fields=@rewards", 400, "bad-parameter", "@observation"},
        {ZERO "?fields=@other", 404, "field-not-found", "@other"},
        {ZERO "/@reward", 404, "field-not-found", NULL},
    };
    api_kit_expect(cases, HUB_COUNT(cases));
}

#define ROWS "/api/v1/datasets/door-human-v0/rows"

Test(fields, of_all_episodes)
{
    static const struct api_case cases[] = {
        {ROWS "?fields=rewards", 200, NULL, "rewards.npy", "Content-Type: application/x-npz"},
        {ROWS "?fields=rewards&limit=1&format=csv", 200, NULL, "rewards,episode,step\n", "X-Episodes: 1"},
        {ROWS "?layout=transitions&where=number%20%3C%200&format=csv", 200, NULL, "obs_0,",
         "X-Total-Count: 0"},
        {ROWS "?view=transitions&where=number%20%3C%200&format=csv", 200, NULL, "obs_0,", "X-Total-Count: 0"},
        {ROWS "?view=transitions&layout=rows", 400, "bad-parameter", "layout"},
        {ROWS "?layout=transitions&fields=rewards", 404, "field-not-found", "observation"},
        {ROWS "?fields=rewards&cursor=x", 400, "bad-cursor", NULL},
        {ROWS "?format=raw", 400, "bad-parameter", "npz, csv, arrow, arrow-file, jsonl"},
    };
    api_kit_expect(cases, HUB_COUNT(cases));
}

Test(fields, as_tables)
{
    static const struct api_case cases[] = {
        {ZERO "/rewards?format=csv&stop=0", 200, NULL, "rewards\n", "X-Total-Count: 0"},
        {ZERO "/rewards?format=jsonl&stop=1", 200, NULL,
         "{\"rewards\":", "Content-Type: application/x-ndjson"},
        {ZERO "/rewards?format=arrow&row=0", 200, NULL, "\xFF\xFF\xFF\xFF", "X-Total-Count: 1"},
        {ZERO "/rewards?format=arrow", 200, NULL, NULL, NULL, HUB_HEAD},
        {ZERO "?fields=rewards&fields=observations&format=csv&stop=2&final=1", 200, NULL,
         "rewards,observations_0,observations_1", "X-Total-Count: 3"},
        {ZERO "?fields=@nobody&format=csv", 400, "bad-parameter", NULL},
    };
    api_kit_expect(cases, HUB_COUNT(cases));
}

/* An answer without the field would be a wrong one, and be kept for good. */
Test(fields, a_damaged_index_leaves_no_field_out)
{
    static const struct api_case cases[] = {
        {ZERO, 500, "internal", "damaged"},
    };
    char path[4096];
    struct hub_db *db;
    snprintf(path, sizeof path, "%s/%s", api_kit_app()->state, hub_index_name);
    hub_catalog_on_damage(api_kit_app()->catalog, NULL, NULL); /* it stays so */
    cr_assert_eq(hub_db_open(path, HUB_DB_WRITE, &db, NULL), HUB_OK);
    cr_assert_eq(
        hub_db_exec(db, "UPDATE blobs SET checksum = checksum + 1 WHERE kind = 3 AND name = 'rewards'", NULL),
        HUB_OK);
    hub_db_close(db);
    api_kit_expect(cases, HUB_COUNT(cases));
}
