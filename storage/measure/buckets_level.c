/* Levels of buckets that are kept: see buckets.h. */
#include "storage/base/lru.h"
#include "storage/measure/buckets.h"

#include <stdlib.h>

#define MOST_BYTES (32 * MIB)  /* larger ones are folded each time */
#define WORTH_VALUES (4 * MIB) /* fewer are gone through in no time */

struct hub_kept_level {
    struct hub_lru_item item; /* first */
    struct hub_buckets buckets;
};

static struct hub_lru_key key_of(const struct hub_layout *layout, const struct hub_window *window)
{
    return (struct hub_lru_key){layout->serial, window->array, window->first};
}

static void free_level(struct hub_lru_item *item)
{
    hub_buckets_dispose(&((struct hub_kept_level *)item)->buckets);
    free(item);
}

static bool keeps(const struct hub_layout *layout)
{
    return layout->serial && layout->levels;
}

bool hub_level_is_worth(const struct hub_layout *layout, uint64_t rows, uint32_t dims)
{
    const uint64_t bytes = rows / HUB_LEVEL_WIDTH * dims * sizeof(struct hub_bucket);
    return keeps(layout) && rows * dims > WORTH_VALUES && bytes <= MOST_BYTES;
}

struct hub_kept_level *hub_kept_level_get(const struct hub_layout *layout, const struct hub_window *window)
{
    const struct hub_lru_key key = key_of(layout, window);
    return keeps(layout) ? (struct hub_kept_level *)hub_lru_get(layout->levels, &key) : NULL;
}

struct hub_kept_level *hub_kept_level_add(const struct hub_layout *layout, const struct hub_window *window,
                                          struct hub_buckets *buckets)
{
    struct hub_kept_level *level = keeps(layout) ? malloc(sizeof *level) : NULL;
    if (!level)
        return NULL;
    const size_t bytes =
        sizeof *level + (size_t)buckets->grid.count * buckets->dims * sizeof *buckets->buckets;
    *level = (struct hub_kept_level){
        .item = {.key = key_of(layout, window), .bytes = bytes, .free = free_level}, .buckets = *buckets};
    atomic_init(&level->item.refs, 1);
    buckets->buckets = NULL;
    return (struct hub_kept_level *)hub_lru_add(layout->levels, &level->item);
}

void hub_kept_level_put(struct hub_kept_level *level)
{
    if (level)
        hub_lru_put(&level->item);
}

/* The buckets [*first, *end) of a level that one of a grid is made of. */
static void within(const struct hub_bucket_grid *g, uint32_t bucket, uint64_t *first, uint64_t *end)
{
    const uint64_t from = (g->first + bucket) * g->width;
    *first = HUB_MAX(from, g->start) / HUB_LEVEL_WIDTH;
    *end = (HUB_MIN(from + g->width, g->stop) + HUB_LEVEL_WIDTH - 1) / HUB_LEVEL_WIDTH;
}

bool hub_kept_level_fits(const struct hub_kept_level *level, const struct hub_buckets *out)
{
    const struct hub_bucket_grid *g = &out->grid;
    return out->of == HUB_BUCKETS_VALUE && g->width >= HUB_LEVEL_WIDTH && g->start % HUB_LEVEL_WIDTH == 0 &&
           (g->stop % HUB_LEVEL_WIDTH == 0 || g->stop == level->buckets.grid.stop);
}

static void join_bucket(struct hub_bucket *to, const struct hub_bucket *from, uint32_t offset)
{
    if (from->low < to->low) {
        to->low = from->low;
        to->low_at = offset + from->low_at;
    }
    if (from->high > to->high) {
        to->high = from->high;
        to->high_at = offset + from->high_at;
    }
    to->sum += from->sum;
    to->count += from->count;
    to->nan += from->nan;
    to->above += from->above;
    to->below += from->below;
}

void hub_kept_level_take(const struct hub_kept_level *level, struct hub_buckets *out)
{
    const struct hub_buckets *from = &level->buckets;
    const struct hub_bucket_grid *g = &out->grid;
    for (uint32_t i = 0; i < g->count; i++) {
        uint64_t first, end;
        within(g, i, &first, &end);
        for (uint64_t k = first; k < end; k++)
            for (uint32_t d = 0; d < out->dims; d++)
                join_bucket(&out->buckets[(size_t)i * out->dims + d],
                            &from->buckets[k * from->dims + (out->chosen ? out->chosen[d] : d)],
                            (uint32_t)(k * HUB_LEVEL_WIDTH - (g->first + i) * g->width));
    }
}
