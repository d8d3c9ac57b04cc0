/* server/mirror/pass.c: what a remote lists against what is here. */
#include "kit.h"

#include "server/mirror/spec.h"
#include "storage/truth/upstream.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(pass, .init = kit_begin, .fini = kit_end);

/* ---- a remote ---- */

static const char *const *listing; /* JSON in which ' stands for "; ended by NULL */
static char asked_prefix[32];
static bool asked_brief;

static enum hub_status list(struct hub_remote *remote, const struct hub_remote_query *query,
                            hub_remote_item_fn fn, void *user, struct hub_error *err)
{
    (void)remote;
    asked_brief = query->brief;
    snprintf(asked_prefix, sizeof asked_prefix, "%s", query->prefix ? query->prefix : "");
    for (const char *const *at = listing; *at; at++) {
        HUB_CLEANUP(hub_json_decrefp) json_t *item = kit_json(*at);
        HUB_TRY(fn(item, hub_view_of(*at), user, err));
    }
    return HUB_OK;
}

/* "id/path", ended by NULL: the files of a remote; NULL: it has none but those that were listed. */
static const char *const *objects;
static bool is_closed;

static enum hub_status files(struct hub_remote *remote, const char *id, const char *revision,
                             struct hub_remote_files *out, struct hub_error *err)
{
    const size_t size = strlen(id);
    (void)remote;
    (void)revision;
    if (is_closed)
        return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_REPO_CLOSED, "closed");
    for (const char *const *at = objects; at && *at; at++)
        if (strncmp(*at, id, size) == 0 && (*at)[size] == '/')
            HUB_TRY(hub_remote_files_add(out, *at + size + 1, 1, NULL, err));
    return out->count ? HUB_OK : hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND, "no dataset");
}

static const struct hub_remote_kind kind = {.noun = "test", .list = list, .files = files};

/* Memory that there is for lists, and what of it was taken. */
static uint64_t memory_left, memory_taken;

static bool take(void *memory, uint64_t bytes)
{
    (void)memory;
    if (memory_left < bytes)
        return false;
    memory_left -= bytes;
    memory_taken += bytes;
    return true;
}

static void give(void *memory, uint64_t bytes)
{
    (void)memory;
    memory_left += bytes;
}

/* One pass of a rule over `items`, by a job as its threads take it. */
static enum hub_status pass(const char *rule, const char *const *items, struct hub_error *err)
{
    struct hub_mirror_work w = {.mirrors = &kit.mirrors, .remote = {.kind = &kind, .base = "test://there"}};
    listing = items;
    kit_told_count = kit_looks = 0;
    cr_assert_eq(hub_rule_run(kit.truth, rule, NULL), HUB_OK);
    cr_assert_eq(hub_rules_due(kit.truth, NULL), HUB_OK);
    cr_assert_eq(hub_job_take(kit.truth, &(struct hub_job_lane){.kinds = "mirror"}, 30, &w.job, NULL),
                 HUB_OK);
    cr_assert_eq(hub_rule_find(kit.truth, rule, &w.rule, NULL), HUB_OK);
    cr_assert_eq(hub_mirror_root(w.rule.spec, &kit.roots, &w.root, NULL), HUB_OK);
    w.kept_ms = INT64_MAX / 2; /* the lease is new */
    const enum hub_status st = hub_mirror_pass(&w, err);
    hub_mirror_let_go(&w);
    cr_assert_eq(hub_job_end(kit.truth, hub_job_lease(&w.job), HUB_JOB_DONE, 0, true, NULL, NULL), HUB_OK);
    hub_rule_dispose(&w.rule);
    hub_job_dispose(&w.job);
    return st;
}

static void pass_well(const char *rule, const char *const *items)
{
    struct hub_error err = {0};
    cr_assert_eq(pass(rule, items, &err), HUB_OK, "%s", err.detail);
}

/* A transfer of before: the copy is there, and known. */
static void copied(const char *rule, const char *remote, const char *id, const char *path,
                   const char *revision)
{
    struct hub_lease lease;
    struct hub_error err = {0};
    char file[256];
    const struct hub_job_draft draft = {.kind = "transfer", .target = path, .rule = rule, .payload = "{}"};
    struct hub_file_facts one = {.path = "data/x", .size = 1};
    const struct hub_upstream upstream = {
        .rule = rule, .remote = remote, .id = id, .revision = revision, .files = &one, .file_count = 1};
    snprintf(file, sizeof file, "root/%s/data/x", path);
    kit_write(file, "x");
    cr_assert_eq(hub_job_begin(kit.truth, &draft, 30, &lease, &err), HUB_OK, "%s", err.detail);
    cr_assert_eq(hub_upstream_store(kit.truth, lease, 0, path, &upstream, &err), HUB_OK, "%s", err.detail);
    cr_assert_eq(hub_job_end(kit.truth, lease, HUB_JOB_DONE, 0, true, NULL, NULL), HUB_OK);
}

