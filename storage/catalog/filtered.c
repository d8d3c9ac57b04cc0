/* Snapshots of some of the datasets: what a list for somebody shows. */
#include "storage/catalog/internal.h"

const struct hub_snapshot *hub_snapshot_filter(const struct hub_snapshot *of, hub_summary_filter *passes,
                                               const void *user, uint64_t generation)
{
    const uint32_t all = of->count + of->others;
    struct hub_snapshot_box *box = hub_snapshot_box_new(all);
    if (!box)
        return NULL;
    uint32_t count = 0;
    box->snapshot.generation = generation;
    for (uint32_t i = 0; i < all; i++) {
        const struct hub_summary *summary = of->summaries[i];
        if (!passes(user, summary))
            continue;
        box->summaries[count] = summary;
        hub_summary_ref(summary);
        if (hub_snapshot_find(of, hub_view_of(summary->id)) == summary)
            hub_snapshot_box_index(box, count);
        count++;
        if (i < of->count)
            box->snapshot.count++;
        else
            box->snapshot.others++;
    }
    return &box->snapshot;
}
