#include "storage/transfer/staging.h"

#include "place.h"

#include <sys/wait.h>

TestSuite(staging, .init = set_up, .fini = tear_down);

enum { SEGMENT = 4096 };

static enum hub_status go_on(void *user, struct hub_error *err)
{
    (void)user, (void)err;
    return HUB_OK;
}

static struct hub_file_facts files[] = {{.path = (char *)"data/a", .size = 3 * SEGMENT + 1},
                                        {.path = (char *)"data/b", .size = 10}};
static struct hub_remote_files plan = {
    .id = (char *)"x-v0", .revision = (char *)"r1", .items = files, .count = 2, .bytes = 3 * SEGMENT + 11};

/* Write segment `n` of file 0, all of one byte, and say so. */
static void put_segment(struct hub_staging *s, uint32_t n, char byte)
{
    char bytes[SEGMENT];
    int fd;
    uint64_t first, count;
    memset(bytes, byte, sizeof bytes);
    hub_segment_range(files[0].size, SEGMENT, n, &first, &count);
    cr_assert_eq(hub_staging_file(s, files[0].path, &fd, NULL), HUB_OK);
    cr_assert_eq(pwrite(fd, bytes, (size_t)count, (off_t)first), (ssize_t)count);
    close(fd);
    cr_assert_eq(hub_staging_done(s, 0, n, hub_crc32c(0, bytes, (size_t)count), NULL), HUB_OK);
}

static const char *in_tree(const struct hub_staging *s, const char *path)
{
    static char out[2][PATH_MAX + 64];
    static unsigned next;
    char *at = out[next++ % 2];
    snprintf(at, sizeof out[0], "%.4000s/tree/%s", s->path, path);
    return at;
}

static void open_plan(struct hub_staging *s)
{
    struct hub_error err = {0};
    cr_assert_eq(hub_staging_open(&place, plan.id, s, &err), HUB_OK, "%s", err.detail);
    cr_assert_eq(hub_staging_plan(s, &plan, SEGMENT, go_on, NULL, &err), HUB_OK, "%s", err.detail);
}

Test(staging, segments)
{
    uint64_t first, count;
    cr_assert_eq(hub_segment_count(0, SEGMENT), 0);
    cr_assert_eq(hub_segment_count(1, SEGMENT), 1);
    cr_assert_eq(hub_segment_count(SEGMENT, SEGMENT), 1);
    cr_assert_eq(hub_segment_count(SEGMENT + 1, SEGMENT), 2);
    hub_segment_range(SEGMENT + 1, SEGMENT, 1, &first, &count);
    cr_assert(first == SEGMENT && count == 1);
}

Test(staging, keeps_what_is_done)
{
    struct hub_staging s;
    open_plan(&s);
    cr_assert_eq(s.bytes_kept, 0);
    put_segment(&s, 1, 'b');
    put_segment(&s, 3, 'd'); /* the short last one */
    hub_staging_close(&s, false);
    open_plan(&s);
    cr_assert_eq(s.bytes_kept, SEGMENT + 1);
    cr_assert_eq(s.files[0].missing, 2);
    cr_assert_eq(s.states[1], HUB_SEGMENT_DONE);
    cr_assert_eq(s.states[0], HUB_SEGMENT_MISSING);
    hub_staging_close(&s, true);
    cr_assert_neq(access(s.path, F_OK), 0);
}

Test(staging, believes_no_record_whose_bytes_differ)
{
    struct hub_staging s;
    open_plan(&s);
    put_segment(&s, 0, 'a');
    put_segment(&s, 1, 'b');
    int fd;
    cr_assert_eq(hub_staging_file(&s, files[0].path, &fd, NULL), HUB_OK);
    cr_assert_eq(pwrite(fd, "X", 1, SEGMENT + 7), 1); /* as a lost write after a power cut would leave it */
    close(fd);
    hub_staging_close(&s, false);
    open_plan(&s);
    cr_assert_eq(s.bytes_kept, SEGMENT);
    hub_staging_close(&s, false);
}

Test(staging, survives_a_torn_journal)
{
    struct hub_staging s;
    open_plan(&s);
    put_segment(&s, 0, 'a');
    put_segment(&s, 1, 'b');
    cr_assert_eq(ftruncate(s.journal, HUB_SEGMENT_RECORD + 5), 0);
    hub_staging_close(&s, false);
    open_plan(&s);
    cr_assert_eq(s.bytes_kept, SEGMENT);
    put_segment(&s, 2, 'c'); /* goes behind the whole records, not behind the torn one */
    hub_staging_close(&s, false);
    open_plan(&s);
    cr_assert_eq(s.bytes_kept, 2 * SEGMENT);
    cr_assert_eq(hub_staging_forget(&s, 0, NULL), HUB_OK);
    hub_staging_close(&s, false);
    open_plan(&s);
    cr_assert_eq(s.bytes_kept, 0);
    hub_staging_close(&s, false);
}

