/* Cached answers: see aggregate_cache.h. */
#include "server/api/statistics/aggregate_cache.h"

#include "server/api/response_cache.h"

enum { LONGEST = 256 * 1024 };

/* `text` holds the question. */
static enum hub_status key_of(const struct hub_request *request, const char *what,
                              const struct hub_state *state, const struct hub_coverage *coverage,
                              struct hub_buf *text, struct hub_cached_response_key *out,
                              struct hub_error *err)
{
    HUB_TRY(hub_buf_addf(text, err, "%s?%s", what, request->query_text ? request->query_text : ""));
    const uint64_t serial = hub_hash_word(HUB_HASH_START, (uint64_t)state->dataset->summary->serial);
    *out = (struct hub_cached_response_key){.kind = HUB_KEPT_AGGREGATE,
                                            .state = hub_hash_word(serial, coverage->state),
                                            .question = hub_buf_view(text)};
    return HUB_OK;
}

enum hub_status hub_aggregate_find(const struct hub_request *request, const char *what,
                                   const struct hub_state *state, struct hub_coverage *coverage,
                                   struct hub_response *response, bool *found, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(LONGEST);
    struct hub_cached_response_key key;
    HUB_TRY(key_of(request, what, state, coverage, &text, &key, err));
    HUB_CLEANUP(hub_cached_response_putp)
    struct hub_cached_response *answer = hub_cached_response_find(request->app, &key);
    *found = answer != NULL;
    if (!answer)
        return HUB_OK;
    *coverage = *(const struct hub_coverage *)hub_cached_response_object(answer);
    return hub_buf_add_view(hub_response_buffer(response, 200, "application/json", LONGEST + KIB),
                            hub_bytes_view(hub_cached_response_body(answer)), err);
}

void hub_aggregate_store(const struct hub_request *request, const char *what, const struct hub_state *state,
                         const struct hub_coverage *coverage, const struct hub_response *response)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(LONGEST), body = HUB_BUF_INIT(LONGEST);
    const struct hub_cached_response_content content = {
        .body = &body, .object = (void *)coverage, .bytes = sizeof *coverage};
    struct hub_cached_response_key key;
    if (!key_of(request, what, state, coverage, &text, &key, NULL) &&
        !hub_buf_add_view(&body, hub_buf_view(&response->buffer), NULL))
        hub_cached_response_put(hub_cached_response_add(request->app, &key, &content));
}
