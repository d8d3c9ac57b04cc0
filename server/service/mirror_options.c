/* What a rule is made of, as options of the command and as settings of the file: see mirror_options.h. */
#include "server/service/mirror_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) HUB_OPTION_AT(TEXT, struct hub_mirror_options, member)
#define MEMBER(kind)                                                                                         \
    HUB_OPTION_AT(kind, struct hub_mirror_options, spec) /* of the spec, by the option's name */

const struct hub_usage_option hub_mirror_rows[HUB_MIRROR_OPTIONS] = {
    {0, "name", "NAME", NULL, "the name of the rule; default: that of --as or of the remote", AT(name)},
    {0, "prefix", "PREFIX", NULL, "only datasets whose ids on the remote begin with it", MEMBER(TEXT)},
    {0, "everything", NULL, NULL,
     "in the configuration file: everything in a bucket or an organisation, not only Minari's datasets",
     AT(everything)},
    {0, "only", "WHAT", NULL, "minari: only Minari's datasets; tree: a whole bucket as one dataset",
     MEMBER(TEXT)},
    {0, "as", "NAME/", NULL,
     "put NAME/ before their ids here; without the slash: the name of the one dataset", MEMBER(TEXT)},
    {0, "root", "NAME", NULL, "the root to copy to, by its name or directory; needed if there are several",
     MEMBER(TEXT)},
    {0, "every", "TIME", NULL, "how often to look for changes, such as 30m, 6h or 1d (6h)", MEMBER(DURATION)},
    {0, "limit", "BYTES", NULL, "at most this many bytes per second, such as 50M; default: no limit",
     MEMBER(SIZE)},
    {0, "include", "GLOB", NULL, "only files that match it by path or name; may be given several times",
     MEMBER(LIST)},
    {0, "exclude", "GLOB", NULL, "no files that match it; may be given several times", MEMBER(LIST)},
    {0, "token-file", "FILE", NULL,
     "a file with the token, or a service account's FILE.json; the hub stores its path, never its content",
     MEMBER(TEXT)},
    {0, "delete", NULL, NULL, "delete here what is deleted on the remote", MEMBER(TEXT)},
    {0, "internal", NULL, NULL, "follow redirects to other hosts, also to addresses of this network",
     MEMBER(TEXT)},
    {0, "yes", NULL, NULL, "for add: do not ask; needed without a terminal, unless --only is given", AT(yes)},
    {0, "anew", NULL, NULL, "for run: the root is empty, not just unmounted: fetch everything again",
     AT(anew)},
    {0, "json", NULL, NULL, "print JSON", AT(json)},
};

static enum hub_status set_number(json_t *spec, const struct hub_usage_option *option, const char *value,
                                  struct hub_error *err)
{
    uint64_t n = 0;
    HUB_TRY(hub_option_set(option, value, &n, err));
    if (option->kind == HUB_OPTION_DURATION)
        n = (n + 999) / 1000;
    if (n > INT64_MAX)
        return hub_option_wrong(option, value, "it is too large", err);
    return hub_allocated(json_object_set_new(spec, option->name, json_integer((json_int_t)n)) == 0, err);
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

enum hub_status hub_mirror_option_set(void *options, const struct hub_usage_option *option, const char *value,
                                      struct hub_error *err)
{
    struct hub_mirror_options *c = options;
    if (option->offset != offsetof(struct hub_mirror_options, spec))
        return hub_option_set(option, value, c, err);
    if (option->kind == HUB_OPTION_LIST)
        return append(c->spec, option->name, value, err);
    if (option->kind == HUB_OPTION_DURATION || option->kind == HUB_OPTION_SIZE)
        return set_number(c->spec, option, value, err);
    if (strcmp(option->name, "token-file") == 0)
        return set_file(c->spec, option->name, value, err);
    json_t *member = option->value ? json_string(value) : json_true();
    return hub_allocated(json_object_set_new(c->spec, option->name, member) == 0, err);
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
