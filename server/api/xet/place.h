/** Where the xorbs of an upload wait: ROOT/.minari-hub/xorbs/EPOCH. */
#ifndef HUB_API_XET_PLACE_H
#define HUB_API_XET_PLACE_H

#include "server/api/app.h"
#include "server/api/drafts/draft.h"
#include "server/api/xet/pass.h"
#include "storage/transfer/private.h"

struct hub_xet_place {
    struct hub_private place;
    int xorbs, folder; /* of all epochs; of this one */
    uint32_t root;
    char epoch[HUB_EPOCH_NAME + 1];
    char who[HUB_WRITER_CHARS];
};
#define HUB_XET_PLACE_INIT                                                                                   \
    (struct hub_xet_place)                                                                                   \
    {                                                                                                        \
        .place = HUB_PRIVATE_INIT, .xorbs = -1, .folder = -1                                                 \
    }

/** The present one of who asks, to a repo; made where there is none. Its folder is not opened. */
HUB_MUST_USE enum hub_status hub_xet_place_find(const struct hub_request *request, const char *repo,
                                                struct hub_xet_place *out, struct hub_error *err);
/** The one that the path and the pass of a request name. HUB_DENIED: it may not be written to; HUB_NOT_FOUND:
 * it was dropped. Close it, whatever the result. */
HUB_MUST_USE enum hub_status hub_xet_place_open(struct hub_request *request, struct hub_xet_place *out,
                                                struct hub_error *err);
void hub_xet_place_close(struct hub_xet_place *place);
/** So many bytes came. HUB_NO_SPACE: over the budget, and it ends. */
HUB_MUST_USE enum hub_status hub_xet_place_count(const struct hub_xet_place *place, struct hub_app *app,
                                                 uint64_t bytes, struct hub_error *err);

/** End uploads that nobody uses any more, and those that are over the budget. */
void hub_xet_tidy(const struct hub_app *app);

/** What a client sent is wrong: 400, where a file of the hub's own would be damaged (422). */
enum hub_status hub_xet_blame(enum hub_status st, struct hub_error *err);

#endif
