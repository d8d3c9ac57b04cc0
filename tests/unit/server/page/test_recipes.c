/* Commands and programs: for which datasets they hold, and that a name stays one argument, text or
 * segment. */
#include "server/page/recipes.h"
#include "tests/support/page_kit.h"

/* Entities of the page as the characters they stand for, as somebody copies them. */
static void read_page(struct page_kit *k, char *out, size_t size)
{
    static const char *const entities[][2] = {
        {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}};
    size_t used = 0;
    for (const char *at = k->html.data; *at && used + 1 < size; used++) {
        size_t e = 0;
        while (e < HUB_COUNT(entities) && strncmp(at, entities[e][0], strlen(entities[e][0])) != 0)
            e++;
        out[used] = e < HUB_COUNT(entities) ? entities[e][1][0] : *at;
        at += e < HUB_COUNT(entities) ? strlen(entities[e][0]) : 1;
    }
    out[used] = '\0';
}

#define FIELDS                                                                                               \
    "\"fields\":[{\"path\":\"a\",\"type\":\"number\",\"role\":\"action\"},{\"path\":\"o\",\"role\":"         \
    "\"observation\"}]"
#define MINARI                                                                                               \
    "{\"id\":\"D4RL/door/"                                                                                   \
    "human-v2\",\"format\":\"minari-hdf5\",\"era\":\"E5\",\"status\":\"ready\",\"loadable_by\":[\"0.5.3\"]"  \
    "," FIELDS "}"
#define OLD_MINARI                                                                                           \
    "{\"id\":\"door-human-v0\",\"format\":\"minari-hdf5\",\"era\":\"E4b\",\"status\":\"ready\",\"loadable_"  \
    "by\":[\"0.4.3\"]}"
#define ARM(version)                                                                                         \
    "{\"id\":\"lab/arm\",\"format\":\"lerobot\",\"era\":\"" version                                          \
    "\",\"status\":\"ready\",\"loadable_by\":[]," FIELDS "}"
#define NAMED(id) "{\"id\":\"" id "\",\"format\":\"files\",\"status\":\"ready\",\"loadable_by\":[]}"

static void expect_recipe(const char *dataset, const char *chosen, const char *part, const char *none)
{
    static char text[64 * KIB];
    struct page_kit k;
    HUB_CLEANUP(hub_json_decrefp) json_t *json = page_kit_json(dataset);
    page_kit_begin(&k, "/d/x", "x");
    cr_expect_eq(chosen ? page_recipes_chosen(&k.page, json, hub_view_of(chosen))
                        : page_recipes(&k.page, json, 3, "obs/it's \"x\"", false),
                 HUB_OK);
    read_page(&k, text, sizeof text);
    cr_expect(!part || strstr(text, part), "no %s in %s", part, text);
    cr_expect(!none || !strstr(text, none), "%s in %s", none, text);
    page_kit_end(&k);
}

