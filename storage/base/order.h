/**
 * Order of arrays, and search in them: for items that begin with what they are sorted by, so that a key alone
 * is compared with them as well. For qsort and bsearch too.
 */
#ifndef HUB_BASE_ORDER_H
#define HUB_BASE_ORDER_H

#include "storage/base/buf.h"

#include <stdlib.h>

static inline int hub_by_u32(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static inline int hub_by_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static inline int hub_by_i64(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static inline int hub_by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/** A key that is a hub_view among items that begin with a text. */
static inline int hub_view_by_text(const void *key, const void *item)
{
    const struct hub_view view = *(const struct hub_view *)key;
    const char *text = *(const char *const *)item;
    const int order = view.size ? strncmp(view.data, text, view.size) : 0;
    return order ? order : -(text[view.size] != '\0');
}

/** The first of the sorted items that does not come before the key; `count` where all do. */
static inline uint32_t hub_lower_bound(const void *key, const void *items, uint32_t count, size_t size,
                                       int (*compare)(const void *key, const void *item))
{
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (compare(key, (const char *)items + middle * size) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
