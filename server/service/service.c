/* Open the long-lived parts of a hub, close them in the reverse order: see service.h. */
#include "server/service/service.h"

#include "server/api/drafts/keep.h"
#include "server/api/drafts/rename.h"
#include "server/api/drafts/tidy.h"
#include "server/api/hooks.h"
#include "server/api/operations/alerts.h"
#include "server/api/pushes/pushes.h"
#include "server/api/visible.h"
#include "server/http/budget.h"
#include "server/http/server.h"
#include "server/mirror/edited.h"
#include "server/mirror/mirror.h"
#include "server/service/announce.h"
#include "server/service/declared_access.h"
#include "server/service/mirror_rules.h"
#include "server/service/routes.h"
#include "server/service/sockets.h"
#include "server/service/tidier.h"
#include "storage/base/lru.h"
#include "storage/inspect/inspect.h"
#include "storage/net/relay.h"
#include "storage/sqlite/db.h"
#include "storage/text/time.h"
#include "storage/transfer/import.h"
#include "storage/transfer/publish.h"
#include "storage/truth/damage.h"
#include "storage/truth/live_access.h"

#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { TICK_MS = 200 };
/* What each cache may hold where requests leave it. */
#define ANSWER_BYTES (32 * MIB)
#define DECODED_BYTES (32 * MIB)
#define LEVEL_BYTES (64 * MIB)
#define CATALOGUE_BYTES (64 * MIB)

/* ---- the process ---- */

/* Signals are waited for in one place; threads started later inherit the mask. */
sigset_t hub_block_signals(void)
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

struct hub_limits hub_prepare_process(const struct hub_config *config)
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
    (void)mallopt(M_MMAP_THRESHOLD, 8 * 1024 * 1024);
    (void)mallopt(M_TRIM_THRESHOLD, 16 * 1024 * 1024);
    return hub_limits_fit(files.rlim_cur, cores > 0 ? (unsigned)cores : 1, (unsigned)config->connections);
}

/* ---- the parts ---- */

static enum hub_status open_inspector(struct hub_service *service, const struct hub_config *config,
                                      struct hub_error *err)
{
    struct hub_inspector_options options = HUB_INSPECTOR_OPTIONS_INIT;
    options.program = config->inspector;
    options.unsafe = config->unsafe_inspect;
    options.cpu_s = (unsigned)((config->inspect_ms + 999) / 1000);
    options.wall_ms = (unsigned)(4 * config->inspect_ms);
    options.memory_bytes = config->inspect_memory;
    return hub_inspector_new(&options, &service->inspector, err);
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

static enum hub_status start_access(struct hub_service *service, const struct hub_config *config,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_declared_access_dispose) struct hub_declared_access declared = {0};
    HUB_TRY(hub_access_declare(config, true, &declared, err));
    return hub_live_access_start(&(struct hub_live_access_options){.truth = service->app.truth,
                                                                   .declared = &declared,
                                                                   .audit_keep_ms = config->audit_keep_ms},
                                 &service->app.access, err);
}

static enum hub_status open_cache(struct hub_app *app, const char *name, size_t bytes, struct hub_lru **out,
                                  struct hub_error *err)
{
    HUB_TRY(hub_lru_new(bytes, out, err));
    hub_lru_enter(*out, &app->caches, name);
    return HUB_OK;
}

static enum hub_status open_caches(struct hub_app *app, struct hub_error *err)
{
    atomic_store(&app->caches.limit, SIZE_MAX);
    if (app->budget)
        hub_budget_share(app->budget, &app->caches);
    HUB_TRY(open_cache(app, "answers", ANSWER_BYTES, &app->answers, err));
    HUB_TRY(open_cache(app, "decoded", DECODED_BYTES, &app->decoded, err));
    return open_cache(app, "levels", LEVEL_BYTES, &app->levels, err);
}

static void set_quotas(struct hub_service *service, const struct hub_config *config)
{
    service->quotas = (struct hub_quotas){service->quota_items, config->quota_texts.count};
    for (uint32_t i = 0; i < config->quota_texts.count; i++)
        service->quota_items[i] = (struct hub_quota){config->quota_prefixes[i], config->quota_bytes[i]};
    hub_truth_set_quotas(service->app.truth, &service->quotas);
}

