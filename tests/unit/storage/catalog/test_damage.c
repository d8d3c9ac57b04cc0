/* A damaged index: what is missing or another's is noticed, reported and written again. */
#include "opening.h"

#include "tests/support/see_episode.h"

#include "storage/catalog/blobs.h"
#include "storage/catalog/schema.h"

#include <sys/stat.h>

TestSuite(damage, .init = set_up, .fini = tear_down);

Test(damage, a_damaged_index_is_made_anew)
{
    static const off_t places[] = {0, 20, 4096, 8192, 5 * 4096};
    for (size_t i = 0; i < HUB_COUNT(places); i++) {
        struct hub_catalog *catalog = open_it();
        for (uint32_t j = 0; j < 20; j++) {
            char id[32];
            snprintf(id, sizeof id, "set-%u-v0", j);
            publish(catalog, id, 30);
        }
        close_it(catalog);
        damage(hub_index_name, places[i], 4096);
        close(open(path_of("running"), O_CREAT | O_WRONLY,
                   0600)); /* as after a crash: only then is all of it checked */
        catalog = open_it();
        cr_expect_eq(snapshot_now(catalog)->count, 0, "at %d", (int)places[i]);
        close_it(catalog);
    }
}

/* Also after a clean stop, when nothing is checked: the first look at a damaged page is enough. */
Test(damage, damage_found_at_the_start_is_mended_at_that_start)
{
    static const off_t places[] = {0, 4096};
    for (size_t i = 0; i < HUB_COUNT(places); i++) {
        struct hub_catalog *catalog = open_it();
        publish(catalog, "set-v0", 30);
        close_it(catalog);
        damage(hub_index_name, places[i], 4096);
        catalog = open_it();
        cr_expect_eq(snapshot_now(catalog)->count, 0, "at %d", (int)places[i]);
        cr_expect(strstr(hub_catalog_notice(catalog), "is rebuilt"), "%s", hub_catalog_notice(catalog));
        close_it(catalog);
        catalog = open_it();
        cr_expect_str_eq(hub_catalog_notice(catalog), "");
        close_it(catalog);
    }
}

/* Damage met while serving is a failure of the server and no verdict about the dataset. */
Test(damage, damage_met_later_is_internal)
{
    struct hub_catalog *catalog = open_it();
    struct hub_error err = {0};
    const struct hub_dataset *dataset;
    publish(catalog, "set-v0", 3);
    close_it(catalog);
    struct hub_db *db;
    DRAFT_OK(hub_db_open(path_of(hub_index_name), HUB_DB_WRITE, &db, err));
    DRAFT_OK(hub_db_exec(db, "UPDATE blobs SET data = x'ff'", err));
    hub_db_close(db);
    catalog = open_it();
    const struct hub_snapshot *snapshot = snapshot_now(catalog);
    cr_assert_eq(snapshot->count, 1);
    cr_expect_eq(hub_dataset_get(catalog, snapshot->summaries[0], true, &dataset, &err), HUB_CORRUPT);
    cr_expect_eq(err.problem, HUB_PROBLEM_INTERNAL, "%s", err.detail);
    close_it(catalog);
}

static struct hub_catalog *open_after(const char *sql)
{
    struct hub_db *db;
    DRAFT_OK(hub_db_open(path_of(hub_index_name), HUB_DB_WRITE, &db, err));
    DRAFT_OK(hub_db_exec(db, sql, err));
    hub_db_close(db);
    return open_it();
}

static void on_damage(void *user, const char *id)
{
    snprintf(user, 16, "%s", id);
}

/* Each way to what is kept of a dataset, first to last; the first failure. */
static enum hub_status read_all(struct hub_catalog *catalog, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MIB);
    HUB_CLEANUP(hub_state_close) struct hub_state now = {0};
    HUB_CLEANUP(hub_layout_putp) struct hub_layout_ref *layout = NULL;
    HUB_TRY(hub_state_open(catalog, snapshot_now(catalog)->summaries[0], &now, err));
    HUB_TRY(hub_dataset_fact(&now, "description", &text, err));
    HUB_TRY(hub_dataset_problems(&now, &text, err));
    HUB_TRY(see_episode(&now, 1, NULL, NULL, err));
    return hub_layout_get(catalog, now.dataset, 0, 0, true, &layout, err);
}

