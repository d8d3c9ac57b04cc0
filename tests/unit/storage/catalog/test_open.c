/* Opening: locks, formats, damage, crashes; and the digests, which outlive the index. */
#include "tests/support/catalog_draft.h"
#include "tests/support/see_episode.h"

#include "storage/catalog/blobs.h"
#include "storage/catalog/schema.h"
#include "storage/io/fs.h"
#include "storage/io/state_dir.h"
#include "storage/truth/digests.h"
#include "storage/truth/hubdb.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char *state;

static void set_up(void)
{
    state = draft_state();
}

static void tear_down(void)
{
    DRAFT_OK(hub_fs_remove(AT_FDCWD, state, err));
    free(state);
}

TestSuite(open, .init = set_up, .fini = tear_down);

/* What is open besides the catalogue. */
static struct hub_state_dir *held;
static struct hub_truth *truth;

static enum hub_status open_rest(struct hub_state_dir *dir, const struct hub_roots *roots,
                                 struct hub_truth **own, struct hub_catalog **out, struct hub_error *err)
{
    const struct hub_truth_options known = {.state = state, .roots = roots, .check = dir->unclean};
    const struct hub_catalog_options options = {.state = state, .dir = dir, .roots = roots};
    HUB_TRY(hub_truth_open(&known, own, err));
    HUB_TRY(hub_catalog_open(&options, out, err));
    dir->sound = true;
    return HUB_OK;
}

static enum hub_status try_with(const struct hub_roots *roots, struct hub_catalog **out,
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

static enum hub_status try_open(struct hub_catalog **out, struct hub_error *err)
{
    return try_with(NULL, out, err);
}

static void close_it(struct hub_catalog *catalog)
{
    hub_catalog_close(catalog);
    hub_truth_close(truth);
    hub_state_dir_close(held);
}

static struct hub_catalog *open_it(void)
{
    struct hub_catalog *catalog = NULL;
    DRAFT_OK(try_open(&catalog, err));
    return catalog;
}

static const char *path_of(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", state, name);
    return path;
}

static void publish(struct hub_catalog *catalog, const char *id, uint32_t episodes)
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
static void publish_full(struct hub_catalog *catalog, const char *id)
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

Test(open, a_second_process_is_told_so)
{
    struct hub_catalog *catalog = open_it(), *second = NULL;
    struct hub_error err;
    cr_expect_eq(try_open(&second, &err), HUB_BUSY);
    cr_expect(strstr(err.detail, "another minari-hub (process "), "%s", err.detail);
    close_it(catalog);
    catalog = open_it();
    close_it(catalog);
}

Test(open, another_format_is_made_anew)
{
    struct hub_catalog *catalog = open_it();
    publish(catalog, "set-v0", 3);
    close_it(catalog);
    struct hub_db *db;
    DRAFT_OK(hub_db_open(path_of(hub_index_name), HUB_DB_WRITE, &db, err));
    DRAFT_OK(hub_db_set_user_version(db, 999, err));
    hub_db_close(db);
    catalog = open_it();
    cr_expect_eq(snapshot_now(catalog)->count, 0);
    publish(catalog, "set-v0", 3);
    close_it(catalog);
}

static void add_file(const char *name)
{
    const int fd = open(path_of(name), O_WRONLY | O_CREAT, 0600);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, "old", 3), 3);
    close(fd);
}

/* In a folder that others may look into, as one that was there, the databases are still the hub's alone. */
Test(open, databases_are_private)
{
    static const char *const names[] = {"hub.db", "hub.db-wal", "hub.db-shm", NULL};
    cr_assert_eq(chmod(state, 0755), 0);
    umask(022);
    struct hub_catalog *catalog = open_it();
    publish(catalog, "set-v0", 3);
    close_it(catalog);
    cr_assert_eq(chmod(path_of("hub.db"), 0644), 0); /* as older ones left it */
    cr_assert_eq(chmod(path_of(hub_index_name), 0644), 0);
    catalog = open_it();
    publish(catalog, "other-v0", 3);
    for (unsigned i = 0; i < HUB_COUNT(names); i++) {
        struct stat st;
        const char *name = names[i] ? names[i] : hub_index_name;
        cr_assert_eq(stat(path_of(name), &st), 0, "%s", name);
        cr_expect_eq(st.st_mode & 0777, 0600, "%s: %o", name, st.st_mode);
    }
    close_it(catalog);
}

