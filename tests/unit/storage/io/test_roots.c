/* storage/io/roots.c: which links are followed. */
#include "storage/io/roots.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char base[32]; /* base/root, base/allowed, base/outside, each with a file "data" */
static struct hub_roots roots;

static const char *at(const char *path)
{
    static char joined[4][128];
    static unsigned turn;
    char *out = joined[turn++ % 4];
    snprintf(out, sizeof joined[0], "%s/%s", base, path);
    return out;
}

static void make(const char *folder)
{
    cr_assert_eq(mkdir(at(folder), 0777), 0);
    HUB_CLEANUP(hub_freep) char *file = hub_path_join(at(folder), "data");
    const int fd = open(file, O_CREAT | O_WRONLY, 0600);
    cr_assert_geq(fd, 0);
    close(fd);
}

static void set_up(void)
{
    strcpy(base, "/tmp/hub-roots-XXXXXX");
    cr_assert(mkdtemp(base));
    make("root");
    make("allowed");
    make("allowed-not");
    make("outside");
    cr_assert_eq(symlink(at("allowed"), at("root/to-allowed")), 0);
    cr_assert_eq(symlink(at("allowed-not/data"), at("root/to-neighbour")), 0);
    cr_assert_eq(symlink(at("outside"), at("root/to-outside")), 0);
    cr_assert_eq(symlink(at("root"), at("root/to-itself")), 0);
    cr_assert_eq(symlink("data", at("root/to-data")), 0);
    cr_assert_eq(symlink(at("allowed/data"), at("root/to-file")), 0);
    cr_assert_eq(symlink("/", at("root/to-all")), 0);
}

static void tear_down(void)
{
    hub_roots_dispose(&roots);
    cr_assert_eq(hub_fs_remove(AT_FDCWD, base, NULL), HUB_OK);
}

/* Opening and resolving agree. */
static void expect(uint32_t root, const char *path, enum hub_status want)
{
    int fd = -1;
    char *real = NULL;
    struct hub_error err = {0};
    const enum hub_status st = hub_roots_open(&roots, root, path, O_RDONLY, &fd, &err);
    cr_expect_eq(st, want, "%s: %d %s", path, (int)st, err.detail);
    if (st == HUB_OK)
        close(fd);
    struct stat end = {0};
    cr_expect_eq(hub_roots_open(&roots, root, path, O_PATH, &fd, &err), want, "%s to look at: %s", path,
                 err.detail);
    cr_expect(st || (fstat(fd, &end) == 0 && !S_ISLNK(end.st_mode)), "%s: the link itself", path);
    if (st == HUB_OK)
        close(fd);
    cr_expect_eq(hub_roots_real(&roots, root, path, &real, &err), want, "%s: %s", path, err.detail);
    free(real);
}

Test(roots, links_lead_into_roots_and_targets_only, .init = set_up, .fini = tear_down)
{
    cr_assert_eq(hub_roots_add(&roots, at("root"), "lab", NULL), HUB_OK);
    cr_assert_eq(hub_roots_allow(&roots, at("allowed"), NULL), HUB_OK);
    expect(0, "", HUB_OK);
    expect(0, "data", HUB_OK);
    expect(0, "to-allowed/data", HUB_OK);
    expect(0, "to-allowed", HUB_OK); /* the target itself */
    expect(0, "to-data", HUB_OK);
    expect(0, "to-file", HUB_OK);
    expect(0, "to-itself", HUB_OK);
    expect(0, "to-itself/to-allowed/data", HUB_OK);
    expect(0, "to-neighbour", HUB_DENIED); /* its name only begins like the target's */
    expect(0, "to-outside/data", HUB_DENIED);
    expect(0, "to-all", HUB_DENIED);
    expect(0, "none", HUB_NOT_FOUND);
    cr_expect_eq(hub_roots_open(&roots, 1, "data", O_RDONLY, &(int){0}, NULL), HUB_NOT_FOUND);
    cr_expect_eq(hub_roots_open(&roots, 0, "../allowed/data", O_RDONLY, &(int){0}, NULL), HUB_DENIED);
    cr_expect_str_eq(roots.roots[0].name, "lab");
}

Test(roots, everything_may_be_a_target, .init = set_up, .fini = tear_down)
{
    cr_assert_eq(hub_roots_add(&roots, at("root"), NULL, NULL), HUB_OK);
    cr_assert_eq(hub_roots_allow(&roots, "/", NULL), HUB_OK);
    expect(0, "to-outside/data", HUB_OK);
    expect(0, "to-all", HUB_OK);
    HUB_CLEANUP(hub_freep) char *real = NULL;
    cr_assert_eq(hub_roots_real(&roots, 0, "to-outside/data", &real, NULL), HUB_OK);
    cr_expect_null(hub_roots_below(&roots, real));
}

