/* Documents that are kept ready: see document_cache.h. */
#include "server/api/document_cache.h"

#include "server/api/reply.h"

#include "storage/episodes/measures.h"
#include "storage/truth/commits.h"
#include "storage/truth/damage.h"
#include "storage/truth/digests.h"
#include "storage/truth/upstream.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIRST_BYTES = 64 * 1024 };

#define FINAL UINT64_MAX /* of a generation: what it counts changes this no more */
/* factors of generations, among the states */
#define ORIGINS UINT64_C(0x9E3779B97F4A7C15)
#define DAMAGES UINT64_C(0xD1B54A32D192ED03)
#define COMMITS UINT64_C(0x8CB92BA72F3D8DD7)

/* What is asked for, and when a kept one will do. */
struct document_query {
    const struct hub_document_kind *kind;
    int64_t row;
    uint64_t states;   /* by the kind */
    uint64_t digests;  /* generation of the digests */
    uint64_t measures; /* and of what was measured */
    bool commit;       /* of whichever revision the dataset of that commit is */
};

/* The object of the answer whose body it is. */
struct cached_document {
    uint64_t digests, measures;  /* FINAL: they are all in it */
    char etag[40], revision[41]; /* of the body */
    bool gzip;
};

static const struct cached_document *document_of(const struct hub_cached_response *answer)
{
    return hub_cached_response_object(answer);
}

static struct hub_cached_response_key key_of(const struct document_query *query, bool gzip)
{
    return (struct hub_cached_response_key){.kind = gzip ? query->kind->gzip : query->kind->plain,
                                            .state = query->states,
                                            .question = {(const char *)&query->row, sizeof query->row}};
}

/* Takes the text. */
static enum hub_status keep(const struct hub_request *request, const struct document_query *query,
                            const struct cached_document *document, struct hub_buf *text,
                            struct hub_cached_response **out, struct hub_error *err)
{
    const struct hub_cached_response_key key = key_of(query, document->gzip);
    const struct hub_cached_response_content content = {
        .body = text, .object = (void *)document, .bytes = sizeof *document};
    *out = hub_cached_response_add(request->app, &key, &content);
    return hub_allocated(*out, err);
}

/* A kept one that is still true, with a reference for the caller, or NULL. */
static struct hub_cached_response *find(const struct hub_request *request, const struct document_query *query,
                                        bool gzip)
{
    const struct hub_cached_response_key key = key_of(query, gzip);
    struct hub_cached_response *answer = hub_cached_response_find(request->app, &key);
    const struct cached_document *d = answer ? document_of(answer) : NULL;
    if (d && (d->digests == FINAL || d->digests == query->digests) &&
        (d->measures == FINAL || d->measures == query->measures) &&
        (query->commit || hub_resolve_has_revision(request, d->revision)))
        return answer;
    hub_cached_response_put(answer);
    return NULL;
}

static enum hub_status build(struct hub_request *request, struct hub_target target,
                             const struct document_query *query, struct hub_response *response,
                             struct hub_cached_response **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_state_close) struct hub_state state = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(256 * MIB);
    const struct hub_document_kind *kind = query->kind;
    struct hub_budget *budget = request->app->budget;
    struct hub_document_facts known = {0};
    struct hub_meter meter;
    HUB_TRY(hub_resolve_state(request, &target, &state, err)); /* the newest, which may be the one */
    HUB_TRY(hub_work_admit_us(request, kind->work, kind->cost_us(state.dataset), err));
    HUB_TRY(hub_budget_take(budget, request, response, FIRST_BYTES + kind->memory_bytes(state.dataset), err));
    hub_meter_buf(&meter, budget, request, response, &text);
    HUB_TRY(kind->write(request->app->truth, &state, &target, &text, &known, err));
    struct cached_document d = {.digests = known.hashed ? FINAL : query->digests,
                                .measures = known.measured ? FINAL : query->measures};
    hub_fingerprint(d.etag, &(struct hub_view){text.data, text.size}, 1);
    snprintf(d.revision, sizeof d.revision, "%s", target.summary->revision);
    return keep(request, query, &d, &text, out, err);
}

/* The document as JSON: kept, or built. */
static enum hub_status get_plain(struct hub_request *request, const struct hub_target *target,
                                 const struct document_query *query, struct hub_response *response,
                                 struct hub_cached_response **out, struct hub_error *err)
{
    *out = find(request, query, false);
    return *out ? HUB_OK : build(request, *target, query, response, out, err);
}

static enum hub_status get_gzip(struct hub_request *request, const struct hub_target *target,
                                const struct document_query *query, struct hub_response *response,
                                struct hub_cached_response **out, struct hub_error *err)
{
    *out = find(request, query, true);
    if (*out)
        return HUB_OK;
    HUB_TRY(get_plain(request, target, query, response, out, err));
    const struct hub_view text = hub_bytes_view(hub_cached_response_body(*out));
    if (!hub_reply_is_worth_gzip(text.size))
        return HUB_OK;
    HUB_TRY(hub_reply_on_worker(request));
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf coded = HUB_BUF_INIT(2 * text.size + KIB);
    struct hub_meter meter;
    hub_meter_buf(&meter, request->app->budget, request, response, &coded);
    HUB_TRY(hub_gzip(text, HUB_GZIP_QUICK, &coded, err));
    HUB_CLEANUP(hub_cached_response_putp) struct hub_cached_response *plain = *out;
    struct cached_document d = *document_of(plain);
    d.gzip = true;
    hub_reply_gzip_etag(d.etag);
    return keep(request, query, &d, &coded, out, err);
}

enum hub_status hub_document_answer(struct hub_request *request, const struct hub_target *target,
                                    const struct hub_document_kind *kind, struct hub_response *response,
                                    struct hub_error *err)
{
    const bool gzip = hub_accepts_gzip(request);
    const struct document_query query = {.row = target->summary->row,
                                         .kind = kind,
                                         .commit = target->commit,
                                         .states = kind->states(target->snapshot, target->summary) +
                                                   hub_upstream_generation(request->app->truth) * ORIGINS +
                                                   hub_damage_generation(request->app->truth) * DAMAGES +
                                                   hub_commits_generation(request->app->truth) * COMMITS,
                                         .digests = hub_digest_generation(request->app->truth),
                                         .measures = hub_measures_generation(request->app->catalog)};
    HUB_CLEANUP(hub_cached_response_putp) struct hub_cached_response *answer = NULL;
    bool done = false;
    HUB_TRY((gzip ? get_gzip : get_plain)(request, target, &query, response, &answer, err));
    const struct cached_document *d = document_of(answer);
    response->shared = hub_bytes_ref(hub_cached_response_body(answer)); /* the response's reference */
    struct hub_target kept = *target;
    kept.pinned &= d->measures == FINAL; /* else more will be known of the same revision */
    HUB_TRY(hub_resolve_headers(request, &kept, response, err));
    HUB_TRY(hub_response_header(response, err, "Vary", "Accept-Encoding"));
    HUB_TRY(hub_resolve_conditions(request, response, d->etag, -1, &done, err));
    if (done)
        return HUB_OK;
    HUB_TRY(hub_response_header(response, err, "Content-Type", "application/json"));
    if (d->gzip)
        HUB_TRY(hub_response_header(response, err, "Content-Encoding", "gzip"));
    response->status = 200;
    response->kind = HUB_BODY_SHARED;
    return HUB_OK;
}
