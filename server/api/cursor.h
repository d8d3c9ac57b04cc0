/**
 * Opaque cursors of paged answers: the sort, the filters and the last row's key, so that a page continues
 * where the last one ended whatever was added meanwhile. Not secret and not signed: a forged one pages from
 * somewhere else, no more.
 */
#ifndef HUB_API_CURSOR_H
#define HUB_API_CURSOR_H

#include "server/http/http.h"
#include "storage/base/json.h"

struct hub_page_cursor {
    char scope[33]; /* hash of sort and filters: a cursor of another question is refused */
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

/** limit= 1..1000, default 100. */
HUB_MUST_USE enum hub_status hub_page_limit(const struct hub_request *request, uint32_t *limit,
                                            struct hub_error *err);
/** The members "total" and "next", and the Link header; `cursor` NULL: the last page. */
HUB_MUST_USE enum hub_status hub_page_end(const struct hub_request *request, struct hub_response *response,
                                          struct hub_json *json, uint64_t total,
                                          const struct hub_page_cursor *cursor, struct hub_error *err);

#endif
