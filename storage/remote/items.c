/* Items: see items.h. */
#include "storage/remote/items.h"

#include <stdlib.h>

static struct hub_view member_of(struct hub_view object, const char *name)
{
    struct hub_view found = {NULL, 0}, key, value;
    while (hub_json_take(&object, &key, &value))
        if (hub_view_is(key, name))
            found = value; /* of equal keys the last, as jansson has it */
    return found;
}

enum hub_status hub_raw_items(struct hub_view object, const char *key, size_t max, struct hub_view **out,
                              size_t *count, struct hub_error *err)
{
    struct hub_view rest = member_of(object, key);
    struct hub_view *items = calloc(max + 1, sizeof *items);
    size_t n = 0;
    HUB_TRY(hub_allocated(items, err));
    if (rest.size && rest.data[0] == '[')
        while (n < max && hub_json_take(&rest, NULL, &items[n]))
            n++;
    *out = items;
    *count = n;
    return HUB_OK;
}
