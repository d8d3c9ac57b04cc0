/* One ceiling for all decode, encode and spool buffers. Waiting requests are served in the order they came,
 * so that a large one is not overtaken for ever by small ones. */
#include "server/http/http.h"

#include "server/http/budget.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { WAIT_S = 5 };

struct hub_budget {
    pthread_mutex_t mutex;
    pthread_cond_t given;
    uint64_t total, used;
    uint64_t next_ticket, serving; /* equal: nobody waits */
};

struct hub_budget *hub_budget_new(uint64_t bytes)
{
    struct hub_budget *budget = calloc(1, sizeof *budget);
    if (!budget)
        return NULL;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&budget->mutex, NULL);
    pthread_cond_init(&budget->given, &attributes);
    pthread_condattr_destroy(&attributes);
    budget->total = bytes;
    return budget;
}

void hub_budget_free(struct hub_budget *budget)
{
    if (!budget)
        return;
    pthread_cond_destroy(&budget->given);
    pthread_mutex_destroy(&budget->mutex);
    free(budget);
}

static bool fits(const struct hub_budget *budget, uint64_t bytes)
{
    return budget->total - budget->used >= bytes;
}

/* Wait for our turn and for the room; the mutex is held. False: the time is over. A ticket that gives up is
 * skipped. */
static bool wait_for(struct hub_budget *budget, uint64_t bytes)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += WAIT_S;
    uint64_t mine = budget->next_ticket++;
    bool in_time = true;
    while (in_time && (budget->serving != mine || !fits(budget, bytes)))
        in_time = pthread_cond_timedwait(&budget->given, &budget->mutex, &until) != ETIMEDOUT;
    while (!in_time &&
           budget->serving != mine) /* those before us give up within their own 5 s, which began earlier */
        pthread_cond_wait(&budget->given, &budget->mutex);
    bool got = fits(budget, bytes);
    budget->serving++;
    pthread_cond_broadcast(&budget->given);
    return got;
}

enum hub_status hub_budget_take(struct hub_budget *budget, struct hub_request *request,
                                struct hub_response *response, uint64_t bytes, struct hub_error *err)
{
    if (bytes > budget->total - HUB_MIN(response->reserved, budget->total))
        return hub_fail(
            err, HUB_TOO_BIG,
            "the answer needs %llu bytes of memory, more than --memory allows (%llu): ask for less",
            (unsigned long long)(bytes + response->reserved), (unsigned long long)budget->total);
    pthread_mutex_lock(&budget->mutex);
    bool got = budget->next_ticket == budget->serving && fits(budget, bytes);
    if (!got && request->may_block)
        got = wait_for(budget, bytes);
    if (got)
        budget->used += bytes;
    pthread_mutex_unlock(&budget->mutex);
    if (!got && !request->may_block)
        return HUB_AGAIN;
    if (!got)
        return hub_fail_as(err, HUB_BUSY, "overloaded", "no memory was free for this answer within %d s",
                           WAIT_S);
    response->budget = budget;
    response->reserved += bytes;
    return HUB_OK;
}

bool hub_budget_try(struct hub_budget *budget, uint64_t bytes)
{
    pthread_mutex_lock(&budget->mutex);
    bool got = budget->next_ticket == budget->serving && fits(budget, bytes);
    if (got)
        budget->used += bytes;
    pthread_mutex_unlock(&budget->mutex);
    return got;
}

void hub_budget_give(struct hub_budget *budget, uint64_t bytes)
{
    if (!budget)
        return;
    pthread_mutex_lock(&budget->mutex);
    budget->used = bytes < budget->used ? budget->used - bytes : 0;
    if (budget->next_ticket != budget->serving)
        pthread_cond_broadcast(&budget->given);
    pthread_mutex_unlock(&budget->mutex);
}

uint64_t hub_budget_used(struct hub_budget *budget, uint64_t *total)
{
    pthread_mutex_lock(&budget->mutex);
    uint64_t used = budget->used;
    pthread_mutex_unlock(&budget->mutex);
    *total = budget->total;
    return used;
}
