/*
 * The datasets below one episode's group, nested at will. Soft links are followed inside the file; external
 * and user-defined ones, cycles and depths beyond reason are problems, by name.
 */
#include "storage/formats/kit/h5_kit.h"
#include "storage/text/utf8.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_LEAVES = 8192 };

enum hub_status hub_h5_tree_problem(struct hub_h5_tree *tree, const char *code, struct hub_view path,
                                    struct hub_error *err, const char *detail)
{
    char whole[HUB_MAX_PATH];
    if (tree->quiet)
        return HUB_OK;
    const int n = snprintf(whole, sizeof whole, "%.*s%s%.*s", (int)HUB_MIN(tree->episode.size, 200),
                           tree->episode.data, path.size ? "/" : "", (int)HUB_MIN(path.size, 700), path.data);
    return hub_sink_problem(tree->sink, code, (struct hub_view){whole, (size_t)n}, err, "%s", detail);
}

bool hub_h5_is_local(const struct hub_h5 *file, enum hub_status st)
{
    return hub_is_local(st) && (st != HUB_TOO_BIG || !hub_h5_exhausted(file));
}

enum hub_status hub_h5_tree_finish(struct hub_h5_tree *tree, enum hub_status st, const char *code,
                                   struct hub_view path, const struct hub_error *why, struct hub_error *err)
{
    if (!st)
        return HUB_OK;
    return hub_h5_is_local(tree->file, st) ? hub_h5_tree_problem(tree, code, path, err, why->detail)
                                           : hub_pass(st, why, err);
}

/* NULL: it has as many as it may, which is reported once. */
static enum hub_status new_leaf(struct hub_h5_tree *tree, struct hub_h5_leaf **out, struct hub_error *err)
{
    *out = NULL;
    if (tree->full)
        return HUB_OK;
    tree->full = tree->count >= MAX_LEAVES;
    if (tree->full)
        return hub_h5_tree_problem(tree, "too-many-fields", HUB_VIEW(""), err,
                                   "an episode of more than 8,192 datasets: the others are left out");
    const uint32_t used = tree->capacity;
    HUB_TRY(hub_grow(&tree->leaves, tree->count, &tree->capacity, sizeof *tree->leaves, err));
    memset(tree->leaves + used, 0, (tree->capacity - used) * sizeof *tree->leaves);
    *out = &tree->leaves[tree->count];
    return HUB_OK;
}

/* The object a link leads to, or a problem and false. */
static enum hub_status target_of(struct hub_h5_tree *tree, uint64_t group, const struct hub_h5_link *link,
                                 uint64_t *address, bool *good, struct hub_error *err)
{
    struct hub_error why = {0};
    const struct hub_view path = hub_buf_view(&tree->path);
    *good = false;
    switch (link->kind) {
    case HUB_H5_HARD:
        *address = link->address;
        *good = true;
        return HUB_OK;
    case HUB_H5_SOFT: {
        const enum hub_status st = hub_h5_resolve(tree->file, group, link->path, address, &why);
        *good = !st;
        return hub_h5_tree_finish(tree, st, st == HUB_DENIED ? "link-leaves-dataset" : "link-target-missing",
                                  path, &why, err);
    }
    case HUB_H5_EXTERNAL:
        snprintf(why.detail, sizeof why.detail, "a link into the file '%.*s'; not followed",
                 (int)HUB_MIN(link->file.size, 200), link->file.data);
        return hub_h5_tree_problem(tree, "link-leaves-dataset", path, err, why.detail);
    case HUB_H5_USER:
        break;
    }
    return hub_h5_tree_problem(tree, "link-user-defined", path, err, "a user-defined link; not followed");
}

static enum hub_status walk(struct hub_h5_tree *tree, unsigned depth, struct hub_error *err);

static enum hub_status descend(struct hub_h5_tree *tree, struct hub_h5_leaf *leaf, unsigned depth,
                               struct hub_error *err)
{
    if (depth + 1 >= HUB_H5_MAX_DEPTH)
        return hub_h5_tree_problem(tree, "too-deep", hub_buf_view(&tree->path), err,
                                   "groups are nested more than 16 deep");
    for (unsigned i = 0; i <= depth; i++)
        if (tree->above[i] == leaf->object.address)
            return hub_h5_tree_problem(tree, "link-cycle", hub_buf_view(&tree->path), err,
                                       "the group contains itself");
    const struct hub_h5_object object = leaf->object;
    leaf->object = tree->groups[depth + 1];
    tree->groups[depth + 1] = object;
    return walk(tree, depth + 1, err);
}

