/* Open the long-lived parts, serve until a signal, close them in the reverse order. */
#include "server/serve.h"
#include "server/admin.h"
#include "server/announce.h"
#include "server/api/app.h"
#include "server/api/datasets/documents.h"
#include "server/api/operations/alerts.h"
#include "server/hints.h"
#include "server/http/budget.h"
#include "server/limits.h"
#include "server/mirror/mirror.h"
#include "server/mirror_command.h"
#include "server/notify.h"
#include "server/routes.h"
#include "server/stores.h"
#include "storage/base/lru.h"
#include "storage/catalog/damage.h"
#include "storage/catalog/db.h"
#include "storage/catalog/presence.h"
#include "storage/inspect/inspect.h"
#include "storage/io/fs.h"
#include "storage/net/relay.h"
#include "storage/text/number.h"
#include "storage/text/time.h"
#include "storage/transfer/import.h"

#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { TICK_MS = 200, HINT_AFTER_MS = 3000, DOCUMENT_BYTES = 32 * 1024 * 1024 };

struct parts {
    struct hub_app app;
    struct hub_stores stores;
    struct hub_inspector *inspector;
    struct hub_limits limits;
    struct hub_announcer *announcer;
};

/* ---- the process ---- */

/* Signals are waited for in one place; threads started later inherit the mask. */
static sigset_t block_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    return set;
}

static struct hub_limits prepare_process(const struct hub_config *config)
{
    struct rlimit files = {0};
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    /* answers of a few megabytes (a batch of samples) come and go all the time: keep their memory instead of
     * mapping and unmapping it, which costs a page fault for each 4 KiB of an answer. Larger ones leave holes
     * when they grow, which the memory budget does not know of. */
    (void)mallopt(M_MMAP_THRESHOLD, 4 * 1024 * 1024);
    (void)mallopt(M_TRIM_THRESHOLD, 16 * 1024 * 1024);
    return hub_limits_fit(files.rlim_cur, cores > 0 ? (unsigned)cores : 1, (unsigned)config->connections);
}

/* ---- the parts ---- */

static enum hub_status open_inspector(struct parts *parts, const struct hub_config *config,
                                      struct hub_error *err)
{
    struct hub_inspector_options options = HUB_INSPECTOR_OPTIONS_INIT;
    options.program = config->inspector;
    options.unsafe = config->unsafe_inspect;
    options.cpu_s = (unsigned)((config->inspect_ms + 999) / 1000);
    options.wall_ms = (unsigned)(4 * config->inspect_ms);
    options.memory_bytes = config->inspect_memory;
    return hub_inspector_new(&options, &parts->inspector, err);
}

static bool take_for_client(void *budget, uint32_t client, uint64_t bytes)
{
    return hub_budget_try(budget, client, bytes);
}

static void give_for_client(void *budget, uint32_t client, uint64_t bytes)
{
    hub_budget_give(budget, client, bytes);
}

static enum hub_status start_relay(struct hub_app *app, struct hub_error *err)
{
    const struct hub_relay_memory memory = {take_for_client, give_for_client, app->budget};
    return app->hf_upstream ? hub_relay_start("minari-hub/" HUB_VERSION, &memory, &app->relay, err) : HUB_OK;
}

static bool take_memory(void *budget, uint64_t bytes)
{
    return hub_budget_try(budget, HUB_BUDGET_SHARED, bytes);
}

static void give_memory(void *budget, uint64_t bytes)
{
    hub_budget_give(budget, HUB_BUDGET_SHARED, bytes);
}

static enum hub_status open_storage(struct parts *parts, const struct hub_config *config,
                                    struct hub_error *err)
{
    struct hub_app *app = &parts->app;
    const struct hub_catalog_options catalog = {.state = config->state,
                                                .roots = &config->roots,
                                                .cache_bytes = 64 * MIB,
                                                .take = app->budget ? take_memory : NULL,
                                                .give = give_memory,
                                                .memory = app->budget};
    if (!config->sync)
        hub_db_never_sync();
    app->roots = &config->roots;
    app->state = config->state;
    app->bucket = config->bucket;
    app->author = config->hf_author;
    app->hf_upstream = config->hf_upstream;
    app->started_ms = hub_time_now_ns() / 1000000;
    hub_fs_user(app->user);
    HUB_TRY(hub_stores_open(&catalog, &parts->stores, err));
    app->catalog = parts->stores.catalog;
    app->truth = parts->stores.truth;
    const struct hub_store_options store = {.roots = &config->roots,
                                            .state = config->state,
                                            .max_open = parts->limits.files,
                                            .admit = hub_damage_admit,
                                            .user = app->truth};
    HUB_TRY(hub_store_open(&store, &app->store, err));
    return open_inspector(parts, config, err);
}

