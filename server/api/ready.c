/* Bodies that are kept ready: see ready.h. */
#include "server/api/ready.h"

#include "storage/base/lru.h"

#include <stdlib.h>

#define LONGEST (1 * MIB)

struct hub_ready {
    struct hub_lru_item item; /* first */
    struct hub_bytes *body;
    struct hub_budget *budget;
    size_t question, note; /* bytes of them */
    char text[];
};

/* What is no longer kept counts as memory of the answers that still send it. */
static void kept_free(struct hub_lru_item *item)
{
    struct hub_ready *kept = (struct hub_ready *)item;
    hub_bytes_charge(kept->body, kept->budget);
    hub_bytes_unref(kept->body);
    free(kept);
}

static struct hub_lru_key key_of(const struct hub_ready_question *question)
{
    return (struct hub_lru_key){question->kind, question->state,
                                hub_hash(HUB_HASH_START, question->text.data, question->text.size)};
}

struct hub_ready *hub_ready_find(const struct hub_app *app, const struct hub_ready_question *question)
{
    const struct hub_lru_key key = key_of(question);
    struct hub_ready *kept = (struct hub_ready *)hub_lru_get(app->documents, &key);
    if (!kept || hub_view_equal(question->text, (struct hub_view){kept->text, kept->question}))
        return kept;
    hub_ready_put(kept); /* another question of the same hash */
    return NULL;
}

void hub_ready_put(struct hub_ready *kept)
{
    hub_lru_put(kept ? &kept->item : NULL);
}

struct hub_bytes *hub_ready_body(const struct hub_ready *kept)
{
    return kept->body;
}

struct hub_view hub_ready_note(const struct hub_ready *kept)
{
    return (struct hub_view){kept->text + kept->question, kept->note};
}

struct hub_ready *hub_ready_add(const struct hub_app *app, const struct hub_ready_question *question,
                                struct hub_view note, struct hub_buf *body)
{
    struct hub_ready *kept;
    const size_t bytes = sizeof *kept + question->text.size + note.size;
    if (body->size > LONGEST || hub_new(&kept, 1, bytes, NULL))
        return NULL;
    hub_buf_fit(body, 4 * KIB);
    kept->item = (struct hub_lru_item){
        .key = key_of(question), .bytes = bytes + body->size, .free = kept_free, .refs = 1};
    kept->budget = app->budget;
    kept->question = question->text.size;
    kept->note = note.size;
    memcpy(mempcpy(kept->text, question->text.data, question->text.size), note.data, note.size);
    kept->body = hub_bytes_new(body);
    if (!kept->body) {
        free(kept);
        return NULL;
    }
    hub_lru_replace(app->documents, &kept->item);
    return kept;
}
