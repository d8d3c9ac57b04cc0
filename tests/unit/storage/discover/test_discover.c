/* Which datasets lie below a root, without a catalogue. */
#include "storage/discover/discover.h"
#include "tests/support/scan_root.h"

#include <criterion/criterion.h>

enum { MOST = 100 };

struct found {
    char ids[MOST][2000]; /* "id format files", " broken" and the problems' codes */
    char broken[MOST][200];
    char files[MOST][400]; /* their paths, a space between, if there is room */
    unsigned count;
};

static enum hub_status keep(void *user, struct hub_found_dataset *dataset, struct hub_error *err)
{
    struct found *found = user;
    (void)err;
    cr_assert_lt(found->count, MOST);
    char *id = found->ids[found->count], *files = found->files[found->count];
    size_t n = (size_t)snprintf(id, sizeof found->ids[0], "%s %s %u%s", dataset->id, dataset->formats[0],
                                dataset->files->count, dataset->broken ? " broken" : "");
    for (uint32_t i = 0; i < dataset->files->problem_count; i++)
        n += (size_t)snprintf(id + n, sizeof found->ids[0] - n, " %s", dataset->files->problems[i].code);
    snprintf(found->broken[found->count], sizeof found->broken[0], "%s",
             dataset->broken ? dataset->broken : "");
    files[0] = '\0';
    for (uint32_t i = 0; i < dataset->files->count; i++) {
        const size_t used = strlen(files);
        snprintf(files + used, sizeof found->files[0] - used, "%s%s", used ? " " : "",
                 dataset->files->files[i].path);
    }
    found->count++;
    return HUB_OK;
}

static void swap(char *a, char *b, size_t size)
{
    char kept[2000];
    memcpy(kept, a, size);
    memcpy(a, b, size);
    memcpy(b, kept, size);
}

static void sort(struct found *found)
{
    for (unsigned i = 0; i < found->count; i++) {
        for (unsigned k = i; k && strcmp(found->ids[k - 1], found->ids[k]) > 0; k--) {
            swap(found->ids[k - 1], found->ids[k], sizeof found->ids[0]);
            swap(found->broken[k - 1], found->broken[k], sizeof found->broken[0]);
            swap(found->files[k - 1], found->files[k], sizeof found->files[0]);
        }
    }
}

static uint64_t most_directories; /* 0: as many as the hub takes */
static bool (*clashed)(void *user, const char *id);
static bool as_nobody;

static struct hub_discovered discover(const char *const *roots, uint32_t count, struct found *found)
{
    struct hub_roots where = {0};
    struct hub_walk walk = {.roots = &where, .max_directories = HUB_MAX_DIRECTORIES};
    struct hub_inspector *inspector = scan_inspector();
    struct hub_discovered out = {0};
    struct hub_error err = {0};
    for (uint32_t i = 0; i < count; i++)
        cr_assert_eq(hub_roots_add(&where, roots[i], NULL, &err), HUB_OK);
    if (most_directories)
        walk.max_directories = most_directories;
    const struct hub_discovery discovery = {.walk = &walk,
                                            .inspector = inspector,
                                            .jobs = 2,
                                            .drivers = "1",
                                            .clashed = clashed,
                                            .each = keep,
                                            .user = found};
    found->count = 0;
    if (as_nobody)
        cr_assert_eq(seteuid(65534), 0);
    cr_assert_eq(hub_scan_discover(&discovery, &out, &err), HUB_OK, "%s", err.detail);
    if (as_nobody)
        cr_assert_eq(seteuid(0), 0);
    sort(found);
    hub_roots_dispose(&where);
    hub_inspector_free(inspector);
    return out;
}

static void expect(const struct found *found, const char *const *ids, unsigned count)
{
    cr_expect_eq(found->count, count);
    for (unsigned i = 0; i < HUB_MAX(count, found->count); i++)
        cr_expect_str_eq(i < found->count ? found->ids[i] : "(none)", i < count ? ids[i] : "(none)");
}

static struct found found;

