/* `minari-hub token`, `access` and `audit`: see access_command.h. */
#include "server/commands/access_command.h"

#include "server/commands/access_ask.h"
#include "server/commands/access_print.h"
#include "server/commands/admin.h"
#include "server/commands/command.h"

#include <stdio.h>
#include <string.h>

struct access_command {
    const char *name;     /* "token", "access", "audit" */
    const char *words[4]; /* the action and its arguments */
    unsigned word_count;
    struct hub_access_ask ask;
    bool json;
};

#define LIST(member) HUB_OPTION_AT(LIST, struct access_command, ask.order.member)
#define TEXT(member) HUB_OPTION_AT(TEXT, struct access_command, member)

const struct hub_usage_option hub_token_rows[HUB_TOKEN_OPTIONS] = {
    {0, "read", "PREFIX", NULL,
     "for add: it may read the ids with this prefix, as the rule token:NAME read PREFIX; may be given "
     "several times",
     LIST(read)},
    {0, "label", "PREFIX", NULL, "for add: it may also label their episodes", LIST(label)},
    {0, "write", "PREFIX", NULL, "for add: it may also publish and remove datasets there", LIST(write)},
    {0, "admin", NULL, NULL, "for add: it may do all that the admin of this machine may",
     TEXT(ask.order.admin)},
    {0, "expires", "TIME", NULL, "for add: how long it is good, such as 90d; default: until it is revoked",
     TEXT(ask.order.expires)},
    {0, "from", "CIDR", NULL,
     "for add: it is good in this network alone, such as 10.0.0.0/8; may be given several times", LIST(from)},
    {0, "overlap", "TIME", NULL, "for rotate: how long the secret before it is good yet, such as 1h (0)",
     TEXT(ask.order.overlap)},
    {0, "json", NULL, NULL, "print JSON", TEXT(json)},
};

const struct hub_usage_option hub_access_rows[HUB_ACCESS_OPTIONS] = {
    {0, "json", NULL, NULL, "print JSON", TEXT(json)}};

const struct hub_usage_option hub_audit_rows[HUB_AUDIT_OPTIONS] = {
    {0, "since", "TIME", NULL, "only changes since then: how long ago, as 7d, or 2026-11-20T19:00:00Z",
     TEXT(ask.since)},
    {0, "json", NULL, NULL, "print JSON", TEXT(json)}};

/* ---- reading ---- */

static enum hub_status take_word(void *user, const char *word, struct hub_error *err)
{
    struct access_command *c = user;
    if (c->word_count == HUB_COUNT(c->words))
        return hub_fail(err, HUB_INVALID, "\"%.80s\" is an extra argument", word);
    c->words[c->word_count++] = word;
    return HUB_OK;
}

static enum hub_status set_option(void *user, const struct hub_usage_option *option, const char *value,
                                  struct hub_error *err)
{
    char *at = (char *)user + option->offset;
    if (option->kind == HUB_OPTION_LIST)
        return hub_order_add((struct hub_order_words *)(void *)at, value, err);
    return hub_option_set(option, value, user, err);
}

/* An action of a command, with the arguments behind it. */
struct access_action {
    const char *name, *arguments;
    unsigned count;
    enum hub_access_list_kind list;
    enum hub_order_action order;
};

static const struct access_action token_actions[] = {
    {"add", "NAME", 1, HUB_LIST_NONE, HUB_ORDER_TOKEN_ADD},
    {"list", "", 0, HUB_LIST_TOKENS, 0},
    {"revoke", "NAME", 1, HUB_LIST_NONE, HUB_ORDER_TOKEN_REVOKE},
    {"rotate", "NAME", 1, HUB_LIST_NONE, HUB_ORDER_TOKEN_ROTATE},
};
static const struct access_action access_actions[] = {
    {"set", "WHO LEVEL PREFIX", 3, HUB_LIST_NONE, HUB_ORDER_SET},
    {"unset", "WHO PREFIX", 2, HUB_LIST_NONE, HUB_ORDER_UNSET},
    {"list", "", 0, HUB_LIST_RULES, 0},
    {"explain", "WHO ID", 2, HUB_LIST_DECISION, 0},
};

