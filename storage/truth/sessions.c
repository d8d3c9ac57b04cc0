/* Sessions of browsers, and the key that signs links: see sessions.h. */
#include "storage/truth/sessions.h"

#include "storage/truth/audit.h"
#include "storage/truth/hubdb.h"
#include "storage/truth/tokens.h"

#include <stdio.h>

static enum hub_status insert(struct hub_db *db, const struct hub_token *session,
                              const struct hub_token *token, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_prepare(
        db,
        "INSERT INTO tokens (id, name, sha256, networks, made, expires, used, rotated, session_of)"
        " VALUES (?1, ?2, ?3, '', " HUB_DB_NOW ", " HUB_DB_NOW " + ?4, 0, 1, ?5)",
        &stmt, err));
    hub_stmt_bind_text(stmt, 1, session->id);
    hub_stmt_bind_text(stmt, 2, token->name);
    hub_stmt_bind_blob(stmt, 3, session->sha256, sizeof session->sha256);
    hub_stmt_bind_int(stmt, 4, HUB_SESSION_MS);
    hub_stmt_bind_text(stmt, 5, token->id);
    return hub_stmt_run(stmt, err);
}

/* All but the newest, so that one more is within the limit. */
static enum hub_status make_room(struct hub_db *db, const char *token, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_prepare(db,
                           "DELETE FROM tokens WHERE session_of = ?1 AND id NOT IN (SELECT id FROM tokens"
                           " WHERE session_of = ?1 ORDER BY made DESC, id LIMIT ?2)",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, token);
    hub_stmt_bind_int(stmt, 2, HUB_SESSIONS_OF_A_TOKEN - 1);
    return hub_stmt_run(stmt, err);
}

static enum hub_status commit(struct hub_db *db, const struct hub_access_actor *actor, const char *action,
                              const struct hub_token *session, struct hub_error *err)
{
    char detail[40];
    snprintf(detail, sizeof detail, "{\"id\":\"%s\"}", session->id);
    return hub_access_commit(
        db, actor->declared,
        &(struct hub_audit){.who = actor->who, .action = action, .object = session->name, .detail = detail},
        err);
}

enum hub_status hub_session_begin(struct hub_truth *truth, const struct hub_token *token,
                                  const struct hub_access_actor *actor, char text[HUB_TOKEN_TEXT + 1],
                                  struct hub_error *err)
{
    struct hub_token session = {0};
    HUB_TRY(hub_token_make(text, err));
    HUB_TRY(hub_token_digest((struct hub_view){text, HUB_TOKEN_TEXT}, &session, err));
    snprintf(session.name, sizeof session.name, "%s", token->name);
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(hub_tokens_forget_expired(held->db, err));
    HUB_TRY(make_room(held->db, token->id, err));
    HUB_TRY(insert(held->db, &session, token, err));
    return commit(held->db, actor, "session-begin", &session, err);
}

enum hub_status hub_session_end(struct hub_truth *truth, const struct hub_token *session,
                                const struct hub_access_actor *actor, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(hub_db_prepare(held->db, "DELETE FROM tokens WHERE id = ?1 AND session_of <> ''", &stmt, err));
    hub_stmt_bind_text(stmt, 1, session->id);
    HUB_TRY(hub_stmt_run(stmt, err));
    return commit(held->db, actor, "session-end", session, err);
}

enum hub_status hub_truth_make_link_key(struct hub_truth *truth, struct hub_error *err)
{
    struct hub_stmt *stmt;
    uint8_t key[HUB_LINK_KEY];
    HUB_TRY(hub_secret_make(key, sizeof key, err));
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(hub_db_prepare(held->db, "INSERT OR IGNORE INTO secrets (name, value) VALUES ('links', ?1)",
                           &stmt, err));
    hub_stmt_bind_blob(stmt, 1, key, sizeof key);
    HUB_TRY(hub_stmt_run(stmt, err));
    explicit_bzero(key, sizeof key);
    return hub_db_commit(held->db, err);
}