Test(discover, junk_hides_nothing)
{
    static const char *const ids[] = {
        "D4RL/hammer/human-v2 minari-hdf5 1",
        "D4RL/pen/human-v2 minari-hdf5 2",
        "bad-specifier-v0 minari-hdf5 1",
        "door-human-v1 minari-hdf5 1",
        "door-human-v1-extra minari-hdf5 1",
        "door-human-v1-extra-v0 minari-hdf5 1",
        "door-human-v10 minari-hdf5 1",
        "future-v0 minari-hdf5 1",
        "missing-link-v0 minari-hdf5 1",
        "other-id-v0 minari-hdf5 1",
        "root-files files 1",
        "tmpq3k7x_1a data-collector 1",
        "wrong-counts-v0 minari-hdf5 1",
    };
    char *root = scan_directory();
    scan_copy("minari/root-traps", root);
    const struct hub_discovered out = discover((const char *const[]){root}, 1, &found);
    expect(&found, ids, HUB_COUNT(ids));
    cr_expect_eq(out.datasets, HUB_COUNT(ids));
    cr_expect_eq(out.unasked, 0);
    scan_remove(root);
}

Test(discover, what_nobody_claims_is_as_shallow_as_can_be)
{
    static const char *const ids[] = {"lab files 1", "lab/logs files 3", "lab/set-v0 minari-hdf5 1",
                                      "root-files files 1", "stray files 1"};
    char *root = scan_directory(), expected[200];
    scan_copy("samples/door-human-v0", root); /* the root itself is a dataset */
    discover((const char *const[]){root}, 1, &found);
    snprintf(expected, sizeof expected, "%s minari-hdf5 1", strrchr(root, '/') + 1);
    expect(&found, (const char *const[]){expected}, 1);
    scan_remove(root);

    root = scan_directory();
    scan_write(root, "lab/logs/a.txt", "a");
    scan_write(root, "lab/logs/deep/er/b.txt", "b");
    scan_write(root, "lab/logs/deep/c.txt", "c");
    scan_write(root, "lab/logs/.hidden/d.txt", "d");
    scan_write(root, "lab/namespace_metadata.json", "{}");
    scan_write(root, "lab/notes.txt", "n");
    scan_write(root, "stray.txt", "x");
    scan_write(root, "stray/deep/x", "x");
    scan_write(root, ".minari-hub/staging/x", "x");
    scan_write(root, "empty/namespace_metadata.json", "{}");
    scan_write(root, "coming/door/.hidden", "x"); /* folders above a dataset that is published next */
    char set[4096];
    snprintf(set, sizeof set, "%s/lab/set-v0", root);
    scan_copy("samples/door-human-v0", set);
    discover((const char *const[]){root}, 1, &found);
    expect(&found, ids, HUB_COUNT(ids));
    scan_remove(root);

    root = scan_directory();
    scan_write(root, "a.txt", "a");
    scan_write(root, "b.txt", "b");
    discover((const char *const[]){root}, 1, &found);
    expect(&found, (const char *const[]){"root-files files 2"}, 1);
    scan_remove(root);
}

static bool door_clashed(void *user, const char *id)
{
    (void)user;
    return strcmp(id, "door-human-v0") == 0;
}

Test(discover, one_id_in_two_roots)
{
    char *first = scan_directory(), *second = scan_directory(), path[4096], other[200];
    snprintf(path, sizeof path, "%s/door-human-v0", first);
    scan_copy("samples/door-human-v0", path);
    snprintf(path, sizeof path, "%s/door-human-v0", second);
    scan_copy("samples/door-human-v0", path);
    snprintf(path, sizeof path, "%s/more-v0", second);
    scan_copy("samples/door-human-v0", path);
    struct hub_discovered out = discover((const char *const[]){first, second}, 2, &found);
    snprintf(other, sizeof other, "%s/door-human-v0 minari-hdf5 1 id-shared", strrchr(second, '/') + 1);
    expect(&found, (const char *const[]){"door-human-v0 minari-hdf5 1", other, "more-v0 minari-hdf5 1"}, 3);
    cr_expect_eq(out.clashes, 1);
    clashed = door_clashed; /* as it is remembered from the time before */
    discover((const char *const[]){first, second}, 2, &found);
    expect(&found,
           (const char *const[]){"door-human-v0 minari-hdf5 1 id-shared", other, "more-v0 minari-hdf5 1"}, 3);
    scan_remove(first);
    scan_remove(second);
}

Test(discover, one_id_in_one_folder)
{
    static const char *const ids[] = {"lab files 1",
                                      "lab/steps files 1 id-shared",
                                      "lab/steps-000000.tar webdataset 2 id-shared",
                                      "lab/steps_0.tar webdataset 1 id-shared",
                                      "root-files files 1",
                                      "root-files-2 files 1"};
    char *root = scan_directory(), path[4096];
    snprintf(path, sizeof path, "%s/lab", root);
    scan_copy("webdataset/plain", path);
    snprintf(path, sizeof path, "%s/lab/steps_0.tar", root);
    scan_run((const char *const[]){"cp", HUB_FIXTURES "/webdataset/plain/steps-000000.tar", path, NULL});
    scan_write(root, "lab/notes", "x");
    scan_write(root, "lab/steps/x", "x");
    scan_write(root, "root-files/x", "x");
    scan_write(root, "loose", "x");
    discover((const char *const[]){root}, 1, &found);
    expect(&found, ids, HUB_COUNT(ids));
    scan_remove(root);
}

