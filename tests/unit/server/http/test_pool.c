#include "server/http/pool.h"

#include <criterion/criterion.h>
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
    return (struct job){.task = {NULL, run_job, cancel_job}, .gate = gate};
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
