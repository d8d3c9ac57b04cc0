/** What the tests of publishing share: a catalogue in a fresh state directory, and drafts for it. */
#ifndef TEST_CATALOG_PUBLISHING_H
#define TEST_CATALOG_PUBLISHING_H

#include "tests/support/catalog_draft.h"

#include "storage/io/fs.h"

#include <criterion/criterion.h>
#include <fcntl.h>

static char *state;
static struct hub_catalog *catalog;
static struct hub_catalog_options options;

static inline void open_it(void)
{
    options.state = state;
    DRAFT_OK(hub_catalog_open(&options, &catalog, err));
}

static inline void set_up(void)
{
    state = draft_state();
    open_it();
}

static inline void tear_down(void)
{
    hub_catalog_close(catalog);
    DRAFT_OK(hub_fs_remove(AT_FDCWD, state, err));
    free(state);
}

static const struct draft_field two_fields[] = {{"actions", HUB_FIELD_NUMBER, 2},
                                                {"observations/qpos", HUB_FIELD_NUMBER, 3}};

static inline struct hub_draft draft_of(const char *id, const struct hub_dataset_file *files,
                                        uint32_t file_count, const struct hub_draft_part *parts,
                                        uint32_t part_count)
{
    return (struct hub_draft){.id = id,
                              .path = id,
                              .format = "minari-hdf5",
                              .status = HUB_DATASET_READY,
                              .files = files,
                              .file_count = file_count,
                              .parts = parts,
                              .part_count = part_count,
                              .revision = "0123456789012345678901234567890123456789"};
}

static inline void publish(const struct hub_draft *draft)
{
    DRAFT_OK(hub_catalog_publish(catalog, draft, err));
    DRAFT_OK(hub_catalog_flush(catalog, err));
}

static inline const struct hub_summary *summary_of(const char *id)
{
    return hub_snapshot_find(snapshot_now(catalog), hub_view_of(id));
}

static inline const struct hub_dataset *opened(const char *id)
{
    const struct hub_dataset *dataset = NULL;
    DRAFT_OK(hub_dataset_get(catalog, summary_of(id), true, &dataset, err));
    return dataset;
}

static inline struct hub_state state_of(const char *id)
{
    struct hub_state of_id;
    DRAFT_OK(hub_state_open(catalog, summary_of(id), &of_id, err));
    return of_id;
}

static inline void expect_problem(const char *id, const char *part_of_it)
{
    struct hub_buf text = HUB_BUF_INIT(MIB);
    HUB_CLEANUP(hub_state_close) struct hub_state now = state_of(id);
    DRAFT_OK(hub_dataset_problems(&now, &text, err));
    cr_expect(strstr(text.data, part_of_it), "%s not in %s", part_of_it, text.data);
    hub_buf_dispose(&text);
}

/* The layout's first piece: which file it names today. */
static inline uint32_t file_of(const struct hub_dataset *dataset, uint32_t part, const char *path)
{
    struct hub_layout_ref *ref = NULL;
    const uint32_t field = hub_dataset_find_field(dataset, hub_view_of(path));
    DRAFT_OK(hub_layout_get(catalog, dataset, part, field, true, &ref, err));
    const uint32_t file = hub_layout_of(ref)->pieces[0].file;
    hub_layout_put(ref);
    return file;
}

static inline void publish_simple(const char *id, uint32_t episodes)
{
    const struct hub_dataset_file files[] = {draft_file("data/main_data.hdf5", 1 << 20)};
    struct hub_findings *found = draft_findings(two_fields, 2, 0, 0, episodes, 5);
    const struct hub_draft_part part = {.name = "main_data.hdf5", .signature = 11, .found = found};
    const struct hub_draft draft = draft_of(id, files, 1, &part, 1);
    publish(&draft);
    draft_findings_free(found);
}

#endif
