/*
 * What describes a whole Minari dataset: data/metadata.json (E5) or the root attributes of main_data.hdf5
 * (E3, E4). Its spaces may be of any size: metadata.json is read in a stream, and they are reported by
 * space.c.
 */
#include "storage/formats/minari/minari.h"
#include "storage/text/json.h"

#include <stdio.h>

enum { MAX_METADATA = 2 * 1024 * 1024, MAX_VALUE = 1024 * 1024 };

/* The environment's specification is JSON inside a text. */
static enum hub_status spec_fact(struct hub_sink *sink, struct hub_view text, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf strict = HUB_BUF_INIT(2 * (size_t)HUB_MAX_TEXT);
    struct hub_error why = {0};
    if (hub_json_strict(text, &strict, &why))
        return hub_sink_problem(sink, "bad-metadata", HUB_VIEW("env_spec"), err, "not JSON: %s", why.detail);
    return hub_sink_fact(sink, "env_spec", hub_buf_view(&strict), err);
}

static struct hub_view string_of(const json_t *value)
{
    return json_is_string(value) ? (struct hub_view){json_string_value(value), json_string_length(value)}
                                 : (struct hub_view){NULL, 0};
}

/* "a; b" -> "a","b"; the text "None" means nobody. */
static void put_authors(struct hub_json *json, struct hub_view text)
{
    for (size_t at = 0; at < text.size;) {
        const char *end = memchr(text.data + at, ';', text.size - at);
        size_t n = end ? (size_t)(end - text.data) - at : text.size - at, skip = 0;
        while (skip < n && text.data[at + skip] == ' ')
            skip++;
        const struct hub_view name = {text.data + at + skip, n - skip};
        if (name.size && !hub_view_is(name, "None"))
            hub_json_string(json, name);
        at += n + 1;
    }
}

/* A list as it is; a lone string becomes a list of one, or of all authors in it. */
static enum hub_status list_fact(struct hub_sink *sink, const char *key, const json_t *value,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(HUB_MAX_TEXT);
    struct hub_json json = hub_json_to(&out, err);
    if (!json_is_array(value) && !json_is_string(value))
        return HUB_OK;
    hub_json_array(&json);
    if (json_is_string(value) && strcmp(key, "authors") == 0)
        put_authors(&json, string_of(value));
    else if (json_is_string(value))
        hub_json_string(&json, string_of(value));
    for (size_t i = 0; i < json_array_size(value); i++)
        if (json_is_string(json_array_get(value, i)))
            hub_json_string(&json, string_of(json_array_get(value, i)));
    hub_json_end_array(&json);
    HUB_TRY(hub_json_status(&json));
    return hub_sink_fact(sink, key, hub_buf_view(&out), err);
}

static enum hub_status put_facts(const json_t *root, struct hub_sink *sink, struct hub_error *err)
{
    static const struct {
        const char *key, *fact;
    } strings[] = {{"dataset_id", "id"},
                   {"minari_version", "stated_version"},
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
            HUB_TRY(hub_sink_count(sink, counts[i].fact, json_integer_value(value), err));
        else if (value && !json_is_null(value))
            HUB_TRY(hub_sink_problem(sink, "bad-metadata", hub_view_of(counts[i].key), err, "not a count"));
    }
    const json_t *spec = json_object_get(root, "env_spec");
    HUB_CLEANUP(hub_freep) char *written = json_is_object(spec) ? json_dumps(spec, JSON_COMPACT) : NULL;
    return json_is_string(spec) ? spec_fact(sink, string_of(spec), err)
           : written            ? spec_fact(sink, hub_view_of(written), err)
                                : HUB_OK;
}

/* ---- metadata.json ---- */

/* What it says, but for its spaces; and those. */
struct metadata_reader {
    struct hub_json_stream *stream;
    struct hub_sink *sink;
    struct hub_buf text; /* strict JSON */
    struct minari_space spaces[2];
};

