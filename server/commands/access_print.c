/* Lines of tokens, rules and the audit: see access_print.h. */
#include "server/commands/access_print.h"

#include "storage/text/number.h"

#include <stdio.h>

enum { LINE = 4096 };

static const char *text(const json_t *of, const char *key)
{
    const char *value = json_string_value(json_object_get(of, key));
    return value ? value : "";
}

/* A line, safe for a terminal. */
static void put_line(FILE *out, char line[LINE])
{
    hub_utf8_clean(line, strlen(line));
    fprintf(out, "%s\n", line);
}

static const char *or_dash(const char *value)
{
    return *value ? value : "-";
}

/* "read lab/, write lab/ann/": one after another, cut where there is no more room. */
static void rules_text(const json_t *rules, char *out, size_t size)
{
    size_t i, used = 0;
    const json_t *rule;
    *out = '\0';
    json_array_foreach(rules, i, rule)
    {
        const int n = snprintf(out + used, size - used, "%s%s '%s'", i ? ", " : "", text(rule, "level"),
                               text(rule, "prefix"));
        used = n > 0 && (size_t)n < size - used ? used + (size_t)n : used;
    }
}

static void networks_text(const json_t *networks, char *out, size_t size)
{
    size_t i, used = 0;
    const json_t *network;
    snprintf(out, size, "anywhere");
    json_array_foreach(networks, i, network)
    {
        const int n = snprintf(out + used, size - used, "%s%s", i ? "," : "", json_string_value(network));
        used = n > 0 && (size_t)n < size - used ? used + (size_t)n : used;
    }
}

/* A column that is not a time has the width of one. */
static void print_token(const json_t *token)
{
    char line[LINE], rules[LINE / 2], networks[LINE / 4];
    rules_text(json_object_get(token, "rules"), rules, sizeof rules);
    networks_text(json_object_get(token, "from"), networks, sizeof networks);
    snprintf(line, sizeof line, "%-20s %-8s expires %.10s, used %.16s, from %s: %s%s", text(token, "name"),
             text(token, "state"), *text(token, "expires") ? text(token, "expires") : "never",
             *text(token, "used") ? text(token, "used") : "never", networks, *rules ? rules : "no rule",
             json_is_true(json_object_get(token, "declared")) ? " (declared)" : "");
    put_line(stdout, line);
}

static void print_rule(const json_t *rule)
{
    char line[LINE];
    snprintf(line, sizeof line, "%-24s %-6s '%s'%s", text(rule, "who"), text(rule, "level"),
             text(rule, "prefix"), json_is_true(json_object_get(rule, "declared")) ? " (declared)" : "");
    put_line(stdout, line);
}

static void print_audit(const json_t *row)
{
    HUB_CLEANUP(hub_freep) char *detail = json_dumps(json_object_get(row, "detail"), JSON_COMPACT);
    char line[LINE];
    snprintf(line, sizeof line, "%s %s %s %s %s", text(row, "at"), text(row, "who"), text(row, "action"),
             or_dash(text(row, "object")), detail ? detail : "");
    put_line(stdout, line);
}

static void print_decision(const json_t *answer)
{
    const json_t *rule = json_object_get(answer, "rule");
    const char *why = text(answer, "why");
    char line[LINE];
    if (strcmp(why, "default") == 0)
        snprintf(line, sizeof line, "%s: no rule matches", text(answer, "level"));
    else
        snprintf(line, sizeof line, "%s: by the rule %s %s '%s'%s%s", text(answer, "level"),
                 text(rule, "who"), text(rule, "level"), text(rule, "prefix"),
                 json_is_true(json_object_get(rule, "declared")) ? " (declared)" : "",
                 strcmp(why, "hub-admin") == 0 ? ", from an admin of the hub nothing is hidden" : "");
    put_line(stdout, line);
}

static void print_list(const struct hub_access_ask *ask, const json_t *answer)
{
    static const char *const none[] = {[HUB_LIST_TOKENS] =
                                           "there are no tokens; `minari-hub token add NAME` makes one",
                                       [HUB_LIST_RULES] = "there are no rules: everybody may read everything",
                                       [HUB_LIST_AUDIT] = "nothing was changed"};
    const json_t *items = json_object_get(answer, "items"), *item;
    size_t i;
    if (ask->list == HUB_LIST_DECISION) {
        print_decision(answer);
        return;
    }
    json_array_foreach(items, i, item)
    {
        if (ask->list == HUB_LIST_TOKENS)
            print_token(item);
        else if (ask->list == HUB_LIST_RULES)
            print_rule(item);
        else
            print_audit(item);
    }
    if (!json_array_size(items))
        fprintf(stderr, "%s\n", none[ask->list]);
}

static void print_change(const struct hub_access_order *order, const json_t *answer)
{
    char line[LINE], rules[LINE / 2];
    switch (order->action) {
    case HUB_ORDER_TOKEN_ADD:
    case HUB_ORDER_TOKEN_ROTATE:
        printf("%s\n", text(answer, "token"));
        rules_text(json_object_get(answer, "rules"), rules, sizeof rules);
        snprintf(line, sizeof line, "keep it now: it is not shown again. Its rules: %s",
                 *rules ? rules : "none, so that it may do what signed-in may");
        break;
    case HUB_ORDER_TOKEN_REVOKE:
        snprintf(line, sizeof line, "%s is revoked, and its rules are removed", order->name);
        break;
    case HUB_ORDER_SET:
        snprintf(line, sizeof line, "set: %s %s '%s'", text(answer, "who"), text(answer, "level"),
                 text(answer, "prefix"));
        break;
    case HUB_ORDER_UNSET:
        snprintf(line, sizeof line, "unset: %s '%s'", order->who, order->prefix);
        break;
    }
    put_line(stderr, line);
}

int hub_access_print(const struct hub_access_ask *ask, bool as_json, const json_t *answer)
{
    const json_t *items = json_object_get(answer, "items");
    if (as_json)
        return json_dumpf(items ? items : answer, stdout, JSON_INDENT(2)) || putchar('\n') == EOF ||
               fflush(stdout);
    if (ask->list)
        print_list(ask, answer);
    else
        print_change(&ask->order, answer);
    return fflush(stdout);
}
