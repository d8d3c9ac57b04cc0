/** One dataset of a commit: its files in a draft, inspected and published. */
#ifndef HUB_API_PUSHES_LAY_H
#define HUB_API_PUSHES_LAY_H

#include "server/api/app.h"
#include "server/api/pushes/sets.h"
#include "storage/drafts/verdict.h"

struct hub_laying {
    struct hub_app *app;
    const struct hub_repo_row *repo;
    const struct hub_push *push;
    const struct hub_push_set *set;
    bool alone;                      /* it is the only one: its commit has the name of the push */
    enum hub_verdict_status verdict; /* where it was refused for that; else HUB_VERDICT_READY */
    struct hub_error doubt;          /* its first problem, where that refuses nothing */
};
/** HUB_OK: it is what is there now, or was before. Else why it is not. */
HUB_MUST_USE enum hub_status hub_push_lay(struct hub_laying *laying, struct hub_error *err);

#endif
