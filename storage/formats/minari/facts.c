/*
 * What describes a whole Minari dataset: data/metadata.json (E5) or the root attributes of main_data.hdf5
 * (E3, E4). Spaces and environment specifications are JSON text inside a string; they go out both as written
 * and as strict JSON.
 */
#include "storage/base/json.h"
#include "storage/formats/minari/minari.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_METADATA = 16 * 1024 * 1024, MAX_KEPT_TEXT = 64 * 1024 };

static enum hub_status number_fact(struct hub_sink *sink, const char *key, int64_t value,
                                   struct hub_error *err)
{
    char digits[24];
    if (value < 0)
        return hub_sink_problem(sink, "bad-metadata", hub_view_of(key), err, "a negative count");
    const int n = snprintf(digits, sizeof digits, "%" PRId64, value);
    return hub_sink_fact(sink, key, (struct hub_view){digits, (size_t)n}, err);
}

/* A JSON text kept in a string: "<key>_text" as written, "<key>" as strict JSON, and the image paths of
 * spaces. */
static enum hub_status text_fact(struct hub_sink *sink, const char *key, struct hub_view text,
                                 const char *images, struct hub_buf *hint, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf strict = HUB_BUF_INIT(2 * (size_t)HUB_MAX_TEXT);
    struct hub_error why = {0};
    char name[64];
    snprintf(name, sizeof name, "%s_text", key);
    HUB_TRY(hub_sink_fact(sink, name, text, err));
    if (hub_json_strict(text, &strict, &why))
        return hub_sink_problem(sink, "bad-metadata", hub_view_of(key), err, "not JSON: %s", why.detail);
    HUB_TRY(hub_sink_fact(sink, key, hub_buf_view(&strict), err));
    return images ? minari_image_paths(strict.data, strict.size, images, hint, err) : HUB_OK;
}

/* ---- image paths ---- */

struct path {
    char text[HUB_MAX_PATH];
    size_t size;
};

static bool is_pixels(const json_t *box)
{
    const char *dtype = json_string_value(json_object_get(box, "dtype"));
    const size_t rank = json_array_size(json_object_get(box, "shape"));
    return dtype && strcmp(dtype, "uint8") == 0 && (rank == 2 || rank == 3);
}

static enum hub_status walk_space(const json_t *space, struct path *path, unsigned depth,
                                  struct hub_buf *hint);

static enum hub_status walk_child(const json_t *child, struct path *path, const char *name, unsigned depth,
                                  struct hub_buf *hint)
{
    const size_t before = path->size, room = sizeof path->text - before;
    const int n = snprintf(path->text + before, room, "/%s", name);
    if (n < 0 || (size_t)n >= room)
        return HUB_OK;
    path->size += (size_t)n;
    const enum hub_status st = walk_space(child, path, depth + 1, hint);
    path->size = before;
    path->text[before] = '\0';
    return st;
}

static enum hub_status walk_space(const json_t *space, struct path *path, unsigned depth,
                                  struct hub_buf *hint)
{
    const char *type = json_string_value(json_object_get(space, "type"));
    const json_t *children = json_object_get(space, "subspaces");
    if (!type || depth > MINARI_MAX_DEPTH)
        return HUB_OK;
    if (strcmp(type, "Box") == 0 && is_pixels(space))
        return hub_buf_addf(hint, NULL, "image %s\n", path->text);
    if (strcmp(type, "Dict") == 0 && json_is_object(children)) {
        const char *key;
        json_t *child;
        json_object_foreach((json_t *)children, key, child)
            HUB_TRY(walk_child(child, path, key, depth, hint));
    }
    for (size_t i = 0; strcmp(type, "Tuple") == 0 && i < json_array_size(children); i++) {
        char name[32];
        snprintf(name, sizeof name, "_index_%zu", i);
        HUB_TRY(walk_child(json_array_get(children, i), path, name, depth, hint));
    }
    return HUB_OK;
}

/* A note that does not fit says "image *": then only the bytes decide. */
enum hub_status minari_image_paths(const char *space_json, size_t size, const char *root,
                                   struct hub_buf *hint, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *space = NULL;
    struct path path = {.size = strlen(root)};
    if (hub_json_parse((struct hub_view){space_json, size}, MAX_METADATA, &space, NULL))
        return HUB_OK;
    memcpy(path.text, root, path.size + 1);
    if (walk_space(space, &path, 0, hint) == HUB_OK)
        return HUB_OK;
    hint->size = 0;
    return hub_buf_add_text(hint, "image *\n", err);
}

