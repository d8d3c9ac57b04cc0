/* Ids of a snapshot nearest in spelling to one that is not there. */
#include "storage/catalog/internal.h"

#include "storage/base/nearest.h"
#include "storage/ids/id.h"

uint32_t hub_snapshot_nearest(const struct hub_snapshot *snapshot, struct hub_view id,
                              const struct hub_summary **out, uint32_t limit)
{
    struct hub_nearest nearest;
    struct hub_view key;
    uint32_t version;
    (void)hub_id_split_alias(id, &key, &version);
    if (!hub_nearest_begin(&nearest, key, limit))
        return 0;
    for (uint32_t i = 0; i < snapshot->count; i++) {
        const struct hub_summary *summary = snapshot->summaries[i];
        /* of several versions the newest, which comes last */
        if (i + 1 == snapshot->count || strcmp(summary->key, snapshot->summaries[i + 1]->key) != 0)
            (void)hub_nearest_offer(&nearest, summary->key, summary);
    }
    memcpy(out, nearest.items, nearest.count * sizeof *out);
    return nearest.count;
}
