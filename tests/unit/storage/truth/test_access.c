/* Rules, tokens and the audit in hub.db, and the table that is in force. */
#include "storage/io/fs.h"
#include "storage/truth/access_rules.h"
#include "storage/truth/audit.h"
#include "storage/truth/hubdb.h"
#include "storage/truth/live_access.h"
#include "storage/truth/tokens.h"
#include "tests/support/catalog_draft.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static char state[64];
static struct hub_truth *truth;
static const struct hub_access_actor actor = {.who = "local"};
static const struct hub_address nowhere = {0};

static struct hub_truth *open_it(void)
{
    struct hub_truth *out = NULL;
    const struct hub_truth_options options = {.state = state};
    DRAFT_OK(hub_truth_open(&options, &out, err));
    return out;
}

static void begin(void)
{
    snprintf(state, sizeof state, "/tmp/hub-access-XXXXXX");
    cr_assert(mkdtemp(state));
    truth = open_it();
}

static void end(void)
{
    char command[100];
    hub_truth_close(truth);
    snprintf(command, sizeof command, "rm -rf %s", state);
    cr_assert_eq(system(command), 0);
}
TestSuite(access, .init = begin, .fini = end);

static void sql(const char *text)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    DRAFT_OK(hub_db_exec(held->db, text, err));
}

static int64_t number(const char *text)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    DRAFT_OK(hub_db_prepare(held->db, text, &stmt, err));
    DRAFT_OK(hub_stmt_step(stmt, &row, err));
    return row ? hub_stmt_int(stmt, 0) : -1;
}

static enum hub_status set(const char *who, enum hub_level level, const char *prefix, struct hub_error *err)
{
    const struct hub_access_rule rule = {.who = who, .prefix = prefix, .level = level};
    return hub_access_rule_set(truth, &rule, &actor, err);
}

static struct hub_access_table *load(void)
{
    struct hub_access_table *table = NULL;
    DRAFT_OK(hub_truth_access_load(truth, NULL, &table, err));
    return table;
}

static enum hub_level level_of(const char *token, const char *id)
{
    struct hub_access_table *table = load();
    const enum hub_level level =
        hub_access_level(table, &(struct hub_principal){.token = token}, hub_view_of(id));
    hub_access_put(table);
    return level;
}

static enum hub_token_verdict verdict(const char *text, int64_t now_ms)
{
    struct hub_access_table *table = load();
    const struct hub_token *token = NULL;
    const enum hub_token_verdict is =
        hub_access_find_token(table, hub_view_of(text), &nowhere, now_ms, &token);
    hub_access_put(table);
    return is;
}

static uint64_t version(void)
{
    uint64_t out = 0;
    DRAFT_OK(hub_truth_access_version(truth, &out, err));
    return out;
}

Test(access, rules_are_set_and_unset)
{
    struct hub_error err = {0};
    const uint64_t before = version();
    DRAFT_OK(set("*", HUB_LEVEL_NONE, "lab/", err));
    DRAFT_OK(set("net:10.0.0.0/8", HUB_LEVEL_READ, "lab/", err));
    DRAFT_OK(set("*", HUB_LEVEL_READ, "lab/", err));
    cr_expect_eq(number("SELECT count(*) FROM access_rules"), 2, "one of each WHO and PREFIX");
    cr_expect_eq(level_of(NULL, "lab/x"), HUB_LEVEL_READ);
    DRAFT_OK(set("*", HUB_LEVEL_NONE, "lab/", err));
    cr_expect_eq(level_of(NULL, "lab/x"), HUB_LEVEL_NONE);
    cr_expect_eq(version(), before + 4);
    cr_expect_eq(set("all", HUB_LEVEL_NONE, "lab/", &err), HUB_INVALID);
    cr_expect_eq(set("*", HUB_LEVEL_NONE, "../x", &err), HUB_INVALID);
    cr_expect_eq(set("*", HUB_LEVEL_ADMIN, "", &err), HUB_INVALID);
    cr_expect_eq(hub_access_rule_unset(truth, "*", "other/", &actor, &err), HUB_NOT_FOUND);
    cr_expect_eq(err.problem, HUB_PROBLEM_RULE_NOT_FOUND);
    cr_expect_eq(version(), before + 4, "what fails changes nothing");
    DRAFT_OK(hub_access_rule_unset(truth, "*", "lab/", &actor, err));
    cr_expect_eq(level_of(NULL, "lab/x"), HUB_LEVEL_READ);
    cr_expect_eq(number("SELECT count(*) FROM audit"), 5, "a row a change");
}

