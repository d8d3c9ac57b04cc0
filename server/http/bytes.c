/* Bytes shared by many answers: a counted buffer that never changes. */
#include "server/http/budget.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

struct hub_bytes {
    atomic_uint count;
    size_t size;
    char *data;
    _Atomic(struct hub_budget *) budget; /* they count against, or NULL */
};

struct hub_bytes *hub_bytes_new(struct hub_buf *take)
{
    struct hub_bytes *bytes = malloc(sizeof *bytes);
    if (!bytes)
        return NULL;
    atomic_init(&bytes->count, 1);
    atomic_init(&bytes->budget, NULL);
    bytes->data = hub_buf_take(take, &bytes->size);
    return bytes;
}

struct hub_bytes *hub_bytes_ref(struct hub_bytes *bytes)
{
    unsigned before = atomic_fetch_add_explicit(&bytes->count, 1, memory_order_relaxed);
    assert(before > 0);
    (void)before;
    return bytes;
}

void hub_bytes_unref(struct hub_bytes *bytes)
{
    if (!bytes || atomic_fetch_sub_explicit(&bytes->count, 1, memory_order_acq_rel) != 1)
        return;
    hub_budget_give(atomic_load(&bytes->budget), HUB_BUDGET_SHARED, bytes->size);
    free(bytes->data);
    free(bytes);
}

void hub_bytes_charge(struct hub_bytes *bytes, struct hub_budget *budget)
{
    struct hub_budget *none = NULL;
    if (budget && atomic_compare_exchange_strong(&bytes->budget, &none, budget))
        hub_budget_charge(budget, HUB_BUDGET_SHARED, bytes->size);
}

struct hub_view hub_bytes_view(const struct hub_bytes *bytes)
{
    return (struct hub_view){bytes->data, bytes->size};
}
