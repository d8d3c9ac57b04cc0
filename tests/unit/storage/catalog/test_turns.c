/* Several publications: together, one after the other, and by whoever has the turn. */
#include "publishing.h"

TestSuite(turns, .init = set_up, .fini = tear_down);

static struct hub_draft noted(const char *id, const struct hub_dataset_file *file, const char *note)
{
    struct hub_draft draft = draft_of(id, file, 1, NULL, 0);
    draft.format = "files";
    draft.note = note;
    draft.note_value = hub_view_of(id);
    return draft;
}

static void expect_note(const char *key, const char *value)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(KIB);
    DRAFT_OK(hub_catalog_note_get(catalog, key, &text, err));
    cr_expect_str_eq(text.data, value);
}

Test(turns, several_are_published_together)
{
    const struct hub_dataset_file file = draft_file("a.txt", 1);
    publish_simple("b", 2);
    const struct hub_snapshot *before = snapshot_now(catalog);
    const uint64_t generation = before->generation, serial = summary_of("b")->serial;
    const struct hub_draft drafts[] = {noted("c", &file, "note c"), noted("b", &file, "note b"),
                                       noted("a", &file, "note a")};
    DRAFT_OK(hub_catalog_publish_all(catalog, drafts, 3, err));
    DRAFT_OK(hub_catalog_flush(catalog, err));
    cr_expect_eq(snapshot_now(catalog)->generation, generation + 1);
    for (int again = 0; again < 2; again++) {
        cr_assert_eq(snapshot_now(catalog)->count, 3);
        cr_expect_str_eq(summary_of("b")->format, "files");
        cr_expect_eq(summary_of("b")->episodes, 0);
        cr_expect_gt(summary_of("c")->serial, serial);
        cr_expect_gt(summary_of("b")->serial, summary_of("c")->serial);
        cr_expect_gt(summary_of("a")->serial, summary_of("b")->serial);
        expect_note("note a", "a");
        expect_note("note b", "b");
        expect_note("note c", "c");
        hub_catalog_close(catalog);
        open_it();
    }
    const struct hub_dataset *dataset = opened("b");
    cr_expect_eq(dataset->part_count, 0);
    hub_dataset_put(dataset);
    DRAFT_OK(hub_catalog_publish_all(catalog, drafts, 0, err));
}

Test(turns, one_that_fails_leaves_all_as_they_were)
{
    const struct hub_dataset_file file = draft_file("a.txt", 1);
    const struct hub_draft_part kept = {.name = "never seen", .signature = 1};
    const struct hub_draft drafts[] = {noted("a", &file, "note a"), draft_of("b", &file, 1, &kept, 1)};
    publish_simple("a", 2);
    const uint64_t serial = summary_of("a")->serial;
    cr_expect_eq(hub_catalog_publish_all(catalog, drafts, 2, NULL), HUB_NOT_FOUND);
    DRAFT_OK(hub_catalog_flush(catalog, err));
    cr_expect_eq(summary_of("a")->serial, serial);
    cr_expect_eq(summary_of("a")->episodes, 2);
    cr_expect_null(summary_of("b"));
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(KIB);
    cr_expect_eq(hub_catalog_note_get(catalog, "note a", &text, NULL), HUB_NOT_FOUND);
}

/* ---- turns ---- */

static struct hub_turn turn_of(const char *id)
{
    const struct hub_draft draft = draft_of(id, NULL, 0, NULL, 0);
    struct hub_turn turn = {0};
    DRAFT_OK(hub_catalog_take_turn(catalog, &draft, &turn, err));
    return turn;
}

/* "files" is what each publication shows, to tell them apart. */
static enum hub_status publish_in(const struct hub_turn *turn, const char *id, uint32_t files)
{
    const struct hub_dataset_file of[] = {draft_file("a", 1), draft_file("b", 1), draft_file("c", 1)};
    struct hub_draft draft = draft_of(id, of, files, NULL, 0);
    draft.turn = turn;
    const enum hub_status st = hub_catalog_publish(catalog, &draft, NULL);
    DRAFT_OK(hub_catalog_flush(catalog, err));
    return st;
}

