/** What clients of Xet ask for; their rows are in server/service/routes.c. */
#ifndef HUB_API_XET_HANDLERS_H
#define HUB_API_XET_HANDLERS_H

#include "server/http/http.h"

hub_body_opener hub_xet_xorb_open;
hub_handler hub_xet_xorb_done; /* xorbs.c */
hub_body_opener hub_xet_shard_open;
hub_handler hub_xet_shard_done, hub_xet_shard_stream; /* shards.c: in one answer, and with its progress */

#endif
