/* The log's view of the catalogue: what changed between two snapshots, and between two looks at the
 * alerts; now and then old drafts and revisions end. */
#include "server/service/announce.h"

#include "server/api/drafts/tidy.h"
#include "server/api/operations/alerts.h"
#include "server/http/server.h"
#include "server/mirror/uncovered.h"
#include "storage/base/thread.h"
#include "storage/ids/id.h"
#include "storage/truth/live_access.h"
#include "storage/truth/rules.h"

#include <stdlib.h>

enum { TICK_MS = 200, ALERT_TICKS = 10 };

/* A dataset that cannot be served, as it was logged last. Sorted as in a snapshot. */
struct blocked {
    char *id, *reason;
    uint32_t root;
};

struct blocked_list {
    struct blocked *items;
    uint32_t count;
};

struct hub_announcer {
    struct hub_app *app;
    struct hub_thread thread; /* it holds its lock while it touches the app */
    uint64_t generation;
    struct blocked_list logged;
    struct hub_alerts alerts, now;
};

static void list_free(struct blocked_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        free(list->items[i].id);
        free(list->items[i].reason);
    }
    free(list->items);
    *list = (struct blocked_list){0};
}

static bool is_blocked(const struct hub_summary *summary)
{
    return summary->status == HUB_DATASET_BROKEN || summary->status == HUB_DATASET_UNSUPPORTED;
}

/* False: out of memory; the next tick tries again. */
static bool list_blocked(const struct hub_snapshot *snapshot, struct blocked_list *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < snapshot->count; i++)
        count += is_blocked(snapshot->summaries[i]);
    out->items = calloc(count + (size_t)1, sizeof *out->items);
    for (uint32_t i = 0; out->items && i < snapshot->count && out->count < count; i++) {
        const struct hub_summary *summary = snapshot->summaries[i];
        if (!is_blocked(summary))
            continue;
        struct blocked *b = &out->items[out->count++];
        *b = (struct blocked){strdup(summary->id), strdup(summary->reason), summary->root};
        if (!b->id || !b->reason)
            break;
    }
    if (out->items && (count == 0 || (out->count == count && out->items[count - 1].reason)))
        return true;
    list_free(out);
    return false;
}

static int compare(const struct blocked *a, const struct blocked *b)
{
    const int by_id = hub_id_compare(hub_view_of(a->id), hub_view_of(b->id));
    return by_id ? by_id : (a->root > b->root) - (a->root < b->root);
}

static void log_blocked(struct hub_app *app, const struct hub_snapshot *snapshot, const struct blocked *b)
{
    const struct hub_summary *summary = hub_snapshot_find(snapshot, hub_view_of(b->id));
    const bool broken = !summary || summary->status == HUB_DATASET_BROKEN;
    const struct hub_log_event event = {HUB_LOG_WARNING, broken ? "dataset-broken" : "dataset-unsupported",
                                        b->id};
    char local[HUB_LOCAL_BYTES];
    hub_reason_local(app, hub_view_of(b->reason), local);
    if (*local) /* and so they cannot be downloaded either */
        hub_log_event(app->log, &event, "%s (%s; `minari-inspect` shows more)", b->reason, local);
    else
        hub_log_event(app->log, &event, "%s (its files can still be downloaded; `minari-inspect` shows more)",
                      b->reason);
}

static void log_recovered(struct hub_app *app, const struct hub_snapshot *snapshot, const struct blocked *b)
{
    const struct hub_summary *summary = hub_snapshot_find(snapshot, hub_view_of(b->id));
    const struct hub_log_event event = {HUB_LOG_INFO, summary ? "dataset-well" : "dataset-gone", b->id};
    hub_log_event(app->log, &event,
                  summary ? "it is no longer broken, but %s" : "it was broken and no longer exists",
                  summary ? hub_dataset_status_name(summary->status) : "");
}

