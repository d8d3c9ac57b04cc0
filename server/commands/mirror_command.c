/* `minari-hub mirror`: see mirror_command.h. */
#include "server/commands/mirror_command.h"

#include "server/commands/admin.h"
#include "server/commands/command.h"
#include "server/commands/control.h"
#include "server/mirror/document.h"
#include "server/mirror/left.h"
#include "server/mirror/preview.h"
#include "server/mirror/spec.h"
#include "server/mirror/uncovered.h"
#include "server/service/declared_access.h"
#include "server/service/mirror_options.h"
#include "server/service/stores.h"
#include "storage/model/format_row.h"
#include "storage/text/number.h"
#include "storage/text/time.h"
#include "storage/text/uri.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mirror_command {
    struct hub_mirror_options own;
    const char *action, *object; /* the remote, or a rule's name */
};

/* ---- reading ---- */

static enum hub_status take_word(void *user, const char *word, struct hub_error *err)
{
    struct mirror_command *c = user;
    const char **free_place = !c->action ? &c->action : !c->object ? &c->object : NULL;
    if (!free_place)
        return hub_fail(err, HUB_INVALID, "\"%.80s\" is an extra argument", word);
    *free_place = word;
    return HUB_OK;
}

/* ---- through the running hub ---- */

static enum hub_status add_parameter(struct hub_buf *target, const char *name, const char *value,
                                     struct hub_error *err)
{
    HUB_TRY(hub_buf_addf(target, err, "%c%s=", memchr(target->data, '?', target->size) ? '&' : '?', name));
    return hub_uri_encode_segment(hub_view_of(value), target, err);
}

static enum hub_status query_hub(const struct mirror_command *c, const char *state, json_t **out,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf target = HUB_BUF_INIT(256 * KIB);
    HUB_CLEANUP(hub_freep) char *spec = json_dumps(c->own.spec, JSON_COMPACT);
    const bool add = strcmp(c->action, "add") == 0, show = strcmp(c->action, "show") == 0;
    HUB_TRY(hub_allocated(spec, err));
    HUB_TRY(hub_buf_add_text(&target, "/api/v1/mirrors", err));
    if (!add && c->object) {
        HUB_TRY(hub_buf_add_text(&target, "/", err));
        HUB_TRY(hub_uri_encode_segment(hub_view_of(c->object), &target, err));
        if (!show)
            HUB_TRY(add_parameter(&target, "do", c->own.anew ? "run-anew" : c->action, err));
    } else if (add) {
        HUB_TRY(add_parameter(&target, "spec", spec, err));
        if (c->own.name)
            HUB_TRY(add_parameter(&target, "name", c->own.name, err));
    } else {
        HUB_TRY(hub_buf_add_text(&target, "?limit=1000", err));
    }
    return hub_control_request(state, c->object && !show, target.data, out, err);
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

/* What the admin should know of a rule that is made where no hub runs. */
static enum hub_status note_about(const char *name, const json_t *spec, struct hub_truth *truth,
                                  const struct hub_config *config, char note[HUB_MIRROR_NOTE],
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_declared_access_dispose) struct hub_declared_access declared = {0};
    struct hub_access_table *table = NULL;
    HUB_TRY(hub_mirror_overlap(truth, name, spec, note, err));
    HUB_TRY(hub_access_declare(config, false, &declared, err));
    HUB_TRY(hub_truth_access_load(truth, &declared, &table, err));
    (void)hub_mirror_uncovered(spec, &config->roots, table, note);
    hub_access_put(table);
    return HUB_OK;
}

static enum hub_status add_rule(const struct mirror_command *c, const char *name, struct hub_truth *truth,
                                const struct hub_config *config, char note[HUB_MIRROR_NOTE],
                                struct hub_error *err)
{
    HUB_TRY(hub_mirror_name_check(name, err));
    HUB_TRY(hub_rule_put(truth, name, false, c->own.spec, err));
    return note_about(name, c->own.spec, truth, config, note, err);
}

static enum hub_status act(const struct mirror_command *c, struct hub_truth *truth,
                           const struct hub_config *config, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * MIB);
    struct direct d = {hub_json_to(&text, err), &config->roots, ""};
    char name[HUB_RULE_NAME_CHARS + 1];
    const bool add = strcmp(c->action, "add") == 0;
    if (add) {
        HUB_TRY(hub_mirror_check(c->own.spec, &config->roots, err));
        hub_mirror_name(c->own.spec, name, sizeof name);
        HUB_TRY(add_rule(c, c->own.name ? c->own.name : name, truth, config, d.note, err));
    } else if (c->object && strcmp(c->action, "show") != 0) {
        HUB_TRY(hub_mirror_act(truth, &config->roots, c->object, c->own.anew ? "run-anew" : c->action, err));
    }
    if (strcmp(c->action, "remove") == 0) {
        *out = json_pack("{s:s}", "removed", c->object);
        return hub_allocated(*out, err);
    }
    HUB_TRY(write_rules(truth, !add ? c->object : c->own.name ? c->own.name : name, &d, err));
    return hub_json_parse(hub_buf_view(&text), 64 * MIB, out, err);
}

