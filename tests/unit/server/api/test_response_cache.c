/* server/api/response_cache.c */
#include "server/api/response_cache.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct hub_app app;
static unsigned released;

static void release(void *object)
{
    released++;
    free(object);
}

static void open_app(void)
{
    cr_assert_eq(hub_lru_new(MIB, &app.answers, NULL), HUB_OK);
}

static void close_app(void)
{
    hub_lru_free(app.answers);
}

TestSuite(response_cache, .init = open_app, .fini = close_app);

static bool has(const struct hub_cached_response_key *key)
{
    struct hub_cached_response *answer = hub_cached_response_find(&app, key);
    hub_cached_response_put(answer);
    return answer != NULL;
}

Test(response_cache, all_of_a_key_counts)
{
    struct hub_cached_response_key key = {
        .kind = HUB_KEPT_REPO, .state = 7, .question = HUB_VIEW("which"), .mask = 1};
    const int value = 42;
    const struct hub_cached_response_content content = {.object = (void *)&value, .bytes = sizeof value};
    hub_cached_response_put(hub_cached_response_add(&app, &key, &content));
    struct hub_cached_response *answer = hub_cached_response_find(&app, &key);
    cr_assert(answer);
    cr_expect_eq(*(const int *)hub_cached_response_object(answer), 42);
    cr_expect_null(hub_cached_response_body(answer));
    hub_cached_response_put(answer);
    key.mask = 2;
    cr_expect(!has(&key), "it was made for another class of access");
    key.mask = 1;
    key.state = 8;
    cr_expect(!has(&key));
    key.state = 7;
    key.kind = HUB_KEPT_PAGE;
    cr_expect(!has(&key));
    key.kind = HUB_KEPT_REPO;
    key.question = HUB_VIEW("whic");
    cr_expect(!has(&key));
    key.question = HUB_VIEW("which");
    cr_expect(has(&key));
}

Test(response_cache, two_apps_have_their_own)
{
    struct hub_app other = {0};
    const struct hub_cached_response_key key = {.kind = HUB_KEPT_REPO, .question = HUB_VIEW("")};
    cr_assert_eq(hub_lru_new(MIB, &other.answers, NULL), HUB_OK);
    hub_cached_response_put(hub_cached_response_add(
        &other, &key, &(struct hub_cached_response_content){.object = (void *)&key, .bytes = sizeof key}));
    cr_expect(!has(&key));
    hub_lru_free(other.answers);
}

Test(response_cache, an_object_is_released_and_a_body_replaced)
{
    const struct hub_cached_response_key objects = {.kind = HUB_KEPT_OBJECTS, .question = HUB_VIEW("")},
                                         page = {.kind = HUB_KEPT_PAGE, .question = HUB_VIEW("/a")};
    for (unsigned i = 0; i < 2; i++) {
        const struct hub_cached_response_content content = {
            .object = malloc(10), .bytes = 10, .release = release};
        hub_cached_response_put(hub_cached_response_add(&app, &objects, &content));
    }
    cr_expect_eq(released, 1, "the first stays");
    for (unsigned i = 0; i < 2; i++) {
        struct hub_buf body = HUB_BUF_INIT(KIB);
        cr_assert_eq(hub_buf_add_text(&body, i ? "second" : "first", NULL), HUB_OK);
        hub_cached_response_put(
            hub_cached_response_add(&app, &page, &(struct hub_cached_response_content){.body = &body}));
        cr_expect_null(body.data, "it is taken");
    }
    struct hub_cached_response *answer = hub_cached_response_find(&app, &page);
    cr_assert(answer && hub_view_is(hub_bytes_view(hub_cached_response_body(answer)), "second"));
    hub_lru_make_room(app.answers, SIZE_MAX);
    cr_expect_eq(released, 2);
    cr_expect(hub_view_is(hub_bytes_view(hub_cached_response_body(answer)), "second"), "it is in use");
    hub_cached_response_put(answer);
}
