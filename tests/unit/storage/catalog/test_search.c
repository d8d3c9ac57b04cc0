/* Words: what is asked of FTS5 for them, and what that finds. */
#include "storage/catalog/search.h"
#include "tests/support/catalog_draft.h"

#include "storage/io/fs.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <fcntl.h>

struct query_case {
    char text[64], query[160];
    bool whole;
};
ParameterizedTestParameters(search, queries)
{
    static struct query_case cases[] = {
        {"", "", false},
        {" \t\n", "", false},
        {"door", "{id} : (\"door\"*)", false},
        {"  door  hum ", "{id} : (\"door\"* \"hum\"*)", false},
        {"door hum", "{id} : (\"door\" \"hum\")", true},
        {"a\"b", "{id} : (\"a\"\"b\"*)", false},
        {"OR * NEAR(x) ^y", "{id} : (\"OR\"* \"*\"* \"NEAR(x)\"* \"^y\"*)", false},
        {"\xE6\x95\xB0x", "{id} : (\" \xE6\x95\xB0 x\"*)", false}, /* each such character a word */
        {"a b c d e f g h i j k l m n o p q r",                    /* words enough */
         "{id} : (\"a\" \"b\" \"c\" \"d\" \"e\" \"f\" \"g\" \"h\" \"i\" \"j\" \"k\" \"l\" \"m\" \"n\" \"o\" "
         "\"p\")",
         true},
    };
    return cr_make_param_array(struct query_case, cases, HUB_COUNT(cases));
}
ParameterizedTest(struct query_case *c, search, queries)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(4 * KIB);
    DRAFT_OK(hub_search_query(hub_view_of(c->text), "{id}", c->whole, &out, err));
    cr_expect(hub_view_is(hub_buf_view(&out), c->query), "%s: %s", c->text, out.data);
}

static char *state;
static struct hub_catalog *catalog;

static void publish(const char *id, const char *description)
{
    struct hub_found_fact facts[] = {{"description", (char *)description},
                                     {"authors", "[\"Zo\xC3\xAB Ng\"]"}};
    const struct hub_findings plan = {.facts = facts, .fact_count = 2};
    const struct hub_dataset_file files[] = {draft_file("data.hdf5", 10)};
    const struct hub_draft draft = {.id = id,
                                    .path = id,
                                    .format = "generic",
                                    .status = HUB_DATASET_READY,
                                    .files = files,
                                    .file_count = 1,
                                    .plan = &plan,
                                    .revision = ""};
    DRAFT_OK(hub_catalog_publish(catalog, &draft, err));
}

static void set_up(void)
{
    state = draft_state();
    const struct hub_catalog_options options = {.state = state, .cache_bytes = MIB};
    DRAFT_OK(hub_catalog_open(&options, &catalog, err));
    publish("AdroitHandDoor-v1", "opens it");
    publish("D4RL/door/human-v2", "people, by hand");
    publish("doorkey-v0", "a key");
    publish("other-v0", "not a door at all");
    publish("\xE6\x95\xB0\xE6\x8D\xAE-v0", "\xE5\xBC\x80\xE9\x97\xA8\xE4\xBB\xBB\xE5\x8A\xA1");
    DRAFT_OK(hub_catalog_flush(catalog, err));
}

static void tear_down(void)
{
    hub_catalog_close(catalog);
    DRAFT_OK(hub_fs_remove(AT_FDCWD, state, err));
    free(state);
}

/* "id=rank id=rank", in the order of the snapshot. */
static void find(const char *text, char out[512])
{
    uint8_t ranks[8] = {0};
    const struct hub_snapshot *snapshot = hub_catalog_snapshot(catalog);
    DRAFT_OK(hub_catalog_search(catalog, snapshot, hub_view_of(text), ranks, err));
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < snapshot->count; i++)
        if (ranks[i])
            used += (size_t)snprintf(out + used, 512 - used, "%s%s=%u", used ? " " : "",
                                     snapshot->summaries[i]->id, ranks[i]);
    hub_snapshot_put(snapshot);
}

Test(search, finds, .init = set_up, .fini = tear_down)
{
    static const char *const cases[][2] = {
        {"door", "AdroitHandDoor-v1=2 doorkey-v0=3 other-v0=5 D4RL/door/human-v2=2"},
        {"DOORKEY-V0", "doorkey-v0=1"},
        {"doorkey", "doorkey-v0=1"}, /* the id but for its version */
        {"hum door", "D4RL/door/human-v2=3"},
        {"door/hum", "D4RL/door/human-v2=3"},
        {"hum/door", ""},
        {"door hand", "AdroitHandDoor-v1=2 D4RL/door/human-v2=5"},
        {"zoe key", "doorkey-v0=5"}, /* without its accent */
        {"\xE6\x8D\xAE", "\xE6\x95\xB0\xE6\x8D\xAE-v0=2"},
        {"\xE9\x97\xA8\xE4\xBB\xBB", "\xE6\x95\xB0\xE6\x8D\xAE-v0=5"},
        {"nothing", ""},
        {"-", ""},
        {"\"", ""},
        {"\xE2\x80\x93", ""},
        {"\xFF\xFE", ""},
        {"door \"", "AdroitHandDoor-v1=2 doorkey-v0=3 other-v0=5 D4RL/door/human-v2=2"},
        {"id:door", ""},
        {"door) OR (id:key", ""},
        {"door*", "AdroitHandDoor-v1=2 doorkey-v0=3 other-v0=5 D4RL/door/human-v2=2"},
    };
    char found[512];
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        find(cases[i][0], found);
        cr_expect_str_eq(found, cases[i][1], "%s: %s", cases[i][0], found);
    }
}

Test(search, follows_what_is_published, .init = set_up, .fini = tear_down)
{
    char found[512];
    publish("other-v0", "about windows");
    DRAFT_OK(hub_catalog_remove(catalog, 0, "doorkey-v0", err));
    DRAFT_OK(hub_catalog_flush(catalog, err));
    find("windows", found);
    cr_expect_str_eq(found, "other-v0=5");
    find("do", found);
    cr_expect_str_eq(found, "AdroitHandDoor-v1=3 D4RL/door/human-v2=3");
}
