/** What the files of libminari share: the client, its errors, its URLs and documents. */
#ifndef HUB_CLIENT_INTERNAL_H
#define HUB_CLIENT_INTERNAL_H

#include "storage/remote/hub.h"

#include <minari/minari.h>

struct minari_client {
    struct hub_remote remote;
    struct minari_resume *resume; /* the caller's, of the next call with a sink; or NULL */
};

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

/** Whether a text is made as bearer tokens are (RFC 6750), so that a header can carry it. */
bool hub_client_takes_token(const char *token);

/** HUB_INVALID: an argument that must not be NULL is. */
enum hub_status hub_client_missing(struct hub_error *err);

/** Where an answer goes. Zeroed, then one of `sink`, `buffer` and `memory`. */
struct hub_taken {
    minari_sink_fn sink;
    void *user;
    struct minari_rows_info *info; /* or NULL */
    uint8_t *buffer;               /* instead of a sink; HUB_TOO_BIG where it does not suffice */
    size_t capacity, used;
    struct hub_buf *memory;       /* instead of both, up to its limit */
    struct minari_resume *resume; /* the client's, which hub_take takes over */
};
/** Have an answer come: a GET, or a POST of `json` where that is not NULL. */
HUB_MUST_USE enum hub_status hub_take(struct minari_client *client, const char *url, const char *json,
                                      struct hub_taken *taken, struct hub_error *err);

/** Add the bounds that a slice has to a URL's query. */
HUB_MUST_USE enum hub_status hub_api_slice(struct hub_buf *url, const struct minari_slice *slice,
                                           struct hub_error *err);

/** What only hubs choose by, ended by a NULL name. */
struct hub_dataset_filters {
    struct hub_remote_filter items[12];
};
/** A query as remotes know it; it borrows from `q` and `filters`. */
struct hub_remote_query hub_remote_query_of(const struct minari_dataset_query *q,
                                            struct hub_dataset_filters *filters);

/** Fill a summary that borrows from `object`, but for the list of its authors, which begins one allocation
 * for all its lists: free it. HUB_CORRUPT without an id. */
HUB_MUST_USE enum hub_status hub_summary_read(const json_t *object, struct minari_summary *out,
                                              struct hub_error *err);

/** minari_dataset_get with our own statuses. */
HUB_MUST_USE enum hub_status hub_client_get_dataset(struct minari_client *client, const char *id,
                                                    const char *release, struct minari_dataset **out,
                                                    struct hub_error *err);
/** The detail of a dataset's problem of this code, or "". */
const char *hub_dataset_problem(const struct minari_dataset *dataset, const char *code);

#endif