static void announce_datasets(struct hub_announcer *a)
{
    HUB_CLEANUP(hub_snapshot_putp)
    const struct hub_snapshot *snapshot = hub_catalog_snapshot(a->app->catalog);
    struct blocked_list now = {0};
    if (snapshot->generation == a->generation || !list_blocked(snapshot, &now))
        return;
    a->generation = snapshot->generation;
    for (uint32_t i = 0, j = 0; i < now.count || j < a->logged.count;) {
        const int order = i == now.count         ? 1
                          : j == a->logged.count ? -1
                                                 : compare(&now.items[i], &a->logged.items[j]);
        if (order < 0 || (order == 0 && strcmp(now.items[i].reason, a->logged.items[j].reason) != 0))
            log_blocked(a->app, snapshot, &now.items[i]);
        else if (order > 0)
            log_recovered(a->app, snapshot, &a->logged.items[j]);
        i += order <= 0;
        j += order >= 0;
    }
    list_free(&a->logged);
    a->logged = now;
}

static const struct hub_alert *find(const struct hub_alerts *in, const struct hub_alert *like)
{
    for (unsigned i = 0; i < in->count; i++)
        if (strcmp(in->items[i].code, like->code) == 0 && strcmp(in->items[i].key, like->key) == 0)
            return &in->items[i];
    return NULL;
}

/* A look at a disk may take for ever: the lock is given back for it, and the app may be gone behind it. */
static void announce_alerts(struct hub_announcer *a)
{
    const struct hub_roots *roots = a->app->roots;
    const char *state = a->app->state;
    pthread_mutex_unlock(&a->thread.lock);
    hub_alerts_look(roots, state, &a->now);
    pthread_mutex_lock(&a->thread.lock);
    if (a->thread.stop)
        return;
    hub_alerts_add(a->app, &a->now);
    for (unsigned i = 0; i < a->now.count; i++) {
        const struct hub_alert *alert = &a->now.items[i];
        const struct hub_log_event event = {HUB_LOG_WARNING, alert->code, NULL};
        if (!find(&a->alerts, alert))
            hub_log_event(a->app->log, &event, "%s%s%s%s", alert->detail, *alert->local ? " (" : "",
                          alert->local, *alert->local ? ")" : "");
    }
    for (unsigned i = 0; i < a->alerts.count; i++) {
        const struct hub_alert *alert = &a->alerts.items[i];
        const struct hub_log_event event = {HUB_LOG_INFO, "alert-over", NULL};
        if (!find(&a->now, alert))
            hub_log_event(a->app->log, &event, "%s is over", alert->code);
    }
    a->alerts = a->now;
}

static void announce_proxy(struct hub_announcer *a)
{
    static const struct hub_log_event event = {HUB_LOG_WARNING, "proxy-not-trusted", NULL};
    char proxy[HUB_ADDRESS_CHARS];
    if (hub_http_untrusted_proxy(a->app->http, proxy))
        hub_log_event(
            a->app->log, &event,
            "%s passes on the requests of several clients (X-Forwarded-For); they share one turn and one "
            "share of the memory because it is not trusted: if it is your proxy, set --trusted-proxies %s",
            proxy, proxy);
}

static void *run(void *arg)
{
    struct hub_announcer *a = arg;
    pthread_mutex_lock(&a->thread.lock);
    for (unsigned tick = 0; !a->thread.stop; tick++) {
        announce_datasets(a);
        announce_proxy(a);
        if (tick % ALERT_TICKS == 0)
            announce_alerts(a);
        if (!a->thread.stop)
            hub_thread_wait(&a->thread, TICK_MS);
    }
    pthread_mutex_unlock(&a->thread.lock);
    return NULL;
}