/* What looks like a dataset by its names hides none of what is in it. */
Test(discover, a_folder_that_is_declined_is_entered)
{
    char *root = scan_directory(), path[4096];
    scan_write(root, "lab/meta/info.json", "{\"fps\": 10}");
    scan_write(root, "lab/notes.txt", "x");
    snprintf(path, sizeof path, "%s/lab/stack.hdf5", root);
    scan_run((const char *const[]){"cp", HUB_FIXTURES "/robomimic/lift-ph/low_dim_v15.hdf5", path, NULL});
    snprintf(path, sizeof path, "%s/lab/door-v0", root);
    scan_copy("samples/door-human-v0", path);
    discover((const char *const[]){root}, 1, &found);
    expect(&found,
           (const char *const[]){"lab files 1", "lab/door-v0 minari-hdf5 1", "lab/meta files 1",
                                 "lab/stack robomimic 1"},
           4);
    scan_remove(root);
}

static void add_npy(const char *root, const char *path)
{
    static const char head[] = "\x93NUMPY\1\0v\0{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }";
    char text[137];
    memset(text, ' ', sizeof text);
    memcpy(text, head, sizeof head - 1);
    text[127] = '\n';
    memset(text + 128, '0', 8);
    char whole[4096];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    FILE *file = fopen(whole, "w");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(text, 1, 136, file), 136);
    cr_assert_eq(fclose(file), 0);
}

/* An id is never one file's and then another's: what two want is nobody's. */
Test(discover, files_of_one_stem_have_their_whole_names)
{
    char *root = scan_directory();
    scan_write(root, "lab/notes", "x");
    add_npy(root, "lab/run.npy");
    add_npy(root, "lab/run-2.npy");
    discover((const char *const[]){root}, 1, &found);
    expect(&found, (const char *const[]){"lab files 1", "lab/run generic 1", "lab/run-2 generic 1"}, 3);
    scan_write(root, "lab/run.h5", "\x89HDF\r\n\x1a\n");
    discover((const char *const[]){root}, 1, &found);
    expect(&found,
           (const char *const[]){"lab files 1", "lab/run-2 generic 1", "lab/run.h5 generic 1 id-shared",
                                 "lab/run.npy generic 1 id-shared"},
           4);
    scan_write(root, "lab/run-2/x", "x");
    discover((const char *const[]){root}, 1, &found);
    expect(&found,
           (const char *const[]){"lab files 1", "lab/run-2 files 1 id-shared",
                                 "lab/run-2.npy generic 1 id-shared", "lab/run.h5 generic 1 id-shared",
                                 "lab/run.npy generic 1 id-shared"},
           5);
    scan_remove(root);
}

Test(discover, links_stay_beneath_the_roots)
{
    char *root = scan_directory(), *outside = scan_directory(), path[4096], link[4096];
    scan_copy("samples/door-human-v0", outside);
    snprintf(path, sizeof path, "%s/real-v0", root);
    scan_copy("samples/door-human-v0", path);
    snprintf(link, sizeof link, "%s/linked-v0", root);
    cr_assert_eq(symlink("real-v0", link), 0);
    snprintf(link, sizeof link, "%s/leaving-v0", root);
    cr_assert_eq(symlink(outside, link), 0);
    snprintf(link, sizeof link, "%s/loop", root);
    cr_assert_eq(symlink(".", link), 0);
    snprintf(link, sizeof link, "%s/dangling", root);
    cr_assert_eq(symlink("nothing", link), 0);
    discover((const char *const[]){root}, 1, &found);
    static const char *const want[] = {"dangling files 0 broken link-leaves",
                                       "leaving-v0 files 0 broken link-leaves", "real-v0 minari-hdf5 1"};
    expect(&found, want, HUB_COUNT(want)); /* what is not followed is told, without files */
    scan_remove(root);
    scan_remove(outside);
}

