/**
 * Views and growing buffers. A view borrows bytes; a buffer owns them and has a ceiling, past which every
 * append is HUB_TOO_BIG and the buffer keeps what it had. Not thread-safe.
 */
#ifndef HUB_BASE_BUF_H
#define HUB_BASE_BUF_H

#include "storage/base/error.h"

#include <string.h>

/** Borrowed bytes, not terminated. */
struct hub_view {
    const char *data;
    size_t size;
};

#define HUB_VIEW(literal) ((struct hub_view){(literal), sizeof(literal) - 1})

static inline struct hub_view hub_view_of(const char *text)
{
    return (struct hub_view){text, text ? strlen(text) : 0};
}

static inline bool hub_view_is(struct hub_view view, const char *text)
{
    return view.size == strlen(text) && (view.size == 0 || memcmp(view.data, text, view.size) == 0);
}

static inline bool hub_view_equal(struct hub_view a, struct hub_view b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/** What stands behind the last `c`; all of it where there is none. */
static inline struct hub_view hub_view_behind(struct hub_view view, char c)
{
    const char *last = view.size ? memrchr(view.data, c, view.size) : NULL;
    return last ? (struct hub_view){last + 1, (size_t)(view.data + view.size - last - 1)} : view;
}

bool hub_view_starts(struct hub_view view, const char *prefix);
bool hub_view_ends(struct hub_view view, const char *suffix);

/** A terminated copy; NULL when out of memory. The caller frees it. */
char *hub_view_dup(struct hub_view view);

/** Is asked before a buffer grows. What it says instead of HUB_OK is passed on, and the buffer stays as it
 * is. The first member of whatever counts. */
struct hub_buf_meter {
    enum hub_status (*grow)(struct hub_buf_meter *meter, size_t capacity, struct hub_error *err);
};

struct hub_buf {
    char *data; /* always terminated by a NUL that does not count once anything was appended */
    size_t size, capacity, limit;
    struct hub_buf_meter *meter; /* borrowed; NULL: it grows freely up to its limit */
};

#define HUB_BUF_INIT(limit_bytes) ((struct hub_buf){.limit = (limit_bytes)})

void hub_buf_dispose(struct hub_buf *buf);
HUB_MUST_USE enum hub_status hub_buf_reserve(struct hub_buf *buf, size_t more, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_buf_add(struct hub_buf *buf, const void *data, size_t size,
                                         struct hub_error *err);
HUB_MUST_USE enum hub_status hub_buf_add_text(struct hub_buf *buf, const char *text, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_buf_add_view(struct hub_buf *buf, struct hub_view view,
                                              struct hub_error *err);
HUB_MUST_USE enum hub_status hub_buf_addf(struct hub_buf *buf, struct hub_error *err, const char *fmt, ...)
    HUB_PRINTF(3, 4);

static inline struct hub_view hub_buf_view(const struct hub_buf *buf)
{
    return (struct hub_view){buf->data, buf->size};
}

/** Give back what the capacity is above the size, where it is more than `slack`. */
void hub_buf_fit(struct hub_buf *buf, size_t slack);

/** The bytes become the caller's (free with free); the buffer is empty again. */
char *hub_buf_take(struct hub_buf *buf, size_t *size);

#define HUB_HASH_START UINT64_C(0xcbf29ce484222325)
/** FNV-1a of more bytes, from HUB_HASH_START on: quick, and no match for one who chooses the bytes. */
static inline uint64_t hub_hash(uint64_t hash, const void *data, size_t size)
{
    const uint8_t *at = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/** Of a number more. */
static inline uint64_t hub_hash_word(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * UINT64_C(0x100000001b3);
}

/** Of a text alone, its low bits fit for a table. */
static inline uint64_t hub_text_hash(struct hub_view text)
{
    const uint64_t h = hub_hash(HUB_HASH_START, text.data, text.size);
    return h ^ (h >> 31);
}

/**
 * Room for one more in an array of `count` items on the heap: it doubles when it is full.
 *
 * @param array  address of the pointer to the items, NULL at first
 */
HUB_MUST_USE enum hub_status hub_grow(void *array, uint32_t count, uint32_t *capacity, size_t item_size,
                                      struct hub_error *err);

#endif
