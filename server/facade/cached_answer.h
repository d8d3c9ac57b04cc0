/** Answers that several clients ask for word by word, such as pages of lists: made once for a state of the
 * catalogue. */
#ifndef HUB_FACADE_CACHED_ANSWER_H
#define HUB_FACADE_CACHED_ANSWER_H

#include "server/http/http.h"

/** Make the answer in the response's buffer; on a worker. `lasting`, true at first: of the catalogue alone,
 * so that it may be kept. */
typedef enum hub_status hub_answer_make(struct hub_request *request, struct hub_response *response,
                                        bool *lasting, struct hub_error *err);

/** The answer to this address with its headers, as kept (server/api/response_cache.h), or from `make`. Its
 * hub is named as it was asked, and what it says is of one snapshot and of the digests that are known. */
HUB_MUST_USE enum hub_status hub_cached_answer(struct hub_request *request, struct hub_response *response,
                                               hub_answer_make *make, struct hub_error *err);

#endif
