/* What is private is absent: from lists, counts, searches, look-ups and hints, in every protocol. */
#include "server/api/visible.h"
#include "tests/support/api_kit.h"
#include "tests/support/scan_root.h"

#include <criterion/criterion.h>
#include <stdio.h>

static void fill(const char *directory)
{
    static const char *const ids[] = {"lab/open-v0", "lab/secret/arm-v0", "lab/secret/arm-v1"};
    char path[4096];
    scan_write(directory, "lab/secret/notes.txt", "hello");
    for (size_t i = 0; i < HUB_COUNT(ids); i++) {
        snprintf(path, sizeof path, "%s/%s", directory, ids[i]);
        scan_copy("samples/door-human-v0", path);
    }
}

static void set_up(void)
{
    static const char *const rules[] = {"* none lab/secret/", "token:ann read lab/secret/"};
    api_kit_open_with(fill);
    api_kit_rules(rules, HUB_COUNT(rules));
}

TestSuite(visible, .init = set_up, .fini = api_kit_close, .timeout = 60);

#define ARM "/api/v1/datasets/lab/secret/arm-v1"
#define ABSENT "/api/v1/datasets/lab/secret/leg-v1"

Test(visible, who_may_not_read_is_asked_to_sign_in_by_rule_alone)
{
    static const struct api_case cases[] = {
        {ARM, 401, "sign-in", NULL, NULL, 0},
        {ABSENT, 401, "sign-in", NULL, NULL, 0},
        {ARM "/episodes/0/actions", 401, "sign-in", NULL, NULL, 0},
        {"/api/v1/datasets/lab/secret/arm", 401, "sign-in", NULL, NULL, 0},
        {"/d/lab/secret/arm-v1", 401, "sign-in", NULL, NULL, 0},
        {"/api/v1/datasets/lab/leg-v1", 404, "dataset-not-found", NULL, NULL, 0},
        {"/api/v1/datasets/lab/open-v0", 200, NULL, "lab/open-v0", NULL, 0},
        {"/storage/v1/b/minari-datasets/o/lab%2Fsecret%2Farm-v1%2Fdata%2Fmain_data.hdf5", 404,
         "file-not-found", NULL, NULL, 0},
        {"/api/v1/status", 401, "sign-in", NULL, NULL, 0},
    };
    api_kit_expect(cases, HUB_COUNT(cases));
}

Test(visible, a_token_without_the_right_finds_nothing)
{
    static const struct api_case cases[] = {
        {ARM, 404, "dataset-not-found", NULL, NULL, 0},
        {ABSENT, 404, "dataset-not-found", NULL, NULL, 0},
        {"/api/v1/datasets/lab/open-v0", 200, NULL, "lab/open-v0", NULL, 0},
        {"/api/v1/status", 403, "forbidden", NULL, NULL, 0},
    };
    api_kit_ask_as("bob");
    api_kit_expect(cases, HUB_COUNT(cases));
}

Test(visible, a_token_with_the_right_reads)
{
    static const struct api_case cases[] = {
        {ARM, 200, NULL, "lab/secret/arm-v1", NULL, 0},
        {ARM "/episodes/0/actions", 200, NULL, NULL, NULL, 0},
        {"/api/v1/datasets/lab/secret/arm", 200, NULL, "lab/secret/arm-v1", NULL, 0},
        {"/api/v1/datasets", 200, NULL, "\"total\":4", NULL, 0},
        {"/api/v1/datasets?q=arm", 200, NULL, "\"total\":2", NULL, 0},
    };
    api_kit_ask_as("ann");
    api_kit_expect(cases, HUB_COUNT(cases));
}

