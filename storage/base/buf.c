/* Views and growing buffers: see buf.h. */
#include "storage/base/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LARGE_BYTES (4 * MIB) /* which the allocator maps */

bool hub_view_starts(struct hub_view view, const char *prefix)
{
    const size_t n = strlen(prefix);
    return view.size >= n &&
           (n == 0 || memcmp(view.data, prefix, n) == 0); /* of nothing, there is no address */
}

bool hub_view_ends(struct hub_view view, const char *suffix)
{
    const size_t n = strlen(suffix);
    return view.size >= n && (n == 0 || memcmp(view.data + view.size - n, suffix, n) == 0);
}

char *hub_view_dup(struct hub_view view)
{
    char *copy = malloc(view.size + 1);
    if (!copy)
        return NULL;
    if (view.size)
        memcpy(copy, view.data, view.size);
    copy[view.size] = '\0';
    return copy;
}

void hub_buf_dispose(struct hub_buf *buf)
{
    free(buf->data);
    *buf = HUB_BUF_INIT(buf->limit);
}

/* Pages of 2 MiB, where the system has them: of 4 KiB each costs a fault, which of an answer of some MiB
 * takes an eighth of the time. Only those that lie within it, so that no more memory is used. */
static void use_large_pages(char *data, size_t capacity)
{
    const uintptr_t page = 2 * MIB, begin = ((uintptr_t)data + page - 1) & ~(page - 1),
                    end = ((uintptr_t)data + capacity) & ~(page - 1);
    if (end > begin)
        (void)madvise(data + (begin - (uintptr_t)data), end - begin, MADV_HUGEPAGE);
}

enum hub_status hub_buf_reserve(struct hub_buf *buf, size_t more, struct hub_error *err)
{
    if (more > buf->limit || buf->size > buf->limit - more)
        return hub_fail(err, HUB_TOO_BIG, "more than %zu bytes", buf->limit);
    const size_t need = buf->size + more + 1;
    if (need <= buf->capacity)
        return HUB_OK;
    /* doubled, or what is asked for at once; never above what the limit lets be used */
    size_t capacity = HUB_MAX(HUB_MAX(need, 256), buf->capacity * 2);
    if (capacity - 1 > buf->limit)
        capacity = buf->limit + 1;
    if (buf->meter)
        HUB_TRY(buf->meter->grow(buf->meter, capacity, err));
    char *data = realloc(buf->data, capacity);
    HUB_TRY(hub_allocated(data, err));
    buf->data = data;
    buf->capacity = capacity;
    if (capacity >= LARGE_BYTES)
        use_large_pages(data, capacity);
    return HUB_OK;
}

void hub_buf_fit(struct hub_buf *buf, size_t slack)
{
    if (!buf->data || buf->capacity - buf->size <= slack)
        return;
    char *data = realloc(buf->data, buf->size + 1);
    if (!data)
        return;
    buf->data = data;
    buf->capacity = buf->size + 1;
}

enum hub_status hub_buf_add(struct hub_buf *buf, const void *data, size_t size, struct hub_error *err)
{
    HUB_TRY(hub_buf_reserve(buf, size, err));
    if (size)
        memcpy(buf->data + buf->size, data, size);
    buf->size += size;
    buf->data[buf->size] = '\0';
    return HUB_OK;
}

enum hub_status hub_buf_add_text(struct hub_buf *buf, const char *text, struct hub_error *err)
{
    return hub_buf_add(buf, text, strlen(text), err);
}

enum hub_status hub_buf_add_view(struct hub_buf *buf, struct hub_view view, struct hub_error *err)
{
    return hub_buf_add(buf, view.data, view.size, err);
}

enum hub_status hub_buf_addf(struct hub_buf *buf, struct hub_error *err, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    const size_t room = buf->capacity ? buf->capacity - buf->size : 0;
    const int n = vsnprintf(room ? buf->data + buf->size : NULL, room, fmt, args);
    va_end(args);
    enum hub_status st =
        n < 0 ? hub_fail(err, HUB_INVALID, "bad format") : hub_buf_reserve(buf, (size_t)n, err);
    if (!st && (size_t)n >= room)
        vsnprintf(buf->data + buf->size, (size_t)n + 1, fmt, again);
    if (!st)
        buf->size += (size_t)n;
    else if (room)
        buf->data[buf->size] = '\0'; /* what did not fit is taken back */
    va_end(again);
    return st;
}

char *hub_buf_take(struct hub_buf *buf, size_t *size)
{
    char *data = buf->data;
    if (size)
        *size = buf->size;
    *buf = HUB_BUF_INIT(buf->limit);
    return data;
}

enum hub_status hub_grow(void *array, uint32_t count, uint32_t *capacity, size_t item_size,
                         struct hub_error *err)
{
    if (count < *capacity)
        return HUB_OK;
    if (count > UINT32_MAX / 2)
        return hub_fail(err, HUB_TOO_BIG, "more than %u in a list", count);
    const uint32_t more = HUB_MAX(2 * count, 16U);
    void *items;
    memcpy(&items, array, sizeof items); /* a pointer of any type */
    items = realloc(items, more * item_size);
    HUB_TRY(hub_allocated(items, err));
    memcpy(array, &items, sizeof items);
    *capacity = more;
    return HUB_OK;
}