Test(access, what_is_declared_wins)
{
    struct hub_declared_access declared = {0};
    struct hub_access_table *table = NULL;
    struct hub_error err = {0};
    const struct hub_access_actor with = {.who = "local", .declared = &declared};
    DRAFT_OK(set("*", HUB_LEVEL_READ, "lab/", err));
    DRAFT_OK(hub_access_rules_read(&declared.rules, HUB_VIEW("* none lab/"), true, err));
    DRAFT_OK(hub_truth_access_load(truth, &declared, &table, err));
    cr_expect_eq(hub_access_level(table, &(struct hub_principal){0}, HUB_VIEW("lab/x")), HUB_LEVEL_NONE);
    hub_access_put(table);
    const struct hub_access_rule rule = {.who = "*", .prefix = "lab/", .level = HUB_LEVEL_READ};
    cr_expect_eq(hub_access_rule_set(truth, &rule, &with, &err), HUB_EXISTS);
    cr_expect_eq(hub_access_rule_unset(truth, "*", "lab/", &with, &err), HUB_EXISTS);
    hub_declared_access_dispose(&declared);
}

Test(access, tokens_are_made_rotated_and_revoked)
{
    char first[HUB_TOKEN_TEXT + 1], second[HUB_TOKEN_TEXT + 1];
    struct hub_error err = {0};
    const struct hub_access_rule rules[] = {{.prefix = "lab/", .level = HUB_LEVEL_READ},
                                            {.prefix = "lab/ann/", .level = HUB_LEVEL_WRITE}};
    const struct hub_token_draft draft = {.name = "ann", .rules = rules, .rule_count = 2};
    DRAFT_OK(set("*", HUB_LEVEL_NONE, "", err));
    DRAFT_OK(hub_token_add(truth, &draft, &actor, first, err));
    cr_expect_eq(verdict(first, 1), HUB_TOKEN_OK);
    cr_expect_eq(level_of("ann", "lab/x"), HUB_LEVEL_READ);
    cr_expect_eq(level_of("ann", "lab/ann/x"), HUB_LEVEL_WRITE);
    cr_expect_eq(level_of("ann", "other"), HUB_LEVEL_NONE);
    cr_expect_eq(hub_token_add(truth, &draft, &actor, second, &err), HUB_EXISTS);
    DRAFT_OK(hub_token_rotate(truth, "ann", 3600000, &actor, second, err));
    const int64_t now_ms = number("SELECT " HUB_DB_NOW);
    cr_expect_eq(verdict(first, now_ms), HUB_TOKEN_OK, "for an hour yet");
    cr_expect_eq(verdict(first, now_ms + 3600001), HUB_TOKEN_EXPIRED);
    cr_expect_eq(verdict(second, now_ms + 3600001), HUB_TOKEN_OK);
    DRAFT_OK(hub_token_rotate(truth, "ann", 0, &actor, first, err));
    cr_expect_eq(verdict(second, number("SELECT " HUB_DB_NOW)), HUB_TOKEN_UNKNOWN, "at once");
    DRAFT_OK(hub_token_revoke(truth, "ann", &actor, err));
    cr_expect_eq(verdict(first, now_ms), HUB_TOKEN_UNKNOWN);
    cr_expect_eq(number("SELECT count(*) FROM tokens"), 0, "those that were rotated, too");
    cr_expect_eq(number("SELECT count(*) FROM access_rules"), 1, "its rules went with it");
    cr_expect_eq(hub_token_revoke(truth, "ann", &actor, &err), HUB_NOT_FOUND);
    cr_expect_eq(err.problem, HUB_PROBLEM_TOKEN_NOT_FOUND);
    cr_expect_eq(hub_token_rotate(truth, "ann", 0, &actor, first, &err), HUB_NOT_FOUND);
}