static bool good_name(struct hub_view name)
{
    return name.size && hub_utf8_valid(name) && !memchr(name.data, 0, name.size) &&
           !memchr(name.data, '/', name.size) && !hub_view_is(name, ".") && !hub_view_is(name, "..");
}

/* Of members of members. */
static bool good_path(struct hub_view path)
{
    for (size_t at = 0; at <= path.size;) {
        const char *end = memchr(path.data + at, '/', path.size - at);
        const size_t size = end ? (size_t)(end - path.data) - at : path.size - at;
        if (!good_name((struct hub_view){path.data + at, size}))
            return false;
        at += size + 1;
    }
    return true;
}

/* The leaf, which is the next one, gets the path of the moment. */
static enum hub_status keep_leaf(struct hub_h5_tree *tree, struct hub_h5_leaf *leaf, struct hub_error *err)
{
    leaf->path_at = tree->text.size;
    leaf->rows = leaf->dataset.rows;
    leaf->path.size = tree->path.size;
    HUB_TRY(hub_buf_add_view(&tree->text, hub_buf_view(&tree->path), err));
    tree->count++;
    return HUB_OK;
}

static enum hub_status take_member(void *user, struct hub_view name, const struct hub_h5_dataset *member,
                                   struct hub_error *err)
{
    struct hub_h5_tree *tree = user;
    const size_t before = tree->path.size;
    struct hub_h5_leaf *leaf;
    if (!good_path(name) || before + name.size + 1 > HUB_MAX_PATH)
        return hub_h5_tree_problem(tree, "bad-name", hub_buf_view(&tree->path), err,
                                   "a member whose name is empty, too long or not UTF-8");
    HUB_TRY(new_leaf(tree, &leaf, err));
    if (!leaf)
        return HUB_OK;
    leaf->dataset = *member;
    HUB_TRY(hub_buf_add_text(&tree->path, "/", err));
    HUB_TRY(hub_buf_add_view(&tree->path, name, err));
    HUB_TRY(keep_leaf(tree, leaf, err));
    tree->path.size = before;
    return HUB_OK;
}

/* Members of a compound become leaves; all of them borrow from the header, which the first one's leaf
 * holds. */
static enum hub_status take_members(struct hub_h5_tree *tree, const struct hub_h5_leaf *leaf,
                                    struct hub_error *err)
{
    struct hub_error why = {0};
    const struct hub_h5_object object = leaf->object; /* the leaves may be moved, its bytes are not */
    const struct hub_h5_dataset whole = leaf->dataset;
    const enum hub_status st = hub_h5_members(tree->file, &object, &whole, take_member, tree, &why);
    return hub_h5_tree_finish(tree, st, "dataset-damaged", hub_buf_view(&tree->path), &why, err);
}

static enum hub_status take_dataset(struct hub_h5_tree *tree, struct hub_h5_leaf *leaf, struct hub_error *err)
{
    struct hub_error why = {0};
    const enum hub_status st = hub_h5_dataset(tree->file, &leaf->object, &leaf->dataset, &why);
    if (st == HUB_UNSUPPORTED) {
        leaf->dataset.type.field = HUB_FIELD_OPAQUE;
        snprintf(leaf->dataset.unreadable, sizeof leaf->dataset.unreadable, "%.150s", why.detail);
    } else if (st) {
        return hub_h5_tree_finish(tree, st, "dataset-damaged", hub_buf_view(&tree->path), &why, err);
    }
    if (!st && hub_h5_has_members(&leaf->dataset))
        return take_members(tree, leaf, err);
    return keep_leaf(tree, leaf, err);
}

static enum hub_status take_object(struct hub_h5_tree *tree, uint64_t address, unsigned depth,
                                   struct hub_error *err)
{
    struct hub_h5_leaf *leaf = NULL;
    struct hub_error why = {0};
    HUB_TRY(new_leaf(tree, &leaf, err));
    if (!leaf)
        return HUB_OK;
    const enum hub_status st = hub_h5_object_load(tree->file, address, &leaf->object, &why);
    if (st)
        return hub_h5_tree_finish(tree, st, "object-damaged", hub_buf_view(&tree->path), &why, err);
    switch (leaf->object.kind) {
    case HUB_H5_GROUP:
        return descend(tree, leaf, depth, err);
    case HUB_H5_DATASET:
        return take_dataset(tree, leaf, err);
    case HUB_H5_TYPE:
        return HUB_OK;
    case HUB_H5_OTHER:
        break;
    }
    return hub_h5_tree_problem(tree, "object-damaged", hub_buf_view(&tree->path), err,
                               "neither a group nor a dataset");
}

