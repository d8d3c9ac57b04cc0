/*
 * The attributes of one episode: seed, statistics of the rewards (on the rewards dataset in E4a, on the group
 * since E4b), options flattened as options/<key>, and whatever else its writer kept. Keys with '/' become
 * nested objects.
 */
#include "storage/base/json.h"
#include "storage/base/number.h"
#include "storage/formats/minari/minari.h"

#include <stdlib.h>

enum { MAX_VALUE_TEXT = 1024, MAX_NOTES = 1024 };

static const char *const stat_names[] = {"sum", "mean", "std", "min", "max"};

struct gather {
    struct minari_tree *tree;
    struct minari_episode *episode;
};

static bool take_statistic(struct minari_episode *e, struct hub_view name, const struct hub_h5_attribute *a)
{
    for (size_t i = 0; i < HUB_COUNT(stat_names); i++)
        if (hub_view_is(name, stat_names[i]) && hub_h5_attribute_double(a, &e->stats[i])) {
            e->has_stat[i] = true;
            return true;
        }
    return false;
}

/* int64, uint64 from 2^63 on, or text; the text "None" is no seed and stays among the attributes. */
static bool take_seed(struct gather *g, const struct hub_h5_attribute *a)
{
    struct minari_episode *e = g->episode;
    const uint8_t *bytes = (const uint8_t *)a->data.data;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(sizeof e->seed - 1);
    int64_t value;
    size_t n = 0;
    char digits[HUB_NUMBER_CHARS];
    if (a->rank != 0)
        return false;
    if (hub_h5_attribute_int(a, &value)) {
        n = hub_number_i64(value, digits);
        memcpy(e->seed, digits, n);
    } else if (a->type.variant.kind == HUB_KIND_UINT && a->type.size == 8 && a->items == 1) {
        uint64_t seed = 0;
        for (unsigned i = 0; i < 8; i++)
            seed |= (uint64_t)bytes[a->type.variant.big_endian ? 7 - i : i] << (8 * i);
        n = hub_number_u64(seed, digits);
        memcpy(e->seed, digits, n);
    } else if (!hub_h5_attribute_text(g->tree->file, a, 0, &text, NULL) && text.size &&
               !hub_view_is(hub_buf_view(&text), "None")) {
        n = text.size;
        memcpy(e->seed, text.data, n);
    }
    e->seed[n] = '\0';
    return n > 0;
}

static enum hub_status take_note(struct gather *g, const struct hub_h5_attribute *a, struct hub_error *err)
{
    struct minari_episode *e = g->episode;
    struct hub_error why = {0};
    if (e->note_count >= MAX_NOTES)
        return HUB_OK;
    if (e->note_count == e->note_capacity) {
        const uint32_t capacity = e->note_capacity ? e->note_capacity * 2 : 8;
        struct minari_note *grown = realloc(e->notes, capacity * sizeof *grown);
        if (!grown)
            return hub_fail(err, HUB_NO_MEMORY, "out of memory reading attributes");
        memset(grown + e->note_capacity, 0, (capacity - e->note_capacity) * sizeof *grown);
        e->notes = grown;
        e->note_capacity = capacity;
    }
    struct minari_note *note = &e->notes[e->note_count];
    note->key.size = note->value.size = 0;
    note->key.limit = HUB_MAX_ATTRIBUTES;
    note->value.limit = HUB_MAX_ATTRIBUTES;
    HUB_TRY(hub_buf_add_view(&note->key, a->name, err));
    const enum hub_status st = hub_h5_attribute_json(g->tree->file, a, MAX_VALUE_TEXT, &note->value, &why);
    if (st)
        return minari_problem(g->tree, "attribute-damaged", a->name, err, why.detail);
    e->note_count++;
    return HUB_OK;
}

static enum hub_status take_group_attribute(void *user, const struct hub_h5_attribute *a,
                                            struct hub_error *err)
{
    struct gather *g = user;
    struct minari_episode *e = g->episode;
    if (hub_view_is(a->name, "id") && hub_h5_attribute_int(a, &e->id)) {
        e->has_id = true;
        return HUB_OK;
    }
    if (hub_view_is(a->name, "total_steps") && hub_h5_attribute_int(a, &e->steps)) {
        e->has_steps = true;
        return HUB_OK;
    }
    if (hub_view_is(a->name, "seed") && take_seed(g, a))
        return HUB_OK;
    if (hub_view_starts(a->name, "rewards_") &&
        take_statistic(e, (struct hub_view){a->name.data + 8, a->name.size - 8}, a))
        return HUB_OK;
    return take_note(g, a, err);
}

static enum hub_status take_rewards_attribute(void *user, const struct hub_h5_attribute *a,
                                              struct hub_error *err)
{
    (void)err;
    struct gather *g = user;
    if (take_statistic(g->episode, a->name, a))
        g->episode->stats_on_rewards = true;
    return HUB_OK;
}