Test(access, a_token_that_expires_is_renewed_for_as_long)
{
    char text[HUB_TOKEN_TEXT + 1];
    const int64_t now_ms = number("SELECT " HUB_DB_NOW);
    const char *const networks[] = {"10.0.0.0/8", "fd00::/8"};
    const struct hub_token_draft draft = {
        .name = "ann", .networks = networks, .network_count = 2, .expires_ms = now_ms + 1000000};
    DRAFT_OK(hub_token_add(truth, &draft, &actor, text, err));
    cr_expect_eq(verdict(text, now_ms), HUB_TOKEN_WRONG_NETWORK);
    cr_expect_eq(verdict(text, now_ms + 2000000), HUB_TOKEN_EXPIRED);
    sql("UPDATE tokens SET made = made - 500000, expires = expires - 500000");
    DRAFT_OK(hub_token_rotate(truth, "ann", 0, &actor, text, err));
    const int64_t left_ms = number("SELECT expires - made FROM tokens");
    cr_expect(left_ms > 900000 && left_ms <= 1000000, "%ld", (long)left_ms);
    cr_expect_eq(verdict(text, now_ms), HUB_TOKEN_WRONG_NETWORK, "the networks stay");
}

/* No text of a token, and no part of its secret, is anywhere in the files. */
Test(access, no_secret_is_stored)
{
    char text[HUB_TOKEN_TEXT + 1], command[200];
    DRAFT_OK(hub_token_add(truth, &(struct hub_token_draft){.name = "ann"}, &actor, text, err));
    snprintf(command, sizeof command, "! grep -qra -e %.20s %s", text + 3 + HUB_TOKEN_ID, state);
    cr_expect_eq(system(command), 0);
    snprintf(command, sizeof command, "grep -qra -e %.10s %s", text + 3, state);
    cr_expect_eq(system(command), 0, "the id is");
}

Test(access, more_classes_than_there_may_be_are_refused)
{
    struct hub_error err = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf rows = HUB_BUF_INIT(1 * MIB);
    for (int i = 0; i < HUB_ACCESS_CLASSES - 1; i++)
        DRAFT_OK(hub_buf_addf(&rows, err, "INSERT INTO access_rules VALUES ('*', 'p%d/', 'none', 1);", i));
    sql(rows.data);
    cr_expect_eq(set("*", HUB_LEVEL_NONE, "one-more/", &err), HUB_TOO_BIG);
    cr_expect_eq(number("SELECT count(*) FROM access_rules"), HUB_ACCESS_CLASSES - 1, "it was undone");
    DRAFT_OK(set("user:bob", HUB_LEVEL_WRITE, "shown/", err)); /* hides nothing */
}

static enum hub_status append(void *user, const struct hub_audit *audit, struct hub_error *err)
{
    return hub_buf_addf(user, err, "%s %s %s %s\n", audit->who, audit->action, audit->object, audit->detail);
}

Test(access, the_audit_has_each_change)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    DRAFT_OK(set("*", HUB_LEVEL_NONE, "lab/", err));
    DRAFT_OK(set("*", HUB_LEVEL_READ, "lab/", err));
    DRAFT_OK(hub_access_rule_unset(truth, "*", "lab/", &actor, err));
    DRAFT_OK(hub_audit_each(truth, &(struct hub_audit_query){0}, append, &text, err));
    cr_expect_str_eq(
        text.data,
        "local access-set * lab/ {\"who\":\"*\",\"prefix\":\"lab/\",\"level\":\"none\"}\n"
        "local access-set * lab/ {\"who\":\"*\",\"prefix\":\"lab/\",\"level\":\"read\",\"was\":\"none\"}\n"
        "local access-unset * lab/ {\"who\":\"*\",\"prefix\":\"lab/\",\"was\":\"read\"}\n");
    text.size = 0;
    DRAFT_OK(hub_audit_each(truth, &(struct hub_audit_query){.after_id = 1, .limit = 1}, append, &text, err));
    cr_expect_eq(text.data[text.size - 2], '}');
    cr_expect(strstr(text.data, "\"was\":\"none\""));
    sql("UPDATE audit SET at = at - 1000000 WHERE id < 3");
    DRAFT_OK(hub_audit_prune(truth, 500000, err));
    cr_expect_eq(number("SELECT count(*) FROM audit"), 1);
}

static void wait_for(struct hub_live_access *live, uint64_t generation)
{
    for (int i = 0; i < 1000 && hub_live_access_generation(live) < generation; i++)
        usleep(5000);
    cr_assert_geq(hub_live_access_generation(live), generation);
}

