/* Which datasets lie below a root, without a catalogue. */
#include "storage/scan/discover.h"
#include "tests/support/scan_root.h"

#include <criterion/criterion.h>

enum { MOST = 100 };

struct found {
    char ids[MOST][200]; /* "id format files" */
    unsigned count;
};

static enum hub_status keep(void *user, struct hub_found_dataset *dataset, struct hub_error *err)
{
    struct found *found = user;
    (void)err;
    cr_assert_lt(found->count, MOST);
    snprintf(found->ids[found->count++], sizeof found->ids[0], "%s %s %u", dataset->id, dataset->formats[0],
             dataset->files->count);
    return HUB_OK;
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static struct hub_discovered discover(const char *const *roots, uint32_t count, struct found *found)
{
    struct hub_walk walk;
    struct hub_inspector *inspector = scan_inspector();
    struct hub_discovered out = {0};
    struct hub_error err = {0};
    cr_assert_eq(hub_walk_init(&walk, roots, count, NULL, 0, &err), HUB_OK);
    const struct hub_discovery discovery = {
        .walk = &walk, .inspector = inspector, .jobs = 2, .drivers = "1", .each = keep, .user = found};
    found->count = 0;
    cr_assert_eq(hub_scan_discover(&discovery, &out, &err), HUB_OK, "%s", err.detail);
    qsort(found->ids, found->count, sizeof found->ids[0], compare);
    hub_walk_dispose(&walk);
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
        "tmpq3k7x_1a files 1",
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
    static const char *const ids[] = {"lab/logs files 3", "lab/set-v0 minari-hdf5 1", "stray files 1"};
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
    scan_write(root, "stray.txt", "x");
    scan_write(root, "stray/deep/x", "x");
    scan_write(root, ".minari-hub/staging/x", "x");
    scan_write(root, "empty/namespace_metadata.json", "{}");
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
    cr_expect_eq(found.count, 1);
    cr_expect(strstr(found.ids[0], " files 2"), "%s", found.ids[0]);
    scan_remove(root);
}

Test(discover, the_first_of_two_roots_stays)
{
    char *first = scan_directory(), *second = scan_directory(), path[4096];
    snprintf(path, sizeof path, "%s/door-human-v0", first);
    scan_copy("samples/door-human-v0", path);
    snprintf(path, sizeof path, "%s/door-human-v0", second);
    scan_copy("samples/door-human-v0", path);
    snprintf(path, sizeof path, "%s/more-v0", second);
    scan_copy("samples/door-human-v0", path);
    const struct hub_discovered out = discover((const char *const[]){first, second}, 2, &found);
    expect(&found, (const char *const[]){"door-human-v0 minari-hdf5 1", "more-v0 minari-hdf5 1"}, 2);
    cr_expect_eq(out.clashes, 1);
    scan_remove(first);
    scan_remove(second);
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
    static const char *const want[] = {"dangling files 0", "leaving-v0 files 0", "linked-v0 minari-hdf5 1",
                                       "real-v0 minari-hdf5 1"};
    expect(&found, want, HUB_COUNT(want)); /* what is not followed is told, without files */
    scan_remove(root);
    scan_remove(outside);
}

Test(discover, odd_names_get_ids)
{
    static const char *const ids[] = {"\\x66iles files 1", "\\x7efiles files 1", "bad\\xffname files 1",
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

Test(discover, a_missing_root_is_told)
{
    struct hub_walk walk;
    bool missing[1] = {false};
    struct hub_inspector *inspector = scan_inspector();
    cr_assert_eq(hub_walk_init(&walk, (const char *const[]){"/nowhere/at/all"}, 1, NULL, 0, NULL), HUB_OK);
    const struct hub_discovery discovery = {
        .walk = &walk, .inspector = inspector, .drivers = "1", .each = keep, .user = &found};
    struct hub_discovered out = {.root_missing = missing};
    cr_expect_eq(hub_scan_discover(&discovery, &out, NULL), HUB_OK);
    cr_expect(missing[0]);
    cr_expect_eq(out.datasets, 0);
    hub_walk_dispose(&walk);
    hub_inspector_free(inspector);
}

/* What lies beside "data" and "meta" sorts before, between and behind them. */
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
