/**
 * Documents of datasets: the summary (a list item) and the whole document, DESIGN 4 "Documents". Whole
 * documents are kept ready as bytes while the snapshot is unchanged (and, as long as files are unhashed, the
 * digests), so that a hot one costs a lookup.
 */
#ifndef HUB_API_DOCUMENTS_H
#define HUB_API_DOCUMENTS_H

#include "server/api/resolve.h"
#include "storage/base/json.h"

HUB_MUST_USE enum hub_status hub_documents_new(size_t limit_bytes, struct hub_documents **out,
                                               struct hub_error *err);
void hub_documents_free(struct hub_documents *documents);

/** The members of a summary, inside an object that the caller opened. */
void hub_summary_write(struct hub_json *json, const struct hub_head *head);

/** The ready document of a dataset and its ETag (40 bytes): a reference for the caller. `gzip`: coded so if
 * wanted (in) and worth it (out). Blocking on a miss: HUB_AGAIN on an event thread. */
HUB_MUST_USE enum hub_status hub_document_get(struct hub_request *request, const struct hub_target *target,
                                              bool *gzip, struct hub_bytes **out, char etag[40],
                                              struct hub_error *err);
/** A member with a time: RFC 3339 UTC. */
void hub_put_time(struct hub_json *json, const char *key, int64_t unix_ns);
/** A member with a text, left out when it is NULL or empty. */
void hub_put_known(struct hub_json *json, const char *key, const char *text);
/** A member with a file's path, spelled so that it is text and can be asked for. */
void hub_put_path(struct hub_json *json, const char *key, const char *path);

#endif
