/* Where xorbs wait: see place.h. */
#include "server/api/xet/place.h"

#include "storage/deposits/deposit.h"
#include "storage/truth/repos.h"

#include <stdio.h>

enum { LOOKS = 16 /* at all that wait, while the budget fills once */ };

static enum hub_status open_xorbs(const struct hub_app *app, const char *repo, bool make,
                                  struct hub_xet_place *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_repo_row_dispose) struct hub_repo_row row = {0};
    HUB_TRY(hub_repo_find(app->truth, repo, &row, err));
    if (row.root >= app->roots->count)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_ROOT_MISSING, "the root of '%.200s' is not served",
                           repo);
    if (app->roots->roots[row.root].read_only)
        return hub_fail(err, HUB_DENIED, "the root of '%.200s' is read-only in the configuration (:ro)",
                        repo);
    out->root = row.root;
    HUB_TRY(hub_private_open(app->roots->roots[row.root].path, make, &out->place, err));
    return hub_private_folder(out->place.folder, "xorbs", make, &out->xorbs, err);
}

enum hub_status hub_xet_place_find(const struct hub_request *request, const char *repo,
                                   struct hub_xet_place *out, struct hub_error *err)
{
    char key[HUB_EPOCH_KEY + 1];
    HUB_TRY(hub_request_may_write(request, hub_view_of(repo), err));
    HUB_TRY(open_xorbs(request->app, repo, true, out, err));
    hub_request_writer(request, out->who);
    HUB_TRY(hub_epoch_key(out->who, repo, key, err));
    return hub_epoch_find(out->xorbs, key, out->epoch, err);
}

enum hub_status hub_xet_place_open(struct hub_request *request, struct hub_xet_place *out,
                                   struct hub_error *err)
{
    char repo[HUB_XET_REPO_BYTES];
    const struct hub_view epoch = hub_request_capture(request, "epoch");
    HUB_TRY(hub_xet_pass_take(request, epoch, repo, err));
    HUB_TRY(hub_request_may_write(request, hub_view_of(repo), err));
    HUB_TRY(open_xorbs(request->app, repo, false, out, err));
    HUB_TRY(hub_epoch_open(out->xorbs, epoch, &out->folder, err));
    (void)snprintf(out->epoch, sizeof out->epoch, "%.*s", (int)epoch.size, epoch.data);
    hub_request_writer(request, out->who);
    return HUB_OK;
}

void hub_xet_place_close(struct hub_xet_place *place)
{
    hub_closep(&place->folder);
    hub_closep(&place->xorbs);
    hub_private_close(&place->place);
    *place = HUB_XET_PLACE_INIT;
}

enum hub_status hub_xet_blame(enum hub_status st, struct hub_error *err)
{
    if (st == HUB_CORRUPT && err && !err->problem)
        err->problem = HUB_PROBLEM_BAD_REQUEST;
    return st;
}

void hub_xet_tidy(const struct hub_app *app)
{
    for (uint32_t root = 0; root < app->roots->count; root++) {
        HUB_CLEANUP(hub_xet_place_close) struct hub_xet_place place = HUB_XET_PLACE_INIT;
        if (!app->roots->roots[root].read_only &&
            hub_private_open(app->roots->roots[root].path, false, &place.place, NULL) == HUB_OK &&
            hub_private_folder(place.place.folder, "xorbs", false, &place.xorbs, NULL) == HUB_OK)
            (void)!hub_epochs_fit(place.xorbs, app->deposits->budget_bytes, NULL, NULL);
    }
}

/* All that wait are counted when a part of the budget came since the last time; so they keep to it. */
enum hub_status hub_xet_place_count(const struct hub_xet_place *place, struct hub_app *app, uint64_t bytes,
                                    struct hub_error *err)
{
    const uint64_t budget = app->deposits->budget_bytes, part = budget / LOOKS;
    if (atomic_fetch_add(&app->xorb_bytes, bytes) + bytes < part)
        return HUB_OK;
    atomic_store(&app->xorb_bytes, 0);
    const enum hub_status st = hub_epochs_fit(place->xorbs, budget - part, place->epoch, err);
    if (st == HUB_NO_SPACE)
        hub_epoch_end(place->xorbs, place->epoch);
    return st;
}
