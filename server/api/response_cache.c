/* Bodies that are kept ready: see response_cache.h. */
#include "server/api/response_cache.h"

#include "storage/base/lru.h"

#include <stdlib.h>

#define LONGEST (1 * MIB)

struct hub_cached_response {
    struct hub_lru_item item; /* first */
    struct hub_bytes *body;
    struct hub_budget *budget;
    size_t question, note; /* bytes of them */
    char text[];
};

/* What is no longer kept counts as memory of the answers that still send it. */
static void kept_free(struct hub_lru_item *item)
{
    struct hub_cached_response *kept = (struct hub_cached_response *)item;
    hub_bytes_charge(kept->body, kept->budget);
    hub_bytes_unref(kept->body);
    free(kept);
}

static struct hub_lru_key key_of(const struct hub_response_key *question)
{
    return (struct hub_lru_key){question->kind, question->state,
                                hub_hash(HUB_HASH_START, question->text.data, question->text.size)};
}

struct hub_cached_response *hub_cached_response_find(const struct hub_app *app,
                                                     const struct hub_response_key *question)
{
    const struct hub_lru_key key = key_of(question);
    struct hub_cached_response *kept = (struct hub_cached_response *)hub_lru_get(app->documents, &key);
    if (!kept || hub_view_equal(question->text, (struct hub_view){kept->text, kept->question}))
        return kept;
    hub_cached_response_put(kept); /* another question of the same hash */
    return NULL;
}

void hub_cached_response_put(struct hub_cached_response *kept)
{
    hub_lru_put(kept ? &kept->item : NULL);
}

struct hub_bytes *hub_cached_response_body(const struct hub_cached_response *kept)
{
    return kept->body;
}

struct hub_view hub_cached_response_note(const struct hub_cached_response *kept)
{
    return (struct hub_view){kept->text + kept->question, kept->note};
}

struct hub_cached_response *hub_cached_response_add(const struct hub_app *app,
                                                    const struct hub_response_key *question,
                                                    struct hub_view note, struct hub_buf *body)
{
    struct hub_cached_response *kept;
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
