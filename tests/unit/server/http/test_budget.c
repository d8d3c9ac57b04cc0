#include "server/http/budget.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static const struct timespec moment = {.tv_nsec = 30000000};

Test(budget, event_threads_never_wait)
{
    struct hub_budget *budget = hub_budget_new(100);
    struct hub_request event = {0};
    struct hub_response a, b;
    struct hub_error err = {0};
    hub_response_init(&a);
    hub_response_init(&b);
    cr_assert_eq(hub_budget_take(budget, &event, &a, 60, &err), HUB_OK);
    cr_assert_eq(hub_budget_take(budget, &event, &b, 60, &err), HUB_AGAIN);
    cr_assert_eq(hub_budget_take(budget, &event, &b, 101, &err), HUB_TOO_BIG, "more than there will ever be");
    cr_assert_not(hub_budget_try(budget, 41));
    cr_assert(hub_budget_try(budget, 40));
    hub_budget_give(budget, 40);
    hub_response_dispose(&a);
    cr_assert_eq(hub_budget_take(budget, &event, &b, 100, &err), HUB_OK);
    uint64_t total = 0;
    cr_assert_eq(hub_budget_used(budget, &total), 100);
    cr_assert_eq(total, 100);
    hub_response_dispose(&b);
    hub_budget_free(budget);
}

struct waiter {
    struct hub_budget *budget;
    uint64_t bytes;
    enum hub_status st;
    struct hub_response response;
    atomic_bool done;
};

static void *wait_for_bytes(void *arg)
{
    struct waiter *waiter = arg;
    struct hub_request worker = {.may_block = true};
    hub_response_init(&waiter->response);
    waiter->st = hub_budget_take(waiter->budget, &worker, &waiter->response, waiter->bytes, NULL);
    atomic_store(&waiter->done, true);
    return NULL;
}

Test(budget, first_come_first_served)
{
    struct hub_budget *budget = hub_budget_new(100);
    struct waiter large = {.budget = budget, .bytes = 90}, small = {.budget = budget, .bytes = 10};
    pthread_t threads[2];
    cr_assert(hub_budget_try(budget, 50));
    pthread_create(&threads[0], NULL, wait_for_bytes, &large);
    nanosleep(&moment, NULL);
    pthread_create(&threads[1], NULL, wait_for_bytes, &small);
    nanosleep(&moment, NULL);
    cr_assert_not(atomic_load(&small.done), "there is room for it, but the large one came first");
    cr_assert_not(hub_budget_try(budget, 1));
    hub_budget_give(budget, 50);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    cr_assert(large.st == HUB_OK && small.st == HUB_OK);
    hub_response_dispose(&large.response);
    hub_response_dispose(&small.response);
    hub_budget_free(budget);
}

Test(budget, a_worker_gives_up, .timeout = 20)
{
    struct hub_budget *budget = hub_budget_new(100);
    struct waiter first = {.budget = budget, .bytes = 90}, second = {.budget = budget, .bytes = 90};
    pthread_t threads[2];
    cr_assert(hub_budget_try(budget, 50));
    pthread_create(&threads[0], NULL, wait_for_bytes, &first);
    pthread_create(&threads[1], NULL, wait_for_bytes, &second);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    cr_assert(first.st == HUB_BUSY && second.st == HUB_BUSY);
    cr_assert(hub_budget_try(budget, 50), "nothing of the ones that gave up is left");
    hub_budget_give(budget, 100);
    hub_budget_free(budget);
}
