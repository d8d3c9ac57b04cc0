/*
 * One HDF5 file of a Minari dataset: its episodes in number order. main_data.hdf5 holds its own;
 * additional_data_<k>.hdf5 holds those that external links in main_data.hdf5 name, under the links' numbers.
 */
#include "storage/formats/minari/minari.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_REWARDS = 16 * 1024 * 1024, SLAB = 65536 };

struct entry {
    int64_t number;
    uint64_t address;
    char name[28];
};

struct part {
    struct hub_files *files;
    struct hub_sink *sink;
    struct hub_h5 *file; /* where the episodes are */
    struct entry *entries;
    uint32_t count, capacity;
    struct minari_tree tree;
    struct minari_episode episode;
    struct minari_fields fields;
    uint32_t steps_differ, ids_differ; /* episodes, reported once */
    char steps_first[120], ids_first[120];
};

static enum hub_status add_entry(struct part *p, const struct entry *entry, struct hub_error *err)
{
    if (p->count >= HUB_MAX_EPISODES)
        return hub_fail(err, HUB_TOO_BIG, "more than %d episodes", HUB_MAX_EPISODES);
    if (p->count == p->capacity) {
        const uint32_t capacity = p->capacity ? p->capacity * 2 : 256;
        struct entry *grown = realloc(p->entries, capacity * sizeof *grown);
        if (!grown)
            return hub_fail(err, HUB_NO_MEMORY, "out of memory listing episodes");
        p->entries = grown;
        p->capacity = capacity;
    }
    p->entries[p->count++] = *entry;
    return HUB_OK;
}

/* Is this external link one into the part's file, and to which object? */
static bool leads_here(const struct part *p, const struct hub_h5_link *link)
{
    uint32_t number;
    return minari_link_target(p->files, link->file, &number) == MINARI_LINK_GOOD &&
           number == hub_h5_number(p->file);
}

static enum hub_status list_link(struct part *p, const struct hub_h5_link *link, bool linked,
                                 struct hub_error *err)
{
    struct entry entry = {.address = link->address};
    struct hub_error why = {0};
    if (!minari_episode_number(link->name, &entry.number) || (link->kind == HUB_H5_EXTERNAL) != linked)
        return HUB_OK;
    if (linked && !leads_here(p, link))
        return HUB_OK;
    snprintf(entry.name, sizeof entry.name, "%.*s", (int)link->name.size, link->name.data);
    if (link->kind == HUB_H5_USER)
        return hub_sink_problem(p->sink, "link-user-defined", link->name, err,
                                "a user-defined link; not followed");
    if (link->kind == HUB_H5_HARD)
        return add_entry(p, &entry, err);
    const enum hub_status st =
        hub_h5_resolve(p->file, hub_h5_root(p->file), link->path, &entry.address, &why);
    if (st == HUB_NO_MEMORY || st == HUB_IO || st == HUB_CHANGED)
        return hub_fail(err, st, "%s", why.detail);
    if (st)
        return hub_sink_problem(p->sink, st == HUB_DENIED ? "link-leaves-dataset" : "link-target-missing",
                                link->name, err, "%s", why.detail);
    return add_entry(p, &entry, err);
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* List the episodes from the root of `index`: the part's own file, or main_data.hdf5 whose links lead here.
 */
static enum hub_status list_episodes(struct part *p, struct hub_h5 *index, bool linked, struct hub_error *err)
{
    HUB_CLEANUP(hub_h5_object_dispose) struct hub_h5_object root = {0};
    HUB_CLEANUP(hub_h5_links_dispose) struct hub_h5_links links = {0};
    struct hub_error why = {0};
    HUB_TRY(hub_h5_object_load(index, hub_h5_root(index), &root, err));
    const enum hub_status st = hub_h5_links_load(index, &root, &links, &why);
    if (st && st != HUB_CORRUPT && st != HUB_UNSUPPORTED)
        return hub_fail(err, st, "%s", why.detail);
    if (st)
        HUB_TRY(hub_sink_problem(p->sink, "group-damaged", HUB_VIEW("/"), err, "the list of episodes: %s",
                                 why.detail));
    for (uint32_t i = 0; i < links.count; i++)
        HUB_TRY(list_link(p, &links.items[i], linked, err));
    if (p->count)
        qsort(p->entries, p->count, sizeof *p->entries, compare_entries);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->count; i++) /* a damaged group may name an episode twice */
        if (i == 0 || p->entries[i].number != p->entries[kept - 1].number)
            p->entries[kept++] = p->entries[i];
    p->count = kept;
    return HUB_OK;
}

