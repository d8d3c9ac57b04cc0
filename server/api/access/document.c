/* Tokens, rules and the audit as documents: see document.h. */
#include "server/api/access/document.h"

#include "storage/ids/id.h"
#include "storage/text/time.h"

#include <stdlib.h>

static void put_ms(struct hub_json *json, const char *key, int64_t unix_ms)
{
    char text[HUB_TIME_CHARS];
    if (unix_ms <= 0)
        return;
    hub_time_rfc3339_ms(unix_ms, text);
    hub_json_put_text(json, key, text);
}

/* ---- tokens ---- */

static void put_rules(struct hub_json *json, const struct hub_access_table *table, const char *name)
{
    uint32_t count;
    const struct hub_access_rule *rules = hub_access_rules_of(table, &count);
    hub_json_put_array(json, "rules");
    for (uint32_t i = 0; i < count; i++)
        if (hub_view_starts(hub_view_of(rules[i].who), "token:") && strcmp(rules[i].who + 6, name) == 0)
            hub_access_rule_write(json, &rules[i]);
    hub_json_end_array(json);
}

void hub_token_members(struct hub_json *json, const struct hub_access_table *table,
                       const struct hub_token *token)
{
    const int64_t now_ms = hub_time_now_ns() / 1000000;
    char network[HUB_CIDR_CHARS];
    hub_json_put_text(json, "name", token->name);
    hub_json_put_text(json, "id", token->id);
    hub_json_put_text(json, "state",
                      token->expires_ms && now_ms >= token->expires_ms ? "expired"
                      : token->session_of[0]                           ? "session"
                      : token->rotated                                 ? "rotated"
                                                                       : "valid");
    put_ms(json, "made", token->made_ms);
    put_ms(json, "expires", token->expires_ms);
    put_ms(json, "used", hub_access_used(table, token));
    hub_json_put_array(json, "from");
    for (uint32_t i = 0; i < token->network_count; i++) {
        hub_cidr_write(&token->networks[i], network);
        hub_json_string(json, hub_view_of(network));
    }
    hub_json_end_array(json);
    hub_json_put_bool(json, "declared", token->from_file);
    put_rules(json, table, token->name);
}

void hub_token_write(struct hub_json *json, const struct hub_access_table *table,
                     const struct hub_token *token)
{
    hub_json_object(json);
    hub_token_members(json, table, token);
    hub_json_end_object(json);
}

/* ---- rules ---- */

void hub_access_rule_write(struct hub_json *json, const struct hub_access_rule *rule)
{
    hub_json_object(json);
    hub_json_put_text(json, "who", rule->who);
    hub_json_put_text(json, "level", hub_level_names[rule->level]);
    hub_json_put_text(json, "prefix", rule->prefix);
    hub_json_put_bool(json, "declared", rule->from_file);
    hub_json_end_object(json);
}

/* An id, or a folder with a slash at its end. */
static enum hub_status check_id(const char *id, struct hub_error *err)
{
    struct hub_view text = hub_view_of(id);
    if (hub_view_ends(text, "/"))
        text.size--;
    return hub_id_check(text, err);
}

/* @param[out] name  keeps a text of the principal */
static enum hub_status principal_of(const char *who, struct hub_principal *out, char **name,
                                    const char **group, struct hub_error *err)
{
    struct hub_who_parts parts;
    HUB_TRY(hub_who_read(hub_view_of(who), &parts, err));
    *name = hub_view_dup(parts.name.data ? parts.name : HUB_VIEW(""));
    HUB_TRY(hub_allocated(*name, err));
    *out = (struct hub_principal){0};
    *group = *name;
    if (parts.kind == HUB_WHO_TOKEN)
        out->token = *name;
    else if (parts.kind == HUB_WHO_USER || parts.kind == HUB_WHO_SIGNED_IN)
        out->user = *name; /* "" is nobody's name */
    out->address.known = parts.kind == HUB_WHO_NETWORK;
    memcpy(out->address.six, parts.network.address, sizeof out->address.six);
    if (parts.kind == HUB_WHO_GROUP) {
        out->user = "";
        out->groups = group;
        out->group_count = 1;
    }
    return HUB_OK;
}

enum hub_status hub_access_explain_write(const struct hub_access_table *table, const char *who,
                                         const char *id, struct hub_json *json, struct hub_error *err)
{
    static const char *const whys[] = {"default", "rule", "hub-admin", "local-admin"};
    HUB_CLEANUP(hub_freep) char *name = NULL;
    struct hub_principal principal;
    const char *group;
    HUB_TRY(principal_of(who, &principal, &name, &group, err));
    HUB_TRY(check_id(id, err));
    const struct hub_access_decision decision = hub_access_explain(table, &principal, hub_view_of(id));
    hub_json_object(json);
    hub_json_put_text(json, "who", who);
    hub_json_put_text(json, "id", id);
    hub_json_put_text(json, "level", hub_level_names[decision.level]);
    hub_json_put_text(json, "why", whys[decision.why]);
    hub_json_key(json, HUB_VIEW("rule"));
    if (decision.rule)
        hub_access_rule_write(json, decision.rule);
    else
        hub_json_null(json);
    hub_json_end_object(json);
    return hub_json_status(json);
}

/* ---- the audit ---- */

void hub_audit_document(struct hub_json *json, const struct hub_audit *audit)
{
    hub_json_object(json);
    hub_json_put_int(json, "id", audit->id);
    put_ms(json, "at", audit->at_ms);
    hub_json_put_text(json, "who", audit->who);
    hub_json_put_text(json, "action", audit->action);
    hub_json_put_text(json, "object", audit->object);
    hub_json_put_raw(json, "detail", hub_view_of(audit->detail));
    if (*audit->revision)
        hub_json_put_text(json, "revision", audit->revision);
    hub_json_end_object(json);
}
