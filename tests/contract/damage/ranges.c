/* Sets of byte ranges, and the ranges a window of a layout stands on. */
#include "tests/contract/damage/damage.h"

#include <stdlib.h>

void ranges_add(struct ranges *set, uint32_t file, uint64_t begin, uint64_t end)
{
    if (begin >= end)
        return;
    struct range *last = set->count ? &set->items[set->count - 1] : NULL;
    if (last && last->file == file && last->end == begin) {
        last->end = end;
        return;
    }
    if (set->count == set->capacity) {
        set->capacity = set->capacity * 2 + 16;
        set->items = realloc(set->items, set->capacity * sizeof *set->items);
        if (!set->items)
            die("out of memory");
    }
    set->items[set->count++] = (struct range){file, begin, end};
}

void ranges_add_all(struct ranges *set, const struct ranges *more)
{
    for (uint32_t i = 0; i < more->count; i++)
        ranges_add(set, more->items[i].file, more->items[i].begin, more->items[i].end);
}

static int compare(const void *left, const void *right)
{
    const struct range *a = left, *b = right;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

void ranges_tidy(struct ranges *set)
{
    if (set->count == 0)
        return;
    qsort(set->items, set->count, sizeof *set->items, compare);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < set->count; i++) {
        struct range *last = &set->items[kept - 1];
        const struct range *next = &set->items[i];
        if (next->file == last->file && next->begin <= last->end)
            last->end = HUB_MAX(last->end, next->end);
        else
            set->items[kept++] = *next;
    }
    set->count = kept;
}

/* The first range that ends behind the beginning of the one asked for. */
static const struct range *find(const struct ranges *tidy, const struct range *range)
{
    uint32_t low = 0, high = tidy->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const struct range *r = &tidy->items[middle];
        if (r->file < range->file || (r->file == range->file && r->end <= range->begin))
            low = middle + 1;
        else
            high = middle;
    }
    return low < tidy->count && tidy->items[low].file == range->file ? &tidy->items[low] : NULL;
}

bool ranges_touch(const struct ranges *tidy, const struct range *range)
{
    const struct range *r = find(tidy, range);
    return r && r->begin < range->end;
}

bool ranges_cover(const struct ranges *tidy, const struct range *range)
{
    const struct range *r = find(tidy, range);
    return r && r->begin <= range->begin && r->end >= range->end;
}

void ranges_dispose(struct ranges *set)
{
    free(set->items);
    *set = (struct ranges){0};
}

/* ---- windows ---- */

static void add_strided(const struct hub_layout *layout, const struct hub_piece *p,
                        const struct hub_variant *v, uint64_t first, uint64_t last, struct ranges *out)
{
    int64_t low = 0, high = p->geometry == HUB_NONE ? (int64_t)hub_variant_row_bytes(v) : v->item_size;
    if (hub_variant_row_bytes(v) == 0)
        return;
    for (unsigned i = 0; p->geometry != HUB_NONE && i < v->rank; i++) {
        const int64_t span = (int64_t)(v->dims[i] - 1) * layout->strides[p->geometry + i];
        *(span < 0 ? &low : &high) += span;
    }
    for (uint64_t row = first; row <= last; row++) {
        const int64_t at = (int64_t)p->offset + (int64_t)row * p->row_stride;
        ranges_add(out, p->file, (uint64_t)(at + low), (uint64_t)(at + high));
    }
}

static void add_page(const struct hub_layout *layout, uint32_t file, uint32_t number, struct ranges *out)
{
    const struct hub_page *page = &layout->pages[number];
    ranges_add(out, file, page->offset, page->offset + page->stored);
}

/* Rows first..last of a piece; chunks and pages are taken whole. */
static bool add_piece(const struct hub_layout *layout, const struct hub_piece *p, const struct hub_variant *v,
                      uint64_t first, uint64_t last, struct ranges *out)
{
    if (p->file == HUB_SIDE_FILE)
        return false;
    switch (p->kind) {
    case HUB_PIECE_STRIDED:
        add_strided(layout, p, v, first, last, out);
        return true;
    case HUB_PIECE_EXTENTS:
        for (uint64_t row = first; row <= last; row++) {
            const struct hub_extent *e = &layout->extents[p->table + row];
            ranges_add(out, p->file, e->offset, e->offset + e->length);
        }
        return true;
    case HUB_PIECE_CHUNKED:
        for (uint32_t i = p->table; i < p->table + p->count; i++)
            if (layout->chunks[i].offset != HUB_ABSENT)
                ranges_add(out, p->file, layout->chunks[i].offset,
                           layout->chunks[i].offset + layout->chunks[i].size);
        return true;
    case HUB_PIECE_PAGES:
        if (layout->columns[p->geometry].dictionary != HUB_NONE)
            add_page(layout, p->file, layout->columns[p->geometry].dictionary, out);
        for (uint32_t i = p->table; i < p->table + p->count; i++)
            add_page(layout, p->file, i, out);
        return true;
    default:
        return false;
    }
}

bool ranges_of_window(const struct hub_layout *layout, const struct hub_window *window, struct ranges *out)
{
    const struct hub_array *array = &layout->arrays[window->array];
    bool all = true;
    for (uint32_t i = 0; i < array->piece_count && window->count; i++) {
        const struct hub_piece *p = &layout->pieces[array->first_piece + i];
        const uint64_t begin = HUB_MAX(p->first_row, window->first);
        const uint64_t end = HUB_MIN(p->first_row + p->rows, window->first + window->count);
        if (begin < end && !add_piece(layout, p, &layout->variants[array->variant], begin - p->first_row,
                                      end - 1 - p->first_row, out))
            all = false;
    }
    ranges_tidy(out);
    return all;
}
