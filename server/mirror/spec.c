/* What a mirror rule asks for: see spec.h. */
#include "server/mirror/spec.h"

#include "storage/base/order.h"
#include "storage/ids/id.h"
#include "storage/ids/spell.h"
#include "storage/remote/remote.h"
#include "storage/scan/presence.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { EVERY_S = 6 * 3600, MIN_EVERY_S = 10, MAX_EVERY_S = 30 * 86400, MAX_PATTERNS = 100 };

static enum hub_status wrong(const char *member, const char *value, const char *why, struct hub_error *err)
{
    return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_PARAMETER, member, value, "%s%s%.200s%s: %s",
                          member, *value ? " \"" : "", value, *value ? "\"" : "", why);
}

static enum hub_status check_types(const json_t *spec, struct hub_error *err)
{
    static const struct {
        const char *name;
        json_type type;
    } members[] = {{"remote", JSON_STRING}, {"prefix", JSON_STRING},     {"as", JSON_STRING},
                   {"only", JSON_STRING},   {"root", JSON_STRING},       {"every", JSON_INTEGER},
                   {"limit", JSON_INTEGER}, {"token-file", JSON_STRING}, {"include", JSON_ARRAY},
                   {"exclude", JSON_ARRAY}, {"delete", JSON_TRUE},       {"internal", JSON_TRUE}};
    const char *key;
    const json_t *value;
    json_object_foreach((json_t *)spec, key, value)
    {
        size_t i = 0;
        while (i < HUB_COUNT(members) && strcmp(members[i].name, key) != 0)
            i++;
        if (i == HUB_COUNT(members))
            return wrong(key, "", "mirror rules have no such member", err);
        if (json_typeof(value) != members[i].type)
            return wrong(key, "", "its value has the wrong type", err);
    }
    return HUB_OK;
}

enum hub_status hub_mirror_check_remote(const char *remote, struct hub_error *err)
{
    struct hub_view rest;
    const struct hub_remote_row *row = hub_remote_find(hub_view_of(remote), &rest);
    if (strchr(remote, '@') &&
        strncasecmp(remote, "hf:", 3) != 0) /* not shown: a password may stand before it */
        return wrong("remote", "", "it must not have a user or password: use --token-file", err);
    if (!row || !row->kind || !row->kind->is_address(rest) || strpbrk(remote, "?# "))
        return wrong("remote", remote,
                     "it must be http://HOST[:PORT] or https://HOST[:PORT] (a hub), gcp://BUCKET[/PREFIX] or "
                     "hf://ORG[/REPO[@REVISION]]",
                     err);
    return HUB_OK;
}

static enum hub_status check_patterns(const json_t *spec, const char *member, struct hub_error *err)
{
    const json_t *list = json_object_get(spec, member), *pattern;
    size_t i;
    if (json_array_size(list) > MAX_PATTERNS)
        return wrong(member, "", "there may be at most 100 patterns", err);
    json_array_foreach(list, i, pattern)
    {
        if (!json_is_string(pattern) || !*json_string_value(pattern))
            return wrong(member, "", "a pattern must be a text like *.h5", err);
    }
    return HUB_OK;
}

static enum hub_status check_number(const json_t *spec, const char *member, json_int_t least, json_int_t most,
                                    const char *why, struct hub_error *err)
{
    const json_t *value = json_object_get(spec, member);
    return value && (json_integer_value(value) < least || json_integer_value(value) > most)
               ? wrong(member, "", why, err)
               : HUB_OK;
}

static enum hub_status check_as(const char *as, struct hub_error *err)
{
    struct hub_view id = hub_view_of(as);
    struct hub_error why = {0};
    if (hub_view_ends(id, "/"))
        id.size--;
    HUB_CLEANUP(hub_freep) char *text = hub_view_dup(id);
    HUB_TRY(hub_allocated(text, err));
    return hub_folder_check(hub_view_of(text), &why) ? wrong("as", as, why.detail, err) : HUB_OK;
}

static enum hub_status check_token_file(const char *path, struct hub_error *err)
{
    if (*path != '/')
        return wrong("token-file", path, "it must be an absolute path", err);
    return access(path, R_OK) ? wrong("token-file", path, "the hub cannot read it", err) : HUB_OK;
}

static const char *const onlys[] = {[HUB_REMOTE_MINARI] = "minari", [HUB_REMOTE_TREE] = "tree"};

static enum hub_status check_only(const char *only, struct hub_error *err)
{
    return !only || strcmp(only, onlys[HUB_REMOTE_MINARI]) == 0 || strcmp(only, onlys[HUB_REMOTE_TREE]) == 0
               ? HUB_OK
               : wrong("only", only,
                       "it must be minari (Minari's datasets) or tree (everything as one dataset)", err);
}

enum hub_remote_only hub_mirror_only(const json_t *spec)
{
    const char *only = hub_member_text(spec, "only");
    for (enum hub_remote_only i = HUB_REMOTE_MINARI; only && i <= HUB_REMOTE_TREE; i++)
        if (strcmp(only, onlys[i]) == 0)
            return i;
    return HUB_REMOTE_EVERYTHING;
}

