/* A page of a sorted list: see sorted.h. */
#include "server/api/access/sorted.h"

enum { PAGE_BYTES = 64 * 1024 * 1024 };

/* Where the cursor stands: how many items are before it. */
static uint32_t find(const struct hub_sorted_list *list, const struct hub_page_query *page)
{
    struct hub_page_cursor at = {0};
    uint32_t low = 0, high = page->goes_on ? list->count : 0;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        list->place(list->of, middle, &at);
        const int key = strcmp(at.key, page->after.key);
        const int order = key ? key : strcmp(at.tie, page->after.tie);
        if (order < !page->after.back)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

enum hub_status hub_sorted_page(const struct hub_request *request, const struct hub_sorted_list *list,
                                struct hub_response *response, struct hub_error *err)
{
    struct hub_page_query page;
    struct hub_page_ends ends = {.total = list->count};
    HUB_TRY(hub_page_read(request, &page, err));
    const uint32_t first = hub_page_first(&page, find(list, &page)),
                   end = first + HUB_MIN(page.limit, list->count - first);
    struct hub_json json = hub_page_begin(&page, response, PAGE_BYTES, err);
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-store"));
    for (uint32_t i = first; i < end; i++)
        list->write(list->of, i, &json);
    if (end > first) {
        list->place(list->of, first, &ends.prev);
        list->place(list->of, end - 1, &ends.next);
    }
    hub_page_span(&ends, first, end);
    return hub_page_close(request, &page, response, &json, &ends, err);
}
