/* Options of programs: see options.h. */
#include "storage/text/options.h"

#include "storage/base/nearest.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* ---- finding ---- */

const struct hub_usage_option *hub_option_named(struct hub_options options, struct hub_view name)
{
    for (size_t i = 0; i < options.count; i++)
        if (hub_view_is(name, options.rows[i].name))
            return &options.rows[i];
    return NULL;
}

static const struct hub_usage_option *lettered(struct hub_options options, char letter)
{
    for (size_t i = 0; i < options.count && letter; i++)
        if (options.rows[i].letter == letter)
            return &options.rows[i];
    return NULL;
}

const struct hub_usage_option *hub_option_find(struct hub_options options, const char *word,
                                               const char **value)
{
    const bool is_long = strncmp(word, "--", 2) == 0;
    const char *behind = is_long ? word + strcspn(word, "=") : word[0] == '-' && word[1] ? word + 2 : word;
    const struct hub_view name = {word + 2, is_long ? (size_t)(behind - word) - 2 : 0};
    *value = *behind ? behind + is_long : NULL;
    return is_long ? hub_option_named(options, name) : word[0] == '-' ? lettered(options, word[1]) : NULL;
}

const char *hub_option_nearest(struct hub_options options, const char *word)
{
    struct hub_nearest nearest;
    word += strspn(word, "-");
    if (!hub_nearest_begin(&nearest, (struct hub_view){word, strcspn(word, "=")}, 1))
        return NULL;
    for (size_t i = 0; i < options.count; i++)
        (void)hub_nearest_offer(&nearest, options.rows[i].name, options.rows[i].name);
    return nearest.count ? nearest.items[0] : NULL;
}

enum hub_status hub_option_unknown(struct hub_options options, const char *word, struct hub_error *err)
{
    const char *near = hub_option_nearest(options, word);
    return hub_fail(err, HUB_INVALID, "unknown option %.80s%s%s; see --help", word,
                    near ? ", probably meant: --" : "", near ? near : "");
}

/* ---- values ---- */

struct unit {
    const char *name;
    uint64_t factor;
};

/* What is shown first, in ascending order; then other names of the same. */
static const struct unit plain[] = {{"", 1}, {NULL, 0}},
                         sizes[] = {{"", 1},      {"K", KIB},        {"M", MIB},
                                    {"G", GIB},   {"T", 1024 * GIB}, {"KiB", KIB},
                                    {"MiB", MIB}, {"GiB", GIB},      {"TiB", 1024 * GIB},
                                    {NULL, 0}},
                         times[] = {{"ms", 1},       {"s", 1000},      {"m", 60000}, {"h", 3600000},
                                    {"d", 86400000}, {"w", 604800000}, {"", 1000},   {NULL, 0}},
                         rates[] = {{"", 1}, {"K", 1000}, {"M", 1000000}, {"G", 1000000000}, {NULL, 0}};

static const struct {
    const struct unit *units;
    const char *wanted;
} numbers[] = {[HUB_OPTION_NUMBER] = {plain, "not a whole number"},
               [HUB_OPTION_SIZE] = {sizes, "not a size like 128M or 2G"},
               [HUB_OPTION_DURATION] = {times, "not a time like 500ms, 2s or 5m"},
               [HUB_OPTION_RATE] = {rates, "not a rate like 500K or 20M"}};

/* A whole number and, where there is one, the unit behind it. */
static bool with_unit(const char *text, const struct unit *units, uint64_t *out)
{
    char *end = NULL;
    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    const uint64_t n = strtoull(text, &end, 10);
    for (const struct unit *unit = units; unit->name; unit++)
        if (strcasecmp(end, unit->name) == 0)
            return errno == 0 && !__builtin_mul_overflow(n, unit->factor, out);
    return false;
}

/* In the largest unit that leaves it whole. */
static void in_units(uint64_t value, const struct unit *units, char out[HUB_OPTION_CHARS])
{
    const struct unit *best = &units[0];
    for (const struct unit *unit = units; unit->name; unit++)
        if (value > 0 && value % unit->factor == 0 && unit->factor > best->factor)
            best = unit;
    snprintf(out, HUB_OPTION_CHARS, "%llu%s", (unsigned long long)(value / best->factor), best->name);
}

