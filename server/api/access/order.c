/* Changes of tokens and rules: see order.h. */
#include "server/api/access/order.h"

#include "server/api/access/document.h"
#include "storage/text/options.h"
#include "storage/text/time.h"

#include <stdio.h>

enum { TOKEN_RULES = 3 * HUB_ORDER_WORDS + 1 };

enum hub_status hub_order_add(struct hub_order_words *words, const char *word, struct hub_error *err)
{
    if (words->count == HUB_ORDER_WORDS)
        return hub_fail(err, HUB_TOO_BIG, "at most %d values may be given of one option", HUB_ORDER_WORDS);
    words->items[words->count++] = word;
    return HUB_OK;
}

/* ---- values ---- */

enum hub_status hub_order_time(const char *parameter, const char *text, uint64_t *out, struct hub_error *err)
{
    const struct hub_usage_option row = {
        0, parameter, "TIME", NULL, NULL, HUB_OPTION_DURATION, 0, NULL, 0, 36500 * 86400000ULL};
    struct hub_error why = {0};
    if (!hub_option_set(&row, text, out, &why))
        return HUB_OK;
    return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_PARAMETER, parameter, text, "%s", why.detail);
}

enum hub_status hub_order_since(const char *parameter, const char *text, int64_t *out, struct hub_error *err)
{
    int64_t ns = 0;
    uint64_t ago_ms = 0;
    if (hub_time_parse_rfc3339(hub_view_of(text), &ns)) {
        *out = ns / 1000000;
        return HUB_OK;
    }
    if (hub_order_time(parameter, text, &ago_ms, NULL))
        return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_PARAMETER, parameter, text,
                              "%s \"%.60s\": write how long ago, as in 7d, or a time as 2026-11-20T19:00:00Z",
                              parameter, text);
    *out = hub_time_now_ns() / 1000000 - (int64_t)ago_ms;
    return HUB_OK;
}

static enum hub_status require(const char *text, const char *parameter, struct hub_error *err)
{
    return text ? HUB_OK
                : hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_PARAMETER, parameter, "", "%s is missing",
                                 parameter);
}

/* ---- tokens ---- */

static void add_rules(const struct hub_order_words *prefixes, enum hub_level level,
                      struct hub_access_rule rules[TOKEN_RULES], uint32_t *count)
{
    for (uint32_t i = 0; i < prefixes->count; i++)
        rules[(*count)++] = (struct hub_access_rule){.prefix = prefixes->items[i], .level = level};
}

/* The one that is not rotated; NULL: it is gone already. */
static const struct hub_token *find_token(const struct hub_access_table *table, const char *name)
{
    uint32_t count;
    const struct hub_token *tokens = hub_access_tokens_of(table, &count);
    for (uint32_t i = 0; i < count; i++)
        if (!tokens[i].rotated && strcmp(tokens[i].name, name) == 0)
            return &tokens[i];
    return NULL;
}

/* The text of a new token, this one time, and what is known of it. */
static enum hub_status write_token(struct hub_truth *truth, const char *name,
                                   const struct hub_access_actor *actor, const char *text,
                                   struct hub_json *json, struct hub_error *err)
{
    struct hub_access_table *table = NULL;
    HUB_TRY(hub_truth_access_load(truth, actor->declared, &table, err));
    const struct hub_token *token = find_token(table, name);
    hub_json_object(json);
    hub_json_put_text(json, "token", text);
    if (token)
        hub_token_members(json, table, token);
    hub_json_end_object(json);
    hub_access_put(table);
    return hub_json_status(json);
}

static enum hub_status add_token(struct hub_truth *truth, const struct hub_access_order *order,
                                 const struct hub_access_actor *actor, char text[HUB_TOKEN_TEXT + 1],
                                 struct hub_error *err)
{
    struct hub_access_rule rules[TOKEN_RULES];
    struct hub_token_draft draft = {.name = order->name,
                                    .networks = order->from.items,
                                    .network_count = order->from.count,
                                    .rules = rules};
    uint64_t lives_ms = 0;
    /* the last of one prefix counts: the highest level */
    add_rules(&order->read, HUB_LEVEL_READ, rules, &draft.rule_count);
    add_rules(&order->label, HUB_LEVEL_LABEL, rules, &draft.rule_count);
    add_rules(&order->write, HUB_LEVEL_WRITE, rules, &draft.rule_count);
    if (order->admin)
        rules[draft.rule_count++] = (struct hub_access_rule){.prefix = "", .level = HUB_LEVEL_ADMIN};
    if (order->expires) {
        HUB_TRY(hub_order_time("expires", order->expires, &lives_ms, err));
        draft.expires_ms = hub_time_now_ns() / 1000000 + (int64_t)lives_ms;
    }
    return hub_token_add(truth, &draft, actor, text, err);
}

