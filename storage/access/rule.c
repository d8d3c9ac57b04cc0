/* Access rules as text: see rule.h. */
#include "storage/access/rule.h"

#include "storage/ids/id.h"
#include "storage/ids/spell.h"
#include "storage/text/utf8.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    enum hub_who kind;
    const char *start;
} starts[] = {
    {HUB_WHO_TOKEN, "token:"}, {HUB_WHO_USER, "user:"}, {HUB_WHO_GROUP, "group:"}, {HUB_WHO_NETWORK, "net:"}};

/* ---- WHO ---- */

enum hub_status hub_token_name_check(struct hub_view name, struct hub_error *err)
{
    bool good = name.size >= 1 && name.size <= HUB_TOKEN_NAME;
    for (size_t i = 0; good && i < name.size; i++) {
        const char c = name.data[i];
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        good = plain || (i > 0 && c && strchr("._-@", c));
    }
    return good ? HUB_OK
                : hub_fail(err, HUB_INVALID,
                           "\"%.*s\" cannot name a token: use 1 to %d letters, digits and the characters . _ "
                           "- @, beginning with a letter or a digit",
                           (int)HUB_MIN(name.size, 80), name.data, HUB_TOKEN_NAME);
}

/* A name that a proxy gives: anything printable without blanks at its ends. */
static enum hub_status check_user(struct hub_view name, struct hub_error *err)
{
    const bool good = name.size >= 1 && name.size <= HUB_USER_NAME && hub_utf8_printable(name) &&
                      name.data[0] != ' ' && name.data[name.size - 1] != ' ';
    return good ? HUB_OK
                : hub_fail(err, HUB_INVALID,
                           "the name of a user or group is 1 to %d bytes of printable text without blanks at "
                           "its ends",
                           HUB_USER_NAME);
}

static enum hub_status read_name(struct hub_who_parts *out, struct hub_error *err)
{
    switch (out->kind) {
    case HUB_WHO_TOKEN:
        return hub_token_name_check(out->name, err);
    case HUB_WHO_NETWORK:
        return hub_cidr_read(out->name, &out->network, err);
    case HUB_WHO_USER:
    case HUB_WHO_GROUP:
        return check_user(out->name, err);
    case HUB_WHO_ALL:
    case HUB_WHO_SIGNED_IN:
        break;
    }
    return HUB_OK;
}

enum hub_status hub_who_read(struct hub_view who, struct hub_who_parts *out, struct hub_error *err)
{
    *out = (struct hub_who_parts){.kind = HUB_WHO_ALL};
    if (hub_view_is(who, "*"))
        return HUB_OK;
    out->kind = HUB_WHO_SIGNED_IN;
    if (hub_view_is(who, "signed-in"))
        return HUB_OK;
    for (size_t i = 0; i < HUB_COUNT(starts); i++)
        if (hub_view_starts(who, starts[i].start)) {
            const size_t size = strlen(starts[i].start);
            out->kind = starts[i].kind;
            out->name = (struct hub_view){who.data + size, who.size - size};
            return read_name(out, err);
        }
    return hub_fail(err, HUB_INVALID,
                    "\"%.*s\" does not say who: use *, signed-in, token:NAME, user:NAME, group:NAME or "
                    "net:CIDR",
                    (int)HUB_MIN(who.size, 80), who.data);
}

void hub_who_write(const struct hub_who_parts *who, char out[HUB_WHO_CHARS])
{
    char network[HUB_CIDR_CHARS];
    if (who->kind == HUB_WHO_ALL || who->kind == HUB_WHO_SIGNED_IN) {
        snprintf(out, HUB_WHO_CHARS, "%s", who->kind == HUB_WHO_ALL ? "*" : "signed-in");
        return;
    }
    for (size_t i = 0; i < HUB_COUNT(starts); i++)
        if (starts[i].kind == who->kind && who->kind == HUB_WHO_NETWORK) {
            hub_cidr_write(&who->network, network);
            snprintf(out, HUB_WHO_CHARS, "net:%s", network);
        } else if (starts[i].kind == who->kind) {
            snprintf(out, HUB_WHO_CHARS, "%s%.*s", starts[i].start, (int)who->name.size, who->name.data);
        }
}

/* ---- PREFIX ---- */