enum hub_status hub_announcer_start(struct hub_app *app, struct hub_announcer **out, struct hub_error *err)
{
    struct hub_announcer *a;
    HUB_TRY(hub_new(&a, 1, sizeof *a, err));
    a->app = app;
    a->generation = UINT64_MAX;
    const enum hub_status st = hub_thread_start(&a->thread, run, a, "announcements", err);
    if (st)
        free(a);
    else
        *out = a;
    return st;
}

bool hub_announcer_stop(struct hub_announcer *a)
{
    if (!a)
        return true;
    if (!hub_thread_stop_within(&a->thread, 1000))
        return false; /* it hangs on a disk: what it holds goes with the process */
    list_free(&a->logged);
    hub_thread_dispose(&a->thread);
    free(a);
    return true;
}

void hub_announce_scan(void *user, const struct hub_scan_event *event)
{
    static const struct {
        enum hub_log_level level;
        const char *name, *remedy;
    } known[] = {
        [HUB_SCAN_PUT_OFF] = {HUB_LOG_WARNING, "inspection-put-off", "the hub tries again"},
        [HUB_SCAN_GAVE_UP] =
            {HUB_LOG_ERROR, "inspection-given-up",
             "the hub tries again after a change, on SIGHUP or `minari-hub scan`, and at the next start"},
        [HUB_SCAN_TROUBLE] = {HUB_LOG_ERROR, "sweep-ended-early", "the hub tries again"},
    };
    const struct hub_app *app = user;
    if ((size_t)event->kind >= HUB_COUNT(known) || !known[event->kind].name)
        return;
    const struct hub_log_event line = {known[event->kind].level, known[event->kind].name,
                                       *event->id ? event->id : NULL};
    hub_log_event(app->log, &line, "%s; %s", event->detail, known[event->kind].remedy);
}

void hub_announce_mirror(void *user, const struct hub_mirror_event *event)
{
    static const struct {
        enum hub_log_level level;
        const char *name;
    } known[] = {[HUB_MIRROR_COPIED] = {HUB_LOG_INFO, "mirrored"},
                 [HUB_MIRROR_REMOVED] = {HUB_LOG_INFO, "mirror-removed"},
                 [HUB_MIRROR_KEPT] = {HUB_LOG_WARNING, "mirror-kept"},
                 [HUB_MIRROR_LEFT] = {HUB_LOG_WARNING, "mirror-left-out"},
                 [HUB_MIRROR_FAILED] = {HUB_LOG_WARNING, "mirror-failed"},
                 [HUB_MIRROR_SYNCED] = {HUB_LOG_INFO, "mirror-listed"},
                 [HUB_CHECK_DAMAGED] = {HUB_LOG_ERROR, "file-damaged"},
                 [HUB_CHECK_REPAIRED] = {HUB_LOG_INFO, "file-repaired"}};
    const struct hub_app *app = user;
    const struct hub_log_event line = {known[event->kind].level, known[event->kind].name,
                                       *event->id ? event->id : NULL};
    hub_log_event(app->log, &line, "%s%s%s%s", *event->rule ? "rule " : "", event->rule,
                  *event->rule ? ": " : "", event->detail);
}

struct uncovered {
    const struct hub_app *app;
    const struct hub_access_table *table;
};

static enum hub_status announce_uncovered(void *user, const struct hub_rule *rule, struct hub_error *err)
{
    const struct uncovered *u = user;
    const struct hub_log_event line = {HUB_LOG_WARNING, "mirror-open", NULL};
    char note[HUB_MIRROR_NOTE] = "";
    (void)err;
    if (hub_mirror_uncovered(rule->spec, u->app->roots, u->table, note))
        hub_log_event(u->app->log, &line, "rule %s: %s", rule->name, note);
    return HUB_OK;
}

void hub_announce_uncovered(const struct hub_app *app)
{
    struct hub_access_table *table = hub_live_access_get(app->access);
    struct uncovered u = {app, table};
    (void)!hub_rules_each(app->truth, announce_uncovered, &u, NULL); /* a failure shows in their passes */
    hub_access_put(table);
}
