/* Layouts in memory: shared, under a ceiling, and ready without waiting. */
#include "publishing.h"

#include "tests/support/see_episode.h"

TestSuite(layouts, .init = set_up, .fini = tear_down);

Test(layouts, nothing_blocks_when_warm)
{
    const struct hub_dataset *dataset = NULL;
    struct hub_layout_ref *ref = NULL;
    publish_simple("door-human-v1", 3);
    cr_expect_eq(hub_dataset_get(catalog, summary_of("door-human-v1"), false, &dataset, NULL), HUB_AGAIN);
    hub_dataset_put(opened("door-human-v1"));
    cr_assert_eq(hub_dataset_get(catalog, summary_of("door-human-v1"), false, &dataset, NULL), HUB_OK);
    cr_expect_eq(hub_layout_get(catalog, dataset, 0, 0, false, &ref, NULL), HUB_AGAIN);
    (void)file_of(dataset, 0, "actions");
    cr_assert_eq(hub_layout_get(catalog, dataset, 0, 0, false, &ref, NULL), HUB_OK);
    hub_layout_put(ref);
    hub_dataset_put(dataset);
}

struct memory {
    uint64_t used, most;
};

static bool take(void *user, uint64_t bytes)
{
    struct memory *m = user;
    if (m->used + bytes > m->most)
        return false;
    m->used += bytes;
    return true;
}

static void give(void *user, uint64_t bytes)
{
    ((struct memory *)user)->used -= bytes;
}

static void expect_no_room_for_episodes(const char *id)
{
    struct hub_error err = {0};
    struct hub_state now;
    DRAFT_OK(hub_state_open(catalog, summary_of(id), &now, err));
    cr_expect_eq(see_episode(&now, 0, NULL, NULL, &err), HUB_BUSY);
    cr_expect_eq(err.problem, HUB_PROBLEM_OVERLOADED);
    cr_expect(strstr(err.detail, "the episodes of this dataset") && !strstr(err.detail, "fields"), "%s",
              err.detail);
    hub_state_close(&now);
}

/* Of a part of many episodes the windows of all fields are in memory once, as long as one of them is in
 * use. */
Test(layouts, windows_are_shared)
{
    enum { MANY = 5000 };
    const struct draft_field fields[] = {{"a", HUB_FIELD_NUMBER, 1}, {"b", HUB_FIELD_NUMBER, 1}};
    const struct hub_dataset_file files[] = {draft_file("data/main_data.hdf5", 1 << 20)};
    struct hub_layout_ref *refs[2] = {0};
    hub_catalog_close(catalog);
    options = (struct hub_catalog_options){.cache_bytes = 200 * KIB}; /* not for long */
    open_it();
    struct hub_findings *found = draft_findings(fields, 2, 0, 0, MANY, 1);
    const struct hub_draft_part part = {.name = "main_data.hdf5", .signature = 11, .found = found};
    const struct hub_draft draft = draft_of("many-v0", files, 1, &part, 1);
    publish(&draft);
    draft_findings_free(found);
    const struct hub_dataset *dataset = opened("many-v0");
    for (uint32_t i = 0; i < 2; i++)
        DRAFT_OK(hub_layout_get(catalog, dataset, 0, i, true, &refs[i], err));
    const struct hub_layout *a = hub_layout_of(refs[0]), *b = hub_layout_of(refs[1]);
    cr_expect_eq(a->windows, b->windows);
    cr_expect_neq(a->pieces, b->pieces);
    hub_layout_put(refs[0]);
    hub_dataset_put(opened("many-v0"));
    cr_expect_eq(b->counts[HUB_T_WINDOWS], MANY);
    for (uint32_t i = 0; i < MANY; i++)
        cr_assert_eq(hub_layout_window(b, i)->episode, i);
    DRAFT_OK(hub_layout_get(catalog, dataset, 0, 0, true, &refs[0], err));
    cr_expect_eq(hub_layout_window(hub_layout_of(refs[0]), MANY - 1)->episode, MANY - 1);
    for (uint32_t i = 0; i < 2; i++)
        hub_layout_put(refs[i]);
    hub_dataset_put(dataset);
}

Test(layouts, layouts_in_use_have_a_ceiling)
{
    struct draft_field fields[6];
    struct hub_layout_ref *refs[6] = {0};
    struct memory memory = {.most = 70 * KIB};
    const struct hub_dataset_file files[] = {draft_file("data/main_data.hdf5", 1 << 20)};
    char names[6][8];
    for (uint32_t i = 0; i < 6; i++) {
        snprintf(names[i], sizeof names[i], "f%u", i);
        fields[i] = (struct draft_field){names[i], HUB_FIELD_NUMBER, 1};
    }
    hub_catalog_close(catalog);
    options =
        (struct hub_catalog_options){.cache_bytes = 150 * KIB, .take = take, .give = give, .memory = &memory};
    open_it();
    struct hub_findings *found = draft_findings(fields, 6, 0, 0, 2000, 1); /* 24 bytes an episode and field */
    const struct hub_draft_part part = {.name = "main_data.hdf5", .signature = 11, .found = found};
    const struct hub_draft draft = draft_of("many-v0", files, 1, &part, 1);
    publish(&draft);
    draft_findings_free(found);

    const struct hub_dataset *dataset = opened("many-v0");
    struct hub_error err = {0};
    uint32_t i = 0;
    enum hub_status st = HUB_OK;
    while (i < 6 && !(st = hub_layout_get(catalog, dataset, 0, i, true, &refs[i], &err)))
        i++;
    cr_assert_eq(st, HUB_BUSY);
    cr_expect_eq(err.problem, HUB_PROBLEM_OVERLOADED);
    cr_expect(strstr(err.detail, "fewer fields"), "%s", err.detail);
    cr_expect_geq(i, 3);
    cr_expect_lt(i, 6);
    cr_expect_gt(memory.used, 0);
    memory.most = memory.used;
    expect_no_room_for_episodes("many-v0");
    memory.most = 70 * KIB;
    while (i > 0)
        hub_layout_put(refs[--i]);
    cr_expect_eq(memory.used, 0, "what found no room is not kept");
    for (i = 0; i < 6; i++) {
        DRAFT_OK(hub_layout_get(catalog, dataset, 0, i, true, &refs[i], err));
        hub_layout_put(refs[i]);
    }
    cr_expect_eq(memory.used, 0, "one after the other they fit");
    hub_dataset_put(dataset);
}
