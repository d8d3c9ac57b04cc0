/* Mirror rules out of the configuration: see mirror_rules.h. */
#include "server/service/mirror_rules.h"

#include "server/mirror/spec.h"
#include "server/service/mirror_options.h"
#include "storage/truth/rules.h"

enum { UPSTREAM_EVERY_S = 600 };

static enum hub_status set_all(struct hub_mirror_options *c, const char *name, const json_t *values,
                               struct hub_error *err)
{
    const struct hub_usage_option *option = hub_option_named(HUB_OPTIONS(hub_mirror_rows), hub_view_of(name));
    bool on;
    const json_t *value;
    size_t i;
    if (!option && strcmp(name, "remote") != 0)
        return hub_fail(err, HUB_INVALID, "mirror rules have no setting \"%.60s\"", name);
    json_array_foreach(values, i, value)
    {
        const char *word = json_string_value(value);
        if (!option)
            HUB_TRY(hub_allocated(json_object_set_new(c->spec, name, json_string(word)) == 0, err));
        else if (option->value || (hub_option_switch(word, &on) && on))
            HUB_TRY(hub_mirror_option_set(c, option, word, err));
    }
    return HUB_OK;
}

static enum hub_status put_rule(const struct hub_config *config, struct hub_truth *truth, const char *rule,
                                bool pulls, json_t *spec, struct hub_error *err)
{
    HUB_TRY(hub_mirror_resolve_root(spec, err));
    HUB_TRY(hub_mirror_check(spec, &config->roots, err));
    HUB_TRY(hub_mirror_name_check(rule, err));
    if (pulls)
        HUB_TRY(hub_allocated(json_object_set_new(spec, "pull", json_true()) == 0, err));
    return hub_rule_put(truth, rule, true, spec, err);
}

/* What of a mirror's rule has no meaning for an upstream. */
static enum hub_status check_upstream(json_t *spec, struct hub_error *err)
{
    const char *as = json_string_value(json_object_get(spec, "as"));
    if (json_object_get(spec, "delete"))
        return hub_fail(err, HUB_INVALID, "\"delete\" is a setting of mirrors only");
    if (as && as[strlen(as) - 1] != '/')
        return hub_fail(err, HUB_INVALID, "as \"%.80s\" must end with '/'", as);
    if (json_object_get(spec, "every"))
        return HUB_OK;
    return hub_allocated(json_object_set_new(spec, "every", json_integer(UPSTREAM_EVERY_S)) == 0, err);
}

/* Nobody is asked at a start: without `everything` a rule of the file takes Minari's datasets, or what it
 * took before. */
static enum hub_status default_only(struct hub_truth *truth, const char *name, bool everything, json_t *spec,
                                    struct hub_error *err)
{
    struct hub_rule before;
    const char *remote = json_string_value(json_object_get(spec, "remote"));
    if (everything || json_object_get(spec, "only") || !remote || strncmp(remote, "http", 4) == 0)
        return HUB_OK;
    const bool known = hub_rule_find(truth, name, &before, NULL) == HUB_OK;
    const char *only = known ? json_string_value(json_object_get(before.spec, "only")) : NULL;
    json_t *value = json_string(only ? only : "minari");
    if (known)
        hub_rule_dispose(&before);
    return hub_allocated(json_object_set_new(spec, "only", value) == 0, err);
}

static enum hub_status configure(const struct hub_config *config, struct hub_truth *truth, const char *rule,
                                 bool pulls, json_t *options_of, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *spec = json_object();
    struct hub_mirror_options c = {.spec = spec};
    const char *name;
    json_t *values;
    HUB_TRY(hub_allocated(spec, err));
    json_object_foreach(options_of, name, values) HUB_TRY(set_all(&c, name, values, err));
    if (pulls)
        HUB_TRY(check_upstream(spec, err));
    HUB_TRY(default_only(truth, rule, c.everything, spec, err));
    return put_rule(config, truth, rule, pulls, spec, err);
}

