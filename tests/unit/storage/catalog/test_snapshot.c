/* Snapshots: order, versions, nearest ids, and readers beside a writer. */
#include "tests/support/catalog_draft.h"

#include "storage/io/fs.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>

static char *state;
static struct hub_catalog *catalog;

static void set_up(void)
{
    state = draft_state();
    const struct hub_catalog_options options = {.state = state, .cache_bytes = MIB};
    DRAFT_OK(hub_catalog_open(&options, &catalog, err));
}

static void tear_down(void)
{
    hub_catalog_close(catalog);
    DRAFT_OK(hub_fs_remove(AT_FDCWD, state, err));
    free(state);
}

TestSuite(snapshot, .init = set_up, .fini = tear_down);

static void publish(const char *id, const char *minari_version, const char *era)
{
    struct hub_found_fact facts[] = {{"stated_version", (char *)minari_version}, {"era", (char *)era}};
    const struct hub_findings plan = {.facts = facts, .fact_count = 2};
    const struct hub_dataset_file files[] = {draft_file("data/main_data.hdf5", 10)};
    const struct hub_draft draft = {.id = id,
                                    .path = id,
                                    .format = "minari-hdf5",
                                    .rule = "minari",
                                    .status = HUB_DATASET_READY,
                                    .files = files,
                                    .file_count = 1,
                                    .plan = &plan,
                                    .revision = ""};
    DRAFT_OK(hub_catalog_publish(catalog, &draft, err));
}

static const struct hub_snapshot *published(void)
{
    static const char *const sets[][3] = {
        {"door-human-v10", "~=0.4", "E4b"},
        {"door-human-v2", "~=0.4", "E4b"},
        {"door-human-v1", ">9", "E4b"},
        {"door-human-x-v0", "~=0.4", "E4b"},
        {"D4RL/door/human-v2", "0.5.0", "E5"},
        {"D4RL/pen/human-v2", "0.5.0", "E5"},
        {"demo", "", ""},
        {"door-human-v3", "0.9.0", "E5"},
    };
    for (size_t i = 0; i < HUB_COUNT(sets); i++)
        publish(sets[i][0], sets[i][1], sets[i][2]);
    DRAFT_OK(hub_catalog_flush(catalog, err));
    return snapshot_now(catalog);
}

Test(snapshot, in_version_order)
{
    static const char *const order[] = {
        "demo",           "door-human-v1",   "door-human-v2",      "door-human-v3",
        "door-human-v10", "door-human-x-v0", "D4RL/door/human-v2", "D4RL/pen/human-v2"};
    const struct hub_snapshot *s = published();
    cr_assert_eq(s->count, HUB_COUNT(order));
    for (size_t i = 0; i < HUB_COUNT(order); i++)
        cr_expect_str_eq(s->summaries[i]->id, order[i]);
}

Test(snapshot, versions_and_newest)
{
    const struct hub_snapshot *s = published();
    const struct hub_summary *const *first;
    cr_expect_eq(hub_snapshot_versions(s, HUB_VIEW("door-human"), &first), 4);
    cr_expect_str_eq(first[0]->id, "door-human-v1");
    cr_expect_eq(hub_snapshot_versions(s, HUB_VIEW("D4RL/door/human"), &first), 1);
    cr_expect_eq(hub_snapshot_versions(s, HUB_VIEW("door"), &first), 0);
    cr_expect_eq(hub_snapshot_versions(s, HUB_VIEW(""), &first), 0);
    cr_expect_str_eq(hub_snapshot_newest(s, HUB_VIEW("door-human"), NULL)->id, "door-human-v10");
    cr_expect_str_eq(hub_snapshot_newest(s, HUB_VIEW("door-human"), "0.4.3")->id, "door-human-v10");
    cr_expect_null(hub_snapshot_newest(s, HUB_VIEW("door-human"), "0.5.1"));
    cr_expect_null(hub_snapshot_newest(s, HUB_VIEW("door-human-v2"), NULL));
    cr_expect_null(hub_snapshot_find(s, HUB_VIEW("door-human")));
    cr_expect_not_null(hub_snapshot_find(s, HUB_VIEW("demo")));
}

