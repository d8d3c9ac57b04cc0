/* Copies of hub.db: what they hold, and that they fit another place. */
#include "storage/truth/copy.h"

#include "storage/truth/drafts.h"
#include "storage/truth/hubdb.h"
#include "tests/support/catalog_draft.h"

#include <criterion/criterion.h>

static char state[64], path[100];
static struct hub_roots roots;

static void begin(void)
{
    snprintf(state, sizeof state, "/tmp/hub-copy-XXXXXX");
    cr_assert(mkdtemp(state));
    snprintf(path, sizeof path, "%s/copy.db", state);
    cr_assert_eq(hub_roots_add(&roots, "/one", NULL, NULL), HUB_OK);
    cr_assert_eq(hub_roots_add(&roots, "/two", NULL, NULL), HUB_OK);
}

static void end(void)
{
    char command[100];
    hub_roots_dispose(&roots);
    snprintf(command, sizeof command, "rm -rf %s", state);
    cr_assert_eq(system(command), 0);
}
TestSuite(truth_copy, .init = begin, .fini = end);

/* A hub.db with a pushed dataset that was published twice, a mirrored one and its rule. */
static struct hub_truth *open_filled(void)
{
    const struct hub_truth_options options = {.state = state, .roots = &roots};
    struct hub_truth *truth;
    DRAFT_OK(hub_truth_open(&options, &truth, err));
    DRAFT_OK(hub_db_exec(
        truth->db,
        "INSERT INTO commits (id, dataset, tree, parent, who, at, message) VALUES"
        " ('c1', 'lab/a-v0', 't1', '', 'token:ann', 1, ''), ('c2', 'lab/a-v0', 't2', 'c1', 'token:ann', 2, "
        "'');"
        "INSERT INTO drafts (id, dataset, root, path, who, state, made, touched, commit_id) VALUES ('d1', "
        "'lab/b-v0', '/one', 'lab/b-v0', 'token:ann', 'open', 1, 1, ''),"
        " ('d2', 'lab/a-v0', '/one', 'lab/a-v0', 'token:ann', 'published', 1, 1, 'c2');"
        "INSERT INTO draft_files (draft, path, size, sha256) VALUES ('d1', 'x', 1, x''), ('d2', 'x', 1, x'');"
        "INSERT INTO origins (root, path, rule, remote, remote_id, revision, synced, seen) VALUES"
        " ('/two', 'm-v0', 'r', 'http://hub', 'm-v0', '', 1, 1);"
        "INSERT INTO rules (name, source, spec, made, due) VALUES ('r', 'command', '{\"root\":\"/two\"}', 1, "
        "1);"
        "INSERT INTO roots VALUES ('/one', 5, 1, 1)",
        err));
    return truth;
}

static struct hub_db *open_copy(enum hub_db_mode mode)
{
    struct hub_db *db;
    DRAFT_OK(hub_db_open(path, mode, &db, err));
    return db;
}

static bool finds(const char *sql)
{
    struct hub_db *db = open_copy(HUB_DB_READ);
    struct hub_stmt *stmt;
    bool row;
    DRAFT_OK(hub_db_prepare(db, sql, &stmt, err));
    DRAFT_OK(hub_stmt_step(stmt, &row, err));
    hub_db_close(db);
    return row;
}

static enum hub_status add(void *user, const struct hub_owned *owned, struct hub_error *err)
{
    if (owned->dataset)
        return hub_buf_addf(user, err, "%s%s %s %s%s; ", *owned->root ? owned->root : "", owned->dataset,
                            owned->commit, owned->tree, owned->kept ? " kept" : "");
    return hub_buf_addf(user, err, "%s %s from %s %s; ", owned->root, owned->path, owned->remote,
                        owned->remote_id);
}

