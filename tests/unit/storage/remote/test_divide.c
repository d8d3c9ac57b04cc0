/* storage/remote/divide.c: a tree of files is cut into datasets by names. */
#include "storage/remote/found.h"
#include "tests/support/answers.h" /* the network of what it is linked with */

#include <criterion/criterion.h>
#include <stdlib.h>

/* Paths with a blank between them; each file has as many bytes as its path. */
static void make_tree(const char *paths, struct hub_remote_files *out)
{
    HUB_CLEANUP(hub_freep) char *copy = strdup(paths);
    for (char *at = strtok(copy, " "); at; at = strtok(NULL, " ")) {
        struct hub_file_facts *file = NULL;
        cr_assert_eq(hub_remote_files_try(out, hub_view_of(at), strlen(at), &file, NULL), HUB_OK);
    }
    cr_assert_eq(hub_remote_files_sort(out, NULL), HUB_OK);
}

/* "id:format:files " of each, then "| " and what is left. */
static const char *divided(const char *paths, const char *base, bool counts)
{
    static char text[2048];
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files tree = {0};
    HUB_CLEANUP(hub_found_dispose) struct hub_found_list list = {0};
    HUB_CLEANUP(hub_remote_left_dispose) struct hub_remote_left left = {0};
    const struct hub_division division = {.tree = &tree,
                                          .base = base,
                                          .name = "lab",
                                          .head = "",
                                          .cuts = !*base,
                                          .counts = counts,
                                          .left = &left};
    struct hub_error err = {0};
    size_t n = 0;
    make_tree(paths, &tree);
    cr_assert_eq(hub_found_scan(&list, &tree, "", NULL), HUB_OK);
    cr_assert_eq(hub_found_divide(&division, &list, &err), HUB_OK, "%s", err.detail);
    for (uint32_t i = 0; i < list.count; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s:%s:%u ", list.items[i].id,
                              list.items[i].plain ? list.items[i].format ? list.items[i].format : "files"
                                                  : "minari",
                              list.items[i].files);
    n += (size_t)snprintf(text + n, sizeof text - n, "|");
    for (uint64_t i = 0; i < HUB_MIN(left.places, HUB_LEFT_OUT); i++)
        n += (size_t)snprintf(text + n, sizeof text - n, " %s", left.names[i]);
    snprintf(text + n, sizeof text - n, " %d", (int)left.files);
    return text;
}

#define MIX                                                                                                  \
    "top-v0/data/metadata.json top-v0/data/main_data.hdf5 D4RL/pen-v1/data/metadata.json "                   \
    "D4RL/namespace_metadata.json "                                                                          \
    "D4RL/notes.txt robots/arm/meta/info.json robots/arm/data/chunk-000/x.parquet "                          \
    "robots/hand/meta/info.json robots/hand/videos/x.mp4 "                                                   \
    "docs/a/one.md docs/two.md pen-cloned-v0/data/main_data.hdf5 README.md"

Test(divide, all_of_a_mixed_bucket)
{
    cr_expect_str_eq(
        divided(MIX, "", false),
        "D4RL/pen-v1:minari:1 top-v0:minari:2 docs:files:2 pen-cloned-v0:minari-hdf5:1 robots/arm:lerobot:2 "
        "robots/hand:lerobot:2 | D4RL/notes.txt README.md 2");
}

Test(divide, what_is_not_minaris_is_counted)
{
    cr_expect_str_eq(
        divided(MIX, "", true),
        "D4RL/pen-v1:minari:1 top-v0:minari:2 | D4RL/notes.txt README.md docs pen-cloned-v0 robots/arm "
        "robots/hand 9");
}

