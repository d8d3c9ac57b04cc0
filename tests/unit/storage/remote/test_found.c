/* storage/remote/found.c: datasets in a tree of files, recognised by their names and metadata. */
#include "storage/remote/found.h"
#include "tests/support/answers.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct hub_remote remote;

/* All that the remote has. */
static enum hub_status list_all(struct hub_remote *of, const struct hub_remote_query *query,
                                hub_remote_item_fn fn, void *user, struct hub_error *err)
{
    static const char *const ids[] = {"D4RL/pen/human-v2", "D4RL/pen/cloned-v2", "D4RL/door/human-v2"};
    (void)of;
    (void)query;
    for (size_t i = 0; i < HUB_COUNT(ids); i++) {
        HUB_CLEANUP(hub_json_decrefp) json_t *item = json_pack("{s:s}", "id", ids[i]);
        HUB_TRY(fn(item, (struct hub_view){NULL, 0}, user, err));
    }
    return HUB_OK;
}
static const struct hub_remote_kind kind = {.noun = "bucket", .list = list_all};

static void begin(void)
{
    remote.kind = &kind;
    cr_assert_eq(hub_transport_new(&(struct hub_transport_options){.token = NULL}, &remote.transport, NULL),
                 HUB_OK);
}

static void end(void)
{
    hub_transport_free(remote.transport);
}

TestSuite(found, .init = begin, .fini = end);

/* ---- by their names ---- */

struct path {
    const char *path;
    uint64_t size;
    const char *custom; /* metadata of the object as JSON, or NULL */
};

static void make_tree(const struct path *paths, size_t count, struct hub_remote_files *out)
{
    for (size_t i = 0; i < count; i++) {
        struct hub_file_facts *file = NULL;
        cr_assert_eq(hub_remote_files_try(out, hub_view_of(paths[i].path), paths[i].size, &file, NULL),
                     HUB_OK);
        cr_assert_not_null(file);
        file->modified_ns = 1700000000000000000 + (int64_t)(paths[i].size * 1000000000);
        file->custom = paths[i].custom ? json_loads(paths[i].custom, 0, NULL) : NULL;
    }
    cr_assert_eq(hub_remote_files_sort(out, NULL), HUB_OK);
}

Test(found, a_dataset_is_where_its_metadata_is)
{
    static const struct path paths[] = {
        {"D4RL/pen-v1/data/metadata.json", 3, NULL},
        {"D4RL/pen-v1/data/main_data.hdf5", 50,
         "{\"total_episodes\":\"1\"}"}, /* the same dataset, not another */
        {"D4RL/pen-v1-more/x", 7, NULL},
        {"old-v0/data/main_data.hdf5", 20, "{\"total_episodes\":\"1\"}"},
        {"bare-v0/data/main_data.hdf5", 20, NULL},
        {"data/metadata.json", 1, NULL},              /* its id would be "" */
        {"a/files/b-v0/data/metadata.json", 1, NULL}, /* reserved in ids */
        {"xdata/metadata.json", 1, NULL},
        {"D4RL/namespace_metadata.json", 1, NULL},
    };
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files tree = {0};
    HUB_CLEANUP(hub_found_dispose) struct hub_found_list list = {0};
    make_tree(paths, HUB_COUNT(paths), &tree);
    cr_assert_eq(hub_found_scan(&list, &tree, "", NULL), HUB_OK);
    cr_assert_eq(list.count, 2);
    cr_expect_str_eq(list.items[0].id, "D4RL/pen-v1");
    cr_expect_eq(list.items[0].size, 53, "without what only begins so");
    cr_expect_eq(list.items[0].files, 2);
    cr_expect_eq(list.items[0].modified_ns, INT64_C(1700000050000000000), "of its newest file");
    cr_expect_not(list.items[0].old);
    cr_expect_null(list.items[0].metadata, "it is in a file of its own");
    cr_expect_str_eq(list.items[1].id, "old-v0");
    cr_expect(list.items[1].old);
    cr_expect_not_null(list.items[1].metadata);
    cr_expect_eq(strlen(list.items[1].revision), HUB_REVISION_CHARS);
}

Test(found, ids_begin_with_the_head)
{
    static const struct path paths[] = {{"pen-v1/data/metadata.json", 3, NULL}};
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files tree = {0};
    HUB_CLEANUP(hub_found_dispose) struct hub_found_list list = {0};
    make_tree(paths, HUB_COUNT(paths), &tree);
    cr_assert_eq(hub_found_scan(&list, &tree, "D4RL/", NULL), HUB_OK);
    cr_expect_str_eq(list.items[0].id, "D4RL/pen-v1");
    cr_expect_eq(list.items[0].files, 1);
}

