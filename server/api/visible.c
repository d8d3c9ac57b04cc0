/* Snapshots by what may be read: see visible.h. */
#include "server/api/visible.h"

#include "server/api/app.h"
#include "storage/ids/hf_cache.h"
#include "storage/ids/id.h"
#include "storage/truth/commits.h"
#include "storage/truth/rules.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { VIEWS = 64 };

/* The datasets of one snapshot that one mask of one table lets through. */
struct view {
    struct hub_access_table *table;
    uint64_t of; /* generation of the whole snapshot */
    uint64_t mask[HUB_ACCESS_MASK_WORDS];
    const struct hub_snapshot *snapshot;
};

struct hub_visible {
    struct view *_Atomic views[VIEWS];
    atomic_uint taking; /* readers between a pointer and its reference */
    pthread_mutex_t making;
    unsigned next;                      /* to be replaced; under `making` */
    uint64_t made;                      /* under `making` */
    const struct hub_snapshot *nothing; /* without a dataset */
};

/* Generations of views count up from here, those of the catalogue from 1. */
#define FIRST_GENERATION (UINT64_C(1) << 63)

static bool passes_none(const void *user, const struct hub_summary *summary)
{
    (void)user;
    (void)summary;
    return false;
}

/* The id that rules see: another commit of a dataset in a cache of Hugging Face, "lab/plans@COMMIT", is as
 * private as "lab/plans". */
static struct hub_view ruled_id(const struct hub_summary *summary, char out[HUB_MAX_ID + 1])
{
    const char *at = hub_hf_cache_at(summary->id, summary->path);
    if (!at)
        return hub_view_of(summary->id);
    snprintf(out, HUB_MAX_ID + 1, "%.*s%s", (int)(at - summary->id), summary->id, at + strcspn(at, "/"));
    return hub_view_of(out);
}

/* What a view is made of, and for whom. */
struct sight {
    const struct view *view;
    const struct hub_request *request;
    const struct hub_snapshot *all;
    bool with_deleted; /* that its principal may write */
};

/* A kept revision of a dataset that was deleted: `id` is the dataset's. */
static bool is_deleted(const struct sight *sight, const struct hub_summary *summary, char id[HUB_MAX_ID + 1])
{
    HUB_CLEANUP(hub_commit_dispose) struct hub_commit head = {0};
    return hub_snapshot_orphan_of(sight->all, summary, id) &&
           !hub_commit_head(sight->request->app->truth, id, &head, NULL) && head.kind == HUB_COMMIT_DELETE;
}

static bool passes(const void *user, const struct hub_summary *summary)
{
    const struct sight *sight = user;
    const struct view *view = sight->view;
    char id[HUB_MAX_ID + 1];
    if (sight->all->orphans && is_deleted(sight, summary, id))
        return sight->with_deleted && hub_request_level(sight->request, hub_view_of(id)) >= HUB_LEVEL_WRITE;
    return !view->table ||
           hub_access_mask_has(view->mask, hub_access_class(view->table, ruled_id(summary, id)));
}

static void free_view(struct view *view)
{
    if (!view)
        return;
    if (view->table)
        hub_access_put(view->table);
    hub_snapshot_put(view->snapshot);
    free(view);
}

enum hub_status hub_visible_new(struct hub_visible **out, struct hub_error *err)
{
    static const struct hub_snapshot none = {0};
    HUB_TRY(hub_new(out, 1, sizeof **out, err));
    pthread_mutex_init(&(*out)->making, NULL);
    (*out)->nothing = hub_snapshot_filter(&none, passes_none, NULL, FIRST_GENERATION);
    return hub_allocated((*out)->nothing, err);
}

void hub_visible_free(struct hub_visible *visible)
{
    if (!visible)
        return;
    for (unsigned i = 0; i < VIEWS; i++)
        free_view(atomic_load(&visible->views[i]));
    hub_snapshot_put(visible->nothing);
    pthread_mutex_destroy(&visible->making);
    free(visible);
}

static bool is_view(const struct view *view, const struct view *wanted)
{
    return view && view->of == wanted->of && view->table == wanted->table &&
           memcmp(view->mask, wanted->mask, sizeof view->mask) == 0;
}

