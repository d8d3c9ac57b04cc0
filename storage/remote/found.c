/* Datasets of remotes that keep only files: see found.h. */
#include "storage/remote/found.h"

#include "storage/base/nearest.h"
#include "storage/base/order.h"
#include "storage/ids/id.h"
#include "storage/ids/version.h"
#include "storage/model/format_row.h"
#include "storage/remote/bounds.h"
#include "storage/text/time.h"

#include <stdio.h>
#include <stdlib.h>

enum { METADATA_BYTES = 64 * 1024 * 1024, MAX_FOUND = 1000 * 1000, MAX_NAMED = 5 };

void hub_found_dispose(struct hub_found_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        free(list->items[i].id);
        free(list->items[i].url);
        free(list->items[i].problem);
        json_decref(list->items[i].metadata);
    }
    free(list->items);
    *list = (struct hub_found_list){0};
}

/* ---- by their names ---- */

enum hub_status hub_found_add(struct hub_found_list *list, const char *id,
                              const struct hub_remote_files *tree, const char *folder, struct hub_found **out,
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf head = HUB_BUF_INIT(8 * KIB);
    HUB_TRY(hub_buf_addf(&head, err, "%s%s", folder, *folder ? "/" : ""));
    if (list->count == MAX_FOUND)
        return hub_fail(err, HUB_TOO_BIG, "more than %d datasets: narrow the list with a prefix", MAX_FOUND);
    HUB_TRY(hub_grow(&list->items, list->count, &list->capacity, sizeof *list->items, err));
    struct hub_found *found = &list->items[list->count];
    *found = (struct hub_found){0};
    HUB_TRY(hub_dup(&found->id, id, err));
    list->count++;
    const struct hub_view key = hub_buf_view(&head);
    const uint32_t first =
        hub_lower_bound(&key, tree->items, tree->count, sizeof *tree->items, hub_view_by_text);
    uint32_t at = first;
    for (; at < tree->count && strncmp(tree->items[at].path, head.data, head.size) == 0; at++) {
        found->size += tree->items[at].size;
        found->modified_ns = HUB_MAX(found->modified_ns, tree->items[at].modified_ns);
    }
    found->files = at - first;
    *out = found;
    return found->files
               ? hub_remote_revision(&tree->items[first], found->files, head.size, found->revision, err)
               : HUB_OK;
}

bool hub_found_describes(const struct hub_remote_files *tree, uint32_t first, uint32_t end)
{
    while (first < end &&
           hub_view_is(hub_view_behind(hub_view_of(tree->items[first].path), '/'), "namespace_metadata.json"))
        first++;
    return first == end;
}

static bool has_file(const struct hub_remote_files *tree, const char *folder, const char *name)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(8 * KIB);
    const char *key;
    if (hub_buf_addf(&path, NULL, "%s/%s", folder, name))
        return false;
    key = path.data;
    return tree->count && bsearch(&key, tree->items, tree->count, sizeof *tree->items, hub_by_text);
}

enum hub_status hub_found_scan(struct hub_found_list *list, const struct hub_remote_files *tree,
                               const char *head, struct hub_error *err)
{
    static const char main_data[] = "/data/main_data.hdf5", metadata[] = "/data/metadata.json";
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct hub_file_facts *file = &tree->items[i];
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf id = HUB_BUF_INIT(8 * KIB);
        HUB_CLEANUP(hub_freep) char *folder = NULL;
        struct hub_found *found;
        const bool new = hub_view_ends(hub_view_of(file->path), metadata);
        if (!new && (!file->custom || !hub_view_ends(hub_view_of(file->path), main_data)))
            continue;
        const size_t size = strlen(file->path) - (new ? sizeof metadata : sizeof main_data) + 1;
        folder = strndup(file->path, size);
        HUB_TRY(hub_allocated(folder, err));
        HUB_TRY(hub_buf_addf(&id, err, "%s%s", head, folder));
        if ((!new &&has_file(tree, folder, metadata + 1)) || hub_id_check(hub_buf_view(&id), NULL))
            continue;
        HUB_TRY(hub_found_add(list, id.data, tree, folder, &found, err));
        found->old = !new;
        found->metadata = new ? NULL : json_incref(file->custom);
    }
    return HUB_OK;
}

