/* The state of the hub as one document. Over TCP it names roots, never paths of the machine; and nothing to
 * those who see figures alone (HUB_FOR_MONITORS). */
#include "server/api/handlers.h"

#include "server/api/operations/alerts.h"
#include "server/api/operations/given.h"
#include "server/api/operations/process.h"
#include "server/api/operations/pushes.h"
#include "server/api/put.h"
#include "server/http/server.h"
#include "server/mirror/mirror.h"
#include "storage/episodes/measures.h"
#include "storage/io/fs.h"
#include "storage/scan/presence.h"
#include "storage/text/time.h"

static void put_datasets(struct hub_json *json, const struct hub_snapshot *snapshot)
{
    struct hub_snapshot_totals t;
    hub_snapshot_count(snapshot, &t);
    hub_json_put_object(json, "datasets");
    hub_json_put_uint(json, "total", snapshot->count);
    for (enum hub_dataset_status s = HUB_DATASET_READY; s <= HUB_DATASET_REMOTE; s++)
        hub_json_put_uint(json, hub_dataset_status_name(s), t.by_status[s]);
    hub_json_put_uint(json, "episodes", t.episodes);
    hub_json_put_uint(json, "steps", t.steps);
    hub_json_put_uint(json, "size", t.size);
    hub_json_end_object(json);
}

static void put_roots(struct hub_json *json, const struct hub_request *request,
                      const struct hub_snapshot *snapshot, const struct hub_scan_progress *p)
{
    const struct hub_app *app = request->app;
    const uint32_t count = hub_request_may_watch(request) ? app->roots->count : 0;
    hub_json_put_array(json, "roots");
    for (uint32_t root = 0; root < count; root++) {
        const struct hub_root *where = &app->roots->roots[root];
        uint64_t datasets = 0, size = 0, free_bytes = 0;
        for (uint32_t i = 0; i < snapshot->count; i++) {
            if (snapshot->summaries[i]->root != root || !hub_summary_is_here(snapshot->summaries[i]))
                continue;
            datasets++;
            size += snapshot->summaries[i]->size;
        }
        hub_json_object(json);
        hub_put_if_set(json, "name", where->name);
        if (request->local)
            hub_json_put_text(json, "path", where->path);
        hub_json_put_bool(json, "read_only", where->read_only);
        if (p->roots_missing >> root & 1)
            hub_json_put_bool(json, "missing", true);
        hub_json_put_uint(json, "datasets", datasets);
        hub_json_put_uint(json, "size", size);
        if (hub_fs_free_bytes(where->path, &free_bytes, NULL) == HUB_OK)
            hub_json_put_uint(json, "free", free_bytes);
        hub_json_end_object(json);
    }
    hub_json_end_array(json);
}

static void put_inspection(struct hub_json *json, const struct hub_scan_progress *p, bool names)
{
    hub_json_put_object(json, "inspection");
    hub_json_put_bool(json, "walked", p->walked);
    hub_json_put_bool(json, "idle", p->idle);
    hub_json_put_uint(json, "sweeps", p->sweeps);
    hub_json_put_uint(json, "directories", p->directories);
    hub_json_put_uint(json, "waiting", p->to_inspect);
    hub_json_put_uint(json, "inspected", p->inspected);
    hub_json_put_uint(json, "failed", p->failed);
    hub_json_put_uint(json, "postponed", p->postponed);
    hub_json_put_uint(json, "given_up", p->given_up);
    if (names)
        hub_put_if_set(json, "current", p->current);
    hub_json_end_object(json);
}

static void put_http(struct hub_json *json, struct hub_http *http)
{
    struct hub_http_gauges g;
    hub_http_gauges(http, &g);
    hub_json_put_object(json, "http");
    hub_json_put_uint(json, "connections", g.connections);
    hub_json_put_uint(json, "in_flight", g.in_flight);
    hub_json_put_uint(json, "queued", g.queue_depth);
    hub_json_put_uint(json, "overloads", g.overloads);
    hub_json_put_uint(json, "deadlines", g.deadlines);
    hub_json_end_object(json);
    struct hub_process process;
    hub_process_read(&process);
    hub_json_put_object(json, "memory");
    hub_json_put_uint(json, "budget", g.budget_total);
    hub_json_put_uint(json, "budget_used", g.budget_used);
    hub_json_put_uint(json, "resident", process.resident_bytes);
    hub_json_end_object(json);
    hub_json_put_object(json, "files");
    hub_json_put_uint(json, "open", process.open_files);
    hub_json_put_uint(json, "limit", process.max_files);
    hub_json_end_object(json);
}

