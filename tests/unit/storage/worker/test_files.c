/* The files' helpers over files in memory. */
#include "storage/formats/registry.h"

#include <criterion/criterion.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned open_now;

static enum hub_status open_memory(struct hub_files *files, uint32_t number, int *fd, struct hub_error *err)
{
    if (number >= files->count)
        return hub_fail(err, HUB_NOT_FOUND, "no file %u", number);
    *fd = memfd_create("file", 0);
    cr_assert_eq(pwrite(*fd, "0123456789", 10, 0), 10);
    open_now++;
    return HUB_OK;
}

static void close_memory(struct hub_files *files, uint32_t number)
{
    (void)files, (void)number;
    open_now--;
}

static int side_fd = -1;

static enum hub_status side_memory(struct hub_files *files, int *fd, struct hub_error *err)
{
    (void)files, (void)err;
    if (side_fd < 0)
        side_fd = memfd_create("side", 0);
    *fd = side_fd;
    return HUB_OK;
}

static struct hub_file_entry entries[] = {
    {{"a", 1}, 10, false},  {{"a-b", 3}, 10, false}, {{"a/b", 3}, 10, false},
    {{"data", 4}, 0, true}, {{"z", 1}, 12, false},
};

static struct hub_files files_of(void)
{
    return (struct hub_files){.entries = entries,
                              .count = HUB_COUNT(entries),
                              .open = open_memory,
                              .close = close_memory,
                              .side = side_memory,
                              .side_budget = 40};
}

Test(files, find)
{
    struct hub_files files = files_of();
    for (uint32_t i = 0; i < files.count; i++)
        cr_expect_eq(hub_files_find(&files, entries[i].path.data), i);
    cr_expect_eq(hub_files_find(&files, "b"), HUB_NONE);
    cr_expect_eq(hub_files_find(&files, ""), HUB_NONE);
    files.count = 0;
    cr_expect_eq(hub_files_find(&files, "a"), HUB_NONE);
}

Test(files, find_where_entries_were_claimed)
{
    struct hub_files files = files_of();
    entries[1].path.size = entries[2].path.size = 0;
    cr_expect_eq(hub_files_find(&files, "a"), 0);
    cr_expect_eq(hub_files_find(&files, "z"), 4);
    cr_expect_eq(hub_files_find(&files, "a-b"), HUB_NONE);
}

Test(files, read)
{
    struct hub_files files = files_of();
    char out[20];
    size_t got;
    cr_assert_eq(hub_files_read(&files, 0, 4, out, 3, &got, NULL), HUB_OK);
    cr_expect_eq(got, 3);
    cr_expect_eq(memcmp(out, "456", 3), 0);
    cr_assert_eq(hub_files_read(&files, 0, 8, out, 10, &got, NULL), HUB_OK);
    cr_expect_eq(got, 2);
    cr_assert_eq(hub_files_read(&files, 0, 1000, out, 10, &got, NULL), HUB_OK);
    cr_expect_eq(got, 0);
    cr_expect_eq(hub_files_read(&files, 0, UINT64_MAX, out, 10, &got, NULL), HUB_OUT_OF_RANGE);
    cr_expect_eq(hub_files_read(&files, 9, 0, out, 10, &got, NULL), HUB_NOT_FOUND);
    cr_expect_eq(open_now, 0);
}

Test(files, load)
{
    struct hub_files files = files_of();
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf buf = HUB_BUF_INIT(100);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf small = HUB_BUF_INIT(9);
    cr_assert_eq(hub_files_load(&files, 0, &buf, NULL), HUB_OK);
    cr_expect_str_eq(buf.data, "0123456789");
    cr_expect_eq(hub_files_load(&files, 0, &small, NULL), HUB_TOO_BIG);
    cr_expect_eq(hub_files_load(&files, 4, &buf, NULL), HUB_CHANGED, "two bytes are missing");
    cr_expect_eq(hub_files_load(&files, 9, &buf, NULL), HUB_NOT_FOUND);
}

Test(files, side_data)
{
    struct hub_files files = files_of();
    uint64_t at = 99;
    cr_assert_eq(hub_files_side_add(&files, "12345", 5, &at, NULL), HUB_OK);
    cr_expect_eq(at, 0);
    cr_assert_eq(hub_files_side_add(&files, "12345678", 8, &at, NULL), HUB_OK);
    cr_expect_eq(at, 8);
    cr_assert_eq(hub_files_side_add(&files, "1234567890123456789012345", 25, &at, NULL), HUB_TOO_BIG);
    cr_assert_eq(hub_files_side_add(&files, "123456789012345678901234", 24, &at, NULL), HUB_OK);
    cr_expect_eq(at, 16);
    cr_expect_eq(files.side_size, 40);
    cr_assert_eq(hub_files_side_add(&files, "1", 1, &at, NULL), HUB_TOO_BIG);
}

Test(files, formats_are_found_by_name)
{
    for (const struct hub_format *const *f = hub_formats; *f; f++)
        cr_expect_eq(hub_format_find(hub_formats, (*f)->name), *f);
    cr_expect_null(hub_format_find(hub_formats, "nothing"));
}
