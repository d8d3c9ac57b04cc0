/* Liveness, readiness, metrics and a first page. */
#include "server/api/app.h"
#include "server/api/handlers.h"

#include "server/api/operations/process.h"
#include "server/api/operations/pushes.h"
#include "server/api/reply.h"
#include "server/api/visible.h"
#include "server/http/metrics.h"
#include "server/http/server.h"
#include "server/log/log.h"
#include "server/mirror/mirror.h"

#include <inttypes.h>

enum hub_status hub_healthz_show(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    (void)request;
    return hub_buf_add_text(hub_response_buffer(response, 200, "text/plain; charset=utf-8", KIB), "ok\n",
                            err);
}

/* The others are served. */
static enum hub_status add_missing_roots(const struct hub_app *app, const struct hub_scan_progress *p,
                                         struct hub_buf *out, struct hub_error *err)
{
    for (uint32_t i = 0; i < app->roots->count; i++)
        if (p->roots_missing >> i & 1)
            HUB_TRY(hub_buf_addf(out, err, "root-missing: root %u (%s) had datasets and is not mounted\n",
                                 i + 1, app->roots->roots[i].name ? app->roots->roots[i].name : "root"));
    return HUB_OK;
}

enum hub_status hub_readyz_show(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    struct hub_scan_progress progress;
    hub_scanner_progress(request->app->scanner, &progress);
    if (hub_http_draining(request->app->http))
        return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_DRAINING, "the hub is shutting down");
    if (!progress.walked && progress.trouble[0])
        return hub_fail_as(
            err, HUB_BUSY, HUB_PROBLEM_STARTING,
            "the roots could not be read completely; the hub tries again, and its log says why");
    if (!progress.walked && hub_request_may_watch(request))
        return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_STARTING,
                           "the roots are being read: %" PRIu64 " directories so far, now '%.200s'",
                           progress.directories, progress.current);
    if (!progress.walked)
        return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_STARTING, "the roots are being read");
    struct hub_buf *out = hub_response_buffer(response, 200, "text/plain; charset=utf-8", 16 * KIB);
    HUB_TRY(hub_buf_add_text(out, "ready\n", err));
    return add_missing_roots(request->app, &progress, out, err);
}

static enum hub_status scan_metrics(struct hub_app *app, struct hub_buf *out, struct hub_error *err)
{
    static const enum hub_dataset_status statuses[] = {HUB_DATASET_READY, HUB_DATASET_PENDING,
                                                       HUB_DATASET_BROKEN, HUB_DATASET_UNSUPPORTED,
                                                       HUB_DATASET_REMOTE};
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *snapshot = hub_catalog_snapshot(app->catalog);
    struct hub_snapshot_totals totals;
    hub_snapshot_count(snapshot, &totals);
    HUB_TRY(hub_buf_add_text(
        out, "# HELP minari_hub_datasets Datasets by status.\n# TYPE minari_hub_datasets gauge\n", err));
    for (size_t i = 0; i < HUB_COUNT(statuses); i++)
        HUB_TRY(hub_buf_addf(out, err, "minari_hub_datasets{status=\"%s\"} %" PRIu64 "\n",
                             hub_dataset_status_name(statuses[i]), totals.by_status[statuses[i]]));
    struct hub_scan_progress progress;
    hub_scanner_progress(app->scanner, &progress);
    const struct hub_plain_metric rows[] = {
        {"minari_hub_inspections_total", "counter", "Datasets inspected since the start.",
         (double)progress.inspected},
        {"minari_hub_inspections_failed_total", "counter",
         "Inspected datasets that are broken or unsupported.", (double)progress.failed},
        {"minari_hub_inspections_put_off_total", "counter",
         "Inspections that failed because of errors of the machine.", (double)progress.put_off},
        {"minari_hub_inspections_waiting", "gauge", "Datasets waiting for inspection.",
         (double)progress.to_inspect},
        {"minari_hub_inspections_given_up", "gauge",
         "Datasets not inspected because of errors of the machine.", (double)progress.given_up},
        {"minari_hub_sweeps_total", "counter", "Scans of the directories.", (double)progress.sweeps},
    };
    return hub_metric_rows(rows, HUB_COUNT(rows), out, err);
}

static enum hub_status cache_metrics(const struct hub_app *app, struct hub_buf *out, struct hub_error *err)
{
    static const struct {
        const char *name, *type, *help;
        size_t at;
    } rows[] = {
        {"bytes", "gauge", "Memory that a cache holds.", offsetof(struct hub_lru_gauges, bytes)},
        {"entries", "gauge", "What it holds.", offsetof(struct hub_lru_gauges, entries)},
        {"hits_total", "counter", "Look-ups that found something.", offsetof(struct hub_lru_gauges, hits)},
        {"misses_total", "counter", "Look-ups that found nothing.", offsetof(struct hub_lru_gauges, misses)},
    };
    for (size_t i = 0; i < HUB_COUNT(rows); i++) {
        struct hub_lru_gauges g;
        HUB_TRY(hub_buf_addf(out, err,
                             "# HELP minari_hub_memory_cache_%s %s\n# TYPE minari_hub_memory_cache_%s %s\n",
                             rows[i].name, rows[i].help, rows[i].name, rows[i].type));
        for (unsigned k = 0; hub_lru_gauges(&app->caches, k, &g); k++)
            HUB_TRY(hub_buf_addf(out, err, "minari_hub_memory_cache_%s{cache=\"%s\"} %" PRIu64 "\n",
                                 rows[i].name, g.name,
                                 *(const uint64_t *)(const void *)((const char *)&g + rows[i].at)));
    }
    return HUB_OK;
}

