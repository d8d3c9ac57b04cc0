/* Serve until a signal; one sweep and its summary. */
#include "server/commands/serve.h"

#include "server/api/operations/alerts.h"
#include "server/api/operations/given.h"
#include "server/commands/admin.h"
#include "server/http/server.h"
#include "server/log/log.h"
#include "server/service/announce.h"
#include "server/service/declared_access.h"
#include "server/service/hints.h"
#include "server/service/notify.h"
#include "server/service/service.h"
#include "storage/scan/presence.h"
#include "storage/text/number.h"
#include "storage/text/time.h"
#include "storage/truth/live_access.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum { TICK_MS = 200, HINT_AFTER_MS = 3000 };

/* ---- serve ---- */

/* What a person watching the terminal sees, and what a log of a service gets once. */
struct watcher {
    struct hub_app *app;
    char base_url[300];
    bool terminal, ready, hinted, reported, line_open;
};

static void end_line(struct watcher *watcher)
{
    if (watcher->line_open)
        hub_log_text(watcher->app->log, HUB_VIEW("\r\033[K"));
    watcher->line_open = false;
}

static void show_progress(struct watcher *watcher, const struct hub_scan_progress *progress)
{
    char line[160];
    const int n =
        snprintf(line, sizeof line, "\r\033[Kindexed %" PRIu64 " of %" PRIu64 "  %.50s", progress->inspected,
                 progress->inspected + progress->to_inspect, progress->current);
    hub_log_text(watcher->app->log, (struct hub_view){line, (size_t)n});
    watcher->line_open = true;
}

static void report_datasets(struct watcher *watcher)
{
    static const struct hub_log_event indexed = {HUB_LOG_INFO, "indexed", NULL};
    struct hub_snapshot_totals totals;
    HUB_CLEANUP(hub_snapshot_putp)
    const struct hub_snapshot *snapshot = hub_catalog_snapshot(watcher->app->catalog);
    hub_snapshot_count(snapshot, &totals);
    const uint64_t here = totals.here, ready = totals.by_status[HUB_DATASET_READY];
    end_line(watcher);
    hub_log_event(watcher->app->log, &indexed, "%" PRIu64 " datasets, %" PRIu64 " of them ready, at %s%s",
                  here, ready, watcher->base_url,
                  ready < here ? "; `minari-hub problems` says what is wrong with the others" : "");
    watcher->reported = true;
}

/* Examples for people, as soon as there is something to show: at once where everything is soon indexed, else
 * while the rest goes on. */
static void give_hints(struct watcher *watcher, bool idle)
{
    int64_t age_ms = hub_time_now_ns() / 1000000 - watcher->app->started_ms;
    if (!idle && age_ms < HINT_AFTER_MS)
        return;
    watcher->hinted = hub_log_format(watcher->app->log) == HUB_LOG_JSON;
    if (watcher->hinted)
        return;
    end_line(watcher);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(256 * KIB);
    enum hub_status st = hub_hints_write(watcher->app, watcher->base_url, &text);
    if (st == HUB_NOT_FOUND && idle)
        st = hub_buf_addf(&text, NULL, "Try:\n  curl '%s/api/v1/datasets'\n", watcher->base_url);
    watcher->hinted = !st;
    if (!st)
        hub_log_text(watcher->app->log, hub_buf_view(&text));
}

static void watch(struct watcher *watcher)
{
    struct hub_scan_progress progress;
    if (watcher->hinted && watcher->reported)
        return;
    hub_scanner_progress(watcher->app->scanner, &progress);
    if (!progress.walked)
        return;
    if (!watcher->ready)
        hub_notify("READY=1");
    watcher->ready = true;
    if (progress.idle && !watcher->reported)
        report_datasets(watcher); /* the log writes it before the next tick */
    else if (!watcher->hinted)
        give_hints(watcher, progress.idle);
    if (watcher->terminal && !progress.idle)
        show_progress(watcher, &progress);
}

/* The rules and tokens of the configuration; those of hub.db stay as they are. */
static void reload_access(struct hub_app *app, const struct hub_config *config)
{
    static const struct hub_log_event wrong = {HUB_LOG_ERROR, "access-not-read", NULL},
                                      read = {HUB_LOG_INFO, "access-read", NULL};
    struct hub_error err = {0};
    char text[HUB_GIVEN_CHARS];
    if (hub_access_reload(config, app->access, &err)) {
        hub_log_event(app->log, &wrong, "SIGHUP: %s; rules and tokens stay in force as they were",
                      err.detail);
        return;
    }
    struct hub_access_table *table = hub_live_access_get(app->access);
    hub_access_given(app, table, text);
    hub_access_put(table);
    hub_log_event(app->log, &read, "SIGHUP: %s", text);
    hub_announce_uncovered(app);
}

