/* What a rule is made of, as options of the command and as settings of the file: see mirror_options.h. */
#include "server/service/mirror_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct hub_mirror_option own[] = {
    {"name", HUB_OPTION_TEXT, "NAME", "the name of the rule; default: that of --as or of the remote"},
    {"prefix", HUB_OPTION_TEXT, "PREFIX", "only datasets whose ids on the remote begin with it"},
    {"everything", HUB_OPTION_SWITCH, NULL,
     "in the configuration file: everything in a bucket or an organisation, not only Minari's datasets"},
    {"only", HUB_OPTION_TEXT, "WHAT", "minari: only Minari's datasets; tree: a whole bucket as one dataset"},
    {"as", HUB_OPTION_TEXT, "NAME/",
     "put NAME/ before their ids here; without the slash: the name of the one dataset"},
    {"root", HUB_OPTION_TEXT, "NAME",
     "the root to copy to, by its name or directory; needed if there are several"},
    {"every", HUB_OPTION_SECONDS, "TIME", "how often to look for changes, such as 30m, 6h or 1d (6h)"},
    {"limit", HUB_OPTION_BYTES, "BYTES",
     "at most this many bytes per second, such as 50M; default: no limit"},
    {"include", HUB_OPTION_LIST, "GLOB",
     "only files that match it by path or name; may be given several times"},
    {"exclude", HUB_OPTION_LIST, "GLOB", "no files that match it; may be given several times"},
    {"token-file", HUB_OPTION_TEXT, "FILE",
     "a file with the token, or a service account's FILE.json; the hub stores its path, never its content"},
    {"delete", HUB_OPTION_SWITCH, NULL, "delete here what is deleted on the remote"},
    {"internal", HUB_OPTION_SWITCH, NULL,
     "follow redirects to other hosts, also to addresses of this network"},
    {"yes", HUB_OPTION_SWITCH, NULL,
     "for add: do not ask; needed without a terminal, unless --only is given"},
    {"anew", HUB_OPTION_SWITCH, NULL,
     "for run: the root is empty, not just unmounted: fetch everything again"},
    {"json", HUB_OPTION_SWITCH, NULL, "print JSON"},
};

size_t hub_mirror_usage(struct hub_usage_option out[HUB_MIRROR_OPTIONS])
{
    _Static_assert(HUB_COUNT(own) <= HUB_MIRROR_OPTIONS, "room for all");
    for (size_t i = 0; i < HUB_COUNT(own); i++)
        out[i] = (struct hub_usage_option){.name = own[i].name, .value = own[i].value, .help = own[i].help};
    return HUB_COUNT(own);
}

/* "50M", "6h": a whole number with a unit. */
static bool with_unit(const char *text, const char *units, const uint64_t *factors, json_int_t *out)
{
    char *end = NULL;
    const unsigned long long n = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    uint64_t value = n;
    if (text[0] < '0' || text[0] > '9' || (*end && (!unit || end[1])) ||
        (unit && __builtin_mul_overflow(n, factors[unit - units], &value)) || value > INT64_MAX)
        return false;
    *out = (json_int_t)value;
    return true;
}

bool hub_mirror_bytes(const char *text, json_int_t *out)
{
    static const uint64_t bytes[] = {KIB, MIB, GIB, KIB, MIB, GIB};
    return with_unit(text, "KMGkmg", bytes, out);
}

static enum hub_status set_number(json_t *spec, const struct hub_mirror_option *option, const char *value,
                                  struct hub_error *err)
{
    static const uint64_t seconds[] = {1, 60, 3600, 86400};
    json_int_t n = 0;
    const bool good = option->kind == HUB_OPTION_SECONDS ? with_unit(value, "smhd", seconds, &n)
                                                         : hub_mirror_bytes(value, &n);
    if (!good)
        return hub_fail(err, HUB_INVALID, "--%s \"%.80s\" is not %s", option->name, value,
                        option->kind == HUB_OPTION_SECONDS ? "a time like 30m, 6h or 1d"
                                                           : "a size like 500K or 50M");
    return hub_allocated(json_object_set_new(spec, option->name, json_integer(n)) == 0, err);
}

static enum hub_status append(json_t *spec, const char *member, const char *value, struct hub_error *err)
{
    json_t *list = json_object_get(spec, member);
    if (!list && json_object_set_new(spec, member, list = json_array()))
        return hub_no_memory(err);
    return hub_allocated(json_array_append_new(list, json_string(value)) == 0, err);
}

/* A file is named from here; the hub's directory is another. */
static enum hub_status set_file(json_t *spec, const char *member, const char *value, struct hub_error *err)
{
    char whole[PATH_MAX];
    if (!realpath(value, whole))
        return hub_fail_errno(err, errno, "--%s %s", member, value);
    return hub_allocated(json_object_set_new(spec, member, json_string(whole)) == 0, err);
}

enum hub_status hub_mirror_option_set(struct hub_mirror_options *c, const struct hub_mirror_option *option,
                                      const char *value, struct hub_error *err)
{
    switch (option->kind) {
    case HUB_OPTION_SWITCH:
        if (strcmp(option->name, "json") == 0)
            c->json = true;
        else if (strcmp(option->name, "anew") == 0)
            c->anew = true;
        else if (strcmp(option->name, "yes") == 0)
            c->yes = true;
        else if (strcmp(option->name, "everything") == 0)
            c->everything = true;
        else
            return hub_allocated(json_object_set_new(c->spec, option->name, json_true()) == 0, err);
        return HUB_OK;
    case HUB_OPTION_LIST:
        return append(c->spec, option->name, value, err);
    case HUB_OPTION_SECONDS:
    case HUB_OPTION_BYTES:
        return set_number(c->spec, option, value, err);
    case HUB_OPTION_TEXT:
        break;
    }
    if (strcmp(option->name, "name") == 0) {
        c->name = value;
        return HUB_OK;
    }
    if (strcmp(option->name, "token-file") == 0)
        return set_file(c->spec, option->name, value, err);
    return hub_allocated(json_object_set_new(c->spec, option->name, json_string(value)) == 0, err);
}

const struct hub_mirror_option *hub_mirror_option_find(const char *flag)
{
    const size_t size = strcspn(flag, "=");
    for (size_t i = 0; i < HUB_COUNT(own); i++)
        if (strlen(own[i].name) == size && memcmp(own[i].name, flag, size) == 0)
            return &own[i];
    return NULL;
}

/* NAME of NAME=DIR, or the directory as the hub knows it. */
enum hub_status hub_mirror_resolve_root(json_t *spec, struct hub_error *err)
{
    const char *root = json_string_value(json_object_get(spec, "root")),
               *equals = root ? strchr(root, '=') : NULL;
    char text[PATH_MAX];
    if (!root || !strchr(root, '/'))
        return HUB_OK;
    if (equals)
        snprintf(text, sizeof text, "%.*s", (int)(equals - root), root);
    else if (!realpath(root, text))
        return hub_fail_errno(err, errno, "--root %s", root);
    return hub_allocated(json_object_set_new(spec, "root", json_string(text)) == 0, err);
}