bool minari_hint_image(struct hub_view hint, struct hub_view path)
{
    for (size_t at = 0; at < hint.size;) {
        const char *end = memchr(hint.data + at, '\n', hint.size - at);
        const size_t n = end ? (size_t)(end - hint.data) - at : hint.size - at;
        const struct hub_view line = {hint.data + at, n};
        const struct hub_view name = {line.data + 6, n > 6 ? n - 6 : 0};
        if (hub_view_starts(line, "image ") && (hub_view_is(name, "*") || hub_view_equal(name, path)))
            return true;
        at += n + 1;
    }
    return false;
}

/* ---- metadata.json ---- */

static struct hub_view string_of(const json_t *value)
{
    return json_is_string(value) ? (struct hub_view){json_string_value(value), json_string_length(value)}
                                 : (struct hub_view){NULL, 0};
}

/* A list as it is; a lone string becomes a list of one. */
static enum hub_status list_fact(struct hub_sink *sink, const char *key, const json_t *value,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(HUB_MAX_TEXT);
    struct hub_json json = hub_json_to(&out, err);
    if (!json_is_array(value) && !json_is_string(value))
        return HUB_OK;
    hub_json_array(&json);
    if (json_is_string(value))
        hub_json_string(&json, string_of(value));
    for (size_t i = 0; i < json_array_size(value); i++)
        if (json_is_string(json_array_get(value, i)))
            hub_json_string(&json, string_of(json_array_get(value, i)));
    hub_json_end_array(&json);
    HUB_TRY(hub_json_status(&json));
    return hub_sink_fact(sink, key, hub_buf_view(&out), err);
}

/* Spaces are strings holding JSON. Somebody may have written them as objects: then their text is ours. */
static enum hub_status nested_fact(struct hub_sink *sink, const char *key, const json_t *value,
                                   const char *images, struct hub_buf *hint, struct hub_error *err)
{
    if (json_is_string(value))
        return text_fact(sink, key, string_of(value), images, hint, err);
    if (!json_is_object(value))
        return HUB_OK;
    char *text = json_dumps(value, JSON_COMPACT);
    const enum hub_status st = text ? text_fact(sink, key, hub_view_of(text), images, hint, err) : HUB_OK;
    free(text);
    return st;
}

static enum hub_status put_facts(const json_t *root, struct hub_sink *sink, struct hub_buf *hint,
                                 struct hub_error *err)
{
    static const struct {
        const char *key, *fact;
    } strings[] = {{"dataset_id", "id"},
                   {"minari_version", "minari_version"},
                   {"description", "description"}},
      lists[] = {{"author", "authors"}, {"combined_datasets", "combined"}, {"requirements", "requirements"}},
      counts[] = {{"total_episodes", "claimed_episodes"}, {"total_steps", "claimed_steps"}};
    for (size_t i = 0; i < HUB_COUNT(strings); i++) {
        const struct hub_view text = string_of(json_object_get(root, strings[i].key));
        if (text.data)
            HUB_TRY(hub_sink_fact(sink, strings[i].fact, text, err));
    }
    for (size_t i = 0; i < HUB_COUNT(lists); i++)
        HUB_TRY(list_fact(sink, lists[i].fact, json_object_get(root, lists[i].key), err));
    for (size_t i = 0; i < HUB_COUNT(counts); i++) {
        const json_t *value = json_object_get(root, counts[i].key);
        if (json_is_integer(value))
            HUB_TRY(number_fact(sink, counts[i].fact, json_integer_value(value), err));
    }
    HUB_TRY(nested_fact(sink, "observation_space", json_object_get(root, "observation_space"), "observations",
                        hint, err));
    HUB_TRY(nested_fact(sink, "action_space", json_object_get(root, "action_space"), "actions", hint, err));
    return nested_fact(sink, "env_spec", json_object_get(root, "env_spec"), NULL, hint, err);
}