Test(access, a_running_hub_sees_what_another_changes)
{
    struct hub_live_access *live = NULL;
    char text[HUB_TOKEN_TEXT + 1];
    const struct hub_token *token = NULL;
    DRAFT_OK(hub_live_access_start(&(struct hub_live_access_options){.truth = truth}, &live, err));
    struct hub_access_table *before = hub_live_access_get(live);
    cr_expect(hub_access_is_open(before));
    DRAFT_OK(hub_token_add(truth, &(struct hub_token_draft){.name = "ann"}, &actor, text, err));
    wait_for(live, 2);
    cr_expect(hub_access_is_open(before), "a table never changes");
    hub_access_put(before);
    struct hub_access_table *table = hub_live_access_get(live);
    cr_assert_eq(hub_access_find_token(table, hub_view_of(text), &nowhere, 1, &token), HUB_TOKEN_OK);
    hub_access_note_use(table, token, 4102444800000);
    hub_access_put(table);
    DRAFT_OK(set("*", HUB_LEVEL_NONE, "", err));
    DRAFT_OK(hub_live_access_refresh(live, err));
    table = hub_live_access_get(live);
    cr_expect(hub_access_hides(table));
    uint32_t count;
    const struct hub_token *tokens = hub_access_tokens_of(table, &count);
    cr_expect_eq(count, 1);
    cr_expect_eq(hub_access_used(table, tokens), 4102444800000, "it was stored before");
    hub_access_put(table);
    hub_live_access_stop(live);
}

Test(access, another_declaration_replaces_the_one_before)
{
    struct hub_live_access *live = NULL;
    struct hub_declared_access first = {0}, second = {0}, shown = {0};
    const struct hub_principal anybody = {0};
    DRAFT_OK(set("*", HUB_LEVEL_NONE, "kept/", err));
    DRAFT_OK(hub_access_rules_read(&first.rules, HUB_VIEW("* none lab/"), true, err));
    DRAFT_OK(hub_access_rules_read(&second.rules, HUB_VIEW("* none other/"), true, err));
    const struct hub_live_access_options options = {.truth = truth, .declared = &first};
    DRAFT_OK(hub_live_access_start(&options, &live, err));
    cr_expect_eq(first.rules.count, 0, "it is taken");
    struct hub_access_table *before = hub_live_access_get(live);
    DRAFT_OK(hub_live_access_redeclare(live, &second, err));
    cr_expect_eq(second.rules.count, 0);
    struct hub_access_table *after = hub_live_access_get(live);
    cr_expect_eq(hub_access_level(before, &anybody, HUB_VIEW("lab/x")), HUB_LEVEL_NONE);
    cr_expect_eq(hub_access_level(after, &anybody, HUB_VIEW("lab/x")), HUB_LEVEL_READ);
    cr_expect_eq(hub_access_level(after, &anybody, HUB_VIEW("other/x")), HUB_LEVEL_NONE);
    cr_expect_eq(hub_access_level(after, &anybody, HUB_VIEW("kept/x")), HUB_LEVEL_NONE);
    DRAFT_OK(hub_live_access_declared(live, &shown, err));
    cr_assert_eq(shown.rules.count, 1);
    cr_expect_str_eq(shown.rules.items[0].prefix, "other/");
    cr_expect(shown.rules.items[0].from_file);
    hub_declared_access_dispose(&shown);
    hub_access_put(before);
    hub_access_put(after);
    hub_live_access_stop(live);
}

/* hub.db of each earlier schema is brought to this one, whatever it holds. */
Test(access, each_earlier_schema_is_migrated)
{
    int newest = 0;
    while (hub_migrations[newest].sql)
        newest++;
    hub_truth_close(truth);
    for (int from = 0; from < newest; from++) {
        char path[100];
        struct hub_db *db = NULL;
        snprintf(path, sizeof path, "rm -f %s/hub.db*", state);
        cr_assert_eq(system(path), 0);
        snprintf(path, sizeof path, "%s/hub.db", state);
        DRAFT_OK(hub_db_open(path, HUB_DB_TRUTH, &db, err));
        for (int i = 0; i < from; i++) {
            DRAFT_OK(hub_db_begin(db, err));
            DRAFT_OK(hub_db_exec(db, hub_migrations[i].sql, err));
            DRAFT_OK(hub_db_set_user_version(db, i + 1, err));
            DRAFT_OK(hub_db_commit(db, err));
        }
        hub_db_close(db);
        truth = open_it();
        cr_expect_eq(number("SELECT version FROM access_version"), 1, "from %d", from);
        cr_expect_eq(level_of(NULL, "lab/x"), HUB_LEVEL_READ);
        DRAFT_OK(set("*", HUB_LEVEL_NONE, "lab/", err));
        if (from + 1 < newest)
            hub_truth_close(truth);
    }
}
