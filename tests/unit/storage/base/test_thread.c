/* storage/base/thread.c */
#include "storage/base/thread.h"

#include <criterion/criterion.h>
#include <unistd.h>

struct turns {
    struct hub_thread thread;
    unsigned done, wanted;
    atomic_bool hangs;
};

static void *run(void *arg)
{
    struct turns *t = arg;
    pthread_mutex_lock(&t->thread.lock);
    while (!t->thread.stop) {
        t->done += t->wanted;
        t->wanted = 0;
        hub_thread_wait(&t->thread, 60000);
    }
    pthread_mutex_unlock(&t->thread.lock);
    while (t->hangs)
        usleep(1000);
    return NULL;
}

static void want(struct turns *t)
{
    pthread_mutex_lock(&t->thread.lock);
    t->wanted++;
    pthread_cond_signal(&t->thread.wake);
    pthread_mutex_unlock(&t->thread.lock);
}

static unsigned done(struct turns *t)
{
    pthread_mutex_lock(&t->thread.lock);
    const unsigned done = t->done;
    pthread_mutex_unlock(&t->thread.lock);
    return done;
}

Test(thread, is_woken_and_ends, .timeout = 30)
{
    struct turns t = {0};
    cr_assert_eq(hub_thread_start(&t.thread, run, &t, "turns", NULL), HUB_OK);
    for (unsigned i = 1; i <= 3; i++) {
        want(&t);
        while (done(&t) < i)
            usleep(1000);
    }
    hub_thread_stop(&t.thread);
    hub_thread_dispose(&t.thread);
    cr_expect_eq(t.done, 3);
}

Test(thread, several_share_the_lock_and_the_end, .timeout = 30)
{
    struct turns t = {0};
    hub_thread_init(&t.thread);
    for (unsigned i = 0; i < 20; i++)
        cr_assert_eq(hub_thread_add(&t.thread, run, &t, "turns", NULL), HUB_OK);
    cr_expect_eq(t.thread.count, 20);
    for (unsigned i = 1; i <= 3; i++) {
        want(&t);
        while (done(&t) < i)
            usleep(1000);
    }
    hub_thread_stop(&t.thread);
    cr_expect_eq(t.thread.count, 0);
    hub_thread_dispose(&t.thread);
    cr_expect_eq(t.done, 3);
}

Test(thread, one_that_hangs_is_left, .timeout = 30)
{
    static struct turns t = {.hangs = true};
    cr_assert_eq(hub_thread_start(&t.thread, run, &t, "turns", NULL), HUB_OK);
    cr_expect(!hub_thread_stop_within(&t.thread, 20));
    t.hangs = false;
}

Test(thread, a_wait_has_an_end, .timeout = 30)
{
    struct turns t = {0};
    cr_assert_eq(hub_thread_start(&t.thread, run, &t, "turns", NULL), HUB_OK);
    cr_expect(hub_thread_stop_within(&t.thread, 20000));
    pthread_mutex_lock(&t.thread.lock);
    hub_thread_wait(&t.thread, 5);
    pthread_mutex_unlock(&t.thread.lock);
    hub_thread_dispose(&t.thread);
}
