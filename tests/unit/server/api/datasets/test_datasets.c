/* The list of datasets, one dataset, its spaces. */
#include "storage/catalog/write.h"
#include "tests/support/api_kit.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(datasets, .init = api_kit_open, .fini = api_kit_close, .timeout = 60);

Test(datasets, the_list)
{
    static const struct api_case cases[] = {
        {"/api/v1/datasets", 200, NULL, "\"total\":3,\"next\":null,\"prev\":null}"},
        {"/api/v1/datasets", 200, NULL, "{\"items\":[{\"id\":\"cut-v0\"", "Content-Type: application/json"},
        {"/api/v1/datasets?prefix=door", 200, NULL, "\"total\":1,"},
        {"/api/v1/datasets?prefix=nothing", 200, NULL,
         "{\"items\":[],\"total\":0,\"next\":null,\"prev\":null}"},
        {"/api/v1/datasets?q=HUMAN", 200, NULL, "{\"items\":[{\"id\":\"door-human-v0\""},
        {"/api/v1/datasets?q=hum+do", 200, NULL, "\"total\":1,"},
        {"/api/v1/datasets?q=door-hum&status=ready&sort=-size&limit=1", 200, NULL, "\"total\":1,"},
        {"/api/v1/datasets?q=v0&sort=relevance", 200, NULL, "\"total\":2,"},
        {"/api/v1/datasets?q=door&status=broken", 200, NULL, "\"total\":0,"},
        {"/api/v1/datasets?q=", 200, NULL, "\"total\":3,"},
        {"/api/v1/datasets?q=%22%20OR%20*%20NEAR(a", 200, NULL, "\"total\":0,"},
        {"/api/v1/datasets?sort=relevance", 400, "bad-parameter", "sort=relevance needs q="},
        {"/api/v1/datasets?status=broken", 200, NULL, "\"total\":1,"},
        {"/api/v1/datasets?status=ready&format=minari-hdf5", 200, NULL, "\"total\":1,"},
        {"/api/v1/datasets?format=files", 200, NULL, "\"total\":1,"},
        {"/api/v1/datasets?sort=-episodes&limit=1", 200, NULL, "{\"items\":[{\"id\":\"door-human-v0\""},
        {"/api/v1/datasets?limit=1", 200, NULL, "\"next\":\"http://hub/api/v1/datasets?"},
        {"/api/v1/datasets?limit=0", 400, "bad-parameter", "limit"},
        {"/api/v1/datasets?limit=1001", 400, "bad-parameter", "limit"},
        {"/api/v1/datasets?sort=size,id", 400, "bad-parameter", "sort must be one of relevance, id, name"},
        {"/api/v1/datasets?status=ill", 400, "bad-parameter", "status must be one of"},
        {"/api/v1/datasets?latest=perhaps", 400, "bad-parameter", "true or false"},
        {"/api/v1/datasets?cursor=x", 400, "bad-cursor", NULL},
        {"/api/v1/datasets?colour=red", 400, "bad-parameter", "unknown parameter"},
        {"/api/v1/datasets?limit=1&limit=2", 400, "bad-parameter", NULL},
    };
    api_kit_expect(cases, HUB_COUNT(cases));
}

Test(datasets, pages_follow_each_other)
{
    char next[4096] = "/api/v1/datasets?limit=1";
    unsigned pages = 0;
    while (*next && pages < 5) {
        const struct hub_view body = api_kit_body(next);
        char text[8192];
        snprintf(text, sizeof text, "%.*s", (int)body.size, body.data);
        const char *link = strstr(text, "\"next\":\"http://hub"), *end = link ? strchr(link + 18, '"') : NULL;
        snprintf(next, sizeof next, "%.*s", link ? (int)(end - link - 18) : 0, link ? link + 18 : "");
        pages++;
    }
    cr_expect_eq(pages, 3);
}

/* The n-th address behind `name` in an answer, without its host; empty: null. */
static void link_of(const char *target, const char *name, char out[4096])
{
    const struct hub_view body = api_kit_body(target);
    char text[16384], key[32];
    snprintf(text, sizeof text, "%.*s", (int)body.size, body.data);
    snprintf(key, sizeof key, "\"%s\":\"http://hub", name);
    const char *link = strstr(text, key), *from = link ? link + strlen(key) : "";
    snprintf(out, 4096, "%.*s", link ? (int)strcspn(from, "\"") : 0, from);
}