static void reload(struct hub_app *app, const struct hub_config *config)
{
    static const struct hub_log_event event = {HUB_LOG_INFO, "reload", NULL};
    hub_log_event(app->log, &event, "SIGHUP: scanning the directories");
    hub_scanner_sweep(app->scanner);
    reload_access(app, config);
}

static void run_until_signal(struct watcher *watcher, const struct hub_config *config,
                             const sigset_t *signals)
{
    static const struct hub_log_event stopping = {HUB_LOG_INFO, "stopping", NULL};
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000L};
    int number = 0;
    while (number != SIGTERM && number != SIGINT) {
        number = sigtimedwait(signals, NULL, &tick);
        if (number == SIGHUP)
            reload(watcher->app, config);
        watch(watcher);
    }
    end_line(watcher);
    hub_log_event(watcher->app->log, &stopping,
                  "%s: no new connections; running answers have %" PRIu64 " s to finish (--grace)",
                  number == SIGTERM ? "SIGTERM" : "SIGINT", config->grace_ms / 1000);
}

/* "lab = /data (read only), /more". */
static void roots_text(const struct hub_config *config, struct hub_buf *out)
{
    for (uint32_t i = 0; i < config->roots.count; i++) {
        const struct hub_root *root = &config->roots.roots[i];
        if (hub_buf_addf(out, NULL, "%s%s%s%s%s", i ? ", " : "", root->name ? root->name : "",
                         root->name ? " = " : "", root->path, root->read_only ? " (read only)" : ""))
            return; /* long enough */
    }
}

static void report_start(const struct watcher *watcher, const struct hub_config *config)
{
    static const struct hub_log_event started = {HUB_LOG_INFO, "started", NULL},
                                      rebuilt = {HUB_LOG_WARNING, "index-rebuilt", NULL};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf roots = HUB_BUF_INIT(1500);
    const char *notice = hub_catalog_notice(watcher->app->catalog);
    roots_text(config, &roots);
    hub_log_event(watcher->app->log, &started,
                  "minari-hub " HUB_VERSION " serves %u root%s at %s (%s; state in %s)", config->roots.count,
                  hub_plural(config->roots.count), watcher->base_url, roots.size ? roots.data : "",
                  config->state);
    if (*notice)
        hub_log_event(watcher->app->log, &rebuilt, "%s", notice);
}

/* What others get, where the address is reached from other machines. */
static void report_access(const struct watcher *watcher)
{
    static const struct hub_log_event event = {HUB_LOG_INFO, "access", NULL};
    char text[HUB_GIVEN_CHARS];
    if (!hub_access_beyond_loopback(watcher->app))
        return;
    struct hub_access_table *table = hub_live_access_get(watcher->app->access);
    hub_access_given(watcher->app, table, text);
    hub_log_event(watcher->app->log, &event, "%s%s", text,
                  hub_access_hides(table)
                      ? " (`minari-hub access list` shows the rules)"
                      : " (`minari-hub access set '*' none PREFIX` hides what is not for all)");
    hub_access_put(table);
}

static void set_base_url(struct watcher *watcher, const struct hub_config *config)
{
    if (!config->address) {
        snprintf(watcher->base_url, sizeof watcher->base_url, "%.250s/" HUB_CONTROL_SOCKET, config->state);
        return;
    }
    bool any = strcmp(config->address, "0.0.0.0") == 0 || strcmp(config->address, "::") == 0;
    bool six = !any && strchr(config->address, ':');
    snprintf(watcher->base_url, sizeof watcher->base_url, "http://%s%.250s%s:%u", six ? "[" : "",
             any ? "127.0.0.1" : config->address, six ? "]" : "", hub_http_port(watcher->app->http));
}

/* Nothing runs yet that could write the log. */
static int failed(enum hub_status st, const struct hub_error *err)
{
    const int code = hub_admin_failed(st, err);
    return code == HUB_EXIT_NO_SPACE ? code : HUB_EXIT_FAILED;
}

static void report_limits(const struct hub_service *service, const struct hub_config *config)
{
    static const struct hub_log_event event = {HUB_LOG_WARNING, "connections-limited", NULL};
    if (service->limits.connections < config->connections)
        hub_log_event(service->app.log, &event,
                      "at most %u connections instead of %" PRIu64
                      ": the system allows too few open files (ulimit "
                      "-n, or LimitNOFILE= of the service)",
                      service->limits.connections, config->connections);
}

