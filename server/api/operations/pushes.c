/* Quotas and the hook in the state of the hub: see pushes.h. */
#include "server/api/operations/pushes.h"

#include "server/api/hooks.h"
#include "server/http/metrics.h"
#include "storage/truth/quotas.h"

#include <inttypes.h>

static enum hub_status put_quota(void *user, const struct hub_quota *quota, uint64_t used,
                                 struct hub_error *err)
{
    struct hub_json *json = user;
    (void)err;
    hub_json_object(json);
    hub_json_put_text(json, "prefix", quota->prefix);
    hub_json_put_uint(json, "limit", quota->bytes);
    hub_json_put_uint(json, "used", used);
    hub_json_end_object(json);
    return hub_json_status(json);
}

enum hub_status hub_quotas_put(struct hub_json *json, struct hub_truth *truth, bool names,
                               struct hub_error *err)
{
    bool changed;
    hub_json_put_array(json, "quotas");
    if (names) {
        HUB_TRY(hub_holdings_look(truth, &changed, err));
        HUB_TRY(hub_quotas_each(truth, put_quota, json, err));
    }
    hub_json_end_array(json);
    return hub_json_status(json);
}

struct figure {
    struct hub_buf *out;
    const char *name;
    bool is_limit;
};

static enum hub_status write_figure(void *user, const struct hub_quota *quota, uint64_t used,
                                    struct hub_error *err)
{
    const struct figure *figure = user;
    return hub_buf_addf(figure->out, err, "%s{prefix=\"%s\"} %" PRIu64 "\n", figure->name, quota->prefix,
                        figure->is_limit ? quota->bytes : used);
}

static enum hub_status count_one(void *user, const struct hub_quota *quota, uint64_t used,
                                 struct hub_error *err)
{
    (void)quota;
    (void)used;
    (void)err;
    ++*(unsigned *)user;
    return HUB_OK;
}

enum hub_status hub_quota_metrics(struct hub_truth *truth, struct hub_buf *out, struct hub_error *err)
{
    struct figure limit = {out, "minari_hub_quota_bytes", true},
                  used = {out, "minari_hub_quota_used_bytes", false};
    unsigned count = 0;
    HUB_TRY(hub_quotas_each(truth, count_one, &count, err));
    if (!count)
        return HUB_OK;
    HUB_TRY(hub_buf_add_text(out,
                             "# HELP minari_hub_quota_bytes What pushed datasets may hold, by prefix.\n"
                             "# TYPE minari_hub_quota_bytes gauge\n",
                             err));
    HUB_TRY(hub_quotas_each(truth, write_figure, &limit, err));
    HUB_TRY(hub_buf_add_text(out,
                             "# HELP minari_hub_quota_used_bytes What they hold, open drafts included.\n"
                             "# TYPE minari_hub_quota_used_bytes gauge\n",
                             err));
    return hub_quotas_each(truth, write_figure, &used, err);
}

void hub_hook_put(struct hub_json *json, struct hub_hooks *hooks)
{
    struct hub_hook_figures f;
    if (!hub_hooks_figures(hooks, &f))
        return;
    hub_json_put_object(json, "hook");
    hub_json_put_uint(json, "delivered", f.delivered);
    hub_json_put_uint(json, "failed", f.failed);
    hub_json_put_uint(json, "dropped", f.dropped);
    hub_json_put_uint(json, "waiting", f.waiting);
    hub_json_end_object(json);
}

enum hub_status hub_hook_metrics(struct hub_hooks *hooks, struct hub_buf *out, struct hub_error *err)
{
    struct hub_hook_figures f;
    if (!hub_hooks_figures(hooks, &f))
        return HUB_OK;
    const struct hub_plain_metric rows[] = {
        {"minari_hub_hook_events_total", "counter", "Events of pushes that the hook took.",
         (double)f.delivered},
        {"minari_hub_hook_failures_total", "counter", "Tries that it did not take.", (double)f.failed},
        {"minari_hub_hook_dropped_total", "counter", "Events that it never took.", (double)f.dropped},
        {"minari_hub_hook_waiting", "gauge", "Events that wait for it.", (double)f.waiting},
    };
    return hub_metric_rows(rows, HUB_COUNT(rows), out, err);
}