Test(found, an_empty_tree_is_fine)
{
    struct hub_remote_files tree = {0};
    HUB_CLEANUP(hub_found_dispose) struct hub_found_list list = {0};
    struct hub_found *found = NULL;
    cr_assert_eq(hub_found_scan(&list, &tree, "", NULL), HUB_OK);
    cr_expect_eq(list.count, 0);
    cr_assert_eq(hub_found_add(&list, "a", &tree, "", &found, NULL), HUB_OK);
    cr_expect_eq(found->files, 0);
    cr_expect_str_eq(found->revision, "");
}

/* ---- listings ---- */

#define META(EPISODES, VERSION)                                                                              \
    "{\"dataset_id\":\"x\",\"total_episodes\":" #EPISODES ",\"total_steps\":" #EPISODES                      \
    "0,\"minari_version\":\"" VERSION "\",\"author\":\"A\"}"

static const struct answer metadata[] = {
    {.url = "u/pen-v1", .body = META(5, "0.5.0")},  {.url = "u/pen-v2", .body = META(2, "0.5.3")},
    {.url = "u/pen-v10", .body = META(9, "0.5.3")}, {.url = "u/D4RL/a-v0", .body = META(1, "0.5.1")},
    {.url = "u/zoo-v0", .body = "<html>"},          {NULL}};

static void make_list(struct hub_found_list *list)
{
    static const struct path paths[] = {
        {"pen-v10/data/metadata.json", 1, NULL}, {"pen-v1/data/metadata.json", 7, NULL},
        {"zoo-v0/data/metadata.json", 4, NULL},  {"D4RL/a-v0/data/metadata.json", 9, NULL},
        {"pen-v2/data/metadata.json", 2, NULL},
    };
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files tree = {0};
    make_tree(paths, HUB_COUNT(paths), &tree);
    cr_assert_eq(hub_found_scan(list, &tree, "", NULL), HUB_OK);
    for (uint32_t i = 0; i < list->count; i++)
        cr_assert_geq(asprintf(&list->items[i].url, "u/%s", list->items[i].id), 0);
    answers_set(metadata);
}

static enum hub_status note(json_t *item, struct hub_view text, void *user, struct hub_error *err)
{
    (void)text;
    return hub_buf_addf(user, err, "%s ", hub_member_text(item, "id"));
}

Test(found, which_and_in_which_order)
{
    static const struct {
        struct hub_remote_query query;
        const char *ids;
    } cases[] = {
        {{.brief = true}, "pen-v1 pen-v2 pen-v10 zoo-v0 D4RL/a-v0 "}, /* versions are numbers */
        {{.prefix = "pen-v1", .brief = true}, "pen-v1 pen-v10 "},
        {{.latest = true, .brief = true}, "pen-v10 zoo-v0 D4RL/a-v0 "},
        {{.release = "0.5.1"}, "pen-v1 D4RL/a-v0 "},
        {{.release = "0.5.1", .latest = true}, "pen-v1 D4RL/a-v0 "}, /* the newest that it loads */
        {{.sort = "-size", .brief = true}, "D4RL/a-v0 pen-v1 zoo-v0 pen-v2 pen-v10 "},
        {{.sort = "modified", .brief = true}, "pen-v10 pen-v2 zoo-v0 pen-v1 D4RL/a-v0 "},
        {{.sort = "episodes"}, "zoo-v0 D4RL/a-v0 pen-v2 pen-v1 pen-v10 "}, /* zoo tells none */
        {{.sort = "name", .brief = true}, "D4RL/a-v0 pen-v1 pen-v2 pen-v10 zoo-v0 "},
        {{.sort = "-id", .brief = true}, "D4RL/a-v0 zoo-v0 pen-v10 pen-v2 pen-v1 "},
        {{.status = "broken"}, "zoo-v0 "},
        {{.format = "minari-arrow", .brief = true}, ""},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_found_dispose) struct hub_found_list list = {0};
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(4 * KIB);
        make_list(&list);
        cr_assert_eq(hub_buf_add_text(&out, "", NULL), HUB_OK);
        cr_assert_eq(hub_found_each(&remote, &list, &cases[i].query, note, &out, NULL), HUB_OK, "%zu", i);
        cr_expect_str_eq(out.data, cases[i].ids, "%zu", i);
    }
}

Test(found, what_is_brief_loads_nothing)
{
    HUB_CLEANUP(hub_found_dispose) struct hub_found_list list = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(4 * KIB);
    make_list(&list);
    cr_assert_eq(hub_found_each(&remote, &list, &(struct hub_remote_query){.brief = true}, note, &out, NULL),
                 HUB_OK);
    cr_expect_eq(answers_count(), 0);
    cr_assert_eq(hub_found_each(&remote, &list, &(struct hub_remote_query){.latest = true}, note, &out, NULL),
                 HUB_OK);
    cr_expect_eq(answers_count(), 3, "of versions that are not the newest none are needed");
}

