/**
 * A page asks the hub's own API, in this process and on this thread: it shows what a client would see, by the
 * same
 * functions, with the same checks. It knows neither SQL nor sockets.
 */
#ifndef HUB_PAGE_ASK_H
#define HUB_PAGE_ASK_H

#include "server/http/http.h"
#include "storage/text/json.h"

/**
 * The document at an address of the API ("/api/v1/datasets/ID?limit=3"), for the request of a page that may
 * block. Errors are the API's own. HUB_AGAIN: to be passed up, the page is made again. What an upstream has
 * to send first is HUB_BUSY.
 *
 * @param[in,out] extra  members of a problem (hub_response): replaced where there is one; or NULL
 * @param[out]    out    json_decref it
 */
HUB_MUST_USE enum hub_status hub_page_fetch(struct hub_request *page, const char *target, char **extra,
                                            json_t **out, struct hub_error *err);

/* Members of a document. A missing one, or one of another kind, is empty, 0, NaN. Borrowed. */
struct hub_view page_text(const json_t *object, const char *key);
uint64_t page_count(const json_t *object, const char *key);
double page_double(const json_t *object, const char *key); /* also of "NaN" and numbers as text */
bool page_flag(const json_t *object, const char *key);
double page_double_of(const json_t *value);

#endif
