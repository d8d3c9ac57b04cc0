/**
 * What every page begins and ends with, and how it names addresses. A handler: page_begin, ask the API
 * (page_fetch),
 * page_open, blocks of the templates, page_close. It runs on workers only.
 */
#ifndef HUB_PAGE_FRAME_H
#define HUB_PAGE_FRAME_H

#include "server/page/ask.h"
#include "templates.h"

enum { PAGE_URLS = 16, PAGE_URL_LIMIT = 64 * 1024 };

struct page {
    struct page_out out;
    struct hub_request *request;
    struct hub_response *response;
    struct hub_error *err;
    struct hub_buf urls[PAGE_URLS]; /* page_url: each is written again after so many others */
    unsigned next_url;
    struct hub_buf alternate; /* the address of the same in the API */
    struct hub_view revision; /* of the dataset, where the page shows an earlier one; else empty */
    bool is_current;          /* ?revision= names what is there now */
    char trouble[512];        /* why page_fetch_if_any had nothing the last time it did not */
    unsigned refresh_s; /* what is shown goes on: the browser asks again, without JavaScript too; 0: no */
};

void page_dispose(struct page *page);
/** HUB_AGAIN on an event thread. Where ?revision= names an earlier revision of the dataset that is kept, all
 * that the page asks the API about this dataset is asked of that revision. */
HUB_MUST_USE enum hub_status page_begin(struct page *page, struct hub_request *request,
                                        struct hub_response *response, struct hub_error *err);
/** The document of the API at an address of page_url. */
HUB_MUST_USE enum hub_status page_fetch(struct page *page, struct hub_view target, json_t **out);
/** The same, where a page is whole without it: NULL when it is not to be had, and why in page->trouble;
 * HUB_AGAIN and HUB_CHANGED are passed on. */
HUB_MUST_USE enum hub_status page_fetch_if_any(struct page *page, struct hub_view target, json_t **out);
/** From here on `page->out` is written. `alternate`: the same in the API; "" where it has nothing of the
 * kind. */
void page_open(struct page *page, struct hub_view title, struct hub_view alternate);
HUB_MUST_USE enum hub_status page_close(struct page *page);

/**
 * An address, or a text: %p a hub_view as a path, %s a hub_view as one segment or value, %u a uint64_t, %n
 * one by threes of its digits, %r a hub_view as it is, %q a hub_view as one argument of a shell. One that
 * begins with "@/" is of the dataset at the revision that the page shows. What comes back lasts for
 * PAGE_URLS - 1 more of them; "" when there is no memory.
 */
struct hub_view page_url(struct page *page, const char *pattern, ...);
/**
 * "?..." of this request's parameters that have a value, but those named in `without` ("sort cursor"), then
 * of pairs of const char * and hub_view up to NULL, each where it has a value.
 */
struct hub_view page_query(struct page *page, const char *without, ...);
/** Add a revision to the query of an address that has none. */
HUB_MUST_USE enum hub_status page_add_revision(struct hub_view revision, struct hub_buf *url,
                                               struct hub_error *err);
/** Append a text in single quotes of a shell. */
HUB_MUST_USE enum hub_status page_add_shell(struct hub_view text, struct hub_buf *out, struct hub_error *err);
/** The query of another address, as "?..."; "" without one. */
struct hub_view page_query_of(struct hub_view url);

/** The crumbs of a dataset, `view` last: "" for itself. */
void page_crumbs(struct page *page, struct hub_view id, const char *view);
/** Says when the page shows an earlier revision, or when its address is of one that is gone. */
void page_revision_bar(struct page *page, const json_t *document);
/** For page_begin: see page->revision. */
HUB_MUST_USE enum hub_status page_find_revision(struct page *page);
/** Whether an address of the API is about the dataset of the page. */
bool page_is_own(const struct page *page, struct hub_view target);
/** The id of the dataset that a document is of; of an earlier revision, which has one of its own, the
 * dataset's. */
struct hub_view page_id_of(const struct page *page, const json_t *document);
/** For a form, what keeps to the revision that the page shows. */
void page_hidden_revision(struct page *page);
/** "first, previous, next" of a list of the API, as links to this page. */
void page_pages(struct page *page, const json_t *list);
/** A head of a column that the list can be ordered by: which turns it round when it is already. */
void page_sort_head(struct page *page, const char *class, const char *text, const char *key);
/** The `id` of a page below a dataset. */
struct hub_view page_id(const struct page *page);

#define PAGE_TEXT(literal) HUB_VIEW(literal)

/** A table with these heads, up to NULL; `figures` has an "n" for each column of numbers. */
void page_heads_begin(struct page *page, const struct page_table *table, const char *const *heads,
                      const char *figures);
void page_heads_end(struct page *page, const struct page_table *table);

#endif
