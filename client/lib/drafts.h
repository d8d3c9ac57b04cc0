/** Drafts of a hub, for the push of a folder: their addresses, documents and changes. */
#ifndef HUB_CLIENT_DRAFTS_H
#define HUB_CLIENT_DRAFTS_H

#include "client/lib/internal.h"

/** BASE + "/api/v1/drafts" [+ "/" + draft [+ "/" + rest]]. `rest` is encoded already. HUB_UNSUPPORTED: the
 * remote is no hub. Writes over `out`. */
HUB_MUST_USE enum hub_status hub_draft_url(const struct hub_remote *remote, const char *draft,
                                           const char *rest, struct hub_buf *out, struct hub_error *err);
/** "files/PATH", encoded, for `rest`. Writes over `out`. */
HUB_MUST_USE enum hub_status hub_draft_file_rest(const char *path, struct hub_buf *out,
                                                 struct hub_error *err);

/** The name of an open draft of a dataset, of who asks; NULL: there is none. Free it. */
HUB_MUST_USE enum hub_status hub_draft_find_open(struct minari_client *client, const char *id, char **out,
                                                 struct hub_error *err);
/** Open one. Free the name. HUB_EXISTS: the id is not free. */
HUB_MUST_USE enum hub_status hub_draft_make(struct minari_client *client, const char *id, char **out,
                                            struct hub_error *err);
/** Its files: {"items": [{"path", "size", "offset", "sha256"}]}. json_decref the result. */
HUB_MUST_USE enum hub_status hub_draft_list_files(struct minari_client *client, const char *draft,
                                                  json_t **out, struct hub_error *err);
/** DELETE what an address names. */
HUB_MUST_USE enum hub_status hub_draft_delete(struct minari_client *client, const char *url,
                                              struct hub_error *err);

/**
 * Publish it. Waits where an earlier attempt, whose answer was lost, still publishes it.
 * @param allow     NULL, "broken", "files"
 * @param drive     how it is waited for
 * @param[out] out  the answer; of a draft that is refused the problem document, if there is one: then the
 *   status is not HUB_OK. json_decref it either way
 */
HUB_MUST_USE enum hub_status hub_draft_commit_it(struct minari_client *client, const char *draft,
                                                 const char *allow, const char *message,
                                                 const struct hub_drive *drive, json_t **out,
                                                 struct hub_error *err);

#endif
