/* client/lib/folder.c: which files of a folder are pushed, and which names are refused before any is. */
#include "client/lib/folder.h"

#include "storage/io/fs.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct place {
    char path[64];
    int fd;
};

static struct place place_new(void)
{
    struct place p = {.path = "/tmp/hub-test-folder-XXXXXX"};
    cr_assert_not_null(mkdtemp(p.path));
    p.fd = open(p.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cr_assert_geq(p.fd, 0);
    cr_assert_eq(hub_fs_make_dirs(p.fd, "data/inner", 0755, NULL), HUB_OK);
    cr_assert_eq(hub_fs_write(p.fd, "data/inner/b", HUB_VIEW("hello"), 0644, NULL), HUB_OK);
    cr_assert_eq(hub_fs_write(p.fd, "a", HUB_VIEW(""), 0644, NULL), HUB_OK);
    return p;
}

static void place_dispose(struct place *p)
{
    close(p->fd);
    cr_expect_eq(hub_fs_remove(AT_FDCWD, p->path, NULL), HUB_OK);
}

Test(folder, files_and_links_within)
{
    HUB_CLEANUP(place_dispose) struct place p = place_new();
    HUB_CLEANUP(hub_folder_dispose) struct hub_folder f = HUB_FOLDER_INIT;
    cr_assert_eq(symlinkat("inner/b", p.fd, "data/link"), 0);
    cr_assert_eq(hub_folder_open(p.path, &f, NULL), HUB_OK);
    cr_assert_eq(f.files.count, 3);
    cr_expect_str_eq(f.files.items[0].path, "a");
    cr_expect_str_eq(f.files.items[1].path, "data/inner/b");
    cr_expect_str_eq(f.files.items[2].path, "data/link");
    cr_expect_eq(f.files.items[2].size, 5);
    cr_expect_eq(f.files.bytes, 10);
}

Test(folder, hidden_names_are_left_out)
{
    HUB_CLEANUP(place_dispose) struct place p = place_new();
    HUB_CLEANUP(hub_folder_dispose) struct hub_folder f = HUB_FOLDER_INIT;
    cr_assert_eq(hub_fs_make_dirs(p.fd, ".git/objects", 0755, NULL), HUB_OK);
    cr_assert_eq(hub_fs_write(p.fd, "data/.hidden", HUB_VIEW("x"), 0644, NULL), HUB_OK);
    cr_assert_eq(hub_fs_write(p.fd, ".minari-hub.json", HUB_VIEW("x"), 0644, NULL), HUB_OK);
    cr_assert_eq(hub_fs_write(p.fd, "data/.zarray", HUB_VIEW("x"), 0644, NULL), HUB_OK);
    cr_assert_eq(hub_folder_open(p.path, &f, NULL), HUB_OK);
    cr_expect_eq(f.files.count, 3, "metadata of Zarr is a file like others");
    cr_assert_eq(f.files.left_out_count, 2, "and what the hub's own programs keep is not named");
    cr_expect_str_eq(f.files.left_out[0], ".git");
    cr_expect_str_eq(f.files.left_out[1], "data/.hidden");
}

struct wrong_case {
    char name[16], target[24], word[16]; /* target: of a link; empty: a file */
};

ParameterizedTestParameters(folder, refused)
{
    static struct wrong_case cases[] = {
        {"back\\slash", "", "backslash"}, {"new\nline", "", "printable"},
        {"\xff", "", "printable"},        {"A", "", "case"},
        {"out", "/etc/passwd", "leads"},  {"up", "../x", "leads"},
        {"gone", "nowhere", "nothing"},   {"loop", "data", "not a file"},
    };
    return cr_make_param_array(struct wrong_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct wrong_case *c, folder, refused)
{
    HUB_CLEANUP(place_dispose) struct place p = place_new();
    HUB_CLEANUP(hub_folder_dispose) struct hub_folder f = HUB_FOLDER_INIT;
    struct hub_error err = {0};
    if (*c->target)
        cr_assert_eq(symlinkat(c->target, p.fd, c->name), 0);
    else
        cr_assert_eq(hub_fs_write(p.fd, c->name, HUB_VIEW("x"), 0644, NULL), HUB_OK);
    cr_assert_eq(hub_folder_open(p.path, &f, &err), HUB_INVALID, "%s", err.detail);
    cr_expect_not_null(strstr(err.detail, c->word), "%s", err.detail);
}

Test(folder, a_file_that_changes)
{
    HUB_CLEANUP(place_dispose) struct place p = place_new();
    HUB_CLEANUP(hub_folder_dispose) struct hub_folder f = HUB_FOLDER_INIT;
    HUB_CLEANUP(hub_closep) int fd = -1;
    struct hub_error err = {0};
    cr_assert_eq(hub_folder_open(p.path, &f, NULL), HUB_OK);
    cr_assert_eq(hub_fs_write(p.fd, "data/inner/b", HUB_VIEW("longer now"), 0644, NULL), HUB_OK);
    cr_expect_eq(hub_folder_file(&f, 1, &fd, &err), HUB_CHANGED);
    cr_expect_eq(fd, -1);
    cr_expect_not_null(strstr(err.detail, "data/inner/b"));
    cr_expect_eq(hub_folder_file(&f, 0, &fd, &err), HUB_OK);
}

Test(folder, nothing_to_push)
{
    HUB_CLEANUP(place_dispose) struct place p = place_new();
    HUB_CLEANUP(hub_folder_dispose) struct hub_folder f = HUB_FOLDER_INIT;
    char path[128];
    cr_expect_eq(hub_folder_open("/tmp/hub-test-none", &f, NULL), HUB_NOT_FOUND);
    snprintf(path, sizeof path, "%s/a", p.path);
    cr_expect_eq(hub_folder_open(path, &f, NULL), HUB_INVALID, "a file is not a folder");
    snprintf(path, sizeof path, "%s/empty", p.path);
    cr_assert_eq(hub_fs_make_dirs(p.fd, "empty/inner", 0755, NULL), HUB_OK);
    cr_expect_eq(hub_folder_open(path, &f, NULL), HUB_INVALID, "no file is in it");
}