Test(snapshot, nearest)
{
    static const char *const cases[][2] = {
        {"door-humna-v1", "door-human-v10"},
        {"DOOR-HUMAN", "door-human-v10"},
        {"D4RL/dor/human-v2", "D4RL/door/human-v2"},
        {"pen-human-v1", "D4RL/pen/human-v2"},
        {"dmo", "demo"},
    };
    const struct hub_snapshot *s = published();
    const struct hub_summary *near[3];
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        cr_assert_geq(hub_snapshot_nearest(s, hub_view_of(cases[i][0]), near, 3), 1, "%s", cases[i][0]);
        cr_expect_str_eq(near[0]->id, cases[i][1], "%s: %s", cases[i][0], near[0]->id);
    }
    cr_expect_eq(hub_snapshot_nearest(s, HUB_VIEW("nothing-like-it-at-all"), near, 3), 0);
    cr_expect_eq(hub_snapshot_nearest(s, HUB_VIEW(""), near, 3), 0);
    cr_expect_eq(hub_snapshot_nearest(s, HUB_VIEW("door-human"), near, 1), 1);
}

Test(snapshot, many_publications_show_now_and_then)
{
    const uint64_t before = snapshot_now(catalog)->generation;
    char id[32];
    for (int i = 0; i < 300; i++) {
        snprintf(id, sizeof id, "set-%d-v0", i);
        publish(id, "", "");
    }
    cr_expect_lt(snapshot_now(catalog)->generation - before, 100);
    DRAFT_OK(hub_catalog_flush(catalog, err));
    cr_expect_eq(snapshot_now(catalog)->count, 300);
    for (int i = 0; i < 300; i++) {
        snprintf(id, sizeof id, "set-%d-v0", i);
        cr_expect_not_null(hub_snapshot_find(snapshot_now(catalog), hub_view_of(id)));
    }
}

Test(snapshot, what_was_read_ahead_of_it_is_shown)
{
    const struct hub_dataset *dataset = NULL;
    publish("set-v0", "", "");
    DRAFT_OK(hub_catalog_flush(catalog, err));
    const struct hub_summary *first = hub_snapshot_find(snapshot_now(catalog), HUB_VIEW("set-v0"));
    publish("set-v0", "0.5.0", "");
    DRAFT_OK(hub_dataset_get(catalog, first, true, &dataset, err));
    hub_catalog_show(catalog, dataset->summary);
    const struct hub_summary *shown = hub_snapshot_find(snapshot_now(catalog), HUB_VIEW("set-v0"));
    cr_expect_eq(shown->serial, dataset->summary->serial);
    cr_expect_str_eq(shown->stated_version, "0.5.0");
    const uint64_t generation = snapshot_now(catalog)->generation;
    hub_catalog_show(catalog, dataset->summary);
    cr_expect_eq(snapshot_now(catalog)->generation, generation, "it is shown already");
    hub_dataset_put(dataset);
}

static atomic_bool stop;

static void *read_on(void *arg)
{
    uint64_t generation = 0;
    while (!atomic_load(&stop)) {
        HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *s = hub_catalog_snapshot(catalog);
        cr_assert_geq(s->generation, generation);
        generation = s->generation;
        for (uint32_t i = 0; i < s->count; i++) {
            const struct hub_dataset *dataset = NULL;
            if (hub_dataset_get(catalog, s->summaries[i], true, &dataset, NULL) == HUB_OK) {
                cr_assert_eq(dataset->file_count, 1);
                hub_dataset_put(dataset);
            }
        }
    }
    return arg;
}

Test(snapshot, readers_beside_a_writer)
{
    pthread_t threads[3];
    for (size_t i = 0; i < HUB_COUNT(threads); i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, read_on, NULL), 0);
    for (int i = 0; i < 400; i++) {
        char id[32];
        snprintf(id, sizeof id, "set-%d-v0", i % 20);
        if (i % 7 == 6)
            (void)!hub_catalog_remove(catalog, 0, id, NULL);
        else
            publish(id, "", "");
        DRAFT_OK(hub_catalog_flush(catalog, err));
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < HUB_COUNT(threads); i++)
        pthread_join(threads[i], NULL);
}
