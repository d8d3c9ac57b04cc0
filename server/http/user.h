/** The user and the groups that a proxy names. */
#ifndef HUB_HTTP_USER_H
#define HUB_HTTP_USER_H

#include "server/http/http.h"

/** The user that a trusted proxy names, and the groups, with commas between them; both are NULL or
 * terminated. HUB_INVALID for what cannot be a name. */
HUB_MUST_USE enum hub_status hub_request_name_user(struct hub_request *request, const char *user,
                                                   const char *groups, struct hub_error *err);
/** How drafts, commits and the audit name who asks. */
enum { HUB_WRITER_CHARS = HUB_WHO_CHARS };
void hub_request_writer(const struct hub_request *request, char out[HUB_WRITER_CHARS]);

#endif
