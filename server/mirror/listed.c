/* What upstreams list: see listed.h. */
#include "server/mirror/listed.h"

#include "server/mirror/spec.h"
#include "server/mirror/work.h"
#include "storage/ids/spell.h"
#include "storage/ids/version.h"
#include "storage/io/fs.h"
#include "storage/model/facet.h"
#include "storage/model/format_row.h"
#include "storage/text/time.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIST_BYTES = 1 << 30, FOLDER_NAMES = 100000 };
#define FOLDER "listings"

bool hub_rule_pulls(const struct hub_rule *rule)
{
    return json_is_true(json_object_get(rule->spec, "pull"));
}

void hub_listed_id(const struct hub_mirrors *m, uint32_t root, const char *path, char *out, size_t size)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf id = HUB_BUF_INIT(64 * KIB);
    const char *name = m->options.roots->roots[root].name;
    const bool spelled = !hub_spell_id(hub_view_of(name ? name : ""), &id, NULL) &&
                         !hub_buf_add_text(&id, name ? "/" : "", NULL) &&
                         !hub_spell_id(hub_view_of(path), &id, NULL);
    snprintf(out, size, "%s", spelled ? id.data : path);
}

/* ---- from what was said to summaries ---- */

struct summary_list {
    struct hub_summary *items;
    json_t **parsed; /* what the texts of an item borrow */
    char **owned;    /* id, path, loadable_by, authors, known of each */
    uint32_t count, capacity;
};
enum { OWNED = 5 };

static void dispose(struct summary_list *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        json_decref(l->parsed[i]);
        for (unsigned k = 0; k < OWNED; k++)
            free(l->owned[i * OWNED + k]);
    }
    free(l->items);
    free(l->parsed);
    free(l->owned);
}

/* An array as text; NULL: there is none. */
static char *dump_array(const json_t *item, const char *key)
{
    const json_t *value = json_object_get(item, key);
    return json_is_array(value) ? json_dumps(value, JSON_COMPACT) : NULL;
}

/* A member of an item as a fact; `text` is what it was dumped to last. */
struct item_source {
    const json_t *item;
    char *text;
};

static enum hub_status fact_of(void *user, const char *key, struct hub_view *out, struct hub_error *err)
{
    struct item_source *t = user;
    const json_t *value = json_object_get(t->item, key);
    (void)err;
    free(t->text);
    t->text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    *out = hub_view_of(t->text ? t->text : "");
    return HUB_OK;
}

static bool no_field(void *user, uint32_t number, struct hub_facet_field *out)
{
    (void)user;
    (void)number;
    (void)out;
    return false;
}

/* NULL: no memory for it. */
static char *dump_facets(const json_t *item)
{
    struct item_source t = {.item = item};
    struct hub_buf lines = HUB_BUF_INIT(64 * KIB);
    const struct hub_facet_source source = {&t, NULL, fact_of, no_field, NULL};
    const enum hub_status st = hub_facet_collect(&source, &lines, NULL);
    free(t.text);
    if (st)
        hub_buf_dispose(&lines);
    return hub_buf_take(&lines, NULL);
}

/* The rule of the library that loads it, where it states a version of that. */
static void set_rule(struct hub_summary *s, const json_t *item)
{
    const struct hub_load_rule *rule = hub_load_rule_of(hub_format_library(s->format));
    s->stated_version = rule ? hub_member_text(item, rule->version_key) : NULL;
    s->rule = s->stated_version ? rule->name : NULL;
}

static void read_item(const struct hub_mirrors *m, const struct hub_rule *rule, uint32_t root, json_t *item,
                      char *owned[OWNED], struct hub_summary *out)
{
    const char *modified = hub_member_text(item, "modified");
    char id[4096];
    const char *path = owned[1];
    hub_listed_id(m, root, path, id, sizeof id);
    owned[0] = strdup(id);
    owned[2] = dump_array(item, "loadable_by");
    owned[3] = dump_array(item, "authors");
    owned[4] = dump_facets(item);
    *out = (struct hub_summary){.row = -1,
                                .id = owned[0],
                                .path = path,
                                .format = hub_member_text(item, "format"),
                                .era = hub_member_text(item, "era"),
                                .description = hub_member_text(item, "description"),
                                .loadable_by = owned[2],
                                .authors = owned[3],
                                .known = owned[4],
                                .revision = hub_member_text(item, "revision"),
                                .root = root,
                                .upstream = rule->name,
                                .remote_id = hub_member_text(item, "id"),
                                .status = HUB_DATASET_REMOTE,
                                .episodes = hub_member_uint(item, "episodes"),
                                .steps = hub_member_uint(item, "steps"),
                                .size = hub_member_uint(item, "size")};
    if (modified)
        (void)hub_time_parse_rfc3339(hub_view_of(modified), &out->modified_ns);
    set_rule(out, item);
}

