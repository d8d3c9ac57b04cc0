/* storage/io/fs.c, fs_beneath.c: both ways of staying beneath a directory. */
#include "storage/io/fs.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct folder {
    char path[64];
    int fd;
};

static struct folder folder_new(void)
{
    struct folder f = {.path = "/tmp/hub-test-fs-XXXXXX"};
    cr_assert_not_null(mkdtemp(f.path));
    f.fd = open(f.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cr_assert_geq(f.fd, 0);
    return f;
}

static void folder_dispose(struct folder *f)
{
    close(f->fd);
    cr_expect_eq(hub_fs_remove(AT_FDCWD, f->path, NULL), HUB_OK);
    cr_expect_neq(access(f->path, F_OK), 0);
}

static enum hub_status try_open(int directory, const char *path, unsigned options)
{
    int fd = -1;
    const enum hub_status st = hub_fs_open_beneath(directory, path, O_RDONLY, options, &fd, NULL);
    if (fd >= 0)
        close(fd);
    cr_expect_eq(st == HUB_OK, fd >= 0);
    return st;
}

Test(fs, beneath)
{
    HUB_CLEANUP(folder_dispose) struct folder f = folder_new();
    cr_assert_eq(hub_fs_make_dirs(f.fd, "a/b", 0755, NULL), HUB_OK);
    cr_assert_eq(hub_fs_write(f.fd, "a/b/file", HUB_VIEW("x"), 0644, NULL), HUB_OK);
    cr_assert_eq(symlinkat("b/file", f.fd, "a/inside"), 0);
    cr_assert_eq(symlinkat("b", f.fd, "a/inside_dir"), 0);
    cr_assert_eq(symlinkat("../../../../etc/passwd", f.fd, "a/outside"), 0);
    cr_assert_eq(symlinkat("/etc", f.fd, "absolute"), 0);
    static const struct {
        const char *path;
        enum hub_status follow, no_links;
    } cases[] = {
        {"a/b/file", HUB_OK, HUB_OK},
        {"a/b", HUB_OK, HUB_OK},
        {"", HUB_OK, HUB_OK},
        {"a/inside", HUB_OK, HUB_DENIED},
        {"a/inside_dir/file", HUB_OK, HUB_DENIED},
        {"a/outside", HUB_DENIED, HUB_DENIED},
        {"absolute/passwd", HUB_DENIED, HUB_DENIED},
        {"absolute", HUB_DENIED, HUB_DENIED},
        {"a/none", HUB_NOT_FOUND, HUB_NOT_FOUND},
        {"none/none", HUB_NOT_FOUND, HUB_NOT_FOUND},
        {"..", HUB_DENIED, HUB_DENIED},
        {"a/../a/b/file", HUB_DENIED, HUB_DENIED},
        {"./a", HUB_DENIED, HUB_DENIED},
        {"a//b", HUB_DENIED, HUB_DENIED},
        {"a/", HUB_DENIED, HUB_DENIED},
        {"/etc/passwd", HUB_DENIED, HUB_DENIED},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        cr_expect_eq(try_open(f.fd, cases[i].path, 0), cases[i].follow, "'%s'", cases[i].path);
        cr_expect_eq(try_open(f.fd, cases[i].path, HUB_FS_NO_LINKS), cases[i].no_links, "'%s' no links",
                     cases[i].path);
        cr_expect_eq(try_open(f.fd, cases[i].path, HUB_FS_WALK), cases[i].no_links, "'%s' walk",
                     cases[i].path);
    }
    cr_expect_neq(try_open(f.fd, "a/b/file/x", 0), HUB_OK);
    cr_expect_neq(try_open(f.fd, "a/b/file/x", HUB_FS_WALK), HUB_OK);
}

Test(fs, beneath_creates)
{
    HUB_CLEANUP(folder_dispose) struct folder f = folder_new();
    static const unsigned options[] = {0, HUB_FS_WALK};
    static const char *const names[] = {"one", "two"};
    for (size_t i = 0; i < 2; i++) {
        int fd = -1;
        cr_assert_eq(hub_fs_open_beneath(f.fd, names[i], O_WRONLY | O_CREAT | O_EXCL, options[i], &fd, NULL),
                     HUB_OK);
        cr_expect_eq(hub_fs_write_fd(fd, HUB_VIEW("abc"), NULL), HUB_OK);
        cr_expect(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        close(fd);
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(KIB);
        cr_expect_eq(hub_fs_read(f.fd, names[i], &text, NULL), HUB_OK);
        cr_expect_str_eq(text.data, "abc");
    }
}

Test(fs, read_has_a_ceiling)
{
    HUB_CLEANUP(folder_dispose) struct folder f = folder_new();
    static char bytes[100000];
    memset(bytes, 'x', sizeof(bytes));
    cr_assert_eq(hub_fs_write(f.fd, "big", (struct hub_view){bytes, sizeof(bytes)}, 0600, NULL), HUB_OK);
    static const struct {
        size_t limit;
        enum hub_status st;
    } cases[] = {
        {99999, HUB_TOO_BIG}, {100000, HUB_OK}, {100001, HUB_OK}, {0, HUB_TOO_BIG}, {1000000, HUB_OK}};
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(cases[i].limit);
        cr_expect_eq(hub_fs_read(f.fd, "big", &text, NULL), cases[i].st, "%zu", cases[i].limit);
        cr_expect(cases[i].st || (text.size == sizeof(bytes) && memcmp(text.data, bytes, text.size) == 0));
    }
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MIB);
    cr_expect_eq(hub_fs_read(f.fd, "none", &text, NULL), HUB_NOT_FOUND);
    cr_expect_eq(hub_fs_read(AT_FDCWD, "/proc/self/status", &text, NULL), HUB_OK, "a file of unknown size");
    cr_expect(strstr(text.data, "Pid:"));
}