/* The one that is named, or the only one that may be written. */
static enum hub_status set_root(json_t *spec, const struct hub_roots *roots, struct hub_error *err)
{
    const char *requested = hub_member_text(spec, "root");
    const struct hub_root *found = NULL;
    unsigned fit = 0;
    for (uint32_t i = 0; i < roots->count; i++) {
        const struct hub_root *root = &roots->roots[i];
        if (requested ? strcmp(requested, hub_root_key(root)) != 0 && strcmp(requested, root->path) != 0
                      : root->read_only)
            continue;
        found = root;
        fit++;
    }
    if (!fit)
        return wrong(
            "root", requested ? requested : "",
            requested ? "there is no root of this name" : "the hub may not write in any of its roots", err);
    if (fit > 1)
        return wrong("root", "", "there are several roots: name one", err);
    if (found->read_only)
        return wrong("root", requested, "it is read-only in the configuration (:ro)", err);
    return hub_allocated(json_object_set_new(spec, "root", json_string(hub_root_key(found))) == 0, err);
}

enum hub_status hub_mirror_check(json_t *spec, const struct hub_roots *roots, struct hub_error *err)
{
    if (!json_is_object(spec))
        return hub_fail(err, HUB_INVALID, "a mirror rule must be a JSON object");
    HUB_TRY(check_types(spec, err));
    const char *remote = hub_member_text(spec, "remote"), *as = hub_member_text(spec, "as"),
               *token = hub_member_text(spec, "token-file");
    HUB_TRY(hub_mirror_check_remote(remote ? remote : "", err));
    if (as)
        HUB_TRY(check_as(as, err));
    if (token)
        HUB_TRY(check_token_file(token, err));
    HUB_TRY(check_only(hub_member_text(spec, "only"), err));
    HUB_TRY(check_patterns(spec, "include", err));
    HUB_TRY(check_patterns(spec, "exclude", err));
    HUB_TRY(check_number(spec, "every", MIN_EVERY_S, MAX_EVERY_S, "it must be between 10s and 30 days", err));
    HUB_TRY(check_number(spec, "limit", 64 * 1024, INT64_MAX, "it must be at least 64K per second", err));
    if (!json_object_get(spec, "every") && json_object_set_new(spec, "every", json_integer(EVERY_S)))
        return hub_no_memory(err);
    return set_root(spec, roots, err);
}

void hub_mirror_name(const json_t *spec, char *out, size_t size)
{
    const char *as = hub_member_text(spec, "as"), *remote = hub_member_text(spec, "remote");
    const char *from = as ? as : remote ? strstr(remote, "://") + 3 : "mirror";
    size_t n = 0;
    for (; *from && n + 1 < size; from++) {
        if (isalnum((unsigned char)*from) || *from == '.' || *from == '_')
            out[n++] = *from;
        else if (n && out[n - 1] != '-')
            out[n++] = '-';
    }
    while (n && out[n - 1] == '-')
        n--;
    out[n] = '\0';
}

enum hub_status hub_mirror_name_check(const char *name, struct hub_error *err)
{
    const size_t size = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
    return !size || name[size] || size > HUB_RULE_NAME_CHARS
               ? wrong("name", name, "a rule's name has at most 64 letters, digits, '.', '-' and '_'", err)
               : HUB_OK;
}

enum hub_status hub_mirror_root(const json_t *spec, const struct hub_roots *roots, uint32_t *out,
                                struct hub_error *err)
{
    const char *key = hub_member_text(spec, "root");
    for (uint32_t i = 0; key && i < roots->count; i++) {
        if (strcmp(hub_root_key(&roots->roots[i]), key) != 0)
            continue;
        *out = i;
        return roots->roots[i].read_only
                   ? hub_fail(err, HUB_DENIED, "the root %s is read-only in the configuration (:ro)", key)
                   : HUB_OK;
    }
    return hub_fail(err, HUB_NOT_FOUND, "there is no longer a root named %s", key ? key : "");
}

enum hub_status hub_mirror_path(const json_t *spec, const char *remote_id, char **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(64 * KIB);
    const char *as = hub_member_text(spec, "as");
    HUB_TRY(hub_id_folder(hub_view_of(as ? as : ""), &path, err));
    if (!as || hub_view_ends(hub_view_of(as), "/"))
        HUB_TRY(hub_id_folder(hub_view_of(remote_id), &path, err));
    HUB_TRY(hub_folder_check(hub_buf_view(&path), err));
    return hub_dup(out, path.data, err);
}

