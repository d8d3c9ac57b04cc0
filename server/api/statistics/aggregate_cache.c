/* Cached answers: see aggregate_cache.h. */
#include "server/api/statistics/aggregate_cache.h"
#include "server/api/response_cache.h"

enum { KEPT_ANSWER = 0x616e7377, LONGEST = 256 * 1024 }; /* among what is kept ready in app->documents */

static enum hub_status question_of(const struct hub_request *request, const char *what,
                                   const struct hub_state *state, const struct hub_coverage *coverage,
                                   struct hub_buf *text, struct hub_response_key *out, struct hub_error *err)
{
    HUB_TRY(hub_buf_addf(text, err, "%s?%s", what, request->query_text ? request->query_text : ""));
    *out = (struct hub_response_key){KEPT_ANSWER + coverage->state, state->dataset->summary->serial,
                                     hub_buf_view(text)};
    return HUB_OK;
}

static void cached_putp(struct hub_cached_response **cached)
{
    hub_cached_response_put(*cached);
}

enum hub_status hub_aggregate_find(const struct hub_request *request, const char *what,
                                   const struct hub_state *state, struct hub_coverage *coverage,
                                   struct hub_response *response, bool *found, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(LONGEST);
    struct hub_response_key question;
    HUB_TRY(question_of(request, what, state, coverage, &text, &question, err));
    HUB_CLEANUP(cached_putp)
    struct hub_cached_response *cached = hub_cached_response_find(request->app, &question);
    *found = cached != NULL;
    if (!cached)
        return HUB_OK;
    memcpy(coverage, hub_cached_response_note(cached).data, sizeof *coverage);
    return hub_buf_add_view(hub_response_buffer(response, 200, "application/json", LONGEST + KIB),
                            hub_bytes_view(hub_cached_response_body(cached)), err);
}

void hub_aggregate_store(const struct hub_request *request, const char *what, const struct hub_state *state,
                         const struct hub_coverage *coverage, const struct hub_response *response)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(LONGEST), body = HUB_BUF_INIT(LONGEST);
    const struct hub_view note = {(const char *)coverage, sizeof *coverage};
    struct hub_response_key question;
    if (question_of(request, what, state, coverage, &text, &question, NULL) ||
        hub_buf_add_view(&body, hub_buf_view(&response->buffer), NULL))
        return;
    hub_cached_response_put(hub_cached_response_add(request->app, &question, note, &body));
}
