/* How many datasets have a value: see facet_counts.h. */
#include "server/api/datasets/facet_counts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

void hub_facet_counts_dispose(struct hub_facet_counts *counts)
{
    free(counts->items);
}

enum hub_status hub_facet_counts_add(struct hub_facet_counts *counts, struct hub_view text, uint32_t dataset,
                                     struct hub_error *err)
{
    HUB_TRY(hub_grow(&counts->items, counts->count, &counts->capacity, sizeof *counts->items, err));
    counts->items[counts->count++] = (struct hub_facet_value){text, dataset, 1};
    return HUB_OK;
}

static int order_of(size_t x, size_t y)
{
    return (x > y) - (x < y);
}

static int compare_bytes(struct hub_view a, struct hub_view b)
{
    const int order = memcmp(a.data, b.data, HUB_MIN(a.size, b.size));
    return order ? order : order_of(a.size, b.size);
}

static int compare_folded(struct hub_view a, struct hub_view b)
{
    const int order = strncasecmp(a.data, b.data, HUB_MIN(a.size, b.size));
    return order ? order : order_of(a.size, b.size);
}

/* The spellings of one dataset follow each other. */
static int by_dataset(const void *a_, const void *b_)
{
    const struct hub_facet_value *a = a_, *b = b_;
    const int order = compare_folded(a->text, b->text), of = order_of(a->dataset, b->dataset);
    return order ? order : of ? of : compare_bytes(a->text, b->text);
}

static int by_spelling(const void *a_, const void *b_)
{
    const struct hub_facet_value *a = a_, *b = b_;
    const int order = compare_folded(a->text, b->text);
    return order ? order : compare_bytes(a->text, b->text);
}

static int by_count(const void *a_, const void *b_)
{
    const struct hub_facet_value *a = a_, *b = b_;
    const int order = order_of(b->count, a->count);
    return order ? order : compare_bytes(a->text, b->text);
}

static void sort(struct hub_facet_counts *counts, int (*by)(const void *, const void *))
{
    if (counts->count)
        qsort(counts->items, counts->count, sizeof *counts->items, by);
}

/* A dataset counts once for a value, however often and however spelt it has it. */
static void keep_one_of_each_dataset(struct hub_facet_counts *counts)
{
    uint32_t kept = 0;
    if (counts->exact)
        return; /* a dataset has each once */
    sort(counts, by_dataset);
    for (uint32_t i = 0; i < counts->count; i++) {
        const struct hub_facet_value *item = &counts->items[i],
                                     *last = kept ? &counts->items[kept - 1] : NULL;
        if (!last || last->dataset != item->dataset || compare_folded(last->text, item->text) != 0)
            counts->items[kept++] = *item;
    }
    counts->count = kept;
}

/* Where the values that are as the one at `from` end. */
static uint32_t end_of_run(const struct hub_facet_counts *counts, uint32_t from,
                           int (*compare)(struct hub_view, struct hub_view))
{
    uint32_t to = from + 1;
    while (to < counts->count && compare(counts->items[from].text, counts->items[to].text) == 0)
        to++;
    return to;
}

void hub_facet_counts_sum(struct hub_facet_counts *counts)
{
    uint32_t kept = 0, end;
    keep_one_of_each_dataset(counts);
    sort(counts, by_spelling);
    for (uint32_t i = 0; i < counts->count; i = end) {
        struct hub_facet_value sum = counts->items[i];
        uint32_t most = 0, to;
        end = end_of_run(counts, i, counts->exact ? compare_bytes : compare_folded);
        for (uint32_t at = i; at < end; at = to) {
            to = end_of_run(counts, at, compare_bytes);
            if (to - at > most)
                sum.text = counts->items[at].text;
            most = HUB_MAX(most, to - at);
        }
        sum.count = end - i;
        counts->items[kept++] = sum;
    }
    counts->count = kept;
    sort(counts, by_count);
}