/* ---- their metadata ---- */

/* What Python wrote: NaN and Infinity are in it. */
static enum hub_status parse_metadata(struct hub_found *found, struct hub_view text, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf strict = HUB_BUF_INIT(2 * (size_t)METADATA_BYTES);
    if (hub_json_strict(text, &strict, NULL) ||
        hub_json_parse(hub_buf_view(&strict), strict.limit, &found->metadata, NULL))
        return hub_dup(&found->problem, "its metadata.json is not JSON", err);
    return json_is_object(found->metadata)
               ? HUB_OK
               : hub_dup(&found->problem, "its metadata.json is not an object", err);
}

static const char *url_of(size_t index, void *user)
{
    return ((struct hub_found **)user)[index]->url;
}

static enum hub_status loaded(size_t index, enum hub_status st, struct hub_view text, void *user,
                              struct hub_error *err)
{
    struct hub_found *found = ((struct hub_found **)user)[index];
    if (st == HUB_NOT_FOUND)
        return hub_dup(&found->problem, "it has no data/metadata.json", err);
    if (st == HUB_TOO_BIG)
        return hub_dup(&found->problem, "its metadata.json is too long", err);
    return st ? st : parse_metadata(found, text, err);
}

static enum hub_status load(struct hub_remote *remote, struct hub_found **wanted, size_t count,
                            struct hub_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (wanted[i]->url && !wanted[i]->metadata && !wanted[i]->problem) {
            struct hub_found *found = wanted[i];
            wanted[i] = wanted[n];
            wanted[n++] = found;
        }
    return hub_remote_each(remote, url_of, n, METADATA_BYTES, loaded, wanted, err);
}

/* ---- summaries ---- */

/* A number that may be written as text: the metadata of 0.4 objects are all strings. */
static json_int_t number_of(const json_t *metadata, const char *key)
{
    const json_t *value = json_object_get(metadata, key);
    const char *text = json_string_value(value);
    const json_int_t n = text ? (json_int_t)strtoll(text, NULL, 10) : (json_int_t)json_number_value(value);
    return HUB_MAX(n, 0);
}

static const char *text_of(const json_t *metadata, const char *key)
{
    const char *text = hub_member_text(metadata, key);
    return text && *text ? text : NULL;
}

/* A list as it is, of one text, or of Python's "['a' 'b']". Free it. */
static json_t *list_of(const json_t *metadata, const char *key, bool old)
{
    json_t *value = json_object_get(metadata, key), *list = json_array();
    const char *text = json_string_value(value);
    if (json_is_array(value)) {
        json_decref(list);
        return json_incref(value);
    }
    if (!text || !*text)
        return list;
    if (!old || *text != '[') {
        json_array_append_new(list, json_string(text));
        return list;
    }
    for (const char *at = text; (at = strpbrk(at, "'\""));) {
        const char *end = strchr(at + 1, *at);
        if (!end)
            break;
        json_array_append_new(list, json_stringn(at + 1, (size_t)(end - at - 1)));
        at = end + 1;
    }
    return list;
}

static bool loads(const struct hub_found *found, const char *release)
{
    return !release ||
           (!found->plain && hub_minari_loadable(hub_view_of(text_of(found->metadata, "minari_version")),
                                                 !found->old, hub_view_of(release)));
}

static const char *format_of(const struct hub_found *found)
{
    return !found->plain   ? hub_format_stated(text_of(found->metadata, "data_format"))
           : found->format ? found->format
                           : HUB_FILES_FORMAT;
}

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text)
        json_object_set_new(object, key, json_string(text));
}

static void set_loadable(json_t *out, const struct hub_found *found)
{
    json_t *list = json_array();
    const struct hub_load_rule *rule = hub_load_rule_of(HUB_LIBRARY_MINARI);
    const struct hub_view stated = hub_view_of(text_of(found->metadata, "minari_version")),
                          era = found->old ? HUB_VIEW("") : HUB_VIEW("E5");
    const char *release;
    for (size_t at = 0; !found->plain && (release = hub_load_rule_next(rule, stated, era, &at));)
        json_array_append_new(list, json_string(release));
    json_object_set_new(out, "loadable_by", list);
}

