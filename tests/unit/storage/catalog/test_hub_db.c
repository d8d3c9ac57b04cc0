/* hub.db: versions, damage, and the digests, which outlive the index. */
#include "opening.h"

#include "storage/catalog/schema.h"
#include "storage/truth/digests.h"

#include <sys/stat.h>

TestSuite(hub_db, .init = set_up, .fini = tear_down);

Test(hub_db, a_newer_hub_db_is_refused)
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

Test(hub_db, a_damaged_hub_db_is_kept_and_named)
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

Test(hub_db, files_without_a_sha256_one_after_the_other)
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

Test(hub_db, digests_outlive_the_index)
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

Test(hub_db, digests_of_many_files_at_once)
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

static bool is_known(uint32_t root, const char *path, const struct hub_stamp *stamp)
{
    struct hub_file_digests found;
    return hub_digest_find(truth, root, path, stamp, &found, NULL) == HUB_OK;
}

Test(hub_db, digests_go_with_their_folder)
{
    struct hub_catalog *catalog = open_it();
    const struct hub_file_digests one = {.sha256 = "ab"}, other = {.sha256 = "cd"};
    const struct hub_stamp old = draft_file("x", 5).stamp, new = draft_file("x", 6).stamp;
    static const char *const stored[] = {"s\xc3\xa9t/a", "s\xc3\xa9t/b/c", "s\xc3\xa9t-v1/a", "kept/a"};
    for (size_t i = 0; i < HUB_COUNT(stored); i++)
        DRAFT_OK(hub_digest_store(truth, 0, stored[i], i == 3 ? &new : &old, &one, err));
    DRAFT_OK(hub_digest_store(truth, 1, "s\xc3\xa9t/a", &old, &one, err));
    const struct hub_digest_item came = {"s\xc3\xa9t/a", new, other};
    const struct hub_digest_move move = {"s\xc3\xa9t", "kept"}, drop = {"kept", NULL};
    DRAFT_OK(hub_digests_move(truth, 0, &move, &came, 1, err));
    close_it(catalog);
    catalog = open_it(); /* nothing of it is in memory */
    cr_expect(is_known(0, "kept/a", &old) && is_known(0, "kept/b/c", &old));
    cr_expect(is_known(0, "s\xc3\xa9t/a", &new) && is_known(0, "s\xc3\xa9t-v1/a", &old));
    cr_expect_not(is_known(0, "s\xc3\xa9t/b/c", &old));
    cr_expect(is_known(1, "s\xc3\xa9t/a", &old), "another root's");
    DRAFT_OK(hub_digests_move(truth, 0, &drop, NULL, 0, err));
    close_it(catalog);
    catalog = open_it();
    cr_expect_not(is_known(0, "kept/a", &old) || is_known(0, "kept/b/c", &old));
    cr_expect(is_known(0, "s\xc3\xa9t/a", &new));
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

Test(hub_db, digests_outlive_the_device_in_their_stamps)
{
    expect_migrated(1234567);
}

Test(hub_db, digests_of_large_inode_numbers_too)
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

Test(hub_db, jobs_of_earlier_have_random_ids_too)
{
    struct hub_db *db = write_hub_db(12);
    struct hub_stmt *stmt;
    bool row = false;
    DRAFT_OK(hub_db_exec(
        db,
        "INSERT INTO jobs (kind, target, rule, payload, state, priority, run_at)"
        " VALUES ('transfer', 'a', '', '', 'done', 0, 0), ('transfer', 'a', '', '', 'done', 0, 0),"
        " ('check', 'b', '', '', 'waiting', 0, 0)",
        err));
    hub_db_close(db);
    close_it(open_it());
    DRAFT_OK(hub_db_open(path_of("hub.db"), HUB_DB_TRUTH, &db, err));
    DRAFT_OK(hub_db_prepare(db,
                            "SELECT count(DISTINCT public_id), sum(length(public_id) = 12"
                            " AND public_id NOT GLOB '*[^a-z2-7]*') FROM jobs",
                            &stmt, err));
    DRAFT_OK(hub_stmt_step(stmt, &row, err));
    cr_assert(row);
    cr_expect_eq(hub_stmt_int(stmt, 0), 3);
    cr_expect_eq(hub_stmt_int(stmt, 1), 3);
    hub_stmt_reset(stmt);
    hub_db_close(db);
}

Test(hub_db, ids_of_folders_called_as_a_word_are_spelled_as_today)
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
