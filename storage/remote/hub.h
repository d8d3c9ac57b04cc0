/** A hub's own API beyond what every remote has: URLs and pages. */
#ifndef HUB_REMOTE_HUB_H
#define HUB_REMOTE_HUB_H

#include "storage/remote/remote.h"

/** BASE + "/api/v1/datasets" [+ "/" + id [+ "/" + rest]]. `id` is checked; `rest` is encoded already.
 * HUB_UNSUPPORTED: the remote is no hub. */
HUB_MUST_USE enum hub_status hub_api_url(const struct hub_remote *remote, const char *id, const char *rest,
                                         struct hub_buf *out, struct hub_error *err);
/** Append "?NAME=VALUE" or "&NAME=VALUE", encoded; nothing when `value` is NULL. */
HUB_MUST_USE enum hub_status hub_api_parameter(struct hub_buf *url, const char *name, const char *value,
                                               struct hub_error *err);

/** The listing of datasets, `limit` a page. */
HUB_MUST_USE enum hub_status hub_api_list_url(const struct hub_remote *remote,
                                              const struct hub_remote_query *query, unsigned limit,
                                              struct hub_buf *out, struct hub_error *err);

/** Each item of a listing in pages, over all pages. `rest` is of hub_api_url; `url` holds the first page's
 * and is written over. What `fn` returns ends the listing. */
HUB_MUST_USE enum hub_status hub_api_each(struct hub_remote *remote, const char *id, const char *rest,
                                          struct hub_buf *url, hub_remote_item_fn fn, void *user,
                                          struct hub_error *err);

/** Whether an answer about `got` can be one to a question about `asked`: the same id, or a version of it. */
bool hub_api_same_id(const char *requested, const char *answered);

#endif
