/**
 * Bodies of answers, kept ready among the documents (app->documents, within its budget) by the question
 * they answer and the state they were made of. What is of an older state is asked for no more, and makes
 * room.
 */
#ifndef HUB_API_RESPONSE_CACHE_H
#define HUB_API_RESPONSE_CACHE_H

#include "server/api/app.h"
#include "server/http/http.h"

struct hub_response_key {
    uint64_t kind;  /* the resource that made the answer */
    uint64_t state; /* what the answer is made of: another number where another answer may be right */
    struct hub_view text;
};

struct hub_cached_response;
/** With a reference for the caller; NULL: none. Never blocks. */
struct hub_cached_response *hub_cached_response_find(const struct hub_app *app,
                                                     const struct hub_response_key *question);
void hub_cached_response_put(struct hub_cached_response *cached);
/** Borrowed. */
struct hub_bytes *hub_cached_response_body(const struct hub_cached_response *cached);
/** The note that hub_cached_response_add stored with it. */
struct hub_view hub_cached_response_note(const struct hub_cached_response *cached);

/** Take the body, unless it is over 1 MiB or there is no memory; the same reference counts as of
 * hub_cached_response_find.
 *
 * @return NULL: it was not taken */
struct hub_cached_response *hub_cached_response_add(const struct hub_app *app,
                                                    const struct hub_response_key *question,
                                                    struct hub_view note, struct hub_buf *body);

#endif
