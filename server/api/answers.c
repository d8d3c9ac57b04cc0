/* Kept answers: see answers.h. */
#include "server/api/answers.h"

#include <stdlib.h>

enum { KEPT_ANSWER = 0x616e7377, LONGEST = 256 * 1024 }; /* among what is kept ready in app->documents */

struct kept {
    struct hub_lru_item item; /* first */
    struct hub_coverage coverage;
    size_t question, answer; /* bytes of them */
    char text[];
};

static void kept_free(struct hub_lru_item *item)
{
    free(item);
}

static enum hub_status question_of(const struct hub_request *request, const char *what, struct hub_buf *out,
                                   struct hub_error *err)
{
    return hub_buf_addf(out, err, "%s?%s", what, request->query_text ? request->query_text : "");
}

static struct hub_lru_key key_of(struct hub_view question, const struct hub_state *state,
                                 const struct hub_coverage *coverage)
{
    return (struct hub_lru_key){KEPT_ANSWER + coverage->state, state->dataset->summary->serial,
                                hub_hash(HUB_HASH_START, question.data, question.size)};
}

enum hub_status hub_answer_find(const struct hub_request *request, const char *what,
                                const struct hub_state *state, struct hub_coverage *coverage,
                                struct hub_response *response, bool *found, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(LONGEST);
    HUB_TRY(question_of(request, what, &text, err));
    const struct hub_view question = hub_buf_view(&text);
    const struct hub_lru_key key = key_of(question, state, coverage);
    struct kept *kept = (struct kept *)hub_lru_get(request->app->documents, &key);
    enum hub_status st = HUB_OK;
    *found = kept && hub_view_equal(question, (struct hub_view){kept->text, kept->question});
    if (*found) {
        *coverage = kept->coverage;
        st = hub_buf_add(hub_response_buffer(response, 200, "application/json", LONGEST + KIB),
                         kept->text + kept->question, kept->answer, err);
    }
    hub_lru_put(kept ? &kept->item : NULL);
    return st;
}

void hub_answer_keep(const struct hub_request *request, const char *what, const struct hub_state *state,
                     const struct hub_coverage *coverage, const struct hub_response *response)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(LONGEST);
    const struct hub_view answer = hub_buf_view(&response->buffer);
    struct kept *kept;
    if (answer.size > LONGEST || question_of(request, what, &text, NULL))
        return;
    const struct hub_view question = hub_buf_view(&text);
    const size_t bytes = sizeof *kept + question.size + answer.size;
    if (hub_new(&kept, 1, bytes, NULL))
        return;
    kept->item = (struct hub_lru_item){
        .key = key_of(question, state, coverage), .bytes = bytes, .free = kept_free, .refs = 1};
    kept->coverage = *coverage;
    kept->question = question.size;
    kept->answer = answer.size;
    memcpy(kept->text, question.data, question.size);
    memcpy(kept->text + question.size, answer.data, answer.size);
    hub_lru_replace(request->app->documents, &kept->item);
    hub_lru_put(&kept->item);
}