/* The key of the first root that may be written. */
static const char *first_root(const struct hub_roots *roots)
{
    for (uint32_t i = 0; i < roots->count; i++)
        if (!roots->roots[i].read_only)
            return hub_root_key(&roots->roots[i]);
    return NULL;
}

/* [NAME/=]REMOTE, fetched into the first root that may be written. Its rule is called as the remote, or
 * NAME. */
static enum hub_status configure_text(const struct hub_config *config, struct hub_truth *truth,
                                      const char *text, json_t *names, struct hub_error *err)
{
    const char *equals = strstr(text, "/="), *root = first_root(&config->roots);
    const char *colon = strstr(text, "://");
    const bool named = equals && (!colon || equals < colon);
    char rule[HUB_RULE_NAME_CHARS + 1];
    HUB_CLEANUP(hub_json_decrefp) json_t *spec = json_object();
    HUB_TRY(hub_allocated(spec, err));
    HUB_TRY(
        hub_allocated(json_object_set_new(spec, "remote", json_string(named ? equals + 2 : text)) == 0, err));
    if (named)
        HUB_TRY(hub_allocated(
            json_object_set_new(spec, "as", json_stringn(text, (size_t)(equals + 1 - text))) == 0, err));
    if (root)
        HUB_TRY(hub_allocated(json_object_set_new(spec, "root", json_string(root)) == 0, err));
    HUB_TRY(check_upstream(spec, err));
    if (!named && !colon)
        return hub_fail(err, HUB_INVALID, "\"%.80s\" is not [NAME/=]REMOTE", text);
    hub_mirror_name(spec, rule, sizeof rule);
    if (json_object_get(names, rule))
        return hub_fail(err, HUB_INVALID, "there are two rules called %s: give one a NAME/=", rule);
    HUB_TRY(default_only(truth, rule, false, spec, err));
    HUB_TRY(put_rule(config, truth, rule, true, spec, err));
    return hub_allocated(json_object_set_new(names, rule, json_true()) == 0, err);
}

/* Names, as nothing is removed while they are walked. */
static enum hub_status note_stale(void *user, const struct hub_rule *rule, struct hub_error *err)
{
    json_t **pair = user;
    if (!rule->from_file || json_object_get(pair[0], rule->name))
        return HUB_OK;
    return hub_allocated(json_array_append_new(pair[1], json_string(rule->name)) == 0, err);
}

/* The sections of one kind. */
static enum hub_status configure_all(const struct hub_config *config, struct hub_truth *truth, bool pulls,
                                     json_t *names, struct hub_error *err)
{
    const char *rule, *word = pulls ? "upstream" : "mirror";
    json_t *options_of;
    json_object_foreach(pulls ? config->upstream_rules : config->mirrors, rule, options_of)
    {
        struct hub_error why = {0};
        if (json_object_get(names, rule))
            return hub_fail(err, HUB_INVALID, "[%s %.60s]: another rule has this name", word, rule);
        const enum hub_status st = configure(config, truth, rule, pulls, options_of, &why);
        if (st)
            return hub_fail(err, st, "[%s %.60s]: %s", word, rule, why.detail);
        HUB_TRY(hub_allocated(json_object_set_new(names, rule, json_true()) == 0, err));
    }
    return HUB_OK;
}

enum hub_status hub_mirror_configure(const struct hub_config *config, struct hub_truth *truth,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *stale = json_array(), *names = json_object();
    json_t *pair[] = {names, stale}, *name;
    size_t i;
    HUB_TRY(hub_allocated(stale && names, err));
    HUB_TRY(configure_all(config, truth, false, names, err));
    HUB_TRY(configure_all(config, truth, true, names, err));
    for (uint32_t k = 0; k < config->upstreams.count; k++) {
        struct hub_error why = {0};
        const enum hub_status st = configure_text(config, truth, config->upstreams.items[k], names, &why);
        if (st)
            return hub_fail(err, st, "upstream %s", why.detail);
    }
    HUB_TRY(hub_rules_each(truth, note_stale, pair, err));
    json_array_foreach(stale, i, name) HUB_TRY(hub_rule_remove(truth, json_string_value(name), err));
    return HUB_OK;
}
