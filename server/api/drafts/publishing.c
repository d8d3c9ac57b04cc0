/* See publishing.h. */
#include "server/api/drafts/publishing.h"

#include "server/api/drafts/keep.h"
#include "server/api/drafts/known.h"
#include "server/api/drafts/tidy.h"
#include "server/api/hooks.h"
#include "server/log/log.h"
#include "storage/drafts/publish.h"
#include "storage/scan/scan.h"
#include "storage/text/time.h"
#include "storage/truth/verdicts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LISTED_MS = 10000, LOOK_MS = 20, OTHERS_MS = 10000, PROBLEM_BYTES = 1024 * 1024 };

void hub_publishing_dispose(struct hub_publishing *c)
{
    hub_verdict_dispose(&c->verdict);
    hub_draft_facts_dispose(&c->facts);
    hub_draft_close(&c->draft);
    hub_draft_row_dispose(&c->row);
}

/* ---- what it is ---- */

static enum hub_status inspect(struct hub_publishing *c, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf tree = HUB_BUF_INIT(2 * PATH_MAX);
    HUB_TRY(hub_buf_addf(&tree, err, "%s/%s/tree", c->draft.place.path, c->draft.within));
    return hub_tree_inspect(c->app->inspector, tree.data, NULL, &c->verdict, err);
}

static void send_refusal(const struct hub_publishing *c)
{
    hub_hooks_send(c->app->hooks, &(struct hub_hook_event){.event = "refused",
                                                           .dataset = c->row.dataset,
                                                           .draft = c->row.id,
                                                           .who = c->row.who,
                                                           .reason = c->verdict.reason,
                                                           .files = c->facts.files.count,
                                                           .bytes = c->facts.files.bytes});
}

/* For whoever looks at the draft later, or asks again; without it the answer alone says it. */
static void keep_verdict(const struct hub_publishing *c)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf problems = HUB_BUF_INIT(PROBLEM_BYTES);
    const struct hub_view items = hub_buf_view(&c->verdict.problems);
    if (hub_buf_addf(&problems, NULL, "[%.*s]", (int)items.size, items.size ? items.data : ""))
        return;
    const struct hub_kept_verdict kept = {.verdict = hub_verdict_names[c->verdict.status],
                                          .reason = c->verdict.reason,
                                          .problems = problems.data};
    (void)!hub_verdict_keep(c->app->truth, c->row.id, &kept, NULL);
}

static enum hub_status refuse(struct hub_publishing *c, struct hub_error *err)
{
    keep_verdict(c);
    send_refusal(c);
    c->refused = true;
    return hub_fail_as(
        err, HUB_CORRUPT, HUB_PROBLEM_DRAFT_REFUSED,
        "'%.200s' is not published: %.300s; the draft is still open: send what is wrong again, or "
        "commit with allow=%s",
        c->row.dataset, c->verdict.reason, hub_verdict_names[c->verdict.status]);
}

static bool is_refused(const struct hub_publishing *c)
{
    return (c->verdict.status == HUB_VERDICT_BROKEN && !c->as_broken) ||
           (c->verdict.status == HUB_VERDICT_FILES && !c->as_files);
}

/* ---- when it is listed ---- */

static size_t above(struct hub_view id)
{
    const char *slash = memrchr(id.data, '/', id.size);
    return slash ? (size_t)(slash - id.data) : 0;
}

/* The dataset that lists it: files that no format claims may be loose ones of a folder above. */
static const struct hub_summary *find_listing(const struct hub_publishing *c, const struct hub_snapshot *all)
{
    struct hub_view id = hub_view_of(c->row.dataset);
    const struct hub_summary *found = hub_snapshot_find(all, id);
    while (!found && c->verdict.status == HUB_VERDICT_FILES && (id.size = above(id)) > 0)
        found = hub_snapshot_find(all, id);
    return found;
}

static bool is_listed(const struct hub_publishing *c)
{
    const bool is_new = !*c->row.base && c->verdict.status != HUB_VERDICT_FILES;
    const struct hub_snapshot *all = hub_catalog_snapshot(c->app->catalog);
    const struct hub_summary *summary = find_listing(c, all);
    const bool listed =
        summary && summary->status != HUB_DATASET_PENDING && (is_new || summary->serial != c->serial);
    hub_snapshot_put(all);
    return listed;
}

