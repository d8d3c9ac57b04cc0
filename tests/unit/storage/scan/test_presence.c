/* storage/scan/presence.c: an emptied root and one that is not mounted. Another file system is one of
 * another number in hub.db. */
#include "storage/io/fs.h"
#include "storage/scan/presence.h"
#include "storage/truth/hubdb.h"
#include "tests/support/catalog_draft.h"

#include <criterion/criterion.h>
#include <fcntl.h>

static char *state;
static struct hub_catalog *catalog;
static struct hub_truth *truth;
static struct hub_roots roots;

static const char *root_path(const char *name)
{
    static char out[600];
    snprintf(out, sizeof out, "%s/root%s%s", state, *name ? "/" : "", name);
    return out;
}

static void make(const char *name)
{
    DRAFT_OK(hub_fs_make_dirs(AT_FDCWD, root_path(name), 0777, err));
}

static void drop(const char *name)
{
    DRAFT_OK(hub_fs_remove(AT_FDCWD, root_path(name), err));
}

static void publish(const char *path)
{
    const struct hub_dataset_file file = draft_file("data/x", 4);
    const struct hub_draft draft = {.id = path,
                                    .path = path,
                                    .format = "minari-hdf5",
                                    .status = HUB_DATASET_READY,
                                    .files = &file,
                                    .file_count = 1,
                                    .revision = ""};
    make(path);
    DRAFT_OK(hub_catalog_publish(catalog, &draft, err));
    DRAFT_OK(hub_catalog_flush(catalog, err));
}

static void begin(void)
{
    state = draft_state();
    make("");
    DRAFT_OK(hub_roots_add(&roots, root_path(""), "main", err));
    const struct hub_catalog_options options = {.state = state, .roots = &roots};
    DRAFT_OK(hub_catalog_open(&options, &catalog, err));
    const struct hub_truth_options own = {.state = state, .roots = &roots};
    DRAFT_OK(hub_truth_open(&own, &truth, err));
    publish("lab/a-v0");
    publish("b-v0");
}

static void end(void)
{
    hub_catalog_close(catalog);
    hub_truth_close(truth);
    hub_roots_dispose(&roots);
    DRAFT_OK(hub_fs_remove(AT_FDCWD, state, err));
    free(state);
}

TestSuite(presence, .init = begin, .fini = end);

static void empty_it(void)
{
    drop("lab");
    drop("b-v0");
}

static void lay_on_another_file_system(void)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    DRAFT_OK(hub_db_exec(held->db, "UPDATE roots SET device = device + 1", err));
}

static bool is_missing(void)
{
    struct hub_error err = {0};
    const enum hub_status st = hub_presence_check(truth, catalog, &roots, 0, &err);
    cr_assert(!st || (st == HUB_IO && err.problem == HUB_PROBLEM_ROOT_MISSING), "%s", err.detail);
    cr_assert(!st || strstr(err.detail, "(main) had 2 datasets"), "%s", err.detail);
    return st != HUB_OK;
}

Test(presence, who_deletes_all_datasets_empties_the_root)
{
    DRAFT_OK(hub_presence_seen(truth, &roots, 0, 2, err));
    cr_expect_not(is_missing());
    empty_it();
    cr_expect_not(is_missing(), "it is the same file system");
    DRAFT_OK(hub_presence_seen(truth, &roots, 0, 0, err));
    lay_on_another_file_system();
    cr_expect_not(is_missing(), "it had none");
}

Test(presence, where_the_hub_wrote_its_own_folder_stays)
{
    make(".minari-hub");
    DRAFT_OK(hub_presence_seen(truth, &roots, 0, 2, err));
    empty_it();
    cr_expect_not(is_missing());
    drop(".minari-hub");
    make("lost+found");
    make(".Trash-0");
    cr_expect(is_missing());
    make("b-v0");
    cr_expect_not(is_missing(), "one of its datasets is back");
}

Test(presence, another_file_system_without_any_of_its_datasets_is_not_the_root)
{
    make(".minari-hub");
    DRAFT_OK(hub_presence_seen(truth, &roots, 0, 2, err));
    lay_on_another_file_system();
    cr_expect_not(is_missing(), "numbers of devices change");
    drop("lab");
    cr_expect_not(is_missing(), "one is there");
    drop("b-v0");
    cr_expect(is_missing(), "as after a mirror that filled the disk below the mount point");
    make("others-v0");
    cr_expect(is_missing());
    DRAFT_OK(hub_presence_forget(truth, 0, err));
    cr_expect_not(is_missing(), "the admin says so");
}

Test(presence, what_was_not_written_down_yet_is_in_the_catalogue)
{
    cr_expect_not(is_missing());
    empty_it();
    cr_expect(is_missing());
    make("others-v0");
    cr_expect_not(is_missing(), "it may be what somebody put there instead");
}

Test(presence, of_a_root_that_cannot_be_opened_others_report)
{
    DRAFT_OK(hub_presence_seen(truth, &roots, 0, 2, err));
    drop("");
    cr_expect_not(is_missing());
    DRAFT_OK(hub_presence_seen(truth, &roots, 0, 0, err));
    make("");
    lay_on_another_file_system();
    cr_expect(is_missing(), "nothing was written down while it was away");
}