/* A root without a name by its number; all where names are not to be seen. */
static enum hub_status room_metrics(struct hub_app *app, bool names, struct hub_buf *out,
                                    struct hub_error *err)
{
    struct hub_mirror_gauges g;
    hub_mirrors_gauges(app->mirrors, &g);
    const struct hub_plain_metric rows[] = {
        {"minari_hub_cache_bytes", "gauge", "Bytes of datasets fetched from upstreams on request.",
         (double)g.cache_bytes},
        {"minari_hub_cache_evictions_total", "counter",
         "Datasets fetched on request and removed to make room.", (double)g.evictions},
    };
    HUB_TRY(hub_metric_rows(rows, HUB_COUNT(rows), out, err));
    HUB_TRY(hub_buf_add_text(out,
                             "# HELP minari_hub_root_free_bytes Free bytes on the disk of a root.\n"
                             "# TYPE minari_hub_root_free_bytes gauge\n",
                             err));
    for (uint32_t i = 0; i < app->roots->count; i++) {
        const struct hub_root *root = &app->roots->roots[i];
        uint64_t left = 0;
        if (hub_fs_free_bytes(root->path, &left, NULL))
            continue;
        HUB_TRY(names && root->name
                    ? hub_buf_addf(out, err, "minari_hub_root_free_bytes{root=\"%s\"} %" PRIu64 "\n",
                                   root->name, left)
                    : hub_buf_addf(out, err, "minari_hub_root_free_bytes{root=\"%" PRIu32 "\"} %" PRIu64 "\n",
                                   i, left));
    }
    return HUB_OK;
}

static enum hub_status missing_metrics(struct hub_app *app, struct hub_buf *out, struct hub_error *err)
{
    struct hub_scan_progress p;
    hub_scanner_progress(app->scanner, &p);
    const struct hub_plain_metric row = {"minari_hub_roots_missing", "gauge",
                                         "Roots that had datasets and are not mounted.",
                                         (double)__builtin_popcountll(p.roots_missing)};
    return hub_metric_rows(&row, 1, out, err);
}

/* Names as Prometheus' own client libraries have them. */
static enum hub_status process_metrics(const struct hub_app *app, struct hub_buf *out, struct hub_error *err)
{
    struct hub_process p;
    hub_process_read(&p);
    const struct hub_plain_metric rows[] = {
        {"process_cpu_seconds_total", "counter", "User and system time.", p.cpu_s},
        {"process_resident_memory_bytes", "gauge", "Resident memory.", (double)p.resident_bytes},
        {"process_virtual_memory_bytes", "gauge", "Virtual memory.", (double)p.virtual_bytes},
        {"process_open_fds", "gauge", "Open file descriptors.", (double)p.open_files},
        {"process_max_fds", "gauge", "Limit of open file descriptors.", (double)p.max_files},
        {"process_start_time_seconds", "gauge", "Start, in Unix time.", (double)app->started_ms / 1000},
    };
    return hub_metric_rows(rows, HUB_COUNT(rows), out, err);
}

enum hub_status hub_metrics_show(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    if (!request->may_block)
        return HUB_AGAIN; /* SQLite is asked */
    const bool names = hub_request_may_watch(request);
    struct hub_buf *out =
        hub_response_buffer(response, 200, "text/plain; version=0.0.4; charset=utf-8", 4 * MIB);
    HUB_TRY(hub_http_metrics(request->app->http, out, err));
    HUB_TRY(hub_log_metrics(request->app->log, out, err));
    HUB_TRY(process_metrics(request->app, out, err));
    HUB_TRY(scan_metrics(request->app, out, err));
    HUB_TRY(cache_metrics(request->app, out, err));
    HUB_TRY(room_metrics(request->app, names, out, err));
    HUB_TRY(missing_metrics(request->app, out, err));
    HUB_TRY(hub_hook_metrics(request->app->hooks, out, err));
    if (!names)
        return HUB_OK;
    HUB_TRY(hub_quota_metrics(request->app->truth, out, err));
    return hub_mirror_metrics(request->app->truth, out, err);
}

enum hub_status hub_front_show(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_snapshot_putp)
    const struct hub_snapshot *snapshot = hub_request_snapshot(request);
    struct hub_buf *out = hub_response_buffer(response, 200, "application/json", 64 * KIB);
    return hub_buf_addf(out, err,
                        "{\"name\":\"minari-hub\",\"version\":\"" HUB_VERSION
                        "\",\"datasets\":\"%s/api/v1/datasets\","
                        "\"openapi\":\"%s/openapi.json\",\"count\":%u}\n",
                        hub_base_url(request), hub_base_url(request), snapshot->count);
}