Test(recipes, which)
{
    static const struct {
        const char *dataset, *chosen, *part, *none;
    } cases[] = {
        {MINARI, NULL, "export MINARI_HUB_URL=http://hub\nminari-cli download 'D4RL/door/human-v2'<", "-o ."},
        {MINARI, NULL, "os.environ[\"MINARI_REMOTE\"] = \"gcp://minari-datasets\"", "LeRobotDataset"},
        {MINARI, NULL, "iterate_episodes([3])", "webdataset"},
        {MINARI, NULL,
         "snapshot_download(\"D4RL/door\", repo_type=\"dataset\", allow_patterns=\"human-v2/*\")",
         "delete_episodes"},
        {MINARI, NULL, "layout=transitions", NULL},
        {OLD_MINARI, NULL, "minari.load_dataset(\"door-human-v0\")", "MINARI_REMOTE"}, /* found only by 0.5 */
        {OLD_MINARI, NULL,
         "snapshot_download(\"farama-minari/door-human-v0\", repo_type=\"dataset\", allow_patterns=None)",
         "layout=transitions"},
        {ARM("v2.1"), NULL, "LeRobotDataset(\"lab/arm\", episodes=[3])", "minari.load_dataset"},
        {ARM("v2.1"), NULL, "minari-cli download 'lab/arm' -o .", NULL},
        {ARM("v2.1"), "3, 7", "number in (3, 7)", "delete_episodes"}, /* its own tool edits v3.0 */
        {ARM("v3.0"), "3, 7", "--operation.episode_indices '[3, 7]'", "LeRobotDataset("},
        {MINARI, "3, 7", "episode.id not in {3, 7}", "minari-cli download"},
        {MINARI, "3, 7", "minari-cli rows 'D4RL/door/human-v2' --where 'number in (3, 7)'", NULL},
        /* names that clients of Hugging Face refuse */
        {NAMED("a b/c"), NULL, "archive.tar", "snapshot_download"},
        {NAMED("lab/x--y"), NULL, NULL, "snapshot_download"},
        {NAMED("lab/.x"), NULL, NULL, "snapshot_download"},
        {NAMED("lab/x-"), NULL, NULL, "snapshot_download"},
        {NAMED("lab/x.git"), NULL, NULL, "snapshot_download"},
        {NAMED("lab/x.gits"), NULL, "snapshot_download(\"lab/x.gits\"", NULL},
        {NAMED("lab/x.y_z-1"), NULL, "snapshot_download(\"lab/x.y_z-1\"", NULL},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        expect_recipe(cases[i].dataset, cases[i].chosen, cases[i].part, cases[i].none);
}

/* What a command would not do here is not offered, and one line says why. */
Test(recipes, only_those_that_hold)
{
#define AS(status, more)                                                                                     \
    "{\"id\":\"lab/arm\",\"format\":\"lerobot\",\"era\":\"v2.1\",\"status\":\"" status "\"," more FIELDS "}"
    static const char refused[] =
        AS("ready", "\"loadable\":false,\"problems\":[{\"code\":\"nulls\",\"detail\":"
                    "\"3 rows\"},{\"code\":\"not-loadable\",\"costs\":\"loading\",\"path\":"
                    "\"meta/tasks.jsonl\",\"detail\":\"it is missing\"}],"),
                      broken[] = AS("broken", "\"reason\":\"cut short\","), pending[] = AS("pending", "");
    static const struct {
        const char *dataset, *chosen, *part, *none;
    } cases[] = {
        {refused, NULL, "because LeRobot refuses it: meta/tasks.jsonl: it is missing", "LeRobotDataset"},
        {refused, NULL, "minari-cli get 'lab/arm' 3", "minari-cli download"},
        {refused, "3", "minari-cli rows 'lab/arm'", "because LeRobot refuses it"},
        {broken, NULL, "Only its files can be downloaded, as they are: cut short", "minari-cli"},
        {broken, NULL, "archive.tar", "snapshot_download"},
        {pending, NULL, "It is still being read", "minari-cli"},
        {ARM("v2.1"), NULL, NULL, "left out"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        expect_recipe(cases[i].dataset, cases[i].chosen, cases[i].part, cases[i].none);
    HUB_CLEANUP(hub_json_decrefp) json_t *json = page_kit_json(ARM("v2.1"));
    struct page_kit k;
    page_kit_begin(&k, "/d/x", "x");
    cr_expect_eq(page_recipes(&k.page, json, -1, NULL, false), HUB_OK);
    cr_expect(strstr(k.html.data, "none of its episodes can be read"));
    cr_expect_not(strstr(k.html.data, "LeRobotDataset") || strstr(k.html.data, "read_csv"));
    page_kit_end(&k);
}

Test(recipes, names_are_quoted)
{
    static const char odd[] = NAMED("lab/it's `x` $(id) <b>&");
    static const struct {
        const char *part;
    } cases[] = {
        {"minari-cli download 'lab/it'\\''s `x` $(id) <b>&' -o ."},
        {"minari-cli get 'lab/it'\\''s `x` $(id) <b>&' 3 'obs/it'\\''s \"x\"' --rows"},
        {"curl -s 'http://hub/api/v1/datasets/lab/it%27s%20%60x%60%20%24%28id%29%20%3Cb%3E%26/episodes/3/"
         "obs/it%27s%20%22x%22?start=0&stop=10'"},
        {"\"http://hub/api/v1/datasets/lab/it%27s%20%60x%60%20%24%28id%29%20%3Cb%3E%26/episodes?columns="},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        expect_recipe(odd, NULL, cases[i].part, "'lab/it's");
    expect_recipe("{\"id\":\"q\\\"\\\\x\",\"shards\":[\"/s/"
                  "a\\\"b\\\\{0..1}.tar\"],\"status\":\"ready\",\"loadable_by\":[]}",
                  NULL, "WebDataset(\"http://hub\" + \"/s/a\\\"b\\\\{0..1}.tar\", ", NULL);
    expect_recipe("{\"id\":\"q\",\"shards\":[\"/s.tar/a-{0..1}.parquet\"],\"status\":\"ready\"}", NULL,
                  "archive.tar", "WebDataset(");
    /* an id that Python Minari cannot say is downloaded without it */
    expect_recipe("{\"id\":\"t\xC3\xBCr-v0\",\"format\":\"minari-hdf5\",\"era\":\"E5\",\"status\":\"ready\","
                  "\"loadable_by\":[\"0.5.3\"]}",
                  NULL, "minari-cli download 't\xC3\xBCr-v0' -o .", "minari.load_dataset");
}

/* What is pasted is whole, however many episodes were chosen. A filter of this hub has 1,024 bytes at
 * most. */
Test(recipes, many_chosen)
{
    char numbers[4096] = "1000", wanted[4200];
    for (unsigned i = 1001; i < 1500; i++)
        snprintf(numbers + strlen(numbers), 8, ", %u", i);
    snprintf(wanted, sizeof wanted, "[%s]", numbers);
    expect_recipe(MINARI, numbers, wanted, "number in (");
    snprintf(wanted, sizeof wanted, "episode.id not in {%s})", numbers);
    expect_recipe(MINARI, numbers, wanted, "bytes in all");
    memset(numbers, '1', 1012); /* with "number in ()": 1,024 */
    numbers[1012] = '\0';
    expect_recipe(MINARI, numbers, "--where 'number in (1", NULL);
    strcat(numbers, "1");
    expect_recipe(MINARI, numbers, "[1", "number in (");
}
