/* A dataset that was found is compared with what was seen last: one that is new or changed is queued once
 * nobody writes to its files; until then, and until it is inspected, it is listed as pending. */
#include "storage/scan/state.h"

#include "storage/model/format_row.h"
#include "storage/text/time.h"

/* Milliseconds until the files have been left alone for the time of --settle; 0: they have. Files of the
 * hub's own come whole, and in one step. */
static int64_t waits_ms(const struct hub_scanner *s, const struct hub_fileset *files)
{
    if (files->count && !files->may_change)
        return 0;
    const int64_t now_ms = hub_time_now_ns() / 1000000;
    return HUB_MAX((int64_t)(files->newest_ns / 1000000) + (int64_t)s->settle_ms - now_ms, (int64_t)0);
}

/* What the catalogue knows from the last run. */
static void recall_unchanged(struct hub_scanner *s, struct hub_tracked_dataset *tracked, uint64_t signature)
{
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *snapshot = hub_catalog_snapshot(s->catalog);
    const struct hub_summary *summary = hub_snapshot_find(snapshot, hub_view_of(tracked->id));
    if (!summary || !hub_summary_is_here(summary) || summary->root != tracked->root ||
        strcmp(summary->path, tracked->path) != 0)
        return;
    tracked->shown = true;
    tracked->ready = summary->status != HUB_DATASET_PENDING;
    hub_scan_recall(s, tracked, signature);
    if (!tracked->ready)
        tracked->published = 0;
}

static enum hub_status show_pending(struct hub_scanner *s, struct hub_tracked_dataset *tracked,
                                    const struct hub_fileset *files, const char *reason,
                                    struct hub_error *err)
{
    if (tracked->shown)
        return HUB_OK; /* the state before stays until the new one is inspected */
    const struct hub_draft draft = {.id = tracked->id,
                                    .path = tracked->path,
                                    .format = tracked->formats[0],
                                    .reason = reason,
                                    .root = tracked->root,
                                    .status = HUB_DATASET_PENDING,
                                    .seen = tracked->sweep};
    const enum hub_status st = hub_scan_publish(s, draft, files, NULL, err);
    tracked->shown = !st;
    return st == HUB_CHANGED ? HUB_OK : st; /* the hub itself changes it */
}

/* What nobody has to inspect: plain files, and what cannot be inspected. */
static enum hub_status publish_soon(struct hub_scanner *s, struct hub_batch *batch,
                                    struct hub_tracked_dataset *tracked,
                                    const struct hub_found_dataset *found, struct hub_error *err)
{
    if (tracked->state == HUB_TRACKED_QUEUED)
        hub_tracked_unqueue(s, tracked);
    tracked->state = HUB_TRACKED_IDLE;
    return hub_batch_add(s, batch, tracked, found->files, found->broken, err);
}

static enum hub_status queue(struct hub_scanner *s, struct hub_tracked_dataset *tracked,
                             struct hub_fileset *files, struct hub_error *err)
{
    const int64_t left_ms = waits_ms(s, files);
    const bool queued = tracked->state == HUB_TRACKED_QUEUED;
    if (tracked->state == HUB_TRACKED_QUEUED)
        hub_tracked_unqueue(s, tracked);
    tracked->state = HUB_TRACKED_IDLE;
    if (left_ms > 0) {
        HUB_TRY(show_pending(s, tracked, files, "its files changed a moment ago", err));
        hub_tracked_wait(s, tracked, left_ms + 1);
        return HUB_OK;
    }
    HUB_TRY(show_pending(s, tracked, files, "waiting to be inspected", err));
    hub_fileset_dispose(&tracked->files);
    tracked->files = *files;
    *files = (struct hub_fileset){0};
    hub_tracked_push(s, tracked, queued ? tracked->queue : hub_urgent_queue(tracked));
    return HUB_OK;
}

enum hub_status hub_scan_found(struct hub_scanner *s, struct hub_batch *batch,
                               struct hub_found_dataset *found, struct hub_error *err)
{
    const uint64_t signature = hub_scan_signature(s, found->formats, found->format_count, found->files);
    struct hub_tracked_dataset *tracked = hub_tracked_get(s, found);
    HUB_TRY(hub_allocated(tracked, err));
    if (!tracked->sweep)
        recall_unchanged(s, tracked, signature);
    tracked->sweep = s->sweep;
    const bool same = tracked->signature == signature;
    tracked->outdated = tracked->state == HUB_TRACKED_RUNNING && !same;
    const bool backing_off = same && tracked->state == HUB_TRACKED_WAITING &&
                             hub_time_mono_ms() < tracked->due_ms && !(s->asked && tracked->troubles);
    if (tracked->state == HUB_TRACKED_RUNNING || backing_off ||
        (same && tracked->state == HUB_TRACKED_QUEUED) || (same && tracked->given_up && !s->asked))
        return HUB_OK; /* of a changed file a running inspection finds out by itself */
    if (!same && tracked->signature)
        tracked->troubles = tracked->tries = 0;
    tracked->given_up = tracked->slow = false;
    tracked->signature = signature;
    const bool again = tracked->refused && (s->asked || hub_time_mono_ms() >= tracked->due_ms);
    if (tracked->published == signature && !again) {
        if (tracked->state == HUB_TRACKED_QUEUED)
            hub_tracked_unqueue(s, tracked);
        tracked->state = HUB_TRACKED_IDLE;
        tracked->requests = 0;
        return HUB_OK;
    }
    if (found->broken || hub_format_is_files(found->formats[0]))
        return publish_soon(s, batch, tracked, found, err);
    return queue(s, tracked, found->files, err);
}