static enum hub_status do_directly(const struct mirror_command *c, struct hub_config *config, json_t **out,
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
        printf("%16s %" PRIu64 " of its datasets here are no longer listed but may still be on the remote: "
               "the hub keeps them and does not update them\n",
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

static int print(const struct mirror_command *c, const json_t *answer)
{
    const json_t *items = json_object_get(answer, "items"), *rule;
    size_t i;
    if (c->own.json) {
        if (json_dumpf(items ? items : answer, stdout, JSON_INDENT(2)) || putchar('\n') == EOF)
            return HUB_EXIT_FAILED;
    } else if (items) {
        json_array_foreach(items, i, rule) hub_mirror_print(rule);
        if (!json_array_size(items))
            fputs("there are no mirror rules; `minari-hub mirror add REMOTE` adds one\n", stderr);
    } else if (strcmp(c->action, "show") == 0) {
        print_members(answer);
    } else if (strcmp(c->action, "remove") == 0) {
        fprintf(stderr, "%s is removed; its copies stay\n", c->object);
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
                              hub_format_is_files(format) ? "of plain files" : format);
    }
}

/* What it would take, in a line or two. */
static void print_preview(const struct mirror_command *c, const struct hub_mirror_preview *p)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *left = hub_left_document(&p->left);
    char bytes[HUB_SIZE_CHARS], line[500];
    hub_number_size(p->bytes, bytes);
    format_text(p->formats, line, sizeof line);
    hub_utf8_clean(line, strlen(line));
    fprintf(stderr, "%s has %" PRIu64 " dataset%s, %s%s%s\n", c->object, p->datasets,
            p->datasets == 1 ? "" : "s", bytes, *line ? ": " : "", line);
    hub_left_text(left, json_string_value(json_object_get(c->own.spec, "only")), line, sizeof line);
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
static enum hub_status look_at_remote(const struct mirror_command *c, bool print, struct hub_error *err)
{
    struct hub_mirror_preview preview;
    struct hub_error why = {0};
    HUB_TRY(hub_mirror_check_remote(c->object, err));
    const enum hub_status st = hub_mirror_preview(c->own.spec, &preview, &why);
    if (print && st)
        fprintf(stderr, "%s cannot be listed now: %s\n", c->object, why.detail);
    else if (print)
        print_preview(c, &preview);
    const uint64_t copies = st ? 0 : preview.copies;
    hub_mirror_preview_dispose(&preview);
    return hub_mirror_check_count(c->own.spec, copies, err);
}

/* All that lies there may be more than is thought of: it is shown and asked for, unless the command says
 * what it wants. */
static enum hub_status confirm(const struct mirror_command *c, struct hub_error *err)
{
    char answer[8] = "";
    const bool asks = !c->own.yes && !json_object_get(c->own.spec, "only");
    if (strcmp(c->action, "add") != 0)
        return HUB_OK;
    if (asks || names_one(c->own.spec))
        HUB_TRY(look_at_remote(c, asks, err));
    if (!asks)
        return HUB_OK;
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return hub_fail(
            err, HUB_INVALID,
            "there is no terminal to ask on: --yes mirrors everything, --only minari only Minari's datasets");
    fputs("Mirror everything? [y/N]: ", stderr);
    return fgets(answer, sizeof answer, stdin) && strchr("yY", answer[0])
               ? HUB_OK
               : hub_fail(err, HUB_CANCELLED, "the rule is not added");
}

/* ---- the command ---- */

static enum hub_status check(void *user, struct hub_error *err)
{
    struct mirror_command *c = user;
    static const char *const actions[] = {"add", "list", "show", "run", "pause", "resume", "remove"};
    bool known = false;
    if (!c->action)
        return hub_fail(err, HUB_INVALID,
                        "mirror: name a command: add, list, show, run, pause, resume or remove");
    for (size_t i = 0; i < HUB_COUNT(actions); i++)
        known = known || strcmp(c->action, actions[i]) == 0;
    if (!known)
        return hub_fail(err, HUB_INVALID,
                        "mirror: \"%.60s\" is not one of add, list, show, run, pause, resume, remove",
                        c->action);
    if (!c->object != (strcmp(c->action, "list") == 0))
        return hub_fail(err, HUB_INVALID, "mirror %s %s", c->action,
                        c->object ? "takes no argument" : "needs a REMOTE or the NAME of a rule");
    if (c->own.anew && strcmp(c->action, "run") != 0)
        return hub_fail(err, HUB_INVALID, "--anew is for `mirror run`");
    if (strcmp(c->action, "add") != 0)
        return HUB_OK;
    HUB_TRY(hub_mirror_resolve_root(c->own.spec, err));
    return hub_allocated(json_object_set_new(c->own.spec, "remote", json_string(c->object)) == 0, err);
}

static int run(void *user, struct hub_config *config)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *answer = NULL;
    HUB_CLEANUP(hub_freep) char *state = NULL;
    const struct mirror_command *c = user;
    struct hub_error err = {0};
    enum hub_status st = confirm(c, &err);
    if (!st)
        st = hub_control_state(config, &state, &err);
    if (!st)
        st = query_hub(c, state, &answer, &err);
    if (st == HUB_NOT_FOUND && err.problem != HUB_PROBLEM_MIRROR_NOT_FOUND)
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
    struct mirror_command c = {.own.spec = spec};
    return hub_command_run(&(struct hub_command){.options = HUB_OPTIONS(hub_mirror_rows),
                                                 .set = hub_mirror_option_set,
                                                 .word = take_word,
                                                 .check = check,
                                                 .run = run,
                                                 .user = &c},
                           argv);
}