/* A reference to the snapshot of a view that is there. NULL: none is. */
static const struct hub_snapshot *take(struct hub_visible *visible, const struct view *wanted)
{
    const struct hub_snapshot *found = NULL;
    atomic_fetch_add(&visible->taking, 1);
    for (unsigned i = 0; i < VIEWS && !found; i++) {
        const struct view *view = atomic_load(&visible->views[i]);
        if (is_view(view, wanted))
            found = hub_snapshot_share(view->snapshot);
    }
    atomic_fetch_sub(&visible->taking, 1);
    return found;
}

static struct view *view_new(const struct sight *sight, uint64_t generation)
{
    struct view *view = malloc(sizeof *view);
    if (!view)
        return NULL;
    *view = *sight->view;
    view->snapshot = hub_snapshot_filter(sight->all, passes, sight, generation);
    if (view->table)
        hub_access_get(view->table);
    if (view->snapshot)
        return view;
    free_view(view);
    return NULL;
}

static const struct hub_snapshot *make(struct hub_visible *visible, const struct sight *sight)
{
    pthread_mutex_lock(&visible->making);
    const struct hub_snapshot *found = take(visible, sight->view);
    struct view *view = found ? NULL : view_new(sight, FIRST_GENERATION + ++visible->made);
    if (view) {
        found = hub_snapshot_share(view->snapshot);
        struct view *old = atomic_exchange(&visible->views[visible->next++ % VIEWS], view);
        while (atomic_load(&visible->taking))
            sched_yield();
        free_view(old);
    }
    pthread_mutex_unlock(&visible->making);
    return found ? found : hub_snapshot_share(visible->nothing);
}

/* Where no rule hides anything, all see the same. */
static struct view view_of(const struct hub_request *request, const struct hub_snapshot *all)
{
    struct view view = {.of = all->generation};
    if (request->access && hub_access_hides(request->access)) {
        view.table = request->access;
        hub_access_mask(request->access, &request->principal, view.mask);
    }
    return view;
}

const struct hub_snapshot *hub_request_snapshot(const struct hub_request *request)
{
    const struct hub_snapshot *all = hub_catalog_snapshot(request->app->catalog);
    if (request->local || (!all->orphans && (!request->access || !hub_access_hides(request->access))))
        return all;
    const struct view wanted = view_of(request, all);
    const struct sight sight = {.view = &wanted, .request = request, .all = all};
    const struct hub_snapshot *found = take(request->app->visible, &wanted);
    if (!found)
        found = make(request->app->visible, &sight);
    hub_snapshot_put(all);
    return found;
}

const struct hub_snapshot *hub_request_snapshot_deleted(const struct hub_request *request)
{
    HUB_CLEANUP(hub_snapshot_putp)
    const struct hub_snapshot *all = hub_catalog_snapshot(request->app->catalog);
    const struct view wanted = view_of(request, all);
    const struct sight sight = {.view = &wanted, .request = request, .all = all, .with_deleted = true};
    struct hub_visible *visible = request->app->visible;
    pthread_mutex_lock(&visible->making);
    const uint64_t generation = FIRST_GENERATION + ++visible->made;
    pthread_mutex_unlock(&visible->making);
    const struct hub_snapshot *found = hub_snapshot_filter(all, passes, &sight, generation);
    return found ? found : hub_snapshot_share(visible->nothing);
}

bool hub_request_may_read(const struct hub_request *request, struct hub_view id)
{
    return !request->access || hub_access_level(request->access, &request->principal, id) >= HUB_LEVEL_READ;
}

enum hub_level hub_request_level(const struct hub_request *request, struct hub_view id)
{
    if (request->local)
        return HUB_LEVEL_ADMIN;
    return request->access ? hub_access_level(request->access, &request->principal, id) : HUB_LEVEL_READ;
}

void hub_request_is_about(struct hub_request *request, const struct hub_summary *summary)
{
    const struct hub_principal anybody = {0};
    char id[HUB_MAX_ID + 1];
    request->for_everybody = request->access && hub_access_level(request->access, &anybody,
                                                                 ruled_id(summary, id)) >= HUB_LEVEL_READ;
}

bool hub_request_may_see_rule(const struct hub_request *request, const char *name)
{
    char folder[HUB_RULE_NAME_CHARS + 2];
    snprintf(folder, sizeof folder, "%s/", name);
    return hub_request_may_read(request, hub_view_of(folder));
}

enum hub_status hub_request_absent(const struct hub_request *request, struct hub_view id,
                                   struct hub_error *err)
{
    if (hub_request_may_read(request, id) || hub_principal_signed_in(&request->principal))
        return HUB_OK;
    return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_SIGN_IN, "'%.*s' wants a token of this hub", (int)id.size,
                       id.data);
}
