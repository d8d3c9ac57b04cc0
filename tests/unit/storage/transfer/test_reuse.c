#include "storage/transfer/reuse.h"

#include "place.h"

#include <sys/stat.h>

TestSuite(reuse, .init = set_up, .fini = tear_down);

static enum hub_status go_on(void *user, struct hub_error *err)
{
    (void)user, (void)err;
    return HUB_OK;
}

static struct hub_file_facts files[] = {
    {.path = (char *)"data/a", .size = 5, .other = HUB_BY_MD5, .sum = {1}},
    {.path = (char *)"data/b", .size = 5, .other = HUB_BY_MD5, .sum = {2}},
    {.path = (char *)"data/c", .size = 5, .other = HUB_BY_MD5, .sum = {3}},
    {.path = (char *)"top", .size = 5, .other = HUB_BY_MD5, .sum = {4}, .modified_ns = 7000000000}};
static struct hub_remote_files plan = {
    .id = (char *)"x-v0", .revision = (char *)"r2", .items = files, .count = 4, .bytes = 20, .timed = true};

/* The old dataset: as the remote lists it now, but for the sum of "data/b" and the time of "data/c". */
static struct hub_reuse old(int *directory)
{
    static struct hub_file_facts origins[4];
    for (size_t i = 0; i < 4; i++) {
        struct stat st;
        char path[64];
        snprintf(path, sizeof path, "x-v0/%s", files[i].path);
        write_file(in(path), "bytes");
        cr_assert_eq(stat(in(path), &st), 0);
        origins[i] = (struct hub_file_facts){.path = files[i].path,
                                             .size = 5,
                                             .modified_ns = (int64_t)hub_stamp_of(&st).mtime_ns,
                                             .has_sha256 = i == 0,
                                             .sha256 = {42},
                                             .other = HUB_BY_MD5};
        memcpy(origins[i].sum, files[i].sum, sizeof origins[i].sum);
    }
    origins[1].sum[0] = 9;
    origins[2].modified_ns++;
    *directory = open(in("x-v0"), O_RDONLY | O_DIRECTORY);
    return (struct hub_reuse){*directory, origins, 4};
}

static nlink_t names_of(int directory, const char *path)
{
    struct stat st;
    return fstatat(directory, path, &st, 0) ? 0 : st.st_nlink;
}

Test(reuse, what_is_the_same_is_linked_and_never_written_to)
{
    struct hub_staging s = HUB_STAGING_INIT;
    int directory, fd;
    const struct hub_reuse have = old(&directory);
    cr_assert_eq(hub_staging_open(&place, plan.id, &s, NULL), HUB_OK);
    cr_assert_eq(hub_staging_plan(&s, &plan, 4096, go_on, NULL, NULL), HUB_OK);
    hub_reuse_take(&have, &s);
    cr_assert_eq(s.bytes_taken, 10);
    cr_assert_eq(s.files[0].missing, 0);
    cr_assert(s.files[0].sums.known && s.files[0].sums.has_sha256 && s.files[0].sums.sha256[0] == 42);
    cr_assert_eq(s.files[1].missing, 1, "another digest");
    cr_assert_eq(s.files[2].missing, 1, "changed here");
    cr_assert_eq(s.files[3].missing, 0);
    cr_assert_not(s.files[3].sums.known, "a copy, as its time is another one: to be hashed");
    cr_assert_eq(names_of(directory, "data/a"), 2);
    cr_assert_eq(names_of(directory, "top"), 1);

    cr_assert_eq(hub_staging_file(&s, "data/a", &fd, NULL), HUB_OK);
    cr_assert_eq(pwrite(fd, "other", 5, 0), 5);
    close(fd);
    cr_assert_eq(names_of(directory, "data/a"), 1);
    cr_assert(holds_text(in("x-v0/data/a"), "bytes"));
    close(directory);
    hub_staging_close(&s, true);
}

Test(reuse, a_time_alone_is_no_reason_to_copy)
{
    struct hub_staging s = HUB_STAGING_INIT;
    int directory;
    const struct hub_reuse have = old(&directory);
    struct hub_remote_files untimed = plan;
    untimed.timed = false;
    cr_assert_eq(hub_staging_open(&place, plan.id, &s, NULL), HUB_OK);
    cr_assert_eq(hub_staging_plan(&s, &untimed, 4096, go_on, NULL, NULL), HUB_OK);
    hub_reuse_take(&have, &s);
    cr_assert(s.files[3].sums.known);
    cr_assert_eq(names_of(directory, "top"), 2);
    close(directory);
    hub_staging_close(&s, true);
}
