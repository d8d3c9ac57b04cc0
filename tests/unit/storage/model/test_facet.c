/* What sets are chosen by, out of facts and fields. */
#include "storage/model/facet.h"

#include <criterion/criterion.h>

struct reported {
    const char *path;
    const char *facts[4][2];
    struct hub_facet_field fields[4];
    const char *tasks[2]; /* of episodes */
};

static enum hub_status fact(void *user, const char *key, struct hub_view *out, struct hub_error *err)
{
    const struct reported *t = user;
    (void)err;
    *out = HUB_VIEW("");
    for (size_t i = 0; i < HUB_COUNT(t->facts) && t->facts[i][0]; i++)
        if (strcmp(t->facts[i][0], key) == 0)
            *out = hub_view_of(t->facts[i][1]);
    return HUB_OK;
}

static bool field(void *user, uint32_t number, struct hub_facet_field *out)
{
    const struct reported *t = user;
    if (number >= HUB_COUNT(t->fields) || !t->fields[number].path)
        return false;
    *out = t->fields[number];
    return true;
}

/* Tasks. */
static const char *said(void *user, enum hub_facet kind, uint32_t number)
{
    const struct reported *t = user;
    return kind == HUB_FACET_TASK && number < HUB_COUNT(t->tasks) ? t->tasks[number] : NULL;
}

static void expect(const struct reported *t, const char *lines, const char *document)
{
    struct hub_error err = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(64 * KIB), text = HUB_BUF_INIT(64 * KIB);
    const struct hub_facet_source source = {(void *)t, t->path, fact, field, said};
    cr_assert_eq(hub_facet_collect(&source, &out, &err), HUB_OK, "%s", err.detail);
    cr_expect(hub_view_is(hub_buf_view(&out), lines), "%.*s", (int)out.size, out.data);
    struct hub_json json = hub_json_to(&text, &err);
    hub_json_object(&json);
    hub_facet_put(&json, lines);
    hub_json_end_object(&json);
    cr_expect_str_eq(text.data, document);
}

Test(facet, of_each_kind_of_facts)
{
    expect(&(struct reported){.path = "D4RL/door/human-v2",
                              .facts = {{"env_spec", "{\"id\":\"AdroitHandDoor-v1\"}"},
                                        {"metadata", "{\"algorithm_name\":\"None\",\"env_spec\":\"{}\"}"},
                                        {"authors", "[\"Rodrigo de Lazcano\",\"B\\u00e9\"]"}}},
           "aAdroitHandDoor-v1\neRodrigo de Lazcano\neB\xC3\xA9\n",
           "{\"facts\":{\"env\":\"AdroitHandDoor-v1\"}}");
    expect(
        &(struct reported){
            .facts = {{"env_spec", "{\"env_name\":\"Lift\",\"env_kwargs\":{\"robots\":[\"Panda\","
                                   "\"Sawyer\",\"Panda\"]}}"},
                      {"metadata", "{\"problem_info\":{\"language_instruction\":\"put it\\ndown\"}}"}}},
        "aLift\nbput it down\ncPanda\ncSawyer\n",
        "{\"facts\":{\"env\":\"Lift\",\"tasks\":[\"put it down\"],\"robot\":\"Panda\"}}");
    expect(&(struct reported){.facts = {{"env_spec", "{\"env_id\":\"PickCube-v1\"}"}}}, "aPickCube-v1\n",
           "{\"facts\":{\"env\":\"PickCube-v1\"}}");
    expect(
        &(struct reported){
            .facts = {{"metadata",
                       "{\"env_cfg\":{\"benchmark_name\":\"dm_control\",\"task_name\":\"spin\"}}"}}},
        "adm_control/spin\nbspin\n", "{\"facts\":{\"env\":\"dm_control/spin\",\"tasks\":[\"spin\"]}}");
    expect(
        &(struct reported){
            .facts = {{"robot_type", "\"so100\""},
                      {"tasks", "[{\"index\":0,\"task\":\"open\"},{\"index\":1,\"task\":\"close\"}]"},
                      {"cameras", "[{\"camera\":\"observation.images.top\"}]"},
                      {"card", "{\"license\":[\"mit\"]}"}}},
        "bopen\nbclose\ncso100\ndtop\nhmit\n",
        "{\"facts\":{\"tasks\":[\"open\",\"close\"],\"robot\":\"so100\",\"cameras\":[\"top\"],\"license\":"
        "\"mit\"}}");
    expect(&(struct reported){.path = "lab/random/procgen/coinrun"}, "aprocgen/coinrun\nbcoinrun\ngrandom\n",
           "{\"facts\":{\"env\":\"procgen/coinrun\",\"tasks\":[\"coinrun\"],\"kind\":\"random\"}}");
    expect(&(struct reported){.path = "demos/alone"}, "", "{\"facts\":{}}");
    expect(&(struct reported){.tasks = {"lift", "place"}}, "blift\nbplace\n",
           "{\"facts\":{\"tasks\":[\"lift\",\"place\"]}}");
    expect(&(struct reported){.facts = {{"tasks", "[{\"task\":\"open\"}]"}}, .tasks = {"lift"}}, "bopen\n",
           "{\"facts\":{\"tasks\":[\"open\"]}}");
}

