/* Publishing and reading back: datasets, side data, facts, states. */
#include "publishing.h"

#include "tests/support/see_episode.h"

TestSuite(publish, .init = set_up, .fini = tear_down);

Test(publish, a_dataset_is_read_back)
{
    publish_simple("D4RL/door/human-v2", 4);
    const struct hub_summary *summary = summary_of("D4RL/door/human-v2");
    cr_assert_not_null(summary);
    cr_expect_str_eq(summary->ns, "D4RL/door");
    cr_expect_str_eq(summary->name, "human");
    cr_expect_str_eq(summary->key, "D4RL/door/human");
    cr_expect_eq(summary->version, 2);
    cr_expect_eq(summary->episodes, 4);
    cr_expect_eq(summary->steps, 20);
    cr_expect_eq(summary->size, 1 << 20);
    cr_expect_eq(summary->status, HUB_DATASET_READY);
    cr_expect_str_eq(summary->description, "");
    const struct hub_dataset *dataset = opened("D4RL/door/human-v2");
    cr_expect_eq(dataset->file_count, 1);
    cr_expect_str_eq(dataset->files[0].path, "data/main_data.hdf5");
    cr_expect_eq(dataset->files[0].stamp.tag, 1700000000000000001U);
    cr_expect_eq(dataset->field_count, 2);
    cr_expect_str_eq(dataset->fields[1].path, "observations/qpos");
    cr_expect_str_eq(dataset->fields[1].dtype, "float32");
    cr_expect_str_eq(dataset->fields[1].shape, "[3]");
    cr_expect_eq(dataset->fields[1].episodes, 4);
    cr_expect_eq(hub_dataset_find_episode(dataset, 3)->index, 3);
    cr_expect_null(hub_dataset_find_episode(dataset, 4));
    cr_expect_null(hub_dataset_find_episode(dataset, -1));
    uint32_t first;
    size_t size;
    cr_expect_eq(hub_dataset_find_group(dataset, HUB_VIEW("observations"), &first, &size), 1);
    cr_expect_eq(first, 1);
    cr_expect_eq(hub_dataset_find_group(dataset, HUB_VIEW("obs"), &first, &size), 0);
    cr_expect_eq(hub_dataset_find_group(dataset, HUB_VIEW(""), &first, &size), 2);
    cr_expect_eq(hub_dataset_find_field(dataset, HUB_VIEW("observations")), HUB_NONE);
    cr_expect_eq(file_of(dataset, 0, "actions"), 0);
    hub_dataset_put(dataset);
}

Test(publish, all_is_there_after_reopening)
{
    publish_simple("door-human-v1", 3);
    hub_catalog_close(catalog);
    open_it();
    const struct hub_dataset *dataset = opened("door-human-v1");
    cr_expect_eq(dataset->episode_count, 3);
    cr_expect_eq(file_of(dataset, 0, "observations/qpos"), 0);
    hub_dataset_put(dataset);
    cr_expect(hub_catalog_has_part(catalog, 0, "door-human-v1", "main_data.hdf5", 11));
    cr_expect_not(hub_catalog_has_part(catalog, 0, "door-human-v1", "main_data.hdf5", 12));
}

Test(publish, staged_parts_show_with_the_publication)
{
    const struct hub_dataset_file files[] = {draft_file("a.h5", 1 << 20)};
    struct hub_findings *a = draft_findings(two_fields, 2, 0, 0, 3, 5);
    const struct hub_draft_part part = {.name = "a", .signature = 9, .found = a},
                                kept = {.name = "a", .signature = 9};
    const struct hub_draft draft = draft_of("set", files, 1, &kept, 1);
    DRAFT_OK(hub_catalog_stage(catalog, &draft, &part, err));
    cr_expect_null(summary_of("set"));
    cr_expect(hub_catalog_has_part(catalog, 0, "set", "a", 9));
    publish(&draft);
    cr_expect_eq(summary_of("set")->episodes, 3);
    draft_findings_free(a);
}

static void touch(const char *path)
{
    char full[4096];
    snprintf(full, sizeof full, "%s/%s", state, path);
    const int fd = open(full, O_CREAT | O_WRONLY, 0600);
    cr_assert_geq(fd, 0);
    close(fd);
}

static bool exists(const char *path)
{
    char full[4096];
    snprintf(full, sizeof full, "%s/%s", state, path);
    return access(full, F_OK) == 0;
}

Test(publish, side_data_goes_with_its_last_reader)
{
    const struct hub_dataset_file files[] = {draft_file("a.h5", 1 << 20)};
    struct hub_findings *a = draft_findings(two_fields, 2, 0, 0, 1, 5);
    struct hub_draft_part part = {.name = "a", .signature = 1, .found = a, .side = "side/1-a-1"};
    const struct hub_draft draft = draft_of("set", files, 1, &part, 1);
    touch("side/1-a-1");
    publish(&draft);
    const struct hub_dataset *dataset = opened("set");
    cr_expect_str_eq(dataset->parts[0].side, "side/1-a-1");
    part = (struct hub_draft_part){.name = "a", .signature = 2, .found = a, .side = "side/1-a-2"};
    touch("side/1-a-2");
    publish(&draft);
    DRAFT_OK(hub_catalog_flush(catalog, err));
    cr_expect(exists("side/1-a-1"), "somebody reads the old state");
    hub_dataset_put(dataset);
    cr_expect(exists("side/1-a-1"), "whoever puts it back need not wait for the disk");
    DRAFT_OK(hub_catalog_flush(catalog, err));
    cr_expect_not(exists("side/1-a-1"));
    cr_expect(exists("side/1-a-2"));
    touch("side/orphan");
    hub_catalog_close(catalog);
    open_it();
    cr_expect(exists("side/1-a-2"));
    cr_expect_not(exists("side/orphan"));
    DRAFT_OK(hub_catalog_remove(catalog, 0, "set", err));
    DRAFT_OK(hub_catalog_flush(catalog, err));
    cr_expect_null(summary_of("set"));
    cr_expect_not(exists("side/1-a-2"));
    draft_findings_free(a);
}

