/** OAuth tokens of a Google service account: RFC 7523, signed by its own key. One thread at a time. */
#ifndef HUB_REMOTE_TOKEN_H
#define HUB_REMOTE_TOKEN_H

#include "storage/net/transport.h"

struct hub_google_account;

/** Read a service account's JSON file. HUB_DENIED "bad-credentials" for anything else. Free the result. */
HUB_MUST_USE enum hub_status hub_google_account_open(const char *path,
                                                     const struct hub_transport_options *options,
                                                     struct hub_google_account **out, struct hub_error *err);
void hub_google_account_free(struct hub_google_account *account);

/** A token that is good for some minutes yet, asked for where there is none; NULL in `*out` while the last
 * one still is. Borrowed until the next call. */
HUB_MUST_USE enum hub_status hub_google_account_token(struct hub_google_account *account, const char **out,
                                                      struct hub_error *err);

#endif
