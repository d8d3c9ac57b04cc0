/** From an HTTP error answer to a status and one line: application/problem+json where there is some. */
#ifndef HUB_NET_PROBLEM_H
#define HUB_NET_PROBLEM_H

#include "storage/net/answer.h"

/** Fill `err` from the answer's status and body. Never HUB_OK. */
enum hub_status hub_problem_read(const struct hub_answer *answer, struct hub_view body,
                                 struct hub_error *err);

#endif
