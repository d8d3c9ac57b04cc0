/* Measures of parts: written together, read as columns, gone with their part. */
#include "tests/support/catalog_draft.h"

#include "storage/episodes/column_cursor.h"
#include "storage/episodes/measures.h"
#include "storage/io/fs.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>

static char *state;
static struct hub_catalog *catalog;

static void set_up(void)
{
    state = draft_state();
    const struct hub_catalog_options options = {.state = state, .cache_bytes = MIB};
    DRAFT_OK(hub_catalog_open(&options, &catalog, err));
}

static void tear_down(void)
{
    hub_catalog_close(catalog);
    DRAFT_OK(hub_fs_remove(AT_FDCWD, state, err));
    free(state);
}

TestSuite(measures, .init = set_up, .fini = tear_down);

static void publish_of(uint64_t signature, uint32_t episodes)
{
    static const struct hub_dataset_file file = {"data.hdf5", {.size = 1000000, .mtime_ns = 1, .tag = 1}};
    static const struct draft_field field = {"rewards", HUB_FIELD_NUMBER, 0};
    struct hub_findings *found = draft_findings(&field, 1, 0, 0, episodes, 10);
    const struct hub_draft_part part = {.name = "data.hdf5", .signature = signature, .found = found};
    const struct hub_draft draft = {.id = "a-v0",
                                    .path = "a-v0",
                                    .format = "minari-hdf5",
                                    .status = HUB_DATASET_READY,
                                    .files = &file,
                                    .file_count = 1,
                                    .parts = &part,
                                    .part_count = 1,
                                    .revision = "0123456789012345678901234567890123456789"};
    DRAFT_OK(hub_catalog_publish(catalog, &draft, err));
    DRAFT_OK(hub_catalog_flush(catalog, err));
    draft_findings_free(found);
}

static void publish(uint64_t signature)
{
    publish_of(signature, 3);
}

static struct hub_state now(void)
{
    struct hub_state out;
    DRAFT_OK(hub_state_open(catalog, hub_snapshot_find(snapshot_now(catalog), HUB_VIEW("a-v0")), &out, err));
    return out;
}

static int64_t part_row(void)
{
    HUB_CLEANUP(hub_state_close) struct hub_state s = now();
    return s.dataset->parts[0].row;
}

/* A run of a column, of doubles where NaN is no value; of wide integers where `wide`. */
static struct hub_column_run run_of(const double *values, const int64_t *wide, uint32_t count)
{
    struct hub_column_run run;
    DRAFT_OK(hub_column_run_begin(&run, 1, err));
    for (uint32_t i = 0; i < count; i++) {
        const struct hub_value value =
            wide ? (struct hub_value){.kind = HUB_VALUE_INT, .number = wide[i]} : hub_value_real(values[i]);
        DRAFT_OK(hub_column_run_add(&run, &value, wide ? wide[i] != 7 : !isnan(values[i]), err));
    }
    DRAFT_OK(hub_column_run_end(&run, err));
    return run;
}

static enum hub_status store(int64_t part, const double values[3], enum hub_measured how_far)
{
    HUB_CLEANUP(hub_column_run_dispose) struct hub_column_run jerk = run_of(values, NULL, 3);
    HUB_CLEANUP(hub_column_run_dispose)
    struct hub_column_run wide = run_of(NULL, (int64_t[]){-5, INT64_C(1) << 62, 7}, 3);
    const struct hub_measure_blob blobs[] = {{"0.jerk", hub_buf_view(&jerk.cells)},
                                             {"0.min:wide", hub_buf_view(&wide.cells)}};
    const struct hub_measured_state to = {.how_far = how_far, .ranges = 5};
    return hub_measures_write(catalog, part, &to, blobs, 2, NULL, NULL);
}

static bool value_of(const char *word, const char *of, uint32_t episode, struct hub_value *out)
{
    HUB_CLEANUP(hub_state_close) struct hub_state s = now();
    HUB_CLEANUP(hub_column_cursor_reset) struct hub_column_cursor cursor = {0};
    const struct hub_column_id id = {&s, word, hub_view_of(of), 0};
    bool found = false;
    DRAFT_OK(hub_column_measured(&cursor, &id, episode, out, &found, err));
    return found;
}

Test(measures, columns)
{
    struct hub_value v = {0};
    publish(1);
    cr_assert(!value_of("jerk", "", 0, &v), "nothing is measured yet");
    cr_assert_eq(store(part_row(), (double[]){1.5, NAN, INFINITY}, HUB_MEASURED_FIELDS), HUB_OK);
    cr_assert(value_of("jerk", "", 0, &v) && v.kind == HUB_VALUE_REAL && v.real == 1.5);
    cr_assert(!value_of("jerk", "", 1, &v), "NaN is no value");
    cr_assert(value_of("jerk", "", 2, &v) && v.real == INFINITY);
    cr_assert(value_of("min", "wide", 0, &v) && v.kind == HUB_VALUE_INT && v.number == -5);
    cr_assert(value_of("min", "wide", 1, &v) && v.number == INT64_C(1) << 62);
    cr_assert(!value_of("min", "wide", 2, &v) && !value_of("max", "wide", 0, &v));
    cr_assert_eq(store(part_row(), (double[]){2.5, 0, 0}, HUB_MEASURED_ALL), HUB_OK);
    cr_assert(value_of("jerk", "", 0, &v) && v.real == 2.5,
              "what was kept in memory is not what is there now");
}