Test(discover, odd_names_get_ids)
{
    static const char *const ids[] = {"\\x7efiles files 1", "bad\\xffname files 1", "files~ files 1",
                                      "tab\\x09name files 1"};
    char *root = scan_directory();
    scan_write(root, "files/x", "x");
    scan_write(root, "bad\xFFname/x", "x");
    scan_write(root, "tab\tname/x", "x");
    scan_write(root, "~files/x", "x");
    discover((const char *const[]){root}, 1, &found);
    expect(&found, ids, HUB_COUNT(ids));
    scan_remove(root);
}

Test(discover, a_missing_root_is_reported)
{
    struct hub_roots where = {0};
    const struct hub_walk walk = {.roots = &where, .max_directories = HUB_MAX_DIRECTORIES};
    bool missing[1] = {false};
    struct hub_inspector *inspector = scan_inspector();
    cr_assert_eq(hub_roots_add(&where, "/nowhere/at/all", NULL, NULL), HUB_OK);
    const struct hub_discovery discovery = {
        .walk = &walk, .inspector = inspector, .drivers = "1", .each = keep, .user = &found};
    struct hub_discovered out = {.root_missing = missing};
    cr_expect_eq(hub_scan_discover(&discovery, &out, NULL), HUB_OK);
    cr_expect(missing[0]);
    cr_expect_eq(out.datasets, 0);
    hub_roots_dispose(&where);
    hub_inspector_free(inspector);
}

/* What lies beside "data" and "meta" sorts before, between and behind them. */
/* Its inspection finds out by this that it went meanwhile, also where nothing was found in it before. */
Test(discover, a_folder_that_went_has_no_files_to_collect)
{
    char *root = scan_directory();
    struct hub_roots where = {0};
    const struct hub_walk walk = {.roots = &where, .max_directories = HUB_MAX_DIRECTORIES};
    struct hub_fileset files;
    cr_assert_eq(hub_roots_add(&where, root, NULL, NULL), HUB_OK);
    cr_expect_eq(hub_walk_collect(&walk, 0, "went-v0", NULL, NULL, &files, NULL), HUB_NOT_FOUND);
    scan_write(root, "went-v0/data/metadata.json", "{}");
    cr_expect_eq(hub_walk_collect(&walk, 0, "went-v0", NULL, NULL, &files, NULL), HUB_OK);
    cr_expect_eq(files.count, 1);
    hub_fileset_dispose(&files);
    hub_roots_dispose(&where);
    scan_remove(root);
}

Test(discover, what_lies_beside_hides_no_dataset)
{
    static const struct {
        const char *fixture, *name, *found;
    } sets[] = {
        {"samples/door-human-v0", "door-human-v0", "door-human-v0 minari-hdf5"},
        {"lerobot/arm-v20", "arm-v20", "arm-v20 lerobot"},
        {"lerobot/arm-v21", "arm-v21", "arm-v21 lerobot"},
    };
    static const char *const beside[][4] = {
        {"README.md", "a.txt", "Zz/x.txt", "0"},
        {"data-old/x.txt", "data.txt", "data0", "info"},
        {"logs/x.txt", "meta-old", "meta.txt", "metal/x.txt"},
        {"notes.txt", "videos/x.mp4", "train1.log", "zz"},
    };
    for (size_t i = 0; i < HUB_COUNT(sets); i++) {
        for (size_t k = 0; k <= HUB_COUNT(beside); k++) {
            char *root = scan_directory(), set[4096];
            snprintf(set, sizeof set, "%s/%s", root, sets[i].name);
            scan_copy(sets[i].fixture, set);
            for (size_t j = 0; j < HUB_COUNT(beside); j++) /* the last time all of them */
                for (size_t l = 0; (j == k || k == HUB_COUNT(beside)) && l < HUB_COUNT(beside[j]); l++)
                    scan_write(set, beside[j][l], "x");
            discover((const char *const[]){root}, 1, &found);
            cr_expect_eq(found.count, 1, "%s with entries %zu", sets[i].name, k);
            cr_expect(strncmp(found.ids[0], sets[i].found, strlen(sets[i].found)) == 0, "%s with entries %zu",
                      found.ids[0], k);
            scan_remove(root);
        }
    }
}

