/* The worker pool: see pool.h. Spreading work (hub_parallel): the caller puts a gang on a list, takes indices
 * itself, and idle workers join in; it waits only for helpers that have begun, so it can never wait for a
 * worker that is not there. */
#include "server/http/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct gang {
    struct gang *next;
    void (*work)(void *arg, uint32_t i);
    void *arg;
    uint32_t count;
    atomic_uint_fast32_t taken;
    unsigned helpers; /* guarded by the pool's mutex */
    pthread_cond_t idle;
};

struct hub_pool {
    pthread_mutex_t mutex;
    pthread_cond_t more;
    struct hub_task *first, **last;
    unsigned depth, limit;
    struct gang *gangs;
    bool stopping;
    struct hub_parallel parallel;
    unsigned started;
    unsigned count;
    pthread_t threads[];
};

static void take_indices(struct gang *gang)
{
    for (;;) {
        uint_fast32_t i = atomic_fetch_add_explicit(&gang->taken, 1, memory_order_relaxed);
        if (i >= gang->count)
            return;
        gang->work(gang->arg, (uint32_t)i);
    }
}

/* A gang with indices left; the mutex is held. */
static struct gang *open_gang(struct hub_pool *pool)
{
    for (struct gang *gang = pool->gangs; gang; gang = gang->next)
        if (atomic_load_explicit(&gang->taken, memory_order_relaxed) < gang->count)
            return gang;
    return NULL;
}

static void help(struct hub_pool *pool, struct gang *gang)
{
    gang->helpers++;
    pthread_mutex_unlock(&pool->mutex);
    take_indices(gang);
    pthread_mutex_lock(&pool->mutex);
    if (--gang->helpers == 0)
        pthread_cond_signal(&gang->idle);
}

static struct hub_task *shift(struct hub_pool *pool)
{
    struct hub_task *task = pool->first;
    pool->first = task->next;
    if (!pool->first)
        pool->last = &pool->first;
    pool->depth--;
    return task;
}

static void *worker(void *arg)
{
    struct hub_pool *pool = arg;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        struct gang *gang = open_gang(pool); /* what has begun is finished first: it holds memory */
        if (gang) {
            help(pool, gang);
        } else if (pool->first && !pool->stopping) {
            struct hub_task *task = shift(pool);
            pthread_mutex_unlock(&pool->mutex);
            task->run(task);
            pthread_mutex_lock(&pool->mutex);
        } else if (pool->stopping) {
            break;
        } else {
            pthread_cond_wait(&pool->more, &pool->mutex);
        }
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

static void run_gang(void *pool_, void (*work)(void *arg, uint32_t i), void *arg, uint32_t count)
{
    struct hub_pool *pool = pool_;
    struct gang gang = {.work = work, .arg = arg, .count = count, .idle = PTHREAD_COND_INITIALIZER};
    if (count < 2) {
        take_indices(&gang);
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    gang.next = pool->gangs;
    pool->gangs = &gang;
    pthread_cond_broadcast(&pool->more);
    pthread_mutex_unlock(&pool->mutex);
    take_indices(&gang);
    pthread_mutex_lock(&pool->mutex);
    struct gang **at = &pool->gangs;
    while (*at != &gang)
        at = &(*at)->next;
    *at = gang.next;
    while (gang.helpers > 0)
        pthread_cond_wait(&gang.idle, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
    pthread_cond_destroy(&gang.idle);
}

enum hub_status hub_pool_new(unsigned workers, unsigned queue, struct hub_pool **out, struct hub_error *err)
{
    struct hub_pool *pool = calloc(1, sizeof *pool + workers * sizeof pool->threads[0]);
    if (!pool)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for the worker pool");
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->more, NULL);
    pool->last = &pool->first;
    pool->limit = queue;
    pool->count = workers;
    pool->parallel = (struct hub_parallel){run_gang, pool};
    for (; pool->started < workers; pool->started++) {
        int errnum = pthread_create(&pool->threads[pool->started], NULL, worker, pool);
        if (errnum) {
            hub_pool_free(pool);
            return hub_fail_errno(err, errnum, "cannot start a worker thread");
        }
    }
    *out = pool;
    return HUB_OK;
}

bool hub_pool_push(struct hub_pool *pool, struct hub_task *task, bool beyond)
{
    pthread_mutex_lock(&pool->mutex);
    bool room = !pool->stopping && (beyond || pool->depth < pool->limit);
    if (room) {
        task->next = NULL;
        *pool->last = task;
        pool->last = &task->next;
        pool->depth++;
        pthread_cond_signal(&pool->more);
    }
    pthread_mutex_unlock(&pool->mutex);
    return room;
}

unsigned hub_pool_depth(struct hub_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    unsigned depth = pool->depth;
    pthread_mutex_unlock(&pool->mutex);
    return depth;
}

const struct hub_parallel *hub_pool_parallel(struct hub_pool *pool)
{
    return &pool->parallel;
}

void hub_pool_stop(struct hub_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    pool->stopping = true;
    struct hub_task *waiting = pool->first;
    pool->first = NULL;
    pool->last = &pool->first;
    pool->depth = 0;
    pthread_cond_broadcast(&pool->more);
    pthread_mutex_unlock(&pool->mutex);
    while (waiting) {
        struct hub_task *task = waiting;
        waiting = task->next; /* cancel may free it */
        task->cancel(task);
    }
    for (; pool->started > 0; pool->started--)
        pthread_join(pool->threads[pool->started - 1], NULL);
}

void hub_pool_free(struct hub_pool *pool)
{
    if (!pool)
        return;
    hub_pool_stop(pool);
    pthread_cond_destroy(&pool->more);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}
