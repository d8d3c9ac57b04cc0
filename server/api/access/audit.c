/* The audit: who changed what, oldest first. */
#include "server/api/access/document.h"
#include "server/api/access/order.h"
#include "server/api/app.h"
#include "server/api/cursor.h"
#include "server/api/handlers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct audit_page {
    const struct hub_page_query *page;
    int64_t cursor; /* the row that it stands at */
    struct hub_json json;
    uint32_t first, at; /* of the page; the next row */
    struct hub_page_ends ends;
};

/* How many there are, and where the cursor stands. */
static enum hub_status count(void *user, const struct hub_audit *audit, struct hub_error *err)
{
    struct audit_page *l = user;
    (void)err;
    l->ends.total++;
    l->first += l->page->goes_on && audit->id < l->cursor + !l->page->after.back;
    return HUB_OK;
}

static enum hub_status put(void *user, const struct hub_audit *audit, struct hub_error *err)
{
    struct audit_page *l = user;
    const uint32_t at = l->at++;
    (void)err;
    if (at < l->first || at - l->first >= l->page->limit)
        return HUB_OK;
    hub_audit_document(&l->json, audit);
    if (at == l->first)
        snprintf(l->ends.prev.key, sizeof l->ends.prev.key, "%" PRId64, audit->id);
    snprintf(l->ends.next.key, sizeof l->ends.next.key, "%" PRId64, audit->id);
    return hub_json_status(&l->json);
}

enum hub_status hub_audit_list(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    struct hub_page_query page;
    struct hub_audit_query query = {0};
    struct audit_page l = {.page = &page};
    const struct hub_view since = hub_request_query(request, "since");
    HUB_TRY(hub_page_read(request, &page, err));
    if (since.data)
        HUB_TRY(hub_order_since("since", since.data, &query.since_ms, err));
    if (!request->may_block)
        return HUB_AGAIN; /* SQLite is asked */
    l.cursor = strtoll(page.after.key, NULL, 10);
    HUB_TRY(hub_audit_each(request->app->truth, &query, count, &l, err));
    l.first = hub_page_first(&page, l.first);
    l.json = hub_page_begin(&page, response, 64 * MIB, err);
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-store"));
    HUB_TRY(hub_audit_each(request->app->truth, &query, put, &l, err));
    hub_page_span(&l.ends, l.first, HUB_MIN(l.at, l.first + page.limit));
    return hub_page_close(request, &page, response, &l.json, &l.ends, err);
}
