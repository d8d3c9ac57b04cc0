/* storage/program/cli_json.c: reports and the members of their lists as JSON. */
#include "storage/program/cli.h"

#include <criterion/criterion.h>

static struct hub_buf out;

static void begin(void)
{
    out = HUB_BUF_INIT(64 * KIB);
}

static void end(void)
{
    hub_buf_dispose(&out);
}

TestSuite(cli_json, .init = begin, .fini = end);

Test(cli_json, an_episode)
{
    const struct hub_found_episode e = {.name = "demo_7",
                                        .steps = 50,
                                        .seed = "42",
                                        .has_return = true,
                                        .episode_return = 1.5,
                                        .return_computed = true,
                                        .success = 1,
                                        .terminated = 0,
                                        .truncated = -1,
                                        .attributes = "{\"a\":[1]}"};
    cr_assert_eq(hub_report_json_episode(&out, &e, 7, "data.h5", NULL), HUB_OK);
    cr_expect_str_eq(
        out.data,
        "{\"number\":7,\"name\":\"demo_7\",\"file\":\"data.h5\",\"steps\":50,\"seed\":\"42\",\"return\":1.5,"
        "\"return_computed\":true,\"success\":true,\"terminated\":false,\"attributes\":{\"a\":[1]}}");
}

Test(cli_json, what_is_unknown_of_an_episode_is_left_out)
{
    const struct hub_found_episode e = {.success = -1, .terminated = -1, .truncated = -1};
    cr_assert_eq(hub_report_json_episode(&out, &e, 0, "x", NULL), HUB_OK);
    cr_expect_str_eq(out.data, "{\"number\":0,\"file\":\"x\",\"steps\":0}");
}

Test(cli_json, problems)
{
    const struct hub_found_problem about = {"bad-name", "a\"b", "line\nbreak"}, whole = {"late", "", "x"};
    cr_assert_eq(hub_report_json_problem(&out, &about, NULL), HUB_OK);
    cr_expect_str_eq(out.data, "{\"code\":\"bad-name\",\"path\":\"a\\\"b\",\"detail\":\"line\\nbreak\"}");
    out.size = 0;
    cr_assert_eq(hub_report_json_problem(&out, &whole, NULL), HUB_OK);
    cr_expect_str_eq(out.data, "{\"code\":\"late\",\"detail\":\"x\"}", "it is about the whole");
}

/* ---- the document ---- */

static json_t *document(const struct hub_report *report)
{
    struct hub_error err = {0};
    cr_assert_eq(hub_report_json(report, &out, &err), HUB_OK, "%s", err.detail);
    json_t *parsed = json_loads(out.data, 0, NULL);
    cr_assert_not_null(parsed, "%s", out.data);
    return parsed;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

Test(cli_json, a_dataset)
{
    struct hub_found_fact facts[] = {{"stated_version", "0.5.3"},
                                     {"description", "says \"hello\""},
                                     {"authors", "[\"A\"]"},
                                     {"claimed_episodes", "3"},
                                     {"observation_space_place", "0 0 1 1 0"}};
    struct hub_report_field fields[] = {
        {.path = "images",
         .type = HUB_FIELD_NUMBER,
         .axis = HUB_AXIS_STATE,
         .variant = {.kind = HUB_KIND_UINT, .item_size = 1, .rank = 3, .dims = {64, 64, 3}},
         .variants = 2,
         .varies = 2,
         .layout_bytes = 80,
         .stored = 9,
         .pieces = {[HUB_PIECE_STRIDED] = 2}},
        {.path = "infos/x", .type = HUB_FIELD_TEXT, .unreadable = "filter"},
    };
    struct hub_job_file names[] = {{.path = "data.h5", .size = 4096}};
    struct hub_report report = {.path = "sets/pen-v1",
                                .id = "pen-v1",
                                .format = "minari-hdf5",
                                .status = "ready",
                                .refused = "it needs 0.6",
                                .episodes = 2,
                                .steps = 100,
                                .plan = {.facts = facts, .fact_count = HUB_COUNT(facts)},
                                .fields = fields,
                                .field_count = HUB_COUNT(fields),
                                .tree = {.files = names, .set.count = 1, .bytes = 4096}};
    HUB_CLEANUP(hub_json_decrefp) json_t *json = document(&report);
    cr_expect_str_eq(text_of(json, "name"), "pen-v1");
    cr_expect_str_eq(text_of(json, "minari_version"), "0.5.3", "as the REST API calls it");
    cr_expect_str_eq(text_of(json, "description"), "says \"hello\"");
    cr_expect_eq(json_array_size(json_object_get(json, "authors")), 1);
    cr_expect_eq(json_integer_value(json_object_get(json, "claimed_episodes")), 3);
    cr_expect_null(json_object_get(json, "observation_space_place"), "of the hub's own use");
    cr_expect(json_is_false(json_object_get(json, "loadable")));
    cr_expect_null(json_object_get(json, "reason"));
    cr_expect_str_eq(text_of(json_array_get(json_object_get(json, "file_list"), 0), "path"), "data.h5");
    cr_expect_eq(json_array_size(json_object_get(json, "episode_list")), 0);
    const json_t *list = json_object_get(json, "fields"), *images = json_array_get(list, 0),
                 *infos = json_array_get(list, 1);
    cr_expect_str_eq(text_of(images, "dtype"), "uint8");
    HUB_CLEANUP(hub_freep) char *shape = json_dumps(json_object_get(images, "shape"), JSON_COMPACT);
    cr_expect_str_eq(shape, "[64,null,3]", "null where episodes differ");
    cr_expect_eq(json_integer_value(json_object_get(json_object_get(images, "layout"), "stored")), 9);
    cr_expect_str_eq(text_of(infos, "unreadable"), "filter");
    cr_expect_null(json_object_get(infos, "shape"));
    cr_expect_null(json_object_get(infos, "layout"));
}

Test(cli_json, plain_files_and_broken_sets)
{
    struct hub_report report = {.path = "x", .id = "x", .status = "files"};
    HUB_CLEANUP(hub_json_decrefp) json_t *files = document(&report);
    cr_expect_str_eq(text_of(files, "format"), "files");
    cr_expect_null(json_object_get(files, "reason"));
    out.size = 0;
    report.format = "lerobot";
    report.status = "broken";
    hub_fail_as(&report.why, HUB_CORRUPT, HUB_PROBLEM_BAD_METADATA, "meta/info.json is not JSON");
    HUB_CLEANUP(hub_json_decrefp) json_t *broken = document(&report);
    cr_expect_str_eq(text_of(broken, "reason"), "meta/info.json is not JSON");
    cr_expect_str_eq(text_of(broken, "problem"), "bad-metadata");
}