/* ---- what is fetched ---- */

static const char *const two[] = {"{'id':'b-v0','revision':'r1','format':'minari-hdf5'}",
                                  "{'id':'D4RL/a-v0','revision':'r2'}", NULL};

Test(pass, what_is_not_here_is_asked_for)
{
    kit_put_rule("lab", "{'remote':'gcp://b'}");
    pass_well("lab", two);
    cr_expect_str_eq(kit_jobs("transfer"), "transfer D4RL/a-v0 {\"id\":\"D4RL/a-v0\",\"path\":\"D4RL/a-v0\"};"
                                           "transfer b-v0 {\"id\":\"b-v0\",\"path\":\"b-v0\"};");
    cr_expect(asked_brief);
    cr_expect_str_eq(kit_told[kit_told_count - 1], "5  2 datasets on the remote, 2 to fetch, 0 removed");
}

Test(pass, what_is_here_as_there_is_not_fetched_again)
{
    kit_put_rule("lab", "{'remote':'gcp://b'}");
    copied("lab", "test://there", "D4RL/a-v0", "D4RL/a-v0", "r2");
    copied("lab", "test://there", "b-v0", "b-v0", "r0");
    pass_well("lab", two);
    cr_expect_str_eq(kit_jobs("transfer"), "transfer b-v0 {\"id\":\"b-v0\",\"path\":\"b-v0\"};",
                     "its revision is another");
}

Test(pass, a_copy_that_somebody_removed_is_fetched_again)
{
    static const char *const one[] = {"{'id':'a-v0','revision':'r1'}", NULL};
    kit_put_rule("lab", "{'remote':'gcp://b'}");
    copied("lab", "test://there", "a-v0", "a-v0", "r1");
    pass_well("lab", one);
    cr_expect_str_eq(kit_jobs("transfer"), "");
    cr_assert_eq(rename(kit_path("root/a-v0"), kit_path("elsewhere")), 0);
    pass_well("lab", one);
    cr_expect_str_eq(kit_jobs("transfer"), "transfer a-v0 {\"id\":\"a-v0\",\"path\":\"a-v0\"};");
}

Test(pass, without_a_revision_nothing_is_known_to_be_the_same)
{
    static const char *const one[] = {"{'id':'a-v0'}", NULL};
    kit_put_rule("lab", "{'remote':'gcp://b'}");
    copied("lab", "test://there", "a-v0", "a-v0", "");
    pass_well("lab", one);
    cr_expect_str_eq(kit_jobs("transfer"), "transfer a-v0 {\"id\":\"a-v0\",\"path\":\"a-v0\"};");
}

Test(pass, the_same_copy_of_another_rule_is_kept)
{
    static const struct {
        const char *other, *remote;
        bool kept;
    } cases[] = {
        {"{'remote':'gcp://b'}", "test://there", true},
        {"{'remote':'gcp://b','exclude':['*.mp4']}", "test://there", false}, /* it would fetch other files */
        {"{'remote':'gcp://b'}", "test://elsewhere", false},
        {"{'remote':'gcp://b','pull':true}", "test://there", false}, /* its copies come and go */
    };
    static const char *const one[] = {"{'id':'a-v0','revision':'r1'}", NULL};
    kit_put_rule("lab", "{'remote':'gcp://b'}");
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        kit_put_rule("other", cases[i].other);
        copied("other", cases[i].remote, "a-v0", "a-v0", "r1");
        pass_well("lab", one);
        cr_expect_eq(*kit_jobs("transfer") == '\0', cases[i].kept, "%zu", i);
        cr_assert_eq(hub_rule_remove(kit.truth, "other", NULL), HUB_OK);
        cr_assert_eq(hub_rule_remove(kit.truth, "lab", NULL), HUB_OK, "and its jobs");
        kit_put_rule("lab", "{'remote':'gcp://b'}");
    }
}

/* ---- names ---- */

Test(pass, prefix_and_as)
{
    kit_put_rule("lab", "{'remote':'gcp://b','prefix':'D4RL/','as':'mirror/'}");
    pass_well("lab", two);
    cr_expect_str_eq(asked_prefix, "D4RL/");
    cr_expect_str_eq(kit_jobs("transfer"),
                     "transfer mirror/D4RL/a-v0 {\"id\":\"D4RL/a-v0\",\"path\":\"mirror/D4RL/a-v0\"};",
                     "what the remote lists besides is left out");
}