Test(found, what_only_a_hub_can_do_is_refused)
{
    const struct hub_remote_filter none[] = {{"q", NULL}, {0}}, words[] = {{"task", NULL}, {"q", "arm"}, {0}};
    HUB_CLEANUP(hub_found_dispose) struct hub_found_list list = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(4 * KIB);
    struct hub_error err = {0};
    make_list(&list);
    const struct hub_remote_query free_of_words = {.filters = none, .brief = true},
                                  with_words = {.filters = words, .brief = true},
                                  with_sort = {.sort = "-colour", .brief = true};
    cr_expect_eq(hub_found_each(&remote, &list, &free_of_words, note, &out, &err), HUB_OK);
    cr_expect_eq(hub_found_each(&remote, &list, &with_words, note, &out, &err), HUB_INVALID);
    cr_expect_str_eq(err.parameter, "q");
    cr_expect_eq(hub_found_each(&remote, &list, &with_sort, note, &out, &err), HUB_INVALID);
    cr_expect_str_eq(err.parameter, "sort");
}

/* ---- one ---- */

static json_t *describe(struct hub_found_list *list, const char *id, const char *release,
                        struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    json_t *out = NULL;
    return hub_found_describe(&remote, list, id, release, &text, &out, err) ? NULL : out;
}

Test(found, a_name_is_its_newest_version)
{
    static const struct {
        const char *asked, *release, *id; /* NULL: none */
    } cases[] = {
        {"pen", NULL, "pen-v10"},   {"pen", "0.5.1", "pen-v1"},
        {"pen-v2", NULL, "pen-v2"}, {"pen-v2", "0.5.1", "pen-v2"},
        {"pen-v3", NULL, NULL},     {"pen", "0.4.3", NULL},
        {"pe", NULL, NULL},         {"D4RL/a", NULL, "D4RL/a-v0"},
        {"a", NULL, NULL},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_found_dispose) struct hub_found_list list = {0};
        struct hub_error err = {0};
        make_list(&list);
        HUB_CLEANUP(hub_json_decrefp) json_t *one = describe(&list, cases[i].asked, cases[i].release, &err);
        if (cases[i].id)
            cr_expect_str_eq(hub_member_text(one, "id"), cases[i].id);
        else
            cr_expect_eq(err.problem, HUB_PROBLEM_DATASET_NOT_FOUND, "%s", cases[i].asked);
    }
}

Test(found, versions_that_are_there_are_named)
{
    HUB_CLEANUP(hub_found_dispose) struct hub_found_list list = {0};
    struct hub_error err = {0};
    make_list(&list);
    cr_expect_null(describe(&list, "pen-v3", NULL, &err));
    cr_expect_not_null(strstr(err.detail, "(there are: pen-v1, pen-v2, pen-v10)"), "%s", err.detail);
}

Test(found, what_is_spelled_nearly_so_is_named)
{
    HUB_CLEANUP(hub_found_dispose) struct hub_found_list list = {0};
    struct hub_error err = {0};
    cr_expect_null(describe(&list, "D4RL/pen/hunam-v2", NULL, &err));
    cr_expect_not_null(strstr(err.detail, "(nearest: D4RL/pen/human-v2"), "%s", err.detail);
    cr_expect_null(describe(&list, "nothing-like-it-at-all-v0", NULL, &err));
    cr_expect_null(strstr(err.detail, "nearest"), "%s", err.detail);
}

Test(found, metadata_as_python_wrote_it)
{
    static const struct answer answers[] = {
        {.url = "u/a-v0",
         .body =
             "{\"total_episodes\":3,\"total_steps\":-1,\"minari_version\":\"0.5.3\",\"author\":[\"A\",\"B\"],"
             "\"data_format\":\"arrow\",\"best\":NaN,\"action_space\":\"{\\\"low\\\": [-Infinity]}\"}"},
        {NULL}};
    static const struct path paths[] = {{"a-v0/data/metadata.json", 1, NULL}};
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files tree = {0};
    HUB_CLEANUP(hub_found_dispose) struct hub_found_list list = {0};
    make_tree(paths, 1, &tree);
    cr_assert_eq(hub_found_scan(&list, &tree, "", NULL), HUB_OK);
    list.items[0].url = strdup("u/a-v0");
    answers_set(answers);
    HUB_CLEANUP(hub_json_decrefp) json_t *one = describe(&list, "a-v0", NULL, NULL);
    cr_assert_not_null(one);
    cr_expect_str_eq(hub_member_text(one, "format"), "minari-arrow");
    cr_expect_str_eq(hub_member_text(one, "status"), "ready");
    cr_expect_eq(hub_member_uint(one, "episodes"), 3);
    cr_expect_eq(hub_member_uint(one, "steps"), 0, "no count is negative");
    cr_expect_eq(hub_member_uint(one, "version"), 0);
    cr_expect_str_eq(hub_member_text(one, "name"), "a");
    cr_expect_eq(json_array_size(json_object_get(one, "authors")), 2);
    cr_expect(json_is_object(json_object_get(one, "action_space")), "the text of a space is JSON itself");
    cr_expect_eq(json_array_size(json_object_get(one, "loadable_by")), 2, "0.5.3 and 0.5.4");
    cr_expect_str_eq(hub_member_text(one, "modified"), "2023-11-14T22:13:21.000Z");
}

