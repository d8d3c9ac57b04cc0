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
static void cached_free(struct hub_lru_item *item)
{
    struct hub_cached_response *cached = (struct hub_cached_response *)item;
    hub_bytes_charge(cached->body, cached->budget);
    hub_bytes_unref(cached->body);
    free(cached);
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
    struct hub_cached_response *cached = (struct hub_cached_response *)hub_lru_get(app->documents, &key);
    if (!cached || hub_view_equal(question->text, (struct hub_view){cached->text, cached->question}))
        return cached;
    hub_cached_response_put(cached); /* another question of the same hash */
    return NULL;
}

void hub_cached_response_put(struct hub_cached_response *cached)
{
    hub_lru_put(cached ? &cached->item : NULL);
}

struct hub_bytes *hub_cached_response_body(const struct hub_cached_response *cached)
{
    return cached->body;
}

struct hub_view hub_cached_response_note(const struct hub_cached_response *cached)
{
    return (struct hub_view){cached->text + cached->question, cached->note};
}

struct hub_cached_response *hub_cached_response_add(const struct hub_app *app,
                                                    const struct hub_response_key *question,
                                                    struct hub_view note, struct hub_buf *body)
{
    struct hub_cached_response *cached;
    const size_t bytes = sizeof *cached + question->text.size + note.size;
    if (body->size > LONGEST || hub_new(&cached, 1, bytes, NULL))
        return NULL;
    hub_buf_fit(body, 4 * KIB);
    cached->item = (struct hub_lru_item){
        .key = key_of(question), .bytes = bytes + body->size, .free = cached_free, .refs = 1};
    cached->budget = app->budget;
    cached->question = question->text.size;
    cached->note = note.size;
    memcpy(mempcpy(cached->text, question->text.data, question->text.size), note.data, note.size);
    cached->body = hub_bytes_new(body);
    if (!cached->body) {
        free(cached);
        return NULL;
    }
    hub_lru_replace(app->documents, &cached->item);
    return cached;
}
