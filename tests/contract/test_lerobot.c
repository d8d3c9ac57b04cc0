/* The lerobot driver over tests/fixtures/lerobot: what each set is said to hold. Its rows are compared in
 * test_rows.c. */
#include "storage/text/json.h"
#include "tests/support/contract.h"

struct set_case {
    char name[24];
    enum hub_status plan;
    uint32_t episodes, fields, media, missing; /* missing: videos of cameras that the set has */
    char problems[200];
};

ParameterizedTestParameters(lerobot, sets)
{
    static struct set_case cases[] = {
        {"arm-v21", HUB_OK, 4, 13, 8, 0, ""},
        {"camera-v21", HUB_OK, 3, 8, 0, 0, ""},
        {"arm-v20", HUB_OK, 4, 13, 0, 0, ""},
        {"arm-spec-spelling", HUB_OK, 4, 13, 0, 0, "other-spelling"},
        {"arm-claims", HUB_OK, 4, 13, 0, 8,
         "missing-file bad-split bad-json-line length-mismatch missing-column"},
        {"parquet-variants", HUB_OK, 19, 15, 0, 0, "unreadable-in-episodes nulls"},
        {"parquet-damaged", HUB_OK, 1, 15, 0, 0, "unreadable-episode not-fetched"},
        {"arm-v30", HUB_OK, 5, 12, 10, 0, ""},
        {"many-v30", HUB_OK, 7, 7, 14, 0, ""},
        {"camera-v30", HUB_OK, 3, 9, 0, 0, ""},
        {"language-v30", HUB_OK, 3, 9, 0, 0, ""},
        {"groot-v21", HUB_OK, 4, 11, 0, 0, ""},
        {"pandas-v30", HUB_OK, 5, 13, 10, 0, ""},
        {"unfinished-v30", HUB_OK, 5, 7, 0, 10, "not-finalized not-loadable bad-split missing-video"},
        {"moved-v30", HUB_OK, 5, 12, 9, 1,
         "task-order missing-file length-mismatch wrong-data-file wrong-rows other-path video-span "
         "video-not-placed missing-video"},
        {"scattered-v30", HUB_OK, 5, 12, 0, 10, "rows-not-contiguous index-mismatch unknown-task wrong-rows"},
        {"labelled-v21", HUB_OK, 7, 7, 0, 14, "not-loadable bad-template"},
        {"rules-v21", HUB_OK, 4, 13, 7, 2,
         "json-array backslash-path bad-template no-first-chunk bad-file-name unpadded-name wrong-chunk "
         "camera-folder video-without-feature unknown-task missing-video"},
        {"bare-v21", HUB_OK, 3, 8, 0, 0, "no-chunks-size bad-template"},
        {"neighbour-v40", HUB_UNSUPPORTED, 0, 0, 0, 0, ""},
        {"neighbour-v16", HUB_UNSUPPORTED, 0, 0, 0, 0, ""},
    };
    return cr_make_param_array(struct set_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct set_case *c, lerobot, sets)
{
    HUB_CLEANUP(inspected_close) struct inspected d;
    struct hub_error err;
    const enum hub_status st = contract_try(&d, &err, "lerobot/%s", c->name);
    cr_assert_eq(st, c->plan, "%s: %s", c->name, err.detail);
    cr_assert_str_eq(d.format, "lerobot");
    contract_check_problems(&d, c->problems);
    if (st)
        return;
    cr_assert_eq(d.plan.part_count, 1);
    const struct hub_findings *part = contract_part(&d, 0, c->episodes, c->fields);
    uint32_t missing = 0;
    for (uint32_t i = 0; i < part->media_count; i++)
        missing +=
            part->media[i].file == HUB_NONE && strcmp(part->media[i].problem, "its video is missing") == 0;
    cr_assert_eq(missing, c->missing);
    cr_assert_eq(part->media_count - missing, c->media);
}

Test(lerobot, an_episode_as_the_metadata_has_it)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("lerobot", "lerobot/arm-v21");
    const struct hub_found_episode *e = &d.parts[0].episodes[1];
    cr_assert_eq(e->number, 1);
    cr_assert_str_eq(e->name, "episode_000001");
    cr_assert_eq(e->steps, 8);
    cr_assert(e->has_return && e->return_computed);
    cr_assert_float_eq(e->episode_return, 7.0, 1e-9);
    cr_assert_str_eq(e->task, "open the door 扉");
    cr_assert_str_eq(e->splits, "[\"train\"]");
    contract_check_says(&d, e->attributes, "pick up the");
    contract_check_says(&d, e->statistics, "\"next.reward\":{\"min\":");
    const struct hub_found_media *m = &d.parts[0].media[3];
    cr_assert_eq(m->episode, 1);
    cr_assert_str_eq(m->camera, "observation.images.wrist");
    cr_assert_str_eq(m->codec, "av01.0.00M.08"); /* av1, as info.json has it */
    cr_assert(m->fps_num == 10 && m->fps_den == 1);
    contract_check_says(&d, d.files[m->file].path, "wrist/episode_000001.mp4");
}

