/* storage/catalog/fences.c: what was seen before the hub changed it is published no more. */
#include "publishing.h"

TestSuite(fences, .init = set_up, .fini = tear_down);

static enum hub_status publish_seen(const char *id, uint64_t seen)
{
    const struct hub_dataset_file file = draft_file("a", 1);
    struct hub_draft draft = draft_of(id, &file, 1, NULL, 0);
    draft.seen = seen;
    const enum hub_status st = hub_catalog_publish(catalog, &draft, NULL);
    DRAFT_OK(hub_catalog_flush(catalog, err));
    return st;
}

Test(fences, nothing_of_a_place_is_published_while_it_changes)
{
    struct hub_fence fence;
    const uint64_t before = hub_catalog_look(catalog);
    cr_expect_eq(publish_seen("a", before), HUB_OK);
    hub_fence_raise(catalog, 0, "a", &fence);
    const uint64_t meanwhile = hub_catalog_look(catalog);
    cr_expect_eq(publish_seen("a", before), HUB_CHANGED);
    cr_expect_eq(publish_seen("a", meanwhile), HUB_CHANGED);
    cr_expect_eq(publish_seen("b", before), HUB_OK, "another place");
    hub_fence_lift(catalog, &fence, true);
    cr_expect_eq(publish_seen("a", before), HUB_CHANGED);
    cr_expect_eq(publish_seen("a", meanwhile), HUB_CHANGED, "the look began before it was over");
    cr_expect_eq(publish_seen("b", before), HUB_OK);
    cr_expect_eq(publish_seen("a", hub_catalog_look(catalog)), HUB_OK);
}

Test(fences, a_change_that_fails_is_none)
{
    struct hub_fence fence;
    const uint64_t before = hub_catalog_look(catalog);
    hub_fence_raise(catalog, 0, "a", &fence);
    hub_fence_lift(catalog, &fence, false);
    cr_expect_eq(publish_seen("a", before), HUB_OK);
}

Test(fences, several_at_once_end_in_any_order)
{
    struct hub_fence fences[3];
    for (int i = 0; i < 3; i++)
        hub_fence_raise(catalog, 0, i == 1 ? "b" : "a", &fences[i]);
    hub_fence_lift(catalog, &fences[1], true);
    cr_expect_eq(publish_seen("b", hub_catalog_look(catalog)), HUB_OK);
    hub_fence_lift(catalog, &fences[0], false);
    cr_expect_eq(publish_seen("a", hub_catalog_look(catalog)), HUB_CHANGED, "the other one goes on");
    hub_fence_lift(catalog, &fences[2], false);
    cr_expect_eq(publish_seen("a", hub_catalog_look(catalog)), HUB_OK);
}

Test(fences, of_several_drafts_one_that_is_late_holds_back_all)
{
    struct hub_fence fence;
    const struct hub_dataset_file file = draft_file("a", 1);
    const struct hub_draft drafts[] = {draft_of("b", &file, 1, NULL, 0), draft_of("a", &file, 1, NULL, 0)};
    hub_fence_raise(catalog, 0, "a", &fence);
    hub_fence_lift(catalog, &fence, true);
    cr_expect_eq(hub_catalog_publish_all(catalog, drafts, 2, NULL), HUB_CHANGED);
    DRAFT_OK(hub_catalog_flush(catalog, err));
    cr_expect_null(summary_of("b"));
}
