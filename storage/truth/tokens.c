/* Access tokens in hub.db: see tokens.h. */
#include "storage/truth/tokens.h"

#include "storage/text/json.h"
#include "storage/truth/audit.h"
#include "storage/truth/hubdb.h"

#include <stdio.h>

static enum hub_status not_found(const char *name, struct hub_error *err)
{
    return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_TOKEN_NOT_FOUND,
                       "there is no token '%.64s'; `minari-hub token list` shows all", name);
}

/* ---- rows ---- */

static enum hub_status make(char text[HUB_TOKEN_TEXT + 1], struct hub_token *out, struct hub_error *err)
{
    HUB_TRY(hub_token_make(text, err));
    return hub_token_digest((struct hub_view){text, HUB_TOKEN_TEXT}, out, err);
}

static enum hub_status insert(struct hub_db *db, const struct hub_token *token, const char *networks,
                              struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_prepare(db,
                           "INSERT INTO tokens (id, name, sha256, networks, made, expires, used, rotated)"
                           " VALUES (?1, ?2, ?3, ?4, " HUB_DB_NOW ", ?5, 0, 0)",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, token->id);
    hub_stmt_bind_text(stmt, 2, token->name);
    hub_stmt_bind_blob(stmt, 3, token->sha256, sizeof token->sha256);
    hub_stmt_bind_text(stmt, 4, networks);
    hub_stmt_bind_int(stmt, 5, token->expires_ms);
    return hub_stmt_run(stmt, err);
}

enum hub_status hub_tokens_forget_expired(struct hub_db *db, struct hub_error *err)
{
    return hub_db_exec(db, "DELETE FROM tokens WHERE rotated AND expires <= " HUB_DB_NOW, err);
}

/* The one of a name that is not rotated. */
static enum hub_status find(struct hub_db *db, const char *name, struct hub_token *out,
                            struct hub_buf *networks, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_db_prepare(db, "SELECT networks, made, expires FROM tokens WHERE name = ?1 AND NOT rotated",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, name);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (!row)
        return not_found(name, err);
    *out = (struct hub_token){.made_ms = hub_stmt_int(stmt, 1), .expires_ms = hub_stmt_int(stmt, 2)};
    snprintf(out->name, sizeof out->name, "%s", name);
    return hub_buf_addf(networks, err, "%s", hub_stmt_text(stmt, 0));
}

static enum hub_status check_free(struct hub_db *db, const struct hub_token_draft *draft,
                                  const struct hub_access_actor *actor, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf networks = HUB_BUF_INIT(4 * KIB);
    struct hub_token found;
    for (uint32_t i = 0; actor->declared && i < actor->declared->token_count; i++)
        if (strcmp(actor->declared->tokens[i].name, draft->name) == 0)
            return hub_fail(err, HUB_EXISTS, "'%s' is the name of the token of a file: use another name",
                            draft->name);
    const enum hub_status st = find(db, draft->name, &found, &networks, NULL);
    if (st == HUB_NOT_FOUND)
        return HUB_OK;
    return st ? hub_fail(err, st, "hub.db cannot be read")
              : hub_fail(err, HUB_EXISTS,
                         "there is a token '%s' already: `minari-hub token rotate %s` replaces it, "
                         "`minari-hub token revoke %s` ends it",
                         draft->name, draft->name, draft->name);
}

/* ---- what the audit says ---- */

static void put_time(struct hub_json *json, const char *key, int64_t ms)
{
    if (ms)
        hub_json_put_int(json, key, ms);
}

