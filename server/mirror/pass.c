/* One pass of a rule: what the remote lists against what is here. */
#include "server/mirror/gone.h"
#include "server/mirror/left.h"
#include "server/mirror/listed.h"
#include "server/mirror/spec.h"
#include "server/mirror/work.h"
#include "storage/base/order.h"
#include "storage/ids/id.h"
#include "storage/model/format_row.h"
#include "storage/transfer/publish.h"
#include "storage/truth/upstream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LIST_BYTES = 1 << 30, MAX_LISTED = 1000 * 1000 };

struct upstream_item {
    char *id, *revision, *path; /* id of the first revision there; revision there; path here */
    char *text;                 /* of an upstream: all that it says */
    bool files;                 /* plain ones of a folder */
    bool around;                /* ... that also holds datasets */
};

struct upstream_listing {
    struct hub_mirror_work *work;
    struct upstream_item *items;
    uint32_t count, capacity;
    uint64_t bytes; /* of their texts */
    struct hub_upstream_seen *seen;
    struct hub_buf lines; /* of an upstream: what is shown */
    uint32_t requested, removed;
};

static void dispose(struct upstream_listing *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        free(l->items[i].id);
        free(l->items[i].revision);
        free(l->items[i].path);
        free(l->items[i].text);
    }
    free(l->items);
    free(l->seen);
    hub_buf_dispose(&l->lines);
}

static enum hub_status take_item(json_t *item, struct hub_view text, void *user, struct hub_error *err)
{
    struct upstream_listing *l = user;
    const char *id = hub_member_text(item, "id"), *revision = hub_member_text(item, "revision"),
               *format = hub_member_text(item, "format"),
               *prefix = hub_member_text(l->work->rule.spec, "prefix");
    struct upstream_item one = {.files = hub_format_is_files(format)};
    (void)text;
    if (!id)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                           "the remote lists a dataset without an id");
    if (hub_format_traits_of(format)->recording) /* it is none yet */
        return HUB_OK;
    if (!hub_remote_has_prefix(id, prefix))
        return HUB_OK;
    HUB_TRY(hub_grow(&l->items, l->count, &l->capacity, sizeof *l->items, err));
    enum hub_status st = hub_dup(&one.id, id, err);
    if (!st)
        st = hub_dup(&one.revision, revision ? revision : "", err);
    if (!st && hub_rule_pulls(&l->work->rule)) {
        one.text = json_dumps(item, JSON_COMPACT);
        st = hub_allocated(one.text, err);
    }
    l->items[l->count++] = one; /* also what of it is there only half */
    HUB_TRY(st);
    l->bytes += strlen(one.id) + strlen(one.revision) + (one.text ? strlen(one.text) : 0);
    hub_mirror_hold(l->work, l->bytes + l->count * sizeof *l->items);
    return l->count > MAX_LISTED || l->bytes > LIST_BYTES
               ? hub_fail_as(err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LONG,
                             "the remote lists more than %d datasets, or too much of them: give a --prefix",
                             MAX_LISTED)
               : hub_mirror_keep(l->work, err);
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct upstream_item *)a)->id, ((const struct upstream_item *)b)->id);
}

static struct hub_mirror_listing listing_of(const struct upstream_listing *l)
{
    return (struct hub_mirror_listing){l->items, l->count, sizeof *l->items};
}

/* As its copy, which is there. */
static bool is_same(const struct upstream_listing *l, const struct upstream_item *item)
{
    struct hub_mirror_work *w = l->work;
    struct hub_upstream known;
    char path[4096];
    if (!*item->revision ||
        hub_upstream_find(w->mirrors->options.truth, w->root, item->path, false, &known, NULL))
        return false;
    bool same = strcmp(known.revision, item->revision) == 0 && hub_mirror_owns(w, &known, item->id);
    hub_upstream_dispose(&known);
    const int n =
        snprintf(path, sizeof path, "%s/%s", w->mirrors->options.roots->roots[w->root].path, item->path);
    return same && n < (int)sizeof path && access(path, F_OK) == 0;
}

