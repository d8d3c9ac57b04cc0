/* What a hub gives to whom: see given.h. */
#include "server/api/operations/given.h"

#include "server/http/server.h"
#include "storage/text/number.h"

#include <stdarg.h>
#include <stdio.h>

enum { NAMED = 3 }; /* prefixes of a list */

struct sentence {
    char *out; /* HUB_GIVEN_CHARS */
    const struct hub_access_rule *rules;
    uint32_t rule_count;
};

static void say(const struct sentence *s, const char *fmt, ...) HUB_PRINTF(2, 3);

static void say(const struct sentence *s, const char *fmt, ...)
{
    const size_t used = strlen(s->out);
    va_list args;
    va_start(args, fmt);
    vsnprintf(s->out + used, HUB_GIVEN_CHARS - used, fmt, args);
    va_end(args);
}

/* The level of a WHO for all datasets, if a rule states it. */
static bool level_of_all(const struct sentence *s, const char *who, enum hub_level *out)
{
    for (uint32_t i = 0; i < s->rule_count; i++) {
        if (*s->rules[i].prefix || strcmp(s->rules[i].who, who) != 0)
            continue;
        *out = s->rules[i].level;
        return true;
    }
    return false;
}

/* "LEAD lab/a/, lab/b/, lab/c/ and 2 more", or nothing. */
static bool say_prefixes(const struct sentence *s, const char *who, enum hub_level level, const char *lead)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->rule_count; i++) {
        const struct hub_access_rule *rule = &s->rules[i];
        if (!*rule->prefix || rule->level != level || strcmp(rule->who, who) != 0)
            continue;
        if (count < NAMED)
            say(s, "%s %.200s", count ? "," : lead, rule->prefix);
        count++;
    }
    if (count > NAMED)
        say(s, " and %u more", count - NAMED);
    return count > 0;
}

/* ", but nothing of lab/ and write lab/inbox/".
 * @param stated  it is said what they may do elsewhere, which is `base` */
static void say_parts(const struct sentence *s, const char *who, enum hub_level base, bool stated)
{
    static const char *const verbs[] = {"nothing of", "read", "label", "write", "administer"};
    bool any = false;
    const bool closed = stated && base == HUB_LEVEL_NONE; /* what is open is said first */
    for (unsigned i = 0; i < HUB_COUNT(verbs); i++) {
        char words[40];
        const enum hub_level level = (enum hub_level)((i + closed) % HUB_COUNT(verbs));
        const char *joint = !stated && !any                             ? ""
                            : level < base || (closed && !level && any) ? ", but "
                                                                        : " and ";
        if (closed && level == HUB_LEVEL_READ)
            snprintf(words, sizeof words, " but"); /* "read nothing but lab/open/" */
        else
            snprintf(words, sizeof words, "%s%s", joint, verbs[level]);
        any |= say_prefixes(s, who, level, words);
    }
}

static const char *const of_all[] = {"read nothing", "read everything", "read and label everything",
                                     "read and write everything", "do everything"};

static void say_everybody(const struct sentence *s, const struct hub_app *app)
{
    const bool six = strchr(app->address, ':');
    enum hub_level base = HUB_LEVEL_READ;
    (void)level_of_all(s, "*", &base);
    say(s, "everybody who reaches %s%.100s%s:%u may %s", six ? "[" : "", app->address, six ? "]" : "",
        hub_http_port(app->http), of_all[base]);
    say_parts(s, "*", base, true);
}

static void say_signed_in(const struct sentence *s)
{
    enum hub_level base = HUB_LEVEL_READ;
    const size_t before = strlen(s->out);
    say(s, "; who is signed in may ");
    const size_t begun = strlen(s->out);
    const bool stated = level_of_all(s, "signed-in", &base);
    if (stated)
        say(s, "%s", of_all[base]);
    say_parts(s, "signed-in", base, stated);
    if (strlen(s->out) == begun)
        s->out[before] = '\0'; /* no rule is about them */
}

static bool anybody_writes(const struct sentence *s)
{
    for (uint32_t i = 0; i < s->rule_count; i++)
        if (s->rules[i].level >= HUB_LEVEL_WRITE)
            return true;
    return false;
}

bool hub_access_beyond_loopback(const struct hub_app *app)
{
    return app->address && strncmp(app->address, "127.", 4) != 0 && strcmp(app->address, "::1") != 0;
}

/* Tokens without the sessions that they began. */
static uint32_t count_tokens(const struct hub_access_table *table)
{
    uint32_t all, count = 0;
    const struct hub_token *tokens = hub_access_tokens_of(table, &all);
    for (uint32_t i = 0; i < all; i++)
        count += !tokens[i].session_of[0];
    return count;
}

void hub_access_given(const struct hub_app *app, const struct hub_access_table *table,
                      char out[HUB_GIVEN_CHARS])
{
    struct sentence s = {.out = out};
    uint32_t tokens = 0;
    *out = '\0';
    if (table) {
        s.rules = hub_access_rules_of(table, &s.rule_count);
        tokens = count_tokens(table);
    }
    if (!app->address) {
        say(&s, "only the control socket answers");
    } else {
        say_everybody(&s, app);
        say_signed_in(&s);
        if (!anybody_writes(&s))
            say(&s, "; nobody may write");
    }
    if (s.rule_count || tokens)
        say(&s, "; %u rule%s, %u token%s", s.rule_count, hub_plural(s.rule_count), tokens,
            hub_plural(tokens));
}

void hub_access_given_put(struct hub_json *json, const struct hub_app *app,
                          const struct hub_access_table *table, bool names)
{
    char text[HUB_GIVEN_CHARS];
    uint32_t rules = 0, tokens = 0;
    if (table) {
        (void)hub_access_rules_of(table, &rules);
        tokens = count_tokens(table);
    }
    hub_json_put_object(json, "access");
    hub_json_put_bool(json, "beyond_loopback", hub_access_beyond_loopback(app));
    hub_json_put_bool(json, "hides", table && hub_access_hides(table));
    hub_json_put_uint(json, "rules", rules);
    hub_json_put_uint(json, "tokens", tokens);
    if (names) {
        hub_access_given(app, table, text);
        hub_json_put_text(json, "text", text);
    }
    hub_json_end_object(json);
}
