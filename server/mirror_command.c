/* `minari-hub mirror`: see mirror_command.h. */
#include "server/mirror_command.h"

#include "server/admin.h"
#include "server/command.h"
#include "server/control.h"
#include "server/mirror/document.h"
#include "server/mirror/left.h"
#include "server/mirror/preview.h"
#include "server/mirror/spec.h"
#include "server/stores.h"
#include "storage/text/number.h"
#include "storage/text/time.h"
#include "storage/text/uri.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

enum { UPSTREAM_EVERY_S = 600 };
enum kind { TEXT, LIST, SECONDS, BYTES, SWITCH };

static const struct own {
    const char *name;
    enum kind kind;
    const char *value, *help;
} own[] = {
    {"name", TEXT, "NAME", "what the rule is called; else what --as or the remote is"},
    {"prefix", TEXT, "PREFIX", "only datasets whose ids begin so on the remote"},
    {"everything", SWITCH, NULL,
     "of the configuration file: all that lies on a bucket or in an organisation, not Minari's datasets "
     "alone"},
    {"only", TEXT, "WHAT", "minari: the datasets of Minari's alone; tree: all of a bucket as one dataset"},
    {"as", TEXT, "NAME/", "put NAME/ before their ids here; without the slash the one dataset is called so"},
    {"root", TEXT, "NAME", "the root to copy to, by its name or directory; needed where there are several"},
    {"every", SECONDS, "TIME", "look for changes so often, as 30m, 6h or 1d; 6h"},
    {"limit", BYTES, "BYTES", "bytes a second, as 50M; as fast as they come"},
    {"include", LIST, "GLOB", "only files that match it by path or name; may be given several times"},
    {"exclude", LIST, "GLOB", "no files that match it; may be given several times"},
    {"token-file", TEXT, "FILE",
     "a file with the token, or a service account's FILE.json; its path is kept, never its content"},
    {"delete", SWITCH, NULL, "what is deleted on the remote is deleted here as well"},
    {"internal", SWITCH, NULL, "follow redirects to other hosts, also to addresses of this network"},
    {"yes", SWITCH, NULL, "of add: do not ask; needed without a terminal, unless --only says what to take"},
    {"anew", SWITCH, NULL, "of run: its root is not only unmounted, but empty: fetch all again"},
    {"json", SWITCH, NULL, "print JSON"},
};

size_t hub_mirror_usage(struct hub_usage_option out[HUB_MIRROR_OPTIONS])
{
    _Static_assert(HUB_COUNT(own) <= HUB_MIRROR_OPTIONS, "room for all");
    for (size_t i = 0; i < HUB_COUNT(own); i++)
        out[i] = (struct hub_usage_option){.name = own[i].name, .value = own[i].value, .help = own[i].help};
    return HUB_COUNT(own);
}

struct command {
    const char *action, *object; /* the remote, or a rule's name */
    const char *name;
    json_t *spec;
    bool json, anew, everything, yes;
};

/* ---- reading ---- */

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