static bool is_there(const char *name)
{
    return access(path_of(name), F_OK) == 0;
}

/* Nothing is known of its format: it is left alone, with what it may own, until there is another. */
Test(open, an_index_of_another_format_stays_until_the_new_one_is_complete)
{
    static const char *const older[] = {"index.db", "index-3.db", "index-3.db-wal", "index-999.db",
                                        "side/some"};
    close_it(open_it());
    DRAFT_OK(hub_fs_remove(AT_FDCWD, path_of(hub_index_name), err));
    for (size_t i = 0; i < HUB_COUNT(older); i++)
        add_file(older[i]);
    struct hub_catalog *catalog = open_it();
    cr_expect(strstr(hub_catalog_notice(catalog), "has another version"), "%s", hub_catalog_notice(catalog));
    publish(catalog, "set-v0", 3);
    close_it(catalog);
    catalog = open_it();
    cr_expect_eq(snapshot_now(catalog)->count, 1);
    cr_expect_str_eq(hub_catalog_notice(catalog), "");
    cr_expect(hub_catalog_has_older(catalog));
    for (size_t i = 0; i < HUB_COUNT(older); i++)
        cr_expect(is_there(older[i]), "%s", older[i]);
    add_file("side/being-made");
    hub_catalog_complete(catalog);
    cr_expect_not(hub_catalog_has_older(catalog));
    for (size_t i = 0; i < HUB_COUNT(older); i++)
        cr_expect_not(is_there(older[i]), "%s", older[i]); /* what no part owns goes with it */
    cr_expect(is_there("side/being-made"));
    close_it(catalog);
    catalog = open_it();
    cr_expect_not(is_there("side/being-made"));
    cr_expect_eq(snapshot_now(catalog)->count, 1);
    close_it(catalog);
}

/* ---- roots ---- */

static struct hub_catalog *open_with(const struct hub_roots *roots)
{
    struct hub_catalog *catalog = NULL;
    DRAFT_OK(try_with(roots, &catalog, err));
    return catalog;
}

static void add_root(struct hub_roots *roots, const char *path, const char *name)
{
    DRAFT_OK(hub_roots_add(roots, path, name, err));
}

static void publish_in(struct hub_catalog *catalog, uint32_t root, const char *id)
{
    const struct hub_dataset_file files[] = {draft_file("a", 1)};
    const struct hub_draft draft = {.id = id,
                                    .path = id,
                                    .root = root,
                                    .format = "files",
                                    .status = HUB_DATASET_READY,
                                    .files = files,
                                    .file_count = 1,
                                    .revision = ""};
    const struct hub_file_digests digests = {.sha256 = "ab"};
    DRAFT_OK(hub_catalog_publish(catalog, &draft, err));
    DRAFT_OK(hub_digest_store(truth, root, id, &files[0].stamp, &digests, err));
}

static void expect_under(const struct hub_roots *roots, const char *id, uint32_t root)
{
    struct hub_file_digests found;
    const struct hub_stamp stamp = draft_file("a", 1).stamp;
    struct hub_catalog *catalog = open_with(roots);
    const struct hub_summary *summary = hub_snapshot_find(snapshot_now(catalog), hub_view_of(id));
    cr_assert_not_null(summary);
    cr_expect_eq(summary->root, root, "%s lies under %u", id, summary->root);
    cr_expect_eq(hub_digest_find(truth, root, id, &stamp, &found, NULL), HUB_OK, "%s", id);
    close_it(catalog);
}

Test(open, roots_are_known_by_what_they_are_called)
{
    HUB_CLEANUP(hub_roots_dispose) struct hub_roots first = {0}, swapped = {0}, other = {0};
    add_root(&first, "/no/lab", "lab");
    add_root(&first, "/no/plain", NULL);
    add_root(&swapped, "/no/plain", NULL);
    add_root(&swapped, "/no/moved", "lab");
    add_root(&other, "/no/other", NULL);
    struct hub_catalog *catalog = open_with(&first);
    publish_in(catalog, 0, "of-lab");
    publish_in(catalog, 1, "of-plain");
    close_it(catalog);
    expect_under(&swapped, "of-lab", 1);
    expect_under(&swapped, "of-plain", 0);
    catalog = open_with(&other); /* neither is a root now: they can still be removed */
    for (uint32_t i = 0; i < 2; i++) {
        const struct hub_summary *summary = snapshot_now(catalog)->summaries[0];
        cr_expect_geq(summary->root, other.count);
        DRAFT_OK(hub_catalog_remove(catalog, summary->root, summary->id, err));
        DRAFT_OK(hub_catalog_flush(catalog, err));
    }
    cr_expect_eq(snapshot_now(catalog)->count, 0);
    close_it(catalog);
}

