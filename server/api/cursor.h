/**
 * Opaque cursors of paged answers: the sort, the filters and the last row's key, so that a page continues
 * where the last one ended whatever was added meanwhile. Not secret and not signed: a forged one pages from
 * somewhere else, no more.
 */
#ifndef HUB_API_CURSOR_H
#define HUB_API_CURSOR_H

#include "server/http/http.h"
#include "storage/text/json.h"

#define HUB_LINES_TYPE "application/x-ndjson"

struct hub_page_cursor {
    char scope[33]; /* hash of sort and filters: a cursor of another question is refused */
    bool back;      /* the page in front of the key, not behind it */
    bool behind;    /* among what sorts last in either direction: rows without the key, loose files */
    char key[1024];
    char tie[1024]; /* id or number */
};

/** The text of ?cursor=, to be percent-encoded. */
HUB_MUST_USE enum hub_status hub_cursor_encode(const struct hub_page_cursor *cursor, struct hub_buf *out,
                                               struct hub_error *err);
/** HUB_INVALID "bad-cursor": not one of ours, or of another `scope`. */
HUB_MUST_USE enum hub_status hub_cursor_decode(struct hub_view text, const char *scope,
                                               struct hub_page_cursor *out, struct hub_error *err);

/** What a request says of the page it wants. */
struct hub_page_query {
    uint32_t limit; /* 1..1000, default 100 */
    char scope[33]; /* of the cursors of this listing */
    bool lines;     /* a line an item, not one document */
    bool all;       /* with them: no limit was given */
    bool goes_on;   /* behind `after`; else from the start */
    struct hub_page_cursor after;
};

/** What every listing begins with: limit= and cursor=. All other parameters but
 * revision= and what concerns the page alone name the listing that a cursor is of. */
HUB_MUST_USE enum hub_status hub_page_read(const struct hub_request *request, struct hub_page_query *out,
                                           struct hub_error *err);
/** Append this request's URL with another cursor. */
HUB_MUST_USE enum hub_status hub_page_next_url(const struct hub_request *request,
                                               const struct hub_page_cursor *cursor, struct hub_buf *url,
                                               struct hub_error *err);
/** The same of what is no document: limit= is 1 or more, default all (UINT32_MAX). */
HUB_MUST_USE enum hub_status hub_page_read_all(const struct hub_request *request, struct hub_page_query *out,
                                               struct hub_error *err);
/** Open the document of a page, for its items. */
struct hub_json hub_page_begin(const struct hub_page_query *page, struct hub_response *response,
                               size_t limit_bytes, struct hub_error *err);
/** How a page ends. */
struct hub_page_ends {
    uint64_t total;
    bool has_next, has_prev;
    struct hub_page_cursor next, prev; /* of the last item, of the first; scope and direction are set here */
    struct hub_buf more;               /* further members of the document, or empty */
};
/** The Link header to what follows and what comes before, and nothing else. */
HUB_MUST_USE enum hub_status hub_page_links(const struct hub_request *request,
                                            const struct hub_page_query *page, struct hub_response *response,
                                            struct hub_page_ends *ends, struct hub_error *err);
/** First item of a page of items in memory whose cursor stands at item `at`: behind it, or back in front. */
uint32_t hub_page_first(const struct hub_page_query *page, uint32_t at);
/** Says of `total` items whether there are others around [first, end). */
void hub_page_span(struct hub_page_ends *ends, uint32_t first, uint32_t end);
void hub_page_ends_dispose(struct hub_page_ends *ends);
/** Close it with "total", "next" and "prev", and set the Link header. */
HUB_MUST_USE enum hub_status hub_page_close(const struct hub_request *request,
                                            const struct hub_page_query *page, struct hub_response *response,
                                            struct hub_json *json, struct hub_page_ends *ends,
                                            struct hub_error *err);

#endif