static enum hub_status write_statistics(struct minari_episode *e, struct hub_error *err)
{
    bool any = false;
    struct hub_json json = hub_json_to(&e->statistics, err);
    for (size_t i = 0; i < HUB_COUNT(stat_names); i++)
        any |= e->has_stat[i];
    if (!any)
        return HUB_OK;
    hub_json_object(&json);
    hub_json_put_object(&json, "rewards");
    for (size_t i = 0; i < HUB_COUNT(stat_names); i++)
        if (e->has_stat[i])
            hub_json_put_double(&json, stat_names[i], e->stats[i]);
    hub_json_end_object(&json);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

static int compare_notes(const void *a, const void *b)
{
    const struct minari_note *x = a, *y = b;
    const size_t n = HUB_MIN(x->key.size, y->key.size);
    const int order = n ? memcmp(x->key.data, y->key.data, n) : 0;
    return order ? order : (x->key.size > y->key.size) - (x->key.size < y->key.size);
}

/* The key's segment from `at` on. */
static struct hub_view segment(const struct minari_note *note, size_t at)
{
    const char *start = note->key.data + at;
    const size_t left = note->key.size - at;
    const char *end = left ? memchr(start, '/', left) : NULL;
    return (struct hub_view){start, end ? (size_t)(end - start) : left};
}

/* Notes low .. high-1, sorted, which agree in the first `at` bytes of their keys, as members of the open
 * object. */
static void write_notes(const struct minari_note *notes, uint32_t low, uint32_t high, size_t at,
                        unsigned depth, struct hub_json *json)
{
    struct hub_view written = {NULL, 0};
    for (uint32_t i = low; i < high;) {
        const struct hub_view name = segment(&notes[i], at);
        const bool leaf = at + name.size == notes[i].key.size || depth >= MINARI_MAX_DEPTH;
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

static enum hub_status write_attributes(struct minari_tree *tree, struct minari_episode *e,
                                        struct hub_error *err)
{
    struct hub_error why = {0};
    struct hub_json json = hub_json_to(&e->attributes, &why);
    if (e->note_count == 0)
        return HUB_OK;
    qsort(e->notes, e->note_count, sizeof *e->notes, compare_notes);
    hub_json_object(&json);
    write_notes(e->notes, 0, e->note_count, 0, 0, &json);
    hub_json_end_object(&json);
    if (hub_json_status(&json) == HUB_OK)
        return HUB_OK;
    e->attributes.size = 0;
    return minari_problem(tree, "attributes-too-big", HUB_VIEW(""), err,
                          "more than 64 KiB of attributes; left out");
}

enum hub_status minari_episode_load(struct minari_tree *tree, struct minari_episode *out,
                                    struct hub_error *err)
{
    struct gather g = {tree, out};
    struct hub_error why = {0};
    out->seed[0] = '\0';
    out->has_id = out->has_steps = out->stats_on_rewards = false;
    memset(out->has_stat, 0, sizeof out->has_stat);
    out->note_count = 0;
    out->statistics.size = out->attributes.size = 0;
    out->statistics.limit = out->attributes.limit = HUB_MAX_ATTRIBUTES;
    enum hub_status st = hub_h5_attributes(tree->file, &tree->groups[0], take_group_attribute, &g, &why);
    const struct minari_leaf *rewards = minari_tree_find(tree, "rewards");
    if (!st && rewards && !out->has_stat[0])
        st = hub_h5_attributes(tree->file, &rewards->object, take_rewards_attribute, &g, &why);
    if (st == HUB_CORRUPT || st == HUB_UNSUPPORTED || st == HUB_TOO_BIG)
        st = minari_problem(tree, "attribute-damaged", HUB_VIEW(""), err, why.detail);
    else if (st)
        return hub_fail(err, st, "%s", why.detail);
    if (!st)
        st = write_statistics(out, err);
    return st ? st : write_attributes(tree, out, err);
}

void minari_episode_dispose(struct minari_episode *episode)
{
    for (uint32_t i = 0; i < episode->note_capacity; i++) {
        hub_buf_dispose(&episode->notes[i].key);
        hub_buf_dispose(&episode->notes[i].value);
    }
    free(episode->notes);
    hub_buf_dispose(&episode->statistics);
    hub_buf_dispose(&episode->attributes);
}

/* Rows of the leaf, or of the first leaf below it. */
static bool rows_of(const struct minari_tree *tree, const char *name, uint64_t *rows)
{
    const size_t n = strlen(name);
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct minari_leaf *leaf = &tree->leaves[i];
        const bool below =
            hub_view_starts(leaf->path, name) && (leaf->path.size == n || leaf->path.data[n] == '/');
        if (below && leaf->dataset.rank != HUB_NONE && leaf->dataset.rank > 0) {
            *rows = leaf->dataset.rows;
            return true;
        }
    }
    return false;
}

uint64_t minari_episode_steps(const struct minari_tree *tree, const struct minari_episode *episode)
{
    static const char *const along[] = {"rewards", "actions", "terminations", "truncations"};
    uint64_t rows;
    for (size_t i = 0; i < HUB_COUNT(along); i++)
        if (rows_of(tree, along[i], &rows))
            return rows;
    if (episode->has_steps && episode->steps >= 0)
        return (uint64_t)episode->steps;
    return rows_of(tree, "observations", &rows) && rows ? rows - 1 : 0;
}