Test(pass, in_a_named_root_ids_begin_with_its_name)
{
    kit_put_rule("lab", "{'remote':'gcp://b','prefix':'b','root':'named'}");
    pass_well("lab", two);
    cr_expect_str_eq(kit_jobs("transfer"), "transfer named/b-v0 {\"id\":\"b-v0\",\"path\":\"b-v0\"};");
}

Test(pass, one_that_lies_in_another_names_the_nearest_around_it)
{
    static const char *const nested[] = {"{'id':'a/b/c-v0','revision':'r'}", "{'id':'a-v0','revision':'r'}",
                                         "{'id':'a','revision':'r'}", "{'id':'d/e-v0','revision':'r'}", NULL};
    kit_put_rule("lab", "{'remote':'gcp://b','root':'named'}");
    pass_well("lab", nested);
    cr_expect_str_eq(
        kit_jobs("transfer"),
        "transfer named/a {\"id\":\"a\",\"path\":\"a\"};"
        "transfer named/a-v0 {\"id\":\"a-v0\",\"path\":\"a-v0\"};"
        "transfer named/a/b/c-v0 {\"id\":\"a/b/c-v0\",\"path\":\"a/b/c-v0\",\"within\":\"named/a\"};"
        "transfer named/d/e-v0 {\"id\":\"d/e-v0\",\"path\":\"d/e-v0\"};");
}

Test(pass, several_cannot_be_called_the_same)
{
    struct hub_error err = {0};
    kit_put_rule("lab", "{'remote':'gcp://b','as':'mine'}");
    cr_expect_eq(pass("lab", two, &err), HUB_INVALID);
    cr_expect_not_null(strstr(err.detail, "'mine'"));
    cr_expect_str_eq(kit_jobs("transfer"), "", "none is fetched and shown under that name");
}

Test(pass, ids_that_escape_are_left_out)
{
    static const char *const hostile[] = {
        "{'id':'../up','revision':'r'}",   "{'id':'/etc','revision':'r'}",
        "{'id':'a\\n b','revision':'r'}",  "{'id':'.minari-hub','revision':'r'}",
        "{'id':'good-v0','revision':'r'}", "{'id':'a/../../b','revision':'r'}",
        "{'id':'','revision':'r'}",        NULL};
    kit_put_rule("lab", "{'remote':'gcp://b'}");
    pass_well("lab", hostile);
    cr_expect_str_eq(kit_jobs("transfer"), "transfer good-v0 {\"id\":\"good-v0\",\"path\":\"good-v0\"};");
    cr_expect_eq(kit_told_count, 6 + 1, "each is said, and the end of the pass");
}

Test(pass, a_dataset_without_an_id_is_refused)
{
    static const char *const items[] = {"{'id':7}", "{}", "[]", "'a'", "null"};
    kit_put_rule("lab", "{'remote':'gcp://b'}");
    for (size_t i = 0; i < HUB_COUNT(items); i++) {
        const char *const one[] = {items[i], NULL};
        struct hub_error err = {0};
        cr_expect_eq(pass("lab", one, &err), HUB_CORRUPT, "%s", items[i]);
        cr_expect_eq(err.problem, HUB_PROBLEM_PROTOCOL);
    }
    cr_expect_str_eq(kit_jobs("transfer"), "");
}

Test(pass, loose_files_around_datasets_are_left_out)
{
    static const char *const items[] = {
        "{'id':'lab','format':'files','revision':'r'}", "{'id':'lab-2','format':'files','revision':'r'}",
        "{'id':'lab/a-v0','revision':'r'}", "{'id':'root-files','format':'files','revision':'r'}", NULL};
    kit_put_rule("lab", "{'remote':'http://hub'}");
    pass_well("lab", items);
    cr_expect_str_eq(kit_jobs("transfer"), "transfer lab-2 {\"id\":\"lab-2\",\"path\":\"lab-2\"};"
                                           "transfer lab/a-v0 {\"id\":\"lab/a-v0\",\"path\":\"lab/a-v0\"};");
}

Test(pass, a_hundred_thousand_hostile_ids_take_no_time, .timeout = 20)
{
    enum { COUNT = 100000 };
    const char **items = calloc(COUNT + 1, sizeof *items);
    cr_assert(items);
    for (size_t i = 0; i < COUNT; i++)
        items[i] = "{'id':'.a','format':'files'}"; /* each begins like all others, and none is an id */
    kit_put_rule("lab", "{'remote':'http://hub'}");
    pass_well("lab", items);
    cr_expect_str_eq(kit_jobs("transfer"), "");
    free(items);
}

