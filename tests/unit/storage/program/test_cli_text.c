/* storage/program/cli_text.c: reports as people read them. */
#include "storage/program/cli.h"

#include <criterion/criterion.h>

/* ---- parts of a line ---- */

Test(cli_text, shapes)
{
    static const struct {
        uint32_t rank, dims[3], varies;
        const char *text;
    } cases[] = {
        {0, {0}, 0, "()"},
        {1, {28}, 0, "(28)"},
        {3, {64, 64, 3}, 0, "(64,64,3)"},
        {3, {64, 64, 3}, 1, "(*,64,3)"},
        {3, {64, 64, 3}, 5, "(*,64,*)"},
        {2, {64, 3}, UINT32_C(1) << 31, "(*,*)"}, /* more than a dimension differs */
        {1, {UINT32_MAX}, 0, "(4294967295)"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct hub_report_field field = {.varies = cases[i].varies};
        char out[96];
        field.variant.rank = (uint8_t)cases[i].rank;
        memcpy(field.variant.dims, cases[i].dims, sizeof cases[i].dims);
        hub_report_shape(&field, "(", "*", ")", out);
        cr_expect_str_eq(out, cases[i].text);
    }
}

Test(cli_text, a_shape_of_many_dimensions_fits)
{
    struct hub_report_field field = {.variant.rank = HUB_MAX_RANK};
    char out[96];
    for (unsigned d = 0; d < HUB_MAX_RANK; d++)
        field.variant.dims[d] = UINT32_MAX;
    hub_report_shape(&field, "[", "null", "]", out);
    cr_expect_lt(strlen(out), sizeof out);
}

Test(cli_text, types)
{
    struct hub_report_field field = {.type = HUB_FIELD_NUMBER,
                                     .variant = {.kind = HUB_KIND_FLOAT, .item_size = 8}};
    char out[24];
    hub_report_dtype(&field, out);
    cr_expect_str_eq(out, "float64");
    field.varies = 1;
    hub_report_dtype(&field, out);
    cr_expect_str_eq(out, "float64", "its shape alone differs");
    field.varies = UINT32_C(1) << 31;
    hub_report_dtype(&field, out);
    cr_expect_str_eq(out, "varies");
}

/* ---- reports ---- */

static struct hub_report report_of(const char *status, const char *format)
{
    return (struct hub_report){.path = "sets/pen-v1",
                               .id = "pen-v1",
                               .format = format,
                               .status = status,
                               .problem_text = HUB_BUF_INIT(4 * KIB)};
}

static void expect(const struct hub_report *report, const char *text)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(16 * KIB);
    cr_assert_eq(hub_report_text(report, &out, NULL), HUB_OK);
    cr_expect_str_eq(out.data, text, "%s", out.data);
}

Test(cli_text, sizes_are_in_units_of_1024)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0 B"},
        {1023, "1023 B"},
        {1024, "1.0 KiB"},
        {1536, "1.5 KiB"},
        {1048576, "1.0 MiB"},
        {UINT64_C(5) << 40, "5.0 TiB"},
        {UINT64_C(1) << 62, "4194304.0 TiB"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct hub_report report = report_of("files", NULL);
        char text[128];
        report.tree.bytes = cases[i].bytes;
        snprintf(text, sizeof text,
                 "sets/pen-v1\n  format       none (plain files)\n  files        0, %s\n\n", cases[i].text);
        expect(&report, text);
    }
}

Test(cli_text, a_dataset)
{
    struct hub_found_fact facts[] = {
        {"id", "D4RL/pen-v1"}, {"stated_version", "0.5.3"}, {"claimed_episodes", "3"}};
    struct hub_report_field fields[] = {
        {.path = "actions",
         .type = HUB_FIELD_NUMBER,
         .axis = HUB_AXIS_STEP,
         .variant = {.kind = HUB_KIND_FLOAT, .item_size = 4, .rank = 1, .dims = {24}},
         .variants = 1,
         .episodes = 2,
         .rows = 100,
         .stored = 9600},
        {.path = "infos/x", .type = HUB_FIELD_NUMBER, .unreadable = "filter 32001 (blosc)"},
    };
    struct hub_report report = report_of("ready", "minari-hdf5");
    report.plan.facts = facts;
    report.plan.fact_count = HUB_COUNT(facts);
    report.fields = fields;
    report.field_count = HUB_COUNT(fields);
    report.episodes = 2;
    report.steps = 100;
    report.problems = 1;
    cr_assert_eq(hub_buf_add_text(&report.problem_text, "  bad-name  x\n", NULL), HUB_OK);
    expect(&report,
           "sets/pen-v1\n"
           "  format       minari-hdf5\n"
           "  id           D4RL/pen-v1\n"
           "  minari       0.5.3\n"
           "  episodes     2 (the files state 3)\n"
           "  steps        100\n"
           "  files        0, 0 B\n"
           "  FIELD   TYPE        DTYPE     SHAPE          AXIS      EPISODES       ROWS      STORED\n"
           "  actions number      float32   (24)           step             2        100     9.4 KiB\n"
           "  infos/x number      unreadable: filter 32001 (blosc)\n"
           "  1 problem\n"
           "  bad-name  x\n\n");
    hub_buf_dispose(&report.problem_text);
}

Test(cli_text, what_is_broken_says_why)
{
    struct hub_report report = report_of("broken", "lerobot");
    strcpy(report.why.detail, "meta/info.json is not JSON");
    report.refused = "it needs 0.6";
    expect(&report, "sets/pen-v1\n"
                    "  format       lerobot\n"
                    "  status       broken: meta/info.json is not JSON\n"
                    "  not loadable it needs 0.6\n"
                    "  episodes     0\n"
                    "  steps        0\n"
                    "  files        0, 0 B\n\n");
}

Test(cli_text, names_do_not_steer_terminals)
{
    struct hub_report report = report_of("files", NULL);
    report.path = "a\x1b[2J\x7f\xc2\x9b"
                  "b\t\xc3\xa9";
    expect(&report, "a?[2J???b?\xc3\xa9\n  format       none (plain files)\n  files        0, 0 B\n\n");
}
