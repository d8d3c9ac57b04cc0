/* Trees of repos, folders of them, and some of their files. */
#include "storage/text/json.h"
#include "tests/support/wire_kit.h"

#include <criterion/criterion.h>

TestSuite(hf_tree, .init = wire_open, .fini = wire_close, .timeout = 60);

/* "d door;f metadata.json:2154;": a letter for the type, the path in the repo, the size of a file. */
static void read_entries(struct hub_view body, char out[2048])
{
    HUB_CLEANUP(hub_json_decrefp) json_t *page = NULL;
    const json_t *entry;
    size_t i, used = 0;
    *out = '\0';
    cr_assert_eq(hub_json_parse(body, MIB, &page, NULL), HUB_OK, "%s", body.data);
    json_array_foreach(page, i, entry)
    {
        const char *type = json_string_value(json_object_get(entry, "type"));
        const bool file = strcmp(type, "file") == 0;
        cr_expect(file || strcmp(type, "directory") == 0, "%s", type);
        cr_expect_eq(json_string_length(json_object_get(entry, "oid")), 40);
        used += (size_t)snprintf(out + used, 2048 - used, file ? "f %s:%lld;" : "d %s;",
                                 json_string_value(json_object_get(entry, "path")),
                                 (long long)json_integer_value(json_object_get(entry, "size")));
        cr_assert_lt(used, 2000);
    }
}

#define METADATA "f door/human-v2/data/main_data.hdf5:174024;f door/human-v2/data/metadata.json:2154;"

