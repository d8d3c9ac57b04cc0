/* Answers that are kept: see cached_answer.h. */
#include "server/facade/cached_answer.h"

#include "server/api/response_cache.h"
#include "server/api/visible.h"
#include "storage/truth/digests.h"

#include <stdlib.h>

#define LONGEST (1 * MIB) /* what is longer is not kept */

/* `text` holds the question. */
static enum hub_status key_of(const struct hub_request *request, struct hub_buf *text,
                              struct hub_cached_response_key *out, struct hub_error *err)
{
    const struct hub_snapshot *snapshot = hub_request_snapshot(request);
    const uint64_t listed = hub_hash_word(HUB_HASH_START, snapshot->generation);
    hub_snapshot_put(snapshot);
    *text = HUB_BUF_INIT(256 * KIB);
    HUB_TRY(hub_buf_addf(text, err, "%s%s?%s", hub_base_url(request), request->target, request->query_text));
    *out = (struct hub_cached_response_key){
        .kind = HUB_KEPT_PAGE,
        .state = hub_hash_word(hub_hash_word(listed, atomic_load(&request->app->spaces_changed)),
                               hub_digest_generation(request->app->truth)),
        .question = hub_buf_view(text)};
    return HUB_OK;
}

static enum hub_status copy_headers(const struct hub_response *from, struct hub_response *to,
                                    struct hub_error *err)
{
    for (unsigned i = 0; i < from->header_count; i++)
        HUB_TRY(hub_response_header(to, err, from->headers[i].name, "%s", from->headers[i].value));
    return HUB_OK;
}

static void headers_free(void *object)
{
    hub_response_dispose(object);
    free(object);
}

/* A response that has the same headers, and no body. */
static enum hub_status headers_dup(const struct hub_response *response, struct hub_response **out,
                                   struct hub_error *err)
{
    HUB_TRY(hub_new(out, 1, sizeof **out, err));
    hub_response_init(*out);
    const enum hub_status st = copy_headers(response, *out, err);
    if (st)
        headers_free(*out);
    return st;
}

static void send_cached(const struct hub_cached_response *answer, struct hub_response *response)
{
    response->kind = HUB_BODY_SHARED;
    response->shared = hub_bytes_ref(hub_cached_response_body(answer));
}

static enum hub_status make_and_keep(struct hub_request *request, struct hub_response *response,
                                     const struct hub_cached_response_key *key, hub_answer_make *make,
                                     struct hub_error *err)
{
    struct hub_response *headers;
    bool lasting = true;
    HUB_TRY(make(request, response, &lasting, err));
    if (!lasting)
        return HUB_OK;
    hub_response_end_line(response);
    if (response->buffer.size > LONGEST)
        return HUB_OK;
    HUB_TRY(headers_dup(response, &headers, err));
    const struct hub_cached_response_content content = {
        .body = &response->buffer, .object = headers, .bytes = sizeof *headers, .release = headers_free};
    HUB_CLEANUP(hub_cached_response_putp)
    struct hub_cached_response *answer = hub_cached_response_add(request->app, key, &content);
    if (answer)
        send_cached(answer, response);
    return HUB_OK;
}

enum hub_status hub_cached_answer(struct hub_request *request, struct hub_response *response,
                                  hub_answer_make *make, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = {0};
    struct hub_cached_response_key key;
    HUB_TRY(key_of(request, &text, &key, err));
    HUB_CLEANUP(hub_cached_response_putp)
    struct hub_cached_response *answer = hub_cached_response_find(request->app, &key);
    if (!answer)
        return request->may_block ? make_and_keep(request, response, &key, make, err) : HUB_AGAIN;
    HUB_TRY(copy_headers(hub_cached_response_object(answer), response, err));
    send_cached(answer, response);
    return HUB_OK;
}
