/* server/api/episodes/coverage.c: parts of a dataset that are measured, with the newest ranges, and parts
 * that failed. */
#include "server/api/episodes/coverage.h"
#include "tests/support/api_kit.h"
#include "tests/support/catalog_draft.h"
#include "tests/support/scan_root.h"

#include <criterion/criterion.h>

static void fill(const char *directory)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/links-v0", directory);
    scan_copy("minari/root-0.4.2/simple-links-v0", path);
}

static void begin(void)
{
    api_kit_open_with(fill);
}

TestSuite(coverage, .init = begin, .fini = api_kit_close);

static struct hub_state now(void)
{
    struct hub_state out;
    const struct hub_snapshot *snapshot = hub_catalog_snapshot(api_kit_app()->catalog);
    const struct hub_summary *summary = hub_snapshot_find(snapshot, HUB_VIEW("links-v0"));
    cr_assert_not_null(summary);
    cr_assert_eq(hub_state_open(api_kit_app()->catalog, summary, &out, NULL), HUB_OK);
    hub_snapshot_put(snapshot);
    return out;
}

static int64_t row_of(uint32_t part)
{
    HUB_CLEANUP(hub_state_close) struct hub_state s = now();
    cr_assert_eq(s.dataset->part_count, 3);
    return s.dataset->parts[part].row;
}

static void measure(uint32_t part, enum hub_measured how_far, uint64_t ranges)
{
    const struct hub_measured_state state = {.how_far = how_far, .ranges = ranges};
    cr_assert_eq(hub_measures_write(api_kit_app()->catalog, row_of(part), &state, NULL, 0, NULL, NULL),
                 HUB_OK);
}

static struct hub_coverage coverage(enum hub_measured how_far)
{
    HUB_CLEANUP(hub_state_close) struct hub_state s = now();
    struct hub_coverage out;
    cr_assert_eq(hub_coverage_read(&s, how_far, &out, NULL), HUB_OK);
    cr_expect_eq(out.of_parts, 3);
    return out;
}

Test(coverage, parts_with_older_ranges_are_not_done)
{
    for (uint32_t i = 0; i < 3; i++)
        measure(i, HUB_MEASURED_ALL, 5);
    struct hub_coverage c = coverage(HUB_MEASURED_ALL);
    cr_expect(c.complete && !c.stale && c.parts == 3 && c.rows == c.of_rows);
    measure(1, HUB_MEASURED_ALL, 6);
    c = coverage(HUB_MEASURED_ALL);
    cr_expect(!c.complete && c.stale);
    cr_expect_eq(c.parts, 1);
    cr_expect_lt(c.rows, c.of_rows);
    c = coverage(HUB_MEASURED_FIELDS);
    cr_expect(c.complete && !c.stale && c.parts == 3);
}

Test(coverage, nobody_waits_for_a_part_that_failed)
{
    struct hub_catalog *catalog = api_kit_app()->catalog;
    measure(0, HUB_MEASURED_ALL, 5);
    measure(1, HUB_MEASURED_ALL, 5);
    measure(2, HUB_MEASURED_NOTHING, 0);
    const uint64_t before = hub_measures_generation(catalog);
    const int64_t first_ms =
        hub_measures_fail(catalog, "links-v0", row_of(2), HUB_MEASURED_FIELDS, "Input/output error");
    cr_expect_gt(first_ms, 0);
    cr_expect_eq(hub_measures_fail(catalog, "links-v0", row_of(2), HUB_MEASURED_FIELDS, "Input/output error"),
                 2 * first_ms);
    cr_expect_gt(hub_measures_generation(catalog), before, "who waits looks again");
    cr_expect_eq(hub_measures_failed(catalog, row_of(2)), HUB_MEASURED_FIELDS);
    cr_expect(hub_measures_rests(catalog, row_of(2), HUB_MEASURED_ALL));
    cr_expect_not(hub_measures_rests(catalog, row_of(2), HUB_MEASURED_REWARDS), "these did not fail");
    hub_measures_succeed(catalog, row_of(2), HUB_MEASURED_REWARDS);
    struct hub_coverage c = coverage(HUB_MEASURED_ALL);
    cr_expect(c.complete && c.parts == 2 && c.failed == 1);
    c = coverage(HUB_MEASURED_REWARDS);
    cr_expect(!c.complete && c.parts == 2 && c.failed == 0, "its rewards are still to be measured");
    measure(2, HUB_MEASURED_REWARDS, 0);
    c = coverage(HUB_MEASURED_REWARDS);
    cr_expect(c.complete && c.parts == 3 && c.failed == 0);
    measure(0, HUB_MEASURED_ALL, 6);
    c = coverage(HUB_MEASURED_ALL);
    cr_expect(!c.complete && c.parts == 1 && c.failed == 1, "another one is measured again");
    hub_measures_succeed(catalog, row_of(2), HUB_MEASURED_FIELDS);
    c = coverage(HUB_MEASURED_ALL);
    cr_expect(!c.complete && c.failed == 0);
}

static void publish_many(uint32_t episodes)
{
    static const struct draft_field field = {"actions", HUB_FIELD_NUMBER, 0};
    const struct hub_dataset_file file = draft_file("data.hdf5", 4 * (uint64_t)episodes);
    struct hub_findings *found = draft_findings(&field, 1, 0, 0, episodes, 1);
    const struct hub_draft_part part = {.name = "data.hdf5", .signature = 1, .found = found};
    const struct hub_draft draft = {.id = "many-v0",
                                    .path = "many-v0",
                                    .format = "minari-hdf5",
                                    .status = HUB_DATASET_READY,
                                    .files = &file,
                                    .file_count = 1,
                                    .parts = &part,
                                    .part_count = 1,
                                    .revision = "0123456789012345678901234567890123456789"};
    DRAFT_OK(hub_catalog_publish(api_kit_app()->catalog, &draft, err));
    DRAFT_OK(hub_catalog_flush(api_kit_app()->catalog, err));
    draft_findings_free(found);
}

/* Whether files state what is not measured is looked up an episode at a time. */
Test(coverage, a_look_at_all_episodes_is_priced)
{
    HUB_CLEANUP(hub_where_freep) struct hub_where *where = NULL;
    struct hub_request request = {0};
    struct hub_response response;
    struct hub_property jerk;
    struct hub_target target = {0};
    struct hub_coverage c;
    struct hub_error err = {0};
    publish_many(110000);
    hub_response_init(&response);
    DRAFT_OK(hub_property_parse(HUB_VIEW("jerk"), &where, &jerk, err));
    target.summary = hub_snapshot_find(snapshot_now(api_kit_app()->catalog), HUB_VIEW("many-v0"));
    DRAFT_OK(hub_state_open(api_kit_app()->catalog, target.summary, &target.state, err));
    DRAFT_OK(hub_request_init(&request, HUB_GET, "/api/v1/datasets/many-v0/episodes?columns=jerk", err));
    request.app = api_kit_app();
    request.may_block = true;
    cr_expect_eq(hub_coverage_require(&request, &response, &target, &jerk, 1, &c, &err), HUB_AGAIN);
    cr_expect_eq(request.wait.on, HUB_WAIT_HEAVY);
    request.heavy = true;
    cr_expect_eq(hub_coverage_require(&request, &response, &target, &jerk, 1, &c, &err), HUB_UNSUPPORTED);
    cr_expect_eq(err.problem, HUB_PROBLEM_NOT_MEASURED);
    hub_state_close(&target.state);
    hub_response_dispose(&response);
    hub_request_end(&request);
    hub_request_dispose(&request);
}