static enum hub_status start_scanner(struct parts *parts, const struct hub_config *config, bool once,
                                     struct hub_error *err)
{
    struct hub_app *app = &parts->app;
    uint64_t sweep_s = (config->sweep_ms + 999) / 1000;
    const struct hub_scanner_options options = {.catalog = app->catalog,
                                                .truth = app->truth,
                                                .store = app->store,
                                                .inspector = parts->inspector,
                                                .roots = app->roots,
                                                .state = config->state,
                                                .settle_ms = (unsigned)config->settle_ms,
                                                .sweep_s = once ? 0 : (unsigned)sweep_s,
                                                .watch = !once,
                                                .tell = hub_announce_scan,
                                                .user = app};
    return hub_scanner_start(&options, &app->scanner, err);
}

/* Of those over TCP; over the control socket asks the admin, who can wait. */
static bool count_requests(void *user, uint64_t *served)
{
    const struct hub_app *app = user;
    struct hub_http_gauges g;
    hub_http_gauges(app->http, &g);
    *served = g.begun;
    return g.queue_depth > 0 || hub_budget_awaited(app->budget);
}

static void log_lost(void *user, const char *dataset, const struct hub_found_problem *problem)
{
    const struct hub_app *app = user;
    const struct hub_log_event event = {HUB_LOG_WARNING, problem->code, dataset};
    hub_log_event(app->log, &event, "%s: %s (`minari-hub problems` lists all)", problem->path,
                  problem->detail);
}

static enum hub_status start_measurer(struct hub_app *app, const struct hub_config *config,
                                      struct hub_error *err)
{
    static const char *const modes[] = {"idle", "on-demand", "off"};
    const struct hub_measurer_options options = {.catalog = app->catalog,
                                                 .store = app->store,
                                                 .idle = config->measure == HUB_MEASURE_IDLE,
                                                 .requests = config->address ? count_requests : NULL,
                                                 .lost = log_lost,
                                                 .user = app,
                                                 .take = take_memory,
                                                 .give = give_memory,
                                                 .memory = app->budget};
    app->measure = modes[config->measure];
    return config->measure == HUB_MEASURE_OFF ? HUB_OK : hub_measurer_start(&options, &app->measurer, err);
}

static enum hub_status start_mirrors(struct hub_app *app, const struct hub_config *config,
                                     struct hub_error *err)
{
    HUB_TRY(hub_mirror_configure(config, app->truth, err));
    const struct hub_mirrors_options options = {.catalog = app->catalog,
                                                .truth = app->truth,
                                                .scanner = app->scanner,
                                                .hasher = app->hasher,
                                                .roots = app->roots,
                                                .state = app->state,
                                                .cache_max = config->cache_max,
                                                .min_free = config->min_free,
                                                .take = take_memory,
                                                .give = give_memory,
                                                .memory = app->budget,
                                                .tell = hub_announce_mirror,
                                                .user = app};
    return hub_mirrors_start(&options, &app->mirrors, err);
}

static struct hub_words words_of(const struct hub_list *list)
{
    return (struct hub_words){(const char *const *)list->items, list->count};
}

static enum hub_status start_http(struct parts *parts, const struct hub_config *config, struct hub_error *err)
{
    struct hub_app *app = &parts->app;
    const struct hub_http_options options = {.app = app,
                                             .routes = hub_routes,
                                             .protocols = hub_protocols,
                                             .budget = app->budget,
                                             .address = config->address,
                                             .control = config->address ? NULL : config->state,
                                             .port = config->port,
                                             .event_threads = (unsigned)config->event_threads,
                                             .workers = (unsigned)config->workers,
                                             .queue = (unsigned)config->queue,
                                             .connections = parts->limits.connections,
                                             .connections_per_client =
                                                 (unsigned)config->connections_per_client,
                                             .access = {.cors = words_of(&config->cors),
                                                        .hosts = words_of(&config->hosts),
                                                        .proxies = words_of(&config->trusted_proxies),
                                                        .public_url = config->public_url},
                                             .log = config->access_log ? app->log : NULL};
    return hub_http_start(&options, &app->http, err);
}

/* The same routes, and those marked local, for the admin of this machine: few connections, one thread. Without an address
 * all of the hub is there. */
static enum hub_status start_control(struct parts *parts, const struct hub_config *config,
                                     struct hub_error *err)
{
    struct hub_app *app = &parts->app;
    const struct hub_http_options options = {.app = app,
                                             .routes = hub_routes,
                                             .protocols = hub_protocols,
                                             .budget = app->budget,
                                             .control = config->state,
                                             .event_threads = 1,
                                             .workers = 1,
                                             .queue = 64,
                                             .connections = parts->limits.control};
    return hub_http_start(&options, &app->control, err);
}

