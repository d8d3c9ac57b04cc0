/** Bodies of requests as they come: into memory up to the limit of their route, or into its sink. */
#ifndef HUB_HTTP_BODY_H
#define HUB_HTTP_BODY_H

#include "server/http/exchange.h"

/** Is the body wanted? An answer that it cannot change is given before it comes. */
HUB_MUST_USE enum hub_status hub_body_admit(struct hub_exchange *x, const struct hub_protocol *protocol,
                                            const struct hub_guard_facts *facts);
/** The header is complete: the step becomes OPEN, BODY or READY. */
void hub_body_await(struct hub_exchange *x, const struct hub_guard_facts *facts);

/** Have the route open its sink. What fails is kept in `parsed` and `error`. On a worker. */
void hub_body_open(struct hub_exchange *x);
/** The client may send now. */
void hub_body_opened(struct hub_exchange *x);
/** Is there a block for the sink? */
static inline bool hub_body_has_block(const struct hub_exchange *x)
{
    return x->request.sink && !x->parsed && x->body.size >= HUB_BODY_BLOCK;
}
/** Give the sink what has come. On a worker. What fails is kept in `parsed` and `error`. */
void hub_body_take(struct hub_exchange *x);
/** The request ends before the sink has all that came of its body: a worker gives it the rest, and then frees
 * it. */
void hub_body_leave(struct hub_exchange *x);
/** The memory and the sink of a body are given back. */
void hub_body_drop(struct hub_exchange *x);

#endif