/* Somebody deleted or renamed it before it was listed. */
static bool is_gone(const struct hub_publishing *c)
{
    HUB_CLEANUP(hub_commit_dispose) struct hub_commit head = {0};
    const enum hub_status st = hub_commit_head(c->app->truth, c->row.dataset, &head, NULL);
    return st == HUB_NOT_FOUND || (!st && head.kind == HUB_COMMIT_DELETE);
}

/* Whoever published it finds it: wait until the catalogue has it, for a while. */
static void await_listed(const struct hub_publishing *c, bool published)
{
    const int64_t end_ms = hub_time_mono_ms() + LISTED_MS;
    while (!is_listed(c) && hub_time_mono_ms() < end_ms && !(published && is_gone(c))) {
        hub_scanner_prioritize(c->app->scanner, c->row.dataset);
        nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000}, NULL);
    }
}

/* Another draft may have been put there a moment ago: whoever is refused for it finds it as well. */
static void await_other(const struct hub_publishing *c)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    if (c->verdict.status == HUB_VERDICT_FILES ||
        hub_roots_open(c->app->roots, c->row.root, c->row.path, O_PATH, &fd, NULL))
        return;
    hub_scanner_look(c->app->scanner, c->row.root, c->row.path);
    await_listed(c, false);
}

/* ---- publishing ---- */

/* Another one has the draft, or its place, because of `why`. HUB_OK: look again. */
static enum hub_status await_turn(const struct hub_publishing *c, int64_t end_ms, const struct hub_error *why,
                                  struct hub_error *err)
{
    if (hub_time_mono_ms() > end_ms)
        return hub_pass(HUB_BUSY, why, err);
    if (c->until_ms)
        return HUB_AGAIN;
    nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000}, NULL);
    return HUB_OK;
}

static int64_t end_of_wait_ms(const struct hub_publishing *c)
{
    return c->until_ms ? c->until_ms : hub_time_mono_ms() + OTHERS_MS;
}

/* Of several drafts for one place one is published at a time; the next one finds the head of that. */
static enum hub_status claim(struct hub_publishing *c, struct hub_error *err)
{
    const int64_t end_ms = end_of_wait_ms(c);
    for (;;) {
        struct hub_error why = {0};
        const enum hub_status st = hub_draft_claim(c->app->truth, &c->row, c->commit, &why);
        if (st != HUB_BUSY)
            return st ? hub_pass(st, &why, err) : HUB_OK;
        HUB_TRY(await_turn(c, end_ms, &why, err));
    }
}

/* A request that is to come again finds it before the inspection, which would be done each time. */
static enum hub_status await_place(const struct hub_publishing *c, struct hub_error *err)
{
    struct hub_commit base = {.dataset = c->row.dataset};
    struct hub_error why = {0};
    memcpy(base.id, c->row.base, sizeof base.id);
    if (!c->until_ms || hub_commit_is_at_rest(c->app->truth, &base, &why) != HUB_BUSY)
        return HUB_OK; /* what else is wrong is found when the place is claimed */
    return await_turn(c, c->until_ms, &why, err);
}

static uint64_t listed_serial(const struct hub_publishing *c)
{
    const struct hub_snapshot *all = hub_catalog_snapshot(c->app->catalog);
    const struct hub_summary *summary = find_listing(c, all);
    const uint64_t serial = summary ? summary->serial : 0;
    hub_snapshot_put(all);
    return serial;
}

/* It is claimed: nobody else publishes there. */
static enum hub_status put_in_place(struct hub_publishing *c, bool *changed, struct hub_error *err)
{
    memcpy(c->row.commit, c->commit, sizeof c->row.commit);
    const struct hub_draft_place place = hub_draft_place_of(&c->row);
    HUB_TRY(hub_draft_put_in_place(&c->draft, &c->facts.files, &place, err));
    *changed = true;
    hub_draft_commit_of(&c->row, &c->facts, c->message, &c->made);
    HUB_TRY(hub_draft_publish(c->app->truth, c->row.id, &c->made, true, err));
    hub_draft_keep_digests(c->app, &c->row, &c->facts);
    return HUB_OK;
}

/* What is listed once its place is released is what was put there, though its files be the same. */
static enum hub_status take_place(struct hub_publishing *c, struct hub_error *err)
{
    struct hub_hold hold;
    bool changed = false;
    HUB_TRY(hub_draft_check_free(c->app, &c->row, err));
    HUB_TRY(claim(c, err));
    hub_scanner_hold(c->app->scanner, c->row.root, c->row.dataset, c->row.path, &hold);
    c->serial = listed_serial(c);
    const enum hub_status st = put_in_place(c, &changed, err);
    hub_scanner_release(c->app->scanner, &hold, changed);
    return st;
}

