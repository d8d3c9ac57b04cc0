/* What is over goes: see tidier.h. */
#include "server/service/tidier.h"

#include "server/api/drafts/tidy.h"
#include "storage/base/thread.h"
#include "storage/io/roots.h"
#include "storage/text/time.h"
#include "storage/transfer/removed.h"

#include <stdlib.h>

enum { TICK_MS = 5000, HOUR_MS = 3600 * 1000, STOP_MS = 1000 };

struct hub_tidier {
    struct hub_thread thread;
    struct hub_app *app;
};

static void empty_removed(struct hub_tidier *tidier)
{
    const struct hub_roots *roots = tidier->app->roots;
    for (uint32_t i = 0; i < roots->count && !tidier->thread.stop; i++) {
        HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
        if (!roots->roots[i].read_only && !hub_private_open(roots->roots[i].path, false, &place, NULL))
            (void)!hub_removed_empty(&place, &tidier->thread.stop, NULL); /* else with the next tick */
    }
}

static void *run(void *arg)
{
    struct hub_tidier *tidier = arg;
    struct hub_thread *thread = &tidier->thread;
    int64_t due_ms = 0;
    pthread_mutex_lock(&thread->lock);
    while (!thread->stop) {
        pthread_mutex_unlock(&thread->lock);
        if (hub_time_mono_ms() >= due_ms) {
            hub_drafts_tidy(tidier->app, &thread->stop);
            due_ms = hub_time_mono_ms() + HOUR_MS;
        }
        empty_removed(tidier);
        pthread_mutex_lock(&thread->lock);
        if (!thread->stop)
            hub_thread_wait(thread, TICK_MS);
    }
    pthread_mutex_unlock(&thread->lock);
    return NULL;
}

enum hub_status hub_tidier_start(struct hub_app *app, struct hub_tidier **out, struct hub_error *err)
{
    struct hub_tidier *tidier;
    HUB_TRY(hub_new(&tidier, 1, sizeof *tidier, err));
    tidier->app = app;
    const enum hub_status st = hub_thread_start(&tidier->thread, run, tidier, "the removal of files", err);
    if (st)
        free(tidier);
    else
        *out = tidier;
    return st;
}

bool hub_tidier_stop(struct hub_tidier *tidier)
{
    if (!tidier)
        return true;
    if (!hub_thread_stop_within(&tidier->thread, STOP_MS))
        return false;
    hub_thread_dispose(&tidier->thread);
    free(tidier);
    return true;
}
