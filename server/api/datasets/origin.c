/* Where a dataset comes from: see origin.h. */
#include "server/api/datasets/origin.h"

#include "server/api/put.h"
#include "storage/truth/upstream.h"

static void put_ms(struct hub_json *json, const char *key, int64_t unix_ms)
{
    if (unix_ms)
        hub_put_time(json, key, unix_ms * 1000000);
}

/* Of a copy also what changed there under the same id. */
static void put_origin(struct hub_json *json, const struct hub_upstream *u, struct hub_view below)
{
    hub_json_put_object(json, "origin");
    hub_put_if_set(json, "remote", u->remote);
    hub_json_put_text(json, "id", u->id);
    if (below.size)
        hub_json_put_string(json, "path", below);
    hub_json_put_text(json, "rule", u->rule);
    hub_put_if_set(json, "revision", u->revision);
    put_ms(json, "synced", u->synced_ms);
    put_ms(json, "gone", u->gone_ms);
    put_ms(json, "unlisted", u->unlisted_ms);
    if (u->stale)
        hub_json_put_bool(json, "stale", true);
    if (u->changed_ms) {
        hub_json_put_object(json, "change");
        put_ms(json, "at", u->changed_ms);
        hub_put_if_set(json, "from", u->was);
        hub_json_put_uint(json, "added", u->added);
        hub_json_put_uint(json, "replaced", u->replaced);
        hub_json_put_uint(json, "removed", u->removed);
        hub_json_end_object(json);
    }
    hub_json_end_object(json);
}

static void write_listed(struct hub_json *json, struct hub_truth *truth, const struct hub_summary *summary)
{
    struct hub_rule rule = {.spec = NULL};
    (void)!hub_rule_find(truth, summary->upstream, &rule, NULL);
    const struct hub_upstream u = {.remote = json_string_value(json_object_get(rule.spec, "remote")),
                                   .id = summary->remote_id,
                                   .rule = summary->upstream,
                                   .revision = summary->revision};
    put_origin(json, &u, HUB_VIEW(""));
    hub_rule_dispose(&rule);
}

void hub_origin_write(struct hub_json *json, struct hub_truth *truth, const struct hub_summary *summary)
{
    struct hub_upstream u;
    struct hub_view below;
    if (!hub_summary_is_here(summary)) {
        write_listed(json, truth, summary);
    } else if (!hub_upstream_around(truth, summary->root, summary->path, false, &u, &below, NULL)) {
        put_origin(json, &u, below);
        hub_upstream_dispose(&u);
    }
}
