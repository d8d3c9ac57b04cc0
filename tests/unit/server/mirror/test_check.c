/* server/mirror/check.c: which checks may be asked for, and which two are the same. */
#include "kit.h"
#include "server/mirror/check.h"
#include "tests/support/catalog_draft.h"

#include <criterion/criterion.h>

static void begin(void)
{
    static const char *const ids[] = {"D4RL/pen-v1", "D4RL/door-v1", "b-v0"};
    kit_begin();
    for (size_t i = 0; i < HUB_COUNT(ids); i++) {
        const struct hub_dataset_file file = draft_file("data/x", 4);
        const struct hub_draft draft = {.id = ids[i],
                                        .path = ids[i],
                                        .format = "minari-hdf5",
                                        .status = HUB_DATASET_READY,
                                        .files = &file,
                                        .file_count = 1,
                                        .revision = "0123456789012345678901234567890123456789"};
        DRAFT_OK(hub_catalog_publish(kit.catalog, &draft, err));
    }
    DRAFT_OK(hub_catalog_flush(kit.catalog, err));
    const struct hub_summary remote = {.row = -1,
                                       .id = "far-v0",
                                       .path = "far-v0",
                                       .upstream = "lab",
                                       .remote_id = "far-v0",
                                       .status = HUB_DATASET_REMOTE};
    DRAFT_OK(hub_catalog_show_remote(kit.catalog, "lab", &remote, 1, err));
}

TestSuite(check, .init = begin, .fini = kit_end);

static enum hub_status ask(const char *spec, int64_t *id, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *document = kit_json(spec);
    return hub_check_request(kit.truth, kit.catalog, document, id, err);
}

Test(check, what_may_be_asked_for)
{
    static const struct {
        const char *spec;
        enum hub_status st;
        const char *target; /* of its job */
    } cases[] = {
        {"{}", HUB_OK, "*"},
        {"{'ids':['b-v0']}", HUB_OK, "b-v0"},
        {"{'ids':['D4RL/*'],'repair':true,'rate':65536}", HUB_OK, "D4RL/*"},
        {"{'ids':['b-v0','D4RL/pen-v?']}", HUB_OK, "b-v0 D4RL/pen-v?"},
        {"{'deep':true}", HUB_OK, "--deep *"},
        {"{'deep':true,'ids':['b-v0']}", HUB_OK, "--deep b-v0"},
        {"{'deep':true,'ids':['gone-v0']}", HUB_NOT_FOUND, NULL},
        {"[]", HUB_INVALID, NULL},
        {"'b-v0'", HUB_INVALID, NULL},
        {"{'ids':[]}", HUB_INVALID, NULL},
        {"{'ids':'b-v0'}", HUB_INVALID, NULL},
        {"{'ids':[7]}", HUB_INVALID, NULL},
        {"{'rate':65535}", HUB_INVALID, NULL},
        {"{'rate':'1M'}", HUB_INVALID, NULL},
        {"{'rate':-1}", HUB_INVALID, NULL},
        {"{'ids':['c-v0']}", HUB_NOT_FOUND, NULL},
        {"{'ids':['b-v0','c-*']}", HUB_NOT_FOUND, NULL},
        {"{'ids':['far-v0']}", HUB_NOT_FOUND, NULL}, /* an upstream has it: nothing of it is here */
        {"{'ids':['../b-v0']}", HUB_NOT_FOUND, NULL},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct hub_error err = {0};
        struct hub_job_row job;
        int64_t id = 0;
        cr_expect_eq(ask(cases[i].spec, &id, &err), cases[i].st, "%s: %s", cases[i].spec, err.detail);
        if (!cases[i].target)
            continue;
        cr_assert_eq(hub_job_find(kit.truth, id, &job, NULL), HUB_OK);
        cr_expect_str_eq(job.kind, "check");
        cr_expect_str_eq(job.target, cases[i].target);
        hub_job_dispose(&job);
    }
}

Test(check, the_same_is_checked_once_at_a_time)
{
    int64_t first = 0, second = 0, other = 0;
    struct hub_job_row job;
    cr_assert_eq(ask("{'ids':['b-v0']}", &first, NULL), HUB_OK);
    cr_assert_eq(hub_job_take(kit.truth, &(struct hub_job_lane){.kinds = "check"}, 30, &job, NULL), HUB_OK);
    cr_expect_eq(ask("{'ids':['b-v0']}", &second, NULL), HUB_EXISTS);
    cr_expect_eq(second, first);
    cr_expect_eq(ask("{'ids':['D4RL/pen-v1']}", &other, NULL), HUB_OK);
    cr_expect_neq(other, first);
    hub_job_dispose(&job);
}

Test(check, long_lists_of_ids_are_told_apart)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *one = kit_json("{'ids':[]}"), *two = kit_json("{'ids':[]}");
    int64_t first = 0, second = 0;
    struct hub_job_row job;
    for (unsigned i = 0; i < 200; i++) {
        json_array_append_new(json_object_get(one, "ids"), json_string("D4RL/pen-v1"));
        json_array_append_new(json_object_get(two, "ids"),
                              json_string(i < 199 ? "D4RL/pen-v1" : "D4RL/door-v1"));
    }
    cr_assert_eq(hub_check_request(kit.truth, kit.catalog, one, &first, NULL), HUB_OK);
    cr_assert_eq(hub_check_request(kit.truth, kit.catalog, two, &second, NULL), HUB_OK);
    cr_expect_neq(first, second);
    cr_assert_eq(hub_job_find(kit.truth, first, &job, NULL), HUB_OK);
    cr_expect_lt(strlen(job.target), 400);
    cr_expect_not_null(strstr(job.target, "(200 of them, "));
    hub_job_dispose(&job);
}