/* Neither the word nor the number of what is hidden. */
Test(visible, nothing_lists_what_is_private)
{
    static const char *const lists[] = {
        "/api/v1/datasets",
        "/api/v1/datasets?columns=id,steps&format=csv",
        "/api/v1/datasets?q=arm",
        "/api/v1/namespaces",
        "/api/v1/problems",
        "/api/v1/jobs",
        "/",
        "/?q=arm",
        "/storage/v1/b/minari-datasets/o",
        "/storage/v1/b/minari-datasets/o?delimiter=/&prefix=lab/",
        "/storage/v1/b/minari-datasets/o/lab%2Fnamespace_metadata.json?alt=media",
        "/minari-datasets/lab/",
        "/minari-datasets?list-type=2",
        "/api/datasets",
        "/api/datasets/farama-minari/lab/tree/main?recursive=true",
    };
    for (size_t i = 0; i < HUB_COUNT(lists); i++) {
        const struct hub_view text = api_kit_body(lists[i]);
        cr_expect_not_null(text.data, "%s", lists[i]);
        cr_expect_null(memmem(text.data, text.size, "secret", 6), "%s: %.*s", lists[i],
                       (int)HUB_MIN(text.size, (size_t)900), text.data);
    }
    const struct hub_view all = api_kit_body("/api/v1/datasets");
    cr_expect_not_null(memmem(all.data, all.size, "\"total\":1", 9), "%.*s", (int)all.size, all.data);
}

Test(visible, hints_name_nothing_private)
{
    static const struct api_case near = {
        "/api/v1/datasets/lab/arm-v1", 404, "dataset-not-found", NULL, NULL, 0};
    api_kit_expect(&near, 1);
    const struct hub_view text = api_kit_body("/api/v1/datasets?q=lab");
    cr_expect_null(memmem(text.data, text.size, "secret", 6));
}

Test(visible, rules_are_followed_at_once)
{
    static const char *const closed[] = {"* none ", "token:ann read "};
    static const struct api_case cases[] = {
        {"/api/v1/datasets/lab/open-v0", 401, "sign-in", NULL, NULL, 0},
        {"/api/v1/datasets", 200, NULL, "\"total\":0", NULL, 0},
    };
    api_kit_rules(closed, HUB_COUNT(closed));
    api_kit_expect(cases, HUB_COUNT(cases));
    api_kit_rules(NULL, 0);
    static const struct api_case open[] = {{ARM, 200, NULL, NULL, NULL, 0},
                                           {"/api/v1/datasets", 200, NULL, "\"total\":4", NULL, 0}};
    api_kit_expect(open, HUB_COUNT(open));
}

#define OLD "0123456789abcdef0123456789abcdef01234567"
#define NEW "89abcdef0123456789abcdef0123456789abcdef"

static void fill_cache(const char *directory)
{
    static const char *const commits[] = {OLD, NEW};
    char path[4096];
    scan_write(directory, "hub/datasets--lab--plans/refs/main", NEW);
    for (size_t i = 0; i < HUB_COUNT(commits); i++) {
        snprintf(path, sizeof path, "hub/datasets--lab--plans/snapshots/%s/README.md", commits[i]);
        scan_write(directory, path, "# plans");
        snprintf(path, sizeof path, "%s/hub/datasets--lab--plans/snapshots/%s", directory, commits[i]);
        scan_copy("samples/door-human-v0", path);
    }
}

TestSuite(visible_commits, .fini = api_kit_close, .timeout = 60);

Test(visible_commits, are_as_private_as_their_dataset)
{
    static const char *const rules[] = {"* none lab/plans"};
    static const struct api_case there[] = {
        {"/api/v1/datasets/lab/plans", 200, NULL, "lab/plans", NULL, 0},
        {"/api/v1/datasets/lab/plans@" OLD, 200, NULL, "lab/plans@" OLD, NULL, 0},
    };
    static const struct api_case hidden[] = {
        {"/api/v1/datasets/lab/plans", 401, "sign-in", NULL, NULL, 0},
        {"/api/v1/datasets/lab/plans@" OLD, 404, "dataset-not-found", NULL, NULL, 0},
    };
    api_kit_open_with(fill_cache);
    api_kit_expect(there, HUB_COUNT(there));
    api_kit_rules(rules, HUB_COUNT(rules));
    api_kit_expect(hidden, HUB_COUNT(hidden));
}
