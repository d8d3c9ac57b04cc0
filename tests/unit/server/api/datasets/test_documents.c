/* When a ready document of a dataset is out of date: when a state it shows is, not whenever something is
 * published. */
#include "server/api/datasets/documents.h"
#include "server/api/files/listing.h"
#include "tests/support/catalog_draft.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <fcntl.h>

static char *state;
static struct hub_catalog *catalog;

static void set_up(void)
{
    state = draft_state();
    const struct hub_catalog_options options = {.state = state};
    DRAFT_OK(hub_catalog_open(&options, &catalog, err));
}

static void tear_down(void)
{
    hub_catalog_close(catalog);
    DRAFT_OK(hub_fs_remove(AT_FDCWD, state, err));
    free(state);
}

TestSuite(documents, .init = set_up, .fini = tear_down);

static void publish(const char *id)
{
    const struct hub_dataset_file files[] = {draft_file("a", 1)};
    const struct hub_draft draft = {.id = id,
                                    .path = id,
                                    .format = "files",
                                    .reason = "",
                                    .status = HUB_DATASET_READY,
                                    .files = files,
                                    .file_count = 1,
                                    .revision = ""};
    DRAFT_OK(hub_catalog_publish(catalog, &draft, err));
    DRAFT_OK(hub_catalog_flush(catalog, err));
}

static uint64_t states(const struct hub_document_kind *kind)
{
    const struct hub_snapshot *snapshot = snapshot_now(catalog);
    return kind->states(snapshot, hub_snapshot_find(snapshot, HUB_VIEW("door/human-v1")));
}

struct change_case {
    char id[24];
    bool document, files; /* what goes stale when it is published */
};
ParameterizedTestParameters(documents, go_stale_by_the_states_they_show)
{
    static struct change_case cases[] = {
        {"pen/human-v1", false, false}, {"door/humans-v1", false, false}, {"door/human", true, false},
        {"door/human-v2", true, false}, {"door/human-v0", true, false},   {"door/human-v1", true, true},
    };
    return cr_make_param_array(struct change_case, cases, HUB_COUNT(cases));
}
ParameterizedTest(struct change_case *c, documents, go_stale_by_the_states_they_show)
{
    publish("door/human-v1");
    publish("door/human-v0");
    const uint64_t document = states(&hub_dataset_document), files = states(&hub_files_document);
    cr_expect_eq(states(&hub_dataset_document), document);
    publish(c->id);
    cr_expect_eq(states(&hub_dataset_document) != document, c->document, "%s", c->id);
    cr_expect_eq(states(&hub_files_document) != files, c->files, "%s", c->id);
}

Test(documents, a_new_state_of_the_only_version_is_shown)
{
    publish("door/human-v1");
    const uint64_t document = states(&hub_dataset_document), files = states(&hub_files_document);
    publish("door/human-v1");
    cr_expect_neq(states(&hub_dataset_document), document);
    cr_expect_neq(states(&hub_files_document), files);
}

Test(documents, a_version_that_goes_is_no_longer_shown)
{
    publish("door/human-v1");
    const uint64_t alone = states(&hub_dataset_document);
    publish("door/human-v2");
    const uint64_t two = states(&hub_dataset_document);
    DRAFT_OK(hub_catalog_remove(catalog, 0, "door/human-v2", err));
    DRAFT_OK(hub_catalog_flush(catalog, err));
    cr_expect_neq(alone, two);
    cr_expect_eq(states(&hub_dataset_document), alone);
}
