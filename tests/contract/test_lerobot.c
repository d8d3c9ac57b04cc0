/* The lerobot driver over tests/fixtures/lerobot: what each set is said to hold. Its rows are compared in
 * test_rows.c. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>

#include "storage/base/json.h"
#include "tests/support/rows.h"

static enum hub_status open_set(struct inspected *d, const char *name, struct hub_error *err)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/lerobot/%s", HUB_FIXTURES, name);
    return inspected_open(d, HUB_INSPECT, path, err);
}

struct set_case {
    char name[24];
    enum hub_status plan;
    uint32_t episodes, fields, media;
    char problems[12][24];
};

ParameterizedTestParameters(lerobot, sets)
{
    static struct set_case cases[] = {
        {"arm-v21", HUB_OK, 4, 13, 8, {""}},
        {"camera-v21", HUB_OK, 3, 8, 0, {""}},
        {"arm-v20", HUB_OK, 4, 13, 0, {""}},
        {"arm-spec-spelling", HUB_OK, 4, 13, 0, {"other-spelling"}},
        {"arm-claims",
         HUB_OK,
         4,
         13,
         0,
         {"missing-file", "bad-split", "bad-json-line", "length-mismatch", "missing-column"}},
        {"parquet-variants", HUB_OK, 19, 15, 0, {"unreadable-in-episodes", "nulls"}},
        {"parquet-damaged", HUB_OK, 1, 15, 0, {"unreadable-episode", "not-fetched"}},
        {"arm-v30", HUB_OK, 5, 12, 10, {""}},
        {"many-v30", HUB_OK, 7, 7, 14, {""}},
        {"camera-v30", HUB_OK, 3, 9, 0, {""}},
        {"language-v30", HUB_OK, 3, 9, 0, {""}},
        {"groot-v21", HUB_OK, 4, 11, 0, {""}},
        {"pandas-v30", HUB_OK, 5, 13, 10, {""}},
        {"unfinished-v30", HUB_OK, 5, 7, 0, {"not-finalized", "not-loadable", "bad-split", "missing-video"}},
        {"moved-v30",
         HUB_OK,
         5,
         12,
         9,
         {"task-order", "missing-file", "length-mismatch", "wrong-data-file", "wrong-rows", "other-path",
          "video-span", "video-not-placed", "missing-video"}},
        {"scattered-v30",
         HUB_OK,
         5,
         12,
         0,
         {"rows-not-contiguous", "index-mismatch", "unknown-task", "wrong-rows"}},
        {"labelled-v21", HUB_OK, 7, 7, 0, {"not-loadable", "bad-template"}},
        {"rules-v21",
         HUB_OK,
         4,
         13,
         7,
         {"json-array", "backslash-path", "bad-template", "no-first-chunk", "bad-file-name", "unpadded-name",
          "wrong-chunk", "camera-folder", "video-without-feature", "unknown-task", "missing-video"}},
        {"bare-v21", HUB_OK, 3, 8, 0, {"no-chunks-size", "bad-template"}},
        {"neighbour-v40", HUB_UNSUPPORTED, 0, 0, 0, {""}},
        {"neighbour-v16", HUB_UNSUPPORTED, 0, 0, 0, {""}},
    };
    return cr_make_param_array(struct set_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct set_case *c, lerobot, sets)
{
    struct inspected d;
    struct hub_error err = {0};
    const enum hub_status st = open_set(&d, c->name, &err);
    cr_assert_eq(st, c->plan, "%s: %s", c->name, err.detail);
    cr_assert_str_eq(d.format, "lerobot");
    if (!st) {
        cr_assert_eq(d.plan.part_count, 1);
        cr_assert_eq(d.part_status[0], HUB_OK, "%s: %s", c->name, d.part_errors[0].detail);
        cr_assert_eq(d.parts[0].episode_count, c->episodes, "%s: %u", c->name, d.parts[0].episode_count);
        cr_assert_eq(d.parts[0].field_count, c->fields, "%s: %u", c->name, d.parts[0].field_count);
        cr_assert_eq(d.parts[0].media_count, c->media);
    }
    for (size_t p = 0; p < HUB_COUNT(c->problems) && c->problems[p][0]; p++)
        cr_assert_not_null(inspected_problem(&d, c->problems[p], NULL), "%s lacks %s", c->name,
                           c->problems[p]);
    if (!c->problems[0][0] && !st)
        cr_assert_eq(d.plan.problem_count + d.parts[0].problem_count, 0);
    inspected_close(&d);
}

Test(lerobot, an_episode_as_the_metadata_has_it)
{
    struct inspected i;
    cr_assert_eq(open_set(&i, "arm-v21", NULL), HUB_OK);
    const struct hub_found_episode *e = &i.parts[0].episodes[1];
    cr_assert_eq(e->number, 1);
    cr_assert_str_eq(e->name, "episode_000001");
    cr_assert_eq(e->steps, 8);
    cr_assert(e->has_return && e->return_computed);
    cr_assert_float_eq(e->episode_return, 7.0, 1e-9);
    cr_assert_str_eq(e->task, "open the door 扉");
    cr_assert_str_eq(e->splits, "[\"train\"]");
    cr_assert_not_null(strstr(e->attributes, "pick up the"));
    cr_assert_not_null(strstr(e->statistics, "\"next.reward\":{\"min\":"));
    const struct hub_found_media *m = &i.parts[0].media[3];
    cr_assert_eq(m->episode, 1);
    cr_assert_str_eq(m->camera, "observation.images.wrist");
    cr_assert_str_eq(m->codec, "av01.0.00M.08"); /* av1, as info.json has it */
    cr_assert(m->fps_num == 10 && m->fps_den == 1);
    cr_assert_not_null(strstr(i.files[m->file].path, "wrist/episode_000001.mp4"));
    inspected_close(&i);
}

