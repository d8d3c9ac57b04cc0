/* Settings from their three sources: see config.h. */
#include "server/config/config.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum setting_source { FROM_DEFAULT, FROM_FILE, FROM_ENVIRONMENT, FROM_FLAGS };

/* ---- values ---- */

static enum hub_status append(struct hub_list *list, const char *value, struct hub_error *err)
{
    if (list->count == HUB_MAX_ROOTS)
        return hub_fail(err, HUB_TOO_BIG, "a list has more than %d values", HUB_MAX_ROOTS);
    HUB_TRY(hub_dup(&list->items[list->count], value, err));
    list->count++;
    return HUB_OK;
}

/* Before the last value of a list. */
static enum hub_status put_before(struct hub_list *list, const struct hub_usage_option *option,
                                  const char *value, struct hub_error *err)
{
    if (value[strlen(value) - 1] != '/')
        return hub_option_wrong(option, value, "must end with '/'", err);
    if (!list->count)
        return hub_option_wrong(option, value, "there is no upstream before it", err);
    char **last = &list->items[list->count - 1], *whole = NULL;
    if (asprintf(&whole, "%s=%s", value, *last) < 0)
        return hub_no_memory(err);
    free(*last);
    *last = whole;
    return HUB_OK;
}

/* Words separated by commas. */
static enum hub_status append_words(struct hub_list *list, const char *value, struct hub_error *err)
{
    char *copy = strdup(value), *rest = copy;
    enum hub_status st = copy ? HUB_OK : hub_no_memory(err);
    for (char *item = strsep(&rest, ", "); item && !st; item = strsep(&rest, ", "))
        if (item[0])
            st = append(list, item, err);
    free(copy);
    return st;
}

static void clear(struct hub_list *list)
{
    while (list->count > 0)
        free(list->items[--list->count]);
}

static enum hub_status set_text(char **to, const char *value, struct hub_error *err)
{
    char *copy = strdup(value);
    HUB_TRY(hub_allocated(copy, err));
    free(*to);
    *to = copy;
    return HUB_OK;
}

static enum hub_status set(struct hub_config *config, const struct hub_usage_option *option,
                           const char *value, enum setting_source source, struct hub_error *err)
{
    void *to = (char *)config + option->offset;
    unsigned char *from = &config->sources[option - hub_config_options.rows];
    bool first = *from != source;
    if (value[0] == '\0' && source != FROM_DEFAULT)
        return hub_option_wrong(option, value, "has no value", err);
    *from = (unsigned char)source;
    switch (option->kind) {
    case HUB_OPTION_TEXT:
        return set_text(to, value, err);
    case HUB_OPTION_LIST:
        if (first) /* a stronger source replaces the list, it does not add to it */
            clear(to);
        return value[0] ? append(to, value, err) : HUB_OK;
    case HUB_OPTION_HEAD:
        return put_before(to, option, value, err);
    case HUB_OPTION_WORDS:
        if (first)
            clear(to);
        return append_words(to, value, err);
    default:
        return hub_option_set(option, value, config, err);
    }
}

enum hub_status hub_config_init(struct hub_config *config, struct hub_error *err)
{
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < hub_config_options.count; i++)
        if (hub_config_options.rows[i].otherwise)
            HUB_TRY(set(config, &hub_config_options.rows[i], hub_config_options.rows[i].otherwise,
                        FROM_DEFAULT, err));
    return HUB_OK;
}

void hub_config_dispose(struct hub_config *config)
{
    for (size_t i = 0; i < hub_config_options.count; i++) {
        void *at = (char *)config + hub_config_options.rows[i].offset;
        if (hub_config_options.rows[i].kind == HUB_OPTION_LIST ||
            hub_config_options.rows[i].kind == HUB_OPTION_WORDS)
            clear(at);
        else if (hub_config_options.rows[i].kind == HUB_OPTION_TEXT)
            free(*(char **)at);
    }
    for (size_t i = 0; i < HUB_COUNT(config->quota_prefixes); i++)
        free(config->quota_prefixes[i]);
    hub_roots_dispose(&config->roots);
    free(config->address);
    json_decref(config->mirrors);
    json_decref(config->upstream_rules);
    json_decref(config->access);
    memset(config, 0, sizeof *config);
}

/* ---- the three sources ---- */

