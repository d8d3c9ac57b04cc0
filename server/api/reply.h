/** The end of answers that are JSON documents: validators, and gzip where it is accepted. */
#ifndef HUB_API_REPLY_H
#define HUB_API_REPLY_H

#include "server/http/http.h"

/** A document of this size is worth compressing, and not too much work. */
bool hub_reply_is_worth_gzip(size_t size);
/** The ETag of a document's gzip form, from that of the document. */
void hub_reply_gzip_etag(char etag[40]);

/**
 * Finish a document that lies in the response's buffer: ETag over its bytes, 304 and 412, gzip. On an event
 * thread HUB_AGAIN where it has to be compressed; hub_reply_on_worker says so before the document is written.
 */
HUB_MUST_USE enum hub_status hub_reply_document(struct hub_request *request, struct hub_response *response,
                                                struct hub_error *err);
/** The document comes as gzip where it is worth it, without any look at validators. On a worker. */
HUB_MUST_USE enum hub_status hub_reply_compressed(struct hub_request *request, struct hub_response *response,
                                                  struct hub_error *err);
/** This answer is a worker's, as compressing may be needed: HUB_AGAIN on an event thread. */
HUB_MUST_USE enum hub_status hub_reply_on_worker(const struct hub_request *request);

#endif