/* An id that is too long is refused later. */
bool hub_mirror_is_around(const struct hub_mirror_listing *listing, const char *id)
{
    char below[HUB_MAX_ID + 2];
    if (strcmp(id, "root-files") == 0)
        return true;
    const int size = snprintf(below, sizeof below, "%s/", id);
    if (size >= (int)sizeof below)
        return false;
    const struct hub_view key = {below, (size_t)size};
    const uint32_t at =
        hub_lower_bound(&key, listing->items, listing->count, listing->size, hub_view_by_text);
    const char *const *next = (const void *)((const char *)listing->items + at * listing->size);
    return at < listing->count && strncmp(*next, below, key.size) == 0;
}

enum hub_status hub_mirror_check_count(const json_t *spec, uint64_t count, struct hub_error *err)
{
    const char *as = hub_member_text(spec, "as");
    return as && !hub_view_ends(hub_view_of(as), "/") && count > 1
               ? hub_fail(err, HUB_INVALID,
                          "%.200s has %" PRIu64
                          " datasets, which cannot all be called '%.200s': put it before "
                          "their ids with --as %.200s/, take one of them with --prefix, or take a bucket as "
                          "one dataset with --only tree",
                          hub_member_text(spec, "remote"), count, as, as)
               : HUB_OK;
}

/* ---- two rules over one place ---- */

/* What the paths of a rule's copies begin with; `exact`: it is the path of the only one. */
struct copy_prefix {
    char path[2 * HUB_MAX_ID + 2];
    bool exact, own; /* the rule names it: --as */
};

static struct copy_prefix prefix_of(const json_t *spec)
{
    struct copy_prefix out;
    const char *as = hub_member_text(spec, "as"), *prefix = hub_member_text(spec, "prefix");
    out.own = as;
    out.exact = as && !hub_view_ends(hub_view_of(as), "/");
    snprintf(out.path, sizeof out.path, "%s%s", as ? as : "", out.exact || !prefix ? "" : prefix);
    return out;
}

static bool meet(const struct copy_prefix *a, const struct copy_prefix *b)
{
    const size_t size_a = strlen(a->path), size_b = strlen(b->path), common = HUB_MIN(size_a, size_b);
    if (strncmp(a->path, b->path, common) != 0)
        return false;
    if ((!size_a && b->own) || (!size_b && a->own))
        return false; /* a name that was chosen is seldom another remote's as well */
    return size_a == size_b || !(size_a < size_b ? a : b)->exact;
}

struct overlap {
    const char *name;
    const json_t *spec;
    char *note;
};

static enum hub_status look_at_other(void *user, const struct hub_rule *rule, struct hub_error *err)
{
    const struct overlap *o = user;
    const struct copy_prefix mine = prefix_of(o->spec), other = prefix_of(rule->spec);
    const char *remote = hub_member_text(rule->spec, "remote");
    (void)err;
    if (*o->note || strcmp(rule->name, o->name) == 0 || !meet(&mine, &other) ||
        !json_equal(json_object_get(o->spec, "root"), json_object_get(rule->spec, "root")))
        return HUB_OK;
    snprintf(o->note, HUB_MIRROR_NOTE,
             "the rule '%s' copies %.150s to the same place: only one of the two fetches a dataset with the "
             "same id; --as NAME/ separates them",
             rule->name, remote ? remote : "");
    return HUB_OK;
}

enum hub_status hub_mirror_overlap(struct hub_truth *truth, const char *name, const json_t *spec,
                                   char note[HUB_MIRROR_NOTE], struct hub_error *err)
{
    struct overlap o = {name, spec, note};
    note[0] = '\0';
    return hub_rules_each(truth, look_at_other, &o, err);
}

static enum hub_status remove_rule(struct hub_truth *truth, const char *name, struct hub_error *err)
{
    struct hub_rule rule;
    HUB_TRY(hub_rule_find(truth, name, &rule, err));
    const bool from_file = rule.from_file;
    hub_rule_dispose(&rule);
    return from_file
               ? hub_fail(err, HUB_DENIED,
                          "the rule '%s' is in the configuration file: remove it there, or pause it", name)
               : hub_rule_remove(truth, name, err);
}

static enum hub_status run_anew(struct hub_truth *truth, const struct hub_roots *roots, const char *name,
                                struct hub_error *err)
{
    struct hub_rule rule;
    uint32_t root;
    HUB_TRY(hub_rule_find(truth, name, &rule, err));
    enum hub_status st = hub_mirror_root(rule.spec, roots, &root, err);
    hub_rule_dispose(&rule);
    if (!st)
        st = hub_presence_forget(truth, root, err);
    return st ? st : hub_rule_run(truth, name, err);
}

enum hub_status hub_mirror_act(struct hub_truth *truth, const struct hub_roots *roots, const char *name,
                               const char *action, struct hub_error *err)
{
    if (strcmp(action, "run-anew") == 0)
        return run_anew(truth, roots, name, err);
    if (strcmp(action, "run") == 0)
        return hub_rule_run(truth, name, err);
    if (strcmp(action, "remove") == 0)
        return remove_rule(truth, name, err);
    return hub_rule_pause(truth, name, strcmp(action, "pause") == 0, err);
}