/* Transfers to be asked for together: each alone would wait for the disk. */
enum { ASKED_AT_ONCE = 128 };
struct job_batch {
    uint32_t count;
    struct hub_job_draft drafts[ASKED_AT_ONCE];
    char *payloads[ASKED_AT_ONCE], *targets[ASKED_AT_ONCE];
};

static void job_batch_clear(struct job_batch *batch)
{
    while (batch->count) {
        batch->count--;
        free(batch->payloads[batch->count]);
        free(batch->targets[batch->count]);
    }
}

static void job_batch_freep(struct job_batch **batch)
{
    if (*batch)
        job_batch_clear(*batch);
    free(*batch);
}

/* What is on its way is left as it is: what changed since shows in the next pass. */
static enum hub_status ask(struct upstream_listing *l, struct job_batch *batch, struct hub_error *err)
{
    HUB_TRY(hub_jobs_add(l->work->mirrors->options.truth, batch->drafts, batch->count, &l->requested, err));
    job_batch_clear(batch);
    return HUB_OK;
}

/* The nearest dataset of the list in whose folder this one lies, or NULL. */
static const struct upstream_item *outer_of(const struct upstream_listing *l,
                                            const struct upstream_item *item)
{
    for (size_t size = strlen(item->id); size; size--) {
        const struct hub_view above = {item->id, size - 1};
        if (item->id[size - 1] != '/')
            continue;
        const uint32_t at = hub_lower_bound(&above, l->items, l->count, sizeof *l->items, hub_view_by_text);
        if (at < l->count && l->items[at].path && hub_view_is(above, l->items[at].id))
            return &l->items[at];
    }
    return NULL;
}

/* A dataset inside another one is copied after it, which cannot replace an existing folder. */
static enum hub_status ask_for(struct upstream_listing *l, const struct upstream_item *item,
                               struct job_batch *batch, struct hub_error *err)
{
    struct hub_mirror_work *w = l->work;
    char target[2048];
    const struct upstream_item *outer = outer_of(l, item);
    if (outer)
        hub_listed_id(w->mirrors, w->root, outer->path, target, sizeof target);
    const struct hub_copy_order order = {item->id, item->path, outer ? target : NULL};
    const uint32_t i = batch->count++;
    batch->payloads[i] = hub_copy_order_text(&order);
    hub_listed_id(w->mirrors, w->root, item->path, target, sizeof target); /* names it among all jobs */
    batch->targets[i] = strdup(target);
    HUB_TRY(hub_allocated(batch->payloads[i] && batch->targets[i], err));
    batch->drafts[i] = (struct hub_job_draft){.kind = HUB_JOB_TRANSFER,
                                              .target = batch->targets[i],
                                              .rule = w->rule.name,
                                              .payload = batch->payloads[i]};
    return batch->count == ASKED_AT_ONCE ? ask(l, batch, err) : HUB_OK;
}

/* Where each goes; what cannot be here has no path. Before any is fetched: two that would be called the
 * same are refused. */
static enum hub_status assign_paths(struct upstream_listing *l, struct hub_error *err)
{
    struct hub_mirror_work *w = l->work;
    const struct hub_mirror_listing listing = listing_of(l);
    const char *before = NULL;
    uint64_t count = 0;
    if (l->count)
        qsort(l->items, l->count, sizeof *l->items, by_id);
    for (uint32_t i = 0; i < l->count; i++)
        count += !(l->items[i].around = l->items[i].files && hub_mirror_is_around(&listing, l->items[i].id));
    HUB_TRY(hub_mirror_check_count(w->rule.spec, count, err));
    for (uint32_t i = 0; i < l->count; i++) {
        struct upstream_item *item = &l->items[i];
        struct hub_error why = {0};
        if (item->around)
            continue;
        if (hub_mirror_path(w->rule.spec, item->id, &item->path, &why)) {
            hub_mirror_notify(w, HUB_MIRROR_FAILED, "", "left out because its id is not valid here: %s",
                              why.detail);
            continue;
        }
        if (before && strcmp(before, item->path) == 0)
            return hub_fail(err, HUB_INVALID, "the remote lists '%.200s' twice", item->id);
        before = item->path;
    }
    return HUB_OK;
}