Test(divide, the_shallowest_folders)
{
    static const struct {
        const char *paths, *base, *want;
    } cases[] = {
        {"", "", "| 0"},
        {"a.bin b.bin", "", "lab:files:2 | 0"},               /* nothing but files */
        {"meta/info.json videos/x", "", "lab:lerobot:2 | 0"}, /* it is one itself */
        {"a/x b/c/y", "", "a:files:1 b:files:1 | 0"},         /* whatever comes, these stay so */
        {"a/x b/c/y b/d/meta/info.json b/d/meta/tasks.jsonl", "", "a:files:1 b/c:files:1 b/d:lerobot:2 | 0"},
        {"a/x a-b/y a/z", "", "a-b:files:1 a:files:2 | 0"}, /* '-' comes before '/' */
        {"a/meta/info.json a/videos/x a/b/meta/info.json a/b/videos/x", "", "a:lerobot:4 | 0"},
        {"a/meta/info.json a/videos/x a/b-v0/data/metadata.json", "",
         "a/b-v0:minari:1 a/meta:files:1 a/videos:files:1 | 0"},
        {"a/b/meta/info.json a/x/data/main_data.hdf5", "", "a/b:files:1 a/x:minari-hdf5:1 | 0"}, /* no data */
        {"s/t/house_3/x.h5 s/y", "", "s/t:molmospaces:1 | s/y 1"},
        {"s/train/house_3/x.h5 s/y", "", "s:molmospaces:2 | 0"}, /* the shallowest */
        {"s/t/house_03/x.h5 s/house_x/y", "", "s:files:2 | 0"},  /* no number */
        {"r/1.0/features.json r/1.0/x.tfrecord-00000-of-00001 r/y", "", "r/1.0:generic:2 | r/y 1"},
        {"r/1.0/x.tfrecord-00000-of-00001 r/y", "", "r:files:2 | 0"},
        {"t/dataset_dict.json t/train/state.json t/train/x.arrow u/v/state.json", "",
         "t:datasets:3 u:files:1 | 0"},
        {"e/sim/episode_0.hdf5 w/x/a-000.tar", "", "e:files:1 w:files:1 | 0"},          /* any format's */
        {"z/a/zarr.json z/a/b/zarr.json z/a-b z/c", "", "z/a:generic:2 | z/a-b z/c 2"}, /* '-' < '/' */
        {"a/xmeta/info.json meta/info.jsonl", "", "a:files:1 meta:files:1 | 0"},
        {"docs/x", "docs", "docs:files:1 | 0"}, /* as the prefix of a rule names it */
        {"docs/x docs/y/z", "docs", "docs:files:2 | 0"},
        {"docs/x docs/y/meta/info.json docs/y/videos/z", "docs", "docs/y:lerobot:2 | docs/x 1"},
        {"D4RL/namespace_metadata.json D4RL/door/namespace_metadata.json a/x", "", "a:files:1 | 0"},
        {"docs/x", "doc", "| 0"},
        {"a/files/meta/info.json a/files/videos/x a/b/x", "", "a/b:files:1 | a/files 2"}, /* no id */
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        cr_expect_str_eq(divided(cases[i].paths, cases[i].base, false), cases[i].want, "%s: %s",
                         cases[i].paths, divided(cases[i].paths, cases[i].base, false));
}

Test(divide, names_that_no_file_can_have_are_left)
{
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files tree = {0};
    HUB_CLEANUP(hub_found_dispose) struct hub_found_list list = {0};
    HUB_CLEANUP(hub_remote_left_dispose) struct hub_remote_left left = {0};
    const struct hub_division division = {
        .tree = &tree, .base = "", .name = "lab", .head = "", .left = &left};
    struct hub_file_facts *file;
    cr_assert_eq(hub_remote_files_try(&tree, HUB_VIEW("a//b"), 5, &file, NULL), HUB_OK);
    cr_assert_eq(hub_remote_files_try(&tree, HUB_VIEW("a/"), 0, &file, NULL), HUB_OK);
    cr_assert_eq(hub_remote_files_sort(&tree, NULL), HUB_OK);
    cr_assert_eq(hub_found_divide(&division, &list, NULL), HUB_OK);
    cr_expect_eq(left.places, 1, "the second is how a console makes a folder");
    cr_expect_str_eq(left.names[0], "a//b");
}

Test(divide, a_folder_has_the_prefix_that_names_it)
{
    static const struct {
        const char *id, *prefix;
        bool has;
    } cases[] = {{"docs", NULL, true},      {"docs", "", true},      {"docs", "do", true},
                 {"docs", "docs", true},    {"docs", "docs/", true}, {"docs", "docs/x", false},
                 {"docs/x", "docs/", true}, {"doc", "docs/", false}, {"", "/", true}};
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        cr_expect_eq(hub_remote_has_prefix(cases[i].id, cases[i].prefix), cases[i].has, "%zu", i);
}
