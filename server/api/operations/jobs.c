/* Background work as one listing: inspections and hashing, which are known to this start of the hub alone,
 * and jobs that outlive it; in order of kind, target and time. It changes while one looks, so a page is a
 * copy of that moment. */
#include "server/api/handlers.h"

#include "server/api/cursor.h"
#include "server/api/put.h"
#include "server/api/resolve.h"
#include "server/api/visible.h"
#include "server/http/user.h"
#include "server/mirror/adopt.h"
#include "server/mirror/check.h"
#include "server/mirror/document.h"
#include "server/mirror/job_kinds.h"
#include "server/mirror/mirror.h"
#include "storage/truth/jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_JOBS = 100000 };

struct listed_job {
    const struct hub_job_kind_row *kind;
    struct hub_job_row row; /* its own; id 0: of one that ends with the program */
};

struct job_listing {
    const char *kind; /* of those being gathered */
    struct listed_job *jobs;
    uint32_t count, capacity;
    bool failed;
};

static void gather(void *user, const struct hub_scan_job *from)
{
    struct job_listing *l = user;
    if (l->count == MAX_JOBS || l->failed)
        return;
    struct listed_job job = {.kind = hub_job_kind_find(from->kind ? from->kind : l->kind),
                             .row = {.target = strdup(from->target),
                                     .state = from->running ? HUB_JOB_RUNNING : HUB_JOB_WAITING,
                                     .done = from->done,
                                     .total = from->of,
                                     .started_ms = from->started_ms,
                                     .attempts = from->attempts}};
    l->failed = !job.row.target || hub_grow(&l->jobs, l->count, &l->capacity, sizeof *l->jobs, NULL);
    if (l->failed)
        free(job.row.target);
    else
        l->jobs[l->count++] = job;
}

static enum hub_status keep(void *user, struct hub_job_row *from, struct hub_error *err)
{
    struct job_listing *l = user;
    const struct hub_job_kind_row *kind = hub_job_kind_find(from->kind);
    if (l->count == MAX_JOBS || !kind)
        return HUB_OK;
    HUB_TRY(hub_grow(&l->jobs, l->count, &l->capacity, sizeof *l->jobs, err));
    l->jobs[l->count++] = (struct listed_job){kind, *from};
    *from = (struct hub_job_row){0};
    return HUB_OK;
}

static void dispose(struct job_listing *l)
{
    for (uint32_t i = 0; i < l->count; i++)
        hub_job_dispose(&l->jobs[i].row);
    free(l->jobs);
}

static int compare(const void *a, const void *b)
{
    const struct listed_job *x = a, *y = b;
    const int by_kind = strcmp(x->kind->name, y->kind->name);
    const int by_target = by_kind ? by_kind : strcmp(x->row.target, y->row.target);
    return by_target ? by_target : (x->row.id > y->row.id) - (x->row.id < y->row.id);
}

static void id_of(const struct listed_job *job, char id[2048])
{
    if (job->row.id)
        snprintf(id, 2048, "%s", job->row.public_id);
    else
        snprintf(id, 2048, "%s:%s", job->kind->name, job->row.target);
}

static void put_ms(struct hub_json *json, const char *key, int64_t unix_ms)
{
    if (unix_ms)
        hub_put_time(json, key, unix_ms * 1000000);
}

static void write_job(struct hub_json *json, const struct listed_job *listed, bool whole, bool local)
{
    const struct hub_job_row *job = &listed->row;
    char id[2048];
    id_of(listed, id);
    hub_json_object(json);
    hub_json_put_text(json, "id", id);
    hub_json_put_text(json, "kind", listed->kind->name);
    hub_json_put_text(json, "target", job->target);
    if (job->rule && *job->rule)
        hub_json_put_text(json, "rule", job->rule);
    hub_json_put_text(json, "state", hub_job_states[job->state]);
    hub_json_put_uint(json, "done", job->done);
    hub_json_put_uint(json, "of", job->total);
    hub_json_put_text(json, "unit", listed->kind->unit);
    put_ms(json, "started", job->started_ms);
    put_ms(json, "finished", job->finished_ms);
    put_ms(json, "next", job->state == HUB_JOB_WAITING ? job->run_at_ms : 0);
    if (job->error && *job->error)
        hub_json_put_string(json, "error", hub_mirror_error(job->error, local));
    hub_json_put_uint(json, "attempts", job->attempts);
    if (whole && job->result && *job->result)
        hub_json_put_raw(json, "result", hub_view_of(job->result));
    hub_json_end_object(json);
}

/* Where a rule hides anything: what is copied, for who may read it. All other jobs are the hub's own, their
 * targets paths as often as ids: they are for who may watch it. */