Test(lerobot, what_robocasa_says_of_an_episode)
{
    struct inspected i;
    cr_assert_eq(open_set(&i, "groot-v21", NULL), HUB_OK);
    const struct hub_found_episode *episodes = i.parts[0].episodes;
    cr_expect_not_null(
        strstr(episodes[1].attributes, "\"ep_meta\":{\"lang\":\"open the left door of kitchen 1\""), "%s",
        episodes[1].attributes);
    cr_expect_str_eq(episodes[1].task, "open the door 扉", "LeRobot's own task counts");
    cr_expect(!episodes[2].attributes || !strstr(episodes[2].attributes, "ep_meta"), "it is cut short");
    inspected_close(&i);
}

/* Five episodes share every file: the rows and frames of each are a window. */
Test(lerobot, an_episode_of_a_shared_file)
{
    struct inspected i;
    struct hub_layout layout;
    cr_assert_eq(open_set(&i, "arm-v30", NULL), HUB_OK);
    const struct hub_found_episode *e = &i.parts[0].episodes[1];
    cr_expect_eq(e->number, 1);
    cr_expect_eq(e->steps, 8);
    cr_expect_float_eq(e->episode_return, 7.0, 1e-9);
    cr_expect_str_eq(e->task, "open the door 扉");
    cr_expect_str_eq(e->splits, "[\"train\"]");
    cr_expect_not_null(strstr(e->attributes, "pick up the"), "%s", e->attributes);
    cr_expect_null(strstr(e->attributes, "chunk_index"));
    cr_expect_not_null(strstr(e->statistics, "\"next.reward\":{\"min\":0"), "%.200s", e->statistics);
    cr_expect_not_null(strstr(e->statistics, "\"q01\":["));
    const struct hub_found_field *f = inspected_field(&i.parts[0], "action");
    cr_assert_eq(hub_layout_open(f->layout, f->layout_size, &layout, NULL), HUB_OK);
    cr_expect_eq(layout.counts[HUB_T_ARRAYS], 1);
    cr_expect_eq(hub_layout_window(&layout, 1)->first, 5);
    const struct hub_found_media *m = &i.parts[0].media[3];
    cr_expect_eq(m->episode, 1);
    cr_expect_str_eq(m->camera, "observation.images.wrist");
    cr_expect_eq(m->first_frame, 5);
    cr_expect_eq(m->frames, 8);
    cr_expect_float_eq(m->from, 0.5, 1e-9);
    cr_expect_float_eq(m->to, 1.3, 1e-9);
    inspected_close(&i);
}

Test(lerobot, cameras_begin_new_files_at_other_episodes)
{
    static const char *const wrist[] = {"chunk-000/file-000", "chunk-000/file-001", "chunk-001/file-000"};
    struct inspected i;
    cr_assert_eq(open_set(&i, "many-v30", NULL), HUB_OK);
    for (unsigned e = 0; e < HUB_COUNT(wrist); e++) {
        const struct hub_found_media *top = &i.parts[0].media[2 * e], *m = top + 1;
        cr_expect_str_eq(i.files[top->file].path, "videos/observation.images.top/chunk-000/file-000.mp4");
        cr_expect_not_null(strstr(i.files[m->file].path, wrist[e]), "%s", i.files[m->file].path);
        cr_expect_eq(m->first_frame, 0);
    }
    cr_expect_eq(i.parts[0].media[4].first_frame, 10);
    cr_expect_eq(i.parts[0].media[4].frames, 5);
    inspected_close(&i);
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
    struct inspected i;
    cr_assert_eq(open_set(&i, c->set, NULL), HUB_OK);
    const char *text = inspected_fact(&i, c->key);
    cr_expect(text && strstr(text, c->says), "%s of %s: %s", c->key, c->set, text ? text : "none");
    inspected_close(&i);
}

struct field_case {
    char set[20], path[24];
    enum hub_field_type type;
    enum hub_role role;
    uint8_t kind, item_size, rank;
    uint32_t dims[2];
};