struct file_reader {
    struct hub_config *config;
    struct hub_error *err;
    bool failed;
};

/* Without a comment at its end: " # ...", as inih does with " ; ...". */
static struct hub_view without_comment(const char *value)
{
    struct hub_view out = hub_view_of(value);
    const char *at = strstr(value, " #");
    if (at)
        out.size = (size_t)(at - value);
    while (out.size && isspace((unsigned char)out.data[out.size - 1]))
        out.size--;
    return out;
}

static json_t *member(json_t *object, const char *key, json_t *fresh)
{
    json_t *old = json_object_get(object, key);
    if (!old)
        return json_object_set_new(object, key, fresh) ? NULL : fresh;
    json_decref(fresh);
    return old;
}

/* "[mirror NAME]", "[upstream NAME]": what its options mean is looked at when the hub starts. */
static enum hub_status keep_rule(json_t **rules, const char *rule, const char *name, const char *value,
                                 struct hub_error *err)
{
    if (!*rules)
        *rules = json_object();
    json_t *options_of = *rules ? member(*rules, rule, json_object()) : NULL;
    json_t *values = options_of ? member(options_of, name, json_array()) : NULL;
    return hub_allocated(values && json_array_append_new(values, json_string(value)) == 0, err);
}

/* A line of [access]: what it says is looked at when the hub starts. */
static enum hub_status keep_access(struct hub_config *config, const char *name, const char *value,
                                   struct hub_error *err)
{
    if (strcmp(name, "set") != 0)
        return hub_fail(err, HUB_INVALID, "[access] has no setting \"%.60s\": write set = WHO LEVEL PREFIX",
                        name);
    if (!config->access)
        config->access = json_array();
    return hub_allocated(config->access && json_array_append_new(config->access, json_string(value)) == 0,
                         err);
}

static enum hub_status unknown_setting(const char *name, struct hub_error *err)
{
    const char *near = hub_option_nearest(hub_config_options, name);
    if (near && strcmp(near, name) == 0)
        near = NULL; /* --config, which no file may name */
    return hub_fail(err, HUB_INVALID, "unknown setting \"%.60s\"%s%s; `minari-hub config` lists all of them",
                    name, near ? ", probably meant: " : "", near ? near : "");
}

static enum hub_status take_line(struct hub_config *config, const char *section, const char *name,
                                 const char *value, struct hub_error *err)
{
    if (strncmp(section, "mirror ", 7) == 0)
        return keep_rule(&config->mirrors, section + 7, name, value, err);
    if (strncmp(section, "upstream ", 9) == 0)
        return keep_rule(&config->upstream_rules, section + 9, name, value, err);
    if (strcmp(section, "access") == 0)
        return keep_access(config, name, value, err);
    const struct hub_usage_option *option = hub_option_named(hub_config_options, hub_view_of(name));
    if (!option || strcmp(name, "config") == 0)
        return unknown_setting(name, err);
    return set(config, option, value, FROM_FILE, err);
}

static int on_line(void *user, const char *section, const char *name, const char *text)
{
    struct file_reader *reader = user;
    HUB_CLEANUP(hub_freep) char *value = hub_view_dup(without_comment(text ? text : ""));
    if (reader->failed)
        return 1; /* the first error is the one to tell; inih reads on */
    reader->failed =
        hub_allocated(value, reader->err) || take_line(reader->config, section, name, value, reader->err);
    return !reader->failed;
}

static enum hub_status read_file(struct hub_config *config, const char *path, bool required,
                                 struct hub_error *err)
{
    struct hub_error why = {0};
    struct file_reader reader = {config, &why, false};
    if (!required && access(path, F_OK) != 0)
        return HUB_OK;
    int line = ini_parse(path, on_line, &reader);
    if (line == -1)
        return hub_fail_errno(err, errno ? errno : ENOENT, "cannot read %s", path);
    if (line < 0)
        return hub_no_memory(err);
    if (line > 0)
        return hub_fail(err, HUB_INVALID, "%s line %d: %s", path, line,
                        reader.failed ? why.detail : "not of the form `key = value`");
    return HUB_OK;
}

enum { VARIABLE = 48 };