Test(open, what_was_stored_by_number_is_of_the_root_that_had_it)
{
    HUB_CLEANUP(hub_roots_dispose) struct hub_roots roots = {0}, swapped = {0};
    struct hub_catalog *catalog = open_it();
    publish_in(catalog, 1, "of-second");
    close_it(catalog);
    add_root(&roots, "/no/one", NULL);
    add_root(&roots, "/no/two", "two");
    add_root(&swapped, "/no/two", "two");
    expect_under(&roots, "of-second", 1);
    expect_under(&swapped, "of-second", 0);
}

/* ---- damage ---- */

static void damage(const char *name, off_t offset, size_t size)
{
    char noise[4096];
    memset(noise, 0xA5, sizeof noise);
    const int fd = open(path_of(name), O_WRONLY);
    cr_assert_geq(fd, 0);
    cr_assert_eq(pwrite(fd, noise, size, offset), (ssize_t)size);
    close(fd);
}

Test(open, a_damaged_index_is_made_anew)
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
Test(open, damage_found_at_the_start_is_mended_at_that_start)
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
Test(open, damage_met_later_is_internal)
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

/* One byte of one blob of any kind: its data are not used, and who inspects is told; then it is whole again.
 */
Test(open, a_damaged_blob_is_told_and_written_anew)
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

Test(open, a_part_without_one_of_its_blobs_is_inspected_again)
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
Test(open, what_is_missing_is_not_published)
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
Test(open, a_missing_blob_is_told)
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

Test(open, an_index_that_cannot_be_opened_now_is_kept)
{
    struct hub_catalog *catalog = open_it();
    struct hub_error err;
    publish(catalog, "set-v0", 3);
    close_it(catalog);
    struct rlimit files;
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
    const rlim_t most = files.rlim_cur;
    for (rlim_t few = 4; few < 16; few++) { /* wherever the descriptors run out */
        files.rlim_cur = few;
        cr_assert_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
        const enum hub_status st = try_open(&catalog, &err);
        files.rlim_cur = most;
        cr_assert_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
        cr_expect_eq(access(path_of(hub_index_name), F_OK), 0);
        if (!st) {
            cr_expect_eq(snapshot_now(catalog)->count, 1, "with %d descriptors", (int)few);
            cr_expect_str_eq(hub_catalog_notice(catalog), "");
            close_it(catalog);
        }
    }
}

/* A large index is checked beside the first answers, and thrown away by the start after. */
Test(open, a_large_damaged_index_is_made_anew_later)
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

Test(open, a_newer_hub_db_is_refused)
{
    struct hub_catalog *catalog = open_it();
    struct hub_error err;
    close_it(catalog);
    struct hub_db *db;
    DRAFT_OK(hub_db_open(path_of("hub.db"), HUB_DB_TRUTH, &db, err));
    DRAFT_OK(hub_db_set_user_version(db, 999, err));
    hub_db_close(db);
    cr_expect_eq(try_open(&catalog, &err), HUB_UNSUPPORTED);
    cr_expect(strstr(err.detail, "newer") && strstr(err.detail, "--state"), "%s", err.detail);
}

Test(open, a_damaged_hub_db_is_kept_and_named)
{
    struct hub_catalog *catalog = open_it();
    struct hub_error err;
    close_it(catalog);
    damage("hub.db", 0, 4096);
    cr_expect_eq(try_open(&catalog, &err), HUB_CORRUPT);
    cr_expect(strstr(err.detail, "hub.db is damaged") && strstr(err.detail, "backup") &&
                  strstr(err.detail, "move it away") && !strstr(err.detail, "PRAGMA"),
              "%s", err.detail);
    cr_expect_eq(access(path_of("hub.db"), F_OK), 0);
}

