/* One ceiling for all decode, encode and spool buffers: see budget.h. A large request is not overtaken for
 * ever by small ones: while the one whose turn it is finds no room, nobody else is given any. */
#include "server/http/budget.h"

#include <pthread.h>
#include <stdlib.h>

enum { MAX_WAITING = 1024, SLACK = 16 * 1024 };

struct hub_budget {
    pthread_mutex_t mutex;
    uint64_t total, used;
    uint64_t held[2 * HUB_LANES]; /* by client: hub_lane_of */
    uint64_t held_behind;         /* of these by clients behind proxies */
    struct hub_lanes waiting;
    bool blocked;                /* the one whose turn it is waits for room */
    struct hub_lru_room *caches; /* or NULL */
};

struct hub_budget *hub_budget_new(uint64_t bytes)
{
    struct hub_budget *budget = calloc(1, sizeof *budget);
    if (!budget)
        return NULL;
    pthread_mutex_init(&budget->mutex, NULL);
    hub_lanes_init(&budget->waiting);
    budget->total = bytes;
    return budget;
}

void hub_budget_free(struct hub_budget *budget)
{
    if (!budget)
        return;
    pthread_mutex_destroy(&budget->mutex);
    free(budget);
}

/* The mutex is held. */
static void limit_caches(struct hub_budget *budget)
{
    if (budget->caches)
        atomic_store(&budget->caches->limit, budget->total - HUB_MIN(budget->used, budget->total));
}

void hub_budget_share(struct hub_budget *budget, struct hub_lru_room *caches)
{
    budget->caches = caches;
    limit_caches(budget);
}

static bool fits(const struct hub_budget *budget, uint64_t bytes)
{
    return budget->used <= budget->total && budget->total - budget->used >= bytes;
}

/* One large answer is anybody's right: `own` is what it has already. */
static bool is_fair(const struct hub_budget *budget, uint32_t client, uint64_t bytes, uint64_t own)
{
    const uint64_t held = budget->held[hub_lane_of(client)], most = budget->total - budget->total / 4;
    if ((client & HUB_LANE_PROXIED) && budget->held_behind > own && budget->held_behind + bytes > most)
        return false;
    return held <= own || held + bytes <= budget->total / 2 || budget->used + bytes <= most;
}

static void add(struct hub_budget *budget, uint32_t client, uint64_t bytes)
{
    budget->used += bytes;
    budget->held[hub_lane_of(client)] += bytes;
    budget->held_behind += client & HUB_LANE_PROXIED ? bytes : 0;
    limit_caches(budget);
}

static bool take(struct hub_budget *budget, uint32_t client, uint64_t bytes, uint64_t own)
{
    pthread_mutex_lock(&budget->mutex);
    const bool got = !budget->blocked && fits(budget, bytes) && is_fair(budget, client, bytes, own);
    if (got)
        add(budget, client, bytes);
    pthread_mutex_unlock(&budget->mutex);
    if (got)
        hub_lru_room_fit(budget->caches);
    return got;
}

bool hub_budget_try(struct hub_budget *budget, uint32_t client, uint64_t bytes)
{
    return take(budget, client, bytes, 0);
}

void hub_budget_charge(struct hub_budget *budget, uint32_t client, uint64_t bytes)
{
    pthread_mutex_lock(&budget->mutex);
    add(budget, client, bytes);
    pthread_mutex_unlock(&budget->mutex);
}

enum hub_status hub_budget_take(struct hub_budget *budget, struct hub_request *request,
                                struct hub_response *response, uint64_t bytes, struct hub_error *err)
{
    const uint64_t all = response->reserved + bytes;
    if (all > budget->total)
        return hub_fail(
            err, HUB_TOO_BIG,
            "the answer needs %llu bytes of memory, more than --memory allows (%llu): request fewer rows",
            (unsigned long long)all, (unsigned long long)budget->total);
    const uint64_t granted = HUB_MIN(request->granted, bytes);
    if (bytes > granted && !take(budget, request->client, bytes - granted, response->reserved)) {
        request->wait = (struct hub_wait){.on = HUB_WAIT_MEMORY, .memory = all};
        return HUB_AGAIN;
    }
    request->granted -= granted;
    response->budget = budget;
    response->client = request->client;
    response->reserved = all;
    return HUB_OK;
}

uint64_t hub_budget_used(struct hub_budget *budget, uint64_t *total)
{
    pthread_mutex_lock(&budget->mutex);
    uint64_t used = budget->used;
    pthread_mutex_unlock(&budget->mutex);
    *total = budget->total;
    return used;
}

/* ---- waiting ---- */

bool hub_budget_awaited(struct hub_budget *budget)
{
    pthread_mutex_lock(&budget->mutex);
    const bool awaited = budget->waiting.count > 0;
    pthread_mutex_unlock(&budget->mutex);
    return awaited;
}

/* Take out those who may have what they wait for; the mutex is held. Who has more than a fair share is passed
 * over. */