static const char *from_environment(const struct hub_usage_option *option, char name[VARIABLE])
{
    size_t used = (size_t)snprintf(name, VARIABLE, "MINARI_HUB_");
    for (const char *c = option->name; *c; c++)
        name[used++] = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
    name[used] = '\0';
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}

/* Lists are separated by commas. */
static enum hub_status set_from_text(struct hub_config *config, const struct hub_usage_option *option,
                                     const char *value, struct hub_error *err)
{
    if (option->kind != HUB_OPTION_LIST)
        return set(config, option, value, FROM_ENVIRONMENT, err);
    char *copy = strdup(value), *rest = copy;
    enum hub_status st = copy ? HUB_OK : hub_no_memory(err);
    for (char *item = strsep(&rest, ","); item && !st; item = strsep(&rest, ","))
        st = set(config, option, item, FROM_ENVIRONMENT, err);
    free(copy);
    return st;
}

static enum hub_status read_environment(struct hub_config *config, struct hub_error *err)
{
    char name[VARIABLE];
    for (size_t i = 0; i < hub_config_options.count; i++) {
        const char *value = from_environment(&hub_config_options.rows[i], name);
        struct hub_error why = {0};
        if (value && set_from_text(config, &hub_config_options.rows[i], value, &why))
            return hub_fail(err, HUB_INVALID, "in the environment, %s: %s", name, why.detail);
    }
    return HUB_OK;
}

/* --name value, --name=value, and for switches --name alone (on) and --no-name too. */
enum hub_status hub_config_find(char *const *argv, struct hub_config_flag *out, struct hub_error *err)
{
    const char *flag = argv[0];
    char positive[VARIABLE];
    bool ignored;
    *out = (struct hub_config_flag){.words = 1};
    if (strncmp(flag, "--", 2) != 0 || flag[2] == '\0')
        return hub_fail(err, HUB_INVALID, "\"%.80s\" is not an option: options begin with --, see --help",
                        flag);
    out->option = hub_option_find(hub_config_options, flag, &out->value);
    if (!out->option && strncmp(flag, "--no-", 5) == 0) {
        snprintf(positive, sizeof positive, "--%s", flag + 5);
        out->option = hub_option_find(hub_config_options, positive, &out->value);
        if (out->option && (out->option->kind != HUB_OPTION_SWITCH || out->value))
            out->option = NULL;
        out->value = "off";
    }
    if (!out->option) {
        (void)hub_option_unknown(hub_config_options, flag, err);
        return HUB_INVALID;
    }
    if (!out->value && out->option->kind == HUB_OPTION_SWITCH &&
        !(argv[1] && hub_option_switch(argv[1], &ignored)))
        out->value = "on";
    if (!out->value) {
        out->value = argv[1];
        out->words = 2;
    }
    return out->value
               ? HUB_OK
               : hub_fail(err, HUB_INVALID, "--%s needs a value: %s", out->option->name, out->option->value);
}

/* The file is found first (`first`), all other flags are read last. */
static enum hub_status read_flags(struct hub_config *config, char *const *argv, bool first,
                                  struct hub_error *err)
{
    struct hub_config_flag flag;
    for (; *argv; argv += flag.words) {
        HUB_TRY(hub_config_find(argv, &flag, err));
        if (first == (strcmp(flag.option->name, "config") == 0))
            HUB_TRY(set(config, flag.option, flag.value, FROM_FLAGS, err));
    }
    return HUB_OK;
}

enum hub_status hub_config_read(struct hub_config *config, char *const *argv, struct hub_error *err)
{
    const char *file = getenv("MINARI_HUB_CONFIG");
    if (file && file[0])
        HUB_TRY(set_text(&config->file, file, err));
    HUB_TRY(read_flags(config, argv, true, err));
    HUB_TRY(read_file(config, config->file ? config->file : HUB_CONFIG_FILE, config->file != NULL, err));
    HUB_TRY(read_environment(config, err));
    return read_flags(config, argv, false, err);
}

enum hub_status hub_config_read_access(const struct hub_config *config, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_config_dispose) struct hub_config now = {0};
    const bool required = config->file || config->access; /* rules do not go with a file that is away */
    HUB_TRY(hub_config_init(&now, err));
    HUB_TRY(read_file(&now, config->file ? config->file : HUB_CONFIG_FILE, required, err));
    *out = json_incref(now.access);
    return HUB_OK;
}
