/* Background work as one listing: inspections and hashing, in order of kind and target. It changes while one
 * looks, so a page is a copy of that moment. */
#include "server/api/handlers.h"

#include "server/api/cursor.h"
#include "server/api/documents.h"
#include "server/api/resolve.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_JOBS = 100000 };

static const char *const kinds[] = {"inspect", "hash", NULL}, *const states[] = {"waiting", "running", NULL};

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
    char *target = NULL;
    l->failed = hub_grow(&l->jobs, l->count, &l->capacity, sizeof *l->jobs, NULL) ||
                hub_dup(&target, from->target, NULL);
    if (!l->failed)
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
    hub_json_put_text(json, "state", states[job->running]);
    hub_json_put_uint(json, "done", job->done);
    hub_json_put_uint(json, "of", job->of);
    hub_json_put_text(json, "unit", job->unit);
    if (job->started_ms)
        hub_put_time(json, "started", job->started_ms * 1000000);
    hub_json_put_uint(json, "attempts", job->attempts);
    hub_json_end_object(json);
}

/* By number of the word; -1: any. */
static void filter(struct listing *l, int kind, int state)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        const struct job *job = &l->jobs[i];
        if ((kind >= 0 && strcmp(kinds[kind], job->kind) != 0) || (state >= 0 && state != job->running))
            free(job->target);
        else
            l->jobs[kept++] = *job;
    }
    l->count = kept;
    if (kept)
        qsort(l->jobs, kept, sizeof *l->jobs, compare);
}

static enum hub_status write_page(const struct hub_request *request, const struct listing *l,
                                  const struct hub_page_query *page, struct hub_response *response,
                                  struct hub_error *err)
{
    struct hub_json json = hub_page_begin(response, 8 * MIB, err);
    struct hub_page_cursor next = {0};
    uint32_t i = 0, written = 0;
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-store"));
    if (page->goes_on) {
        const struct job last = {.kind = page->after.key, .target = (char *)page->after.tie};
        while (i < l->count && compare(&l->jobs[i], &last) <= 0)
            i++;
    }
    for (; i < l->count && written < page->limit; i++, written++)
        write_job(&json, &l->jobs[i]);
    if (i < l->count) {
        snprintf(next.key, sizeof next.key, "%s", l->jobs[i - 1].kind);
        snprintf(next.tie, sizeof next.tie, "%s", l->jobs[i - 1].target);
    }
    return hub_page_end(request, page, response, &json, l->count, i < l->count ? &next : NULL, err);
}

enum hub_status hub_jobs_list(struct hub_request *request, struct hub_response *response,
                              struct hub_error *err)
{
    static const char *const parameters[] = {"kind", "state", "limit", "cursor", NULL};
    HUB_CLEANUP(dispose) struct listing l = {.kind = "inspect", .unit = "parts"};
    struct hub_page_query page;
    int kind, state;
    HUB_TRY(hub_page_read(request, parameters, &page, err));
    HUB_TRY(hub_request_choice(request, "kind", kinds, &kind, err));
    HUB_TRY(hub_request_choice(request, "state", states, &state, err));
    if (!request->may_block)
        return HUB_AGAIN; /* a lab that is being read has many */
    hub_scanner_jobs(request->app->scanner, gather, &l);
    l.kind = "hash";
    l.unit = "bytes";
    hub_hasher_jobs(request->app->hasher, gather, &l);
    if (l.failed)
        return hub_no_memory(err);
    filter(&l, kind, state);
    return write_page(request, &l, &page, response, err);
}
