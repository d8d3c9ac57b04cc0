/* Quotas in the state of the hub: see pushes.h. */
#include "server/api/operations/pushes.h"

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