/* One byte of one blob of any kind: its data are not used, and a problem says so; then it is whole again.
 */
Test(damage, a_damaged_blob_is_told_and_written_anew)
{
    struct hub_db *db;
    char sql[200];
    for (int kind = HUB_BLOB_FILES; kind <= HUB_BLOB_DIRECTORY; kind++) {
        const bool of_part = kind <= HUB_BLOB_PROBLEMS;
        struct hub_error err = {0};
        char reported[16] = "";
        struct hub_catalog *catalog = open_it();
        publish_full(catalog, "set-v0");
        close_it(catalog);
        DRAFT_OK(hub_db_open(path_of(hub_index_name), HUB_DB_WRITE, &db, err));
        snprintf(
            sql, sizeof sql,
            "UPDATE blobs SET data = CAST(substr(data, 1, length(data) - 1) || x'7e' AS BLOB) WHERE kind = %d"
            " AND (owner > 0) = %d",
            kind, of_part);
        DRAFT_OK(hub_db_exec(db, sql, err));
        hub_db_close(db);
        catalog = open_it();
        hub_catalog_on_damage(catalog, on_damage, reported);
        cr_expect_eq(hub_catalog_has_part(catalog, 0, "set-v0", "main", 7), !of_part, "kind %d", kind);
        if (kind != HUB_BLOB_FILES) { /* is read when the part is published once more */
            cr_expect_eq(read_all(catalog, &err), HUB_CORRUPT, "kind %d", kind);
            cr_expect_eq(err.problem, HUB_PROBLEM_INTERNAL);
            cr_expect_str_eq(reported, "set-v0", "kind %d", kind);
        }
        publish_full(catalog, "set-v0");
        DRAFT_OK(hub_catalog_flush(catalog, err));
        DRAFT_OK(read_all(catalog, err));
        cr_expect(hub_catalog_has_part(catalog, 0, "set-v0", "main", 7));
        close_it(catalog);
    }
}

Test(damage, a_part_without_one_of_its_blobs_is_inspected_again)
{
    for (int kind = HUB_BLOB_FILES; kind <= HUB_BLOB_PROBLEMS; kind++) {
        struct hub_error err = {0};
        struct hub_db *db;
        char sql[100];
        struct hub_catalog *catalog = open_it();
        publish_full(catalog, "set-v0");
        cr_expect(hub_catalog_has_part(catalog, 0, "set-v0", "main", 7));
        close_it(catalog);
        DRAFT_OK(hub_db_open(path_of(hub_index_name), HUB_DB_WRITE, &db, err));
        snprintf(sql, sizeof sql, "DELETE FROM blobs WHERE kind = %d AND owner > 0", kind);
        DRAFT_OK(hub_db_exec(db, sql, err));
        hub_db_close(db);
        catalog = open_it();
        cr_expect_not(hub_catalog_has_part(catalog, 0, "set-v0", "main", 7), "kind %d", kind);
        publish_full(catalog, "set-v0");
        cr_expect(hub_catalog_has_part(catalog, 0, "set-v0", "main", 7));
        close_it(catalog);
    }
}

/* What publish() published, out of what is kept. */
static enum hub_status publish_kept(struct hub_catalog *catalog, uint32_t episodes, struct hub_error *err)
{
    const struct hub_dataset_file files[] = {draft_file("data/main_data.hdf5", 1 << 20)};
    const struct hub_draft_part part = {.name = "main", .signature = episodes};
    const struct hub_draft draft = {.id = "set-v0",
                                    .path = "set-v0",
                                    .format = "minari-hdf5",
                                    .status = HUB_DATASET_READY,
                                    .files = files,
                                    .file_count = 1,
                                    .parts = &part,
                                    .part_count = 1,
                                    .revision = ""};
    return hub_catalog_publish(catalog, &draft, err);
}