Test(lerobot, what_robocasa_says_of_an_episode)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("lerobot", "lerobot/groot-v21");
    const struct hub_found_episode *episodes = d.parts[0].episodes;
    contract_check_says(&d, episodes[1].attributes,
                        "\"ep_meta\":{\"lang\":\"open the left door of kitchen 1\"");
    cr_expect_str_eq(episodes[1].task, "open the door 扉", "LeRobot's own task counts");
    cr_expect(!episodes[2].attributes || !strstr(episodes[2].attributes, "ep_meta"), "it is cut short");
}

/* Five episodes share every file: the rows and frames of each are a window. */
Test(lerobot, an_episode_of_a_shared_file)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("lerobot", "lerobot/arm-v30");
    const struct hub_found_episode *e = &d.parts[0].episodes[1];
    cr_expect_eq(e->number, 1);
    cr_expect_eq(e->steps, 8);
    cr_expect_float_eq(e->episode_return, 7.0, 1e-9);
    cr_expect_str_eq(e->task, "open the door 扉");
    cr_expect_str_eq(e->splits, "[\"train\"]");
    contract_check_says(&d, e->attributes, "pick up the");
    cr_expect_null(strstr(e->attributes, "chunk_index"));
    contract_check_says(&d, e->statistics, "\"next.reward\":{\"min\":0");
    contract_check_says(&d, e->statistics, "\"q01\":[");
    const struct hub_layout layout = contract_layout(&d, "action");
    cr_expect_eq(layout.counts[HUB_T_ARRAYS], 1);
    cr_expect_eq(hub_layout_window(&layout, 1)->first, 5);
    const struct hub_found_media *m = &d.parts[0].media[3];
    cr_expect_eq(m->episode, 1);
    cr_expect_str_eq(m->camera, "observation.images.wrist");
    cr_expect_eq(m->first_frame, 5);
    cr_expect_eq(m->frames, 8);
    cr_expect_float_eq(m->from, 0.5, 1e-9);
    cr_expect_float_eq(m->to, 1.3, 1e-9);
}

Test(lerobot, cameras_begin_new_files_at_other_episodes)
{
    static const char *const wrist[] = {"chunk-000/file-000", "chunk-000/file-001", "chunk-001/file-000"};
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("lerobot", "lerobot/many-v30");
    for (unsigned e = 0; e < HUB_COUNT(wrist); e++) {
        const struct hub_found_media *top = &d.parts[0].media[2 * e], *m = top + 1;
        cr_expect_str_eq(d.files[top->file].path, "videos/observation.images.top/chunk-000/file-000.mp4");
        contract_check_says(&d, d.files[m->file].path, wrist[e]);
        cr_expect_eq(m->first_frame, 0);
    }
    cr_expect_eq(d.parts[0].media[4].first_frame, 10);
    cr_expect_eq(d.parts[0].media[4].frames, 5);
}

struct fact_case {
    char set[40], key[16], says[100];
};