Test(datasets, pages_go_back)
{
    static const char *const orders[] = {"", "&sort=-id", "&sort=-episodes", "&sort=name", "&sort=size"};
    for (size_t i = 0; i < HUB_COUNT(orders); i++) {
        char first[4096], second[4096], third[4096], back[4096], begin[4096];
        snprintf(first, sizeof first, "/api/v1/datasets?limit=1%s", orders[i]);
        link_of(first, "next", second);
        link_of(second, "next", third);
        link_of(third, "prev", back);
        link_of(back, "prev", begin);
        static const char *const pairs[][2] = {{"prev", "next"}, {"next", "prev"}};
        char one[4096], other[4096];
        for (size_t k = 0; k < HUB_COUNT(pairs); k++) {
            link_of(second, pairs[k][0], one);
            link_of(back, pairs[k][0], other);
            cr_expect_str_eq(one, other, "%s: %s", orders[i], pairs[k][0]);
        }
        link_of(begin, "prev", other);
        cr_expect_str_eq(other, "");
        link_of(begin, "next", other);
        cr_expect_str_eq(other, second);
    }
}

Test(datasets, by_facts)
{
    static const struct api_case cases[] = {
        {"/api/v1/datasets?action_dim=3", 200, NULL, "\"total\":0,"},
        {"/api/v1/datasets?env=nothing&facets=env", 200, NULL,
         "\"facets\":{\"env\":[{\"value\":\"AdroitHandDoor-v1\",\"count\":1}]}"},
        {"/api/v1/datasets?facets=format,status", 200, NULL, "\"facets\":{\"format\":["},
        {"/api/v1/datasets?status=broken&facets=status,format&limit=1", 200, NULL,
         "{\"value\":\"broken\",\"count\":1}"},
        {"/api/v1/datasets?facets=colour", 400, "bad-parameter",
         "facets must be names separated by commas, from env"},
        {"/api/v1/datasets?facets=", 200, NULL, "\"prev\":null}"},
        {"/api/v1/datasets?env=a&env=b", 400, "bad-parameter", NULL},
    };
    api_kit_expect(cases, HUB_COUNT(cases));
}

Test(datasets, one)
{
    static const struct api_case cases[] = {
        {"/api/v1/datasets/door-human-v0", 200, NULL, "\"episodes\":12,", "Cache-Control: no-cache"},
        {"/api/v1/datasets/door-human", 200, NULL, "\"id\":\"door-human-v0\"",
         "Content-Location: /api/v1/datasets/door-human-v0"},
        {"/api/v1/datasets/cut-v0", 200, NULL, "\"status\":\"broken\""},
        {"/api/v1/datasets/door-human-v1", 404, "dataset-not-found", NULL},
        {"/api/v1/datasets/nothing", 404, "dataset-not-found", "there is no dataset 'nothing'"},
        {"/api/v1/datasets/door-human-v0?revision=0123456789012345678901234567890123456789", 410,
         "revision-gone", NULL},
        {"/api/v1/datasets/door-human-v0?revision=0123", 400, "bad-parameter",
         "40 lower-case hexadecimal digits"},
        {"/api/v1/datasets/door-human-v0?for=new", 400, "bad-parameter", NULL},
        {"/api/v1/datasets/door-human-v0/~spaces?of=observation", 200, NULL, NULL,
         "Content-Type: text/plain; charset=utf-8"},
        {"/api/v1/datasets/door-human-v0/~spaces?of=reward", 400, "bad-parameter", NULL},
        {"/api/v1/datasets/door-human-v0/~spaces", 400, "bad-parameter", NULL},
    };
    api_kit_expect(cases, HUB_COUNT(cases));
}

static void publish(enum hub_dataset_status status, const char *reason)
{
    const struct hub_draft draft = {.id = "new-v0",
                                    .path = "new-v0",
                                    .format = "files",
                                    .status = status,
                                    .reason = reason,
                                    .revision = ""};
    cr_assert_eq(hub_catalog_publish(api_kit_app()->catalog, &draft, NULL), HUB_OK);
}

/* A document is of the newest state, which the lists of a busy hub lag behind. */
Test(datasets, one_that_was_told_to_be_ready_is_listed_as_such)
{
    static const struct api_case cases[] = {
        {"/api/v1/datasets?status=pending", 200, NULL, "{\"items\":[{\"id\":\"new-v0\""},
        {"/api/v1/datasets/new-v0", 200, NULL, "\"status\":\"ready\""},
        {"/api/v1/datasets?status=pending", 200, NULL, "\"total\":0,"},
        {"/api/v1/datasets?status=ready&prefix=new", 200, NULL, "\"total\":1,"},
    };
    publish(HUB_DATASET_PENDING, "waiting to be inspected");
    cr_assert_eq(hub_catalog_flush(api_kit_app()->catalog, NULL), HUB_OK);
    api_kit_expect(cases, 1);
    publish(HUB_DATASET_READY, "");
    api_kit_expect(cases + 1, HUB_COUNT(cases) - 1);
}
