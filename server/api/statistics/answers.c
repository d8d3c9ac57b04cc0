/* Kept answers: see answers.h. */
#include "server/api/statistics/answers.h"
#include "server/api/ready.h"

enum { KEPT_ANSWER = 0x616e7377, LONGEST = 256 * 1024 }; /* among what is kept ready in app->documents */

static enum hub_status question_of(const struct hub_request *request, const char *what,
                                   const struct hub_state *state, const struct hub_coverage *coverage,
                                   struct hub_buf *text, struct hub_ready_question *out,
                                   struct hub_error *err)
{
    HUB_TRY(hub_buf_addf(text, err, "%s?%s", what, request->query_text ? request->query_text : ""));
    *out = (struct hub_ready_question){KEPT_ANSWER + coverage->state, state->dataset->summary->serial,
                                       hub_buf_view(text)};
    return HUB_OK;
}

static void kept_putp(struct hub_ready **kept)
{
    hub_ready_put(*kept);
}

enum hub_status hub_answer_find(const struct hub_request *request, const char *what,
                                const struct hub_state *state, struct hub_coverage *coverage,
                                struct hub_response *response, bool *found, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(LONGEST);
    struct hub_ready_question question;
    HUB_TRY(question_of(request, what, state, coverage, &text, &question, err));
    HUB_CLEANUP(kept_putp) struct hub_ready *kept = hub_ready_find(request->app, &question);
    *found = kept != NULL;
    if (!kept)
        return HUB_OK;
    memcpy(coverage, hub_ready_note(kept).data, sizeof *coverage);
    return hub_buf_add_view(hub_response_buffer(response, 200, "application/json", LONGEST + KIB),
                            hub_bytes_view(hub_ready_body(kept)), err);
}

void hub_answer_keep(const struct hub_request *request, const char *what, const struct hub_state *state,
                     const struct hub_coverage *coverage, const struct hub_response *response)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(LONGEST), body = HUB_BUF_INIT(LONGEST);
    const struct hub_view note = {(const char *)coverage, sizeof *coverage};
    struct hub_ready_question question;
    if (question_of(request, what, state, coverage, &text, &question, NULL) ||
        hub_buf_add_view(&body, hub_buf_view(&response->buffer), NULL))
        return;
    hub_ready_put(hub_ready_add(request->app, &question, note, &body));
}