static enum hub_status describe_draft(const struct hub_token_draft *draft, const char *id,
                                      struct hub_buf *out, struct hub_error *err)
{
    struct hub_json json = hub_json_to(out, err);
    hub_json_object(&json);
    hub_json_put_text(&json, "id", id);
    put_time(&json, "expires_ms", draft->expires_ms);
    hub_json_put_array(&json, "from");
    for (uint32_t i = 0; i < draft->network_count; i++)
        hub_json_string(&json, hub_view_of(draft->networks[i]));
    hub_json_end_array(&json);
    hub_json_put_array(&json, "rules");
    for (uint32_t i = 0; i < draft->rule_count; i++) {
        hub_json_object(&json);
        hub_json_put_text(&json, "level", hub_level_names[draft->rules[i].level]);
        hub_json_put_text(&json, "prefix", draft->rules[i].prefix);
        hub_json_end_object(&json);
    }
    hub_json_end_array(&json);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

static enum hub_status commit(struct hub_db *db, const struct hub_access_actor *actor, const char *action,
                              const char *name, const char *detail, struct hub_error *err)
{
    return hub_access_commit(
        db, actor->declared,
        &(struct hub_audit){.who = actor->who, .action = action, .object = name, .detail = detail}, err);
}

/* ---- adding ---- */

/* The networks in their one text, with spaces between them. */
static enum hub_status write_networks(const struct hub_token_draft *draft, struct hub_buf *out,
                                      struct hub_error *err)
{
    char text[HUB_CIDR_CHARS];
    struct hub_cidr network;
    if (draft->network_count > HUB_TOKEN_NETWORKS)
        return hub_fail(err, HUB_TOO_BIG, "a token has at most %d networks", HUB_TOKEN_NETWORKS);
    HUB_TRY(hub_buf_add_text(out, "", err));
    for (uint32_t i = 0; i < draft->network_count; i++) {
        HUB_TRY(hub_cidr_read(hub_view_of(draft->networks[i]), &network, err));
        hub_cidr_write(&network, text);
        HUB_TRY(hub_buf_addf(out, err, "%s%s", i ? " " : "", text));
    }
    return HUB_OK;
}

/* Rules of the draft, with the token as WHO and in their one text. */
static enum hub_status rules_of(const struct hub_token_draft *draft, struct hub_access_rules *out,
                                struct hub_error *err)
{
    char who[HUB_WHO_CHARS];
    snprintf(who, sizeof who, "token:%s", draft->name);
    for (uint32_t i = 0; i < draft->rule_count; i++) {
        struct hub_access_rule rule = draft->rules[i];
        rule.who = who;
        rule.from_file = false;
        HUB_TRY(hub_access_rules_add(out, &rule, err));
    }
    return HUB_OK;
}

static enum hub_status check_count(struct hub_db *db, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_db_prepare(db, "SELECT count(*) FROM tokens", &stmt, err));
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    return row && hub_stmt_int(stmt, 0) >= HUB_MAX_TOKENS
               ? hub_fail(err, HUB_TOO_BIG, "there are %d tokens already: revoke some", HUB_MAX_TOKENS)
               : HUB_OK;
}

enum hub_status hub_token_add(struct hub_truth *truth, const struct hub_token_draft *draft,
                              const struct hub_access_actor *actor, char text[HUB_TOKEN_TEXT + 1],
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf networks = HUB_BUF_INIT(4 * KIB);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf detail = HUB_BUF_INIT(1 * MIB);
    HUB_CLEANUP(hub_access_rules_dispose) struct hub_access_rules rules = {0};
    struct hub_token token = {.expires_ms = draft->expires_ms};
    HUB_TRY(hub_token_name_check(hub_view_of(draft->name), err));
    snprintf(token.name, sizeof token.name, "%s", draft->name);
    HUB_TRY(write_networks(draft, &networks, err));
    HUB_TRY(rules_of(draft, &rules, err));
    HUB_TRY(make(text, &token, err));
    HUB_TRY(describe_draft(draft, token.id, &detail, err));
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(check_free(held->db, draft, actor, err));
    HUB_TRY(check_count(held->db, err));
    HUB_TRY(hub_tokens_forget_expired(held->db, err));
    HUB_TRY(insert(held->db, &token, networks.data, err));
    for (uint32_t i = 0; i < rules.count; i++)
        HUB_TRY(hub_access_rule_put(held->db, &rules.items[i], err));
    return commit(held->db, actor, "token-add", draft->name, detail.data, err);
}

