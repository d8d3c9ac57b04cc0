/* A column of single numbers, whole or its last: see h5_kit.h. */
#include "storage/formats/kit/h5_kit.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_ROWS = 16 * 1024 * 1024, SLAB = 65536 };

static double value_at(const struct hub_variant *v, const uint8_t *at)
{
    struct hub_h5_attribute a = {.items = 1, .data = {(const char *)at, v->item_size}};
    double value = NAN;
    a.type.variant = *v;
    return hub_h5_attribute_double(&a, &value) ? value : NAN;
}

static const struct hub_h5_leaf *find_column(const struct hub_h5_tree *tree, const char *path)
{
    const struct hub_h5_leaf *leaf = hub_h5_tree_find(tree, path);
    const struct hub_h5_dataset *d = leaf ? &leaf->dataset : NULL;
    return d && !d->unreadable[0] && !d->library && d->rank >= 1 && d->rank != HUB_NONE &&
                   d->element == d->type.size && d->variant.item_size > 0 && d->variant.item_size <= 8 &&
                   d->variant.kind != HUB_KIND_FIXED && d->variant.kind != HUB_KIND_VAR &&
                   hub_variant_row_items(&d->variant) == 1
               ? leaf
               : NULL;
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

bool hub_h5_sum(const struct hub_h5_tree *tree, const char *path, double *out)
{
    const struct hub_h5_leaf *leaf = find_column(tree, path);
    if (!leaf || leaf->rows > MAX_ROWS)
        return false;
    const uint32_t item = leaf->dataset.variant.item_size;
    HUB_CLEANUP(hub_freep) uint8_t *slab = malloc((size_t)HUB_MIN(leaf->rows, (uint64_t)SLAB) * item + 1);
    double sum = 0;
    for (uint64_t first = 0; first < leaf->rows; first += SLAB) {
        const uint64_t n = HUB_MIN(leaf->rows - first, (uint64_t)SLAB);
        if (!slab || hub_h5_read(tree->file, &leaf->dataset, first, n, slab, NULL))
            return false;
        for (uint64_t i = 0; i < n; i++)
            sum += value_at(&leaf->dataset.variant, slab + i * item);
    }
    *out = isfinite(sum) ? sum : 0;
    return isfinite(sum);
}
