/* What is wrong, in one place: the hub's own alerts, then datasets by id: why one cannot be served, and
 * what was found in it. */
#include "server/api/handlers.h"

#include "server/api/cursor.h"
#include "server/api/operations/alerts.h"
#include "server/api/put.h"
#include "server/api/resolve.h"
#include "server/api/visible.h"
#include "storage/ids/id.h"
#include "storage/model/problem.h"
#include "storage/truth/damage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct problems_page {
    struct hub_request *request;
    const struct hub_snapshot *snapshot;
    struct hub_view prefix; /* of ids, or empty */
    struct hub_json json;
    uint32_t left;       /* of the page */
    const char *dataset; /* id of the dataset that is being written */
    bool damaged;        /* what the index keeps of them: no more of them can be shown */
    struct hub_page_cursor next;
};

static bool blocks(const struct hub_summary *summary)
{
    return summary->status == HUB_DATASET_BROKEN || summary->status == HUB_DATASET_UNSUPPORTED;
}

static uint32_t damaged_of(const struct problems_page *l, const struct hub_summary *summary)
{
    return hub_damage_each(l->request->app->truth, summary->root, summary->path, NULL, NULL);
}

/* The number of problems before those of the inspection. */
static uint32_t extra_of(const struct problems_page *l, const struct hub_summary *summary)
{
    return blocks(summary) + damaged_of(l, summary);
}

static uint32_t count_of(const struct problems_page *l, const struct hub_summary *summary)
{
    if (strncmp(summary->id, l->prefix.data, l->prefix.size) != 0)
        return 0;
    return summary->problems + extra_of(l, summary);
}

static void put(struct problems_page *l, const char *dataset, const struct hub_problem *problem,
                const char *local)
{
    hub_json_object(&l->json);
    hub_put_if_set(&l->json, "dataset", dataset);
    hub_json_put_string(&l->json, "code", problem->code);
    if (problem->path.size)
        hub_json_put_string(&l->json, "path", problem->path);
    hub_json_put_string(&l->json, "detail", problem->detail);
    hub_put_if_set(&l->json, "costs", hub_problem_cost_name(hub_problem_cost(problem->code)));
    if (l->request->local)
        hub_put_if_set(&l->json, "local", local);
    hub_json_end_object(&l->json);
}

static enum hub_status put_found(void *user, const struct hub_problem *problem, struct hub_error *err)
{
    struct problems_page *l = user;
    char local[HUB_LOCAL_BYTES] = "";
    (void)err;
    if (l->request->local)
        hub_reason_local(l->request->app, problem->detail, local);
    put(l, l->dataset, problem, local);
    l->left--;
    return hub_json_status(&l->json);
}

/* Damage of what is kept of one dataset hides nothing of the others: it is shown in its place. */
static enum hub_status put_stored(struct problems_page *l, const struct hub_summary *summary, uint32_t skip,
                                  uint32_t limit, struct hub_error *err)
{
    struct hub_error why = {0};
    const enum hub_status st =
        hub_dataset_each_problem(l->request->app->catalog, summary, skip, limit, put_found, l, &why);
    l->damaged = st == HUB_CORRUPT;
    if (l->damaged)
        return put_found(
            l, &(struct hub_problem){.code = HUB_VIEW("internal"), .detail = hub_view_of(why.detail)}, err);
    return st ? hub_pass(st, &why, err) : HUB_OK;
}

struct damage_page {
    struct problems_page *listing;
    uint32_t at, skip; /* the next among the extra ones; so many are not shown */
    size_t folder;
};

static void put_damaged(void *user, const struct hub_damage *damage)
{
    struct damage_page *d = user;
    struct problems_page *l = d->listing;
    if (d->at++ < d->skip || !l->left)
        return;
    const struct hub_problem problem = {.code = hub_view_of(hub_damage_code(damage)),
                                        .path = hub_view_of(damage->path + d->folder),
                                        .detail = hub_view_of(damage->why)};
    put(l, l->dataset, &problem, NULL);
    l->left--;
}

/* Files that are damaged, or were changed in place. How many problems there are before those that the
 * inspection found. */
static uint32_t put_extra(struct problems_page *l, const struct hub_summary *summary, uint32_t skip)
{
    struct damage_page d = {l, blocks(summary), skip, strlen(summary->path) + (*summary->path != '\0')};
    return blocks(summary) +
           hub_damage_each(l->request->app->truth, summary->root, summary->path, put_damaged, &d);
}

/* The problems of one dataset behind the first `skip`, as far as the page goes. What was staged for its next
 * state comes last, and is not counted yet. */
