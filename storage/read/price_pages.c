/* What reading the rows of a cut from Parquet pages costs, and what it reads. */
#include "storage/read/page_reader.h"

static uint64_t pages_of(const struct page_reader *r)
{
    const uint64_t last = r->low + ((r->cut->count - 1) * r->cut->step + 1) * r->items - 1;
    return r->items ? hub_page_with(r, last) - hub_page_with(r, r->low) + 1 : 1;
}

/* true: it is kept, and known to have no nulls. What is fetched beforehand is fetched all the same: it may
 * be gone by the time it is wanted. */
static bool price_page(const struct page_reader *r, const struct hub_plan *plan, const struct hub_page *page,
                       struct hub_price *price)
{
    const struct hub_filter_kind *deflate =
        r->column->codec == HUB_PAGE_GZIP ? hub_filter_find(HUB_FILTER_DEFLATE) : NULL;
    const double unpack = r->column->codec == HUB_PAGE_PLAIN ? 0 : HUB_NS_UNPACK_BYTE,
                 written = deflate ? deflate->ns_byte : unpack,
                 stored = HUB_NS_READ_BYTE + (deflate ? deflate->ns_stored : 0);
    hub_price_want(price, r->cut, page->offset, page->stored);
    price->ns += HUB_NS_CHUNK;
    struct hub_decoded *cached =
        r->partial ? hub_decoded_get(plan, HUB_DECODED_PAGE, (uint64_t)(page - plan->layout->pages)) : NULL;
    if (cached) {
        const bool full = cached->full;
        hub_decoded_put(cached);
        return full;
    }
    price->reads++;
    price->bytes_read += page->stored;
    price->bytes_decode += page->decoded;
    price->ns += HUB_NS_READ + (double)page->stored * stored + (double)page->decoded * written;
    return false;
}

/* Values that are passed over without looking at each. */
static bool in_runs(const struct hub_column *column, const struct hub_page *page)
{
    return hub_encoding_in_dictionary(page->encoding) ||
           (page->encoding == HUB_ENC_PLAIN && column->physical != HUB_PHYS_BYTE_ARRAY);
}

/* VAR: a page holds its values, or says how to come by them. Reading more than this is HUB_TOO_BIG. */
static uint64_t var_bound(const struct hub_column *column, const struct hub_page *page, uint64_t rows)
{
    const bool expands = column->physical == HUB_PHYS_FIXED || hub_encoding_expands(page->encoding);
    return expands ? hub_page_expanded(column, page, rows) : page->decoded;
}

/* The dictionary, once a cut; returns the bytes it takes. */
static uint64_t price_dictionary(const struct page_reader *r, const struct hub_plan *plan,
                                 const struct hub_page *dictionary, bool views, struct hub_price *price)
{
    const uint64_t index = views ? dictionary->values * sizeof(struct hub_page_view) : 0;
    (void)price_page(r, plan, dictionary, price);
    price->ns += views ? (double)dictionary->values * HUB_NS_SKIP : 0;
    return dictionary->decoded + index;
}

static void price_lists(const struct hub_plan *plan, const struct page_reader *r, struct hub_price *price)
{
    const uint64_t last = hub_cut_last_row(r->cut), size = plan->variant->item_size;
    uint64_t most = 0, words = 0, bytes = 0;
    for (uint32_t i = hub_page_with_row(r, r->cut->row);
         i < r->page_count && hub_page_reaches(&r->pages[i], last); i++) {
        const struct hub_page *page = &r->pages[i];
        if (!hub_price_steps(price, 1))
            return;
        (void)price_page(r, plan, page, price);
        price->ns += (double)page->values * (HUB_NS_VALUE + HUB_NS_SKIP);
        bytes += page->values * size;
        most = HUB_MAX(most, page->stored + page->decoded + page->values * (size + 2));
        if (hub_encoding_in_dictionary(page->encoding) && !words)
            words = price_dictionary(r, plan, &plan->layout->pages[r->column->dictionary], false, price);
    }
    const uint64_t rows = HUB_MIN(r->cut->count, UINT32_MAX);
    price->nulls = true;
    price->bytes_out += HUB_MIN(bytes, rows * r->column->longest);
    price->scratch = HUB_MAX(price->scratch, most + words + price->bytes_out);
}

void hub_pages_price(const struct hub_plan *plan, const struct hub_cut *cut, struct hub_price *price)
{
    const struct page_reader r = hub_page_reader_of(plan, cut);
    const struct hub_page *dictionary =
        r.column->dictionary == HUB_NONE ? NULL : &plan->layout->pages[r.column->dictionary];
    const uint64_t size = plan->variant->item_size,
                   end = r.low + ((cut->count - 1) * cut->step + 1) * r.items;
    const bool var = plan->variant->kind == HUB_KIND_VAR, straight = cut->step == 1 && cut->direction > 0;
    uint64_t most = 0, words = 0;
    if (r.lists) {
        price_lists(plan, &r, price);
        return;
    }
    if (!hub_price_steps(price, pages_of(&r)))
        return;
    for (uint32_t i = hub_page_with(&r, r.low); i < r.page_count && r.pages[i].first_value < end; i++) {
        const struct hub_page *page = &r.pages[i];
        struct page_part part;
        if (!hub_page_part_of(&r, page, &part))
            continue;
        const uint64_t count = part.to - part.from;
        const bool full = price_page(&r, plan, page, price);
        price->ns += (double)count * HUB_NS_VALUE;
        if (r.column->max_def || var) /* otherwise what comes before is found by its number */
            price->ns += (double)(part.from - page->first_value) *
                         (full && in_runs(r.column, page) ? HUB_NS_SKIP_RUN : HUB_NS_SKIP);
        if (var)
            price->bytes_out += var_bound(r.column, page, part.count);
        if (dictionary && hub_encoding_in_dictionary(page->encoding) && !words) {
            words = price_dictionary(&r, plan, dictionary, var, price);
            most = HUB_MAX(most, (uint64_t)dictionary->stored);
        }
        const uint64_t values = var        ? count * (sizeof(struct hub_page_view) + 1)
                                : straight ? count
                                           : count * (size + 1);
        most = HUB_MAX(most, (uint64_t)page->stored + page->decoded + values +
                                 hub_page_room_to_build(r.column, page, count, var));
    }
    price->nulls |= r.column->max_def != 0;
    price->scratch = HUB_MAX(price->scratch, most + words + (var ? price->bytes_out : 0));
}
