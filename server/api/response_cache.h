/**
 * Answers that are kept, in one cache (app->answers): by the question, and by the state of the hub that they
 * were made of. An answer is a body, or an object of the one who made it, or both; it never changes. Nobody
 * looks for an answer of an older state, so that it makes room.
 *
 * Thread-safety: from any thread; nothing here blocks.
 */
#ifndef HUB_API_ANSWERS_H
#define HUB_API_ANSWERS_H

#include "server/api/app.h"
#include "server/http/http.h"

/** The module that keeps it; all objects of a kind are of one type. */
enum hub_cached_response_kind {
    HUB_KEPT_DATASET, /* document_cache.c, and coded by gzip */
    HUB_KEPT_DATASET_GZIP,
    HUB_KEPT_FILES, /* the same of the listing of files */
    HUB_KEPT_FILES_GZIP,
    HUB_KEPT_AGGREGATE,    /* statistics/aggregate_cache.c */
    HUB_KEPT_RETURNS,      /* datasets/returns.c */
    HUB_KEPT_REMOTE,       /* datasets/remote.c */
    HUB_KEPT_REMOTE_FILES, /* remote_view.c */
    HUB_KEPT_REMOTE_TEXT,  /* the same: a small file */
    HUB_KEPT_PAGE,         /* facade/cached_answer.c */
    HUB_KEPT_REPO,         /* facade/hf_repo.c */
    HUB_KEPT_OBJECTS,      /* facade/objects.c */
};

struct hub_cached_response_key {
    enum hub_cached_response_kind kind;
    uint64_t state; /* another number where another answer may be right */
    struct hub_view question;
    uint64_t mask; /* classes of access that it was made for; 0, as there are none yet */
};

struct hub_cached_response_content {
    struct hub_buf *body;          /* NULL: none */
    void *object;                  /* NULL: none; else handed over, on failure too */
    size_t bytes;                  /* of the object, with all that it owns */
    void (*release)(void *object); /* NULL: the object is a value of `bytes`, which is copied */
};

struct hub_cached_response;
/** With a reference for the caller; NULL: none. */
struct hub_cached_response *hub_cached_response_find(const struct hub_app *app,
                                                     const struct hub_cached_response_key *key);
/** After hub_cached_response_find found none: keep it, with a reference for the caller, unless its body is
 * more than the cache holds. One with a body takes the place of one of an equal key; of objects alone the
 * first stays. NULL: there is no memory, and the body stays the caller's. */
struct hub_cached_response *hub_cached_response_add(const struct hub_app *app,
                                                    const struct hub_cached_response_key *key,
                                                    const struct hub_cached_response_content *content);
void hub_cached_response_put(struct hub_cached_response *answer);
void hub_cached_response_putp(struct hub_cached_response **answer);
/** Borrowed; NULL: it has none. */
struct hub_bytes *hub_cached_response_body(const struct hub_cached_response *answer);
const void *hub_cached_response_object(const struct hub_cached_response *answer);

#endif