enum hub_status minari_facts_json(struct hub_files *files, uint32_t number, struct hub_sink *sink,
                                  struct hub_buf *hint, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MAX_METADATA);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf strict = HUB_BUF_INIT(MAX_METADATA);
    HUB_CLEANUP(hub_json_decrefp) json_t *root = NULL;
    HUB_TRY(hub_files_load(files, number, &text, err));
    HUB_TRY(hub_json_strict(hub_buf_view(&text), &strict, err));
    HUB_TRY(hub_json_parse(hub_buf_view(&strict), MAX_METADATA, &root, err));
    if (!json_is_object(root))
        return hub_fail(err, HUB_CORRUPT, "metadata.json is not a JSON object");
    HUB_TRY(hub_sink_fact(sink, "era", HUB_VIEW("E5"), err));
    HUB_TRY(hub_sink_fact(sink, "metadata", hub_buf_view(&strict), err));
    HUB_TRY(put_facts(root, sink, hint, err));
    const struct hub_view format = string_of(json_object_get(root, "data_format"));
    if (format.data && !hub_view_is(format, "hdf5"))
        return hub_fail(err, HUB_UNSUPPORTED, "Minari data_format '%.*s' is not supported, only hdf5",
                        (int)HUB_MIN(format.size, 40), format.data);
    return HUB_OK;
}

/* ---- root attributes ---- */

/* What the walk over the root's attributes gathers. */
struct gather {
    struct hub_h5 *file;
    struct hub_sink *sink;
    struct hub_buf *hint;
    struct hub_buf metadata;
    struct hub_json json;
    bool any, flattened, version, size, none, action_space; /* what tells the eras apart */
};

static enum hub_status read_text(const struct gather *g, const struct hub_h5_attribute *a,
                                 struct hub_buf *out)
{
    out->size = 0;
    return hub_h5_attribute_text(g->file, a, 0, out, NULL);
}

/* "a; b" -> ["a","b"]; the text "None" means nobody. */
static enum hub_status authors_fact(struct gather *g, struct hub_view text, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(HUB_MAX_TEXT);
    struct hub_json json = hub_json_to(&out, err);
    g->none |= hub_view_is(text, "None");
    hub_json_array(&json);
    for (size_t at = 0; at < text.size;) {
        const char *end = memchr(text.data + at, ';', text.size - at);
        size_t n = end ? (size_t)(end - text.data) - at : text.size - at, skip = 0;
        while (skip < n && text.data[at + skip] == ' ')
            skip++;
        const struct hub_view name = {text.data + at + skip, n - skip};
        if (name.size && !hub_view_is(name, "None"))
            hub_json_string(&json, name);
        at += n + 1;
    }
    hub_json_end_array(&json);
    HUB_TRY(hub_json_status(&json));
    return hub_sink_fact(g->sink, "authors", hub_buf_view(&out), err);
}

static enum hub_status combined_fact(struct gather *g, const struct hub_h5_attribute *a,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf out = HUB_BUF_INIT(HUB_MAX_TEXT), text = HUB_BUF_INIT(MAX_KEPT_TEXT);
    struct hub_json json = hub_json_to(&out, err);
    hub_json_array(&json);
    for (uint64_t i = 0; i < a->items; i++) {
        text.size = 0;
        if (hub_h5_attribute_text(g->file, a, i, &text, NULL))
            return hub_sink_problem(g->sink, "bad-metadata", a->name, err, "not a list of texts");
        hub_json_string(&json, hub_buf_view(&text));
    }
    hub_json_end_array(&json);
    HUB_TRY(hub_json_status(&json));
    return hub_sink_fact(g->sink, "combined", hub_buf_view(&out), err);
}

/* Attributes that are facts of their own. */
static enum hub_status known_attribute(struct gather *g, const struct hub_h5_attribute *a,
                                       struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MAX_METADATA);
    int64_t count;
    const struct hub_view name = a->name;
    if (hub_view_is(name, "total_episodes") || hub_view_is(name, "total_steps"))
        return hub_h5_attribute_int(a, &count)
                   ? number_fact(g->sink,
                                 hub_view_is(name, "total_steps") ? "claimed_steps" : "claimed_episodes",
                                 count, err)
                   : hub_sink_problem(g->sink, "bad-metadata", name, err, "not an integer");
    if (hub_view_is(name, "combined_datasets"))
        return combined_fact(g, a, err);
    if (read_text(g, a, &text))
        return HUB_OK;
    const struct hub_view value = hub_buf_view(&text);
    if (hub_view_is(name, "dataset_id"))
        return hub_sink_fact(g->sink, "id", value, err);
    if (hub_view_is(name, "minari_version") || hub_view_is(name, "description"))
        return hub_sink_fact(g->sink, hub_view_is(name, "description") ? "description" : "minari_version",
                             value, err);
    if (hub_view_is(name, "author"))
        return authors_fact(g, value, err);
    if (hub_view_is(name, "observation_space"))
        return text_fact(g->sink, "observation_space", value, "observations", g->hint, err);
    if (hub_view_is(name, "action_space"))
        return text_fact(g->sink, "action_space", value, "actions", g->hint, err);
    if (hub_view_is(name, "env_spec"))
        return text_fact(g->sink, "env_spec", value, NULL, g->hint, err);
    return HUB_OK;
}