static enum hub_status publish(struct hub_publishing *c, struct hub_error *err)
{
    static const struct hub_log_event event = {HUB_LOG_INFO, "published", NULL};
    const enum hub_status st = take_place(c, err);
    if (st == HUB_EXISTS || st == HUB_CHANGED)
        await_other(c);
    HUB_TRY(st);
    keep_verdict(c);
    hub_log_event(c->app->log, &event, "%s by %s: %u files, %llu bytes, commit %s", c->row.dataset,
                  c->row.who, c->facts.files.count, (unsigned long long)c->facts.files.bytes, c->made.id);
    hub_hooks_wake(c->app->hooks);
    (void)!hub_draft_remove(c->app->roots->roots[c->row.root].path, c->row.id,
                            NULL); /* else when it is old */
    if (*c->row.base)
        hub_revisions_look(c->app, c->row.root, c->row.path, c->row.base);
    hub_revisions_tidy(c->app, c->row.dataset);
    await_listed(c, true);
    return HUB_OK;
}

static enum hub_status work(struct hub_publishing *c, struct hub_error *err)
{
    HUB_TRY(hub_draft_facts_read(c->app, &c->row, &c->draft, &c->facts, err));
    HUB_TRY(inspect(c, err));
    if (is_refused(c))
        return refuse(c, err);
    if (c->verdict.status != HUB_VERDICT_FILES)
        c->facts.episodes = (int64_t)c->verdict.episodes;
    hub_draft_facts_compare(c->app, &c->row, c->row.path, &c->facts);
    return publish(c, err);
}

/* ---- one at a time ---- */

/* A file is put into its tree meanwhile, or another request publishes it. */
static enum hub_status await_lock(const struct hub_publishing *c, struct hub_error *err)
{
    const int64_t end_ms = end_of_wait_ms(c);
    struct hub_error why = {0};
    (void)hub_fail_as(&why, HUB_BUSY, HUB_PROBLEM_DRAFT_BUSY,
                      "another request is publishing the draft: the same commit again, in a moment, is "
                      "answered with what came of that");
    while (!hub_draft_try_lock(&c->draft))
        HUB_TRY(await_turn(c, end_ms, &why, err));
    return HUB_OK;
}

/* Take the draft for this request alone, and see what it has become meanwhile. One that was published has no
 * folder any more, or loses it while it is waited for. */
static enum hub_status take_draft(struct hub_publishing *c, struct hub_error *err)
{
    struct hub_error why = {0};
    enum hub_status st = hub_draft_enter_any(c->app, &c->row, &c->draft, &why);
    if (!st)
        st = await_lock(c, &why);
    if (st && st != HUB_NOT_FOUND)
        return hub_pass(st, &why, err);
    struct hub_draft_row now = {0};
    HUB_TRY(hub_draft_find(c->app->truth, c->row.id, &now, err));
    hub_draft_row_dispose(&c->row);
    c->row = now;
    return st && now.state != HUB_DRAFT_PUBLISHED ? hub_pass(st, &why, err) : HUB_OK;
}

/* What fails leaves it open, unless it is a dataset by then: the next commit, or the next start, has only to
 * say so. */
enum hub_status hub_publishing_run(struct hub_publishing *c, struct hub_error *err)
{
    HUB_TRY(take_draft(c, err));
    if (c->row.state == HUB_DRAFT_COMMITTING || c->row.state == HUB_DRAFT_PUBLISHING)
        HUB_TRY(hub_draft_finish(c->app, &c->row, err));
    if (c->row.state == HUB_DRAFT_PUBLISHED)
        return HUB_OK;
    if (c->draft.tree < 0)
        return hub_fail(err, HUB_NOT_FOUND, "the files of the draft '%s' do not exist any more", c->row.id);
    HUB_TRY(await_place(c, err));
    HUB_TRY(hub_draft_turn(c->app->truth, c->row.id, HUB_DRAFT_OPEN, HUB_DRAFT_COMMITTING, err));
    const enum hub_status st = work(c, err);
    if (st)
        hub_draft_reopen(c->app, &c->row);
    if (st && c->facts.lost.count)
        (void)!hub_draft_forget_lost(c->app, &c->row, &c->draft, &c->facts, NULL); /* the next one tries */
    return st;
}
