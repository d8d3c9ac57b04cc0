/** Which representation a request wants, of those that a resource has: ?format= wins, then Accept by its
 * q-values. */
#ifndef HUB_API_NEGOTIATE_H
#define HUB_API_NEGOTIATE_H

#include "server/http/http.h"
#include "storage/encode/representation.h"

struct hub_offer {
    enum hub_representation_list list; /* its first one where none is asked for */
    const char *what; /* comes so, in a refusal; NULL: whatever else is accepted gets the first one */
    bool filter;      /* other words of format= say something else */
};

/** HUB_NOT_ACCEPTABLE "not-acceptable": nothing that is accepted is offered; HUB_INVALID "bad-parameter":
 * another format=. */
HUB_MUST_USE enum hub_status hub_negotiate(const struct hub_request *request, const struct hub_offer *offer,
                                           const struct hub_representation **out, struct hub_error *err);

/** The one of a list by its name; NULL: it is not in it. */
const struct hub_representation *hub_negotiate_named(enum hub_representation_list list, struct hub_view name);

#endif