/* ---- what is no more there ---- */

static void copy_both(const char *spec)
{
    kit_put_rule("lab", spec);
    copied("lab", "test://there", "D4RL/a-v0", "D4RL/a-v0", "r2");
    copied("lab", "test://there", "b-v0", "b-v0", "r1");
    pass_well("lab", two);
}

static const char *const without_b[] = {"{'id':'D4RL/a-v0','revision':'r2'}", NULL};

static bool is_gone(const char *path)
{
    struct hub_upstream known;
    cr_assert_eq(hub_upstream_find(kit.truth, 0, path, false, &known, NULL), HUB_OK);
    const bool gone = known.gone_ms != 0;
    hub_upstream_dispose(&known);
    return gone;
}

Test(pass, it_stays_unless_the_rule_deletes)
{
    copy_both("{'remote':'gcp://b'}");
    pass_well("lab", without_b);
    cr_expect(kit_is_there("root/b-v0/data/x"));
    cr_expect(is_gone("b-v0"));
    cr_expect_not(is_gone("D4RL/a-v0"));
    cr_expect_eq(kit_looks, 0);
    pass_well("lab", two);
    cr_expect_not(is_gone("b-v0"), "it is back");
}

Test(pass, a_rule_that_deletes_removes_its_copy_alone)
{
    struct hub_upstream known;
    copy_both("{'remote':'gcp://b','delete':true}");
    kit_write("root/ours-v0/data/x", "not a copy");
    kit_put_rule("other", "{'remote':'gcp://b','delete':true}");
    copied("other", "test://there", "c-v0", "c-v0", "r1");
    pass_well("lab", without_b);
    cr_expect_not(kit_is_there("root/b-v0"));
    cr_expect_eq(hub_upstream_find(kit.truth, 0, "b-v0", false, &known, NULL), HUB_NOT_FOUND);
    cr_expect(kit_is_there("root/D4RL/a-v0/data/x"));
    cr_expect(kit_is_there("root/ours-v0/data/x"), "what people put there is theirs");
    cr_expect(kit_is_there("root/c-v0/data/x"), "another rule's");
    cr_expect_eq(kit_looks, 1);
    cr_expect_str_eq(kit_told[0], "2 b-v0 it is no longer on the remote");
}

static const char *below_root(const char *path)
{
    static char out[256];
    snprintf(out, sizeof out, "root/%s/data/x", path);
    return out;
}

static bool is_unlisted(const char *path)
{
    struct hub_upstream known;
    struct hub_rule rule;
    cr_assert_eq(hub_upstream_find(kit.truth, 0, path, false, &known, NULL), HUB_OK);
    const bool unlisted = known.unlisted_ms != 0;
    hub_upstream_dispose(&known);
    cr_assert_eq(hub_rule_find(kit.truth, "lab", &rule, NULL), HUB_OK);
    cr_expect_eq(rule.unlisted, unlisted);
    hub_rule_dispose(&rule);
    return unlisted;
}

/* A bucket of plain files is one tree, until somebody puts a dataset of Minari's into it. */
Test(pass, a_listing_of_another_kind_removes_nothing)
{
    static const char *const tree[] = {"{'id':'plain','format':'files','revision':'r1'}", NULL},
                             *const minari[] = {"{'id':'top-v0','revision':'r2'}", NULL},
                             *const there[] = {"plain/data/x", "plain/top-v0/data/x", "top-v0/data/x", NULL};
    kit_put_rule("lab", "{'remote':'gcp://plain','delete':true}");
    copied("lab", "test://there", "plain", "plain", "r1");
    pass_well("lab", tree);
    objects = there;
    for (unsigned i = 0; i < 2; i++) {
        pass_well("lab", minari);
        cr_expect(kit_is_there("root/plain/data/x"));
        cr_expect(is_unlisted("plain"));
        cr_expect_not(is_gone("plain"));
        cr_expect_eq(kit_told[0][0] == '3', i == 0, "it is said once");
        if (i == 0)
            cr_expect_str_eq(kit_told[0], "3 plain the remote no longer lists it, but its files are still "
                                          "there: the hub keeps it and does not update it");
    }
    pass_well("lab", tree);
    cr_expect_not(is_unlisted("plain"), "it is back");
    objects = NULL;
    pass_well("lab", minari);
    cr_expect_not(kit_is_there("root/plain"), "now its files are gone");
}

