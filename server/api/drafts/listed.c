/* See listed.h. */
#include "server/api/drafts/listed.h"

#include "storage/text/time.h"
#include "storage/truth/aliases.h"
#include "storage/truth/commits.h"

#include <time.h>

enum { LISTED_MS = 10000, LOOK_MS = 20 };

void hub_await_listing(struct hub_app *app, const char *id, bool listed)
{
    const int64_t end_ms = hub_time_mono_ms() + LISTED_MS;
    for (;;) {
        const struct hub_snapshot *all = hub_catalog_snapshot(app->catalog);
        const struct hub_summary *summary = hub_snapshot_find(all, hub_view_of(id));
        const bool is_listed = summary && hub_summary_is_here(summary);
        hub_snapshot_put(all);
        if (is_listed == listed || hub_time_mono_ms() > end_ms)
            return;
        nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000}, NULL);
    }
}

void hub_await_head(struct hub_app *app, const char *id)
{
    HUB_CLEANUP(hub_commit_dispose) struct hub_commit head = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf now = HUB_BUF_INIT(HUB_MAX_ID + 1);
    const enum hub_status st = hub_commit_head(app->truth, id, &head, NULL);
    const bool is_recent = !st && hub_time_now_ns() / 1000000 - head.at_ms < LISTED_MS;
    if (is_recent)
        hub_await_listing(app, id, head.kind != HUB_COMMIT_DELETE);
    else if (st == HUB_NOT_FOUND && hub_alias_find(app->truth, id, &now, NULL) == HUB_OK)
        hub_await_listing(app, id, false); /* renamed, perhaps a moment ago */
}