static bool may_see(const struct hub_request *request, const struct listed_job *job)
{
    const char *kind = job->kind->name, *rule = job->row.rule;
    if (hub_request_may_watch(request))
        return true;
    if (job->row.id && strcmp(kind, HUB_JOB_MIRROR) == 0)
        return hub_request_may_see_rule(request, job->row.target);
    return job->row.id && (strcmp(kind, HUB_JOB_TRANSFER) == 0 || strcmp(kind, HUB_JOB_PULL) == 0) &&
           hub_request_may_read(request, hub_view_of(job->row.target)) &&
           (!rule || !*rule || hub_request_may_see_rule(request, rule));
}

/* Of a kind and state, -1 for any, those that the request may see. */
static void filter(struct job_listing *l, const struct hub_request *request, int kind, int state)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        struct listed_job *job = &l->jobs[i];
        if ((kind >= 0 && job->kind != &hub_job_kinds[kind]) ||
            (state >= 0 && state != (int)job->row.state) || !may_see(request, job))
            hub_job_dispose(&job->row);
        else
            l->jobs[kept++] = *job;
    }
    l->count = kept;
    if (kept)
        qsort(l->jobs, kept, sizeof *l->jobs, compare);
}

/* A cursor at a job. */
static void set_cursor(const struct listed_job *job, struct hub_page_cursor *out)
{
    snprintf(out->key, sizeof out->key, "%s %s", job->row.public_id, job->kind->name);
    snprintf(out->tie, sizeof out->tie, "%s", job->row.target);
}

/* 0 for one that ends with the program, and for one that is forgotten: the oldest of its kind and target. */
static int64_t row_of(const struct job_listing *l, struct hub_view public_id)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (hub_view_is(public_id, l->jobs[i].row.public_id))
            return l->jobs[i].row.id;
    return 0;
}

/* First one of the page. */
static uint32_t start(const struct job_listing *l, const struct hub_page_query *page)
{
    uint32_t i = 0;
    if (!page->goes_on)
        return 0;
    const struct hub_view public_id = {page->after.key, strcspn(page->after.key, " ")};
    const char *kind = public_id.data + public_id.size;
    struct listed_job last = {.row = {.id = row_of(l, public_id), .target = (char *)page->after.tie}};
    last.kind = &(struct hub_job_kind_row){.name = kind + strspn(kind, " ")};
    while (i < l->count && compare(&l->jobs[i], &last) < !page->after.back)
        i++;
    return hub_page_first(page, i);
}

static enum hub_status write_page(const struct hub_request *request, const struct job_listing *l,
                                  const struct hub_page_query *page, struct hub_response *response,
                                  struct hub_error *err)
{
    struct hub_json json = hub_page_begin(page, response, 8 * MIB, err);
    struct hub_page_ends ends = {.total = l->count};
    const uint32_t first = start(l, page), end = HUB_MIN(l->count, first + page->limit);
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-store"));
    for (uint32_t i = first; i < end; i++)
        write_job(&json, &l->jobs[i], false, request->local);
    hub_page_span(&ends, first, end);
    if (ends.has_next)
        set_cursor(&l->jobs[end - 1], &ends.next);
    if (ends.has_prev)
        set_cursor(&l->jobs[first], &ends.prev);
    return hub_page_close(request, page, response, &json, &ends, err);
}

static enum hub_status gather_all(struct hub_app *app, struct job_listing *l, struct hub_error *err)
{
    hub_scanner_jobs(app->scanner, gather, l);
    l->kind = "hash";
    hub_digest_queue_jobs(app->hasher, gather, l);
    l->kind = "measure";
    hub_measurer_jobs(app->measurer, gather, l);
    return l->failed ? hub_no_memory(err) : hub_jobs_each(app->truth, NULL, -1, keep, l, err);
}

enum hub_status hub_jobs_list(struct hub_request *request, struct hub_response *response,
                              struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct job_listing l = {.kind = "inspect"};
    struct hub_page_query page;
    HUB_TRY(hub_page_read(request, &page, err));
    if (!request->may_block)
        return HUB_AGAIN; /* a lab that is being read has many */
    HUB_TRY(gather_all(request->app, &l, err));
    filter(&l, request, hub_request_choice(request, "kind"), hub_request_choice(request, "state"));
    return write_page(request, &l, &page, response, err);
}