Test(pass, what_is_not_known_to_be_gone_stays)
{
    static const char *const
        around[] = {"{'id':'D4RL','format':'files','revision':'r1'}", NULL},
        *const below[] = {"{'id':'b-v0/one-v0','revision':'r1'}", "{'id':'D4RL/a-v0','revision':'r2'}", NULL},
        *const whole[] = {"D4RL/a-v0/data/x", "b-v0/data/x", NULL}, *const rest[] = {"b-v0/readme", NULL};
    static const struct {
        const char *const *items, *const *objects;
        bool closed;
        const char *path; /* of what the remote does not list */
        bool kept;
    } cases[] = {
        {around, whole, false, "D4RL/a-v0", true}, /* a part of another dataset now */
        {below, NULL, false, "b-v0", true},        /* several datasets now */
        {without_b, NULL, true, "b-v0", true},     /* who may not see it cannot say */
        {without_b, rest, false, "b-v0", false},   /* what is there was never fetched */
        {without_b, whole, false, "b-v0", true},   /* only the list lacks it */
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        kit_put_rule("lab", "{'remote':'gcp://b','delete':true}");
        copied("lab", "test://there", "D4RL/a-v0", "D4RL/a-v0", "r2");
        copied("lab", "test://there", "b-v0", "b-v0", "r1");
        objects = cases[i].objects;
        is_closed = cases[i].closed;
        pass_well("lab", cases[i].items);
        cr_expect_eq(kit_is_there(below_root(cases[i].path)), cases[i].kept, "%zu", i);
        cr_assert_eq(hub_rule_remove(kit.truth, "lab", NULL), HUB_OK);
    }
}

Test(pass, another_remote_or_prefix_removes_nothing)
{
    static const char *const specs[] = {"{'remote':'gcp://b','delete':true,'prefix':'D4RL/'}",
                                        "{'remote':'gcp://b','delete':true}"};
    for (size_t i = 0; i < HUB_COUNT(specs); i++) {
        kit_put_rule("lab", specs[i]);
        copied("lab", i ? "test://elsewhere" : "test://there", "b-v0", "b-v0", "r1");
        pass_well("lab", without_b);
        cr_expect(kit_is_there("root/b-v0/data/x"), "%zu", i);
        cr_expect(is_unlisted("b-v0"), "%zu", i);
        cr_assert_eq(hub_rule_remove(kit.truth, "lab", NULL), HUB_OK);
    }
}

Test(pass, a_remote_that_lists_nothing_removes_nothing)
{
    static const char *const nothing[] = {NULL};
    copy_both("{'remote':'gcp://b','delete':true}");
    pass_well("lab", nothing);
    cr_expect(kit_is_there("root/b-v0/data/x"));
    cr_expect(kit_is_there("root/D4RL/a-v0/data/x"));
    cr_expect_not(is_gone("b-v0"));
}

/* ---- what is fetched when it is asked for ---- */

Test(pass, a_rule_that_pulls_shows_and_fetches_nothing)
{
    kit_put_rule("lab", "{'remote':'http://hub','pull':true}");
    pass_well("lab", two);
    cr_expect_str_eq(kit_jobs("transfer"), "");
    cr_expect_not(asked_brief, "what it says of them is shown");
    cr_expect(kit_is_there("state/listings/lab.jsonl"));
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *snapshot = hub_catalog_snapshot(kit.catalog);
    const struct hub_summary *summary = hub_snapshot_find(snapshot, hub_view_of("D4RL/a-v0"));
    cr_assert_not_null(summary);
    cr_expect_eq(summary->status, HUB_DATASET_REMOTE);
}

/* As memory of requests, as far as there is some: the rest is not waited for. */
Test(pass, a_long_list_is_counted)
{
    enum { COUNT = 3000, SIZE = 1100 };
    static char texts[COUNT][SIZE + 100];
    static const char *items[COUNT + 1];
    kit_put_rule("lab", "{'remote': 'test://there', 'pull': true}");
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(texts[i], sizeof texts[i], "{'id': 's%u-v0', 'description': '%0*u'}", i, SIZE, i);
        items[i] = texts[i];
    }
    kit.mirrors.options.take = take;
    kit.mirrors.options.give = give;
    memory_left = 64 * MIB;
    pass_well("lab", items);
    cr_expect_eq(memory_taken, 3 * MIB);
    cr_expect_eq(memory_left, 64 * MIB, "all of it is given back");
    memory_left = 2 * MIB;
    memory_taken = 0;
    pass_well("lab", items);
    cr_expect_eq(memory_taken, 2 * MIB);
    cr_expect_eq(memory_left, 2 * MIB);
}