/* A blob that is gone is no end of anything: what is left is not published for the whole. */
Test(damage, what_is_missing_is_not_published)
{
    static const char *const gone[] = {
        "DELETE FROM blobs WHERE kind = 1",
        "DELETE FROM blobs WHERE kind = 2",
        "DELETE FROM blobs WHERE name = '0.rows'",
        "DELETE FROM blobs WHERE name = '1.rows'",
        "DELETE FROM blobs WHERE name = '2.rows'", /* the last */
        "UPDATE parts SET episodes = 299",
        "UPDATE blobs SET (checksum, data) = (SELECT checksum, data FROM blobs WHERE name = '1.rows')"
        " WHERE name = '0.rows'", /* another's */
    };
    for (size_t i = 0; i < HUB_COUNT(gone); i++) {
        struct hub_error err = {0};
        char reported[16] = "";
        struct hub_catalog *catalog = open_it();
        publish(catalog, "set-v0", 300);
        DRAFT_OK(publish_kept(catalog, 300, err));
        close_it(catalog);
        catalog = open_after(gone[i]);
        hub_catalog_on_damage(catalog, on_damage, reported);
        cr_expect_eq(publish_kept(catalog, 300, &err), HUB_CORRUPT, "%s", gone[i]);
        cr_expect_eq(err.problem, HUB_PROBLEM_INTERNAL, "%s", gone[i]);
        cr_expect_str_eq(reported, "set-v0", "%s", gone[i]);
        cr_expect_eq(snapshot_now(catalog)->summaries[0]->episodes, 300, "%s", gone[i]);
        close_it(catalog);
    }
}

/* Whoever asks first tells it: without that it would stay so. */
Test(damage, a_missing_blob_is_told)
{
    static const char *const gone[] = {
        "DELETE FROM blobs WHERE kind = 2", /* fields */
        "DELETE FROM blobs WHERE kind = 3", /* layouts */
        "DELETE FROM blobs WHERE kind = 7", /* facts */
        "DELETE FROM blobs WHERE kind = 8", /* directories */
    };
    for (size_t i = 0; i < HUB_COUNT(gone); i++) {
        struct hub_error err = {0};
        char reported[16] = "";
        struct hub_catalog *catalog = open_it();
        publish_full(catalog, "set-v0");
        close_it(catalog);
        catalog = open_after(gone[i]);
        hub_catalog_on_damage(catalog, on_damage, reported);
        cr_expect_eq(read_all(catalog, &err), HUB_CORRUPT, "%s", gone[i]);
        cr_expect_eq(err.problem, HUB_PROBLEM_INTERNAL, "%s", gone[i]);
        cr_expect_str_eq(reported, "set-v0", "%s", gone[i]);
        close_it(catalog);
    }
}

/* A large index is checked beside the first answers, and thrown away by the start after. */
Test(damage, a_large_damaged_index_is_made_anew_later)
{
    struct hub_catalog *catalog = open_it();
    publish(catalog, "set-v0", 300000);
    publish(catalog, "other-v0", 300000);
    close_it(catalog);
    struct stat index;
    cr_assert_eq(stat(path_of(hub_index_name), &index), 0);
    cr_assert_gt(index.st_size, 33 << 20);
    for (off_t at = index.st_size / 2 / 4096 * 4096; at < index.st_size - 4096; at += 4096)
        damage(hub_index_name, at, 4096);
    close(open(path_of("running"), O_CREAT | O_WRONLY, 0600));
    catalog = open_it();
    for (int i = 0; i < 500 && access(path_of("damaged"), F_OK); i++)
        usleep(20000);
    close_it(catalog);
    cr_expect_eq(access(path_of("damaged"), F_OK), 0);
    catalog = open_it();
    cr_expect_eq(snapshot_now(catalog)->count, 0);
    close_it(catalog);
    cr_expect_neq(access(path_of("damaged"), F_OK), 0);
    cr_expect_neq(access(path_of("running"), F_OK), 0);
}