static enum hub_status read_member(struct metadata_reader *m, uint32_t file, struct hub_error *err)
{
    const size_t start = m->text.size;
    struct hub_view key;
    bool shown;
    HUB_TRY(hub_json_stream_key(m->stream, &key, err));
    for (size_t i = 0; i < HUB_COUNT(m->spaces); i++) {
        const size_t n = strlen(m->spaces[i].key);
        if (key.size == n + 2 && memcmp(key.data + 1, m->spaces[i].key, n) == 0)
            return minari_space_read(&m->spaces[i], m->stream, file, err);
    }
    HUB_TRY(hub_buf_add_text(&m->text, start > 1 ? "," : "", err));
    HUB_TRY(hub_buf_add_view(&m->text, key, err));
    HUB_TRY(hub_buf_add_text(&m->text, ":", err));
    const size_t room = MAX_METADATA - HUB_MIN(m->text.size, MAX_METADATA);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(MAX_METADATA);
    HUB_TRY(hub_buf_add(&name, key.data + 1, key.size - 2, err));
    HUB_TRY(hub_json_stream_value(m->stream, &m->text, HUB_MIN(room, MAX_VALUE), &shown, err));
    if (shown)
        return HUB_OK;
    m->text.size = start;
    return !m->sink ? HUB_OK
                    : hub_sink_problem(m->sink, "bad-metadata", hub_buf_view(&name), err,
                                       "not shown: longer than 1 MiB");
}

static enum hub_status read_metadata(struct metadata_reader *m, uint32_t file, struct hub_error *err)
{
    if (hub_json_stream_peek(m->stream) != '{')
        return hub_fail(err, HUB_CORRUPT, "metadata.json is %s",
                        hub_json_stream_peek(m->stream) < 0 ? "empty" : "not a JSON object");
    HUB_TRY(hub_json_stream_take(m->stream, '{', err));
    HUB_TRY(hub_buf_add_text(&m->text, "{", err));
    bool more = hub_json_stream_peek(m->stream) != '}';
    while (more) {
        HUB_TRY(read_member(m, file, err));
        more = hub_json_stream_peek(m->stream) == ',';
        if (more)
            HUB_TRY(hub_json_stream_take(m->stream, ',', err));
    }
    HUB_TRY(hub_json_stream_take(m->stream, '}', err));
    HUB_TRY(hub_json_stream_end(m->stream, err));
    return hub_buf_add_text(&m->text, "}", err);
}

static void metadata_dispose(struct metadata_reader *m)
{
    hub_json_stream_free(m->stream);
    hub_buf_dispose(&m->text);
    for (size_t i = 0; i < HUB_COUNT(m->spaces); i++)
        minari_space_dispose(&m->spaces[i]);
}

static enum hub_status load_metadata(struct hub_files *files, uint32_t number, struct metadata_reader *m,
                                     struct hub_error *err)
{
    struct hub_byte_source source;
    m->text = HUB_BUF_INIT(MAX_METADATA + MAX_VALUE);
    m->spaces[0] = (struct minari_space)MINARI_OBSERVATION_SPACE;
    m->spaces[1] = (struct minari_space)MINARI_ACTION_SPACE;
    hub_byte_source_file(&source, files, number);
    HUB_TRY(hub_json_stream_new(&source, 0, source.size, &m->stream, err));
    return read_metadata(m, number, err);
}

enum hub_status minari_spaces_load(struct hub_files *files, uint32_t number, json_t *out[2],
                                   struct hub_error *err)
{
    HUB_CLEANUP(metadata_dispose) struct metadata_reader m = {.sink = NULL};
    HUB_TRY(load_metadata(files, number, &m, err));
    for (size_t i = 0; i < HUB_COUNT(m.spaces); i++) {
        const struct hub_buf *shown = &m.spaces[i].shown;
        if (m.spaces[i].there && m.spaces[i].fits && !m.spaces[i].trouble[0])
            HUB_TRY(hub_json_parse(hub_buf_view(shown), shown->limit, &out[i], err));
    }
    return HUB_OK;
}

