#include "server/http/made.h"

#include <stdio.h>

void hub_made_init(struct hub_made *made, struct hub_maker *maker, struct hub_buf *first)
{
    *made = (struct hub_made){.maker = maker, .stretch = HUB_BUF_INIT(HUB_MADE_LIMIT)};
    if (!first->size)
        return;
    made->stretch = *first;
    *first = HUB_BUF_INIT(0);
}

void hub_made_dispose(struct hub_made *made)
{
    hub_buf_dispose(&made->stretch);
    *made = (struct hub_made){0};
}

size_t hub_made_read(struct hub_made *made, uint64_t at, char *out, size_t size)
{
    const size_t skip = (size_t)(at - made->at);
    const size_t n = HUB_MIN(size, made->stretch.size - skip);
    if (n)
        memcpy(out, made->stretch.data + skip, n);
    return n;
}

void hub_made_more(struct hub_made *made)
{
    struct hub_error err = {0};
    made->at += made->stretch.size;
    made->stretch.size = 0;
    if (!made->maker->more(made->maker, &made->stretch, &err)) {
        made->complete = made->stretch.size == 0;
        return;
    }
    made->failed = true;
    made->stretch.size = 0;
    snprintf(made->why, sizeof made->why, "%.250s", err.detail);
}