/* Element `at` of rows of `v` as a number. */
static double value_at(const struct hub_variant *v, const uint8_t *at)
{
    struct hub_h5_attribute a = {.items = 1, .data = {(const char *)at, v->item_size}};
    double value = NAN;
    a.type.variant = *v;
    return hub_h5_attribute_double(&a, &value) ? value : NAN;
}

static bool is_column(const struct minari_leaf *leaf)
{
    const struct hub_h5_dataset *d = leaf ? &leaf->dataset : NULL;
    return d && !d->unreadable[0] && !d->library && d->rank >= 1 && d->rank != HUB_NONE &&
           d->element == d->type.size && d->variant.item_size > 0 && d->variant.item_size <= 8 &&
           d->variant.kind != HUB_KIND_FIXED && d->variant.kind != HUB_KIND_VAR &&
           hub_variant_row_items(&d->variant) == 1;
}

/* The last element of terminations or truncations: 1, 0, or -1 for unknown. */
static int8_t last_flag(const struct part *p, const char *path)
{
    const struct minari_leaf *leaf = minari_tree_find(&p->tree, path);
    uint8_t bytes[8];
    if (!is_column(leaf) || leaf->dataset.rows == 0 ||
        hub_h5_read(p->file, &leaf->dataset, leaf->dataset.rows - 1, 1, bytes, NULL))
        return -1;
    const double value = value_at(&leaf->dataset.variant, bytes);
    return isnan(value) ? -1 : value != 0;
}

/* The sum of the rewards, row by row in the order Python's sum takes them. */
static bool sum_rewards(const struct part *p, double *out)
{
    const struct minari_leaf *leaf = minari_tree_find(&p->tree, "rewards");
    if (!is_column(leaf) || leaf->dataset.rows > MAX_REWARDS)
        return false;
    const uint32_t item = leaf->dataset.variant.item_size;
    uint8_t *slab = malloc((size_t)SLAB * item);
    double sum = 0;
    bool good = slab != NULL;
    for (uint64_t first = 0; good && first < leaf->dataset.rows; first += SLAB) {
        const uint64_t n = HUB_MIN(leaf->dataset.rows - first, (uint64_t)SLAB);
        good = !hub_h5_read(p->file, &leaf->dataset, first, n, slab, NULL);
        for (uint64_t i = 0; good && i < n; i++)
            sum += value_at(&leaf->dataset.variant, slab + i * item);
    }
    free(slab);
    *out = sum;
    return good;
}

static void note_differences(struct part *p, const struct entry *entry, uint64_t steps)
{
    const struct minari_episode *e = &p->episode;
    if (e->has_steps && (e->steps < 0 || (uint64_t)e->steps != steps) && p->steps_differ++ == 0)
        snprintf(p->steps_first, sizeof p->steps_first, "%s says %lld and has %llu", entry->name,
                 (long long)e->steps, (unsigned long long)steps);
    if (e->has_id && e->id != entry->number && p->ids_differ++ == 0)
        snprintf(p->ids_first, sizeof p->ids_first, "%s says %lld", entry->name, (long long)e->id);
}

static enum hub_status report_episode(struct part *p, const struct entry *entry, uint64_t steps,
                                      uint32_t *index, struct hub_error *err)
{
    const struct minari_episode *e = &p->episode;
    struct hub_episode episode = {
        .number = entry->number,
        .name = hub_view_of(entry->name),
        .file = hub_h5_number(p->file),
        .steps = steps,
        .seed = hub_view_of(e->seed),
        .success = -1,
        .terminated = last_flag(p, "terminations"),
        .truncated = last_flag(p, "truncations"),
        .attributes = hub_buf_view(&e->attributes),
        .statistics = hub_buf_view(&e->statistics),
    };
    if (e->has_stat[0]) {
        episode.has_return = isfinite(e->stats[0]);
        episode.episode_return = episode.has_return ? e->stats[0] : 0;
    } else if (sum_rewards(p, &episode.episode_return) && isfinite(episode.episode_return)) {
        episode.has_return = episode.return_computed = true;
    } else {
        episode.episode_return = 0;
    }
    return hub_sink_episode(p->sink, &episode, index, err);
}

