/* The thread that publishes: see pushes.h. */
#include "server/api/pushes/pushes.h"

#include "server/api/pushes/lay.h"
#include "server/api/pushes/sets.h"
#include "server/api/pushes/spaces.h"
#include "server/api/xet/place.h"
#include "server/log/log.h"
#include "storage/base/thread.h"
#include "storage/deposits/parts.h"
#include "storage/text/time.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { HOUR_MS = 3600 * 1000, DAY_MS = 24 * HOUR_MS, IDLE_MS = 60000, AGAIN_MS = 5000, LOOK_MS = 20 };

struct hub_pushes {
    struct hub_thread thread;
    struct hub_app *app;
    int64_t tidied_ms;
    bool woken; /* with its lock */
};

/* What is wrong with this machine is tried again; all else is the verdict. */
static bool is_for_a_moment(enum hub_status st)
{
    return st == HUB_IO || st == HUB_NO_MEMORY || st == HUB_TIMEOUT || st == HUB_BUSY || st == HUB_CANCELLED;
}

static enum hub_push_state state_of(enum hub_status st, const struct hub_laying *laying)
{
    return !st                                     ? HUB_PUSH_READY
           : laying->verdict == HUB_VERDICT_BROKEN ? HUB_PUSH_BROKEN
           : laying->verdict == HUB_VERDICT_FILES  ? HUB_PUSH_FILES
                                                   : HUB_PUSH_REFUSED;
}

/* The repo is a dataset, and not a namespace. */
static bool is_one(const struct hub_push_sets *sets)
{
    return sets->count == 1 && !*sets->items[0].begins;
}

/* All datasets of it; of several one that is wrong keeps no other. */
static enum hub_status publish(struct hub_pushes *p, const struct hub_repo_row *repo,
                               const struct hub_push *push, struct hub_error *err)
{
    HUB_CLEANUP(hub_push_sets_dispose) struct hub_push_sets sets = {0};
    enum hub_push_state state = HUB_PUSH_READY;
    struct hub_error first = {0};
    enum hub_status folded;
    HUB_TRY(hub_push_sets_find(p->app->truth, push, &sets, err));
    for (uint32_t i = 0; i < sets.count; i++) {
        struct hub_laying laying = {
            .app = p->app, .repo = repo, .push = push, .set = &sets.items[i], .alone = sets.count == 1};
        struct hub_error why = {0};
        bool changed = true;
        HUB_TRY(hub_push_changes(p->app->truth, push, sets.items[i].begins, &changed, err));
        const enum hub_status st = changed ? hub_push_lay(&laying, &why) : HUB_OK;
        if (is_for_a_moment(st))
            return hub_pass(st, &why, err);
        if (st && state == HUB_PUSH_READY) {
            state = state_of(st, &laying);
            first = why;
        } else if (state == HUB_PUSH_READY && !first.detail[0]) {
            first = laying.doubt;
        }
    }
    if (state == HUB_PUSH_READY && !is_one(&sets) &&
        (folded = hub_push_fold_spaces(p->app, repo, push, &first))) {
        if (is_for_a_moment(folded))
            return hub_pass(folded, &first, err);
        state = HUB_PUSH_REFUSED;
    }
    return hub_push_turn(p->app->truth, push->number, state, first.detail, err);
}

/* HUB_NOT_FOUND: nothing waits. */
static enum hub_status do_next(struct hub_pushes *p, struct hub_error *err)
{
    HUB_CLEANUP(hub_repo_row_dispose) struct hub_repo_row repo = {0};
    HUB_CLEANUP(hub_push_dispose) struct hub_push push = {0};
    HUB_TRY(hub_push_next(p->app->truth, &repo, &push, err));
    return publish(p, &repo, &push, err);
}

/* Old commits, and what came that none takes, or took. */
static void tidy(struct hub_pushes *p)
{
    const int64_t now_ms = hub_time_mono_ms();
    if (p->app->read_only || (p->tidied_ms && now_ms - p->tidied_ms < HOUR_MS))
        return;
    p->tidied_ms = now_ms;
    if (hub_pushes_trim(p->app->truth, p->app->keeping.revisions, hub_time_now_ns() / 1000000 - DAY_MS,
                        NULL) == HUB_OK)
        hub_deposits_tidy(p->app->deposits);
    hub_parts_tidy(p->app->deposits);
    hub_xet_tidy(p->app);
}

static void work(struct hub_pushes *p)
{
    static const struct hub_log_event event = {HUB_LOG_WARNING, "push-waits", NULL};
    enum hub_status st = HUB_OK;
    struct hub_error err = {0};
    tidy(p);
    while (!st && !atomic_load(&p->thread.stop))
        st = do_next(p, &err);
    if (st && st != HUB_NOT_FOUND)
        hub_log_event(p->app->log, &event, "a commit is not inspected yet: %s", err.detail);
    pthread_mutex_lock(&p->thread.lock);
    if (!p->woken && !atomic_load(&p->thread.stop))
        hub_thread_wait(&p->thread, st == HUB_NOT_FOUND ? IDLE_MS : AGAIN_MS);
    p->woken = false;
    pthread_mutex_unlock(&p->thread.lock);
}

static void *run(void *arg)
{
    struct hub_pushes *p = arg;
    while (!atomic_load(&p->thread.stop))
        work(p);
    return NULL;
}

enum hub_status hub_pushes_start(struct hub_app *app, struct hub_pushes **out, struct hub_error *err)
{
    struct hub_pushes *p;
    HUB_TRY(hub_new(&p, 1, sizeof *p, err));
    p->app = app;
    const enum hub_status st = hub_thread_start(&p->thread, run, p, "publishing", err);
    if (st)
        free(p);
    else
        *out = p;
    return st;
}

void hub_pushes_stop(struct hub_pushes *pushes)
{
    if (!pushes)
        return;
    hub_thread_stop(&pushes->thread);
    hub_thread_dispose(&pushes->thread);
    free(pushes);
}

void hub_pushes_wake(struct hub_pushes *pushes)
{
    if (!pushes)
        return;
    pthread_mutex_lock(&pushes->thread.lock);
    pushes->woken = true;
    pthread_cond_signal(&pushes->thread.wake);
    pthread_mutex_unlock(&pushes->thread.lock);
}

enum hub_status hub_push_await(const struct hub_app *app, const char *repo, unsigned ms,
                               struct hub_push *push, struct hub_error *err)
{
    const int64_t until_ms = hub_time_mono_ms() + ms;
    while (push->state == HUB_PUSH_WAITING && hub_time_mono_ms() < until_ms) {
        char id[HUB_COMMIT_ID + 1];
        memcpy(id, push->id, sizeof id);
        nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000}, NULL);
        hub_push_dispose(push);
        HUB_TRY(hub_push_named(app->truth, repo, hub_view_of(id), push, err));
    }
    return HUB_OK;
}