ParameterizedTestParameters(lerobot, facts)
{
    static struct fact_case cases[] = {
        {"arm-v30", "era", "v3.0"},
        {"arm-v30", "fps", "10"},
        {"arm-v30", "robot_type", "\"so100\""},
        {"arm-v30", "tasks", "[{\"index\":0,\"task\":\"open the door 扉\"},{\"index\":1,"},
        {"arm-v30", "dimensions",
         "\"action\":{\"names\":[\"shoulder\",\"elbow\",\"wrist\",\"grip\"],\"min\":["},
        {"arm-v30", "cameras", "\"width\":64,\"height\":48,\"fps\":10.0,\"codec\":\"av1\""},
        {"camera-v30", "cameras", "\"depth\":{\"unit\":\"mm\"}"},
        {"camera-v21", "cameras", "\"type\":\"image\",\"width\":16,\"height\":16"},
        {"arm-v21", "era", "v2.1"},
        {"pandas-v30", "subtasks", "[{\"index\":0,\"subtask\":\"reach\"},"},
        {"pandas-v30", "tasks", "[{\"index\":0,\"task\":\"open the door 扉\"},"},
        {"pandas-v30", "card",
         "\"license\":\"apache-2.0\",\"pretty_name\":\"Two doors\",\"tags\":[\"LeRobot\",\"so100\"]"},
        {"pandas-v30", "description", "An arm opens two doors."},
        {"moved-v30", "tasks", "[{\"index\":0,\"task\":\"open the door 扉\"},"},
        {"arm-v20", "dimensions", "\"action\":{\"names\":[\"shoulder\","},
        {"groot-v21", "dimensions", "\"names\":[\"arm.0\",\"arm.1\",\"arm.2\",\"gripper.0\"],"},
        {"groot-v21", "dimensions", "\"grip\"],\"groups\":[{\"name\":\"arm\",\"start\":0,\"end\":3},"},
        {"../lerobot-broken/written-statistics", "statistics", "{\"total_frames\":17,\"episode_lengths\":{"},
        {"arm-spec-spelling", "tasks", "\"description\":\"open the door 扉\""},
    };
    return cr_make_param_array(struct fact_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct fact_case *c, lerobot, facts)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("lerobot", "lerobot/%s", c->set);
    contract_check_says(&d, inspected_fact(&d, c->key), c->says);
}

ParameterizedTestParameters(lerobot, fields)
{
    static struct contract_field_case cases[] = {
        {"arm-v21", "observation.state", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION, HUB_AXIS_STEP, "float32 4"},
        {"arm-v21", "observation.grid", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION, HUB_AXIS_STEP, "float32 2x3"},
        {"arm-v21", "action", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_AXIS_STEP, "float32 4"},
        {"arm-v21", "next.done", HUB_FIELD_BOOL, HUB_ROLE_DONE, HUB_AXIS_STEP, "bool"},
        {"arm-v21", "next.reward", HUB_FIELD_NUMBER, HUB_ROLE_REWARD, HUB_AXIS_STEP, "float32"},
        {"arm-v21", "note", HUB_FIELD_TEXT, HUB_ROLE_OTHER, HUB_AXIS_STEP, "var text"},
        {"camera-v21", "observation.image", HUB_FIELD_IMAGE_PNG, HUB_ROLE_OBSERVATION, HUB_AXIS_STEP,
         "var bytes"},
        {"parquet-variants", "flags", HUB_FIELD_BOOL, HUB_ROLE_OTHER, HUB_AXIS_STEP, "bool 2"},
        {"parquet-variants", "small", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_AXIS_STEP, "int8"},
        {"parquet-variants", "word", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_AXIS_STEP, "uint16"},
        {"parquet-variants", "half", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_AXIS_STEP, "float16"},
    };
    return cr_make_param_array(struct contract_field_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct contract_field_case *c, lerobot, fields)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("lerobot", "lerobot/%s", c->set);
    contract_check_field(&d, c);
}

/* Every way of writing, read back through the layout alone: frame_index counts from 0. compare_pyarrow.py
 * looks at all columns. */
