/* Shards by the row of a format. */
#include "server/api/datasets/shards.h"

#include <criterion/criterion.h>

static void expect_shards(const char *format, const char *paths, const char *expected)
{
    HUB_CLEANUP(hub_freep) char *copy = strdup(paths);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    struct hub_error err = {0};
    struct hub_summary summary = {.id = "s/x", .format = format};
    struct hub_dataset_file files[8] = {0};
    struct hub_dataset dataset = {.summary = &summary, .files = files};
    for (char *at = strtok(copy, " "); at; at = strtok(NULL, " "))
        files[dataset.file_count++].path = at;
    struct hub_json json = hub_json_to(&text, &err);
    hub_json_object(&json);
    cr_assert_eq(hub_shards_write(&json, &dataset, &err), HUB_OK, "%s", err.detail);
    hub_json_end_object(&json);
    cr_assert_eq(hub_json_status(&json), HUB_OK);
    cr_expect(hub_view_is(hub_buf_view(&text), expected), "%s: %.*s", paths, (int)text.size, text.data);
}

#define FILES "/api/v1/datasets/s/x/files/"

Test(shards, of_a_format_that_has_them)
{
    static const struct {
        const char *paths, *shards;
    } cases[] = {
        {"", "{}"},
        {"x.json a.parquet", "{}"},
        {"a-000.tar a-001.tar", "{\"shards\":[\"" FILES "a-{000..001}.tar\"]}"},
        {"a-9.tar a-10.tar", "{\"shards\":[\"" FILES "a-{9..10}.tar\"]}"},
        {"a-000.tar a-002.tar", "{\"shards\":[\"" FILES "a-000.tar\",\"" FILES "a-002.tar\"]}"},
        {"in/a-1.tar.bz2 in/a-2.tar.bz2", "{\"shards\":[\"" FILES "in/a-{1..2}.tar.bz2\"]}"},
        {"7.tgz", "{\"shards\":[\"" FILES "7.tgz\"]}"},
        {"v1.2/a.tar", "{\"shards\":[\"" FILES "v1.2/a.tar\"]}"}, /* numbers of a folder count nothing */
        {"a.train.tar", "{\"shards\":[\"" FILES "a.train.tar\"]}"},
        {"a.tgz.txt tar", "{}"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        expect_shards("webdataset", cases[i].paths, cases[i].shards);
}

Test(shards, of_formats_without)
{
    expect_shards("molmospaces-shards", "a-000.tar", "{}");
    expect_shards("files", "a-000.tar", "{}");
    expect_shards("of-a-newer-hub", "a-000.tar", "{}");
}