static json_t *summary_of(const struct hub_found *found)
{
    const char *slash = strrchr(found->id, '/'), *name = slash ? slash + 1 : found->id;
    const json_t *m = found->metadata;
    struct hub_view alias;
    uint32_t version = 0;
    char time[HUB_TIME_CHARS];
    const bool versioned = hub_id_split_alias(hub_view_of(name), &alias, &version);
    json_t *out = json_object();
    set_text(out, "id", found->id);
    if (slash)
        json_object_set_new(out, "namespace", json_stringn(found->id, (size_t)(slash - found->id)));
    json_object_set_new(out, "name", json_stringn(alias.data, alias.size));
    if (versioned)
        json_object_set_new(out, "version", json_integer(version));
    set_text(out, "format", format_of(found));
    set_text(out, "status", found->problem ? "broken" : "ready");
    set_text(out, "reason", found->problem);
    json_object_set_new(out, "episodes", json_integer(number_of(m, "total_episodes")));
    json_object_set_new(out, "steps", json_integer(number_of(m, "total_steps")));
    if (found->files || !found->plain) /* else it was not looked into */
        json_object_set_new(out, "size", json_integer((json_int_t)found->size));
    set_text(out, "minari_version", text_of(m, "minari_version"));
    if (!found->plain && !found->problem)
        set_loadable(out, found);
    set_text(out, "description", text_of(m, "description"));
    json_object_set_new(out, "authors", list_of(m, "author", found->old));
    if (*found->revision)
        set_text(out, "revision", found->revision);
    if (found->modified_ns) {
        hub_time_rfc3339_ms(found->modified_ns / 1000000, time);
        set_text(out, "modified", time);
    }
    return out;
}

/* ---- listings ---- */

static struct hub_view alias_of(const struct hub_found *found)
{
    struct hub_view alias;
    uint32_t version;
    (void)hub_id_split_alias(hub_view_of(found->id), &alias, &version);
    return alias;
}

static int by_id(const void *a, const void *b)
{
    return hub_id_compare(hub_view_of((*(struct hub_found *const *)a)->id),
                          hub_view_of((*(struct hub_found *const *)b)->id));
}

/* Of sorted datasets the newest of each name. */
static size_t newest(struct hub_found **items, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (n && hub_view_equal(alias_of(items[n - 1]), alias_of(items[i])))
            n--;
        items[n++] = items[i];
    }
    return n;
}

struct sort_order {
    const char *key;
    bool down;
};

static int by_key(const void *a, const void *b, void *user)
{
    const struct hub_found *x = *(struct hub_found *const *)a, *y = *(struct hub_found *const *)b;
    const struct sort_order *order = user;
    const struct hub_view one = hub_view_behind(alias_of(x), '/'), other = hub_view_behind(alias_of(y), '/');
    int64_t difference = 0;
    if (strcmp(order->key, "size") == 0)
        difference = (x->size > y->size) - (x->size < y->size);
    else if (strcmp(order->key, "modified") == 0)
        difference = (x->modified_ns > y->modified_ns) - (x->modified_ns < y->modified_ns);
    else if (strcmp(order->key, "episodes") == 0)
        difference = number_of(x->metadata, "total_episodes") - number_of(y->metadata, "total_episodes");
    else if (strcmp(order->key, "steps") == 0)
        difference = number_of(x->metadata, "total_steps") - number_of(y->metadata, "total_steps");
    else if (strcmp(order->key, "name") == 0)
        difference = strncmp(one.data, other.data, HUB_MAX(one.size, other.size));
    if (!difference)
        return order->down && strcmp(order->key, "id") == 0 ? -by_id(a, b) : by_id(a, b);
    return (difference > 0) == order->down ? -1 : 1;
}