/* ---- rotating, revoking, use ---- */

/* The one that is replaced is good until `until_ms`, or as long as it was. */
static enum hub_status retire(struct hub_db *db, const char *name, uint64_t overlap_ms, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_prepare(
        db,
        "UPDATE tokens SET rotated = 1, expires = CASE WHEN expires > 0 THEN min(expires, " HUB_DB_NOW
        " + ?2) ELSE " HUB_DB_NOW " + ?2 END WHERE name = ?1 AND NOT rotated",
        &stmt, err));
    hub_stmt_bind_text(stmt, 1, name);
    hub_stmt_bind_int(stmt, 2, (int64_t)overlap_ms);
    return hub_stmt_run(stmt, err);
}

/* One that expires lives as long as the one before it was meant to. */
static enum hub_status renew(struct hub_db *db, const struct hub_token *token, struct hub_error *err)
{
    struct hub_stmt *stmt;
    if (!token->expires_ms)
        return HUB_OK;
    HUB_TRY(hub_db_prepare(db, "UPDATE tokens SET expires = made + ?2 WHERE id = ?1", &stmt, err));
    hub_stmt_bind_text(stmt, 1, token->id);
    hub_stmt_bind_int(stmt, 2, HUB_MAX(token->expires_ms - token->made_ms, 1));
    return hub_stmt_run(stmt, err);
}

enum hub_status hub_token_rotate(struct hub_truth *truth, const char *name, uint64_t overlap_ms,
                                 const struct hub_access_actor *actor, char text[HUB_TOKEN_TEXT + 1],
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf networks = HUB_BUF_INIT(4 * KIB);
    struct hub_token token;
    char detail[80];
    HUB_TRY(hub_token_name_check(hub_view_of(name), err));
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(find(held->db, name, &token, &networks, err));
    HUB_TRY(make(text, &token, err));
    HUB_TRY(retire(held->db, name, overlap_ms, err));
    HUB_TRY(hub_tokens_forget_expired(held->db, err));
    HUB_TRY(insert(held->db, &token, networks.data, err));
    HUB_TRY(renew(held->db, &token, err));
    snprintf(detail, sizeof detail, "{\"id\":\"%s\",\"overlap_ms\":%llu}", token.id,
             (unsigned long long)overlap_ms);
    return commit(held->db, actor, "token-rotate", name, detail, err);
}

enum hub_status hub_token_revoke(struct hub_truth *truth, const char *name,
                                 const struct hub_access_actor *actor, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf networks = HUB_BUF_INIT(4 * KIB);
    struct hub_token token;
    HUB_TRY(hub_token_name_check(hub_view_of(name), err));
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(find(held->db, name, &token, &networks, err));
    HUB_TRY(hub_db_run_texts(held->db, "DELETE FROM tokens WHERE name = ?1", name, NULL, err));
    HUB_TRY(
        hub_db_run_texts(held->db, "DELETE FROM access_rules WHERE who = 'token:' || ?1", name, NULL, err));
    return commit(held->db, actor, "token-revoke", name, "{}", err);
}

enum hub_status hub_tokens_used(struct hub_truth *truth, const struct hub_token_use *uses, uint32_t count,
                                struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock_unsynced(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    for (uint32_t i = 0; i < count; i++) {
        HUB_TRY(hub_db_prepare(held->db, "UPDATE tokens SET used = max(used, ?2) WHERE id = ?1", &stmt, err));
        hub_stmt_bind_text(stmt, 1, uses[i].id);
        hub_stmt_bind_int(stmt, 2, uses[i].used_ms);
        HUB_TRY(hub_stmt_run(stmt, err));
    }
    return hub_db_commit(held->db, err);
}