Test(open, files_without_a_sha256_one_after_the_other)
{
    struct hub_catalog *catalog = open_it();
    const struct hub_stamp stamp = draft_file("x", 5).stamp;
    const struct hub_file_digests whole = {.sha256 = "ab", .crc32c = "ef"}, part = {.crc32c = "ef"};
    const struct {
        uint32_t root;
        const char *path;
    } want[] = {{0, "a/2"}, {0, "b"}, {3, "a/1"}};
    struct hub_unhashed at = {0};
    DRAFT_OK(hub_digest_store(truth, 0, "a/1", &stamp, &whole, err));
    for (size_t i = HUB_COUNT(want); i-- > 0;)
        DRAFT_OK(hub_digest_store(truth, want[i].root, want[i].path, &stamp, &part, err));
    for (size_t i = 0; i < HUB_COUNT(want); i++) {
        DRAFT_OK(hub_digest_unhashed(truth, &at, err));
        cr_expect_eq(at.root, want[i].root);
        cr_expect_str_eq(at.path, want[i].path);
        cr_expect(hub_stamp_equal(&at.stamp, &stamp));
    }
    cr_expect_eq(hub_digest_unhashed(truth, &at, NULL), HUB_NOT_FOUND);
    free(at.path);
    close_it(catalog);
}

Test(open, digests_outlive_the_index)
{
    struct hub_catalog *catalog = open_it();
    const struct hub_stamp stamp = draft_file("x", 5).stamp, touched = draft_file("x", 6).stamp;
    const struct hub_file_digests digests = {.sha256 = "ab", .md5 = "cd", .crc32c = "ef"};
    struct hub_file_digests found;
    cr_expect_eq(hub_digest_find(truth, 0, "a/b.h5", &stamp, &found, NULL), HUB_NOT_FOUND);
    DRAFT_OK(hub_digest_store(truth, 0, "a/b.h5", &stamp, &digests, err));
    DRAFT_OK(hub_digest_find(truth, 0, "a/b.h5", &stamp, &found, err));
    cr_expect_str_eq(found.sha256, "ab");
    cr_expect_eq(hub_digest_find(truth, 1, "a/b.h5", &stamp, &found, NULL), HUB_NOT_FOUND);
    close_it(catalog);
    DRAFT_OK(hub_fs_remove(AT_FDCWD, path_of(hub_index_name), err));
    catalog = open_it();
    DRAFT_OK(hub_digest_find(truth, 0, "a/b.h5", &stamp, &found, err));
    cr_expect_str_eq(found.crc32c, "ef");
    cr_expect_eq(hub_digest_find(truth, 0, "a/b.h5", &touched, &found, NULL), HUB_NOT_FOUND);
    close_it(catalog);
}

Test(open, digests_of_many_files_at_once)
{
    static const char *const paths[] = {"a", "a-b", "a/b", "b", "c"};
    struct hub_catalog *catalog = open_it();
    struct hub_file_digests found[HUB_COUNT(paths)], one = {.sha256 = "ab", .md5 = "cd", .crc32c = "ef"};
    struct hub_dataset_file files[HUB_COUNT(paths)];
    for (size_t i = 0; i < HUB_COUNT(paths); i++)
        files[i] = (struct hub_dataset_file){paths[i], draft_file("x", 5 + i).stamp};
    static const char *const stored[] = {"set",     "set-v1/z", "set/0", "set/a",
                                         "set/a/b", "set/a/c",  "set/c", "set0"};
    for (size_t i = 0; i < HUB_COUNT(stored); i++) {
        const struct hub_stamp stamp = draft_file("x", i == 3 ? 5 : i == 4 ? 7 : 99).stamp;
        DRAFT_OK(hub_digest_store(truth, 0, stored[i], &stamp, &one, err));
    }
    DRAFT_OK(hub_digest_list(truth, 0, "set", files, HUB_COUNT(paths), found, err));
    for (size_t i = 0; i < HUB_COUNT(paths); i++)
        cr_expect_eq(*found[i].sha256 != '\0', i == 0 || i == 2, "%s", paths[i]);
    cr_expect_str_eq(found[2].crc32c, "ef");
    DRAFT_OK(hub_digest_list(truth, 1, "set", files, HUB_COUNT(paths), found, err));
    cr_expect_eq(*found[0].sha256, '\0', "another root's");
    DRAFT_OK(hub_digest_store(truth, 0, "a/b", &files[2].stamp, &one, err));
    DRAFT_OK(hub_digest_list(truth, 0, "", files, HUB_COUNT(paths), found, err));
    cr_expect(*found[2].sha256 && !*found[0].sha256);
    close_it(catalog);
}

