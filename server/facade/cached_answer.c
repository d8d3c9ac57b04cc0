/* Answers that are kept: see cached_answer.h. */
#include "server/facade/cached_answer.h"

#include "server/api/response_cache.h"
#include "storage/truth/digests.h"

enum { KEPT_PAGE = 0x70616765 }; /* among what is kept ready in app->documents */

static enum hub_status question_of(const struct hub_request *request, struct hub_buf *text,
                                   struct hub_response_key *out, struct hub_error *err)
{
    const struct hub_snapshot *snapshot = hub_catalog_snapshot(request->app->catalog);
    const uint64_t published = snapshot->generation, hashed = hub_digest_generation(request->app->truth);
    hub_snapshot_put(snapshot);
    *text = HUB_BUF_INIT(256 * KIB);
    HUB_TRY(hub_buf_addf(text, err, "%s%s?%s", hub_base_url(request), request->target, request->query_text));
    const uint64_t state =
        hub_hash(hub_hash(HUB_HASH_START, &published, sizeof published), &hashed, sizeof hashed);
    *out = (struct hub_response_key){KEPT_PAGE, state, hub_buf_view(text)};
    return HUB_OK;
}

/* Each header: where its name lies, which is a literal, and its value with its end. */
static enum hub_status note_headers(const struct hub_response *response, struct hub_buf *note,
                                    struct hub_error *err)
{
    for (unsigned i = 0; i < response->header_count; i++) {
        const char *name = response->headers[i].name, *value = response->headers[i].value;
        HUB_TRY(hub_buf_add(note, &name, sizeof name, err));
        HUB_TRY(hub_buf_add(note, value, strlen(value) + 1, err));
    }
    return HUB_OK;
}

static enum hub_status put_headers(struct hub_view note, struct hub_response *response, struct hub_error *err)
{
    while (note.size) {
        const char *name, *value = note.data + sizeof name;
        memcpy(&name, note.data, sizeof name);
        HUB_TRY(hub_response_header(response, err, name, "%s", value));
        const size_t size = sizeof name + strlen(value) + 1;
        note = (struct hub_view){note.data + size, note.size - size};
    }
    return HUB_OK;
}

static void send_cached(struct hub_cached_response *kept, struct hub_response *response)
{
    response->kind = HUB_BODY_SHARED;
    response->shared = hub_bytes_ref(hub_cached_response_body(kept));
    hub_cached_response_put(kept);
}

static enum hub_status make_and_keep(struct hub_request *request, struct hub_response *response,
                                     const struct hub_response_key *question, hub_answer_make *make,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf note = HUB_BUF_INIT(64 * KIB);
    bool lasting = true;
    HUB_TRY(make(request, response, &lasting, err));
    if (!lasting)
        return HUB_OK;
    hub_response_end_line(response);
    HUB_TRY(note_headers(response, &note, err));
    struct hub_cached_response *kept =
        hub_cached_response_add(request->app, question, hub_buf_view(&note), &response->buffer);
    if (kept)
        send_cached(kept, response);
    return HUB_OK;
}

enum hub_status hub_cached_answer(struct hub_request *request, struct hub_response *response,
                                  hub_answer_make *make, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = {0};
    struct hub_response_key question;
    HUB_TRY(question_of(request, &text, &question, err));
    struct hub_cached_response *kept = hub_cached_response_find(request->app, &question);
    if (!kept)
        return request->may_block ? make_and_keep(request, response, &question, make, err) : HUB_AGAIN;
    const enum hub_status st = put_headers(hub_cached_response_note(kept), response, err);
    send_cached(kept, response);
    return st;
}