/* None of these says anything. */
Test(facet, of_facts_of_other_shapes)
{
    static const char *const texts[] = {"{}",
                                        "[]",
                                        "null",
                                        "\"\"",
                                        "\"None\"",
                                        "{\"id\":{}}",
                                        "{\"id\":[[1]]}",
                                        "{\"env_kwargs\":[]}",
                                        "{\"id\":\"\\u0000 \\t\"}",
                                        "[1,[2]]",
                                        ""};
    static const char *const keys[] = {"env_spec", "metadata", "tasks", "cameras", "card"};
    for (size_t i = 0; i < HUB_COUNT(texts); i++)
        for (size_t k = 0; k < HUB_COUNT(keys); k++)
            expect(&(struct reported){.facts = {{keys[k], texts[i]}}}, "", "{\"facts\":{}}");
}

Test(facet, of_fields)
{
    uint32_t picture[] = {48, 64, 3}, seven[] = {7}, varies[] = {UINT32_MAX};
    const struct hub_facet_field
        rgb = {"obs/sensor_data/base_camera/rgb",
               HUB_FIELD_NUMBER,
               HUB_ROLE_OBSERVATION,
               true,
               true,
               3,
               picture},
        whole = {"observations/image", HUB_FIELD_IMAGE_RAW, HUB_ROLE_OBSERVATION, true, true, 3, picture},
        next = {"next_obs/wrist", HUB_FIELD_IMAGE_RAW, HUB_ROLE_OBSERVATION, true, true, 3, picture},
        action = {"actions", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, false, true, 1, seven},
        other = {"actions_abs", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, false, true, 1, seven},
        grip = {"actions/grip", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, false, true, 0, NULL},
        ragged = {"actions", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, false, true, 1, varies};
    expect(&(struct reported){.fields = {rgb, whole, next, action}}, "dbase_camera\ndimage\ni7\n",
           "{\"facts\":{\"cameras\":[\"base_camera\",\"image\"],\"action_dim\":7}}");
    expect(&(struct reported){.fields = {other, action}}, "i7\n", "{\"facts\":{\"action_dim\":7}}");
    expect(&(struct reported){.fields = {grip, other}}, "i8\n",
           "{\"facts\":{\"action_dim\":8}}"); /* parts of it */
    expect(&(struct reported){.fields = {ragged}}, "", "{\"facts\":{}}");
}

Test(facet, is_among_them)
{
    cr_expect(hub_facet_has("aLift\ncPanda\n", HUB_FACET_ROBOT, "panda"));
    cr_expect_not(hub_facet_has("aLift\ncPanda\n", HUB_FACET_ENV, "Panda"));
    cr_expect_not(hub_facet_has("aLift\ncPanda\n", HUB_FACET_ROBOT, "Pan"));
    cr_expect_not(hub_facet_has("", HUB_FACET_ROBOT, ""));
}

/* A set of 10,000 tasks with long names has some of them. */
Test(facet, has_limits)
{
    struct hub_error err = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf tasks = HUB_BUF_INIT(8 * MIB), out = HUB_BUF_INIT(64 * KIB);
    char name[400];
    memset(name, 'x', sizeof name);
    for (int i = 0; i < 10000; i++)
        cr_assert_eq(hub_buf_addf(&tasks, &err, "%s{\"task\":\"%d%.*s\"}", i ? "," : "[", i, i % 390, name),
                     HUB_OK);
    cr_assert_eq(hub_buf_add_text(&tasks, "]", &err), HUB_OK);
    const struct reported reported = {.facts = {{"tasks", tasks.data}}};
    const struct hub_facet_source source = {(void *)&reported, NULL, fact, field, said};
    cr_assert_eq(hub_facet_collect(&source, &out, &err), HUB_OK, "%s", err.detail);
    cr_expect_leq(out.size, 40 * KIB);
    cr_expect_geq(out.size, 8 * KIB);
}