/* As the first release wrote it: with the device, another one than today's. */
static void write_first_hub_db(const struct stat *st, const char *path)
{
    struct hub_buf schema = HUB_BUF_INIT(64 * KIB), row = HUB_BUF_INIT(4 * KIB);
    struct hub_db *db;
    DRAFT_OK(hub_fs_read(AT_FDCWD, HUB_MIGRATIONS "/0001_digests.sql", &schema, err));
    DRAFT_OK(hub_db_open(path_of("hub.db"), HUB_DB_TRUTH, &db, err));
    DRAFT_OK(hub_db_exec(db, schema.data, err));
    DRAFT_OK(hub_db_set_user_version(db, 1, err));
    DRAFT_OK(hub_buf_addf(
        &row, err, "INSERT INTO digests VALUES (0, '%s', %lld, %lld, %lld, %lld, %lld, 'ab', 'cd', 'ef')",
        path, (long long)st->st_dev + 1, (long long)st->st_ino, (long long)st->st_size,
        (long long)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
        (long long)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec));
    DRAFT_OK(hub_db_exec(db, row.data, err));
    hub_db_close(db);
    hub_buf_dispose(&schema);
    hub_buf_dispose(&row);
}

static void expect_migrated(ino_t inode)
{
    struct stat st;
    struct hub_file_digests found;
    cr_assert_eq(stat(state, &st), 0);
    st.st_ino = inode;
    write_first_hub_db(&st, "a/b.h5");
    struct hub_catalog *catalog = open_it();
    const struct hub_stamp stamp = hub_stamp_of(&st);
    DRAFT_OK(hub_digest_find(truth, 0, "a/b.h5", &stamp, &found, err));
    cr_expect_str_eq(found.crc32c, "ef");
    close_it(catalog);
}

Test(open, digests_outlive_the_device_in_their_stamps)
{
    expect_migrated(1234567);
}

Test(open, digests_of_large_inode_numbers_too)
{
    expect_migrated(0xFEDCBA9876543210U);
}

/* Of hub.db as the steps up to a number leave it. */
static struct hub_db *write_hub_db(int version)
{
    struct hub_db *db;
    DRAFT_OK(hub_db_open(path_of("hub.db"), HUB_DB_TRUTH, &db, err));
    for (int i = 0; i < version; i++)
        DRAFT_OK(hub_db_exec(db, hub_migrations[i].sql, err));
    DRAFT_OK(hub_db_set_user_version(db, version, err));
    return db;
}

Test(open, ids_of_folders_called_as_a_word_are_spelled_as_today)
{
    static const char *const ids[][2] = {{"lab/\\x65pisodes", "lab/episodes~"},
                                         {"\\x66iles/\\x66iles/\\x66iles", "files~/files~/files~"},
                                         {"m/rows~", "m/rows\\x7e"},
                                         {"lab/\\x65pisodes-old", "lab/\\x65pisodes-old"},
                                         {"a\\x5cb", "a\\x5cb"}};
    struct hub_db *db = write_hub_db(9);
    struct hub_stmt *stmt;
    for (size_t i = 0; i < HUB_COUNT(ids); i++) {
        char sql[1000];
        snprintf(sql, sizeof sql,
                 "INSERT INTO jobs (kind, target, rule, payload, state, priority, run_at)"
                 " VALUES ('transfer', '%s', '', '', 'done', 0, 0);"
                 "INSERT INTO origins (root, path, rule, remote, remote_id, revision, synced, seen)"
                 " VALUES ('r', '%s', 'x', 'http://hub', '%s', '', 0, 0)",
                 ids[i][0], ids[i][0], ids[i][0]);
        DRAFT_OK(hub_db_exec(db, sql, err));
    }
    hub_db_close(db);
    close_it(open_it());
    DRAFT_OK(hub_db_open(path_of("hub.db"), HUB_DB_TRUTH, &db, err));
    for (size_t i = 0; i < HUB_COUNT(ids); i++) {
        bool row = false;
        DRAFT_OK(hub_db_prepare(db,
                                "SELECT (SELECT target FROM jobs WHERE id = ?1 + 1), remote_id FROM origins"
                                " WHERE path = ?2",
                                &stmt, err));
        hub_stmt_bind_int(stmt, 1, (int64_t)i);
        hub_stmt_bind_text(stmt, 2, ids[i][0]);
        DRAFT_OK(hub_stmt_step(stmt, &row, err));
        cr_assert(row);
        cr_expect_str_eq(hub_stmt_text(stmt, 0), ids[i][1]);
        cr_expect_str_eq(hub_stmt_text(stmt, 1), ids[i][1]);
        hub_stmt_reset(stmt);
    }
    hub_db_close(db);
}

