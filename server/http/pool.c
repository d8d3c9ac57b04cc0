/* The worker pool: see pool.h. Spreading work (hub_parallel): the caller puts a job on a list, takes indices
 * itself, and idle workers join in until a task waits; it waits only for helpers that have begun, so it can
 * never wait for a worker that is not there. */
#include "server/http/pool.h"

#include "storage/base/thread.h"

#include <stdatomic.h>
#include <stdlib.h>

struct parallel_job {
    struct parallel_job *next;
    void (*work)(void *arg, uint32_t i);
    void *arg;
    uint32_t count;
    atomic_uint_fast32_t taken;
    unsigned helpers; /* by the pool's lock */
    pthread_cond_t idle;
};

struct hub_pool {
    struct hub_thread workers;
    struct hub_lanes light, heavy;
    atomic_uint depth; /* of both; changed with the lock */
    unsigned limit;
    unsigned heavy_running;
    bool heavy_next; /* they take turns while both wait */
    struct parallel_job *jobs;
    struct hub_parallel parallel;
    unsigned count; /* of workers */
};

static bool take_index(struct parallel_job *job)
{
    const uint_fast32_t i = atomic_fetch_add_explicit(&job->taken, 1, memory_order_relaxed);
    if (i >= job->count)
        return false;
    job->work(job->arg, (uint32_t)i);
    return true;
}

/* A job with indices left; the lock is held. */
static struct parallel_job *open_job(struct hub_pool *pool)
{
    for (struct parallel_job *job = pool->jobs; job; job = job->next)
        if (atomic_load_explicit(&job->taken, memory_order_relaxed) < job->count)
            return job;
    return NULL;
}

/* Until there are no indices left, or a task waits. */
static void help(struct hub_pool *pool, struct parallel_job *job)
{
    job->helpers++;
    pthread_mutex_unlock(&pool->workers.lock);
    while (!atomic_load_explicit(&pool->depth, memory_order_relaxed) && take_index(job))
        ;
    pthread_mutex_lock(&pool->workers.lock);
    if (--job->helpers == 0)
        pthread_cond_signal(&job->idle);
}

/* The next task that may run now, or NULL. */
static struct hub_task *shift(struct hub_pool *pool)
{
    const bool may_be_heavy = pool->heavy.count && pool->heavy_running < HUB_MAX(pool->count - 1, 1);
    const bool heavy = may_be_heavy && (pool->heavy_next || !pool->light.count);
    struct hub_task *task = (struct hub_task *)hub_lanes_shift(heavy ? &pool->heavy : &pool->light);
    if (!task)
        return NULL;
    pool->heavy_next = !heavy;
    pool->heavy_running += heavy;
    atomic_fetch_sub(&pool->depth, 1);
    return task;
}

static void run_task(struct hub_pool *pool, struct hub_task *task)
{
    const bool heavy = task->heavy; /* it may be gone, or waiting again, when it has run */
    pthread_mutex_unlock(&pool->workers.lock);
    task->run(task);
    pthread_mutex_lock(&pool->workers.lock);
    pool->heavy_running -= heavy;
}

static void *worker(void *arg)
{
    struct hub_pool *pool = arg;
    pthread_mutex_lock(&pool->workers.lock);
    while (!pool->workers.stop) {
        struct hub_task *task = shift(pool);
        struct parallel_job *job = task || atomic_load(&pool->depth) ? NULL : open_job(pool);
        if (task)
            run_task(pool, task);
        else if (job)
            help(pool, job);
        else
            pthread_cond_wait(&pool->workers.wake, &pool->workers.lock);
    }
    pthread_mutex_unlock(&pool->workers.lock);
    return NULL;
}

static void run_in_parallel(void *pool_, void (*work)(void *arg, uint32_t i), void *arg, uint32_t count)
{
    struct hub_pool *pool = pool_;
    struct parallel_job job = {.work = work, .arg = arg, .count = count, .idle = PTHREAD_COND_INITIALIZER};
    pthread_mutex_lock(&pool->workers.lock);
    job.next = pool->jobs;
    pool->jobs = &job;
    pthread_cond_broadcast(&pool->workers.wake);
    pthread_mutex_unlock(&pool->workers.lock);
    while (take_index(&job))
        ;
    pthread_mutex_lock(&pool->workers.lock);
    struct parallel_job **at = &pool->jobs;
    while (*at != &job)
        at = &(*at)->next;
    *at = job.next;
    while (job.helpers > 0)
        pthread_cond_wait(&job.idle, &pool->workers.lock);
    pthread_mutex_unlock(&pool->workers.lock);
    pthread_cond_destroy(&job.idle);
}

enum hub_status hub_pool_new(unsigned workers, unsigned queue, struct hub_pool **out, struct hub_error *err)
{
    struct hub_pool *pool;
    HUB_TRY(hub_new(&pool, 1, sizeof *pool, err));
    hub_thread_init(&pool->workers);
    hub_lanes_init(&pool->light);
    hub_lanes_init(&pool->heavy);
    pool->limit = queue;
    pool->count = workers;
    pool->parallel = (struct hub_parallel){.run = run_in_parallel, .pool = pool};
    enum hub_status st = HUB_OK;
    for (unsigned i = 0; i < workers && !st; i++)
        st = hub_thread_add(&pool->workers, worker, pool, "requests", err);
    if (st)
        hub_pool_free(pool);
    else
        *out = pool;
    return st;
}

bool hub_pool_push(struct hub_pool *pool, struct hub_task *task, bool beyond)
{
    pthread_mutex_lock(&pool->workers.lock);
    bool room = !pool->workers.stop && (beyond || atomic_load(&pool->depth) < pool->limit);
    if (room) {
        hub_lanes_push(task->heavy ? &pool->heavy : &pool->light, &task->item);
        atomic_fetch_add(&pool->depth, 1);
        pthread_cond_signal(&pool->workers.wake);
    }
    pthread_mutex_unlock(&pool->workers.lock);
    return room;
}

unsigned hub_pool_depth(struct hub_pool *pool)
{
    return atomic_load(&pool->depth);
}

const struct hub_parallel *hub_pool_parallel(struct hub_pool *pool)
{
    return &pool->parallel;
}

static struct hub_task *take_waiting(struct hub_pool *pool)
{
    pthread_mutex_lock(&pool->workers.lock);
    struct hub_lane_item *item = hub_lanes_shift(pool->light.count ? &pool->light : &pool->heavy);
    if (item)
        atomic_fetch_sub(&pool->depth, 1);
    pthread_mutex_unlock(&pool->workers.lock);
    return (struct hub_task *)item;
}

void hub_pool_stop(struct hub_pool *pool)
{
    pthread_mutex_lock(&pool->workers.lock);
    pool->workers.stop = true; /* no task is taken any more */
    pthread_mutex_unlock(&pool->workers.lock);
    for (struct hub_task *task; (task = take_waiting(pool));)
        task->cancel(task); /* may free it */
    hub_thread_stop(&pool->workers);
}

void hub_pool_free(struct hub_pool *pool)
{
    if (!pool)
        return;
    hub_pool_stop(pool);
    hub_thread_dispose(&pool->workers);
    free(pool);
}