Test(turns, whoever_lost_his_turn_cannot_overwrite)
{
    const struct hub_turn slow = turn_of("set-v0"), quick = turn_of("set-v0");
    cr_expect_eq(slow.expect, 0);
    cr_expect_gt(quick.fence, slow.fence);
    cr_expect_eq(publish_in(&slow, "set-v0", 1), HUB_CHANGED, "before the other one published");
    cr_expect_eq(publish_in(&quick, "set-v0", 2), HUB_OK);
    cr_expect_eq(publish_in(&slow, "set-v0", 1), HUB_CHANGED, "and after");
    cr_expect_eq(summary_of("set-v0")->files, 2);
    hub_catalog_close(catalog); /* also by a later process */
    open_it();
    const struct hub_turn later = turn_of("set-v0");
    cr_expect_gt(later.fence, quick.fence);
    cr_expect_eq(publish_in(&slow, "set-v0", 1), HUB_CHANGED);
    cr_expect_eq(publish_in(&later, "set-v0", 3), HUB_OK);
    cr_expect_eq(summary_of("set-v0")->files, 3);
}

Test(turns, a_turn_is_for_the_state_it_was_taken_on)
{
    const struct hub_turn turn = turn_of("set-v0");
    cr_expect_eq(publish_in(NULL, "set-v0", 1), HUB_OK);
    cr_expect_eq(publish_in(&turn, "set-v0", 2), HUB_CHANGED);
    const struct hub_turn next = turn_of("set-v0");
    cr_expect_eq(next.expect, summary_of("set-v0")->serial);
    DRAFT_OK(hub_catalog_remove(catalog, 0, "set-v0", err));
    cr_expect_eq(publish_in(&next, "set-v0", 2), HUB_CHANGED, "it was removed");
    cr_expect_null(summary_of("set-v0"));
}

Test(turns, an_attempt_that_is_repeated_counts_once)
{
    const struct hub_turn turn = turn_of("set-v0");
    cr_expect_eq(publish_in(&turn, "set-v0", 1), HUB_OK);
    const uint64_t serial = summary_of("set-v0")->serial;
    cr_expect_eq(publish_in(&turn, "set-v0", 1), HUB_OK);
    cr_expect_eq(summary_of("set-v0")->serial, serial);
    cr_expect_eq(publish_in(NULL, "set-v0", 2), HUB_OK);
    cr_expect_eq(publish_in(&turn, "set-v0", 1), HUB_CHANGED, "another state followed it");
    cr_expect_eq(summary_of("set-v0")->files, 2);
}

Test(turns, whoever_lost_his_turn_stages_nothing)
{
    const struct hub_dataset_file files[] = {draft_file("data/main_data.hdf5", 1 << 20)};
    struct hub_findings *found = draft_findings(two_fields, 2, 0, 0, 3, 5);
    const struct hub_draft_part part = {.name = "main_data.hdf5", .signature = 11, .found = found};
    struct hub_draft draft = draft_of("set-v0", files, 1, &part, 1);
    const struct hub_turn slow = turn_of("set-v0"), quick = turn_of("set-v0");
    draft.turn = &slow;
    cr_expect_eq(hub_catalog_stage(catalog, &draft, &part, NULL), HUB_CHANGED);
    cr_expect_not(hub_catalog_has_part(catalog, 0, "set-v0", "main_data.hdf5", 11));
    draft.turn = &quick;
    DRAFT_OK(hub_catalog_stage(catalog, &draft, &part, err));
    cr_expect(hub_catalog_has_part(catalog, 0, "set-v0", "main_data.hdf5", 11));
    draft_findings_free(found);
}