static enum hub_status put_dataset(struct problems_page *l, const struct hub_summary *summary, uint32_t skip,
                                   struct hub_error *err)
{
    const uint32_t all = count_of(l, summary), from = skip, left = l->left;
    l->dataset = summary->id;
    l->damaged = false;
    if (blocks(summary) && skip == 0 && l->left) {
        const struct hub_problem problem = {.code = summary->status == HUB_DATASET_BROKEN
                                                        ? HUB_VIEW("dataset-broken")
                                                        : HUB_VIEW("dataset-unsupported"),
                                            .detail = hub_view_of(summary->reason)};
        HUB_TRY(put_found(l, &problem, err));
    }
    const uint32_t extra = put_extra(l, summary, skip);
    skip = skip > extra ? skip - extra : 0;
    const uint32_t before = from + (left - l->left);
    if (l->left && before < all)
        HUB_TRY(put_stored(l, summary, skip, HUB_MIN(l->left, all - before), err));
    const uint32_t written = l->damaged ? all : from + (left - l->left);
    if (l->left == 0) { /* continue here, or behind it */
        snprintf(l->next.key, sizeof l->next.key, "%" PRIu32, written < all ? written : UINT32_MAX);
        snprintf(l->next.tie, sizeof l->next.tie, "%s", summary->id);
    }
    return hub_json_status(&l->json);
}

/* Alerts stand on the first page whole: they are few. */
static enum hub_status put_alerts(struct problems_page *l, bool show, uint64_t *count, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_alerts *now = NULL;
    HUB_TRY(hub_new(&now, 1, sizeof *now, err));
    hub_alerts_read(l->request->app, now);
    *count = now->count;
    for (unsigned i = 0; show && i < now->count; i++) {
        const struct hub_problem problem = {.code = hub_view_of(now->items[i].code),
                                            .detail = hub_view_of(now->items[i].detail)};
        put(l, NULL, &problem, now->items[i].local);
    }
    return hub_json_status(&l->json);
}

/* How many problems of datasets come before the cursor. */
static uint64_t before_cursor(const struct problems_page *l, const struct hub_page_query *page)
{
    const struct hub_view id = hub_view_of(page->after.tie);
    uint64_t before = 0;
    for (uint32_t i = 0; page->goes_on && i < l->snapshot->count; i++) {
        const struct hub_summary *summary = l->snapshot->summaries[i];
        const int order = hub_id_compare(hub_view_of(summary->id), id);
        if (order > 0)
            break;
        const uint32_t count = count_of(l, summary), within = (uint32_t)strtoul(page->after.key, NULL, 10);
        before += order ? count : HUB_MIN(count, within);
    }
    return before;
}

/* A page that begins behind so many problems of datasets, and what lies around it. */
static enum hub_status put_datasets(struct problems_page *l, uint64_t skip, struct hub_page_ends *ends,
                                    struct hub_error *err)
{
    uint64_t rest = 0;
    for (uint32_t i = 0; i < l->snapshot->count; i++) {
        const struct hub_summary *summary = l->snapshot->summaries[i];
        const uint32_t count = count_of(l, summary);
        ends->total += count;
        if (skip >= count) {
            skip -= count;
            continue;
        }
        if (l->left && !*ends->prev.tie) {
            snprintf(ends->prev.key, sizeof ends->prev.key, "%" PRIu64, skip);
            snprintf(ends->prev.tie, sizeof ends->prev.tie, "%s", summary->id);
        }
        if (l->left)
            HUB_TRY(put_dataset(l, summary, (uint32_t)skip, err));
        else
            rest += count;
        if (l->next.key[0] && strcmp(l->next.tie, summary->id) == 0 && strtoul(l->next.key, NULL, 10) < count)
            rest++;
        skip = 0;
    }
    ends->has_next = rest;
    ends->next = l->next;
    return HUB_OK;
}

static enum hub_status write_page(struct problems_page *l, const struct hub_page_query *page,
                                  struct hub_response *response, struct hub_error *err)
{
    struct hub_page_ends ends = {0};
    uint64_t skip = before_cursor(l, page);
    if (page->after.back)
        skip -= HUB_MIN(skip, (uint64_t)page->limit);
    if (!l->prefix.size && hub_request_may_watch(l->request))
        HUB_TRY(put_alerts(l, !skip, &ends.total, err));
    HUB_TRY(put_datasets(l, skip, &ends, err));
    ends.has_prev = skip && *ends.prev.tie;
    return hub_page_close(l->request, page, response, &l->json, &ends, err);
}

static void listing_dispose(struct problems_page *l)
{
    hub_snapshot_put(l->snapshot);
}

enum hub_status hub_problems_list(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(listing_dispose)
    struct problems_page l = {.request = request, .prefix = hub_request_query(request, "prefix")};
    struct hub_page_query page;
    HUB_TRY(hub_page_read(request, &page, err));
    l.left = page.limit;
    if (!l.prefix.data)
        l.prefix = HUB_VIEW("");
    if (!request->may_block)
        return HUB_AGAIN;
    l.snapshot = hub_request_snapshot(request);
    l.json = hub_page_begin(&page, response, 16 * MIB, err);
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-store"));
    return write_page(&l, &page, response, err);
}
