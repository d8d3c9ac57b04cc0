/* Examples out of the catalogue: see hints.h. */
#include "server/service/hints.h"
#include "storage/text/uri.h"

#include <inttypes.h>

/* The first dataset with episodes; nested ids show more of how addresses look, but any will do. */
static const struct hub_summary *pick_dataset(const struct hub_snapshot *snapshot)
{
    for (uint32_t i = 0; i < snapshot->count; i++)
        if (snapshot->summaries[i]->status == HUB_DATASET_READY && snapshot->summaries[i]->episodes > 0)
            return snapshot->summaries[i];
    return NULL;
}

static const struct hub_dataset_field *pick_field(const struct hub_dataset *dataset)
{
    static const enum hub_role wanted[] = {HUB_ROLE_OBSERVATION, HUB_ROLE_ACTION, HUB_ROLE_REWARD};
    for (size_t w = 0; w < HUB_COUNT(wanted); w++)
        for (uint32_t i = 0; i < dataset->field_count; i++)
            if (dataset->fields[i].role == wanted[w] && !dataset->fields[i].unreadable)
                return &dataset->fields[i];
    return NULL;
}

static enum hub_status print_rows(struct hub_app *app, const struct hub_summary *summary, const char *id,
                                  const char *base_url, struct hub_buf *out)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(64 * KIB);
    HUB_CLEANUP(hub_dataset_putp) const struct hub_dataset *dataset = NULL;
    HUB_TRY(hub_dataset_get(app->catalog, summary, true, &dataset, NULL));
    const struct hub_dataset_field *field = pick_field(dataset);
    if (!field || dataset->episode_count == 0)
        return HUB_NOT_FOUND;
    HUB_TRY(hub_uri_encode_path(hub_view_of(field->path), &path, NULL));
    return hub_buf_addf(out, NULL, "  curl '%s/api/v1/datasets/%s/episodes/%" PRId64 "/%s?start=0&stop=3'\n",
                        base_url, id, dataset->episodes[0].number, path.data);
}

enum hub_status hub_hints_write(struct hub_app *app, const char *base_url, struct hub_buf *out)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf id = HUB_BUF_INIT(64 * KIB);
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *snapshot = hub_catalog_snapshot(app->catalog);
    const struct hub_summary *summary = pick_dataset(snapshot);
    if (!summary)
        return HUB_NOT_FOUND;
    HUB_TRY(hub_uri_encode_path(hub_view_of(summary->id), &id, NULL));
    HUB_TRY(hub_buf_addf(out, NULL, "Try:\n  curl '%s/api/v1/datasets'\n  curl '%s/api/v1/datasets/%s'\n",
                         base_url, base_url, id.data));
    if (print_rows(app, summary, id.data, base_url, out))
        return hub_buf_addf(out, NULL, "  curl '%s/api/v1/datasets/%s/episodes'\n", base_url, id.data);
    return HUB_OK;
}
