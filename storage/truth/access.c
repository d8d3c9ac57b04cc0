/* Rules and tokens of hub.db and of the configuration in one table: see access.h. */
#include "storage/truth/access.h"

#include "storage/truth/audit.h"
#include "storage/truth/hubdb.h"

#include <stdlib.h>

void hub_declared_access_dispose(struct hub_declared_access *declared)
{
    hub_access_rules_dispose(&declared->rules);
    *declared = (struct hub_declared_access){0};
}

enum hub_status hub_declared_access_copy(const struct hub_declared_access *from,
                                         struct hub_declared_access *out, struct hub_error *err)
{
    *out = *from;
    out->rules = (struct hub_access_rules){0};
    for (uint32_t i = 0; i < from->rules.count; i++)
        HUB_TRY(hub_access_rules_add(&out->rules, &from->rules.items[i], err));
    return HUB_OK;
}

struct stored {
    struct hub_access_rules rules;
    struct hub_token *tokens;
    uint32_t token_count, token_capacity;
};

static void stored_dispose(struct stored *stored)
{
    hub_access_rules_dispose(&stored->rules);
    free(stored->tokens);
}

static enum hub_status read_rules(struct hub_db *db, struct stored *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_db_prepare(db, "SELECT who, prefix, level FROM access_rules", &stmt, err));
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        struct hub_access_rule rule = {.who = hub_stmt_text(stmt, 0), .prefix = hub_stmt_text(stmt, 1)};
        if (!hub_level_read(hub_stmt_view(stmt, 2), &rule.level))
            return hub_fail(err, HUB_CORRUPT, "hub.db has a rule of %.80s whose level is not known",
                            rule.who);
        HUB_TRY(hub_access_rules_add(&out->rules, &rule, err));
    }
}

static enum hub_status read_networks(struct hub_view text, struct hub_token *out, struct hub_error *err)
{
    while (text.size && out->network_count < HUB_TOKEN_NETWORKS) {
        const char *space = memchr(text.data, ' ', text.size);
        const size_t size = space ? (size_t)(space - text.data) : text.size;
        HUB_TRY(hub_cidr_read((struct hub_view){text.data, size}, &out->networks[out->network_count++], err));
        text = space ? (struct hub_view){space + 1, text.size - size - 1} : (struct hub_view){0};
    }
    return HUB_OK;
}

static enum hub_status read_token(struct hub_stmt *stmt, struct hub_token *out, struct hub_error *err)
{
    const struct hub_view sha256 = hub_stmt_blob(stmt, 2);
    *out = (struct hub_token){.made_ms = hub_stmt_int(stmt, 4),
                              .expires_ms = hub_stmt_int(stmt, 5),
                              .used_ms = hub_stmt_int(stmt, 6),
                              .rotated = hub_stmt_int(stmt, 7) != 0};
    const struct hub_view id = hub_stmt_view(stmt, 0), name = hub_stmt_view(stmt, 1);
    if (id.size != HUB_TOKEN_ID || name.size > HUB_TOKEN_NAME || sha256.size != HUB_TOKEN_SHA256)
        return hub_fail(err, HUB_CORRUPT, "hub.db has a token that is not whole");
    memcpy(out->id, id.data, id.size);
    memcpy(out->name, name.data, name.size);
    memcpy(out->sha256, sha256.data, sha256.size);
    const struct hub_view session_of = hub_stmt_view(stmt, 8);
    if (session_of.size != 0 && session_of.size != HUB_TOKEN_ID)
        return hub_fail(err, HUB_CORRUPT, "hub.db has a session that is not whole");
    memcpy(out->session_of, session_of.data, session_of.size);
    return read_networks(hub_stmt_view(stmt, 3), out, err);
}

static enum hub_status read_tokens(struct hub_db *db, struct stored *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_db_prepare(db,
                           "SELECT id, name, sha256, networks, made, expires, used, rotated, session_of"
                           " FROM tokens",
                           &stmt, err));
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        HUB_TRY(hub_grow(&out->tokens, out->token_count, &out->token_capacity, sizeof *out->tokens, err));
        HUB_TRY(read_token(stmt, &out->tokens[out->token_count], err));
        out->token_count++;
    }
}

static enum hub_status add_declared(const struct hub_declared_access *declared, struct stored *out,
                                    struct hub_error *err)
{
    for (uint32_t i = 0; i < declared->rules.count; i++)
        HUB_TRY(hub_access_rules_add(&out->rules, &declared->rules.items[i], err));
    for (uint32_t i = 0; i < declared->token_count; i++) {
        HUB_TRY(hub_grow(&out->tokens, out->token_count, &out->token_capacity, sizeof *out->tokens, err));
        out->tokens[out->token_count++] = declared->tokens[i];
    }
    return HUB_OK;
}

static enum hub_status read_link_key(struct hub_db *db, struct hub_access_table *table, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_db_prepare(db, "SELECT value FROM secrets WHERE name = 'links'", &stmt, err));
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    const struct hub_view key = row ? hub_stmt_blob(stmt, 0) : HUB_VIEW("");
    if (key.size == HUB_LINK_KEY)
        hub_access_set_link_key(table, (const uint8_t *)key.data);
    return HUB_OK;
}

/* What one connection sees at one moment. */
static enum hub_status load(struct hub_db *db, const struct hub_declared_access *declared,
                            struct hub_access_table **out, struct hub_error *err)
{
    HUB_CLEANUP(stored_dispose) struct stored stored = {0};
    HUB_TRY(read_rules(db, &stored, err));
    HUB_TRY(read_tokens(db, &stored, err));
    if (declared)
        HUB_TRY(add_declared(declared, &stored, err));
    HUB_TRY(
        hub_access_new(stored.rules.items, stored.rules.count, stored.tokens, stored.token_count, out, err));
    const enum hub_status st = read_link_key(db, *out, err);
    if (st) {
        hub_access_put(*out);
        *out = NULL;
    }
    return st;
}

enum hub_status hub_truth_access_load(struct hub_truth *truth, const struct hub_declared_access *declared,
                                      struct hub_access_table **out, struct hub_error *err)
{
    struct hub_db *db;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_CLEANUP(hub_db_rollbackp) struct hub_db *begun = db;
    HUB_TRY(hub_db_exec(db, "BEGIN", err));
    HUB_TRY(load(begun, declared, out, err));
    return HUB_OK;
}

enum hub_status hub_truth_access_version(struct hub_truth *truth, uint64_t *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db, "SELECT version FROM access_version", &stmt, err));
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    *out = row ? (uint64_t)hub_stmt_int(stmt, 0) : 0;
    return HUB_OK;
}

enum hub_status hub_access_commit(struct hub_db *db, const struct hub_declared_access *declared,
                                  const struct hub_audit *audit, struct hub_error *err)
{
    struct hub_access_table *table = NULL;
    HUB_TRY(load(db, declared, &table, err));
    hub_access_put(table);
    HUB_TRY(hub_audit_write(db, audit, err));
    return hub_db_commit(db, err);
}
