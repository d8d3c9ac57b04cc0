/* Background work as one listing: inspections and hashing, in order of kind and target. It changes while one
 * looks, so a page is a copy of that moment. */
#include "server/api/status.h"

#include "server/api/cursor.h"
#include "server/api/documents.h"
#include "server/api/resolve.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_JOBS = 100000 };

struct job {
    const char *kind, *unit;
    char *target;
    bool running;
    uint64_t done, of;
    int64_t started_ms;
    unsigned attempts;
};

struct listing {
    const char *kind, *unit; /* of those being gathered */
    struct job *jobs;
    uint32_t count, capacity;
    bool failed;
};

static void gather(void *user, const struct hub_scan_job *from)
{
    struct listing *l = user;
    if (l->count == MAX_JOBS || l->failed)
        return;
    if (hub_grow(&l->jobs, l->count, &l->capacity, sizeof *l->jobs, NULL)) {
        l->failed = true;
        return;
    }
    char *target = strdup(from->target);
    l->failed = !target;
    if (target)
        l->jobs[l->count++] = (struct job){.kind = l->kind,
                                           .unit = l->unit,
                                           .target = target,
                                           .running = from->running,
                                           .done = from->done,
                                           .of = from->of,
                                           .started_ms = from->started_ms,
                                           .attempts = from->attempts};
}

static void dispose(struct listing *l)
{
    for (uint32_t i = 0; i < l->count; i++)
        free(l->jobs[i].target);
    free(l->jobs);
}

static int compare(const void *a, const void *b)
{
    const struct job *x = a, *y = b;
    const int by_kind = strcmp(x->kind, y->kind);
    return by_kind ? by_kind : strcmp(x->target, y->target);
}

static void write_job(struct hub_json *json, const struct job *job)
{
    char id[2048];
    snprintf(id, sizeof id, "%s:%s", job->kind, job->target);
    hub_json_object(json);
    hub_json_put_text(json, "id", id);
    hub_json_put_text(json, "kind", job->kind);
    hub_json_put_text(json, "target", job->target);
    hub_json_put_text(json, "state", job->running ? "running" : "waiting");
    hub_json_put_uint(json, "done", job->done);
    hub_json_put_uint(json, "of", job->of);
    hub_json_put_text(json, "unit", job->unit);
    if (job->started_ms)
        hub_put_time(json, "started", job->started_ms * 1000000);
    hub_json_put_uint(json, "attempts", job->attempts);
    hub_json_end_object(json);
}

static enum hub_status read_filters(const struct hub_request *request, struct hub_view *kind,
                                    struct hub_view *state, char scope[33], struct hub_error *err)
{
    *kind = hub_request_query(request, "kind");
    *state = hub_request_query(request, "state");
    if (kind->data && !hub_view_is(*kind, "inspect") && !hub_view_is(*kind, "hash")) {
        hub_fail_as(err, HUB_INVALID, "bad-parameter", "kind is one of inspect, hash");
        return hub_fail_about(err, "kind", kind->data);
    }
    if (state->data && !hub_view_is(*state, "waiting") && !hub_view_is(*state, "running")) {
        hub_fail_as(err, HUB_INVALID, "bad-parameter", "state is one of waiting, running");
        return hub_fail_about(err, "state", state->data);
    }
    char etag[40];
    const struct hub_view parts[] = {HUB_VIEW("jobs"), kind->data ? *kind : HUB_VIEW("\1"),
                                     state->data ? *state : HUB_VIEW("\1")};
    hub_fingerprint(etag, parts, HUB_COUNT(parts));
    snprintf(scope, 33, "%.32s", etag + 1);
    return HUB_OK;
}

static void filter(struct listing *l, struct hub_view kind, struct hub_view state)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        const struct job *job = &l->jobs[i];
        if ((kind.data && !hub_view_is(kind, job->kind)) ||
            (state.data && hub_view_is(state, "running") != job->running))
            free(job->target);
        else
            l->jobs[kept++] = *job;
    }
    l->count = kept;
    if (kept)
        qsort(l->jobs, kept, sizeof *l->jobs, compare);
}

static enum hub_status write_page(const struct hub_request *request, const struct listing *l,
                                  const struct hub_page_cursor *after, const char *scope, uint32_t limit,
                                  struct hub_response *response, struct hub_error *err)
{
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, "application/json", 8 * MIB), err);
    struct hub_page_cursor next = {0};
    uint32_t i = 0, written = 0;
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-store"));
    if (after) {
        const struct job last = {.kind = after->key, .target = (char *)after->tie};
        while (i < l->count && compare(&l->jobs[i], &last) <= 0)
            i++;
    }
    hub_json_object(&json);
    hub_json_put_array(&json, "items");
    for (; i < l->count && written < limit; i++, written++)
        write_job(&json, &l->jobs[i]);
    hub_json_end_array(&json);
    if (i < l->count) {
        snprintf(next.scope, sizeof next.scope, "%s", scope);
        snprintf(next.key, sizeof next.key, "%s", l->jobs[i - 1].kind);
        snprintf(next.tie, sizeof next.tie, "%s", l->jobs[i - 1].target);
    }
    HUB_TRY(hub_page_end(request, response, &json, l->count, i < l->count ? &next : NULL, err));
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

enum hub_status hub_jobs_list(struct hub_request *request, struct hub_response *response,
                              struct hub_error *err)
{
    static const char *const parameters[] = {"kind", "state", "limit", "cursor", NULL};
    HUB_CLEANUP(dispose) struct listing l = {.kind = "inspect", .unit = "parts"};
    struct hub_page_cursor cursor;
    struct hub_view kind, state;
    uint32_t limit;
    char scope[33];
    HUB_TRY(hub_request_known(request, parameters, err));
    HUB_TRY(hub_page_limit(request, &limit, err));
    HUB_TRY(read_filters(request, &kind, &state, scope, err));
    const struct hub_view text = hub_request_query(request, "cursor");
    if (text.data)
        HUB_TRY(hub_cursor_decode(text, scope, &cursor, err));
    if (!request->may_block)
        return HUB_AGAIN; /* a lab that is being read has many */
    hub_scanner_jobs(request->app->scanner, gather, &l);
    l.kind = "hash";
    l.unit = "bytes";
    hub_hasher_jobs(request->app->hasher, gather, &l);
    if (l.failed)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for the jobs");
    filter(&l, kind, state);
    return write_page(request, &l, text.data ? &cursor : NULL, scope, limit, response, err);
}
