/** What is said to who wants to change something: the same words in every protocol. */
#ifndef HUB_API_UPLOADS_H
#define HUB_API_UPLOADS_H

#include "server/http/http.h"

/** Fail with what takes uploads instead, and `more` behind it. */
enum hub_status hub_no_uploads(const struct hub_request *request, enum hub_status st,
                               enum hub_problem_code problem, const char *more, struct hub_error *err);
/** As `not_allowed` of a protocol: what can only be read is asked to change. HUB_OK: that is not what is
 * wrong. */
enum hub_status hub_refuse_method(const struct hub_request *request, const char *allow,
                                  struct hub_error *err);

#endif
