/** What the commands token, access and audit ask: of the running hub over its control socket, or of hub.db in
 * the state directory where none runs. */
#ifndef HUB_COMMANDS_ACCESS_ASK_H
#define HUB_COMMANDS_ACCESS_ASK_H

#include "server/api/access/order.h"
#include "server/config/config.h"

/** A list instead of a change. */
enum hub_access_list_kind {
    HUB_LIST_NONE,
    HUB_LIST_TOKENS,
    HUB_LIST_RULES,
    HUB_LIST_DECISION,
    HUB_LIST_AUDIT
};

struct hub_access_ask {
    enum hub_access_list_kind list; /* HUB_LIST_NONE: `order` is done */
    struct hub_access_order order;  /* of HUB_LIST_DECISION its `who`, and its `name` is the id */
    const char *since;              /* of HUB_LIST_AUDIT; NULL: all */
};

/** @param[out] out  the document, as the API answers it; all pages of a list are one. json_decref it
 *  @return as the API, and as opening the state directory */
HUB_MUST_USE enum hub_status hub_access_ask(const struct hub_access_ask *ask, const struct hub_config *config,
                                            json_t **out, struct hub_error *err);

#endif
