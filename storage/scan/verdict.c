/* What follows from an inspection: the state or the verdict that is published, or another try later. */
#include "storage/discover/claim.h"
#include "storage/scan/side.h"
#include "storage/scan/state.h"

#include "storage/model/format_row.h"
#include "storage/text/time.h"

#include <stdio.h>

enum { BUSY_MS = 2000, MAX_RETRIES = 3, REFUSED_PAUSES = 30 };

/* Trouble with this dataset and not with the hub as a whole: not to be tried for ever. */
static bool may_give_up(const struct hub_error *err)
{
    return err->status == HUB_TIMEOUT || err->problem == HUB_PROBLEM_INSPECTION_UNREAD;
}

/* Without what its parts hold. */
static struct hub_draft bare_draft_of(const struct hub_work *w, const char *format,
                                      enum hub_dataset_status status, const char *reason)
{
    return (struct hub_draft){.id = w->id,
                              .path = w->path,
                              .format = format,
                              .reason = reason,
                              .root = w->root,
                              .status = status,
                              .seen = w->seen,
                              .turn = w->turn.attempt ? &w->turn : NULL}; /* none was to be had */
}

/* No bidder wants the folder after a closer look: the next sweep offers its files one by one. False: it
 * cannot be remembered, and its files are plain until it changes. */
static bool note_declined(const struct hub_work *w)
{
    static const uint64_t under_nothing;
    struct hub_scanner *s = w->scanner;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf key = HUB_BUF_INIT(64 * KIB);
    const struct hub_view value = {(const char *)&under_nothing, sizeof under_nothing};
    if (hub_claim_key(s->walk.roots, w->root, w->path, HUB_CLAIM_DECLINED, &key, NULL) ||
        hub_catalog_note_put(s->catalog, key.data, value, NULL))
        return false;
    return true;
}

static enum hub_status publish_verdict(struct hub_work *w, enum hub_status verdict, struct hub_error *err)
{
    const struct hub_error why = *err;
    struct hub_draft draft = bare_draft_of(w, w->format, HUB_DATASET_BROKEN, why.detail);
    if (verdict == HUB_UNSUPPORTED)
        draft.status = HUB_DATASET_UNSUPPORTED;
    if (verdict == HUB_NOT_ACCEPTABLE && !w->single_files && note_declined(w))
        return hub_fail(err, HUB_BUSY,
                        "no format takes this folder as a whole: its files are inspected next");
    if (verdict == HUB_NOT_ACCEPTABLE)
        draft = bare_draft_of(w, HUB_FILES_FORMAT, HUB_DATASET_READY, "");
    return hub_scan_publish(w->scanner, draft, &w->files, NULL, err);
}

static int64_t pause_ms(const struct hub_scanner *s, enum hub_status st, unsigned tries)
{
    const int64_t first_ms = st == HUB_CHANGED || st == HUB_BUSY
                                 ? HUB_MAX((int64_t)s->settle_ms, (int64_t)BUSY_MS / 4)
                                 : (int64_t)s->retry_ms;
    return first_ms << HUB_MIN(tries, 5U);
}

/* Trouble of this machine: count it, and say so. True: it was tried often enough for now. */
static bool note_trouble(struct hub_work *w, const struct hub_error *why)
{
    struct hub_scanner *s = w->scanner;
    pthread_mutex_lock(&s->workers.lock);
    const unsigned troubles = ++w->tracked->troubles;
    const bool give_up = may_give_up(why) && troubles > MAX_RETRIES;
    s->progress.put_off++;
    s->progress.no_space = why->status == HUB_NO_SPACE;
    pthread_mutex_unlock(&s->workers.lock);
    hub_scan_remember_trouble(s, w->root, w->id, w->signature, troubles);
    hub_scan_notify(s, give_up ? HUB_SCAN_GAVE_UP : HUB_SCAN_PUT_OFF, w->id, why->detail);
    return give_up;
}