/* What imports left that were killed. */
static void tidy_roots(const struct hub_roots *roots)
{
    for (uint32_t i = 0; i < roots->count; i++) {
        HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
        if (!roots->roots[i].read_only && !hub_private_open(roots->roots[i].path, false, &place, NULL))
            hub_import_tidy(&place);
    }
}

static enum hub_status open_all(struct parts *parts, const struct hub_config *config, struct hub_error *err)
{
    struct hub_app *app = &parts->app;
    HUB_TRY(hub_log_start(STDERR_FILENO, (enum hub_log_format)config->log_format, &app->log, err));
    app->budget = hub_budget_new(config->memory);
    HUB_TRY(hub_allocated(app->budget, err));
    HUB_TRY(open_storage(parts, config, err));
    HUB_TRY(hub_lru_new(DOCUMENT_BYTES, &app->documents, err));
    if (config->hash != HUB_HASH_OFF)
        HUB_TRY(hub_hasher_start(app->catalog, app->truth, app->store, config->hash == HUB_HASH_IDLE,
                                 &app->hasher, err));
    HUB_TRY(start_scanner(parts, config, false, err));
    tidy_roots(app->roots);
    HUB_TRY(start_mirrors(app, config, err));
    HUB_TRY(start_relay(app, err));
    HUB_TRY(start_http(parts, config, err));
    HUB_TRY(start_measurer(app, config, err));
    if (config->address)
        HUB_TRY(start_control(parts, config, err));
    return hub_announcer_start(app, &parts->announcer, err);
}

/* Each takes NULL, so this also cleans up after a start that failed half way. The process ends here where a
 * thread hangs on a disk: it reads the configuration when the disk answers. */
static void close_all(struct parts *parts, const struct hub_config *config, int code)
{
    struct hub_app *app = &parts->app;
    const bool hangs = !hub_announcer_stop(parts->announcer); /* first: it looks at all the others */
    hub_measurer_stop(app->measurer);                         /* looks at requests */
    hub_http_stop(app->http, (unsigned)config->grace_ms);
    hub_http_stop(app->control, (unsigned)config->grace_ms);
    hub_measurer_free(app->measurer);
    hub_relay_stop(app->relay);
    hub_mirrors_stop(app->mirrors);
    if (app->scanner)
        hub_scanner_stop(app->scanner);
    if (app->hasher)
        hub_hasher_stop(app->hasher);
    hub_inspector_free(parts->inspector);
    hub_lru_free(app->documents);
    if (app->store)
        hub_store_close(app->store);
    hub_stores_close(&parts->stores);
    hub_budget_free(app->budget);
    hub_log_event(app->log, &(struct hub_log_event){HUB_LOG_INFO, "stopped", NULL}, "minari-hub has ended");
    hub_log_stop(app->log);
    if (hangs)
        _exit(code);
}

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

