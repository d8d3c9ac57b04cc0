/* Pages of an earlier revision of a dataset, where it is kept: see frame.h. */
#include "server/page/frame.h"

#include "storage/text/uri.h"

#include <stdlib.h>

bool page_is_own(const struct page *page, struct hub_view target)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf own = HUB_BUF_INIT(PAGE_URL_LIMIT);
    if (hub_buf_add_text(&own, "/api/v1/datasets/", NULL) || hub_uri_encode_path(page_id(page), &own, NULL) ||
        target.size < own.size || memcmp(target.data, own.data, own.size) != 0)
        return false;
    return target.size == own.size || target.data[own.size] == '/' || target.data[own.size] == '?';
}

static enum hub_status fetch_document(struct page *page, struct hub_view revision, json_t **out)
{
    const struct hub_view url = page_url(page, "/api/v1/datasets/%p", page_id(page));
    const enum hub_status st =
        page_fetch_if_any(page, revision.size ? page_url(page, "%r?revision=%s", url, revision) : url, out);
    if (st != HUB_CHANGED)
        return st;
    *page->err = (struct hub_error){0}; /* it is kept no longer */
    free(page->response->problem_extra);
    page->response->problem_extra = NULL;
    return HUB_OK;
}

/* What is there now needs no revision, and what is not kept cannot be had. */
enum hub_status page_find_revision(struct page *page)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *now = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *then = NULL;
    const struct hub_view wanted = hub_request_if_taken(page->request, "revision");
    if (!wanted.size || !page_id(page).size)
        return HUB_OK;
    HUB_TRY(fetch_document(page, HUB_VIEW(""), &now));
    page->is_current = hub_view_equal(wanted, page_text(now, "revision")) ||
                       hub_view_equal(wanted, page_text(now, "commit"));
    if (!now || page->is_current)
        return HUB_OK;
    HUB_TRY(fetch_document(page, wanted, &then));
    page->is_current = then && hub_view_equal(page_text(then, "revision"), page_text(now, "revision"));
    if (then && !page->is_current)
        page->revision = wanted;
    return HUB_OK;
}

struct hub_view page_id_of(const struct page *page, const json_t *document)
{
    return page->revision.size ? page_id(page) : page_text(document, "id");
}

void page_hidden_revision(struct page *page)
{
    if (page->revision.size)
        page_hidden(&page->out, &(struct page_hidden){HUB_VIEW("revision"), page->revision});
}

static void write_earlier(struct page *page)
{
    const struct page_note note = {
        HUB_VIEW(""),
        page_url(page, "This is an earlier revision (%r\xE2\x80\xA6), not the current data.",
                 (struct hub_view){page->revision.data, HUB_MIN(page->revision.size, (size_t)12)})};
    page_note_begin(&page->out, &note);
    page_link(&page->out, &(struct page_link){page_url(page, "/d/%p/~revisions", page_id(page)),
                                              HUB_VIEW("All revisions")});
    page_note_end(&page->out, &note);
}

void page_revision_bar(struct page *page, const json_t *document)
{
    if (page->revision.size) {
        write_earlier(page);
        return;
    }
    const struct hub_view requested = hub_request_query(page->request, "revision"),
                          now = page_text(document, "revision");
    if (!requested.size || page->is_current || hub_view_equal(requested, now))
        return;
    const struct page_note note = {
        HUB_VIEW(""), page_url(page,
                               "The data changed since this link was made (%r\xE2\x80\xA6 is "
                               "now %r\xE2\x80\xA6). This page shows the current data.",
                               (struct hub_view){requested.data, HUB_MIN(requested.size, (size_t)12)},
                               (struct hub_view){now.data, HUB_MIN(now.size, (size_t)12)})};
    page_note_begin(&page->out, &note);
    page_note_end(&page->out, &note);
}