static enum hub_status make_token(struct hub_truth *truth, const struct hub_access_order *order,
                                  const struct hub_access_actor *actor, struct hub_json *json,
                                  struct hub_error *err)
{
    char text[HUB_TOKEN_TEXT + 1] = "";
    uint64_t overlap_ms = 0;
    HUB_TRY(require(order->name, "name", err));
    if (order->overlap)
        HUB_TRY(hub_order_time("overlap", order->overlap, &overlap_ms, err));
    enum hub_status st = order->action == HUB_ORDER_TOKEN_ADD
                             ? add_token(truth, order, actor, text, err)
                             : hub_token_rotate(truth, order->name, overlap_ms, actor, text, err);
    if (!st)
        st = write_token(truth, order->name, actor, text, json, err);
    explicit_bzero(text, sizeof text);
    return st;
}

static enum hub_status revoke_token(struct hub_truth *truth, const struct hub_access_order *order,
                                    const struct hub_access_actor *actor, struct hub_json *json,
                                    struct hub_error *err)
{
    HUB_TRY(require(order->name, "name", err));
    HUB_TRY(hub_token_revoke(truth, order->name, actor, err));
    hub_json_object(json);
    hub_json_put_text(json, "revoked", order->name);
    hub_json_end_object(json);
    return hub_json_status(json);
}

/* ---- rules ---- */

static enum hub_status read_rule(const struct hub_access_order *order, struct hub_access_rules *out,
                                 struct hub_error *err)
{
    struct hub_access_rule rule = {.who = order->who, .prefix = order->prefix};
    HUB_TRY(require(order->who, "who", err));
    HUB_TRY(require(order->prefix, "prefix", err));
    if (order->action == HUB_ORDER_SET) {
        HUB_TRY(require(order->level, "level", err));
        if (!hub_level_read(hub_view_of(order->level), &rule.level))
            return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_PARAMETER, "level", order->level,
                                  "\"%.60s\" is not a level: use none, read, label, write or admin",
                                  order->level);
    }
    return hub_access_rules_add(out, &rule, err);
}

static enum hub_status change_rule(struct hub_truth *truth, const struct hub_access_order *order,
                                   const struct hub_access_actor *actor, struct hub_json *json,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_access_rules_dispose) struct hub_access_rules one = {0};
    HUB_TRY(read_rule(order, &one, err));
    const struct hub_access_rule *rule = one.items;
    if (order->action == HUB_ORDER_SET) {
        HUB_TRY(hub_access_rule_set(truth, rule, actor, err));
        hub_access_rule_write(json, rule);
        return hub_json_status(json);
    }
    HUB_TRY(hub_access_rule_unset(truth, rule->who, rule->prefix, actor, err));
    hub_json_object(json);
    hub_json_put_object(json, "unset");
    hub_json_put_text(json, "who", rule->who);
    hub_json_put_text(json, "prefix", rule->prefix);
    hub_json_end_object(json);
    hub_json_end_object(json);
    return hub_json_status(json);
}

/* ---- all ---- */

static void write_note(const struct hub_access_order *order, char note[HUB_ORDER_NOTE])
{
    switch (order->action) {
    case HUB_ORDER_TOKEN_ADD:
        snprintf(note, HUB_ORDER_NOTE, "token-add %s%s", order->name, order->admin ? " (admin)" : "");
        break;
    case HUB_ORDER_TOKEN_ROTATE:
        snprintf(note, HUB_ORDER_NOTE, "token-rotate %s", order->name);
        break;
    case HUB_ORDER_TOKEN_REVOKE:
        snprintf(note, HUB_ORDER_NOTE, "token-revoke %s", order->name);
        break;
    case HUB_ORDER_SET:
        snprintf(note, HUB_ORDER_NOTE, "access-set %s %s '%.150s'", order->who, order->level, order->prefix);
        break;
    case HUB_ORDER_UNSET:
        snprintf(note, HUB_ORDER_NOTE, "access-unset %s '%.150s'", order->who, order->prefix);
        break;
    }
    hub_utf8_clean(note, strlen(note));
}

enum hub_status hub_access_obey(struct hub_truth *truth, const struct hub_access_order *order,
                                const struct hub_access_actor *actor, struct hub_json *json,
                                char note[HUB_ORDER_NOTE], struct hub_error *err)
{
    note[0] = '\0';
    switch (order->action) {
    case HUB_ORDER_TOKEN_ADD:
    case HUB_ORDER_TOKEN_ROTATE:
        HUB_TRY(make_token(truth, order, actor, json, err));
        break;
    case HUB_ORDER_TOKEN_REVOKE:
        HUB_TRY(revoke_token(truth, order, actor, json, err));
        break;
    case HUB_ORDER_SET:
    case HUB_ORDER_UNSET:
        HUB_TRY(change_rule(truth, order, actor, json, err));
        break;
    }
    write_note(order, note);
    return HUB_OK;
}
