/* A snapshot is an array of counted summaries in order, with an open-addressing table of their ids. Readers
 * compare one atomic number and otherwise touch only what their thread holds. */
#include "storage/catalog/internal.h"

#include "storage/ids/hf_cache.h"
#include "storage/ids/id.h"
#include "storage/ids/kept.h"
#include "storage/text/time.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHOW_EVERY_MS = 200 };

const struct hub_snapshot *hub_snapshot_share(const struct hub_snapshot *snapshot)
{
    atomic_fetch_add(&((struct hub_snapshot_box *)snapshot)->refs, 1);
    return snapshot;
}

void hub_snapshot_put(const struct hub_snapshot *snapshot)
{
    struct hub_snapshot_box *box = (struct hub_snapshot_box *)snapshot;
    if (!box || atomic_fetch_sub(&box->refs, 1) != 1)
        return;
    for (uint32_t i = 0; i < box->snapshot.count + box->snapshot.others; i++)
        hub_summary_unref(box->summaries[i]);
    free(box->slots);
    free(box);
}

struct hub_snapshot_box *hub_snapshot_box_new(uint32_t most)
{
    struct hub_snapshot_box *box = malloc(sizeof *box + most * sizeof box->summaries[0]);
    uint32_t slots = 16;
    while (slots < most * 2)
        slots *= 2;
    uint32_t *table = box ? calloc(slots, sizeof *table) : NULL;
    if (!table) {
        free(box);
        return NULL;
    }
    atomic_init(&box->refs, 1);
    box->mask = slots - 1;
    box->slots = table;
    box->snapshot = (struct hub_snapshot){.summaries = box->summaries};
    return box;
}

void hub_snapshot_box_index(struct hub_snapshot_box *box, uint32_t number)
{
    uint32_t slot = (uint32_t)((const struct hub_summary_box *)box->summaries[number])->hash & box->mask;
    while (box->slots[slot])
        slot = (slot + 1) & box->mask;
    box->slots[slot] = number + 1;
}

static bool root_is_here(const struct hub_catalog *catalog, const struct hub_summary *summary)
{
    return !catalog->options.roots || summary->root < catalog->options.roots->count;
}

/* Those that are here and those that lie elsewhere, in order; an id that is here wins, and so does what lies
 * at the place of one from elsewhere; then the first. */
static uint32_t merge(const struct hub_catalog *catalog, const struct hub_covered *covered,
                      const struct hub_summary **out)
{
    uint32_t count = 0, here = 0, there = 0;
    for (;;) {
        const struct hub_summary *a = here < catalog->summary_count ? &catalog->summaries[here]->summary
                                                                    : NULL,
                                 *b = there < catalog->remote_count ? &catalog->remote[there]->summary : NULL;
        if (!a && !b)
            return count;
        if (!b || (a && (strcmp(a->id, b->id) == 0 || hub_summary_compare(a, b) < 0))) {
            out[count++] = a;
            here++;
        } else {
            if ((!count || strcmp(out[count - 1]->id, b->id) != 0) && !hub_covered_has(covered, b))
                out[count++] = b;
            there++;
        }
    }
}

/* Those that lists do not show go behind the others; `room` has place for them. Returns how many. */
static uint32_t part_others(const struct hub_summary **summaries, const struct hub_summary **room,
                            uint32_t count)
{
    uint32_t shown = 0, others = 0;
    for (uint32_t i = 0; i < count; i++)
        if (hub_hf_cache_at(summaries[i]->id, summaries[i]->path))
            room[others++] = summaries[i];
        else
            summaries[shown++] = summaries[i];
    if (others)
        memcpy(summaries + shown, room, others * sizeof *room);
    return others;
}

bool hub_snapshot_orphan_of(const struct hub_snapshot *snapshot, const struct hub_summary *summary,
                            char out[HUB_MAX_ID + 1])
{
    const struct hub_view top = {summary->path, strcspn(summary->path, "/")};
    const char *at = hub_kept_private(top) ? hub_hf_cache_at(summary->id, summary->path) : NULL;
    if (!at)
        return false;
    snprintf(out, HUB_MAX_ID + 1, "%.*s%s", (int)(at - summary->id), summary->id, at + 1 + HUB_KEPT_COMMIT);
    return !hub_snapshot_find(snapshot, hub_view_of(out));
}

static uint32_t count_orphans(const struct hub_snapshot *snapshot)
{
    char id[HUB_MAX_ID + 1];
    uint32_t orphans = 0;
    for (uint32_t i = snapshot->count; i < snapshot->count + snapshot->others; i++)
        orphans += hub_snapshot_orphan_of(snapshot, snapshot->summaries[i], id);
    return orphans;
}

