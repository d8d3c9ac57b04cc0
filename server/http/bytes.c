/* Bytes shared by many answers: a counted buffer that never changes. */
#include "server/http/http.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

struct hub_bytes {
    atomic_uint count;
    size_t size;
    char *data;
};

struct hub_bytes *hub_bytes_new(struct hub_buf *take)
{
    struct hub_bytes *bytes = malloc(sizeof *bytes);
    if (!bytes)
        return NULL;
    atomic_init(&bytes->count, 1);
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
    free(bytes->data);
    free(bytes);
}

struct hub_view hub_bytes_view(const struct hub_bytes *bytes)
{
    return (struct hub_view){bytes->data, bytes->size};
}
