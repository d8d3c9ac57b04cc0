/* Which pages of a Parquet column hold the rows of a cut: see page_reader.h. */
#include "storage/read/page_reader.h"

#include "storage/base/order.h"

struct page_reader hub_page_reader_of(const struct hub_plan *plan, const struct hub_cut *cut)
{
    struct page_reader r = {.cut = cut, .column = &plan->layout->columns[cut->piece->geometry]};
    r.pages = plan->layout->pages + cut->piece->table;
    r.page_count = cut->piece->count;
    r.lists = plan->variant->kind == HUB_KIND_VAR && plan->variant->sequence;
    r.items = hub_variant_row_items(plan->variant);
    r.low = cut->row * r.items;
    r.partial = (cut->count - 1) * cut->step + 1 < cut->piece->rows;
    return r;
}

static int by_first_value(const void *value, const void *page)
{
    return ((const struct hub_page *)page)->first_value <= *(const uint64_t *)value ? 1 : -1;
}

uint32_t hub_page_with(const struct page_reader *r, uint64_t value)
{
    const uint32_t behind =
        hub_lower_bound(&value, r->pages, r->page_count, sizeof *r->pages, by_first_value);
    return behind ? behind - 1 : 0;
}

bool hub_page_part_of(const struct page_reader *r, const struct hub_page *page, struct page_part *part)
{
    const struct hub_cut *cut = r->cut;
    const uint64_t begin = page->first_value, end = begin + page->values, stride = cut->step * r->items;
    const uint64_t last_end = r->low + (cut->count - 1) * stride + r->items;
    if (begin >= last_end || end <= r->low)
        return false;
    part->page = page;
    part->first = begin < r->low + r->items ? 0 : (begin - r->low - r->items) / stride + 1;
    const uint64_t last = HUB_MIN((end - 1 - r->low) / stride, cut->count - 1);
    if (part->first > last)
        return false;
    part->count = last - part->first + 1;
    part->from = HUB_MAX(begin, r->low + part->first * stride);
    part->to = HUB_MIN(end, r->low + last * stride + r->items);
    return part->from < part->to;
}

/* Bytes of the longest value, where values are of varying length. */
static uint64_t longest_of(const struct hub_column *column)
{
    return column->physical == HUB_PHYS_FIXED ? column->width : column->longest;
}

uint64_t hub_page_expanded(const struct hub_column *column, const struct hub_page *page, uint64_t count)
{
    const uint64_t all = count * longest_of(column);
    const bool summed = column->physical == HUB_PHYS_BYTE_ARRAY && page->sum < UINT32_MAX;
    return HUB_MIN(all, summed ? page->sum : 4 * GIB);
}

uint64_t hub_page_room_to_build(const struct hub_column *column, const struct hub_page *page, uint64_t count,
                                bool views)
{
    if (page->encoding == HUB_ENC_DELTA_BYTES)
        return views ? longest_of(column) + hub_page_expanded(column, page, count) : column->width;
    return page->encoding == HUB_ENC_SPLIT && views ? hub_page_expanded(column, page, count) : 0;
}

uint64_t hub_cut_last_row(const struct hub_cut *cut)
{
    return cut->row + (cut->count - 1) * cut->step;
}

uint32_t hub_page_with_row(const struct page_reader *r, uint64_t row)
{
    uint32_t low = 0, high = r->page_count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (r->pages[middle].sum <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

bool hub_page_reaches(const struct hub_page *page, uint64_t row)
{
    return page->sum <= row || (page->continues && page->sum == row + 1);
}