static enum hub_status take_attribute(void *user, const struct hub_h5_attribute *a, struct hub_error *err)
{
    struct gather *g = user;
    struct hub_error why = {0};
    g->any |= hub_view_is(a->name, "total_episodes") || hub_view_is(a->name, "dataset_id") ||
              hub_view_is(a->name, "env_spec");
    g->flattened |= hub_view_starts(a->name, "flatten_");
    g->version |= hub_view_is(a->name, "minari_version");
    g->size |= hub_view_is(a->name, "dataset_size") || hub_view_is(a->name, "eval_env_spec");
    g->action_space |= hub_view_is(a->name, "action_space");
    const size_t before = g->metadata.size;
    const bool comma = g->json.comma;
    hub_json_key(&g->json, a->name);
    if (hub_h5_attribute_json(g->file, a, HUB_MAX_TEXT, &g->metadata, &why)) {
        g->metadata.size = before; /* the key goes with its value */
        g->json.comma = comma;
        return hub_sink_problem(g->sink, "attribute-damaged", a->name, err, "%s", why.detail);
    }
    g->json.comma = true;
    return known_attribute(g, a, err);
}

/* Statistics on the rewards dataset are E4a, on the episode E4b; links were written by E3 and E4a only. */
static enum hub_status era_of_episodes(struct gather *g, const struct hub_h5_object *root, const char **era,
                                       struct hub_error *err)
{
    struct minari_tree tree = {.file = g->file, .sink = g->sink, .quiet = true};
    struct minari_episode episode = {0};
    HUB_CLEANUP(hub_h5_links_dispose) struct hub_h5_links links = {0};
    enum hub_status st = HUB_OK;
    int64_t number;
    *era = g->none ? "E4a" : "E4b";
    if (hub_h5_links_load(g->file, root, &links, NULL) == HUB_NO_MEMORY)
        return hub_fail(err, HUB_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < links.count; i++)
        if (links.items[i].kind == HUB_H5_EXTERNAL && minari_episode_number(links.items[i].name, &number)) {
            *era = "E4a";
            return HUB_OK;
        }
    for (uint32_t i = 0; !st && i < links.count; i++) {
        if (links.items[i].kind != HUB_H5_HARD || !minari_episode_number(links.items[i].name, &number))
            continue;
        st = minari_tree_load(&tree, links.items[i].address, NULL);
        if (!st)
            st = minari_episode_load(&tree, &episode, NULL);
        if (!st && episode.has_stat[0])
            *era = episode.stats_on_rewards ? "E4a" : "E4b";
        break; /* the first says it for all */
    }
    minari_tree_dispose(&tree);
    minari_episode_dispose(&episode);
    return st == HUB_NO_MEMORY ? hub_fail(err, st, "out of memory") : HUB_OK;
}

enum hub_status minari_facts_attributes(struct hub_h5 *file, const struct hub_h5_object *root,
                                        struct hub_sink *sink, struct hub_buf *hint, bool *any,
                                        struct hub_error *err)
{
    struct gather g = {
        .file = file, .sink = sink, .hint = hint, .metadata = HUB_BUF_INIT(2 * (size_t)HUB_MAX_TEXT)};
    struct hub_error why = {0};
    g.json = hub_json_to(&g.metadata, &why);
    hub_json_object(&g.json);
    enum hub_status st = hub_h5_attributes(file, root, take_attribute, &g, err);
    if (st == HUB_CORRUPT || st == HUB_UNSUPPORTED)
        st = hub_sink_problem(sink, "attribute-damaged", HUB_VIEW("data/main_data.hdf5"), err,
                              "root attributes: %s", err ? err->detail : "damaged");
    hub_json_end_object(&g.json);
    if (!st && g.any && !hub_json_status(&g.json))
        st = hub_sink_fact(sink, "metadata", hub_buf_view(&g.metadata), err);
    const char *era = "E3";
    if (!st && g.any && !g.flattened && (g.version || g.action_space)) {
        if (g.size)
            era = "E4b";
        else
            st = era_of_episodes(&g, root, &era, err);
    }
    if (!st && g.any)
        st = hub_sink_fact(sink, "era", hub_view_of(era), err);
    hub_buf_dispose(&g.metadata);
    *any = g.any;
    return st;
}