Test(open, notes_are_kept)
{
    struct hub_catalog *catalog = open_it();
    struct hub_buf value = HUB_BUF_INIT(1000);
    cr_expect_eq(hub_catalog_note_get(catalog, "0:a", &value, NULL), HUB_NOT_FOUND);
    DRAFT_OK(hub_catalog_note_put(catalog, "0:a", HUB_VIEW("x\0y"), err));
    DRAFT_OK(hub_catalog_note_put(catalog, "0:a", HUB_VIEW("p\0q"), err));
    DRAFT_OK(hub_catalog_note_get(catalog, "0:a", &value, err));
    cr_expect_eq(value.size, 3);
    cr_expect_eq(memcmp(value.data, "p\0q", 3), 0);
    hub_buf_dispose(&value);
    close_it(catalog);
}

/* Publishes three sets over and over with other numbers of episodes until it is killed; writes a byte after
 * each. */
static void publish_forever(int progress)
{
    static const char *const ids[] = {"a-v0", "b-v0", "c-v0"};
    struct hub_catalog *catalog = open_it();
    for (uint32_t i = 0;; i++) {
        const uint32_t set = i % HUB_COUNT(ids);
        publish(catalog, ids[set], 1 + i / HUB_COUNT(ids) % (50 + 10 * set));
        if (write(progress, "", 1) != 1)
            _exit(1);
    }
}

/* Kill one that publishes: so many microseconds after that many publications. */
static void kill_a_publisher(unsigned publications, useconds_t after_us)
{
    int progress[2];
    char byte;
    cr_assert_eq(pipe(progress), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(progress[0]);
        publish_forever(progress[1]);
    }
    close(progress[1]);
    for (unsigned i = 0; i < publications; i++)
        cr_expect_eq(read(progress[0], &byte, 1), 1);
    usleep(after_us);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(progress[0]);
}

/* Each dataset is of one publication: as many episodes in the summary as in the directory and the table. */
static void expect_whole(struct hub_catalog *catalog)
{
    const struct hub_snapshot *snapshot = snapshot_now(catalog);
    for (uint32_t i = 0; i < snapshot->count; i++) {
        const struct hub_summary *summary = snapshot->summaries[i];
        const struct hub_dataset *dataset = NULL;
        struct hub_layout_ref *ref = NULL;
        DRAFT_OK(hub_dataset_get(catalog, summary, true, &dataset, err));
        cr_expect_eq(dataset->episode_count, summary->episodes);
        cr_expect_eq(dataset->part_count, 1);
        DRAFT_OK(hub_layout_get(catalog, dataset, 0, 0, true, &ref, err));
        cr_expect_eq(hub_layout_of(ref)->counts[HUB_T_WINDOWS], summary->episodes);
        hub_layout_put(ref);
        hub_dataset_put(dataset);
    }
}

/* Also while it opens the catalogue. The deadline is for a machine that stands still: it takes a second or
 * two. */
Test(open, a_kill_at_any_moment_leaves_whole_datasets, .timeout = 240)
{
    uint32_t seen = 0;
    for (unsigned round = 0; round < 25; round++) {
        kill_a_publisher(round % 7, round * 700);
        struct hub_catalog *catalog = open_it();
        expect_whole(catalog);
        seen = HUB_MAX(seen, snapshot_now(catalog)->count);
        close_it(catalog);
    }
    cr_expect_eq(seen, 3);
}