static enum hub_status set_number(json_t *spec, const struct own *option, const char *value,
                                  struct hub_error *err)
{
    static const uint64_t seconds[] = {1, 60, 3600, 86400};
    json_int_t n = 0;
    const bool good =
        option->kind == SECONDS ? with_unit(value, "smhd", seconds, &n) : hub_mirror_bytes(value, &n);
    if (!good)
        return hub_fail(err, HUB_INVALID, "--%s \"%.80s\" is not %s", option->name, value,
                        option->kind == SECONDS ? "a time like 30m, 6h or 1d" : "a size like 500K or 50M");
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

static enum hub_status set(struct command *c, const struct own *option, const char *value,
                           struct hub_error *err)
{
    switch (option->kind) {
    case SWITCH:
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
    case LIST:
        return append(c->spec, option->name, value, err);
    case SECONDS:
    case BYTES:
        return set_number(c->spec, option, value, err);
    case TEXT:
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

static const struct own *find(const char *flag)
{
    const size_t size = strcspn(flag, "=");
    for (size_t i = 0; i < HUB_COUNT(own); i++)
        if (strlen(own[i].name) == size && memcmp(own[i].name, flag, size) == 0)
            return &own[i];
    return NULL;
}

static enum hub_status take_word(struct command *c, const char *word, struct hub_error *err)
{
    const char **free_place = !c->action ? &c->action : !c->object ? &c->object : NULL;
    if (!free_place)
        return hub_fail(err, HUB_INVALID, "\"%.80s\" is one argument too many", word);
    *free_place = word;
    return HUB_OK;
}

/* A root by its directory is also a setting: it tells where the datasets are when no hub runs. */
static void keep_root(struct hub_settings *settings, const char *value)
{
    if (strchr(value, '/'))
        hub_settings_add(settings, "--root", value);
}

static enum hub_status read_arguments(struct command *c, char **argv, struct hub_settings *settings,
                                      struct hub_error *err)
{
    for (; *argv; argv++) {
        const bool flag = strncmp(*argv, "--", 2) == 0;
        const struct own *option = flag ? find(*argv + 2) : NULL;
        const char *value = flag ? strchr(*argv, '=') : NULL;
        if (!flag) {
            HUB_TRY(take_word(c, *argv, err));
        } else if (option && option->kind == SWITCH) {
            HUB_TRY(set(c, option, "", err));
        } else if (!value && !argv[1]) {
            return hub_fail(err, HUB_INVALID, "%.60s needs a value", *argv);
        } else if (option) {
            value = value ? value + 1 : *++argv;
            if (strcmp(option->name, "root") == 0)
                keep_root(settings, value);
            HUB_TRY(set(c, option, value, err));
        } else {
            hub_settings_take(settings, &argv);
        }
    }
    return HUB_OK;
}

/* NAME of NAME=DIR, or the directory as the hub knows it. */
static enum hub_status settle_root(json_t *spec, struct hub_error *err)
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

/* ---- through the running hub ---- */

static enum hub_status add_parameter(struct hub_buf *target, const char *name, const char *value,
                                     struct hub_error *err)
{
    HUB_TRY(hub_buf_addf(target, err, "%c%s=", memchr(target->data, '?', target->size) ? '&' : '?', name));
    return hub_uri_encode_segment(hub_view_of(value), target, err);
}

static enum hub_status ask(const struct command *c, const char *state, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf target = HUB_BUF_INIT(256 * KIB);
    HUB_CLEANUP(hub_freep) char *spec = json_dumps(c->spec, JSON_COMPACT);
    const bool add = strcmp(c->action, "add") == 0, show = strcmp(c->action, "show") == 0;
    HUB_TRY(hub_allocated(spec, err));
    HUB_TRY(hub_buf_add_text(&target, "/api/v1/mirrors", err));
    if (!add && c->object) {
        HUB_TRY(hub_buf_add_text(&target, "/", err));
        HUB_TRY(hub_uri_encode_segment(hub_view_of(c->object), &target, err));
        if (!show)
            HUB_TRY(add_parameter(&target, "do", c->anew ? "run-anew" : c->action, err));
    } else if (add) {
        HUB_TRY(add_parameter(&target, "spec", spec, err));
        if (c->name)
            HUB_TRY(add_parameter(&target, "name", c->name, err));
    } else {
        HUB_TRY(hub_buf_add_text(&target, "?limit=1000", err));
    }
    return hub_control_ask(state, c->object && !show, target.data, out, err);
}

/* ---- in the state directory ---- */

struct direct {
    struct hub_json json;
    const struct hub_roots *roots;
    char note[HUB_MIRROR_NOTE];
};

static enum hub_status put(void *user, const struct hub_rule *rule, struct hub_error *err)
{
    struct direct *d = user;
    (void)err;
    hub_mirror_write(&d->json, rule, d->roots, true, d->note);
    return hub_json_status(&d->json);
}

static enum hub_status write_rules(struct hub_truth *truth, const char *name, struct direct *d,
                                   struct hub_error *err)
{
    struct hub_rule rule;
    if (name) {
        HUB_TRY(hub_rule_find(truth, name, &rule, err));
        const enum hub_status st = put(d, &rule, err);
        hub_rule_dispose(&rule);
        return st;
    }
    hub_json_object(&d->json);
    hub_json_put_array(&d->json, "items");
    HUB_TRY(hub_rules_each(truth, put, d, err));
    hub_json_end_array(&d->json);
    hub_json_end_object(&d->json);
    return hub_json_status(&d->json);
}

static enum hub_status act(const struct command *c, struct hub_truth *truth, const struct hub_config *config,
                           json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * MIB);
    struct direct d = {hub_json_to(&text, err), &config->roots, ""};
    char name[HUB_RULE_NAME_CHARS + 1];
    const bool add = strcmp(c->action, "add") == 0;
    if (add) {
        HUB_TRY(hub_mirror_check(c->spec, &config->roots, err));
        hub_mirror_name(c->spec, name, sizeof name);
        HUB_TRY(hub_mirror_name_check(c->name ? c->name : name, err));
        HUB_TRY(hub_rule_put(truth, c->name ? c->name : name, false, c->spec, err));
        HUB_TRY(hub_mirror_overlap(truth, c->name ? c->name : name, c->spec, d.note, err));
    } else if (c->object && strcmp(c->action, "show") != 0) {
        HUB_TRY(hub_mirror_act(truth, &config->roots, c->object, c->anew ? "run-anew" : c->action, err));
    }
    if (strcmp(c->action, "remove") == 0) {
        *out = json_pack("{s:s}", "removed", c->object);
        return hub_allocated(*out, err);
    }
    HUB_TRY(write_rules(truth, !add ? c->object : c->name ? c->name : name, &d, err));
    return hub_json_parse(hub_buf_view(&text), 64 * MIB, out, err);
}

static enum hub_status do_directly(const struct command *c, struct hub_config *config, json_t **out,
                                   struct hub_error *err)
{
    struct hub_stores stores;
    HUB_TRY(hub_config_finish(config, err));
    HUB_TRY(hub_stores_open_truth(config->state, &config->roots, &stores, err));
    const enum hub_status st = act(c, stores.truth, config, out, err);
    hub_stores_close(&stores);
    return st;
}

/* ---- printing ---- */

static const char *text(const json_t *rule, const char *key)
{
    const char *value = json_string_value(json_object_get(rule, key));
    return value ? value : "";
}

static uint64_t number(const json_t *rule, const char *key)
{
    const json_int_t n = json_integer_value(json_object_get(rule, key));
    return n > 0 ? (uint64_t)n : 0;
}

void hub_mirror_print(const json_t *rule)
{
    char bytes[HUB_SIZE_CHARS], line[2048];
    hub_number_size(number(rule, "bytes"), bytes);
    snprintf(line, sizeof line, "%-16s %-8s %s%s%s%s%s", text(rule, "name"), text(rule, "state"),
             text(rule, "remote"), *text(rule, "prefix") ? " prefix " : "", text(rule, "prefix"),
             *text(rule, "as") ? " as " : "", text(rule, "as"));
    hub_utf8_clean(line, strlen(line));
    printf("%s\n%16s %" PRIu64 " datasets, %" PRIu64 " waiting, %" PRIu64 " running; %s fetched in %" PRIu64
           " transfers, %" PRIu64 " failures; last complete %s\n",
           line, "", number(rule, "datasets"), number(rule, "waiting"), number(rule, "running"), bytes,
           number(rule, "transfers"), number(rule, "failures"),
           *text(rule, "synced") ? text(rule, "synced") : "never");
    if (number(rule, "unlisted"))
        printf("%16s %" PRIu64
               " of its datasets here are no longer listed, though they may still be on the remote: they "
               "stay, and are not brought up to date\n",
               "", number(rule, "unlisted"));
    hub_left_text(json_object_get(rule, "left_out"), json_string_value(json_object_get(rule, "only")), line,
                  sizeof line);
    hub_utf8_clean(line, strlen(line));
    if (*line)
        printf("%16s %s\n", "", line);
    snprintf(line, sizeof line, "%s", text(rule, "error"));
    hub_utf8_clean(line, strlen(line));
    if (*line)
        printf("%16s %s\n", "", line);
}

static void print_members(const json_t *rule)
{
    const char *key;
    const json_t *value;
    json_object_foreach((json_t *)rule, key, value)
    {
        HUB_CLEANUP(hub_freep) char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        printf("%-11s %s\n", key, json_is_string(value) ? json_string_value(value) : dumped ? dumped : "");
    }
}

static int print(const struct command *c, const json_t *answer)
{
    const json_t *items = json_object_get(answer, "items"), *rule;
    size_t i;
    if (c->json) {
        if (json_dumpf(items ? items : answer, stdout, JSON_INDENT(2)) || putchar('\n') == EOF)
            return HUB_EXIT_FAILED;
    } else if (items) {
        json_array_foreach(items, i, rule) hub_mirror_print(rule);
        if (!json_array_size(items))
            fputs("no mirror rules; `minari-hub mirror add REMOTE` makes one\n", stderr);
    } else if (strcmp(c->action, "show") == 0) {
        print_members(answer);
    } else if (strcmp(c->action, "remove") == 0) {
        fprintf(stderr, "%s is removed; what it copied stays\n", c->object);
    } else {
        hub_mirror_print(answer);
        if (*text(answer, "note"))
            fprintf(stderr, "note: %s\n", text(answer, "note"));
    }
    return fflush(stdout) ? HUB_EXIT_FAILED : 0;
}

/* ---- the question ---- */

/* "4 minari-hdf5, 1 lerobot, 2 of plain files". */
static void format_text(const json_t *formats, char *out, size_t size)
{
    const char *format;
    const json_t *count;
    size_t n = 0;
    *out = '\0';
    json_object_foreach((json_t *)formats, format, count)
    {
        if (n + 80 >= size)
            break;
        n += (size_t)snprintf(out + n, size - n, "%s%" JSON_INTEGER_FORMAT " %.40s", n ? ", " : "",
                              json_integer_value(count),
                              strcmp(format, "files") == 0 ? "of plain files" : format);
    }
}

/* What it would take, in a line or two. */
static void print_preview(const struct command *c, const struct hub_mirror_preview *p)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *left = hub_left_document(&p->left);
    char bytes[HUB_SIZE_CHARS], line[500];
    hub_number_size(p->bytes, bytes);
    format_text(p->formats, line, sizeof line);
    hub_utf8_clean(line, strlen(line));
    fprintf(stderr, "%s has %" PRIu64 " dataset%s, %s%s%s\n", c->object, p->datasets,
            p->datasets == 1 ? "" : "s", bytes, *line ? ": " : "", line);
    hub_left_text(left, json_string_value(json_object_get(c->spec, "only")), line, sizeof line);
    hub_utf8_clean(line, strlen(line));
    if (*line)
        fprintf(stderr, "%s\n", line);
}

/* Whether the name it gives is for one dataset, of a remote that may have many. */
static bool names_one(const json_t *spec)
{
    const char *as = json_string_value(json_object_get(spec, "as"));
    return as && !hub_view_ends(hub_view_of(as), "/") && hub_mirror_only(spec) != HUB_REMOTE_TREE;
}

/* What cannot be listed now is found out by the rule's passes. */
static enum hub_status look_at_remote(const struct command *c, bool print, struct hub_error *err)
{
    struct hub_mirror_preview preview;
    struct hub_error why = {0};
    HUB_TRY(hub_mirror_check_remote(c->object, err));
    const enum hub_status st = hub_mirror_preview(c->spec, &preview, &why);
    if (print && st)
        fprintf(stderr, "%s cannot be listed now: %s\n", c->object, why.detail);
    else if (print)
        print_preview(c, &preview);
    const uint64_t copies = st ? 0 : preview.copies;
    hub_mirror_preview_dispose(&preview);
    return hub_mirror_check_count(c->spec, copies, err);
}

/* All that lies there may be more than is thought of: it is shown and asked for, unless the command says
 * what it wants. */
static enum hub_status confirm(const struct command *c, struct hub_error *err)
{
    char answer[8] = "";
    const bool asks = !c->yes && !json_object_get(c->spec, "only");
    if (strcmp(c->action, "add") != 0)
        return HUB_OK;
    if (asks || names_one(c->spec))
        HUB_TRY(look_at_remote(c, asks, err));
    if (!asks)
        return HUB_OK;
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return hub_fail(err, HUB_INVALID,
                        "nobody can be asked without a terminal: --yes mirrors all of it, --only minari "
                        "the datasets of Minari's");
    fputs("Mirror all of it? [y/N]: ", stderr);
    return fgets(answer, sizeof answer, stdin) && strchr("yY", answer[0])
               ? HUB_OK
               : hub_fail(err, HUB_CANCELLED, "no rule is made");
}

/* ---- the command ---- */

static enum hub_status check(struct command *c, struct hub_error *err)
{
    static const char *const actions[] = {"add", "list", "show", "run", "pause", "resume", "remove"};
    bool known = false;
    if (!c->action)
        return hub_fail(err, HUB_INVALID,
                        "mirror: say what to do: add, list, show, run, pause, resume or remove");
    for (size_t i = 0; i < HUB_COUNT(actions); i++)
        known = known || strcmp(c->action, actions[i]) == 0;
    if (!known)
        return hub_fail(err, HUB_INVALID,
                        "mirror: \"%.60s\" is none of add, list, show, run, pause, resume, remove",
                        c->action);
    if (!c->object != (strcmp(c->action, "list") == 0))
        return hub_fail(err, HUB_INVALID, "mirror %s %s", c->action,
                        c->object ? "takes no argument" : "needs a REMOTE or the NAME of a rule");
    if (c->anew && strcmp(c->action, "run") != 0)
        return hub_fail(err, HUB_INVALID, "--anew is for `mirror run`");
    if (strcmp(c->action, "add") != 0)
        return HUB_OK;
    HUB_TRY(settle_root(c->spec, err));
    return hub_allocated(json_object_set_new(c->spec, "remote", json_string(c->object)) == 0, err);
}

static enum hub_status read_all(void *user, char **argv, struct hub_settings *settings, struct hub_error *err)
{
    HUB_TRY(read_arguments(user, argv, settings, err));
    return check(user, err);
}

static int run(void *user, struct hub_config *config)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *answer = NULL;
    HUB_CLEANUP(hub_freep) char *state = NULL;
    const struct command *c = user;
    struct hub_error err = {0};
    enum hub_status st = confirm(c, &err);
    if (!st)
        st = hub_control_state(config, &state, &err);
    if (!st)
        st = ask(c, state, &answer, &err);
    if (st == HUB_NOT_FOUND && strcmp(err.problem, "mirror-not-found") != 0)
        st = do_directly(c, config, &answer, &err);
    if (st)
        fprintf(stderr, "minari-hub: %s\n", err.detail);
    if (st == HUB_CANCELLED)
        return HUB_EXIT_FAILED; /* no was the answer */
    return st ? hub_command_code(st) : print(c, answer);
}