Test(discover, what_lies_beside_hides_no_shards)
{
    char *root = scan_directory(), folder[4096];
    snprintf(folder, sizeof folder, "%s/lab", root);
    scan_copy("webdataset/ilr-shards", folder);
    scan_copy("webdataset/plain", folder);
    static const char *const beside[] = {"data/0.txt", "data-old", "meta/0.txt", "qq", "videos/x.mp4", "zz"};
    for (size_t i = 0; i < HUB_COUNT(beside); i++) {
        char path[4200];
        snprintf(path, sizeof path, "lab/%s", beside[i]);
        scan_write(root, path, "x");
    }
    discover((const char *const[]){root}, 1, &found);
    unsigned shards = 0;
    for (unsigned i = 0; i < found.count; i++)
        shards += strcmp(found.ids[i], "lab/random webdataset 2") == 0 ||
                  strcmp(found.ids[i], "lab/steps webdataset 2") == 0;
    cr_expect_eq(shards, 2);
    scan_remove(root);
}

/* 30 folders with two links each to the next: 2^30 paths, 31 directories. */
Test(discover, links_do_not_multiply, .timeout = 20)
{
    char *root = scan_directory(), link[4096], target[64], set[4096];
    for (int i = 0; i < 30; i++) {
        snprintf(link, sizeof link, "d%02d/x.txt", i);
        scan_write(root, link, "x");
        snprintf(target, sizeof target, "../d%02d", i + 1);
        for (int k = 0; k < 2; k++) {
            snprintf(link, sizeof link, "%s/d%02d/%c", root, i, 'a' + k);
            cr_assert_eq(symlink(target, link), 0);
        }
    }
    scan_write(root, "d30/x.txt", "x");
    struct hub_discovered out = discover((const char *const[]){root}, 1, &found);
    cr_expect_eq(found.count, 31);
    cr_expect_eq(out.directories, 32);
    scan_remove(root);

    root = scan_directory(); /* the same inside of a dataset */
    snprintf(set, sizeof set, "%s/set-v0", root);
    scan_copy("samples/door-human-v0", set);
    for (int i = 0; i < 30; i++) {
        snprintf(link, sizeof link, "set-v0/d%02d/x.txt", i);
        scan_write(root, link, "x");
        snprintf(target, sizeof target, "../d%02d", (i + 1) % 30);
        for (int k = 0; k < 2; k++) {
            snprintf(link, sizeof link, "%s/set-v0/d%02d/%c", root, i, 'a' + k);
            cr_assert_eq(symlink(target, link), 0);
        }
    }
    snprintf(link, sizeof link, "%s/set-v0/up", root);
    cr_assert_eq(symlink("..", link), 0);
    discover((const char *const[]){root}, 1, &found);
    expect(&found, (const char *const[]){"set-v0 minari-hdf5 31"}, 1);
    scan_remove(root);
}

/* A hidden folder is met by links alone: by the first in order. */
Test(discover, of_several_links_one_is_entered)
{
    char *root = scan_directory(), path[4096];
    scan_write(root, ".store/x", "x");
    snprintf(path, sizeof path, "%s/.store/set", root);
    scan_copy("samples/door-human-v0", path);
    static const char *const links[] = {"c", "a", "b"};
    for (size_t i = 0; i < HUB_COUNT(links); i++) {
        snprintf(path, sizeof path, "%s/%s", root, links[i]);
        cr_assert_eq(symlink(".store/set", path), 0);
    }
    discover((const char *const[]){root}, 1, &found);
    expect(&found, (const char *const[]){"a minari-hdf5 1"}, 1);
    scan_remove(root);
}

Test(discover, there_are_ceilings)
{
    char *root = scan_directory(), path[4096];
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "d%d/in/x", i);
        scan_write(root, path, "x");
    }
    most_directories = 6; /* the root, four, and one of those in them */
    struct hub_discovered out = discover((const char *const[]){root}, 1, &found);
    cr_expect_eq(out.directories, 6);
    cr_expect_eq(out.not_entered, 3);
    unsigned broken = 0;
    for (unsigned i = 0; i < found.count; i++)
        broken += strstr(found.broken[i], "more than 6 directories") != NULL;
    cr_expect_eq(broken, 3);
    scan_remove(root);

    root = scan_directory();
    snprintf(path, sizeof path, "%s/set-v0", root);
    scan_copy("samples/door-human-v0", path);
    scan_write(root, "set-v0/x/y/z/x", "x");
    most_directories = 4;
    discover((const char *const[]){root}, 1, &found);
    cr_expect_eq(found.count, 1);
    cr_expect_str_eq(found.ids[0], "set-v0 minari-hdf5 1 broken");
    cr_expect_str_eq(found.broken[0], "a dataset of more than 4 directories");
    scan_remove(root);
}

