/** What the files of libminari share: the client, its errors, its URLs and documents. */
#ifndef HUB_CLIENT_INTERNAL_H
#define HUB_CLIENT_INTERNAL_H

#include "storage/base/json.h"
#include "storage/net/transport.h"

#include <minari/minari.h>

struct minari_client {
    char *base; /* "http://hub:8080", without a trailing slash */
    struct hub_transport *transport;
};

/** For cleaning up behind something else that is being reported. */
static inline void hub_best_effort(enum hub_status status)
{
    (void)status;
}

/** A caller's options as this version knows them: what a program of another version does not know is zero,
 * what only it knows is left out. */
#define HUB_OPTIONS_COPY(own, theirs)                                                                        \
    hub_options_copy(&(own), sizeof(own), (theirs), (theirs) ? (theirs)->size : 0)
static inline void hub_options_copy(void *own, size_t own_size, const void *theirs, size_t size)
{
    memset(own, 0, own_size);
    if (theirs)
        memcpy(own, theirs, size ? HUB_MIN(size, own_size) : own_size);
}

/** A status and error of our own as the caller knows them. Fills `err` unless it is NULL; returns
 * err->status. */
enum minari_status hub_client_report(enum hub_status status, const struct hub_error *error,
                                     struct minari_error *err);

/** HUB_INVALID: an argument that must not be NULL is. */
enum hub_status hub_client_missing(struct hub_error *err);

/** BASE + "/api/v1/datasets" [+ "/" + id [+ "/" + rest]]. `id` is checked; `rest` is encoded already. */
HUB_MUST_USE enum hub_status hub_client_url(const struct minari_client *client, const char *id,
                                            const char *rest, struct hub_buf *out, struct hub_error *err);

/** Append "?NAME=VALUE" or "&NAME=VALUE", encoded; nothing when `value` is NULL. */
HUB_MUST_USE enum hub_status hub_client_parameter(struct hub_buf *url, const char *name, const char *value,
                                                  struct hub_error *err);

/** GET a body of at most `out->limit` bytes. */
HUB_MUST_USE enum hub_status hub_client_read(struct minari_client *client, const char *url,
                                             const char *accept, struct hub_buf *out, struct hub_error *err);

/** GET a JSON object. `text` also keeps it as it came; may be NULL. json_decref the result. */
HUB_MUST_USE enum hub_status hub_client_document(struct minari_client *client, const char *url,
                                                 size_t max_bytes, struct hub_buf *text, json_t **out,
                                                 struct hub_error *err);

/** No listing has more pages; a page has up to 1000 items. */
enum { HUB_MAX_PAGES = 100 * 1000 };

/** One page of a listing: its items both parsed and as they came. */
struct hub_page {
    struct hub_buf text;
    json_t *document;
    const json_t *items;
    struct hub_view *raw; /* as many as items */
    size_t count;
    char *next; /* the query of the next page, or NULL */
};

HUB_MUST_USE enum hub_status hub_page_get(struct minari_client *client, const char *url, struct hub_page *out,
                                          struct hub_error *err);
void hub_page_dispose(struct hub_page *page);

/** The text of each element of the array under `key` of a JSON object that parses. Free `*out`. */
HUB_MUST_USE enum hub_status hub_raw_items(struct hub_view object, const char *key, size_t max,
                                           struct hub_view **out, size_t *count, struct hub_error *err);

/** A member as text, or NULL. */
const char *hub_member_text(const json_t *object, const char *key);
/** A member as a number that is not negative, or 0. */
uint64_t hub_member_uint(const json_t *object, const char *key);

/** Fill a summary that borrows from `object`. `*texts` is an array to free with it, or NULL. HUB_CORRUPT
 * without an id. */
HUB_MUST_USE enum hub_status hub_summary_read(const json_t *object, struct minari_summary *out,
                                              const char ***texts, struct hub_error *err);

/** minari_dataset_get with our own statuses. */
HUB_MUST_USE enum hub_status hub_dataset_get(struct minari_client *client, const char *id,
                                             const char *release, struct minari_dataset **out,
                                             struct hub_error *err);
/** The detail of a dataset's problem of this code, or "". */
const char *hub_dataset_problem(const struct minari_dataset *dataset, const char *code);

/** Whether an answer about `got` can be one to a question about `asked`: the same id, or a version of it. */
bool hub_client_same_id(const char *asked, const char *got);

/** A relative path of a file of a dataset that is safe to create: segments without tricks. */
HUB_MUST_USE enum hub_status hub_path_check(const char *path, struct hub_error *err);

#endif