Test(truth_copy, it_is_taken_beside_a_writer)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf owned = HUB_BUF_INIT(KIB);
    struct hub_truth *truth = open_filled();
    DRAFT_OK(hub_db_begin(truth->db, err));
    DRAFT_OK(hub_db_exec(truth->db, "DELETE FROM commits", err));
    DRAFT_OK(hub_truth_copy(state, path, err));
    DRAFT_OK(hub_db_commit(truth->db, err));
    hub_truth_close(truth);
    DRAFT_OK(hub_truth_copy_owned(path, add, &owned, err));
    cr_expect_str_eq(owned.data, "lab/a-v0 c2 t2; /two m-v0 from http://hub m-v0; ");
}

Test(truth_copy, what_is_kept_belongs_to_it)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf owned = HUB_BUF_INIT(KIB);
    struct hub_truth *truth = open_filled();
    DRAFT_OK(hub_db_exec(
        truth->db,
        "UPDATE commits SET kept = 1, ended = 5, root = '/one' WHERE id = 'c1';"
        "INSERT INTO commits (id, dataset, tree, parent, who, at, message, kind, kept, ended) VALUES"
        " ('d1', 'lab/d-v0', 't3', '', 'ann', 3, '', 'publish', 0, 4),"
        " ('d2', 'lab/d-v0', 't4', 'd1', 'ann', 4, '', 'publish', 1, 5),"
        " ('d3', 'lab/d-v0', '', 'd2', 'ann', 5, '', 'delete', 0, 0)",
        err));
    hub_truth_close(truth);
    DRAFT_OK(hub_truth_copy(state, path, err));
    DRAFT_OK(hub_truth_copy_owned(path, add, &owned, err));
    cr_expect_str_eq(owned.data, "lab/a-v0 c2 t2; /onelab/a-v0 c1 t1 kept; lab/d-v0 d2 t4 kept; "
                                 "/two m-v0 from http://hub m-v0; ");
}

Test(truth_copy, what_it_says_of_a_root_follows_the_root)
{
    static const struct hub_root_move swapped[] = {{"/one", "/two"}, {"/two", "/one"}};
    hub_truth_close(open_filled());
    DRAFT_OK(hub_truth_copy(state, path, err));
    DRAFT_OK(hub_truth_copy_fit(path, swapped, HUB_COUNT(swapped), err));
    cr_expect(finds("SELECT 1 FROM origins WHERE root = '/one'"));
    cr_expect(finds("SELECT 1 FROM rules WHERE spec = '{\"root\":\"/one\"}'"));
    cr_expect(finds("SELECT 1 FROM drafts WHERE id = 'd2' AND root = '/two'"));
    cr_expect_not(finds("SELECT 1 FROM drafts WHERE id = 'd1'"));
    cr_expect_not(finds("SELECT 1 FROM draft_files WHERE draft = 'd1'"));
    cr_expect_not(finds("SELECT 1 FROM roots"));
}

Test(truth_copy, another_version_is_refused)
{
    struct hub_error wrong = {0};
    struct hub_db *db;
    hub_truth_close(open_filled());
    DRAFT_OK(hub_truth_copy(state, path, err));
    db = open_copy(HUB_DB_TRUTH);
    DRAFT_OK(hub_db_set_user_version(db, 3, err));
    hub_db_close(db);
    cr_expect_eq(hub_truth_copy_owned(path, add, NULL, &wrong), HUB_UNSUPPORTED);
    cr_expect(strstr(wrong.detail, "older") && strstr(wrong.detail, "start this one once"), "%s",
              wrong.detail);
    db = open_copy(HUB_DB_TRUTH);
    DRAFT_OK(hub_db_set_user_version(db, 999, err));
    hub_db_close(db);
    cr_expect_eq(hub_truth_copy_owned(path, add, NULL, &wrong), HUB_UNSUPPORTED);
    cr_expect(strstr(wrong.detail, "newer"), "%s", wrong.detail);
    cr_expect_eq(hub_truth_copy_fit(path, NULL, 0, &wrong), HUB_UNSUPPORTED);
}

Test(truth_copy, a_state_without_hub_db_is_named)
{
    struct hub_error wrong = {0};
    cr_expect_eq(hub_truth_copy("/nowhere", path, &wrong), HUB_NOT_FOUND);
    cr_expect(strstr(wrong.detail, "/nowhere") && strstr(wrong.detail, "--state DIR"), "%s", wrong.detail);
}
