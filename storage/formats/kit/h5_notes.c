/* Attributes of an episode as JSON, long ones by length and digest; keys with '/' become nested objects. */
#include "storage/formats/kit/h5_kit.h"
#include "storage/text/json.h"

#include <stdlib.h>

enum { MAX_VALUE_TEXT = 1024, MAX_NOTES = 1024 };

void hub_h5_notes_clear(struct hub_h5_notes *notes)
{
    notes->count = 0;
    notes->json.size = 0;
    notes->json.limit = HUB_MAX_ATTRIBUTES;
}

/* The next one, with its key and no value. */
static enum hub_status next_note(struct hub_h5_notes *notes, struct hub_view key, struct hub_h5_note **out,
                                 struct hub_error *err)
{
    const uint32_t used = notes->capacity;
    HUB_TRY(hub_grow(&notes->items, notes->count, &notes->capacity, sizeof *notes->items, err));
    memset(notes->items + used, 0, (notes->capacity - used) * sizeof *notes->items);
    *out = &notes->items[notes->count];
    (*out)->key.size = (*out)->value.size = 0;
    (*out)->key.limit = (*out)->value.limit = HUB_MAX_ATTRIBUTES;
    return hub_buf_add_view(&(*out)->key, key, err);
}

enum hub_status hub_h5_notes_take(struct hub_h5_notes *notes, struct hub_h5_tree *tree,
                                  const struct hub_h5_attribute *attribute, struct hub_error *err)
{
    struct hub_h5_note *note;
    struct hub_error why = {0};
    if (notes->count >= MAX_NOTES)
        return HUB_OK;
    HUB_TRY(next_note(notes, attribute->name, &note, err));
    if (hub_h5_attribute_json(tree->file, attribute, MAX_VALUE_TEXT, &note->value, &why))
        return hub_h5_tree_problem(tree, "attribute-damaged", attribute->name, err, why.detail);
    notes->count++;
    return HUB_OK;
}

/* An object or a list. A number or a word alone is text: "1.10" is a version. */
static bool is_structure(struct hub_view text)
{
    size_t at = 0;
    while (at < text.size && strchr(" \t\r\n", text.data[at]))
        at++;
    return at < text.size && (text.data[at] == '{' || text.data[at] == '[');
}

enum hub_status hub_h5_notes_take_json(struct hub_h5_notes *notes, struct hub_h5_tree *tree,
                                       const struct hub_h5_attribute *attribute, bool *parsed,
                                       struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(HUB_MAX_ATTRIBUTES);
    struct hub_h5_note *note;
    bool unused;
    *(parsed ? parsed : (parsed = &unused)) = false;
    if (notes->count >= MAX_NOTES || attribute->rank != 0 ||
        hub_h5_attribute_text(tree->file, attribute, 0, &text, NULL) || !is_structure(hub_buf_view(&text)))
        return hub_h5_notes_take(notes, tree, attribute, err);
    HUB_TRY(next_note(notes, attribute->name, &note, err));
    if (hub_json_strict(hub_buf_view(&text), &note->value, NULL))
        return hub_h5_notes_take(notes, tree, attribute, err);
    notes->count++;
    *parsed = true;
    return HUB_OK;
}

/* By segments: "a/b" stands beside "a", before "a-b". */
static int compare_notes(const void *a, const void *b)
{
    const struct hub_h5_note *x = a, *y = b;
    const size_t n = HUB_MIN(x->key.size, y->key.size);
    for (size_t i = 0; i < n; i++) {
        const unsigned char p = (unsigned char)x->key.data[i], q = (unsigned char)y->key.data[i];
        if (p != q)
            return p == '/' ? -1 : q == '/' ? 1 : p < q ? -1 : 1;
    }
    return (x->key.size > y->key.size) - (x->key.size < y->key.size);
}

/* The key's segment from `at` on. */
static struct hub_view segment(const struct hub_h5_note *note, size_t at)
{
    const char *start = note->key.data + at;
    const size_t left = note->key.size - at;
    const char *end = left ? memchr(start, '/', left) : NULL;
    return (struct hub_view){start, end ? (size_t)(end - start) : left};
}

/* Notes low .. high-1, sorted, which agree in the first `at` bytes of their keys, as members of the open
 * object. */
static void write_notes(const struct hub_h5_note *notes, uint32_t low, uint32_t high, size_t at,
                        unsigned depth, struct hub_json *json)
{
    struct hub_view written = {NULL, 0};
    for (uint32_t i = low; i < high;) {
        const struct hub_view name = segment(&notes[i], at);
        const bool leaf = at + name.size == notes[i].key.size || depth >= HUB_H5_MAX_DEPTH;
        uint32_t end = i + 1;
        while (!leaf && end < high && hub_view_equal(segment(&notes[end], at), name) &&
               at + name.size < notes[end].key.size)
            end++;
        if (!written.data || !hub_view_equal(written, name)) { /* "a" hides "a/b": one key, once */
            hub_json_key(json, name);
            if (leaf) {
                hub_json_raw(json, hub_buf_view(&notes[i].value));
            } else {
                hub_json_object(json);
                write_notes(notes, i, end, at + name.size + 1, depth + 1, json);
                hub_json_end_object(json);
            }
        }
        written = name;
        i = end;
    }
}

enum hub_status hub_h5_notes_write(struct hub_h5_notes *notes, struct hub_h5_tree *tree,
                                   struct hub_error *err)
{
    struct hub_error why = {0};
    struct hub_json json = hub_json_to(&notes->json, &why);
    if (notes->count == 0)
        return HUB_OK;
    qsort(notes->items, notes->count, sizeof *notes->items, compare_notes);
    hub_json_object(&json);
    write_notes(notes->items, 0, notes->count, 0, 0, &json);
    hub_json_end_object(&json);
    if (hub_json_status(&json) == HUB_OK)
        return HUB_OK;
    notes->json.size = 0;
    return hub_h5_tree_problem(tree, "attributes-too-big", HUB_VIEW(""), err,
                               "more than 64 KiB of attributes; left out");
}

struct notes_reader {
    struct hub_h5_tree *tree;
    struct hub_h5_notes notes;
};

static enum hub_status take_attribute(void *user, const struct hub_h5_attribute *attribute,
                                      struct hub_error *err)
{
    struct notes_reader *m = user;
    return hub_h5_notes_take_json(&m->notes, m->tree, attribute, NULL, err);
}

static enum hub_status report_all(struct notes_reader *m, const struct hub_h5_object *object,
                                  struct hub_error *err)
{
    HUB_TRY(hub_h5_tree_attributes(m->tree, object, take_attribute, m, err));
    HUB_TRY(hub_h5_notes_write(&m->notes, m->tree, err));
    return m->notes.json.size ? hub_sink_fact(m->tree->sink, "metadata", hub_buf_view(&m->notes.json), err)
                              : HUB_OK;
}

enum hub_status hub_h5_notes_report(struct hub_h5_tree *tree, const struct hub_h5_object *object,
                                    struct hub_error *err)
{
    struct notes_reader m = {.tree = tree};
    hub_h5_notes_clear(&m.notes);
    const enum hub_status st = report_all(&m, object, err);
    hub_h5_notes_dispose(&m.notes);
    return st;
}

void hub_h5_notes_dispose(struct hub_h5_notes *notes)
{
    for (uint32_t i = 0; i < notes->capacity; i++) {
        hub_buf_dispose(&notes->items[i].key);
        hub_buf_dispose(&notes->items[i].value);
    }
    free(notes->items);
    hub_buf_dispose(&notes->json);
}
