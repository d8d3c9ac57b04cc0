#include "storage/transfer/hash_pipeline.h"

#include "folder.h"

#include <stdatomic.h>
#include <stdio.h>

TestSuite(hash_pipeline, .init = make_folder, .fini = remove_folder);

enum { FILES = 5, STEP = 700001, STEPS = 4 };

static atomic_uint reported;

static void whole(void *user, uint32_t file)
{
    (void)user;
    atomic_fetch_or(&reported, 1u << file);
}

static void begin(struct hub_hashed_file *f, uint32_t number, struct hub_sums *sums, int fd)
{
    *f = (struct hub_hashed_file){.file = number, .fd = fd, .sums = sums};
    cr_assert_eq(hub_file_hasher_begin(&f->hasher, HUB_BY_CRC32C, (uint64_t)STEP * STEPS, NULL), HUB_OK);
}

static int make_file(struct hub_sums *sums)
{
    static char bytes[STEP * STEPS];
    struct hub_file_hasher hasher;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * i >> 7);
    const struct hub_view all = {bytes, sizeof bytes};
    cr_assert_eq(hub_fs_write(AT_FDCWD, in("file"), all, 0644, NULL), HUB_OK);
    cr_assert_eq(hub_file_hasher_begin(&hasher, HUB_BY_CRC32C, all.size, NULL), HUB_OK);
    cr_assert_eq(hub_file_hasher_add(&hasher, all, NULL), HUB_OK);
    cr_assert_eq(hub_file_hasher_end(&hasher, sums, NULL), HUB_OK);
    return open(in("file"), O_RDONLY);
}

Test(hash_pipeline, files_followed_in_steps_have_the_sums_of_their_bytes)
{
    struct hub_hash_pipeline *trail;
    struct hub_hashed_file files[FILES];
    struct hub_sums want = {0}, sums[FILES] = {0};
    const int fd = make_file(&want);
    cr_assert_eq(hub_hash_pipeline_start(whole, NULL, &trail, NULL), HUB_OK);
    for (uint32_t i = 0; i < FILES; i++)
        begin(&files[i], i, &sums[i], fd);
    for (uint64_t step = 1; step <= STEPS; step++)
        for (size_t i = 0; i < FILES; i++)
            hub_hash_pipeline_to(trail, &files[i], step * STEP, step == STEPS);
    hub_hash_pipeline_wait(trail, &files[0]);
    cr_assert(!hub_hash_pipeline_busy(trail, &files[0]) && sums[0].known);
    cr_assert_eq(hub_hash_pipeline_stop(trail, false, NULL), HUB_OK);
    cr_assert_eq(reported, (1u << FILES) - 1);
    for (size_t i = 0; i < FILES; i++) {
        cr_assert_arr_eq(sums[i].sha256, want.sha256, sizeof want.sha256);
        cr_assert_arr_eq(sums[i].other, want.other, sizeof want.other);
        cr_assert_eq(sums[i].pieces_size, want.pieces_size);
        hub_sums_dispose(&sums[i]);
    }
    hub_sums_dispose(&want);
    close(fd);
}

Test(hash_pipeline, bytes_that_are_not_there_are_an_error_in_the_end)
{
    struct hub_hash_pipeline *trail;
    struct hub_hashed_file file;
    struct hub_sums sums = {0};
    struct hub_error err = {0};
    const int fd = make_file(&sums);
    sums.known = false;
    reported = 0;
    cr_assert_eq(hub_hash_pipeline_start(whole, NULL, &trail, NULL), HUB_OK);
    begin(&file, 0, &sums, fd);
    hub_hash_pipeline_to(trail, &file, (uint64_t)STEP * STEPS + 1, true);
    hub_hash_pipeline_wait(trail, &file);
    cr_assert_eq(hub_hash_pipeline_stop(trail, false, &err), HUB_IO);
    cr_assert(!sums.known && !reported);
    cr_assert_neq(strstr(err.detail, "read back"), NULL);
    hub_file_hasher_dispose(&file.hasher);
    hub_sums_dispose(&sums);
    close(fd);
}