Test(publish, an_old_summary_opens_the_new_state)
{
    publish_simple("set", 3);
    const struct hub_summary *old = summary_of("set");
    publish_simple("other", 1);
    publish_simple("set", 5);
    (void)old;
    const struct hub_dataset *dataset = opened("set");
    cr_expect_eq(dataset->episode_count, 5);
    cr_expect_eq(dataset->summary->episodes, 5);
    hub_dataset_put(dataset);
}

Test(publish, facts_are_kept_until_the_next_plan)
{
    struct hub_found_fact facts[] = {{"metadata", "{\"a\":1}"}, {"description", "a door"}};
    const struct hub_findings plan = {.facts = facts, .fact_count = 2};
    const struct hub_dataset_file files[] = {draft_file("a.h5", 10)};
    struct hub_draft draft = draft_of("set", files, 1, NULL, 0);
    struct hub_buf text = HUB_BUF_INIT(MIB);
    draft.plan = &plan;
    publish(&draft);
    draft.plan = NULL;
    publish(&draft);
    HUB_CLEANUP(hub_state_close) struct hub_state now = state_of("set");
    DRAFT_OK(hub_dataset_fact(&now, "metadata", &text, err));
    cr_expect_str_eq(text.data, "{\"a\":1}");
    cr_expect_str_eq(summary_of("set")->description, "a door");
    text.size = 0;
    DRAFT_OK(hub_dataset_fact(&now, "env_spec", &text, err));
    cr_expect_eq(text.size, 0);
    hub_buf_dispose(&text);
}

static void publish_described(const char *description, const char *revision, uint32_t episodes)
{
    struct hub_found_fact facts[] = {{"description", (char *)description}};
    const struct hub_findings plan = {.facts = facts, .fact_count = 1};
    const struct hub_dataset_file files[] = {draft_file("data/main_data.hdf5", 1 << 20)};
    struct hub_findings *found = draft_findings(two_fields, 2, 0, 0, episodes, 5);
    const struct hub_draft_part part = {.name = "main_data.hdf5", .signature = episodes, .found = found};
    struct hub_draft draft = draft_of("set", files, 1, &part, 1);
    draft.plan = &plan;
    draft.revision = revision;
    DRAFT_OK(hub_catalog_publish(catalog, &draft, err));
    draft_findings_free(found);
}

static void expect_state(const struct hub_state *of, const char *revision, const char *description,
                         uint32_t episodes)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(KIB);
    HUB_CLEANUP(hub_episode_page_dispose) struct hub_episode_page page = {0};
    const struct hub_episode_query query = {.limit = 100};
    cr_expect_str_eq(of->dataset->summary->revision, revision);
    cr_expect_eq(of->dataset->episode_count, episodes);
    DRAFT_OK(hub_dataset_fact(of, "description", &text, err));
    cr_expect_str_eq(text.data, description);
    DRAFT_OK(hub_episode_page(of, &query, &page, err));
    cr_expect(page.count == episodes && page.total == episodes, "%u of %u episodes", page.count, episodes);
    for (uint32_t i = 0; i < page.count; i++)
        DRAFT_OK(see_episode(of, of->dataset->episodes[page.places[i]].number, NULL, NULL, err));
}

Test(publish, a_state_stays_one_while_others_are_published)
{
    publish_described("old", "1111111111111111111111111111111111111111", 3);
    DRAFT_OK(hub_catalog_flush(catalog, err));
    struct hub_state old = state_of("set");
    publish_described("new", "2222222222222222222222222222222222222222", 5);
    expect_state(&old, "1111111111111111111111111111111111111111", "old", 3);
    hub_state_close(&old);
    struct hub_state now = state_of("set"); /* the snapshot need not show it yet */
    expect_state(&now, "2222222222222222222222222222222222222222", "new", 5);
    hub_state_close(&now);
    DRAFT_OK(hub_catalog_remove(catalog, 0, "set", err));
    hub_state_close(&now);
}

Test(publish, no_state_of_what_is_gone)
{
    publish_described("old", "1111111111111111111111111111111111111111", 3);
    DRAFT_OK(hub_catalog_flush(catalog, err));
    const struct hub_summary *summary = summary_of("set"); /* this thread's snapshot keeps it */
    DRAFT_OK(hub_catalog_remove(catalog, 0, "set", err));
    struct hub_state gone = {0};
    cr_expect_eq(hub_state_open(catalog, summary, &gone, NULL), HUB_NOT_FOUND);
    hub_state_close(&gone);
}

Test(publish, a_draft_that_makes_no_sense_changes_nothing)
{
    const struct hub_dataset_file files[] = {draft_file("b", 1), draft_file("a", 1)};
    const struct hub_draft_part kept = {.name = "never seen", .signature = 1};
    const struct hub_draft unsorted = draft_of("set", files, 2, NULL, 0),
                           unknown = draft_of("set", files, 1, &kept, 1);
    cr_expect_eq(hub_catalog_publish(catalog, &unsorted, NULL), HUB_INVALID);
    cr_expect_eq(hub_catalog_publish(catalog, &unknown, NULL), HUB_NOT_FOUND);
    DRAFT_OK(hub_catalog_flush(catalog, err));
    cr_expect_null(summary_of("set"));
    cr_expect_eq(hub_catalog_remove(catalog, 0, "set", NULL), HUB_NOT_FOUND);
}