enum hub_status hub_service_open_storage(struct hub_service *service, const struct hub_config *config,
                                         struct hub_error *err)
{
    struct hub_app *app = &service->app;
    HUB_TRY(open_caches(app, err));
    const struct hub_catalog_options catalog = {.state = config->state,
                                                .roots = &config->roots,
                                                .cache_bytes = CATALOGUE_BYTES,
                                                .room = &app->caches,
                                                .decoded = app->decoded,
                                                .levels = app->levels,
                                                .take = app->budget ? take_memory : NULL,
                                                .give = give_memory,
                                                .memory = app->budget};
    if (!config->sync)
        hub_db_never_sync();
    app->roots = &config->roots;
    app->state = config->state;
    app->address = config->address;
    app->bucket = config->bucket;
    app->author = config->hf_author;
    app->hf_upstream = config->hf_upstream;
    app->started_ms = hub_time_now_ns() / 1000000;
    hub_fs_user(app->user);
    HUB_TRY(hub_stores_open(&catalog, &service->stores, err));
    app->catalog = service->stores.catalog;
    app->truth = service->stores.truth;
    set_quotas(service, config);
    const struct hub_store_options store = {.roots = &config->roots,
                                            .state = config->state,
                                            .max_open = service->limits.files,
                                            .admit = hub_damage_admit,
                                            .user = app->truth};
    HUB_TRY(hub_store_open(&store, &app->store, err));
    HUB_TRY(open_inspector(service, config, err));
    app->inspector = service->inspector;
    app->min_free = config->min_free;
    service->deposits = (struct hub_deposits){.truth = app->truth,
                                              .roots = &config->roots,
                                              .budget_bytes = config->upload_cache,
                                              .spare_bytes = config->min_free};
    app->deposits = &service->deposits;
    app->read_only = config->read_only;
    app->upload_part = config->upload_part;
    app->refuse_broken = config->refuse_broken.items;
    app->refuse_broken_count = config->refuse_broken.count;
    app->keeping = (struct hub_keeping){config->keep_revisions, config->trash_ms};
    return HUB_OK;
}

enum hub_status hub_service_start_scanner(struct hub_service *service, const struct hub_config *config,
                                          bool once, struct hub_error *err)
{
    struct hub_app *app = &service->app;
    uint64_t sweep_s = (config->sweep_ms + 999) / 1000;
    const struct hub_scanner_options options = {.catalog = app->catalog,
                                                .truth = app->truth,
                                                .store = app->store,
                                                .inspector = service->inspector,
                                                .roots = app->roots,
                                                .state = config->state,
                                                .settle_ms = (unsigned)config->settle_ms,
                                                .sweep_s = once ? 0 : (unsigned)sweep_s,
                                                .watch = !once,
                                                .notify = hub_announce_scan,
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
                                                .notify = hub_announce_mirror,
                                                .user = app};
    return hub_mirrors_start(&options, &app->mirrors, err);
}

static enum hub_status open_figures(struct hub_service *service, struct hub_error *err)
{
    service->routes = hub_routes_with_open_figures();
    return hub_allocated(service->routes, err);
}

static void log_damaged(void *user, const char *id, const char *detail)
{
    hub_announce_mirror(user, &(struct hub_mirror_event){HUB_CHECK_DAMAGED, "", id, detail});
}

static void look_for_edit(void *user, const struct hub_hash_result *file)
{
    const struct hub_app *app = user;
    hub_edited_look(app->truth, app->roots, file);
}

static void log_unread(void *user, const char *id, const char *detail)
{
    const struct hub_app *app = user;
    hub_log_event(app->log, &(struct hub_log_event){HUB_LOG_ERROR, "file-not-hashed", *id ? id : NULL}, "%s",
                  detail);
}

static enum hub_status start_hasher(struct hub_app *app, const struct hub_config *config, bool idle,
                                    struct hub_error *err)
{
    const struct hub_hasher_options options = {.catalog = app->catalog,
                                               .truth = app->truth,
                                               .store = app->store,
                                               .idle = idle,
                                               .damaged = log_damaged,
                                               .hashed = look_for_edit,
                                               .unread = log_unread,
                                               .user = app};
    return config->hash == HUB_HASH_OFF ? HUB_OK : hub_digest_queue_start(&options, &app->hasher, err);
}

/* What imports left that were killed. */
static void tidy_roots(const struct hub_roots *roots)
{
    for (uint32_t i = 0; i < roots->count; i++) {
        HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
        if (!roots->roots[i].read_only && !hub_private_open(roots->roots[i].path, false, &place, NULL)) {
            hub_import_tidy(&place);
            (void)!hub_publish_recover(&place, NULL); /* a replacement that was interrupted */
        }
    }
}

