#include "server/http/made.h"

#include <stdio.h>

void hub_made_init(struct hub_made *made, struct hub_maker *maker, struct hub_buf *first)
{
    *made = (struct hub_made){
        .maker = maker, .stretch = HUB_BUF_INIT(HUB_MADE_LIMIT), .next = HUB_BUF_INIT(HUB_MADE_LIMIT)};
    if (!first->size)
        return;
    made->stretch = *first;
    *first = HUB_BUF_INIT(0);
}

void hub_made_dispose(struct hub_made *made)
{
    hub_buf_dispose(&made->stretch);
    hub_buf_dispose(&made->next);
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

void hub_made_next(struct hub_made *made)
{
    made->error = (struct hub_error){0};
    made->next.size = 0;
    made->broke = made->maker->more(made->maker, &made->next, &made->error) != HUB_OK;
}

void hub_made_turn(struct hub_made *made)
{
    const struct hub_buf sent = made->stretch;
    made->at += sent.size;
    made->stretch = made->next;
    made->next = sent;
    made->failed = made->broke;
    if (made->failed) {
        snprintf(made->why, sizeof made->why, "%.250s", made->error.detail);
        made->stretch.size = 0;
    }
    made->complete = !made->failed && made->stretch.size == 0;
}

void hub_made_more(struct hub_made *made)
{
    hub_made_next(made);
    hub_made_turn(made);
}