Test(fs, write_replaces_and_leaves_nothing_behind)
{
    HUB_CLEANUP(folder_dispose) struct folder f = folder_new();
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(KIB);
    cr_assert_eq(hub_fs_make_dirs(f.fd, "d", 0755, NULL), HUB_OK);
    cr_assert_eq(hub_fs_write(f.fd, "d/x", HUB_VIEW("first"), 0640, NULL), HUB_OK);
    cr_assert_eq(hub_fs_write(f.fd, "d/x", HUB_VIEW("second"), 0640, NULL), HUB_OK);
    cr_expect_eq(hub_fs_read(f.fd, "d/x", &text, NULL), HUB_OK);
    cr_expect_str_eq(text.data, "second");
    cr_assert_eq(hub_fs_make_dirs(f.fd, "d/dir", 0755, NULL), HUB_OK);
    cr_expect_neq(hub_fs_write(f.fd, "d/dir", HUB_VIEW("no"), 0640, NULL), HUB_OK,
                  "a directory is not replaced");
    cr_expect_eq(hub_fs_write(f.fd, "none/x", HUB_VIEW("no"), 0640, NULL), HUB_NOT_FOUND);
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    cr_assert_eq(hub_fs_list(f.fd, "d", 10, &names, NULL), HUB_OK);
    cr_assert_eq(names.count, 2);
    cr_expect_str_eq(names.items[0].text, "dir");
    cr_expect_str_eq(names.items[1].text, "x");
}