static enum hub_status find_action(struct access_command *c, const struct access_action *actions,
                                   size_t count, const struct access_action **out, struct hub_error *err)
{
    char names[80] = "";
    for (size_t i = 0; i < count; i++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", actions[i].name);
        if (c->word_count && strcmp(c->words[0], actions[i].name) == 0)
            *out = &actions[i];
    }
    if (!*out)
        return hub_fail(err, HUB_INVALID, "%s: name a command: %s", c->name, names);
    if (c->word_count - 1 == (*out)->count)
        return HUB_OK;
    return hub_fail(err, HUB_INVALID, "%s %s %s%s%s", c->name, (*out)->name,
                    (*out)->count ? "needs " : "takes no argument", (*out)->arguments,
                    strstr((*out)->arguments, "PREFIX") ? " (an empty PREFIX, '', is all datasets)" : "");
}

/* Options that belong to another action. */
static enum hub_status check_options(const struct access_command *c, const struct access_action *action,
                                     struct hub_error *err)
{
    const struct hub_access_order *o = &c->ask.order;
    const bool adds = action == &token_actions[0], rotates = action == &token_actions[3];
    if (!adds &&
        (o->read.count || o->label.count || o->write.count || o->from.count || o->admin || o->expires))
        return hub_fail(err, HUB_INVALID,
                        "--read, --label, --write, --admin, --expires and --from are for `token add`");
    if (!rotates && o->overlap)
        return hub_fail(err, HUB_INVALID, "--overlap is for `token rotate`");
    return HUB_OK;
}

static enum hub_status check_token(void *user, struct hub_error *err)
{
    struct access_command *c = user;
    const struct access_action *action = NULL;
    HUB_TRY(find_action(c, token_actions, HUB_COUNT(token_actions), &action, err));
    c->ask.list = action->list;
    c->ask.order.action = action->order;
    c->ask.order.name = c->words[1];
    return check_options(c, action, err);
}

static enum hub_status check_access(void *user, struct hub_error *err)
{
    struct access_command *c = user;
    const struct access_action *action = NULL;
    HUB_TRY(find_action(c, access_actions, HUB_COUNT(access_actions), &action, err));
    c->ask.list = action->list;
    c->ask.order.action = action->order;
    c->ask.order.who = c->words[1];
    if (action->list == HUB_LIST_DECISION)
        c->ask.order.name = c->words[2];
    else if (action->order == HUB_ORDER_SET)
        c->ask.order.level = c->words[2];
    if (!action->list)
        c->ask.order.prefix = c->words[action->count];
    return HUB_OK;
}

/* ---- the commands ---- */

static int run(void *user, struct hub_config *config)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *answer = NULL;
    const struct access_command *c = user;
    struct hub_error err = {0};
    const enum hub_status st = hub_access_ask(&c->ask, config, &answer, &err);
    if (st)
        fprintf(stderr, "minari-hub: %s\n", err.detail);
    return st ? hub_command_code(st) : hub_access_print(&c->ask, c->json, answer) ? HUB_EXIT_FAILED : 0;
}

static int run_command(struct access_command *c, struct hub_options options,
                       enum hub_status (*check)(void *user, struct hub_error *err), char **argv)
{
    return hub_command_run(&(struct hub_command){.options = options,
                                                 .set = set_option,
                                                 .word = check ? take_word : NULL,
                                                 .check = check,
                                                 .run = run,
                                                 .user = c},
                           argv);
}

int hub_token_command(char **argv)
{
    struct access_command c = {.name = "token"};
    return run_command(&c, HUB_OPTIONS(hub_token_rows), check_token, argv);
}

int hub_access_command(char **argv)
{
    struct access_command c = {.name = "access"};
    return run_command(&c, HUB_OPTIONS(hub_access_rows), check_access, argv);
}

int hub_audit_command(char **argv)
{
    struct access_command c = {.name = "audit", .ask.list = HUB_LIST_AUDIT};
    return run_command(&c, HUB_OPTIONS(hub_audit_rows), NULL, argv);
}
