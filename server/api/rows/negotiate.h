/** Which representation a request for rows wants: ?format= wins, then Accept; none or any is the first. */
#ifndef HUB_API_ROWS_NEGOTIATE_H
#define HUB_API_ROWS_NEGOTIATE_H

#include "server/http/http.h"
#include "storage/encode/representation.h"

/** Sets `as` and `by_name`. HUB_NOT_ACCEPTABLE "not-acceptable" when nothing asked for exists; HUB_INVALID
 * "bad-parameter" for an unknown ?format=. */
HUB_MUST_USE enum hub_status hub_negotiate(const struct hub_request *request, struct hub_encoding *e,
                                           struct hub_error *err);

/** Of many episodes: npz where nothing else is asked for, or one of those that `may` names. */
HUB_MUST_USE enum hub_status hub_negotiate_arrays(const struct hub_request *request,
                                                  bool (*may)(const struct hub_representation *as),
                                                  const struct hub_representation **out,
                                                  struct hub_error *err);
/** One that is written row by row: csv, arrow, jsonl. */
bool hub_is_table(const struct hub_representation *as);

#endif