Test(fs, directories)
{
    HUB_CLEANUP(folder_dispose) struct folder f = folder_new();
    char absolute[128];
    snprintf(absolute, sizeof(absolute), "%s/p/q/r", f.path);
    cr_expect_eq(hub_fs_make_dirs(AT_FDCWD, absolute, 0755, NULL), HUB_OK);
    cr_expect_eq(hub_fs_make_dirs(AT_FDCWD, absolute, 0755, NULL), HUB_OK);
    cr_assert_eq(hub_fs_write(f.fd, "p/file", HUB_VIEW(""), 0600, NULL), HUB_OK);
    cr_expect_neq(hub_fs_make_dirs(f.fd, "p/file/x", 0755, NULL), HUB_OK);
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    struct hub_names more = {0};
    cr_assert_eq(hub_fs_list(f.fd, "p", 2, &names, NULL), HUB_OK);
    cr_assert_eq(names.count, 2);
    cr_expect_str_eq(names.items[0].text, "file");
    cr_expect_eq(hub_fs_list(f.fd, "p", 1, &more, NULL), HUB_TOO_BIG);
    cr_expect_eq(hub_fs_list(f.fd, "none", 1, &more, NULL), HUB_NOT_FOUND);
    cr_expect_eq(hub_fs_list(f.fd, "p/q/r", 0, &more, NULL), HUB_OK);
    cr_expect_eq(more.count, 0);
    hub_names_dispose(&more);
    uint64_t free_bytes = 0;
    cr_expect_eq(hub_fs_free_bytes(f.path, &free_bytes, NULL), HUB_OK);
    cr_expect_gt(free_bytes, 0);
}

Test(fs, remove_does_not_follow_links)
{
    HUB_CLEANUP(folder_dispose) struct folder f = folder_new();
    cr_assert_eq(hub_fs_make_dirs(f.fd, "kept", 0755, NULL), HUB_OK);
    cr_assert_eq(hub_fs_write(f.fd, "kept/file", HUB_VIEW("x"), 0600, NULL), HUB_OK);
    cr_assert_eq(hub_fs_make_dirs(f.fd, "gone/deep", 0755, NULL), HUB_OK);
    cr_assert_eq(symlinkat("../../kept", f.fd, "gone/deep/link"), 0);
    cr_expect_eq(hub_fs_remove(f.fd, "gone", NULL), HUB_OK);
    cr_expect_eq(hub_fs_remove(f.fd, "gone", NULL), HUB_OK);
    cr_expect_eq(try_open(f.fd, "gone", 0), HUB_NOT_FOUND);
    cr_expect_eq(try_open(f.fd, "kept/file", 0), HUB_OK);
}

Test(fs, a_removal_ends_when_it_is_to_stop)
{
    HUB_CLEANUP(folder_dispose) struct folder f = folder_new();
    atomic_bool stop = true;
    cr_assert_eq(hub_fs_make_dirs(f.fd, "gone/deep", 0755, NULL), HUB_OK);
    cr_assert_eq(hub_fs_write(f.fd, "gone/deep/file", HUB_VIEW("x"), 0600, NULL), HUB_OK);
    cr_expect_eq(hub_fs_remove_until(f.fd, "gone", &stop, NULL), HUB_CANCELLED);
    cr_expect_eq(try_open(f.fd, "gone/deep/file", 0), HUB_OK);
    stop = false;
    cr_expect_eq(hub_fs_remove_until(f.fd, "gone", &stop, NULL), HUB_OK);
    cr_expect_eq(try_open(f.fd, "gone", 0), HUB_NOT_FOUND);
}

Test(fs, stamps)
{
    HUB_CLEANUP(folder_dispose) struct folder f = folder_new();
    struct stat st;
    cr_assert_eq(hub_fs_write(f.fd, "x", HUB_VIEW("x"), 0600, NULL), HUB_OK);
    cr_assert_eq(fstatat(f.fd, "x", &st, 0), 0);
    const struct hub_stamp before = hub_stamp_of(&st);
    cr_expect(hub_stamp_equal(&before, &before));
    cr_assert_eq(hub_fs_write(f.fd, "x", HUB_VIEW("y"), 0600, NULL), HUB_OK);
    cr_assert_eq(fstatat(f.fd, "x", &st, 0), 0);
    const struct hub_stamp after = hub_stamp_of(&st);
    cr_expect_not(hub_stamp_equal(&before, &after));
    cr_expect_eq(after.size, 1);
}

