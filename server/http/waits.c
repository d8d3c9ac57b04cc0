/* Waiting for fetches: see waits.h. Whether a fetch ends a wait or its time does is decided in the fetch
 * alone, so that neither needs the other's lock. */
#include "server/http/waits.h"

void hub_waits_init(struct hub_waits *waits)
{
    pthread_mutex_init(&waits->lock, NULL);
}

void hub_waits_dispose(struct hub_waits *waits)
{
    pthread_mutex_destroy(&waits->lock);
}

static void put_in(struct hub_waits *waits, struct hub_bytes_wait *wait)
{
    wait->list = waits;
    wait->previous = NULL;
    wait->next = waits->first;
    if (wait->next)
        wait->next->previous = wait;
    waits->first = wait;
}

static void take_out(struct hub_bytes_wait *wait)
{
    *(wait->previous ? &wait->previous->next : &wait->list->first) = wait->next;
    if (wait->next)
        wait->next->previous = wait->previous;
}

/* On the source's thread: the owner does not go away before its wait has ended. */
static void come(void *user)
{
    struct hub_bytes_wait *wait = user;
    pthread_mutex_lock(&wait->list->lock);
    take_out(wait);
    pthread_mutex_unlock(&wait->list->lock);
    wait->end(wait, true); /* its owner's from here on */
}

bool hub_waits_add(struct hub_waits *waits, struct hub_bytes_wait *wait)
{
    pthread_mutex_lock(&waits->lock);
    const bool refused = waits->closed || atomic_load(wait->abandoned);
    if (!refused)
        put_in(waits, wait);
    pthread_mutex_unlock(&waits->lock);
    if (refused || hub_fetch_wait(wait->fetch, come, wait))
        return !refused;
    pthread_mutex_lock(&waits->lock);
    take_out(wait);
    pthread_mutex_unlock(&waits->lock);
    return false;
}

void hub_waits_expire(struct hub_waits *waits, int64_t now_ms)
{
    struct hub_bytes_wait *over = NULL;
    pthread_mutex_lock(&waits->lock);
    for (struct hub_bytes_wait *wait = waits->first, *next; wait; wait = next) {
        next = wait->next;
        const bool over_now = waits->closed || now_ms >= wait->until_ms || atomic_load(wait->abandoned);
        if (!over_now || !hub_fetch_leave(wait->fetch))
            continue;
        take_out(wait);
        wait->next = over;
        over = wait;
    }
    pthread_mutex_unlock(&waits->lock);
    while (over) {
        struct hub_bytes_wait *next = over->next;
        over->end(over, false); /* its owner's from here on */
        over = next;
    }
}

void hub_waits_close(struct hub_waits *waits)
{
    pthread_mutex_lock(&waits->lock);
    waits->closed = true;
    pthread_mutex_unlock(&waits->lock);
    hub_waits_expire(waits, 0);
}
