/* Access rules in hub.db: see access_rules.h. */
#include "storage/truth/access_rules.h"

#include "storage/text/json.h"
#include "storage/truth/audit.h"
#include "storage/truth/hubdb.h"

#include <stdio.h>

/* The rule in its one text. Dispose the result. */
static enum hub_status normalize(const struct hub_access_rule *rule, struct hub_access_rules *out,
                                 struct hub_error *err)
{
    return hub_access_rules_add(out, rule, err);
}

static enum hub_status check_declared(const struct hub_access_actor *actor,
                                      const struct hub_access_rule *rule, struct hub_error *err)
{
    for (uint32_t i = 0; actor->declared && i < actor->declared->rules.count; i++) {
        const struct hub_access_rule *declared = &actor->declared->rules.items[i];
        if (strcmp(declared->who, rule->who) == 0 && strcmp(declared->prefix, rule->prefix) == 0)
            return hub_fail(err, HUB_EXISTS,
                            "the configuration declares '%.80s %s %.80s', which wins: change it there",
                            rule->who, hub_level_names[declared->level], rule->prefix);
    }
    return HUB_OK;
}

/* What the audit says of a change: "* lab/", {"level": "none", "was": "read"}. */
struct rule_audit {
    struct hub_buf object, detail;
};

static void rule_audit_dispose(struct rule_audit *audit)
{
    hub_buf_dispose(&audit->object);
    hub_buf_dispose(&audit->detail);
}

static enum hub_status describe(const struct hub_access_rule *rule, const char *level, const char *was,
                                struct rule_audit *out, struct hub_error *err)
{
    out->object = out->detail = HUB_BUF_INIT(16 * KIB);
    HUB_TRY(hub_buf_addf(&out->object, err, "%s %s", rule->who, rule->prefix));
    struct hub_json json = hub_json_to(&out->detail, err);
    hub_json_object(&json);
    hub_json_put_text(&json, "who", rule->who);
    hub_json_put_text(&json, "prefix", rule->prefix);
    hub_json_put_text(&json, "level", level);
    hub_json_put_text(&json, "was", was);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

/* The level before, or NULL: there is no rule. */
static enum hub_status find_level(struct hub_db *db, const struct hub_access_rule *rule, const char **out,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    enum hub_level level;
    bool row = false;
    HUB_TRY(hub_db_prepare(db, "SELECT level FROM access_rules WHERE who = ?1 AND prefix = ?2", &stmt, err));
    hub_stmt_bind_text(stmt, 1, rule->who);
    hub_stmt_bind_text(stmt, 2, rule->prefix);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    *out = row && hub_level_read(hub_stmt_view(stmt, 0), &level) ? hub_level_names[level] : NULL;
    return HUB_OK;
}

static enum hub_status commit(struct hub_db *db, const struct hub_access_actor *actor, const char *action,
                              const struct rule_audit *text, struct hub_error *err)
{
    return hub_access_commit(
        db, actor->declared,
        &(struct hub_audit){
            .who = actor->who, .action = action, .object = text->object.data, .detail = text->detail.data},
        err);
}

enum hub_status hub_access_rule_put(struct hub_db *db, const struct hub_access_rule *rule,
                                    struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(
        hub_db_prepare(db,
                       "INSERT INTO access_rules (who, prefix, level, made) VALUES (?1, ?2, ?3, " HUB_DB_NOW
                       ") ON CONFLICT (who, prefix) DO UPDATE SET level = excluded.level, made = "
                       "excluded.made",
                       &stmt, err));
    hub_stmt_bind_text(stmt, 1, rule->who);
    hub_stmt_bind_text(stmt, 2, rule->prefix);
    hub_stmt_bind_text(stmt, 3, hub_level_names[rule->level]);
    return hub_stmt_run(stmt, err);
}

enum hub_status hub_access_rule_set(struct hub_truth *truth, const struct hub_access_rule *rule,
                                    const struct hub_access_actor *actor, struct hub_error *err)
{
    HUB_CLEANUP(hub_access_rules_dispose) struct hub_access_rules one = {0};
    HUB_CLEANUP(rule_audit_dispose) struct rule_audit text = {0};
    const char *was;
    HUB_TRY(normalize(rule, &one, err));
    HUB_TRY(check_declared(actor, one.items, err));
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(find_level(held->db, one.items, &was, err));
    HUB_TRY(hub_access_rule_put(held->db, one.items, err));
    HUB_TRY(describe(one.items, hub_level_names[rule->level], was, &text, err));
    return commit(held->db, actor, "access-set", &text, err);
}

enum hub_status hub_access_rule_unset(struct hub_truth *truth, const char *who, const char *prefix,
                                      const struct hub_access_actor *actor, struct hub_error *err)
{
    HUB_CLEANUP(hub_access_rules_dispose) struct hub_access_rules one = {0};
    HUB_CLEANUP(rule_audit_dispose) struct rule_audit text = {0};
    struct hub_stmt *stmt;
    const char *was;
    HUB_TRY(normalize(&(struct hub_access_rule){.who = who, .prefix = prefix}, &one, err));
    HUB_TRY(check_declared(actor, one.items, err));
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(find_level(held->db, one.items, &was, err));
    if (!was)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_RULE_NOT_FOUND,
                           "there is no rule of %.80s for '%.80s'; `minari-hub access list` shows all",
                           one.items->who, one.items->prefix);
    HUB_TRY(hub_db_prepare(held->db, "DELETE FROM access_rules WHERE who = ?1 AND prefix = ?2", &stmt, err));
    hub_stmt_bind_text(stmt, 1, one.items->who);
    hub_stmt_bind_text(stmt, 2, one.items->prefix);
    HUB_TRY(hub_stmt_run(stmt, err));
    HUB_TRY(describe(one.items, NULL, was, &text, err));
    return commit(held->db, actor, "access-unset", &text, err);
}