/* One by its id, as an answer; with what it found. */
static enum hub_status answer(struct hub_request *request, struct hub_view id, struct hub_response *response,
                              struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct job_listing l = {.kind = "inspect"};
    char of[2048];
    HUB_TRY(gather_all(request->app, &l, err));
    for (uint32_t i = 0; i < l.count; i++) {
        id_of(&l.jobs[i], of);
        if (!hub_view_is(id, of) || !may_see(request, &l.jobs[i]))
            continue;
        struct hub_json json =
            hub_json_to(hub_response_buffer(response, 200, "application/json", 4 * MIB), err);
        write_job(&json, &l.jobs[i], true, request->local);
        HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-store"));
        return hub_json_status(&json);
    }
    return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_JOB_NOT_FOUND,
                       "there is no job '%.*s'; /api/v1/jobs lists all", (int)HUB_MIN(id.size, (size_t)200),
                       id.data);
}

enum hub_status hub_job_show(struct hub_request *request, struct hub_response *response,
                             struct hub_error *err)
{
    return request->may_block ? answer(request, hub_request_capture(request, "id"), response, err)
                              : HUB_AGAIN;
}

/* ---- of programs beside the hub, that work on what is its own ---- */

enum { LEASE_S = 30 };

static enum hub_status answer_lease(struct hub_response *response, unsigned status, const char *id,
                                    int64_t fence, struct hub_error *err)
{
    return hub_buf_addf(hub_response_buffer(response, status, "application/json", KIB), err,
                        "{\"id\":\"%s\",\"fence\":%" PRId64 "}", id, fence);
}

enum hub_status hub_job_post(struct hub_request *request, struct hub_response *response,
                             struct hub_error *err)
{
    struct hub_lease lease;
    char id[HUB_JOB_ID + 1];
    if (!request->may_block)
        return HUB_AGAIN;
    const struct hub_job_draft draft = {.kind = hub_request_query(request, "kind").data,
                                        .target = hub_request_query(request, "target").data};
    HUB_TRY(hub_job_begin(request->app->truth, &draft, LEASE_S, &lease, err));
    HUB_TRY(hub_job_public_id(request->app->truth, lease.job, id, err));
    return answer_lease(response, 201, id, lease.fence, err);
}

enum hub_status hub_job_do(struct hub_request *request, struct hub_response *response, struct hub_error *err)
{
    enum { END = 1, STOP = 2 }; /* of the words of do= */
    const char *why = hub_request_query(request, "error").data;
    const struct hub_view id = hub_request_capture(request, "id");
    int64_t fence = 0, done = 0, of = 0;
    const int action = hub_request_choice(request, "do");
    (void)hub_request_int(request, "fence", &fence);
    (void)hub_request_int(request, "done", &done);
    (void)hub_request_int(request, "of", &of);
    if (!request->may_block)
        return HUB_AGAIN;
    struct hub_lease lease = {.fence = fence};
    HUB_TRY(hub_job_of(request->app->truth, id, &lease.job, err));
    if (action == STOP) { /* whoever holds it */
        HUB_TRY(hub_job_stop(request->app->truth, lease.job, err));
        return answer(request, id, response, err);
    }
    HUB_TRY(hub_job_keep(request->app->truth, lease, LEASE_S, (uint64_t)done, (uint64_t)of, err));
    if (action == END)
        HUB_TRY(
            hub_job_end(request->app->truth, lease, why ? HUB_JOB_FAILED : HUB_JOB_DONE, 0, true, why, err));
    return answer_lease(response, 200, id.data, fence, err);
}

/* ---- checks and adoptions ---- */

typedef enum hub_status (*order_fn)(struct hub_request *request, const json_t *spec, int64_t *id,
                                    struct hub_error *err);

static enum hub_status order_check(struct hub_request *request, const json_t *spec, int64_t *id,
                                   struct hub_error *err)
{
    return hub_check_request(request->app->truth, request->app->catalog, spec, id, err);
}

static enum hub_status order_adoption(struct hub_request *request, const json_t *spec, int64_t *id,
                                      struct hub_error *err)
{
    char who[HUB_WRITER_CHARS];
    hub_request_writer(request, who);
    return hub_adopt_request(request->app->truth, request->app->catalog, spec, who, id, err);
}

static enum hub_status post_order(struct hub_request *request, order_fn order, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *spec = NULL;
    char public_id[HUB_JOB_ID + 1];
    int64_t id = 0;
    if (!request->may_block)
        return HUB_AGAIN;
    const struct hub_view text = hub_request_query(request, "spec");
    HUB_TRY(hub_json_parse(text, 1 * MIB, &spec, err));
    const enum hub_status st = order(request, spec, &id, err);
    if (st && st != HUB_EXISTS) /* the same is under way: that is it */
        return st;
    hub_mirrors_wake(request->app->mirrors);
    HUB_TRY(hub_job_public_id(request->app->truth, id, public_id, err));
    return answer(request, hub_view_of(public_id), response, err);
}

enum hub_status hub_check_post(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    return post_order(request, order_check, response, err);
}

enum hub_status hub_adopt_post(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    return post_order(request, order_adoption, response, err);
}