static enum hub_status add_line(const struct hub_mirrors *m, const struct hub_rule *rule, uint32_t root,
                                struct hub_view line, struct summary_list *l, struct hub_error *err)
{
    json_t *item = NULL;
    char *owned[OWNED] = {NULL};
    HUB_TRY(hub_json_parse(line, line.size + 1, &item, err));
    const char *id = hub_member_text(item, "id");
    if (!id || hub_mirror_path(rule->spec, id, &owned[1], NULL)) {
        json_decref(item);
        return HUB_OK;
    }
    struct hub_summary summary;
    read_item(m, rule, root, item, owned, &summary);
    summary.serial = hub_hash(HUB_HASH_START, line.data, line.size);
    l->parsed[l->count] = item;
    memcpy(l->owned + (size_t)l->count * OWNED, owned, sizeof owned);
    l->items[l->count++] = summary;
    return hub_allocated(owned[0], err);
}

static enum hub_status show(struct hub_mirrors *m, const struct hub_rule *rule, struct hub_view lines,
                            struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct summary_list l = {0};
    uint32_t root, count = 0;
    HUB_TRY(hub_mirror_root(rule->spec, m->options.roots, &root, err));
    for (size_t i = 0; i < lines.size; i++)
        count += lines.data[i] == '\n';
    HUB_TRY(hub_new(&l.items, count + 1, sizeof *l.items, err));
    HUB_TRY(hub_new(&l.parsed, count + 1, sizeof(json_t *), err));
    HUB_TRY(hub_new(&l.owned, OWNED * ((size_t)count + 1), sizeof(char *), err));
    while (lines.size) {
        const char *end = memchr(lines.data, '\n', lines.size);
        const size_t size = end ? (size_t)(end - lines.data) : 0;
        if (!end)
            break;
        HUB_TRY(add_line(m, rule, root, (struct hub_view){lines.data, size}, &l, err));
        lines.data += size + 1;
        lines.size -= size + 1;
    }
    return hub_catalog_show_remote(m->options.catalog, rule->name, l.items, l.count, err);
}

/* ---- files ---- */

static void path_of(const struct hub_mirrors *m, const char *name, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s/" FOLDER "%s%s%s", m->options.state, *name ? "/" : "", name,
             *name ? ".jsonl" : "");
}

enum hub_status hub_listed_put(struct hub_mirrors *m, const struct hub_rule *rule, struct hub_view lines,
                               struct hub_error *err)
{
    char path[PATH_MAX];
    path_of(m, "", path);
    HUB_TRY(hub_fs_make_dirs(AT_FDCWD, path, 0700, err));
    path_of(m, rule->name, path);
    HUB_TRY(hub_fs_write(AT_FDCWD, path, lines, 0600, err));
    return show(m, rule, lines, err);
}

struct loading {
    struct hub_mirrors *mirrors;
    unsigned upstreams;
    json_t *names;
};

static enum hub_status load(void *user, const struct hub_rule *rule, struct hub_error *err)
{
    struct loading *l = user;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(LIST_BYTES);
    char path[PATH_MAX], file[HUB_RULE_NAME_CHARS + 8];
    if (!hub_rule_pulls(rule))
        return HUB_OK;
    l->upstreams++;
    snprintf(file, sizeof file, "%s.jsonl", rule->name);
    HUB_TRY(hub_allocated(json_object_set_new(l->names, file, json_true()) == 0, err));
    path_of(l->mirrors, rule->name, path);
    /* without it, or with one that is damaged, the next pass makes it again */
    if (hub_fs_read(AT_FDCWD, path, &text, NULL) == HUB_OK)
        (void)!show(l->mirrors, rule, hub_buf_view(&text), NULL);
    return HUB_OK;
}

enum hub_status hub_listed_load(struct hub_mirrors *m, unsigned *upstreams, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *known = json_object();
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    struct loading l = {.mirrors = m, .names = known};
    char path[PATH_MAX];
    HUB_TRY(hub_allocated(known, err));
    HUB_TRY(hub_rules_each(m->options.truth, load, &l, err));
    *upstreams = l.upstreams;
    path_of(m, "", path);
    if (hub_fs_list(AT_FDCWD, path, FOLDER_NAMES, &names, NULL))
        return HUB_OK; /* there is none */
    for (size_t i = 0; i < names.count; i++) {
        char file[2 * PATH_MAX];
        snprintf(file, sizeof file, "%s/%s", path, names.items[i].text);
        if (!json_object_get(known, names.items[i].text))
            (void)!hub_fs_remove(AT_FDCWD, file, NULL);
    }
    return HUB_OK;
}