static struct hub_snapshot_box *snapshot_new(const struct hub_catalog *catalog,
                                             const struct hub_covered *covered, uint64_t generation)
{
    const uint32_t most = catalog->summary_count + catalog->remote_count;
    struct hub_snapshot_box *box = hub_snapshot_box_new(most);
    HUB_CLEANUP(hub_freep) const struct hub_summary **room = calloc(most + 1, sizeof *room);
    if (!box || !room) {
        hub_snapshot_put(box ? &box->snapshot : NULL);
        return NULL;
    }
    const uint32_t count = merge(catalog, covered, box->summaries),
                   others = part_others(box->summaries, room, count);
    for (uint32_t i = 0; i < count; i++)
        hub_summary_ref(box->summaries[i]);
    /* A search finds the first of equal ids: those of missing roots stand last. */
    for (unsigned gone = 0; gone < 2; gone++)
        for (uint32_t i = 0; i < count; i++)
            if (root_is_here(catalog, box->summaries[i]) == !gone)
                hub_snapshot_box_index(box, i);
    box->snapshot = (struct hub_snapshot){
        .summaries = box->summaries, .count = count - others, .others = others, .generation = generation};
    box->snapshot.orphans = count_orphans(&box->snapshot);
    return box;
}

/* Readers take no lock: whoever read the old pointer has counted its reference once nobody is at it. */
static void show(struct hub_catalog *catalog, struct hub_snapshot_box *box)
{
    struct hub_snapshot_box *old = atomic_exchange(&catalog->snapshot, box);
    while (atomic_load(&catalog->taking))
        sched_yield();
    if (old)
        hub_snapshot_put(&old->snapshot);
}

enum hub_status hub_summaries_show(struct hub_catalog *catalog, bool force, struct hub_error *err)
{
    const int64_t now = hub_time_mono_ms();
    if (atomic_load(&catalog->snapshot) &&
        (!catalog->dirty || (!force && now - catalog->shown_ms < SHOW_EVERY_MS)))
        return HUB_OK;
    const struct hub_snapshot_box *shown = catalog->snapshot;
    HUB_CLEANUP(hub_covered_dispose) struct hub_covered covered = {0};
    HUB_TRY(hub_covered_find(catalog, &covered, err));
    struct hub_snapshot_box *box =
        snapshot_new(catalog, &covered, shown ? shown->snapshot.generation + 1 : 1);
    HUB_TRY(hub_allocated(box, err));
    show(catalog, box);
    catalog->dirty = false;
    catalog->shown_ms = now;
    return HUB_OK;
}

void hub_summaries_hide(struct hub_catalog *catalog)
{
    show(catalog, NULL);
}

const struct hub_snapshot *hub_catalog_snapshot(struct hub_catalog *catalog)
{
    atomic_fetch_add(&catalog->taking, 1);
    struct hub_snapshot_box *box = atomic_load(&catalog->snapshot);
    atomic_fetch_add(&box->refs, 1);
    atomic_fetch_sub(&catalog->taking, 1);
    return &box->snapshot;
}

void hub_catalog_show(struct hub_catalog *catalog, const struct hub_summary *seen)
{
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *snapshot = hub_catalog_snapshot(catalog);
    const struct hub_summary *shown = hub_snapshot_find(snapshot, hub_view_of(seen->id));
    if (shown && shown->row == seen->row && shown->serial >= seen->serial)
        return;
    pthread_mutex_lock(&catalog->write_lock);
    (void)!hub_summaries_show(catalog, true, NULL); /* without memory it is shown a little later */
    pthread_mutex_unlock(&catalog->write_lock);
}

/* ---- asking a snapshot ---- */

const struct hub_summary *hub_snapshot_find(const struct hub_snapshot *snapshot, struct hub_view id)
{
    if (!snapshot->count && !snapshot->others)
        return NULL;
    const struct hub_snapshot_box *box = (const struct hub_snapshot_box *)snapshot;
    for (uint32_t slot = (uint32_t)hub_text_hash(id) & box->mask; box->slots[slot];
         slot = (slot + 1) & box->mask) {
        const struct hub_summary *summary = box->summaries[box->slots[slot] - 1];
        if (hub_view_is(id, summary->id))
            return summary;
    }
    return NULL;
}

void hub_snapshot_count(const struct hub_snapshot *snapshot, struct hub_snapshot_totals *out)
{
    *out = (struct hub_snapshot_totals){0};
    for (uint32_t i = 0; i < snapshot->count; i++) {
        const struct hub_summary *summary = snapshot->summaries[i];
        out->by_status[summary->status]++;
        if (!hub_summary_is_here(summary))
            continue;
        out->here++;
        out->episodes += summary->episodes;
        out->steps += summary->steps;
        out->size += summary->size;
    }
}