Test(roots, a_root_may_be_everything, .init = set_up, .fini = tear_down)
{
    char path[128];
    cr_assert_eq(hub_roots_add(&roots, "/", NULL, NULL), HUB_OK);
    snprintf(path, sizeof path, "%s", at("root/to-outside/data") + 1);
    expect(0, path, HUB_OK);
    expect(0, "", HUB_OK);
    HUB_CLEANUP(hub_freep) char *real = NULL;
    cr_assert_eq(hub_roots_real(&roots, 0, path, &real, NULL), HUB_OK);
    cr_expect_str_eq(hub_roots_below(&roots, real), at("outside/data") + 1);
}

Test(roots, a_root_may_come_later, .init = set_up, .fini = tear_down)
{
    cr_assert_eq(hub_roots_add(&roots, at("later"), NULL, NULL), HUB_OK);
    cr_expect_eq(hub_roots_open(&roots, 0, "data", O_RDONLY, &(int){0}, NULL), HUB_NOT_FOUND);
    make("later");
    cr_assert_eq(symlink(at("later/data"), at("later/link")), 0);
    expect(0, "data", HUB_OK);
    expect(0, "link", HUB_OK);
}

Test(roots, paths)
{
    static const struct {
        const char *path, *directory, *below;
    } cases[] = {
        {"/a/b", "/a", "b"},  {"/a", "/a", ""}, {"/ab", "/a", NULL},  {"/a", "/a/b", NULL},
        {"/a/b", "/", "a/b"}, {"/", "/", ""},   {"a/b", "", "a/b"},   {"a/b", "a", "b"},
        {"a/b", "a/", "b"},   {"", "", ""},     {"/a//b", "/a", "b"}, {"/", "/a", NULL},
        {"a", "b", NULL},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        const char *below = hub_path_below(cases[i].path, cases[i].directory);
        cr_expect(cases[i].below ? below && strcmp(below, cases[i].below) == 0 : !below, "'%s' below '%s'",
                  cases[i].path, cases[i].directory);
    }
    static const char *const joins[][3] = {{"a", "b", "a/b"}, {"", "b", "b"}, {"a", "", "a"}, {"", "", ""}};
    for (size_t i = 0; i < HUB_COUNT(joins); i++) {
        HUB_CLEANUP(hub_freep) char *joined = hub_path_join(joins[i][0], joins[i][1]);
        cr_expect_str_eq(joined, joins[i][2]);
    }
}

static void write_file(const char *path, const char *text)
{
    cr_assert_eq(hub_fs_write(AT_FDCWD, at(path), hub_view_of(text), 0600, NULL), HUB_OK);
}

/* Reading is refused, stating is not: whoever lists says what it leaves out. */
static void expect_withheld(const char *path, bool withheld)
{
    int fd = -1;
    struct hub_error err = {0};
    cr_expect_eq(hub_roots_open(&roots, 0, path, O_RDONLY, &fd, &err), withheld ? HUB_NOT_FOUND : HUB_OK,
                 "%s: %s", path, err.detail);
    if (!withheld)
        close(fd);
    cr_expect_eq(hub_roots_open(&roots, 0, path, O_PATH, &fd, &err), HUB_OK, "%s: %s", path, err.detail);
    close(fd);
}

Test(roots, logins_are_not_opened, .init = set_up, .fini = tear_down)
{
    char longer[4200];
    memset(longer, 'x', sizeof longer - 1);
    memcpy(longer, "hf_", 3);
    longer[sizeof longer - 1] = '\0';
    cr_assert_eq(hub_roots_add(&roots, at("root"), NULL, NULL), HUB_OK);
    cr_assert_eq(hub_fs_make_dirs(AT_FDCWD, at("root/cache/hub"), 0777, NULL), HUB_OK);
    cr_assert_eq(hub_fs_make_dirs(AT_FDCWD, at("root/plain"), 0777, NULL), HUB_OK);
    write_file("root/cache/token", "secret");
    write_file("root/cache/stored_tokens", "secret");
    write_file("root/cache/token.txt", "hf_abc");
    write_file("root/token", "hf_abc");
    write_file("root/stored_tokens", "[lab]\nhf_token = hf_abc\n");
    write_file("root/plain/token", "the cat sat");
    write_file("root/plain/stored_tokens", longer);
    expect_withheld("cache/token", true);
    expect_withheld("cache/stored_tokens", true);
    expect_withheld("token", true);
    expect_withheld("stored_tokens", true);
    expect_withheld("to-itself/token", true);
    expect_withheld("cache/token.txt", false);
    expect_withheld("plain/token", false);
    expect_withheld("plain/stored_tokens", false);
}