static enum hub_status take_link(struct hub_h5_tree *tree, const struct hub_h5_link *link, unsigned depth,
                                 struct hub_error *err)
{
    const size_t before = tree->path.size;
    uint64_t address;
    bool good;
    if (!good_name(link->name) || before + link->name.size + 1 > HUB_MAX_PATH)
        return hub_h5_tree_problem(tree, "bad-name", hub_buf_view(&tree->path), err,
                                   "a name that is empty, too long or not UTF-8");
    if (before)
        HUB_TRY(hub_buf_add_text(&tree->path, "/", err));
    HUB_TRY(hub_buf_add_view(&tree->path, link->name, err));
    enum hub_status st = target_of(tree, tree->groups[depth].address, link, &address, &good, err);
    if (!st && good)
        st = take_object(tree, address, depth, err);
    tree->path.size = before;
    return st;
}

/* The members of groups[depth], which is loaded. */
static enum hub_status walk(struct hub_h5_tree *tree, unsigned depth, struct hub_error *err)
{
    struct hub_error why = {0};
    tree->above[depth] = tree->groups[depth].address;
    const enum hub_status st = hub_h5_links_load(tree->file, &tree->groups[depth], &tree->links[depth], &why);
    HUB_TRY(hub_h5_tree_finish(tree, st, "group-damaged", hub_buf_view(&tree->path), &why, err));
    for (uint32_t i = 0; i < tree->links[depth].count && !tree->full; i++)
        HUB_TRY(take_link(tree, &tree->links[depth].items[i], depth, err));
    return HUB_OK;
}

enum hub_status hub_h5_tree_load(struct hub_h5_tree *tree, uint64_t address, struct hub_error *err)
{
    tree->count = 0;
    tree->full = false;
    tree->text.size = tree->path.size = 0;
    tree->text.limit = (size_t)MAX_LEAVES * HUB_MAX_PATH;
    tree->path.limit = 2 * HUB_MAX_PATH;
    HUB_TRY(hub_h5_object_load(tree->file, address, &tree->groups[0], err));
    if (tree->groups[0].kind != HUB_H5_GROUP)
        return hub_fail(err, HUB_CORRUPT, "the episode is not a group");
    HUB_TRY(walk(tree, 0, err));
    for (uint32_t i = 0; i < tree->count; i++)
        tree->leaves[i].path.data = tree->text.data + tree->leaves[i].path_at;
    return HUB_OK;
}

const struct hub_h5_leaf *hub_h5_tree_find(const struct hub_h5_tree *tree, const char *path)
{
    for (uint32_t i = 0; i < tree->count; i++)
        if (hub_view_is(tree->leaves[i].path, path))
            return &tree->leaves[i];
    return NULL;
}

bool hub_h5_tree_rows(const struct hub_h5_tree *tree, const char *name, uint64_t *rows)
{
    const size_t n = strlen(name);
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct hub_h5_leaf *leaf = &tree->leaves[i];
        const bool below =
            hub_view_starts(leaf->path, name) && (leaf->path.size == n || leaf->path.data[n] == '/');
        if (below && leaf->dataset.rank != HUB_NONE && leaf->dataset.rank > 0) {
            *rows = leaf->dataset.rows;
            return true;
        }
    }
    return false;
}

enum hub_status hub_h5_tree_attributes(struct hub_h5_tree *tree, const struct hub_h5_object *object,
                                       hub_h5_attribute_fn fn, void *user, struct hub_error *err)
{
    struct hub_error why = {0};
    const enum hub_status st = hub_h5_attributes(tree->file, object, fn, user, &why);
    return hub_h5_tree_finish(tree, st, "attribute-damaged", HUB_VIEW(""), &why, err);
}

void hub_h5_tree_dispose(struct hub_h5_tree *tree)
{
    for (uint32_t i = 0; i < tree->capacity; i++)
        hub_h5_object_dispose(&tree->leaves[i].object);
    for (unsigned i = 0; i < HUB_H5_MAX_DEPTH; i++) {
        hub_h5_object_dispose(&tree->groups[i]);
        hub_h5_links_dispose(&tree->links[i]);
    }
    free(tree->leaves);
    hub_buf_dispose(&tree->text);
    hub_buf_dispose(&tree->path);
}