Test(hf_tree, folders)
{
    static const struct {
        const char *target, *entries;
    } cases[] = {
        {"lab/odd/tree/main", "f " WIRE_HOSTILE ":6;f a b+c%.txt:4;f empty.bin:0;"},
        {"lab/odd/tree/main?recursive=true&expand=false",
         "f " WIRE_HOSTILE ":6;f a b+c%.txt:4;f empty.bin:0;"},
        {"lab/arm/tree/main", "d data;d meta;d videos;"},
        {"lab/arm/tree/v2.1/meta",
         "f meta/episodes.jsonl:299;f meta/episodes_stats.jsonl:10874;f meta/info.json:4032;"
         "f meta/tasks.jsonl:101;"},
        {"lab/arm/tree/main/data/?recursive=False", "d data/chunk-000;"},
        {"lab/arm/tree/main/videos?recursive=True",
         "d videos/chunk-000;d videos/chunk-000/observation.images.top;"
         "f videos/chunk-000/observation.images.top/episode_000000.mp4:1421;"
         "f videos/chunk-000/observation.images.top/episode_000001.mp4:1793;"
         "f videos/chunk-000/observation.images.top/episode_000002.mp4:1219;"
         "f videos/chunk-000/observation.images.top/episode_000003.mp4:870;"
         "d videos/chunk-000/observation.images.wrist;"
         "f videos/chunk-000/observation.images.wrist/episode_000000.mp4:1538;"
         "f videos/chunk-000/observation.images.wrist/episode_000001.mp4:1881;"
         "f videos/chunk-000/observation.images.wrist/episode_000002.mp4:1237;"
         "f videos/chunk-000/observation.images.wrist/episode_000003.mp4:950;"},
        {"farama-minari/D4RL/tree/main/door%2Fhuman-v2?recursive=1", "d door/human-v2/data;" METADATA},
        {"D4RL/door/tree/main/human-v2/data",
         "f human-v2/data/main_data.hdf5:174024;f human-v2/data/metadata.json:2154;"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        char target[256], entries[2048];
        snprintf(target, sizeof target, "/api/datasets/%s", cases[i].target);
        read_entries(wire_body(target), entries);
        cr_expect_str_eq(entries, cases[i].entries, "%s: %s", target, entries);
        cr_expect_eq(strlen(wire_header("X-Repo-Commit")), 40);
        cr_expect_null(wire_header("Link"));
    }
}

Test(hf_tree, shapes)
{
    static const struct wire_case cases[] = {
        {"/api/datasets/lab/arm/tree/main/none", 404, "{\"error\":\"none does not exist on",
         "X-Error-Code: EntryNotFound"},
        /* of a file: clients then look in its folder */
        {"/api/datasets/lab/arm/tree/main/meta/info.json", 404, NULL, "X-Error-Code: EntryNotFound"},
        {"/api/datasets/lab/arm/tree/main/met", 404, NULL, "X-Error-Code: EntryNotFound"},
        {"/api/datasets/lab/arm/tree/none", 404, NULL, "X-Error-Code: RevisionNotFound"},
        {"/api/datasets/lab/none/tree/main", 404, NULL, "X-Error-Code: RepoNotFound"},
        {"/api/datasets/lab/arm/tree/main?cursor=x", 400, "{\"error\":\""},
        {"/api/datasets/lab/arm/tree/main", 200, "\"size\":0,\"path\":\"data\"}"},
        {"/api/datasets/lab/arm/tree/main/meta?expand=True", 200, "\"lastCommit\":{\"id\":\""},
        {"/api/datasets/lab/odd/tree/main?expand=0", 200, "\"path\":\"empty.bin\"}"},
        /* one whose digest is known, as Git LFS keeps it */
        {"/api/datasets/farama-minari/D4RL/tree/main", 200,
         "\"pointerSize\":134},\"path\":\"namespace_metadata.json\"}"},
    };
    wire_expect(cases, HUB_COUNT(cases));
}

Test(hf_tree, paths)
{
    static const struct {
        const char *headers, *body, *entries;
    } cases[] = {
        {NULL, "paths=meta&paths=meta%2Finfo.json&expand=False", "d meta;f meta/info.json:4032;"},
        {"Content-Type: application/x-www-form-urlencoded", "paths=none&paths=meta%2Ftasks.jsonl",
         "f meta/tasks.jsonl:101;"},
        {"Content-Type: application/json",
         "{\"paths\":[\"meta/\",\"meta/info.json\",7,\"none\"],\"expand\":false}",
         "d meta;f meta/info.json:4032;"},
        {"Content-Type: application/json; charset=utf-8", "{\"paths\":\"data\"}", "d data;"},
        {NULL, "paths=meta/info.json/", ""}, /* a file is no folder */
        {NULL, "paths=met&paths=.&paths=..%2Fodd%2Fempty.bin&paths=/&paths=&paths", ""},
        {NULL, "paths=%FF%zz&other=meta", ""},
        {NULL, "", ""},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        char entries[2048];
        const struct wire_answer answer =
            wire_ask(&(struct wire_case){"/api/datasets/lab/arm/paths-info/main", 0, NULL, NULL,
                                         cases[i].headers, HUB_POST, cases[i].body});
        cr_expect_eq(answer.status, 200, "%s: %u", cases[i].body, answer.status);
        read_entries(answer.body, entries);
        cr_expect_str_eq(entries, cases[i].entries, "%s: %s", cases[i].body, entries);
    }
    static const struct wire_case refused[] = {
        {"/api/datasets/lab/odd/paths-info/main", 200, "\"path\":\"a b+c%.txt\"", NULL, NULL, HUB_POST,
         "paths=a+b%2Bc%25.txt"}, /* in a form + is a space */
        {"/api/datasets/lab/arm/paths-info/main", 400, "{\"error\":\"", NULL,
         "Content-Type: application/json", HUB_POST, "[1"},
        {"/api/datasets/lab/arm/paths-info/main", 400, "{\"error\":\"", NULL,
         "Content-Type: application/json", HUB_POST, "[\"meta\"]"},
        {"/api/datasets/lab/arm/paths-info/none", 404, NULL, "X-Error-Code: RevisionNotFound", NULL, HUB_POST,
         "paths=meta"},
        {"/api/datasets/lab/none/paths-info/main", 404, NULL, "X-Error-Code: RepoNotFound", NULL, HUB_POST,
         "paths=meta"},
        {"/api/datasets/lab/arm/paths-info/main", 200, "\"lastCommit\":{", NULL, NULL, HUB_POST,
         "expand=True&paths=meta"},
    };
    wire_expect(refused, HUB_COUNT(refused));
}
