#include "storage/io/fetch.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* A source that answers what is asked of it: the bytes are their own offsets. */
static enum hub_status says;
static struct hub_file_fetch *running;

static void fill(const struct hub_file_fetch *fetch)
{
    for (uint32_t i = 0; i < fetch->count; i++)
        for (uint64_t k = 0; k < fetch->items[i].size; k++)
            fetch->items[i].data[k] = (uint8_t)(fetch->items[i].offset + k);
}

static enum hub_status fetch_bytes(const struct hub_fetch_source *source, struct hub_file_fetch *fetch,
                                   struct hub_error *err)
{
    (void)source;
    if (says == HUB_AGAIN)
        running = fetch;
    else
        fill(fetch);
    return says == HUB_OK || says == HUB_AGAIN ? says : hub_fail(err, says, "as told");
}

static const struct hub_fetch_source source = {fetch_bytes};

static struct hub_file *new_file(const struct hub_fetch_source *from)
{
    struct hub_file *file = calloc(1, sizeof *file);
    atomic_init(&file->item.refs, 1);
    file->fd = dup(0);
    file->source = from;
    file->path = "somewhere";
    return file;
}

static void count(void *calls)
{
    ++*(int *)calls;
}

Test(fetch, wants_are_joined)
{
    struct hub_wants wants = {0};
    cr_assert_eq(hub_wants_add(&wants, 1, 100, 50, NULL), HUB_OK);
    cr_assert_eq(hub_wants_add(&wants, 1, 150, 10, NULL), HUB_OK);
    cr_expect_eq(wants.count, 1, "one follows the other");
    cr_assert_eq(hub_wants_add(&wants, 0, 1000000, 5, NULL), HUB_OK);
    cr_assert_eq(hub_wants_add(&wants, 1, 500000, 5, NULL), HUB_OK);
    cr_assert_eq(hub_wants_add(&wants, 1, 120, 1, NULL), HUB_OK);
    cr_assert_eq(hub_wants_add(&wants, 1, 1160, 10, NULL), HUB_OK);
    cr_expect_eq(hub_wants_join(&wants), 5 + 1070 + 5, "a small gap is fetched with its neighbours");
    cr_assert_eq(wants.count, 3);
    cr_expect_eq(wants.items[0].number, 0);
    cr_expect_eq(wants.items[1].offset, 100);
    cr_expect_eq(wants.items[1].size, 1070);
    cr_expect_eq(wants.items[2].offset, 500000);
    hub_wants_dispose(&wants);
}

Test(fetch, what_lies_in_place_is_not_fetched)
{
    struct hub_file *here = new_file(NULL), *there = new_file(&source);
    struct hub_want items[] = {{.number = 0, .file = here, .size = 9},
                               {.number = 1, .file = there, .offset = 7, .size = 3}};
    struct hub_file_fetch *fetch = NULL;
    uint8_t got[3];
    says = HUB_OK;
    cr_assert_eq(hub_fetch_start(&(struct hub_wants){items, 1, 1}, &fetch, NULL), HUB_OK);
    cr_expect_null(fetch);
    cr_assert_eq(hub_fetch_start(&(struct hub_wants){items, 2, 2}, &fetch, NULL), HUB_OK);
    cr_assert_eq(fetch->count, 1);
    cr_expect_eq(hub_fetch_result(fetch, NULL), HUB_OK);
    cr_assert_eq(hub_fetch_copy(fetch, there, 8, got, 2, NULL), HUB_OK);
    cr_expect(got[0] == 8 && got[1] == 9);
    cr_expect_eq(hub_fetch_copy(fetch, there, 8, got, 3, NULL), HUB_IO, "beyond");
    cr_expect_eq(hub_fetch_copy(fetch, there, 6, got, 1, NULL), HUB_IO, "before");
    cr_expect_eq(hub_fetch_copy(fetch, here, 0, got, 1, NULL), HUB_IO, "another file");
    hub_fetch_put(fetch);
    cr_expect_eq(atomic_load(&there->item.refs), 1, "the file is held only as long");
    hub_file_put(here);
    hub_file_put(there);
}

Test(fetch, it_is_waited_for_or_left)
{
    struct hub_file *file = new_file(&source);
    struct hub_file_fetch *fetch;
    struct hub_error err = {0};
    int calls = 0;
    says = HUB_AGAIN;
    cr_assert_eq(hub_fetch_range(file, 3, 4, &fetch, NULL), HUB_AGAIN);
    cr_expect_eq(hub_fetch_result(fetch, NULL), HUB_AGAIN);
    cr_assert(hub_fetch_wait(fetch, count, &calls));
    fill(running);
    hub_fetch_done(running, HUB_OK);
    cr_expect_eq(calls, 1);
    cr_expect_eq(hub_fetch_result(fetch, NULL), HUB_OK);
    cr_expect_not(hub_fetch_wait(fetch, count, &calls), "it is there already");
    cr_expect_not(hub_fetch_leave(fetch));
    hub_fetch_put(fetch);

    cr_assert_eq(hub_fetch_range(file, 3, 4, &fetch, NULL), HUB_AGAIN);
    cr_assert(hub_fetch_wait(fetch, count, &calls));
    cr_assert(hub_fetch_leave(fetch));
    cr_expect_not(hub_fetch_leave(fetch), "once");
    cr_expect_not(hub_fetch_left(running));
    hub_fetch_put(fetch);
    cr_expect(hub_fetch_left(running));
    hub_fetch_done(running, hub_fail(&running->err, HUB_IO, "too late anyway"));
    cr_expect_eq(calls, 1, "who left is not called");

    says = HUB_IO;
    cr_expect_eq(hub_fetch_range(file, 3, 4, &fetch, &err), HUB_IO);
    cr_expect_eq(atomic_load(&file->item.refs), 1);
    hub_file_put(file);
}

static void *finish(void *unused)
{
    (void)unused;
    usleep(10000);
    fill(running);
    hub_fetch_done(running, HUB_OK);
    return NULL;
}

static enum hub_status fetch_later(const struct hub_fetch_source *from, struct hub_file_fetch *fetch,
                                   struct hub_error *err)
{
    pthread_t thread;
    (void)from;
    (void)err;
    running = fetch;
    pthread_create(&thread, NULL, finish, NULL);
    pthread_detach(thread);
    return HUB_AGAIN;
}

Test(fetch, threads_may_wait)
{
    static const struct hub_fetch_source later = {fetch_later};
    struct hub_file *file = new_file(&later);
    uint8_t got[4];
    cr_assert_eq(hub_fetch_read(file, 3, got, sizeof got, NULL), HUB_OK);
    cr_expect(got[0] == 3 && got[3] == 6);
    hub_file_put(file);
}