Test(fs, a_stamp_does_not_know_the_device)
{
    HUB_CLEANUP(folder_dispose) struct folder f = folder_new();
    struct stat st;
    cr_assert_eq(hub_fs_write(f.fd, "x", HUB_VIEW("x"), 0600, NULL), HUB_OK);
    cr_assert_eq(fstatat(f.fd, "x", &st, 0), 0);
    struct stat moved = st, replaced = st, touched = st;
    moved.st_dev++;
    replaced.st_ino++;
    touched.st_ctim.tv_nsec ^= 1;
    const struct hub_stamp stamp = hub_stamp_of(&st), after_boot = hub_stamp_of(&moved),
                           other_inode = hub_stamp_of(&replaced), other_ctime = hub_stamp_of(&touched);
    cr_expect(hub_stamp_equal(&stamp, &after_boot));
    cr_expect_not(hub_stamp_equal(&stamp, &other_inode));
    cr_expect_not(hub_stamp_equal(&stamp, &other_ctime));
}

Test(fs, a_directory_that_may_not_be_made_says_who_may_not)
{
    HUB_CLEANUP(folder_dispose) struct folder f = folder_new();
    struct hub_error err;
    char user[HUB_USER_BYTES];
    cr_assert_eq(fchmod(f.fd, 0555), 0);
    const bool is_root = geteuid() == 0;
    if (is_root)
        cr_assert_eq(seteuid(65534), 0);
    hub_fs_user(user);
    cr_expect_eq(hub_fs_make_dirs(f.fd, "a/b", 0755, &err), HUB_DENIED);
    cr_expect(strstr(err.detail, "Permission denied") && strstr(err.detail, user), "%s", err.detail);
    if (is_root)
        cr_assert_eq(seteuid(0), 0);
    cr_assert_eq(fchmod(f.fd, 0755), 0);
}

static enum hub_status sealed_stamp(const struct folder *f, const char *name, struct hub_stamp *out)
{
    HUB_CLEANUP(hub_closep) int fd = openat(f->fd, name, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? HUB_NOT_FOUND : hub_fs_sealed_stamp(fd, out, NULL);
}

Test(fs, a_seal_outlives_a_copy_and_tells_a_cut)
{
    HUB_CLEANUP(folder_dispose) struct folder f = folder_new();
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf bytes = HUB_BUF_INIT(KIB);
    struct hub_stamp sealed, found;
    const int fd = openat(f.fd, "x", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    cr_assert_eq(hub_fs_write_fd(fd, HUB_VIEW("rows"), NULL), HUB_OK);
    cr_assert_eq(hub_fs_sealed_stamp(fd, &found, NULL), HUB_CHANGED);
    cr_assert_eq(hub_fs_seal(fd, &sealed, NULL), HUB_OK);
    close(fd);
    cr_expect_eq(sealed.size, 4 + HUB_SEAL_BYTES);
    cr_assert_eq(hub_fs_read(f.fd, "x", &bytes, NULL), HUB_OK);
    cr_assert_eq(hub_fs_write(f.fd, "copy", hub_buf_view(&bytes), 0600, NULL), HUB_OK);
    cr_assert_eq(sealed_stamp(&f, "copy", &found), HUB_OK);
    cr_expect(hub_stamp_equal(&sealed, &found));
    bytes.data[bytes.size - 1] ^= 1;
    cr_assert_eq(hub_fs_write(f.fd, "copy", hub_buf_view(&bytes), 0600, NULL), HUB_OK);
    cr_assert_eq(sealed_stamp(&f, "copy", &found), HUB_OK);
    cr_expect_not(hub_stamp_equal(&sealed, &found));
    bytes.size--;
    cr_assert_eq(hub_fs_write(f.fd, "copy", hub_buf_view(&bytes), 0600, NULL), HUB_OK);
    cr_expect_eq(sealed_stamp(&f, "copy", &found), HUB_CHANGED);
    cr_expect_eq(sealed_stamp(&f, "none", &found), HUB_NOT_FOUND);
}