int hub_mirror_command(char **argv)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *spec = json_object();
    struct command c = {.spec = spec};
    return hub_command_run(&(struct hub_command){read_all, run, &c}, argv);
}

/* ---- of the configuration file ---- */

static bool is_on(const char *value)
{
    return strcasecmp(value, "on") == 0 || strcasecmp(value, "true") == 0 || strcasecmp(value, "yes") == 0 ||
           strcmp(value, "1") == 0;
}

static enum hub_status set_all(struct command *c, const char *name, const json_t *values,
                               struct hub_error *err)
{
    const struct own *option = find(name);
    const json_t *value;
    size_t i;
    if (!option && strcmp(name, "remote") != 0)
        return hub_fail(err, HUB_INVALID, "mirror rules have no setting \"%.60s\"", name);
    json_array_foreach(values, i, value)
    {
        const char *word = json_string_value(value);
        if (!option)
            HUB_TRY(hub_allocated(json_object_set_new(c->spec, name, json_string(word)) == 0, err));
        else if (option->kind != SWITCH || is_on(word))
            HUB_TRY(set(c, option, word, err));
    }
    return HUB_OK;
}

static enum hub_status put_rule(const struct hub_config *config, struct hub_truth *truth, const char *rule,
                                bool pulls, json_t *spec, struct hub_error *err)
{
    HUB_TRY(settle_root(spec, err));
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
        return hub_fail(err, HUB_INVALID, "\"delete\" is for mirrors: what was fetched stays");
    if (as && as[strlen(as) - 1] != '/')
        return hub_fail(err, HUB_INVALID, "as \"%.80s\" must end with '/'", as);
    if (json_object_get(spec, "every"))
        return HUB_OK;
    return hub_allocated(json_object_set_new(spec, "every", json_integer(UPSTREAM_EVERY_S)) == 0, err);
}

/* Nobody is asked at a start: without `everything` a rule of the file takes Minari's datasets, or what it
 * took before. */
static enum hub_status settle_only(struct hub_truth *truth, const char *name, bool everything, json_t *spec,
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
    struct command c = {.spec = spec};
    const char *name;
    json_t *values;
    HUB_TRY(hub_allocated(spec, err));
    json_object_foreach(options_of, name, values) HUB_TRY(set_all(&c, name, values, err));
    if (pulls)
        HUB_TRY(check_upstream(spec, err));
    HUB_TRY(settle_only(truth, rule, c.everything, spec, err));
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

/* [NAME/=]REMOTE, fetched into the first root that may be written. Its rule is called as the remote, or NAME. */
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
    HUB_TRY(settle_only(truth, rule, false, spec, err));
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
            return hub_fail(err, HUB_INVALID, "[%s %.60s]: another rule is called so", word, rule);
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