Test(staging, another_plan_starts_over)
{
    struct hub_staging s;
    open_plan(&s);
    put_segment(&s, 0, 'a');
    hub_staging_close(&s, false);
    plan.revision = (char *)"r2";
    open_plan(&s);
    cr_assert_eq(s.bytes_kept, 0);
    int fd;
    cr_assert_eq(hub_fs_open_beneath(s.tree, "data/a", O_RDONLY, 0, &fd, NULL), HUB_NOT_FOUND,
                 "no byte of the old revision");
    put_segment(&s, 0, 'a');
    files[1].size = 11;
    hub_staging_close(&s, false);
    open_plan(&s);
    cr_assert_eq(s.bytes_kept, 0, "another size");
    hub_staging_close(&s, false);
}

Test(staging, what_another_revision_has_too_is_kept)
{
    struct hub_staging s;
    files[0].other = files[1].other = HUB_BY_CRC32C;
    files[0].sum[0] = 7;
    open_plan(&s);
    put_segment(&s, 0, 'a');
    put_segment(&s, 1, 'b');
    hub_staging_close(&s, false);
    plan.revision = (char *)"r2";
    files[1].sum[0] = 1;
    write_file(in_tree(&s, "data/b"), "old");
    write_file(in_tree(&s, "data/gone/too"), "old");
    open_plan(&s);
    cr_assert_eq(s.bytes_kept, 2 * SEGMENT);
    cr_assert_neq(access(in_tree(&s, "data/b"), F_OK), 0);
    cr_assert_neq(access(in_tree(&s, "data/gone"), F_OK), 0);
    hub_staging_close(&s, false);
    plan.revision = (char *)"r3";
    files[0].sum[0] = 9;
    open_plan(&s);
    cr_assert_eq(s.bytes_kept, 0);
    hub_staging_close(&s, true);
}

Test(staging, one_at_a_time)
{
    struct hub_staging s;
    open_plan(&s);
    const pid_t pid = fork();
    if (pid == 0) {
        struct hub_staging other;
        struct hub_error err = {0};
        _exit(hub_staging_open(&place, plan.id, &other, &err) == HUB_BUSY &&
                      err.problem == HUB_PROBLEM_DOWNLOAD_RUNNING
                  ? 0
                  : 1);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    hub_staging_close(&s, false);
}

Test(staging, has_no_child_named_data)
{
    struct hub_staging s;
    open_plan(&s);
    put_segment(&s, 0, 'a');
    cr_assert_neq(access(in(HUB_PRIVATE_DIR "/data"), F_OK), 0);
    cr_assert_neq(access(in(HUB_PRIVATE_DIR "/incoming/data"), F_OK), 0);
    hub_staging_close(&s, false);
}

static int see(const struct hub_staged *d, void *user)
{
    *(struct hub_staged *)user = *d;
    return 0;
}

Test(staging, what_is_unfinished_is_told_and_can_be_thrown_away)
{
    struct hub_staging s;
    struct hub_staged seen = {0};
    open_plan(&s);
    put_segment(&s, 1, 'b');
    put_segment(&s, 2, 'c');
    cr_assert_eq(hub_staging_each(&place, see, &seen, NULL), HUB_OK);
    cr_assert_str_eq(seen.id, "x-v0");
    cr_assert(seen.running && seen.bytes == plan.bytes && seen.segments == 5 && seen.segments_done == 2);
    cr_assert_eq(hub_staging_discard(&place, "x-v0", NULL), HUB_BUSY);
    hub_staging_close(&s, false);
    cr_assert_eq(hub_staging_each(&place, see, &seen, NULL), HUB_OK);
    cr_assert_not(seen.running);
    cr_assert_eq(hub_staging_discard(&place, "x-v0", NULL), HUB_OK);
    cr_assert_eq(hub_staging_discard(&place, "x-v0", NULL), HUB_NOT_FOUND);
    seen = (struct hub_staged){0};
    cr_assert_eq(hub_staging_each(&place, see, &seen, NULL), HUB_OK);
    cr_assert_eq(*seen.id, '\0');
}