Test(lerobot, rows)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("lerobot", "lerobot/parquet-variants");
    cr_assert_eq(d.parts[0].episode_count, 19);
    for (uint32_t e = 0; e < d.parts[0].episode_count; e++) {
        HUB_CLEANUP(hub_rows_dispose) struct hub_rows rows = contract_read(&d, "frame_index", e);
        cr_assert_eq(rows.rows, d.parts[0].episodes[e].steps, "episode %u", e);
        cr_assert(rows.variant.kind == HUB_KIND_INT && rows.variant.item_size == 8 && rows.variant.rank == 0);
        contract_check_counting(&d, "frame_index", &rows);
    }
}

/* Its writer had no values to guess a type from. */
Test(lerobot, an_episode_without_rows_lacks_no_field)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("lerobot", "lerobot/parquet-variants");
    for (uint32_t i = 0; i < d.parts[0].field_count; i++) {
        const char *path = d.parts[0].fields[i].path;
        const struct hub_layout layout = contract_layout(&d, path);
        const struct hub_window *w = hub_layout_window(&layout, 18);
        cr_assert_not_null(w, "%s", path);
        cr_expect_eq(w->count, 0);
        cr_expect_null(hub_layout_refusal(&layout, w), "%s", path);
    }
}

/* ---- what --strict tells ---- */

/* Codes of problems, and of what makes the whole broken, each once: " no-chunks-size other-path ". */
static void codes_of(json_t *dataset, char *out, size_t size)
{
    json_t *problems = json_object_get(dataset, "problems");
    snprintf(out, size, " ");
    for (size_t i = 0; i <= json_array_size(problems); i++) {
        char code[80];
        const char *text = i < json_array_size(problems)
                               ? json_string_value(json_object_get(json_array_get(problems, i), "code"))
                               : json_string_value(json_object_get(dataset, "problem"));
        snprintf(code, sizeof code, " %s ", text ? text : "");
        if (text && !strstr(out, code))
            snprintf(out + strlen(out), size - strlen(out), "%s ", text);
    }
}

static int inspect_strictly(const char *name, char *codes, size_t size)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(4 * MIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    char command[1000];
    snprintf(command, sizeof command, HUB_INSPECT " --json --strict " HUB_FIXTURES "/lerobot-broken/%s",
             name);
    FILE *f = popen(command, "r");
    cr_assert_not_null(f);
    for (size_t got = 1; got; out.size += got) {
        cr_assert_eq(hub_buf_reserve(&out, 64 * KIB, NULL), HUB_OK);
        got = fread(out.data + out.size, 1, 64 * KIB, f);
    }
    const int status = pclose(f);
    cr_assert_eq(hub_json_parse(hub_buf_view(&out), out.size, &document, NULL), HUB_OK, "%s", name);
    codes_of(json_array_get(json_object_get(document, "datasets"), 0), codes, size);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* One set, the codes it is to have and no other ("-": none), what is written or was found. */
static void check_fault(char *line)
{
    char codes[600], *rest, *name = strtok_r(line, "\t", &rest), *wanted = strtok_r(NULL, "\t", &rest);
    char *words;
    const bool none = strcmp(wanted, "-") == 0;
    size_t length = 1;
    cr_expect_eq(inspect_strictly(name, codes, sizeof codes), !none, "%s: %s", name, codes);
    for (char *code = none ? NULL : strtok_r(wanted, " ", &words); code; code = strtok_r(NULL, " ", &words)) {
        char word[80];
        snprintf(word, sizeof word, " %s ", code);
        cr_expect_not_null(strstr(codes, word), "%s lacks %s:%s", name, code, codes);
        length += strlen(code) + 1;
    }
    cr_expect_eq(strlen(codes), length, "%s:%s", name, codes);
}

Test(lerobot, each_fault_has_its_code)
{
    char line[600];
    unsigned seen = 0;
    FILE *f = fopen(HUB_FIXTURES "/lerobot-broken/TABLE", "r");
    cr_assert_not_null(f);
    for (; fgets(line, sizeof line, f); seen++)
        check_fault(line);
    fclose(f);
    cr_expect_gt(seen, 70);
}