enum hub_status minari_facts_json(struct hub_files *files, uint32_t number, struct hub_sink *sink,
                                  struct hub_buf *hint, char format[16], struct hub_error *err)
{
    HUB_CLEANUP(metadata_dispose) struct metadata_reader m = {.sink = sink};
    HUB_CLEANUP(hub_json_decrefp) json_t *root = NULL;
    HUB_TRY(load_metadata(files, number, &m, err));
    HUB_TRY(hub_json_parse(hub_buf_view(&m.text), m.text.limit, &root, err));
    HUB_TRY(hub_sink_fact(sink, "era", HUB_VIEW("E5"), err));
    HUB_TRY(hub_sink_fact(sink, "metadata", hub_buf_view(&m.text), err));
    HUB_TRY(put_facts(root, sink, err));
    HUB_TRY(hub_sink_fact(sink, "claimed_in", files->entries[number].path, err));
    for (size_t i = 0; i < HUB_COUNT(m.spaces); i++)
        HUB_TRY(minari_space_send(&m.spaces[i], sink, hint, err));
    const char *said = json_string_value(json_object_get(root, "data_format"));
    snprintf(format, 16, "%s", said ? said : "hdf5");
    return HUB_OK;
}

/* ---- root attributes ---- */

/* What the walk over the root's attributes gathers. */
struct root_attributes {
    struct hub_files *files;
    struct hub_h5 *file;
    struct hub_sink *sink;
    struct hub_buf *hint;
    struct hub_buf metadata;
    struct hub_json json;
    bool any, flattened, version, size, action_space; /* what tells the eras apart */
};

/* A space is reported as such, not among the metadata; false in `is` when this attribute is none. */
static enum hub_status take_space(struct root_attributes *g, const struct hub_h5_attribute *a, bool *is,
                                  struct hub_error *err)
{
    static const struct minari_space kinds[] = {MINARI_OBSERVATION_SPACE, MINARI_ACTION_SPACE};
    *is = false;
    for (size_t i = 0; i < HUB_COUNT(kinds); i++) {
        if (!hub_view_is(a->name, kinds[i].key))
            continue;
        HUB_CLEANUP(minari_space_dispose) struct minari_space space = kinds[i];
        HUB_TRY(minari_space_attribute(&space, g->files, g->file, a, is, err));
        return *is ? minari_space_send(&space, g->sink, g->hint, err) : HUB_OK;
    }
    return HUB_OK;
}

static enum hub_status take_attribute(void *user, const struct hub_h5_attribute *a, struct hub_error *err)
{
    struct root_attributes *g = user;
    struct hub_error why = {0};
    g->any |= hub_view_is(a->name, "total_episodes") || hub_view_is(a->name, "dataset_id") ||
              hub_view_is(a->name, "env_spec");
    g->flattened |= hub_view_starts(a->name, "flatten_");
    g->version |= hub_view_is(a->name, "minari_version");
    g->size |= hub_view_is(a->name, "dataset_size") || hub_view_is(a->name, "eval_env_spec");
    g->action_space |= hub_view_is(a->name, "action_space");
    const size_t before = g->metadata.size;
    const bool comma = g->json.comma;
    bool is_space;
    HUB_TRY(take_space(g, a, &is_space, err));
    if (is_space)
        return HUB_OK;
    hub_json_key(&g->json, a->name);
    if (hub_h5_attribute_json(g->file, a, HUB_MAX_TEXT, &g->metadata, &why)) {
        g->metadata.size = before; /* the key goes with its value */
        g->json.comma = comma;
        return hub_sink_problem(g->sink, "attribute-damaged", a->name, err, "%s", why.detail);
    }
    g->json.comma = true;
    return HUB_OK;
}

