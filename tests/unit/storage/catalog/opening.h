/** What the tests of opening share: a fresh state directory, the catalogue with hub.db over it, and datasets
 * in it. */
#ifndef TEST_CATALOG_OPENING_H
#define TEST_CATALOG_OPENING_H

#include "tests/support/catalog_draft.h"

#include "storage/io/fs.h"
#include "storage/io/state_dir.h"
#include "storage/truth/hubdb.h"

#include <criterion/criterion.h>
#include <fcntl.h>

static char *state;

static inline void set_up(void)
{
    state = draft_state();
}

static inline void tear_down(void)
{
    DRAFT_OK(hub_fs_remove(AT_FDCWD, state, err));
    free(state);
}

/* What is open besides the catalogue. */
static struct hub_state_dir *held;
static struct hub_truth *truth;

static inline enum hub_status open_rest(struct hub_state_dir *dir, const struct hub_roots *roots,
                                        struct hub_truth **own, struct hub_catalog **out,
                                        struct hub_error *err)
{
    const struct hub_truth_options known = {.state = state, .roots = roots, .check = dir->unclean};
    const struct hub_catalog_options options = {.state = state, .dir = dir, .roots = roots};
    HUB_TRY(hub_truth_open(&known, own, err));
    HUB_TRY(hub_catalog_open(&options, out, err));
    dir->sound = true;
    return HUB_OK;
}

static inline enum hub_status try_with(const struct hub_roots *roots, struct hub_catalog **out,
                                       struct hub_error *err)
{
    struct hub_state_dir *dir = NULL;
    struct hub_truth *own = NULL;
    HUB_TRY(hub_state_dir_open(state, &dir, err));
    const enum hub_status st = open_rest(dir, roots, &own, out, err);
    if (st) {
        hub_truth_close(own);
        hub_state_dir_close(dir);
        return st;
    }
    held = dir;
    truth = own;
    return HUB_OK;
}

static inline enum hub_status try_open(struct hub_catalog **out, struct hub_error *err)
{
    return try_with(NULL, out, err);
}

static inline void close_it(struct hub_catalog *catalog)
{
    hub_catalog_close(catalog);
    hub_truth_close(truth);
    hub_state_dir_close(held);
}

static inline struct hub_catalog *open_it(void)
{
    struct hub_catalog *catalog = NULL;
    DRAFT_OK(try_open(&catalog, err));
    return catalog;
}

static inline const char *path_of(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", state, name);
    return path;
}

static inline void publish(struct hub_catalog *catalog, const char *id, uint32_t episodes)
{
    static const struct draft_field fields[] = {{"actions", HUB_FIELD_NUMBER, 2}};
    const struct hub_dataset_file files[] = {draft_file("data/main_data.hdf5", 1 << 20)};
    struct hub_findings *found = draft_findings(fields, 1, 0, 0, episodes, 5);
    const struct hub_draft_part part = {.name = "main", .signature = episodes, .found = found};
    const struct hub_draft draft = {.id = id,
                                    .path = id,
                                    .format = "minari-hdf5",
                                    .status = HUB_DATASET_READY,
                                    .files = files,
                                    .file_count = 1,
                                    .parts = &part,
                                    .part_count = 1,
                                    .revision = ""};
    DRAFT_OK(hub_catalog_publish(catalog, &draft, err));
    draft_findings_free(found);
}

/* With something of every kind. */
static inline void publish_full(struct hub_catalog *catalog, const char *id)
{
    static const struct draft_field fields[] = {{"actions", HUB_FIELD_NUMBER, 2}};
    const struct hub_dataset_file files[] = {draft_file("data/main_data.hdf5", 1 << 20)};
    struct hub_found_problem odd[] = {{"odd", "", "seen"}};
    struct hub_found_fact facts[] = {{"description", "a set"}, {"claimed_steps", "7"}};
    struct hub_findings plan = {.facts = facts, .fact_count = 2, .problems = odd, .problem_count = 1};
    struct hub_findings *found = draft_findings(fields, 1, 0, 0, 3, 5);
    found->problems = odd;
    found->problem_count = 1;
    const struct hub_draft_part part = {.name = "main", .signature = 7, .found = found};
    const struct hub_draft draft = {.id = id,
                                    .path = id,
                                    .format = "minari-hdf5",
                                    .status = HUB_DATASET_READY,
                                    .files = files,
                                    .file_count = 1,
                                    .plan = &plan,
                                    .parts = &part,
                                    .part_count = 1,
                                    .revision = ""};
    DRAFT_OK(hub_catalog_publish(catalog, &draft, err));
    draft_findings_free(found);
}

static inline void damage(const char *name, off_t offset, size_t size)
{
    char noise[4096];
    memset(noise, 0xA5, sizeof noise);
    const int fd = open(path_of(name), O_WRONLY);
    cr_assert_geq(fd, 0);
    cr_assert_eq(pwrite(fd, noise, size, offset), (ssize_t)size);
    close(fd);
}

#endif
