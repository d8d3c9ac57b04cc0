/* What reading rows needs of the server: see app.h. */
#include "server/api/app.h"

#include "server/http/budget.h"

static enum hub_status changed(void *user, const struct hub_summary *summary, enum hub_rows_change change,
                               struct hub_error *err)
{
    const struct hub_app *app = user;
    if (change == HUB_ROWS_SIDE_LOST)
        hub_scanner_reinspect(app->scanner, summary->id);
    hub_scanner_prioritize(app->scanner, summary->id);
    return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_DATASET_CHANGING,
                       "a file of '%s' has changed since it was indexed; the dataset is inspected again",
                       summary->id);
}

/* What a reader keeps is memory that nobody else can have. */
static void resized(void *user, uint64_t from, uint64_t to)
{
    const struct hub_app *app = user;
    if (to > from && app->budget)
        hub_budget_charge(app->budget, HUB_BUDGET_SHARED, to - from);
    else if (from > to)
        hub_budget_give(app->budget, HUB_BUDGET_SHARED, from - to);
}

struct hub_rows_context hub_rows_of(struct hub_app *app, bool may_block, const struct hub_parallel *parallel)
{
    return (struct hub_rows_context){.catalog = app->catalog,
                                     .truth = app->truth,
                                     .store = app->store,
                                     .may_block = may_block,
                                     .parallel = parallel,
                                     .user = app,
                                     .changed = changed,
                                     .resized = resized};
}

struct hub_rows_context hub_request_rows(const struct hub_request *request)
{
    return hub_rows_of(request->app, request->may_block, request->parallel);
}