static void show_pending(struct hub_work *w, const struct hub_error *why, bool given_up)
{
    char reason[sizeof why->detail + 128];
    snprintf(reason, sizeof reason, "%s%s", why->detail,
             given_up
                 ? " (the hub tries again when its files change, at `minari-hub scan`, and at the next start)"
                 : "");
    const struct hub_draft draft =
        bare_draft_of(w, w->format ? w->format : w->tracked->formats[0], HUB_DATASET_PENDING, reason);
    (void)!hub_scan_publish(w->scanner, draft, &w->files, NULL, NULL);
}

/* Not an end: it is looked at again later, and listed as pending until then unless an older state is
 * there. */
static void requeue(struct hub_work *w, enum hub_status st, const struct hub_error *why)
{
    struct hub_scanner *s = w->scanner;
    struct hub_tracked_dataset *tracked = w->tracked; /* stays while it runs */
    const bool trouble = st != HUB_CHANGED && st != HUB_BUSY && st != HUB_CANCELLED;
    const bool give_up = trouble && note_trouble(w, why);
    if (!tracked->ready && !s->workers.stop)
        show_pending(w, why, give_up);
    pthread_mutex_lock(&s->workers.lock);
    tracked->given_up = give_up;
    if (give_up)
        tracked->state = HUB_TRACKED_IDLE;
    else if (!s->workers.stop)
        hub_tracked_wait(s, tracked, pause_ms(s, st, tracked->tries));
    tracked->tries++;
    tracked->limited = 0;
    pthread_mutex_unlock(&s->workers.lock);
}

static void mark_published(struct hub_work *w, bool failed, bool limited)
{
    struct hub_scanner *s = w->scanner;
    hub_scan_remember(s, w->root, w->id,
                      w->refused ? 0
                      : limited  ? hub_scan_limited(s, w->signature)
                                 : w->signature);
    hub_store_forget(s->store, w->root, w->path);
    pthread_mutex_lock(&s->workers.lock);
    w->tracked->state = HUB_TRACKED_IDLE;
    const bool changed = w->changes != w->tracked->changes; /* after it was published */
    w->tracked->shown = w->tracked->ready = true;
    w->tracked->published = changed ? 0 : w->signature;
    w->tracked->refused = w->refused;
    w->tracked->due_ms = hub_time_mono_ms() + (int64_t)s->retry_ms * REFUSED_PAUSES;
    w->tracked->requests = 0;
    w->tracked->rounds++;
    w->tracked->tries = w->tracked->troubles = w->tracked->limited = 0;
    s->progress.inspected++;
    s->progress.no_space = false;
    s->progress.failed += failed;
    if (changed)
        hub_tracked_wait(s, w->tracked, 0);
    pthread_mutex_unlock(&s->workers.lock);
}

/* What the hub changes from here on is found out where it is published, or after that. */
static uint64_t begin_to_publish(struct hub_work *w)
{
    struct hub_scanner *s = w->scanner;
    pthread_mutex_lock(&s->workers.lock);
    w->changes = w->tracked->changes;
    pthread_mutex_unlock(&s->workers.lock);
    return hub_catalog_look(s->catalog);
}

void hub_work_publish(struct hub_work *w, enum hub_status st, struct hub_error *err)
{
    const bool verdict = hub_scan_is_verdict(st),
               limited = w->has_limited || (verdict && hub_scan_is_limit(err));
    const uint64_t seen = begin_to_publish(w);
    struct hub_error changed;
    if ((!st || verdict) && hub_work_check_unchanged(w, &changed)) {
        *err = changed;
        st = changed.status;
    } else if (!st || verdict) {
        w->seen = seen;
        st = verdict ? publish_verdict(w, st, err)
                     : hub_scan_publish(w->scanner, hub_work_draft(w), &w->files, &w->plan, err);
    }
    if (st && w->plan.part_count == 1)
        hub_side_drop(w, 0);
    if (st)
        requeue(w, st, err);
    else
        mark_published(w, verdict, limited);
}