static enum hub_status compare(struct upstream_listing *l, struct hub_error *err)
{
    struct hub_mirror_work *w = l->work;
    HUB_CLEANUP(job_batch_freep) struct job_batch *batch = NULL;
    uint32_t seen = 0;
    HUB_TRY(hub_new(&batch, 1, sizeof *batch, err));
    HUB_TRY(hub_new(&l->seen, l->count, sizeof *l->seen, err));
    HUB_TRY(assign_paths(l, err));
    for (uint32_t i = 0; i < l->count; i++) {
        const struct upstream_item *item = &l->items[i];
        if (!item->path)
            continue;
        const bool same = is_same(l, item);
        l->seen[seen++] = (struct hub_upstream_seen){item->path, same};
        if (item->text)
            HUB_TRY(hub_buf_addf(&l->lines, err, "%s\n", item->text));
        else if (!same)
            HUB_TRY(ask_for(l, item, batch, err));
        HUB_TRY(hub_mirror_keep(w, err));
    }
    HUB_TRY(ask(l, batch, err));
    w->rule.datasets = seen;
    return hub_upstream_seen(w->mirrors->options.truth, w->rule.name, w->rule.begun_ms, w->root, l->seen,
                             seen, err);
}

/* ---- the pass ---- */

/* What an interrupted replacement left, and what was replaced before the last pass. */
static enum hub_status tidy_root(const struct hub_mirror_work *w, struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_TRY(hub_private_open(w->mirrors->options.roots->roots[w->root].path, true, &place, err));
    return hub_publish_recover(&place, err);
}

enum hub_status hub_mirror_pass(struct hub_mirror_work *w, struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct upstream_listing l = {.work = w, .lines = HUB_BUF_INIT(LIST_BYTES)};
    HUB_CLEANUP(hub_remote_left_dispose) struct hub_remote_left left = {0};
    struct hub_truth *truth = w->mirrors->options.truth;
    const struct hub_remote_query query = {.prefix = hub_member_text(w->rule.spec, "prefix"),
                                           .only = hub_mirror_only(w->rule.spec),
                                           .left = &left,
                                           .exact = true,
                                           .brief = !hub_rule_pulls(&w->rule)};
    HUB_TRY(tidy_root(w, err));
    HUB_TRY(w->remote.kind->list(&w->remote, &query, take_item, &l, err));
    HUB_TRY(hub_left_note(w, &left, err));
    if (!l.count && query.prefix)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_REMOTE_EMPTY,
                           "the remote lists nothing that begins with '%.200s'", query.prefix);
    HUB_TRY(compare(&l, err));
    const struct hub_mirror_listing listing = listing_of(&l);
    /* a remote that lists nothing at all is more often broken than empty */
    if (l.count && hub_rule_pulls(&w->rule))
        HUB_TRY(hub_listed_put(w->mirrors, &w->rule, hub_buf_view(&l.lines), err));
    if (l.count)
        HUB_TRY(hub_gone_run(w, &listing, &l.removed, err));
    if (l.requested)
        hub_mirrors_wake(w->mirrors);
    if (l.requested || l.removed)
        hub_mirror_notify(w, HUB_MIRROR_SYNCED, "",
                          "%" PRIu64 " datasets on the remote, %u to fetch, %u removed", w->rule.datasets,
                          l.requested, l.removed);
    return hub_rule_listed(truth, w->rule.name, w->rule.datasets,
                           1000 * hub_member_uint(w->rule.spec, "every"), err);
}

void hub_mirror_pass_failed(struct hub_mirror_work *w)
{
    (void)!hub_rule_listed(w->mirrors->options.truth, w->rule.name, w->rule.datasets,
                           1000 * hub_member_uint(w->rule.spec, "every"), NULL);
}