static bool is_local(const struct part *p, enum hub_status st)
{
    return st == HUB_CORRUPT || st == HUB_UNSUPPORTED || (st == HUB_TOO_BIG && !hub_h5_exhausted(p->file));
}

/* Load an episode; a bad one is a problem and false. */
static enum hub_status load_episode(struct part *p, const struct entry *entry, bool quiet, bool *good,
                                    struct hub_error *err)
{
    struct hub_error why = {0};
    p->tree.episode = hub_view_of(entry->name);
    p->tree.quiet = quiet;
    enum hub_status st = minari_tree_load(&p->tree, entry->address, &why);
    if (!st)
        st = minari_episode_load(&p->tree, &p->episode, &why);
    *good = !st;
    if (st && is_local(p, st))
        return minari_problem(&p->tree, "unreadable-episode", HUB_VIEW(""), err, why.detail);
    return st ? hub_fail(err, st, "%s", why.detail) : HUB_OK;
}

/* The first episodes decide how each field's rows relate to steps. */
static enum hub_status vote(struct part *p, struct hub_error *err)
{
    for (uint32_t i = 0; i < p->count && i < MINARI_VOTERS; i++) {
        bool good;
        HUB_TRY(load_episode(p, &p->entries[i], true, &good, err));
        if (good)
            HUB_TRY(
                minari_fields_vote(&p->fields, &p->tree, minari_episode_steps(&p->tree, &p->episode), err));
    }
    return HUB_OK;
}

static enum hub_status report_all(struct part *p, struct hub_error *err)
{
    for (uint32_t i = 0; i < p->count; i++) {
        bool good;
        uint32_t index;
        HUB_TRY(load_episode(p, &p->entries[i], false, &good, err));
        if (!good)
            continue;
        const uint64_t steps = minari_episode_steps(&p->tree, &p->episode);
        note_differences(p, &p->entries[i], steps);
        HUB_TRY(report_episode(p, &p->entries[i], steps, &index, err));
        HUB_TRY(minari_fields_place(&p->fields, &p->tree, index, steps, err));
    }
    if (p->steps_differ)
        HUB_TRY(hub_sink_problem(p->sink, "length-mismatch", HUB_VIEW(""), err,
                                 "total_steps of %u episodes is not their number of rewards: %s",
                                 p->steps_differ, p->steps_first));
    if (p->ids_differ)
        HUB_TRY(hub_sink_problem(p->sink, "number-mismatch", HUB_VIEW(""), err,
                                 "the id of %u episodes is not that of their name: %s", p->ids_differ,
                                 p->ids_first));
    return minari_fields_finish(&p->fields, p->sink, err);
}

static enum hub_status inspect_part(struct part *p, const struct hub_part *part, struct hub_error *err)
{
    HUB_CLEANUP(hub_h5_closep) struct hub_h5 *index = NULL;
    const bool linked = part->file_count > 1;
    if (part->file_count < 1)
        return hub_fail(err, HUB_INVALID, "a part without a file");
    HUB_TRY(hub_h5_open(p->files, part->files[0], &p->file, err));
    if (linked) {
        HUB_TRY(minari_tell_open(p->file, p->files->entries[part->files[0]].path, p->sink, err));
        HUB_TRY(hub_h5_open(p->files, part->files[1], &index, err));
    }
    p->tree.file = p->file;
    p->tree.sink = p->sink;
    HUB_TRY(list_episodes(p, linked ? index : p->file, linked, err));
    HUB_TRY(vote(p, err));
    return report_all(p, err);
}

enum hub_status minari_inspect(struct hub_files *files, const struct hub_part *part, struct hub_sink *sink,
                               struct hub_error *err)
{
    struct part p = {.files = files, .sink = sink, .fields = {.hint = part->hint}};
    const enum hub_status st = inspect_part(&p, part, err);
    minari_fields_dispose(&p.fields);
    minari_episode_dispose(&p.episode);
    minari_tree_dispose(&p.tree);
    hub_h5_close(p.file);
    free(p.entries);
    return st;
}
