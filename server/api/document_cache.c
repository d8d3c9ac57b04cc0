/* Documents that are kept ready: see document_cache.h. */
#include "server/api/document_cache.h"

#include "server/api/reply.h"

#include "storage/base/lru.h"
#include "storage/episodes/measures.h"
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

/* What is asked for, and when a kept one will do. */
struct document_query {
    const struct hub_document_kind *kind;
    int64_t row;
    uint64_t states;   /* by the kind */
    uint64_t digests;  /* generation of the digests */
    uint64_t measures; /* and of what was measured */
    bool commit;       /* of whichever revision the dataset of that commit is */
};

struct cached_document {
    struct hub_lru_item item; /* first */
    uint64_t states;
    uint64_t digests, measures; /* FINAL: they are all in it */
    struct hub_bytes *bytes;
    struct hub_budget *budget;
    char etag[40], revision[41]; /* of the bytes */
};

/* What is no longer kept counts as memory of the answers that still send it. */
static void document_free(struct hub_lru_item *item)
{
    struct cached_document *d = (struct cached_document *)item;
    hub_bytes_charge(d->bytes, d->budget);
    hub_bytes_unref(d->bytes);
    free(d);
}

static void document_putp(struct cached_document **d)
{
    hub_lru_put(*d ? &(*d)->item : NULL);
}

static struct hub_lru_key key_of(const struct document_query *query, bool gzip)
{
    return (struct hub_lru_key){query->kind->number * 2U + gzip, (uint64_t)query->row, 0};
}

/* Takes the text. */
static struct cached_document *document_new(const struct hub_request *request,
                                            const struct document_query *query, bool gzip,
                                            struct hub_buf *text)
{
    struct cached_document *d = calloc(1, sizeof *d);
    struct hub_bytes *bytes = d ? hub_bytes_new(text) : NULL;
    if (!bytes) {
        free(d);
        return NULL;
    }
    d->item.key = key_of(query, gzip);
    d->item.bytes = hub_bytes_view(bytes).size;
    d->item.free = document_free;
    atomic_init(&d->item.refs, 1);
    d->states = query->states;
    d->digests = query->digests;
    d->measures = query->measures;
    d->bytes = bytes;
    d->budget = request->app->budget;
    return d;
}

/* A kept one that is still true, with a reference for the caller, or NULL. */
static struct cached_document *find(const struct hub_request *request, const struct document_query *query,
                                    bool gzip)
{
    const struct hub_lru_key key = key_of(query, gzip);
    struct cached_document *d = (struct cached_document *)hub_lru_get(request->app->documents, &key);
    if (d && d->states == query->states && (d->digests == FINAL || d->digests == query->digests) &&
        (d->measures == FINAL || d->measures == query->measures) &&
        (query->commit || hub_resolve_has_revision(request, d->revision)))
        return d;
    document_putp(&d);
    return NULL;
}

static enum hub_status build(struct hub_request *request, struct hub_target target,
                             const struct document_query *query, struct hub_response *response,
                             struct cached_document **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_state_close) struct hub_state state = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(256 * MIB);
    const struct hub_document_kind *kind = query->kind;
    struct hub_budget *budget = request->app->budget;
    struct hub_document_known known = {0};
    struct hub_meter meter;
    char etag[40];
    HUB_TRY(hub_resolve_state(request, &target, &state, err)); /* the newest, which may be the one */
    HUB_TRY(hub_work_admit_us(request, kind->work, kind->cost_us(state.dataset), err));
    HUB_TRY(hub_budget_take(budget, request, response, FIRST_BYTES + kind->memory_bytes(state.dataset), err));
    hub_meter_buf(&meter, budget, request, response, &text);
    HUB_TRY(kind->write(request->app->truth, &state, &target, &text, &known, err));
    hub_fingerprint(etag, &(struct hub_view){text.data, text.size}, 1);
    hub_buf_fit(&text, 4 * KIB);
    struct cached_document *d = document_new(request, query, false, &text);
    HUB_TRY(hub_allocated(d, err));
    snprintf(d->etag, sizeof d->etag, "%s", etag);
    snprintf(d->revision, sizeof d->revision, "%s", target.summary->revision);
    if (known.hashed)
        d->digests = FINAL;
    if (known.measured)
        d->measures = FINAL;
    *out = d;
    return HUB_OK;
}

/* The document as JSON: kept, or built. */
static enum hub_status get_plain(struct hub_request *request, const struct hub_target *target,
                                 const struct document_query *query, struct hub_response *response,
                                 struct cached_document **out, struct hub_error *err)
{
    *out = find(request, query, false);
    if (*out)
        return HUB_OK;
    HUB_TRY(build(request, *target, query, response, out, err));
    hub_lru_replace(request->app->documents, &(*out)->item);
    return HUB_OK;
}

static enum hub_status get_gzip(struct hub_request *request, const struct hub_target *target,
                                const struct document_query *query, struct hub_response *response,
                                struct cached_document **out, struct hub_error *err)
{
    *out = find(request, query, true);
    if (*out)
        return HUB_OK;
    HUB_TRY(get_plain(request, target, query, response, out, err));
    const struct hub_view text = hub_bytes_view((*out)->bytes);
    if (!hub_reply_is_worth_gzip(text.size))
        return HUB_OK;
    HUB_TRY(hub_reply_on_worker(request));
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf coded = HUB_BUF_INIT(2 * text.size + KIB);
    struct hub_meter meter;
    hub_meter_buf(&meter, request->app->budget, request, response, &coded);
    HUB_TRY(hub_gzip(text, &coded, err));
    HUB_CLEANUP(document_putp) struct cached_document *plain = *out;
    *out = document_new(request, query, true, &coded);
    if (!*out)
        return hub_no_memory(err);
    memcpy((*out)->etag, plain->etag, sizeof plain->etag);
    memcpy((*out)->revision, plain->revision, sizeof plain->revision);
    (*out)->digests = plain->digests;
    (*out)->measures = plain->measures;
    hub_reply_gzip_etag((*out)->etag);
    hub_lru_replace(request->app->documents, &(*out)->item);
    return HUB_OK;
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
                                                   hub_damage_generation(request->app->truth) * DAMAGES,
                                         .digests = hub_digest_generation(request->app->truth),
                                         .measures = hub_measures_generation(request->app->catalog)};
    HUB_CLEANUP(document_putp) struct cached_document *d = NULL;
    bool done = false;
    HUB_TRY((gzip ? get_gzip : get_plain)(request, target, &query, response, &d, err));
    response->shared = hub_bytes_ref(d->bytes); /* the response's reference */
    struct hub_target kept = *target;
    kept.pinned &= d->measures == FINAL; /* else more will be known of the same revision */
    HUB_TRY(hub_resolve_headers(request, &kept, response, err));
    HUB_TRY(hub_response_header(response, err, "Vary", "Accept-Encoding"));
    HUB_TRY(hub_resolve_conditions(request, response, d->etag, -1, &done, err));
    if (done)
        return HUB_OK;
    HUB_TRY(hub_response_header(response, err, "Content-Type", "application/json"));
    if (d->item.key.kind & 1)
        HUB_TRY(hub_response_header(response, err, "Content-Encoding", "gzip"));
    response->status = 200;
    response->kind = HUB_BODY_SHARED;
    return HUB_OK;
}
