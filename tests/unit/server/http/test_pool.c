#include "server/http/pool.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

struct job {
    struct hub_task task;
    atomic_int state; /* 1: run, 2: cancelled */
    int order;
    atomic_bool *gate; /* run waits until it is true */
};

static atomic_int order;

static void run_job(struct hub_task *task)
{
    struct job *job = (struct job *)task;
    while (job->gate && !atomic_load(job->gate))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    job->order = atomic_fetch_add(&order, 1);
    atomic_store(&job->state, 1);
}

static void cancel_job(struct hub_task *task)
{
    atomic_store(&((struct job *)task)->state, 2);
}

static struct job job_at(atomic_bool *gate)
{
    return (struct job){.task = {.run = run_job, .cancel = cancel_job}, .gate = gate};
}

static void wait_for(struct job *job)
{
    while (!atomic_load(&job->state))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

Test(pool, first_in_first_out_and_bounded, .timeout = 20)
{
    struct hub_pool *pool = NULL;
    atomic_bool gate = false;
    struct job blocker = job_at(&gate), jobs[4], more = job_at(NULL);
    cr_assert_eq(hub_pool_new(1, 4, &pool, NULL), HUB_OK);
    cr_assert(hub_pool_push(pool, &blocker.task, false));
    while (hub_pool_depth(pool) > 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    for (size_t i = 0; i < 4; i++) {
        jobs[i] = job_at(NULL);
        cr_assert(hub_pool_push(pool, &jobs[i].task, false));
    }
    cr_assert_eq(hub_pool_depth(pool), 4);
    cr_assert_not(hub_pool_push(pool, &more.task, false), "the queue is full");
    cr_assert(hub_pool_push(pool, &more.task, true), "what was admitted before may go beyond");
    atomic_store(&gate, true);
    wait_for(&more);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(jobs[i].order, i + 1);
    hub_pool_free(pool);
}

Test(pool, stop_cancels_what_waits, .timeout = 20)
{
    struct hub_pool *pool = NULL;
    atomic_bool gate = false;
    struct job blocker = job_at(&gate), waiting = job_at(NULL), late = job_at(NULL);
    cr_assert_eq(hub_pool_new(1, 4, &pool, NULL), HUB_OK);
    cr_assert(hub_pool_push(pool, &blocker.task, false));
    while (hub_pool_depth(pool) > 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    cr_assert(hub_pool_push(pool, &waiting.task, false));
    atomic_store(&gate, true);
    hub_pool_stop(pool);
    cr_assert_eq(atomic_load(&blocker.state), 1, "what runs is finished");
    cr_assert(atomic_load(&waiting.state) != 0);
    cr_assert_not(hub_pool_push(pool, &late.task, true));
    hub_pool_free(pool);
}

struct sums {
    const struct hub_parallel *parallel;
    atomic_uint done[200];
    uint32_t nested;
};

static void add_one(void *arg, uint32_t i)
{
    struct sums *sums = arg;
    atomic_fetch_add(&sums->done[i], 1);
}

static void add_many(void *arg, uint32_t i)
{
    struct sums *sums = arg;
    (void)i;
    sums->parallel->run(sums->parallel->pool, add_one, sums, sums->nested);
}

Test(pool, parallel_work_is_done_once_each_even_nested, .timeout = 60)
{
    for (unsigned workers = 1; workers <= 4; workers++) {
        struct hub_pool *pool = NULL;
        cr_assert_eq(hub_pool_new(workers, 4, &pool, NULL), HUB_OK);
        struct sums *sums = calloc(1, sizeof *sums);
        sums->parallel = hub_pool_parallel(pool);
        sums->nested = 200;
        for (int round = 0; round < 50; round++)
            sums->parallel->run(pool, add_many, sums, 5);
        for (int i = 0; i < 200; i++)
            cr_assert_eq(atomic_load(&sums->done[i]), 250);
        sums->parallel->run(pool, add_one, sums, 0);
        hub_pool_free(pool);
        free(sums);
    }
}

static void wait_until_begun(struct hub_pool *pool)
{
    while (hub_pool_depth(pool) > 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

Test(pool, clients_take_turns, .timeout = 20)
{
    struct hub_pool *pool = NULL;
    atomic_bool gate = false;
    struct job blocker = job_at(&gate), many[20], one = job_at(NULL);
    atomic_store(&order, 0);
    cr_assert_eq(hub_pool_new(1, 100, &pool, NULL), HUB_OK);
    cr_assert(hub_pool_push(pool, &blocker.task, false));
    wait_until_begun(pool);
    for (size_t i = 0; i < 20; i++) {
        many[i] = job_at(NULL);
        many[i].task.heavy = i % 2;
        cr_assert(hub_pool_push(pool, &many[i].task, false));
    }
    one.task.item.client = 1;
    cr_assert(hub_pool_push(pool, &one.task, false));
    atomic_store(&gate, true);
    wait_for(&many[19]);
    cr_assert_leq(one.order, 4, "not behind all of the other's: %d", one.order);
    hub_pool_free(pool);
}

Test(pool, heavy_tasks_leave_one_thread_to_the_light, .timeout = 20)
{
    struct hub_pool *pool = NULL;
    atomic_bool gate = false;
    struct job heavy[5], light = job_at(NULL);
    cr_assert_eq(hub_pool_new(3, 100, &pool, NULL), HUB_OK);
    for (size_t i = 0; i < 5; i++) {
        heavy[i] = job_at(&gate);
        heavy[i].task.heavy = true;
        cr_assert(hub_pool_push(pool, &heavy[i].task, false));
    }
    while (hub_pool_depth(pool) > 3)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    cr_assert(hub_pool_push(pool, &light.task, false));
    wait_for(&light);
    cr_assert_eq(hub_pool_depth(pool), 3, "two of three threads are the heavy ones'");
    atomic_store(&gate, true);
    for (size_t i = 0; i < 5; i++)
        wait_for(&heavy[i]);
    hub_pool_free(pool);
}

struct spread {
    struct hub_task task;
    struct hub_pool *pool;
    pthread_t owner;
    atomic_uint begun, by_owner;
    atomic_bool done, queue_filled;
};

/* The first two are done side by side; from then on a task waits. */
static void work_unit(void *arg, uint32_t i)
{
    struct spread *s = arg;
    const struct timespec moment = {.tv_nsec = 1000000};
    atomic_fetch_add(&s->begun, 1);
    if (i < 2)
        while (atomic_load(&s->begun) < 2)
            nanosleep(&moment, NULL);
    while (!atomic_load(&s->queue_filled))
        nanosleep(&moment, NULL);
    atomic_fetch_add(&s->by_owner, pthread_equal(s->owner, pthread_self()) != 0);
}

static void run_spread(struct hub_task *task)
{
    struct spread *s = (struct spread *)task;
    const struct hub_parallel *parallel = hub_pool_parallel(s->pool);
    s->owner = pthread_self();
    parallel->run(parallel->pool, work_unit, s, 10);
    atomic_store(&s->done, true);
}

Test(pool, nobody_helps_while_a_task_waits, .timeout = 20)
{
    struct spread s = {.task = {.run = run_spread, .cancel = run_spread}};
    atomic_bool gate = false;
    struct job waiting[2] = {job_at(&gate), job_at(&gate)};
    cr_assert_eq(hub_pool_new(2, 100, &s.pool, NULL), HUB_OK);
    cr_assert(hub_pool_push(s.pool, &s.task, false));
    while (atomic_load(&s.begun) < 2) /* the second thread helps: nothing else is there */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    cr_assert(hub_pool_push(s.pool, &waiting[0].task, false));
    cr_assert(hub_pool_push(s.pool, &waiting[1].task, false));
    atomic_store(&s.queue_filled, true);
    while (!atomic_load(&s.done))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    cr_assert_eq(atomic_load(&s.by_owner), 9, "the helper did its one and left for what waited");
    atomic_store(&gate, true);
    wait_for(&waiting[1]);
    hub_pool_free(s.pool);
}
