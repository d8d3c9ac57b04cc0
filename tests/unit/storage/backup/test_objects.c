/* Files of a backup by their digests. */
#include "storage/backup/objects.h"

#include "storage/io/fs.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char place[64];
static int folder;
static struct hub_backup_objects objects;
static struct hub_error err;

static void begin(void)
{
    snprintf(place, sizeof place, "/tmp/hub-objects-XXXXXX");
    cr_assert(mkdtemp(place));
    folder = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    objects = (struct hub_backup_objects){.folder = -1};
    cr_assert_eq(hub_backup_objects_open(folder, true, &objects, &err), HUB_OK, "%s", err.detail);
}

static void end(void)
{
    char command[100];
    hub_backup_objects_close(&objects);
    close(folder);
    snprintf(command, sizeof command, "rm -rf %s", place);
    cr_assert_eq(system(command), 0);
}
TestSuite(objects, .init = begin, .fini = end);

static int file_of(const char *text)
{
    cr_assert_eq(hub_fs_write(folder, "source", hub_view_of(text), 0600, &err), HUB_OK, "%s", err.detail);
    return openat(folder, "source", O_RDONLY | O_CLOEXEC);
}

/* Put a text that claims to be another. */
static enum hub_status put(const char *text, const char *claimed, uint8_t sha256[HUB_DIGEST_MAX])
{
    HUB_CLEANUP(hub_closep) int fd = file_of(text);
    if (claimed)
        cr_assert_eq(hub_digest_of(HUB_SHA256, hub_view_of(claimed), sha256, &err), HUB_OK);
    return hub_backup_objects_put(&objects, fd, strlen(text), claimed, sha256, &err);
}

static enum hub_status get(const uint8_t sha256[HUB_DIGEST_MAX], uint64_t size, struct hub_buf *out)
{
    HUB_CLEANUP(hub_closep)
    int fd = openat(folder, "back", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    HUB_TRY(hub_backup_objects_get(&objects, sha256, size, fd, &err));
    return hub_fs_read(folder, "back", out, &err);
}

static void path_of(const uint8_t sha256[HUB_DIGEST_MAX], char out[100])
{
    char hex[2 * HUB_SHA256_BYTES + 1];
    hub_hex(sha256, HUB_SHA256_BYTES, hex);
    snprintf(out, 100, "objects/%.2s/%s", hex, hex + 2);
}

Test(objects, a_file_is_kept_once)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf back = HUB_BUF_INIT(KIB);
    uint8_t first[HUB_DIGEST_MAX], second[HUB_DIGEST_MAX];
    cr_assert_eq(put("hello", NULL, first), HUB_OK, "%s", err.detail);
    cr_assert_eq(put("hello", "hello", second), HUB_OK, "%s", err.detail);
    cr_expect_arr_eq(first, second, HUB_SHA256_BYTES);
    cr_expect(objects.files == 1 && objects.bytes == 5 && objects.had_files == 1);
    cr_assert_eq(get(first, 5, &back), HUB_OK, "%s", err.detail);
    cr_expect(hub_view_is(hub_buf_view(&back), "hello"));
}

Test(objects, other_bytes_than_claimed_are_not_kept)
{
    uint8_t sha256[HUB_DIGEST_MAX];
    char path[100];
    cr_expect_eq(put("hello", "other", sha256), HUB_CHANGED);
    path_of(sha256, path);
    cr_expect_neq(faccessat(folder, path, F_OK, 0), 0);
    cr_expect_neq(faccessat(folder, "objects/part", F_OK, 0), 0);
}

Test(objects, a_damaged_one_is_not_given_out)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf back = HUB_BUF_INIT(KIB);
    uint8_t sha256[HUB_DIGEST_MAX];
    char path[100];
    cr_assert_eq(put("hello", "hello", sha256), HUB_OK, "%s", err.detail);
    path_of(sha256, path);
    cr_assert_eq(hub_fs_write(folder, path, HUB_VIEW("jello"), 0400, &err), HUB_OK, "%s", err.detail);
    cr_expect_eq(get(sha256, 5, &back), HUB_CORRUPT);
    cr_assert_eq(put("hello", "hello", sha256), HUB_OK);
    cr_expect_eq(get(sha256, 5, &back), HUB_CORRUPT, "its size is right, and it is not read again");
    objects.doubtful = true;
    cr_assert_eq(put("hello", "hello", sha256), HUB_OK);
    cr_expect_eq(get(sha256, 5, &back), HUB_OK, "what an unfinished backup left is read, and replaced");
    sha256[0] ^= 1;
    cr_expect_eq(get(sha256, 5, &back), HUB_NOT_FOUND);
}

static bool keeps_first(void *user, const uint8_t sha256[HUB_SHA256_BYTES])
{
    return memcmp(user, sha256, HUB_SHA256_BYTES) == 0;
}

Test(objects, what_nobody_needs_can_be_removed)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf back = HUB_BUF_INIT(KIB);
    uint8_t first[HUB_DIGEST_MAX], second[HUB_DIGEST_MAX];
    uint64_t removed;
    cr_assert_eq(put("first", NULL, first), HUB_OK, "%s", err.detail);
    cr_assert_eq(put("second", NULL, second), HUB_OK, "%s", err.detail);
    cr_assert_eq(hub_backup_objects_prune(&objects, keeps_first, first, &removed, &err), HUB_OK, "%s",
                 err.detail);
    cr_expect_eq(removed, 1);
    cr_expect_eq(get(first, 5, &back), HUB_OK);
    cr_expect_eq(get(second, 6, &back), HUB_NOT_FOUND);
}