/* For `minari-hub backup`. A full disk is no reason not to serve. */
static void keep_settings(const struct hub_config *config)
{
    HUB_CLEANUP(hub_freep) char *path = NULL;
    HUB_CLEANUP(hub_freep) char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    hub_config_print(config, out);
    /* without --sync nothing here outlives the machine: it is no hub that is backed up */
    if (fclose(out) == 0 && config->sync && asprintf(&path, "%s/" HUB_SERVING_CONF, config->state) >= 0)
        (void)!hub_fs_write(AT_FDCWD, path, (struct hub_view){text, size}, 0600, NULL);
}

int hub_serve(const struct hub_config *config)
{
    struct hub_service service = {0};
    struct hub_error err = {0};
    struct watcher watcher = {.app = &service.app, .terminal = isatty(STDERR_FILENO)};
    const sigset_t signals = hub_block_signals();
    service.limits = hub_prepare_process(config);
    int code = 0;
    const enum hub_status st = hub_service_open(&service, config, &err);
    if (st) {
        code = failed(st, &err);
    } else {
        keep_settings(config);
        set_base_url(&watcher, config);
        report_start(&watcher, config);
        report_access(&watcher);
        report_limits(&service, config);
        run_until_signal(&watcher, config, &signals);
        hub_notify("STOPPING=1");
    }
    hub_service_close(&service, config, code);
    return code;
}

/* ---- scan ---- */

static void print_summary(struct hub_app *app)
{
    struct hub_snapshot_totals totals;
    char local[HUB_LOCAL_BYTES];
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *snapshot = hub_catalog_snapshot(app->catalog);
    hub_snapshot_count(snapshot, &totals);
    for (uint32_t i = 0; i < snapshot->count; i++) {
        const struct hub_summary *summary = snapshot->summaries[i];
        if (summary->status == HUB_DATASET_READY)
            continue;
        hub_reason_local(app, hub_view_of(summary->reason), local);
        printf("%-11s %s: %s%s%s%s\n", hub_dataset_status_name(summary->status), summary->id, summary->reason,
               *local ? " (" : "", local, *local ? ")" : "");
    }
    printf("%u datasets (%" PRIu64 " ready, %" PRIu64 " broken, %" PRIu64 " unsupported, %" PRIu64
           " pending), %" PRIu64 " episodes, %" PRIu64 " steps, %" PRIu64 " bytes\n",
           snapshot->count, totals.by_status[HUB_DATASET_READY], totals.by_status[HUB_DATASET_BROKEN],
           totals.by_status[HUB_DATASET_UNSUPPORTED], totals.by_status[HUB_DATASET_PENDING], totals.episodes,
           totals.steps, totals.size);
}

static enum hub_status forget_root(struct hub_app *app, const char *text, struct hub_error *err)
{
    uint32_t root;
    return hub_roots_find(app->roots, text, &root)
               ? hub_presence_forget(app->truth, root, err)
               : hub_fail(err, HUB_INVALID, "--forget %.200s: there is no root of this name or directory",
                          text);
}

int hub_scan(const struct hub_config *config)
{
    struct hub_service service = {0};
    struct hub_error err = {0};
    HUB_CLEANUP(hub_freep) char *forget = NULL;
    if (config->forget && strchr(config->forget, '/')) { /* named from here; the hub's directory is another */
        forget = realpath(config->forget, NULL);
        if (!forget) {
            fprintf(stderr, "minari-hub: --forget %s: %s\n", config->forget, strerror(errno));
            return HUB_EXIT_USAGE;
        }
    }
    const char *root = forget ? forget : config->forget;
    const sigset_t signals = hub_block_signals();
    enum hub_status st = hub_admin_scan(config->state, root, &err);
    if (st != HUB_NOT_FOUND)
        return st ? hub_admin_failed(st, &err) : 0;
    service.limits = hub_prepare_process(config);
    int code = 0;
    st = hub_service_open_storage(&service, config, &err);
    if (!st && root)
        st = forget_root(&service.app, root, &err);
    if (!st)
        st = hub_service_start_scanner(&service, config, true, &err);
    if (!st)
        st = hub_service_wait(&service.app, &signals, &err);
    if (st == HUB_CANCELLED)
        code = 130;
    else if (st)
        code = failed(st, &err);
    else
        print_summary(&service.app);
    hub_service_close(&service, config, code);
    return code;
}