Test(measures, columns_of_several_runs)
{
    enum { MANY = 2 * HUB_COLUMN_RUN + 2, RUNS = 3 };
    HUB_CLEANUP(hub_column_cursor_reset) struct hub_column_cursor cursor = {0};
    static double values[MANY];
    struct hub_column_run runs[RUNS];
    struct hub_measure_blob blobs[RUNS];
    struct hub_value v = {0};
    publish_of(1, MANY);
    for (uint32_t i = 0; i < MANY; i++)
        values[i] = i % 7 ? i : NAN;
    for (uint32_t r = 0; r < RUNS; r++) {
        const uint32_t first = r * HUB_COLUMN_RUN;
        runs[r] = run_of(values + first, NULL, HUB_MIN(MANY - first, (uint32_t)HUB_COLUMN_RUN));
        blobs[r] = (struct hub_measure_blob){(const char *[]){"0.jerk", "1.jerk", "2.jerk"}[r],
                                             hub_buf_view(&runs[r].cells)};
    }
    const struct hub_measured_state to = {.how_far = HUB_MEASURED_ALL};
    DRAFT_OK(hub_measures_write(catalog, part_row(), &to, blobs, RUNS, NULL, err));
    for (uint32_t r = 0; r < RUNS; r++)
        hub_column_run_dispose(&runs[r]);
    HUB_CLEANUP(hub_state_close) struct hub_state s = now();
    const struct hub_column_id id = {.state = &s, .word = "jerk"};
    for (uint32_t i = 0; i < MANY; i++) {
        bool found = false;
        DRAFT_OK(hub_column_measured(&cursor, &id, i, &v, &found, err));
        cr_assert(found == (i % 7 != 0) && (!found || v.real == i));
    }
    cr_expect_eq(cursor.moves, RUNS);
}

Test(measures, how_far)
{
    HUB_CLEANUP(hub_freep) int64_t *rows = NULL, *none = NULL;
    HUB_CLEANUP(hub_freep) struct hub_measured_state *states = NULL;
    uint32_t count = 0;
    uint64_t parts = 0, done = 0;
    publish(1);
    DRAFT_OK(hub_measures_due(catalog, HUB_MEASURED_ALL, &rows, &count, err));
    cr_assert_eq(count, 1);
    cr_assert_eq(store(part_row(), (double[]){1, 2, 3}, HUB_MEASURED_ALL), HUB_OK);
    DRAFT_OK(hub_measures_due(catalog, HUB_MEASURED_ALL, &none, &count, err));
    cr_assert_eq(count, 0);
    DRAFT_OK(hub_measures_count(catalog, HUB_MEASURED_ALL, &parts, &done, err));
    cr_assert(parts == 1 && done == 1);
    HUB_CLEANUP(hub_state_close) struct hub_state s = now();
    DRAFT_OK(hub_measures_states(&s, &states, err));
    cr_assert(states[0].how_far == HUB_MEASURED_ALL && states[0].ranges == 5 && states[0].stamp);
    cr_assert(hub_catalog_has_part(catalog, 0, "a-v0", "data.hdf5", 1), "it is as whole as before");
}

static void store_problems(uint32_t count)
{
    struct hub_found_problem problems[] = {{"rows-unreadable", "x", "all of them"}, {"odd", "y", "some"}};
    const struct hub_findings found = {.problems = problems, .problem_count = count};
    const struct hub_measured_state to = {.how_far = HUB_MEASURED_FIELDS, .lost = {count, 10 * count}};
    DRAFT_OK(hub_measures_write(catalog, part_row(), &to, NULL, 0, &found, err));
}

static void check_problems(uint32_t count, uint32_t costly)
{
    const struct hub_summary *summary = hub_snapshot_find(snapshot_now(catalog), HUB_VIEW("a-v0"));
    cr_expect(summary->problems == count && summary->costly == costly, "%u, %u", summary->problems,
              summary->costly);
}

static void check_lost(uint32_t episodes, uint64_t steps)
{
    HUB_CLEANUP(hub_freep) struct hub_measured_state *states = NULL;
    HUB_CLEANUP(hub_state_close) struct hub_state s = now();
    DRAFT_OK(hub_measures_states(&s, &states, err));
    cr_expect(states[0].lost.episodes == episodes && states[0].lost.steps == steps);
    cr_expect(!states[0].rewards_lost.episodes);
}

Test(measures, problems_are_problems_of_the_dataset)
{
    publish(1);
    check_problems(0, 0);
    store_problems(2);
    check_problems(2, 1); /* one of them costs rows */
    cr_assert_eq(store(part_row(), (double[]){1, 2, 3}, HUB_MEASURED_ALL), HUB_OK);
    check_problems(2, 1); /* a later pass keeps them */
    store_problems(1);
    check_problems(1, 1);
    check_lost(1, 10);
    store_problems(0);
    check_problems(0, 0);
    store_problems(2);
    publish(2); /* they go with their part */
    check_problems(0, 0);
}

Test(measures, go_with_their_part)
{
    struct hub_value v;
    publish(1);
    const int64_t before = part_row();
    cr_assert_eq(store(before, (double[]){1, 2, 3}, HUB_MEASURED_ALL), HUB_OK);
    publish(1);
    cr_assert(part_row() != before || value_of("jerk", "", 0, &v), "a part that is kept keeps its measures");
    publish(2);
    cr_assert(part_row() != before && !value_of("jerk", "", 0, &v));
    cr_assert_eq(store(before, (double[]){1, 2, 3}, HUB_MEASURED_ALL), HUB_NOT_FOUND,
                 "what was measured of a part that is gone is kept nowhere");
}
