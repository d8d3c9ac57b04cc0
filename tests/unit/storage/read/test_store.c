#include "storage/read/read.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* base/root, base/other (a second root), base/allowed, base/outside: each with a file "data" naming itself */
static char base[64];
static struct hub_store *store;

static const char *at(const char *path)
{
    static char joined[4][256];
    static unsigned turn;
    char *out = joined[turn++ % 4];
    snprintf(out, sizeof joined[0], "%s/%s", base, path);
    return out;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(at(path), "w");
    cr_assert(file);
    fputs(text, file);
    fclose(file);
}

static void link_to(const char *target, const char *path)
{
    cr_assert_eq(symlink(target, at(path)), 0);
}

static void open_store(uint32_t max_open)
{
    static const char *const folders[] = {"root", "other", "allowed", "outside", "state", "root/dir"};
    strcpy(base, "/tmp/hub-store-XXXXXX");
    cr_assert(mkdtemp(base));
    for (unsigned i = 0; i < HUB_COUNT(folders); i++) {
        char path[64];
        cr_assert_eq(mkdir(at(folders[i]), 0777), 0);
        snprintf(path, sizeof path, "%s/data", folders[i]);
        write_file(path, folders[i]);
    }
    link_to("dir/data", "root/within");
    link_to(at("root/dir"), "root/within-absolute");
    link_to(at("other/data"), "root/to-other");
    link_to(at("allowed"), "root/to-allowed");
    link_to(at("outside/data"), "root/to-outside");
    link_to("../outside", "root/up");
    link_to("loop", "root/loop");
    link_to("nowhere", "root/dangling");
    link_to(at("outside"), "allowed/onward");
    link_to(at("root/data"), "state/away");
    cr_assert_eq(mkfifo(at("root/pipe"), 0666), 0);
    static struct hub_roots roots;
    const struct hub_store_options options = {.roots = &roots, .state = at("state"), .max_open = max_open};
    hub_roots_dispose(&roots);
    cr_assert_eq(hub_roots_add(&roots, at("root"), NULL, NULL), HUB_OK);
    cr_assert_eq(hub_roots_add(&roots, at("other"), NULL, NULL), HUB_OK);
    cr_assert_eq(hub_roots_allow(&roots, at("allowed"), NULL), HUB_OK);
    cr_assert_eq(hub_store_open(&options, &store, NULL), HUB_OK);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void close_store(void)
{
    hub_store_close(store);
    nftw(base, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

struct open_case {
    uint32_t root;
    char path[32];
    enum hub_status st;
    char text[16]; /* what the file holds, or a part of the error */
};

ParameterizedTestParameters(store, opens)
{
    static struct open_case cases[] = {
        {0, "data", HUB_OK, "root"},
        {0, "dir/data", HUB_OK, "root/dir"},
        {1, "data", HUB_OK, "other"},
        {HUB_ROOT_STATE, "data", HUB_CHANGED, ""}, /* it has no seal */
        {0, "within", HUB_OK, "root/dir"},
        {0, "within-absolute/data", HUB_OK, "root/dir"},
        {0, "to-other", HUB_OK, "other"},
        {0, "to-allowed/data", HUB_OK, "allowed"},
        {0, "to-outside", HUB_DENIED, "outside/data"}, /* the error says where the link leads */
        {0, "up/data", HUB_DENIED, "outside/data"},
        {0, "to-allowed/onward/data", HUB_DENIED, "outside/data"},
        {0, "loop", HUB_DENIED, ""},
        {0, "dangling", HUB_NOT_FOUND, ""},
        {0, "none", HUB_NOT_FOUND, ""},
        {0, "data/none", HUB_NOT_FOUND, ""},
        {7, "data", HUB_NOT_FOUND, ""},
        {0, "../other/data", HUB_DENIED, ""},
        {0, "dir/../data", HUB_DENIED, ""},
        {0, "/etc/passwd", HUB_DENIED, ""},
        {0, "dir", HUB_DENIED, "regular"},
        {0, "pipe", HUB_DENIED, "regular"}, /* and nobody waits for its other end */
        {HUB_ROOT_STATE, "away", HUB_DENIED, ""},
    };
    return cr_make_param_array(struct open_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct open_case *c, store, opens)
{
    open_store(0);
    const struct hub_file_ref ref = {.root = c->root, .path = c->path};
    struct hub_file *file = NULL;
    struct hub_error err = {0};
    const enum hub_status st = hub_file_get(store, &ref, &file, &err);
    cr_expect_eq(st, c->st, "%s: %s", c->path, err.detail);
    if (!st) {
        char text[16] = "";
        cr_expect_eq(hub_file_stamp(file)->size, strlen(c->text));
        cr_expect_eq(hub_read_bytes(file, 0, text, strlen(c->text), 0, NULL), HUB_OK);
        cr_expect_str_eq(text, c->text);
        cr_expect_eq(hub_read_bytes(file, 1, text, strlen(c->text), 0, NULL),
                     HUB_CORRUPT); /* one more than there is */
        cr_expect_eq(hub_read_bytes(file, UINT64_MAX, text, 1, 0, NULL), HUB_OUT_OF_RANGE);
        cr_expect_eq(hub_file_unchanged(file, NULL), HUB_OK);
    } else if (st == HUB_DENIED) {
        cr_expect(strstr(err.detail, c->text), "%s", err.detail);
    }
    hub_file_put(file);
    close_store();
}

Test(store, files_of_the_hub_are_known_by_their_seal)
{
    open_store(0);
    struct hub_stamp seal;
    const int fd = open(at("state/data"), O_WRONLY | O_CLOEXEC);
    cr_assert_eq(hub_fs_seal(fd, &seal, NULL), HUB_OK);
    close(fd);
    const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    cr_assert_eq(utimensat(AT_FDCWD, at("state/data"), times, 0), 0); /* another mtime, another ctime */
    const struct hub_file_ref ref = {.root = HUB_ROOT_STATE, .path = "data", .expect = &seal};
    struct hub_file *file = NULL;
    char text[8] = "";
    cr_assert_eq(hub_file_get(store, &ref, &file, NULL), HUB_OK);
    cr_expect_eq(hub_read_bytes(file, 0, text, 5, 0, NULL), HUB_OK);
    cr_expect_str_eq(text, "state");
    cr_expect_eq(hub_file_unchanged(file, NULL), HUB_OK);
    cr_assert_eq(truncate(at("state/data"), 5 + HUB_SEAL_BYTES - 1), 0);
    cr_expect_eq(hub_file_unchanged(file, NULL), HUB_CHANGED);
    hub_file_put(file);
    close_store();
}

Test(store, a_stamp_stands_for_what_was_indexed)
{
    open_store(0);
    struct hub_file_ref ref = {.root = 0, .path = "data"};
    struct hub_file *first, *second, *third;
    cr_assert_eq(hub_file_get(store, &ref, &first, NULL), HUB_OK);
    const struct hub_stamp stamp = *hub_file_stamp(first);
    ref.expect = &stamp;
    cr_assert_eq(hub_file_get(store, &ref, &second, NULL), HUB_OK);
    cr_expect_eq(first, second); /* cached */

    /* replaced under its name: who has it open reads the old one, but is told */
    write_file("root/new", "replaced");
    cr_assert_eq(rename(at("root/new"), at("root/data")), 0);
    struct hub_error err = {0};
    cr_expect_eq(hub_file_unchanged(first, &err), HUB_CHANGED);
    cr_expect_eq(err.problem, HUB_PROBLEM_DATASET_CHANGING);
    ref.expect = NULL;
    cr_assert_eq(hub_file_get(store, &ref, &third, NULL), HUB_OK); /* any: what is there now */
    const struct hub_stamp now = *hub_file_stamp(third);
    cr_expect(!hub_stamp_equal(&now, &stamp));
    hub_file_put(third);
    ref.expect = &now;
    cr_assert_eq(hub_file_get(store, &ref, &third, NULL), HUB_OK);
    hub_file_put(third);
    ref.expect = &stamp;
    cr_expect_eq(hub_file_get(store, &ref, &third, NULL), HUB_CHANGED);
    ref.expect = &now; /* not lost by that */
    cr_assert_eq(hub_file_get(store, &ref, &third, NULL), HUB_OK);
    hub_file_put(third);
    hub_file_put(first);
    hub_file_put(second);
    close_store();
}

static unsigned open_descriptors(void)
{
    unsigned n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

Test(store, keeps_no_more_open_than_it_may)
{
    open_store(32);
    const unsigned before = open_descriptors();
    struct hub_stamp stamps[300];
    struct hub_file *file;
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < 300; i++) {
            char path[64], text[16] = "";
            snprintf(path, sizeof path, "root/dir/%u", i);
            if (!round)
                write_file(path, path + 9);
            const struct hub_file_ref ref = {
                .root = 0, .path = path + 5, .expect = round ? &stamps[i] : NULL};
            cr_assert_eq(hub_file_get(store, &ref, &file, NULL), HUB_OK);
            stamps[i] = *hub_file_stamp(file);
            cr_assert_eq(hub_read_bytes(file, 0, text, stamps[i].size, 0, NULL), HUB_OK);
            cr_expect_str_eq(text, path + 9);
            hub_file_put(file);
        }
    cr_expect_leq(open_descriptors(), before + 32);
    cr_expect_geq(open_descriptors(), before + 16);
    hub_store_forget(store, 1, "");
    cr_expect_geq(open_descriptors(), before + 16); /* another root */
    hub_store_forget(store, 0, "di");
    cr_expect_geq(open_descriptors(), before + 16); /* not a whole name */
    hub_store_forget(store, 0, "dir");
    cr_expect_eq(open_descriptors(), before);
    close_store();
}

Test(store, too_many_open_files_are_given_back_first)
{
    open_store(0);
    struct hub_file *held[64] = {NULL}, *file;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = open_descriptors() + 8;
    for (unsigned i = 0; i < 64; i++) {
        char path[32];
        snprintf(path, sizeof path, "root/dir/%u", i);
        write_file(path, "x");
    }
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    enum hub_status st = HUB_OK;
    unsigned count = 0;
    for (unsigned i = 0; i < 64; i++) { /* cached ones make room */
        char path[32];
        snprintf(path, sizeof path, "dir/%u", i);
        cr_assert_eq(hub_file_get(store, &(struct hub_file_ref){.root = 0, .path = path}, &file, NULL),
                     HUB_OK);
        hub_file_put(file);
    }
    for (; count < 64 && !st; count++) { /* held ones cannot */
        char path[32];
        snprintf(path, sizeof path, "dir/%u", count);
        st = hub_file_get(store, &(struct hub_file_ref){.root = 0, .path = path}, &held[count], NULL);
    }
    cr_expect_eq(st, HUB_BUSY);
    for (unsigned i = 0; i + 1 < count; i++)
        hub_file_put(held[i]);
    close_store();
}

static void *hammer(void *arg)
{
    unsigned state = (unsigned)(uintptr_t)arg;
    for (unsigned i = 0; i < 3000; i++) {
        char path[32], text[8] = "";
        struct hub_file *file = NULL;
        snprintf(path, sizeof path, "dir/%u", rand_r(&state) % 20);
        if (hub_file_get(store, &(struct hub_file_ref){.root = 0, .path = path}, &file, NULL))
            return "get";
        const struct hub_stamp stamp = *hub_file_stamp(file);
        hub_file_put(file);
        if (hub_file_get(store, &(struct hub_file_ref){.root = 0, .path = path, .expect = &stamp}, &file,
                         NULL))
            return "get expected";
        if (hub_read_bytes(file, 0, text, stamp.size, 0, NULL) || strcmp(text, path) != 0)
            return "read";
        hub_file_put(file);
        if (i % 100 == 0)
            hub_store_forget(store, 0, "dir");
    }
    return NULL;
}

Test(store, many_threads)
{
    open_store(16);
    pthread_t threads[4];
    for (unsigned i = 0; i < 20; i++) {
        char path[32];
        snprintf(path, sizeof path, "root/dir/%u", i);
        write_file(path, path + 5);
    }
    for (uintptr_t i = 0; i < 4; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, hammer, (void *)(i + 1)), 0);
    for (unsigned i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        cr_expect_null(failed, "%s", (const char *)failed);
    }
    close_store();
}