Test(found, the_storage_that_its_metadata_states)
{
    static const struct {
        const char *body, *format;
    } cases[] = {
        {"{\"data_format\":\"hdf5\"}", "minari-hdf5"},
        {"{\"data_format\":\"arrow\"}", "minari-arrow"},
        {"{\"data_format\":\"parquet\"}", "minari-parquet"},
        {"{}", "minari-hdf5"}, /* releases before 0.5 */
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        static const struct path paths[] = {{"a-v0/data/metadata.json", 1, NULL}};
        const struct answer answers[] = {{.url = "u", .body = cases[i].body}, {NULL}};
        HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files tree = {0};
        HUB_CLEANUP(hub_found_dispose) struct hub_found_list list = {0};
        make_tree(paths, 1, &tree);
        cr_assert_eq(hub_found_scan(&list, &tree, "", NULL), HUB_OK);
        list.items[0].url = strdup("u");
        answers_set(answers);
        HUB_CLEANUP(hub_json_decrefp) json_t *one = describe(&list, "a-v0", NULL, NULL);
        cr_assert_not_null(one);
        cr_expect_str_eq(hub_member_text(one, "format"), cases[i].format);
    }
}

Test(found, what_is_wrong_with_its_metadata_is_said)
{
    static const struct {
        enum hub_status st;
        const char *body, *reason; /* NULL: the whole fails */
    } cases[] = {
        {HUB_OK, "<html>", "its metadata.json is not JSON"},
        {HUB_OK, "[]", "its metadata.json is not an object"},
        {HUB_OK, "", "its metadata.json is not JSON"},
        {HUB_NOT_FOUND, "", "it has no data/metadata.json"},
        {HUB_TOO_BIG, "", "its metadata.json is too long"},
        {HUB_IO, "", NULL},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        static const struct path paths[] = {{"a-v0/data/metadata.json", 1, NULL}};
        const struct answer answers[] = {{.url = "u", .status = cases[i].st, .body = cases[i].body}, {NULL}};
        HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files tree = {0};
        HUB_CLEANUP(hub_found_dispose) struct hub_found_list list = {0};
        make_tree(paths, 1, &tree);
        cr_assert_eq(hub_found_scan(&list, &tree, "", NULL), HUB_OK);
        list.items[0].url = strdup("u");
        answers_set(answers);
        HUB_CLEANUP(hub_json_decrefp) json_t *one = describe(&list, "a-v0", NULL, NULL);
        cr_assert_eq(one != NULL, cases[i].reason != NULL, "%zu", i);
        if (!one)
            continue;
        cr_expect_str_eq(hub_member_text(one, "reason"), cases[i].reason);
        cr_expect_str_eq(hub_member_text(one, "status"), "broken");
        cr_expect_eq(json_array_size(json_object_get(one, "problems")), 1);
    }
}

Test(found, metadata_of_an_object_are_all_texts)
{
    static const struct path paths[] = {
        {"a-v0/data/main_data.hdf5", 1,
         "{\"total_episodes\":\"12\",\"total_steps\":\"x\",\"author\":\"['A B' \\\"C\\\" 'cut]\","
         "\"minari_version\":\">=0.4.0,<0.5\"}"}};
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files tree = {0};
    HUB_CLEANUP(hub_found_dispose) struct hub_found_list list = {0};
    make_tree(paths, 1, &tree);
    cr_assert_eq(hub_found_scan(&list, &tree, "", NULL), HUB_OK);
    HUB_CLEANUP(hub_json_decrefp) json_t *one = describe(&list, "a-v0", NULL, NULL);
    cr_assert_not_null(one);
    cr_expect_eq(hub_member_uint(one, "episodes"), 12);
    cr_expect_eq(hub_member_uint(one, "steps"), 0);
    const json_t *authors = json_object_get(one, "authors");
    cr_assert_eq(json_array_size(authors), 2);
    cr_expect_str_eq(json_string_value(json_array_get(authors, 0)), "A B");
    cr_expect_str_eq(json_string_value(json_array_get(authors, 1)), "C");
    cr_expect_eq(json_array_size(json_object_get(one, "loadable_by")), 4, "0.4.0 to 0.4.3");
}
