/** What the HTTP floor itself asks of the memory budget, besides http.h. */
#ifndef HUB_HTTP_BUDGET_H
#define HUB_HTTP_BUDGET_H

#include "server/http/http.h"

/** Take without waiting. */
HUB_MUST_USE bool hub_budget_try(struct hub_budget *budget, uint64_t bytes);
uint64_t hub_budget_used(struct hub_budget *budget, uint64_t *total);

#endif
