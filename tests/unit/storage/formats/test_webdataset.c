/* The names of storage/formats/webdataset.c, and its claims over folders made of fixtures. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "storage/formats/webdataset/webdataset.h"

struct name_case {
    char name[40];
    bool sample;
    char key[24], field[24];
};

ParameterizedTestParameters(webdataset, names)
{
    static struct name_case cases[] = {
        {"a.txt", true, "a", "txt"},
        {"left/000.state.npy", true, "left/000", "state.npy"},
        {"sub.dir/d.e.f.txt", true, "sub.dir/d", "e.f.txt"},
        {"../escape.txt", true, "../escape", "txt"}, /* a key is a label, never a path */
        {"/absolute.txt", true, "/absolute", "txt"},
        {"__key__.txt", true, "__key__", "txt"},
        {"README", false, "", ""},
        {".hidden", false, "", ""},
        {"dir/.hidden", false, "", ""},
        {"ends.", false, "", ""},
        {"__index__", false, "", ""},
        {"__meta__/x.txt", false, "", ""},
        {"", false, "", ""},
    };
    return cr_make_param_array(struct name_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct name_case *c, webdataset, names)
{
    struct hub_view key = {"", 0}, field = {"", 0};
    cr_assert_eq(hub_wds_split(hub_view_of(c->name), &key, &field), c->sample, "%s", c->name);
    cr_assert(hub_view_is(key, c->key), "%s", c->name);
    cr_assert(hub_view_is(field, c->field), "%s", c->name);
}

struct shard_case {
    char path[40];
    enum hub_wds_packing packing;
    bool numbered;
    char series[24];
};

ParameterizedTestParameters(webdataset, shards)
{
    static struct shard_case cases[] = {
        {"train-000012.tar", HUB_WDS_TAR, true, "train-"},
        {"000012.tar", HUB_WDS_TAR, true, ""},
        {"train-00003-of-00010.tar", HUB_WDS_TAR, true, "train-"},
        {"demos.tar", HUB_WDS_TAR, false, "demos"},
        {"demos.tgz", HUB_WDS_PACKED, false, "demos"},
        {"a/b-1.tar.zst", HUB_WDS_PACKED, true, "a/b-"},
        {"x.tar.gz", HUB_WDS_PACKED, false, "x"},
        {"x.zip", HUB_WDS_NOT, false, ""},
        {"tar", HUB_WDS_NOT, false, ""},
    };
    return cr_make_param_array(struct shard_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct shard_case *c, webdataset, shards)
{
    const struct hub_wds_shard s = hub_wds_shard_of(hub_view_of(c->path));
    cr_assert_eq(s.packing, c->packing, "%s", c->path);
    cr_assert_eq(s.numbered, c->numbered, "%s", c->path);
    cr_assert(hub_view_is(s.series, c->series), "%s: %.*s", c->path, (int)s.series.size, s.series.data);
}

/* ---- claims ---- */

extern const struct hub_format hub_format_webdataset;

/* Every shard of a listing is this fixture. */
static enum hub_status open_fixture(struct hub_files *files, uint32_t number, int *fd, struct hub_error *err)
{
    const struct hub_view path = files->entries[number].path;
    const char *name = hub_view_ends(path, "gz") ? "plain-gz/steps.tar.gz" : "plain/steps-000000.tar";
    char full[1000];
    snprintf(full, sizeof full, "%s/webdataset/%s", HUB_FIXTURES, name);
    if (hub_view_starts(path, "fake"))
        snprintf(full, sizeof full, "/dev/null");
    *fd = open(full, O_RDONLY | O_CLOEXEC);
    return *fd < 0 ? hub_fail(err, HUB_IO, "no fixture") : HUB_OK;
}

static int opened = -1;
static unsigned opens;

static enum hub_status open_one(struct hub_files *files, uint32_t number, int *fd, struct hub_error *err)
{
    HUB_TRY(open_fixture(files, number, fd, err));
    opened = *fd;
    opens++;
    return HUB_OK;
}

static void close_one(struct hub_files *files, uint32_t number)
{
    (void)files;
    (void)number;
    close(opened);
}

static struct hub_files listing_of(struct hub_file_entry *entries, uint32_t count)
{
    return (struct hub_files){.entries = entries, .count = count, .open = open_one, .close = close_one};
}

#define ENTRY(name, bytes)                                                                                   \
    {                                                                                                        \
        HUB_VIEW(name), bytes, false                                                                         \
    }

Test(webdataset, a_folder_of_shards_is_one_dataset)
{
    struct hub_file_entry entries[] = {ENTRY("README.md", 100), ENTRY("train-0.tar", 40960),
                                       ENTRY("train-1.tar", 40960)};
    struct hub_files listing = listing_of(entries, 3);
    cr_assert_gt(hub_format_webdataset.claim_directory(&listing), 0);
    entries[0].size = 100 * MIB; /* something else that matters */
    cr_assert_eq(hub_format_webdataset.claim_directory(&listing), 0);
    entries[0].size = 100;
    entries[0].directory = true;
    cr_assert_eq(hub_format_webdataset.claim_directory(&listing), 0);
}

Test(webdataset, series_in_a_mixed_folder)
{
    struct hub_file_entry entries[] = {ENTRY("big.bin", 99999999),  ENTRY("fake-0.tar", 40960),
                                       ENTRY("one.tar", 40960),     ENTRY("steps.tar.gz", 514),
                                       ENTRY("train-0.tar", 40960), ENTRY("train-1.tar", 40960),
                                       ENTRY("val-0.tar", 40960)};
    static const char *const names[] = {"one", "steps", "train", "val"};
    static const uint32_t counts[] = {1, 1, 2, 1};
    struct hub_files listing = listing_of(entries, HUB_COUNT(entries));
    uint32_t files[HUB_COUNT(entries)];
    struct hub_claim claim = {.files = files};
    for (size_t i = 0; i < HUB_COUNT(names); i++) {
        cr_assert_gt(hub_format_webdataset.claim_files(&listing, &claim), 0);
        cr_assert_str_eq(claim.name, names[i]);
        cr_assert_eq(claim.file_count, counts[i]);
        for (uint32_t k = 0; k < claim.file_count; k++)
            entries[claim.files[k]] = (struct hub_file_entry){{NULL, 0}, 0, false};
    }
    cr_assert_eq(hub_format_webdataset.claim_files(&listing, &claim), 0);
}

/* 3,000 tars that are no series, every other one without samples: each is looked at once. */
Test(webdataset, unrelated_tars_are_looked_at_once)
{
    enum { TARS = 3000 };
    static struct hub_file_entry entries[TARS];
    static char names[TARS][16];
    static uint32_t files[TARS];
    struct hub_files listing = listing_of(entries, TARS);
    struct hub_claim claim = {.files = files};
    unsigned found = 0;
    for (unsigned i = 0; i < TARS; i++) {
        snprintf(names[i], sizeof names[i], i < TARS / 2 ? "fake%04u-x.tar" : "run%04u-x.tar", i);
        entries[i] = (struct hub_file_entry){hub_view_of(names[i]), 40960, false};
    }
    opens = 0;
    for (; hub_format_webdataset.claim_files(&listing, &claim); found++) {
        cr_assert_eq(claim.file_count, 1);
        entries[claim.files[0]] = (struct hub_file_entry){{NULL, 0}, 0, false};
    }
    cr_expect_eq(found, TARS / 2);
    cr_expect_leq(opens, 5 * TARS, "%u", opens); /* a few reads each, however many there are */
}
