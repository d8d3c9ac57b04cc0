/** A page of a list that lies in memory, sorted by two texts. */
#ifndef HUB_API_ACCESS_SORTED_H
#define HUB_API_ACCESS_SORTED_H

#include "server/api/cursor.h"

struct hub_sorted_list {
    const void *of; /* what the functions know the items by */
    uint32_t count;
    /** Write the key and the tie of an item. */
    void (*place)(const void *of, uint32_t at, struct hub_page_cursor *out);
    void (*write)(const void *of, uint32_t at, struct hub_json *json);
};

/** Answer with the page that a request wants, or with a line an item. */
HUB_MUST_USE enum hub_status hub_sorted_page(const struct hub_request *request,
                                             const struct hub_sorted_list *list,
                                             struct hub_response *response, struct hub_error *err);

#endif
