/* Datasets of upstreams on their way here: see pull.h. */
#include "server/mirror/pull.h"

#include "server/mirror/work.h"

#include <stdlib.h>

enum hub_status hub_pull_ask(struct hub_mirrors *m, const struct hub_summary *summary, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp)
    json_t *payload = json_pack("{s:s, s:s}", "id", summary->remote_id, "path", summary->path);
    HUB_CLEANUP(hub_freep) char *text = payload ? json_dumps(payload, JSON_COMPACT) : NULL;
    HUB_TRY(hub_allocated(text, err));
    const struct hub_job_draft draft = {
        .kind = HUB_PULL, .target = summary->id, .rule = summary->upstream, .payload = text, .priority = 2};
    const enum hub_status st = hub_job_add(m->options.catalog, &draft, NULL, err);
    if (st && st != HUB_EXISTS)
        return st;
    hub_mirrors_poke(m);
    return hub_fail_as(err, HUB_BUSY, "pending", "'%s' is being fetched from its upstream", summary->id);
}