static enum hub_status sort(struct hub_found **items, size_t count, const char *text, struct hub_error *err)
{
    static const char *const keys[] = {"id", "name", "episodes", "steps", "size", "modified"};
    struct sort_order order = {.key = text, .down = *text == '-'};
    order.key += order.down;
    for (size_t i = 0; i < HUB_COUNT(keys); i++)
        if (strcmp(keys[i], order.key) == 0) {
            if (count)
                qsort_r(items, count, sizeof *items, by_key, &order);
            return HUB_OK;
        }
    return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_PARAMETER, "sort", text,
                          "cannot sort by '%.100s': id, name, episodes, steps, size, modified", text);
}

static enum hub_status emit(const struct hub_found *found, const struct hub_remote_query *q,
                            hub_remote_item_fn fn, void *user, struct hub_error *err)
{
    if ((q->format && strcmp(q->format, format_of(found)) != 0) ||
        (q->status && strcmp(q->status, found->problem ? "broken" : "ready") != 0))
        return HUB_OK;
    HUB_CLEANUP(hub_json_decrefp) json_t *item = summary_of(found);
    HUB_CLEANUP(hub_freep) char *text = json_dumps(item, JSON_COMPACT);
    HUB_TRY(hub_allocated(text, err));
    return fn(item, hub_view_of(text), user, err);
}

static size_t select_loadable(struct hub_found **items, size_t count, const char *release)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (loads(items[i], release))
            items[n++] = items[i];
    return n;
}

enum hub_status hub_found_each(struct hub_remote *remote, struct hub_found_list *list,
                               const struct hub_remote_query *q, hub_remote_item_fn fn, void *user,
                               struct hub_error *err)
{
    size_t n = 0;
    HUB_CLEANUP(hub_freep) struct hub_found **chosen = NULL;
    for (const struct hub_remote_filter *f = q->filters; f && f->name; f++)
        if (f->value)
            return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_PARAMETER, f->name, f->value,
                                  "only a hub can search datasets by %s: this remote can only be listed, "
                                  "with or without a prefix",
                                  strcmp(f->name, "q") == 0 ? "words" : f->name);
    HUB_TRY(hub_new(&chosen, list->count, sizeof *chosen, err));
    for (uint32_t i = 0; i < list->count; i++)
        if (hub_remote_has_prefix(list->items[i].id, q->prefix))
            chosen[n++] = &list->items[i];
    qsort(chosen, n, sizeof *chosen, by_id);
    if (q->latest && !q->release)
        n = newest(chosen, n); /* before their metadata are fetched: of the others none are needed */
    if (!q->brief || q->release) {
        HUB_TRY(load(remote, chosen, n, err));
        qsort(chosen, n, sizeof *chosen, by_id);
    }
    n = select_loadable(chosen, n, q->release);
    if (q->latest && q->release)
        n = newest(chosen, n);
    if (q->sort)
        HUB_TRY(sort(chosen, n, q->sort, err));
    for (size_t i = 0; i < n; i++)
        HUB_TRY(emit(chosen[i], q, fn, user, err));
    return HUB_OK;
}

/* ---- one dataset ---- */

/* The text of a space or a specification is JSON itself. */
static void set_parsed(json_t *out, const char *key, const json_t *metadata)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf strict = HUB_BUF_INIT(2 * (size_t)METADATA_BYTES);
    const char *text = text_of(metadata, key);
    json_t *value = NULL;
    if (text && !hub_json_strict(hub_view_of(text), &strict, NULL) &&
        !hub_json_parse(hub_buf_view(&strict), strict.limit, &value, NULL)) {
        hub_bounds_collapse(value);
        json_object_set_new(out, key, value);
    }
}

static json_t *document_of(const struct hub_found *found, struct hub_found **versions, size_t count)
{
    static const char *const parsed[] = {"observation_space", "action_space", "env_spec", "eval_env_spec"};
    json_t *out = summary_of(found), *list = json_array(), *problems = json_array();
    json_t *metadata = found->metadata ? json_copy(found->metadata) : json_object();
    for (size_t i = 0; i < HUB_COUNT(parsed); i++) {
        set_parsed(out, parsed[i], metadata);
        json_object_del(metadata, parsed[i]);
    }
    json_object_set_new(out, "combined", list_of(metadata, "combined_datasets", found->old));
    json_object_set_new(out, "metadata", metadata);
    json_object_set_new(out, "files", json_integer(found->files));
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, summary_of(versions[i]));
    json_object_set_new(out, "versions", list);
    if (found->problem)
        json_array_append_new(problems,
                              json_pack("{s:s, s:s}", "code", "bad-metadata", "detail", found->problem));
    json_object_set_new(out, "problems", problems);
    return out;
}