Test(discover, what_may_not_be_read_is_reported)
{
    static const char *const ids[] = {"lab/closed files 0 broken directory-not-entered", "lab/open files 1",
                                      "root-files files 1", "set-v0 minari-hdf5 1 directory-not-entered"};
    if (geteuid() != 0)
        return; /* nobody else can make what he may not read and be somebody else then */
    char *root = scan_directory(), path[4096];
    cr_assert_eq(chmod(root, 0755), 0);
    scan_write(root, "x", "x");
    scan_write(root, "lab/open/x", "x");
    scan_write(root, "lab/closed/x", "x");
    snprintf(path, sizeof path, "%s/set-v0", root);
    scan_copy("samples/door-human-v0", path);
    scan_write(root, "set-v0/closed/x", "x");
    snprintf(path, sizeof path, "%s/lab/closed", root);
    cr_assert_eq(chmod(path, 0700), 0);
    snprintf(path, sizeof path, "%s/set-v0/closed", root);
    cr_assert_eq(chmod(path, 0700), 0);
    as_nobody = true;
    struct hub_discovered out = discover((const char *const[]){root}, 1, &found);
    expect(&found, ids, HUB_COUNT(ids));
    cr_expect_str_eq(found.broken[0], "permission denied");
    cr_expect_eq(out.not_entered, 1);
    scan_remove(root);
}

/* Also where nothing else is left of the folder, and inside a dataset. */
Test(discover, logins_are_left_out_and_reported)
{
    static const char *const ids[] = {"copy files 0 credentials-withheld", "lab files 1",
                                      "root-files files 0 credentials-withheld credentials-withheld",
                                      "set-v0 minari-hdf5 1 credentials-withheld"};
    char *root = scan_directory(), path[4096];
    snprintf(path, sizeof path, "%s/set-v0", root);
    scan_copy("samples/door-human-v0", path);
    scan_write(root, "set-v0/token", "hf_abc");
    scan_write(root, "hub/.keep", "");
    scan_write(root, "token", "secret");
    scan_write(root, "stored_tokens", "secret");
    scan_write(root, "copy/token", "hf_abc");
    scan_write(root, "lab/token", "the cat sat");
    discover((const char *const[]){root}, 1, &found);
    expect(&found, ids, HUB_COUNT(ids));
    scan_remove(root);
}

Test(discover, a_stray_file_swallows_no_datasets)
{
    static const char *const ids[] = {"D4RL minari-hdf5 3", "D4RL/door/human-v2 minari-hdf5 1",
                                      "D4RL/pen-v0 minari-hdf5 1", "D4RL/pen-v0/backup/old minari-hdf5 1"};
    char *root = scan_directory(), path[4096];
    static const char *const sets[] = {"D4RL/door/human-v2", "D4RL/pen-v0", "D4RL/pen-v0/backup/old"};
    for (size_t i = 0; i < HUB_COUNT(sets); i++) {
        char file[4096];
        snprintf(file, sizeof file, "%s/x", sets[i]);
        scan_write(root, file, "x");
        snprintf(path, sizeof path, "%s/%s", root, sets[i]);
        scan_copy("samples/door-human-v0", path);
        snprintf(path, sizeof path, "%s/%s", root, file);
        cr_assert_eq(unlink(path), 0);
    }
    scan_write(root, "D4RL/data/main_data.hdf5", "stray");
    scan_write(root, "D4RL/door/notes.txt", "n");
    scan_write(root, "D4RL/data/x", "n");
    discover((const char *const[]){root}, 1, &found);
    expect(&found, ids, HUB_COUNT(ids));
    cr_expect_str_eq(found.files[0], "data/main_data.hdf5 data/x door/notes.txt");
    scan_remove(root);
}

Test(discover, deep_trees_and_long_names_are_listed)
{
    char *root = scan_directory(), path[4096] = "deep", name[256] = "";
    for (int i = 0; i < 200; i++)
        strcat(path, "/d");
    strcat(path, "/x");
    scan_write(root, path, "x");
    memset(name, '\t', 255); /* spelled, it is four times as long */
    snprintf(path, sizeof path, "%s/x", name);
    scan_write(root, path, "x");
    discover((const char *const[]){root}, 1, &found);
    cr_expect_eq(found.count, 2);
    cr_expect_str_eq(found.ids[0], "deep files 1");
    cr_expect(strncmp(found.ids[1], "long-name-", 10) == 0 && strstr(found.ids[1], " files 1 id-shortened"),
              "%s", found.ids[1]);
    scan_run((const char *const[]){"rm", "-rf", root, NULL});
    free(root);
}