static void tell_datasets(struct watcher *watcher)
{
    static const struct hub_log_event indexed = {HUB_LOG_INFO, "indexed", NULL};
    uint32_t ready = 0, here = 0;
    HUB_CLEANUP(hub_snapshot_putp)
    const struct hub_snapshot *snapshot = hub_catalog_snapshot(watcher->app->catalog);
    for (uint32_t i = 0; i < snapshot->count; i++) {
        ready += snapshot->summaries[i]->status == HUB_DATASET_READY;
        here += snapshot->summaries[i]->status != HUB_DATASET_REMOTE;
    }
    end_line(watcher);
    hub_log_event(watcher->app->log, &indexed, "%u datasets, %u of them ready, at %s%s", here, ready,
                  watcher->base_url,
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
        tell_datasets(watcher); /* the log writes it before the next tick */
    else if (!watcher->hinted)
        give_hints(watcher, progress.idle);
    if (watcher->terminal && !progress.idle)
        show_progress(watcher, &progress);
}

static void reload(struct hub_app *app)
{
    static const struct hub_log_event event = {HUB_LOG_INFO, "reload", NULL};
    hub_log_event(app->log, &event, "SIGHUP: looking through the directories");
    hub_scanner_sweep(app->scanner);
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
            reload(watcher->app);
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

static void tell_start(const struct watcher *watcher, const struct hub_config *config)
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

static void tell_limits(const struct parts *parts, const struct hub_config *config)
{
    static const struct hub_log_event event = {HUB_LOG_WARNING, "connections-limited", NULL};
    if (parts->limits.connections < config->connections)
        hub_log_event(parts->app.log, &event,
                      "at most %u connections instead of %" PRIu64
                      ": the system allows too few open files (ulimit "
                      "-n, or LimitNOFILE= of the service)",
                      parts->limits.connections, config->connections);
}

int hub_serve(const struct hub_config *config)
{
    struct parts parts = {0};
    struct hub_error err = {0};
    struct watcher watcher = {.app = &parts.app, .terminal = isatty(STDERR_FILENO)};
    const sigset_t signals = block_signals();
    parts.limits = prepare_process(config);
    int code = 0;
    const enum hub_status st = open_all(&parts, config, &err);
    if (st) {
        code = failed(st, &err);
    } else {
        set_base_url(&watcher, config);
        tell_start(&watcher, config);
        tell_limits(&parts, config);
        run_until_signal(&watcher, config, &signals);
        hub_notify("STOPPING=1");
    }
    close_all(&parts, config, code);
    return code;
}

/* ---- scan ---- */

static void print_summary(struct hub_app *app)
{
    uint64_t counts[HUB_DATASET_REMOTE + 1] = {0}, episodes = 0, steps = 0, size = 0;
    char local[HUB_LOCAL_BYTES];
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *snapshot = hub_catalog_snapshot(app->catalog);
    for (uint32_t i = 0; i < snapshot->count; i++) {
        const struct hub_summary *summary = snapshot->summaries[i];
        counts[summary->status]++;
        episodes += summary->episodes;
        steps += summary->steps;
        size += summary->size;
        if (summary->status == HUB_DATASET_READY)
            continue;
        hub_reason_local(app, hub_view_of(summary->reason), local);
        printf("%-11s %s: %s%s%s%s\n", hub_dataset_status_name(summary->status), summary->id, summary->reason,
               *local ? " (" : "", local, *local ? ")" : "");
    }
    printf("%u datasets (%" PRIu64 " ready, %" PRIu64 " broken, %" PRIu64 " unsupported, %" PRIu64
           " pending), %" PRIu64 " episodes, %" PRIu64 " steps, %" PRIu64 " bytes\n",
           snapshot->count, counts[HUB_DATASET_READY], counts[HUB_DATASET_BROKEN],
           counts[HUB_DATASET_UNSUPPORTED], counts[HUB_DATASET_PENDING], episodes, steps, size);
}

static enum hub_status check_space(const struct hub_app *app, struct hub_error *err)
{
    struct hub_scan_progress progress;
    uint64_t free_bytes = 0;
    hub_scanner_progress(app->scanner, &progress);
    (void)!hub_fs_free_bytes(app->state, &free_bytes, NULL);
    return progress.no_space ? hub_admin_no_space(app->state, free_bytes, err) : HUB_OK;
}

/* Until all is looked at; HUB_CANCELLED: a signal came. */
static enum hub_status wait_for_scan(struct hub_app *app, const sigset_t *signals, struct hub_error *err)
{
    const struct timespec now = {0};
    for (bool over = false; !over;) {
        over = hub_scanner_wait(app->scanner, TICK_MS);
        HUB_TRY(check_space(app, err));
        if (sigtimedwait(signals, NULL, &now) > 0)
            return hub_fail(err, HUB_CANCELLED, "interrupted");
    }
    return HUB_OK;
}

enum hub_status hub_without_sockets(const struct hub_config *config,
                                    enum hub_status (*fn)(struct hub_app *app, void *user,
                                                          struct hub_error *err),
                                    void *user, struct hub_error *err)
{
    struct parts parts = {0};
    struct hub_app *app = &parts.app;
    const sigset_t signals = block_signals();
    parts.limits = prepare_process(config);
    app->budget = hub_budget_new(config->memory);
    enum hub_status st = hub_allocated(app->budget, err);
    if (!st)
        st = open_storage(&parts, config, err);
    if (!st && config->hash != HUB_HASH_OFF)
        st = hub_hasher_start(app->catalog, app->truth, app->store, false, &app->hasher, err);
    if (!st)
        st = start_scanner(&parts, config, true, err);
    if (!st)
        st = wait_for_scan(app, &signals, err);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    if (!st)
        st = fn(app, user, err);
    close_all(&parts, config, st ? HUB_EXIT_FAILED : 0);
    return st;
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
    struct parts parts = {0};
    struct hub_error err = {0};
    const sigset_t signals = block_signals();
    enum hub_status st = hub_admin_scan(config->state, config->forget, &err);
    if (st != HUB_NOT_FOUND)
        return st ? hub_admin_failed(st, &err) : 0;
    parts.limits = prepare_process(config);
    int code = 0;
    st = open_storage(&parts, config, &err);
    if (!st && config->forget)
        st = forget_root(&parts.app, config->forget, &err);
    if (!st)
        st = start_scanner(&parts, config, true, &err);
    if (!st)
        st = wait_for_scan(&parts.app, &signals, &err);
    if (st == HUB_CANCELLED)
        code = 130;
    else if (st)
        code = failed(st, &err);
    else
        print_summary(&parts.app);
    close_all(&parts, config, code);
    return code;
}