static void put_disk(struct hub_json *json, const struct hub_request *request,
                     const struct hub_scan_progress *p)
{
    uint64_t free_bytes = 0;
    hub_json_put_object(json, "state");
    if (request->local)
        hub_json_put_text(json, "path", request->app->state);
    if (hub_fs_free_bytes(request->app->state, &free_bytes, NULL) == HUB_OK)
        hub_json_put_uint(json, "free", free_bytes);
    hub_json_put_bool(json, "full", p->no_space);
    hub_json_end_object(json);
}

/* Datasets that were fetched on request. */
static void put_cache(struct hub_json *json, struct hub_mirrors *mirrors)
{
    struct hub_mirror_gauges g;
    hub_mirrors_gauges(mirrors, &g);
    hub_json_put_object(json, "cache");
    hub_json_put_uint(json, "size", g.cache_bytes);
    if (g.cache_max)
        hub_json_put_uint(json, "max", g.cache_max);
    hub_json_put_uint(json, "evicted", g.evictions);
    hub_json_end_object(json);
}

static void put_alerts(struct hub_json *json, const struct hub_request *request)
{
    HUB_CLEANUP(hub_freep) struct hub_alerts *now = calloc(1, sizeof *now);
    hub_json_put_array(json, "alerts");
    if (now && hub_request_may_watch(request))
        hub_alerts_read(request->app, now);
    for (unsigned i = 0; now && i < now->count; i++) {
        hub_json_object(json);
        hub_json_put_text(json, "code", now->items[i].code);
        hub_json_put_text(json, "detail", now->items[i].detail);
        if (request->local)
            hub_put_if_set(json, "local", now->items[i].local);
        hub_json_end_object(json);
    }
    hub_json_end_array(json);
}

/* Of all parts, how many are measured to the end. */
static enum hub_status put_measuring(struct hub_json *json, const struct hub_app *app, struct hub_error *err)
{
    uint64_t parts, done;
    HUB_TRY(hub_measures_count(app->catalog, HUB_MEASURED_ALL, &parts, &done, err));
    hub_json_put_object(json, "measuring");
    hub_json_put_text(json, "mode", app->measure);
    hub_json_put_uint(json, "parts", done);
    hub_json_put_uint(json, "of_parts", parts);
    hub_json_end_object(json);
    return HUB_OK;
}

static void count_job(void *user, const struct hub_scan_job *job)
{
    (void)job;
    ++*(uint64_t *)user;
}

enum hub_status hub_status_show(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    if (!request->may_block)
        return HUB_AGAIN; /* disks are asked */
    struct hub_app *app = request->app;
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *snapshot = hub_catalog_snapshot(app->catalog);
    struct hub_scan_progress progress;
    uint64_t hashing = 0;
    hub_scanner_progress(app->scanner, &progress);
    hub_digest_queue_jobs(app->hasher, count_job, &hashing);
    const bool draining = hub_http_draining(app->http);
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, "application/json", MIB), err);
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-store"));
    hub_json_object(&json);
    hub_json_put_text(&json, "version", HUB_VERSION);
    hub_put_time(&json, "started", app->started_ms * 1000000);
    hub_json_put_bool(&json, "ready", progress.walked && !draining);
    hub_json_put_bool(&json, "draining", draining);
    put_datasets(&json, snapshot);
    put_roots(&json, request, snapshot, &progress);
    put_inspection(&json, &progress, hub_request_may_watch(request));
    hub_json_put_uint(&json, "hashing", hashing);
    HUB_TRY(put_measuring(&json, app, err));
    put_http(&json, app->http);
    put_disk(&json, request, &progress);
    put_cache(&json, app->mirrors);
    HUB_TRY(hub_quotas_put(&json, app->truth, hub_request_may_watch(request), err));
    hub_hook_put(&json, app->hooks);
    hub_access_given_put(&json, app, request->access, hub_request_may_watch(request));
    put_alerts(&json, request);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

/* The admin says that those datasets of a root that are not there are gone. */
static enum hub_status forget_root(struct hub_request *request, struct hub_error *err)
{
    const struct hub_view requested = hub_request_query(request, "forget");
    HUB_CLEANUP(hub_freep) char *text = requested.data ? hub_view_dup(requested) : NULL;
    uint32_t root;
    if (!requested.data)
        return HUB_OK;
    HUB_TRY(hub_allocated(text, err));
    if (!hub_roots_find(request->app->roots, text, &root))
        return hub_request_wrong(request, "forget", err, "there is no root of this name or directory");
    return hub_presence_forget(request->app->truth, root, err);
}

enum hub_status hub_sweep_post(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    struct hub_scan_progress progress;
    if (!request->may_block)
        return HUB_AGAIN; /* SQLite may block */
    HUB_TRY(forget_root(request, err));
    hub_scanner_progress(request->app->scanner, &progress);
    hub_scanner_sweep(request->app->scanner);
    struct hub_json json = hub_json_to(hub_response_buffer(response, 202, "application/json", KIB), err);
    hub_json_object(&json);
    hub_json_put_uint(&json, "sweeps", progress.sweeps);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}
