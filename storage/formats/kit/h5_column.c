/* Columns of numbers, read whole or at their end: see h5_kit.h. */
#include "storage/formats/kit/h5_kit.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_ROWS = 16 * 1024 * 1024, SLAB_BYTES = 512 * 1024 };

static double value_at(const struct hub_variant *v, const uint8_t *at)
{
    struct hub_h5_attribute a = {.items = 1, .data = {(const char *)at, v->item_size}};
    double value = NAN;
    a.type.variant =
        (struct hub_variant){.kind = v->kind, .item_size = v->item_size, .big_endian = v->big_endian};
    return hub_h5_attribute_double(&a, &value) ? value : NAN;
}

static bool is_numbers(const struct hub_h5_dataset *d)
{
    return !d->unreadable[0] && d->rank != HUB_NONE && d->element == d->type.size &&
           d->variant.item_size > 0 && d->variant.item_size <= 8 && d->variant.kind != HUB_KIND_FIXED &&
           d->variant.kind != HUB_KIND_VAR;
}

static const struct hub_h5_leaf *find_numbers(const struct hub_h5_tree *tree, const char *path)
{
    const struct hub_h5_leaf *leaf = hub_h5_tree_find(tree, path);
    return leaf && leaf->dataset.rank >= 1 && is_numbers(&leaf->dataset) ? leaf : NULL;
}

bool hub_h5_scalar(const struct hub_h5_tree *tree, const struct hub_h5_leaf *leaf, double *out)
{
    uint8_t bytes[8];
    if (leaf->dataset.rank || leaf->rows != 1 || !is_numbers(&leaf->dataset) ||
        hub_h5_read(tree->file, &leaf->dataset, 0, 1, bytes, NULL))
        return false;
    *out = value_at(&leaf->dataset.variant, bytes);
    return true;
}

static const struct hub_h5_leaf *find_column(const struct hub_h5_tree *tree, const char *path)
{
    const struct hub_h5_leaf *leaf = find_numbers(tree, path);
    return leaf && hub_variant_row_items(&leaf->dataset.variant) == 1 ? leaf : NULL;
}

bool hub_h5_bytes(const struct hub_h5_tree *tree, const struct hub_h5_leaf *leaf, struct hub_buf *out)
{
    const struct hub_h5_dataset *d = leaf ? &leaf->dataset : NULL;
    if (!d || d->unreadable[0] || d->library || d->rank == HUB_NONE)
        return false;
    if (d->type.field == HUB_FIELD_TEXT && d->rows == 1)
        return !hub_h5_read_text(tree->file, d, 0, out, NULL);
    if (d->rank != 1 || d->variant.kind != HUB_KIND_UINT || d->variant.item_size != 1 || d->variant.rank ||
        hub_h5_row_bytes(d) != 1 || d->rows > out->limit - out->size ||
        hub_buf_reserve(out, (size_t)d->rows, NULL) ||
        hub_h5_read(tree->file, d, 0, d->rows, out->data + out->size, NULL))
        return false;
    out->size += (size_t)d->rows;
    while (out->size && out->data[out->size - 1] == '\0')
        out->size--;
    return true;
}

bool hub_h5_flags(struct hub_h5 *file, uint64_t address, const char *path, uint8_t **out, uint64_t *count)
{
    HUB_CLEANUP(hub_h5_object_dispose) struct hub_h5_object object = {0};
    HUB_CLEANUP(hub_freep) uint8_t *flags = NULL;
    struct hub_h5_dataset d;
    uint64_t at;
    if (hub_h5_resolve(file, address, hub_view_of(path), &at, NULL) ||
        hub_h5_object_load(file, at, &object, NULL) || object.kind != HUB_H5_DATASET ||
        hub_h5_dataset(file, &object, &d, NULL) || d.unreadable[0] || d.library || d.rank != 1 ||
        hub_h5_row_bytes(&d) != 1 || d.rows > MAX_ROWS || hub_new(&flags, (size_t)d.rows + 1, 1, NULL) ||
        hub_h5_read(file, &d, 0, d.rows, flags, NULL))
        return false;
    *count = d.rows;
    *out = flags;
    flags = NULL;
    return true;
}

int8_t hub_h5_last_flag(const struct hub_h5_tree *tree, const char *path)
{
    const struct hub_h5_leaf *leaf = find_column(tree, path);
    uint8_t bytes[8];
    if (!leaf || leaf->rows == 0 || hub_h5_read(tree->file, &leaf->dataset, leaf->rows - 1, 1, bytes, NULL))
        return -1;
    const double value = value_at(&leaf->dataset.variant, bytes);
    return isnan(value) ? -1 : value != 0;
}

/* Hand on all numbers in their order; false when they cannot be read. */
static bool each_number(const struct hub_h5_tree *tree, const struct hub_h5_leaf *leaf, uint64_t first,
                        void (*take)(void *user, double value), void *user)
{
    const struct hub_variant *v = &leaf->dataset.variant;
    const uint64_t row = hub_h5_row_bytes(&leaf->dataset);
    if (leaf->rows > MAX_ROWS || row == 0 || row > SLAB_BYTES)
        return leaf->rows == 0;
    const uint64_t most = HUB_MIN(leaf->rows, SLAB_BYTES / row);
    HUB_CLEANUP(hub_freep) uint8_t *slab = malloc((size_t)(most * row) + 1);
    for (; first < leaf->rows; first += most) {
        const uint64_t n = HUB_MIN(leaf->rows - first, most);
        if (!slab || hub_h5_read(tree->file, &leaf->dataset, first, n, slab, NULL))
            return false;
        for (uint64_t at = 0; at < n * row; at += v->item_size)
            take(user, value_at(v, slab + at));
    }
    return true;
}

static void add(void *user, double value)
{
    *(double *)user += value;
}

void hub_h5_return(const struct hub_h5_tree *tree, const char *path, uint64_t first,
                   struct hub_episode *episode)
{
    const struct hub_h5_leaf *leaf = find_column(tree, path);
    double sum = 0;
    episode->has_return = episode->return_computed = leaf && each_number(tree, leaf, first, add, &sum);
    episode->episode_return =
        episode->has_return ? sum : 0; /* NaN where a reward is: no reward can be missing */
}

static void widen(void *user, double value)
{
    double *most = user;
    if (!(fabs(value) <= *most) && !isnan(*most)) /* what is no number is beyond all */
        *most = fabs(value);
}

bool hub_h5_each(const struct hub_h5_tree *tree, const char *path, void (*take)(void *user, double value),
                 void *user)
{
    const struct hub_h5_leaf *leaf = find_numbers(tree, path);
    return leaf && leaf->dataset.variant.kind != HUB_KIND_COMPLEX && each_number(tree, leaf, 0, take, user);
}

bool hub_h5_largest(const struct hub_h5_tree *tree, const char *path, double *out)
{
    *out = 0;
    return hub_h5_each(tree, path, widen, out);
}