static struct hub_budget_wait *serve(struct hub_budget *budget)
{
    struct hub_budget_wait *served = NULL, **last = &served;
    budget->blocked = false;
    for (unsigned passed = 0; passed < budget->waiting.used && !budget->blocked;) {
        struct hub_budget_wait *wait = (struct hub_budget_wait *)hub_lanes_first(&budget->waiting);
        if (!is_fair(budget, wait->item.client, wait->bytes, 0)) {
            hub_lanes_pass(&budget->waiting);
            passed++;
        } else if (!fits(budget, wait->bytes)) {
            budget->blocked = true;
        } else {
            (void)hub_lanes_shift(&budget->waiting);
            add(budget, wait->item.client, wait->bytes);
            wait->next = NULL;
            *last = wait;
            last = &wait->next;
            passed = 0;
        }
    }
    return served;
}

static void end_all(struct hub_budget *budget, struct hub_budget_wait *wait, bool granted)
{
    if (wait && granted)
        hub_lru_room_fit(budget->caches);
    while (wait) {
        struct hub_budget_wait *next = wait->next;
        wait->end(wait, granted); /* its owner's from here on */
        wait = next;
    }
}

void hub_budget_give(struct hub_budget *budget, uint32_t client, uint64_t bytes)
{
    if (!budget || !bytes)
        return;
    pthread_mutex_lock(&budget->mutex);
    uint64_t *held = &budget->held[hub_lane_of(client)];
    budget->used -= HUB_MIN(bytes, budget->used);
    *held -= HUB_MIN(bytes, *held);
    if (client & HUB_LANE_PROXIED)
        budget->held_behind -= HUB_MIN(bytes, budget->held_behind);
    limit_caches(budget);
    struct hub_budget_wait *served = serve(budget);
    pthread_mutex_unlock(&budget->mutex);
    end_all(budget, served, true);
}

bool hub_budget_wait(struct hub_budget *budget, struct hub_budget_wait *wait)
{
    pthread_mutex_lock(&budget->mutex);
    const bool may = budget->waiting.count < MAX_WAITING && !atomic_load(wait->abandoned);
    if (may)
        hub_lanes_push(&budget->waiting, &wait->item);
    struct hub_budget_wait *served = serve(budget); /* something may have been given back meanwhile */
    pthread_mutex_unlock(&budget->mutex);
    end_all(budget, served, true);
    return may;
}

/* Of each client the first: those behind it came later, and are looked at once they are first. */
bool hub_budget_expire(struct hub_budget *budget, int64_t now_ms)
{
    struct hub_budget_wait *over = NULL;
    pthread_mutex_lock(&budget->mutex);
    for (unsigned passed = 0; passed < budget->waiting.used;) {
        struct hub_budget_wait *wait = (struct hub_budget_wait *)hub_lanes_first(&budget->waiting);
        if (now_ms < wait->until_ms && !atomic_load(wait->abandoned)) {
            hub_lanes_pass(&budget->waiting);
            passed++;
            continue;
        }
        (void)hub_lanes_shift(&budget->waiting);
        wait->next = over;
        over = wait;
        passed = 0;
    }
    struct hub_budget_wait *served = serve(budget);
    const bool waiting = budget->waiting.count > 0;
    pthread_mutex_unlock(&budget->mutex);
    end_all(budget, over, false);
    end_all(budget, served, true);
    return waiting;
}

/* ---- buffers that grow ---- */

static enum hub_status grow(struct hub_buf_meter *base, size_t capacity, struct hub_error *err)
{
    struct hub_meter *meter = (struct hub_meter *)base;
    if (capacity <= meter->counted + SLACK)
        return HUB_OK;
    HUB_TRY(hub_budget_take(meter->budget, meter->request, meter->response, capacity - meter->counted, err));
    meter->counted = capacity;
    return HUB_OK;
}

void hub_meter_buf(struct hub_meter *meter, struct hub_budget *budget, struct hub_request *request,
                   struct hub_response *response, struct hub_buf *buf)
{
    *meter = (struct hub_meter){{grow}, budget, request, response, 0};
    buf->meter = budget ? &meter->base : NULL;
}

void hub_response_meter(struct hub_response *response, struct hub_budget *budget, struct hub_request *request)
{
    response->meter = (struct hub_meter){{grow}, budget, request, response, 0};
}

/* ---- a finished answer ---- */

void hub_response_release(struct hub_response *response, uint64_t retained)
{
    if (retained >= response->reserved)
        return;
    hub_budget_give(response->budget, response->client, response->reserved - retained);
    response->reserved = retained;
}

void hub_response_charge(struct hub_response *response, struct hub_budget *budget, uint32_t client)
{
    const bool buffered = response->kind == HUB_BODY_BUFFER;
    if (!budget || response->kind == HUB_BODY_FILE || response->kind == HUB_BODY_STREAM)
        return;
    if (buffered)
        hub_buf_fit(&response->buffer, SLACK);
    const uint64_t held = buffered ? response->buffer.capacity : 0;
    if (held > response->reserved + SLACK) {
        hub_budget_charge(budget, client, held - response->reserved);
        response->budget = budget;
        response->client = client;
        response->reserved = held;
    } else {
        hub_response_release(response, held);
    }
}