/* Statistics on the rewards dataset are E4a, on the episode E4b; links were written by E3 and E4a only. */
static enum hub_status era_of_episodes(struct root_attributes *g, const struct hub_h5_object *root,
                                       bool nobody, const char **era, struct hub_error *err)
{
    HUB_CLEANUP(hub_h5_tree_dispose)
    struct hub_h5_tree tree = {.file = g->file, .sink = g->sink, .quiet = true};
    HUB_CLEANUP(mh5_episode_dispose) struct mh5_episode episode = {0};
    HUB_CLEANUP(hub_h5_links_dispose) struct hub_h5_links links = {0};
    enum hub_status st = HUB_OK;
    int64_t number;
    *era = nobody ? "E4a" : "E4b";
    if (hub_h5_links_load(g->file, root, &links, NULL) == HUB_NO_MEMORY)
        return hub_no_memory(err);
    for (uint32_t i = 0; i < links.count; i++)
        if (links.items[i].kind == HUB_H5_EXTERNAL &&
            hub_numbered(links.items[i].name, MINARI_EPISODE, &number)) {
            *era = "E4a";
            return HUB_OK;
        }
    for (uint32_t i = 0; !st && i < links.count; i++) {
        if (links.items[i].kind != HUB_H5_HARD || !hub_numbered(links.items[i].name, MINARI_EPISODE, &number))
            continue;
        st = hub_h5_tree_load(&tree, links.items[i].address, NULL);
        if (!st)
            st = mh5_episode_load(&tree, &episode, NULL);
        if (!st && episode.has_stat[0])
            *era = episode.stats_on_rewards ? "E4a" : "E4b";
        break; /* the first says it for all */
    }
    return st == HUB_NO_MEMORY ? hub_fail(err, st, "out of memory") : HUB_OK;
}

static enum hub_status report_metadata(struct root_attributes *g, bool *nobody, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *root = NULL;
    struct hub_error why = {0};
    HUB_TRY(hub_sink_fact(g->sink, "metadata", hub_buf_view(&g->metadata), err));
    if (hub_json_parse(hub_buf_view(&g->metadata), g->metadata.limit, &root, &why))
        return hub_sink_problem(g->sink, "bad-metadata", HUB_VIEW(""), err, "%s", why.detail);
    *nobody = hub_view_is(string_of(json_object_get(root, "author")), "None");
    HUB_TRY(hub_sink_fact(g->sink, "claimed_in", g->files->entries[hub_h5_number(g->file)].path, err));
    return put_facts(root, g->sink, err);
}

enum hub_status minari_facts_attributes(struct hub_files *files, struct hub_h5 *file,
                                        const struct hub_h5_object *root, struct hub_sink *sink,
                                        struct hub_buf *hint, bool *any, struct hub_error *err)
{
    struct root_attributes g = {.files = files,
                                .file = file,
                                .sink = sink,
                                .hint = hint,
                                .metadata = HUB_BUF_INIT(2 * (size_t)HUB_MAX_TEXT)};
    struct hub_error why = {0};
    bool nobody = false;
    g.json = hub_json_to(&g.metadata, &why);
    hub_json_object(&g.json);
    enum hub_status st = hub_h5_attributes(file, root, take_attribute, &g, err);
    if (st == HUB_CORRUPT || st == HUB_UNSUPPORTED)
        st = hub_sink_problem(sink, "attribute-damaged", HUB_VIEW("data/main_data.hdf5"), err,
                              "root attributes: %s", err ? err->detail : "damaged");
    hub_json_end_object(&g.json);
    if (!st && g.any && !hub_json_status(&g.json))
        st = report_metadata(&g, &nobody, err);
    const char *era = "E3";
    if (!st && g.any && !g.flattened && (g.version || g.action_space)) {
        if (g.size)
            era = "E4b";
        else
            st = era_of_episodes(&g, root, nobody, &era, err);
    }
    if (!st && g.any)
        st = hub_sink_fact(sink, "era", hub_view_of(era), err);
    hub_buf_dispose(&g.metadata);
    *any = g.any;
    return st;
}