/* The n-th of "one|two|three", or an empty view. */
static struct hub_view choice(const char *words, unsigned n)
{
    for (; n > 0 && *words; n--) {
        words += strcspn(words, "|");
        words += *words == '|';
    }
    return (struct hub_view){words, strcspn(words, "|")};
}

enum hub_status hub_option_wrong(const struct hub_usage_option *option, const char *text, const char *what,
                                 struct hub_error *err)
{
    return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_NONE, option->name, text, "%s \"%.80s\": %s",
                          option->name, text, what);
}

static enum hub_status set_number(const struct hub_usage_option *option, const char *text, uint64_t *to,
                                  struct hub_error *err)
{
    const struct unit *units = numbers[option->kind].units;
    uint64_t n = 0;
    char why[2 * HUB_OPTION_CHARS + 32], least[HUB_OPTION_CHARS], most[HUB_OPTION_CHARS];
    if (!with_unit(text, units, &n))
        return hub_option_wrong(option, text, numbers[option->kind].wanted, err);
    if (option->most && (n < option->least || n > option->most)) {
        in_units(option->least, units, least);
        in_units(option->most, units, most);
        snprintf(why, sizeof why, "must be between %s and %s", least, most);
        return hub_option_wrong(option, text, why, err);
    }
    *to = n;
    return HUB_OK;
}

bool hub_option_switch(const char *text, bool *out)
{
    static const char *const yes[] = {"on", "true", "yes", "1"}, *const no[] = {"off", "false", "no", "0"};
    for (size_t i = 0; i < HUB_COUNT(yes); i++) {
        if (strcasecmp(text, yes[i]) == 0 || strcasecmp(text, no[i]) == 0) {
            *out = strcasecmp(text, yes[i]) == 0;
            return true;
        }
    }
    return false;
}

static enum hub_status set_choice(const struct hub_usage_option *option, const char *text, unsigned *to,
                                  struct hub_error *err)
{
    char why[120];
    for (unsigned n = 0; choice(option->words, n).size; n++) {
        if (hub_view_is(choice(option->words, n), text)) {
            *to = n;
            return HUB_OK;
        }
    }
    snprintf(why, sizeof why, "must be one of %s", option->words);
    return hub_option_wrong(option, text, why, err);
}

enum hub_status hub_option_set(const struct hub_usage_option *option, const char *text, void *base,
                               struct hub_error *err)
{
    void *to = (char *)base + option->offset;
    switch (option->kind) {
    case HUB_OPTION_NUMBER:
    case HUB_OPTION_SIZE:
    case HUB_OPTION_DURATION:
    case HUB_OPTION_RATE:
        return set_number(option, text, to, err);
    case HUB_OPTION_SWITCH:
        return hub_option_switch(text, to) ? HUB_OK
                                           : hub_option_wrong(option, text, "must be on or off", err);
    case HUB_OPTION_CHOICE:
        return set_choice(option, text, to, err);
    case HUB_OPTION_TEXT:
    case HUB_OPTION_LIST:
    case HUB_OPTION_WORDS:
    case HUB_OPTION_HEAD:
        break;
    }
    if (option->value)
        memcpy(to, &text, sizeof text);
    else
        *(bool *)to = true;
    return HUB_OK;
}

void hub_option_show(const struct hub_usage_option *option, const void *base, char out[HUB_OPTION_CHARS])
{
    const void *at = (const char *)base + option->offset;
    if (option->kind == HUB_OPTION_SWITCH)
        snprintf(out, HUB_OPTION_CHARS, "%s", *(const bool *)at ? "on" : "off");
    else if (option->kind == HUB_OPTION_CHOICE)
        snprintf(out, HUB_OPTION_CHARS, "%.*s", (int)choice(option->words, *(const unsigned *)at).size,
                 choice(option->words, *(const unsigned *)at).data);
    else
        in_units(*(const uint64_t *)at, numbers[option->kind].units, out);
}