enum hub_status hub_service_open(struct hub_service *service, const struct hub_config *config,
                                 struct hub_error *err)
{
    struct hub_app *app = &service->app;
    HUB_TRY(hub_log_start(STDERR_FILENO, (enum hub_log_format)config->log_format, &app->log, err));
    app->budget = hub_budget_new(config->memory);
    HUB_TRY(hub_allocated(app->budget, err));
    HUB_TRY(hub_service_open_storage(service, config, err));
    HUB_TRY(start_access(service, config, err));
    HUB_TRY(hub_visible_new(&app->visible, err));
    HUB_TRY(start_hasher(app, config, config->hash == HUB_HASH_IDLE, err));
    HUB_TRY(hub_service_start_scanner(service, config, false, err));
    tidy_roots(app->roots);
    HUB_TRY(start_mirrors(app, config, err));
    hub_announce_uncovered(app);
    HUB_TRY(start_relay(app, err));
    if (config->on_publish_url)
        HUB_TRY(hub_hooks_start(config->on_publish_url, app->truth, app->log, &app->hooks, err));
    hub_drafts_recover(app); /* before somebody asks */
    hub_revisions_recover(app);
    hub_renames_recover(app);
    if (!app->read_only)
        HUB_TRY(hub_pushes_start(app, &app->pushes, err));
    if (config->metrics_open)
        HUB_TRY(open_figures(service, err));
    const struct hub_route *routes = service->routes ? service->routes : hub_routes;
    HUB_TRY(hub_sockets_open_public(app, config, &service->limits, routes, err));
    HUB_TRY(start_measurer(app, config, err));
    if (config->address)
        HUB_TRY(hub_sockets_open_control(app, config, &service->limits, routes, err));
    if (!app->read_only)
        HUB_TRY(hub_tidier_start(app, &service->tidier, err));
    return hub_announcer_start(app, &service->announcer, err);
}

/* Each takes NULL, so this also cleans up after a start that failed half way. The process ends here where a
 * thread hangs on a disk: it reads the configuration when the disk answers. */
void hub_service_close(struct hub_service *service, const struct hub_config *config, int code)
{
    struct hub_app *app = &service->app;
    bool hangs = !hub_announcer_stop(service->announcer); /* first: it looks at all the others */
    hangs = !hub_tidier_stop(service->tidier) || hangs;
    hub_measurer_stop(app->measurer); /* looks at requests */
    hub_http_stop(app->http, (unsigned)config->grace_ms);
    hub_http_stop(app->control, (unsigned)config->grace_ms);
    free(service->routes);
    hub_visible_free(app->visible);
    hub_measurer_free(app->measurer);
    hub_relay_stop(app->relay);
    hub_pushes_stop(app->pushes); /* sends events */
    hub_hooks_stop(app->hooks);
    hub_mirrors_stop(app->mirrors);
    if (app->scanner)
        hub_scanner_stop(app->scanner);
    if (app->hasher)
        hub_digest_queue_stop(app->hasher);
    hub_inspector_free(service->inspector);
    hub_lru_free(app->answers);
    if (app->store)
        hub_store_close(app->store);
    hub_live_access_stop(app->access);
    hub_stores_close(&service->stores);
    hub_lru_free(app->decoded);
    hub_lru_free(app->levels);
    hub_budget_free(app->budget);
    hub_log_event(app->log, &(struct hub_log_event){HUB_LOG_INFO, "stopped", NULL}, "minari-hub has ended");
    hub_log_stop(app->log);
    if (hangs)
        _exit(code);
}

/* ---- without sockets ---- */

enum hub_status hub_no_space(const char *state, uint64_t free_bytes, struct hub_error *err)
{
    return hub_fail(err, HUB_NO_SPACE,
                    "the disk of %s is full (%" PRIu64
                    " KiB are free), so that the hub may not store everything it finds: make room there, or "
                    "store the state elsewhere with --state DIR, and scan again",
                    state, free_bytes / KIB);
}

static enum hub_status check_space(const struct hub_app *app, struct hub_error *err)
{
    struct hub_scan_progress progress;
    uint64_t free_bytes = 0;
    hub_scanner_progress(app->scanner, &progress);
    (void)!hub_fs_free_bytes(app->state, &free_bytes, NULL);
    return progress.no_space ? hub_no_space(app->state, free_bytes, err) : HUB_OK;
}

/* Until all is looked at; HUB_CANCELLED: a signal came. */
enum hub_status hub_service_wait(struct hub_app *app, const sigset_t *signals, struct hub_error *err)
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
    struct hub_service service = {0};
    struct hub_app *app = &service.app;
    const sigset_t signals = hub_block_signals();
    service.limits = hub_prepare_process(config);
    app->budget = hub_budget_new(config->memory);
    enum hub_status st = hub_allocated(app->budget, err);
    if (!st)
        st = hub_service_open_storage(&service, config, err);
    if (!st)
        st = start_hasher(app, config, false, err);
    if (!st)
        st = hub_service_start_scanner(&service, config, true, err);
    if (!st)
        st = hub_service_wait(app, &signals, err);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    if (!st)
        st = fn(app, user, err);
    hub_service_close(&service, config, st ? EXIT_FAILURE : 0);
    return st;
}