ParameterizedTestParameters(lerobot, fields)
{
    static struct field_case cases[] = {
        {"arm-v21", "observation.state", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION, HUB_KIND_FLOAT, 4, 1, {4}},
        {"arm-v21", "observation.grid", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION, HUB_KIND_FLOAT, 4, 2, {2, 3}},
        {"arm-v21", "action", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_KIND_FLOAT, 4, 1, {4}},
        {"arm-v21", "next.done", HUB_FIELD_BOOL, HUB_ROLE_DONE, HUB_KIND_BOOL, 1, 0, {0}},
        {"arm-v21", "next.reward", HUB_FIELD_NUMBER, HUB_ROLE_REWARD, HUB_KIND_FLOAT, 4, 0, {0}},
        {"arm-v21", "note", HUB_FIELD_TEXT, HUB_ROLE_OTHER, HUB_KIND_VAR, 0, 0, {0}},
        {"camera-v21",
         "observation.image",
         HUB_FIELD_IMAGE_PNG,
         HUB_ROLE_OBSERVATION,
         HUB_KIND_VAR,
         0,
         0,
         {0}},
        {"parquet-variants", "flags", HUB_FIELD_BOOL, HUB_ROLE_OTHER, HUB_KIND_BOOL, 1, 1, {2}},
        {"parquet-variants", "small", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_KIND_INT, 1, 0, {0}},
        {"parquet-variants", "word", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_KIND_UINT, 2, 0, {0}},
        {"parquet-variants", "half", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_KIND_FLOAT, 2, 0, {0}},
    };
    return cr_make_param_array(struct field_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct field_case *c, lerobot, fields)
{
    struct inspected i;
    struct hub_layout layout;
    cr_assert_eq(open_set(&i, c->set, NULL), HUB_OK);
    const struct hub_found_field *f = inspected_field(&i.parts[0], c->path);
    cr_assert_not_null(f, "%s", c->path);
    cr_assert_eq(f->type, c->type);
    cr_assert_eq(f->role, c->role);
    cr_assert_eq(f->axis, HUB_AXIS_STEP);
    cr_assert_eq(hub_layout_open(f->layout, f->layout_size, &layout, NULL), HUB_OK);
    const struct hub_variant *v = &layout.variants[layout.arrays[0].variant];
    cr_assert_eq(v->kind, c->kind);
    cr_assert_eq(v->item_size, c->item_size);
    cr_assert_eq(v->rank, c->rank);
    cr_assert_eq(v->dims[0], c->dims[0], "%s: %u", c->path, v->dims[0]);
    cr_assert_eq(v->dims[1], c->dims[1]);
    inspected_close(&i);
}

/* Every way of writing, read back through the layout alone: frame_index counts from 0. compare_pyarrow.py
 * looks at all columns. */
Test(lerobot, rows)
{
    struct inspected d;
    struct hub_layout layout;
    struct hub_error err = {0};
    unsigned seen = 0;
    cr_assert_eq(open_set(&d, "parquet-variants", NULL), HUB_OK);
    const struct hub_found_field *f = inspected_field(&d.parts[0], "frame_index");
    cr_assert_eq(hub_layout_open(f->layout, f->layout_size, &layout, NULL), HUB_OK);
    for (uint32_t e = 0; e < d.parts[0].episode_count; e++) {
        const struct hub_window *w = hub_layout_window(&layout, e);
        struct hub_rows rows;
        cr_assert_not_null(w, "episode %u has it", e);
        cr_assert_eq(rows_read(&d, 0, &layout, w, &rows, &err), HUB_OK, "episode %u: %s", e, err.detail);
        cr_assert_eq(rows.rows, d.parts[0].episodes[e].steps);
        for (uint64_t r = 0; r < rows.rows; r++) {
            int64_t value;
            memcpy(&value, rows.data + r * sizeof value, sizeof value);
            cr_assert_eq(value, (int64_t)r, "episode %u row %lu is %ld", e, r, value);
        }
        hub_rows_dispose(&rows);
        seen++;
    }
    cr_assert_eq(seen, 19);
    inspected_close(&d);
}

/* Its writer had no values to guess a type from. */
Test(lerobot, an_episode_without_rows_lacks_no_field)
{
    struct inspected d;
    struct hub_layout layout;
    cr_assert_eq(open_set(&d, "parquet-variants", NULL), HUB_OK);
    for (uint32_t i = 0; i < d.parts[0].field_count; i++) {
        const struct hub_found_field *f = &d.parts[0].fields[i];
        cr_assert_eq(hub_layout_open(f->layout, f->layout_size, &layout, NULL), HUB_OK);
        const struct hub_window *w = hub_layout_window(&layout, 18);
        cr_assert_not_null(w, "%s", f->path);
        cr_expect_eq(w->count, 0);
        cr_expect_null(hub_layout_refusal(&layout, w), "%s", f->path);
    }
    inspected_close(&d);
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