/* Without the slash at its end it is an id; `out` gets it in the hub's spelling, with the slash. */
static enum hub_status spell_prefix(struct hub_view prefix, struct hub_buf *out, struct hub_error *err)
{
    const bool folder = hub_view_ends(prefix, "/");
    struct hub_error why = {0};
    if (prefix.size == 0)
        return hub_buf_add_text(out, "", err);
    enum hub_status st = hub_respell_id((struct hub_view){prefix.data, prefix.size - folder}, out, &why);
    if (!st)
        st = hub_id_check(hub_buf_view(out), &why);
    if (st == HUB_INVALID)
        return hub_fail(
            err, st,
            "\"%.*s\" is not a prefix of ids: use lab/ for all below lab, lab/arm for one name, or "
            "an empty one for all datasets (%.200s)",
            (int)HUB_MIN(prefix.size, 80), prefix.data, why.detail);
    if (st)
        return hub_pass(st, &why, err);
    return folder ? hub_buf_add_text(out, "/", err) : HUB_OK;
}

enum hub_status hub_access_prefix_check(struct hub_view prefix, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(8 * HUB_MAX_ID);
    return spell_prefix(prefix, &text, err);
}

/* ---- rules ---- */

void hub_access_rules_dispose(struct hub_access_rules *rules)
{
    for (uint32_t i = 0; i < rules->count; i++)
        free((char *)rules->items[i].who);
    free(rules->items);
    *rules = (struct hub_access_rules){0};
}

/* Both texts of a rule in one allocation, WHO first. */
static enum hub_status copy_texts(const char *who, const char *prefix, struct hub_access_rule *out,
                                  struct hub_error *err)
{
    const size_t size = strlen(who) + 1, more = strlen(prefix) + 1;
    char *texts = malloc(size + more);
    HUB_TRY(hub_allocated(texts, err));
    memcpy(texts, who, size);
    memcpy(texts + size, prefix, more);
    out->who = texts;
    out->prefix = texts + size;
    return HUB_OK;
}

enum hub_status hub_access_rules_add(struct hub_access_rules *rules, const struct hub_access_rule *rule,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf prefix = HUB_BUF_INIT(8 * HUB_MAX_ID);
    struct hub_access_rule copy = *rule;
    struct hub_who_parts who;
    char text[HUB_WHO_CHARS];
    HUB_TRY(hub_who_read(hub_view_of(rule->who), &who, err));
    if (who.kind == HUB_WHO_ALL && rule->level == HUB_LEVEL_ADMIN)
        return hub_fail(err, HUB_INVALID, "everybody cannot be an admin: name a token, a user or a group");
    HUB_TRY(spell_prefix(hub_view_of(rule->prefix), &prefix, err));
    hub_who_write(&who, text);
    HUB_TRY(hub_grow(&rules->items, rules->count, &rules->capacity, sizeof *rules->items, err));
    HUB_TRY(copy_texts(text, prefix.data, &copy, err));
    rules->items[rules->count++] = copy;
    return HUB_OK;
}

/* The next word of a text, taken off it with the blanks before it. */
static struct hub_view next_word(struct hub_view *text)
{
    while (text->size && strchr(" \t", text->data[0]) && text->data[0])
        *text = (struct hub_view){text->data + 1, text->size - 1};
    size_t size = 0;
    while (size < text->size && text->data[size] != ' ' && text->data[size] != '\t')
        size++;
    const struct hub_view word = {text->data, size};
    *text = (struct hub_view){text->data + size, text->size - size};
    return word;
}

static struct hub_view trimmed(struct hub_view text)
{
    while (text.size && (text.data[0] == ' ' || text.data[0] == '\t'))
        text = (struct hub_view){text.data + 1, text.size - 1};
    while (text.size && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t'))
        text.size--;
    return text;
}

enum hub_status hub_access_rules_read(struct hub_access_rules *rules, struct hub_view line, bool from_file,
                                      struct hub_error *err)
{
    struct hub_access_rule rule = {.from_file = from_file};
    struct hub_view rest = trimmed(line), word = next_word(&rest);
    const char *begin = word.data, *end = begin + word.size; /* of WHO */
    while ((word = next_word(&rest)).size && !hub_level_read(word, &rule.level))
        end = word.data + word.size;
    if (!word.size || memchr(line.data, '\0', line.size))
        return hub_fail(
            err, HUB_INVALID,
            "\"%.*s\" is not a rule: write WHO LEVEL PREFIX, as in `* none lab/`; LEVEL is one of "
            "none, read, label, write and admin",
            (int)HUB_MIN(line.size, 80), line.data);
    HUB_CLEANUP(hub_freep) char *who = hub_view_dup((struct hub_view){begin, (size_t)(end - begin)});
    HUB_CLEANUP(hub_freep) char *prefix = hub_view_dup(trimmed(rest));
    HUB_TRY(hub_allocated(who && prefix, err));
    rule.who = who;
    rule.prefix = prefix;
    return hub_access_rules_add(rules, &rule, err);
}
