/* Answers that are kept: see response_cache.h. */
#include "server/api/response_cache.h"

#include <stddef.h>
#include <stdlib.h>

struct hub_cached_response {
    struct hub_lru_item item;           /* first */
    struct hub_cached_response_key key; /* its question lies behind the object in `data` */
    struct hub_budget *budget;
    struct hub_bytes *body;
    void *object;
    void (*release)(void *object);
    _Alignas(max_align_t) char data[];
};

/* A body that is no longer kept counts as memory of the answers that still send it. */
static void answer_free(struct hub_lru_item *item)
{
    struct hub_cached_response *answer = (struct hub_cached_response *)item;
    if (answer->body)
        hub_bytes_charge(answer->body, answer->budget);
    hub_bytes_unref(answer->body);
    if (answer->release)
        answer->release(answer->object);
    free(answer);
}

static struct hub_lru_key key_of(const struct hub_cached_response_key *key)
{
    const uint64_t question = hub_hash(HUB_HASH_START, key->question.data, key->question.size);
    return (struct hub_lru_key){key->kind, key->state, hub_hash(question, &key->mask, sizeof key->mask)};
}

struct hub_cached_response *hub_cached_response_find(const struct hub_app *app,
                                                     const struct hub_cached_response_key *key)
{
    const struct hub_lru_key at = key_of(key);
    struct hub_cached_response *answer = (struct hub_cached_response *)hub_lru_get(app->answers, &at);
    if (!answer || (answer->key.mask == key->mask && hub_view_equal(answer->key.question, key->question)))
        return answer;
    hub_lru_drop(app->answers, &at); /* it is to another question of the same hash */
    hub_cached_response_put(answer);
    return NULL;
}

/* What has no memory is let go. */
static struct hub_cached_response *take(const struct hub_cached_response_key *key,
                                        const struct hub_cached_response_content *content)
{
    const size_t value = content->release ? 0 : content->bytes;
    struct hub_cached_response *answer;
    if (hub_new(&answer, 1, sizeof *answer + value + key->question.size, NULL)) {
        if (content->release)
            content->release(content->object);
        return NULL;
    }
    answer->release = content->release;
    answer->object = content->release ? content->object : value ? answer->data : NULL;
    if (value)
        memcpy(answer->data, content->object, value);
    answer->key = *key;
    answer->key.question = (struct hub_view){answer->data + value, key->question.size};
    memcpy(answer->data + value, key->question.data, key->question.size);
    return answer;
}

struct hub_cached_response *hub_cached_response_add(const struct hub_app *app,
                                                    const struct hub_cached_response_key *key,
                                                    const struct hub_cached_response_content *content)
{
    const size_t body = content->body ? content->body->size : 0;
    struct hub_cached_response *answer = take(key, content);
    if (!answer)
        return NULL;
    answer->item = (struct hub_lru_item){.key = key_of(key),
                                         .bytes = sizeof *answer + content->bytes + key->question.size + body,
                                         .free = answer_free,
                                         .refs = 1};
    answer->budget = app->budget;
    if (content->body) {
        hub_buf_fit(content->body, 4 * KIB);
        answer->body = hub_bytes_new(content->body);
        if (!answer->body) {
            hub_cached_response_put(answer);
            return NULL;
        }
    }
    if (!content->body) /* by whoever was first */
        return (struct hub_cached_response *)hub_lru_add(app->answers, &answer->item);
    hub_lru_replace(app->answers, &answer->item);
    return answer;
}

void hub_cached_response_put(struct hub_cached_response *answer)
{
    hub_lru_put(answer ? &answer->item : NULL);
}

void hub_cached_response_putp(struct hub_cached_response **answer)
{
    hub_cached_response_put(*answer);
}

struct hub_bytes *hub_cached_response_body(const struct hub_cached_response *answer)
{
    return answer->body;
}

const void *hub_cached_response_object(const struct hub_cached_response *answer)
{
    return answer->object;
}