/* Those of one name; the one that was asked for, or the newest that the release reads, is `*out`. */
static void choose(struct hub_found **versions, size_t count, const char *id, const char *release,
                   struct hub_found **out)
{
    *out = NULL;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(versions[i]->id, id) == 0) {
            *out = versions[i];
            return;
        }
        if (hub_view_is(alias_of(versions[i]), id) && loads(versions[i], release))
            *out = versions[i];
    }
}

static enum hub_status offer(json_t *item, struct hub_view text, void *user, struct hub_error *err)
{
    char *id;
    struct hub_view key;
    uint32_t version;
    (void)text;
    HUB_TRY(hub_dup(&id, hub_member_text(item, "id"), err));
    (void)hub_id_split_alias(hub_view_of(id), &key, &version);
    char *name = hub_view_dup(key);
    if (name)
        free((char *)hub_nearest_offer(user, name, id));
    free(name);
    return hub_allocated(name, err);
}

/* Of all that the remote lists: who misspelled an id is worth one more listing. */
static void name_nearest(struct hub_remote *remote, struct hub_view name, struct hub_error *err)
{
    struct hub_nearest nearest;
    const struct hub_remote_query query = {.latest = true, .brief = true};
    if (!err || !hub_nearest_begin(&nearest, name, MAX_NAMED))
        return;
    (void)!remote->kind->list(remote, &query, offer, &nearest, NULL);
    for (uint32_t i = 0; i < nearest.count; i++) {
        const size_t at = strlen(err->detail);
        snprintf(err->detail + at, sizeof err->detail - at, "%s%.200s%s",
                 i ? ", " : " (nearest: ", (const char *)nearest.items[i], i + 1 == nearest.count ? ")" : "");
        free((char *)nearest.items[i]);
    }
}

static enum hub_status not_found(struct hub_remote *remote, struct hub_found **versions, size_t count,
                                 const char *id, struct hub_view name, struct hub_error *err)
{
    hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND, "there is no dataset '%.200s'", id);
    if (!count)
        name_nearest(remote, name, err);
    for (size_t i = count > 8 ? count - 8 : 0; err && i < count; i++) {
        const size_t at = strlen(err->detail), first = count > 8 ? count - 8 : 0;
        snprintf(err->detail + at, sizeof err->detail - at, "%s%.200s%s", i == first ? " (there are: " : ", ",
                 versions[i]->id, i + 1 == count ? ")" : "");
    }
    return HUB_NOT_FOUND;
}

enum hub_status hub_found_describe(struct hub_remote *remote, struct hub_found_list *list, const char *id,
                                   const char *release, struct hub_buf *text, json_t **out,
                                   struct hub_error *err)
{
    struct hub_view name;
    uint32_t version;
    size_t n = 0;
    struct hub_found *found;
    HUB_CLEANUP(hub_freep) struct hub_found **versions = NULL;
    (void)hub_id_split_alias(hub_view_of(id), &name, &version);
    HUB_TRY(hub_new(&versions, list->count, sizeof *versions, err));
    for (uint32_t i = 0; i < list->count; i++)
        if (hub_view_equal(alias_of(&list->items[i]), name))
            versions[n++] = &list->items[i];
    HUB_TRY(load(remote, versions, n, err));
    qsort(versions, n, sizeof *versions, by_id);
    choose(versions, n, id, release, &found);
    if (!found)
        return not_found(remote, versions, n, id, name, err);
    HUB_CLEANUP(hub_json_decrefp) json_t *document = document_of(found, versions, n);
    HUB_CLEANUP(hub_freep) char *dumped = json_dumps(document, JSON_COMPACT);
    HUB_TRY(hub_allocated(dumped, err));
    HUB_TRY(hub_buf_add_text(text, dumped, err));
    *out = json_incref(document);
    return HUB_OK;
}
