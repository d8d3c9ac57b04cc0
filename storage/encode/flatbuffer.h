/**
 * Flatbuffers (https://flatbuffers.dev/internals), written front to back: a table before what it refers to,
 * whose place is filled in later. After a failure, which `status` keeps, nothing more is written. Pure
 * functions.
 */
#ifndef HUB_ENCODE_FLATBUFFER_H
#define HUB_ENCODE_FLATBUFFER_H

#include "storage/base/buf.h"

enum { HUB_FLAT_SLOTS = 8 }; /* of a table, at most */

struct hub_flatbuffer {
    struct hub_buf *out;
    size_t base; /* of the flatbuffer in `out` */
    enum hub_status status;
    struct hub_error *err;
};

/** The position in `out`. */
size_t hub_flatbuffer_here(const struct hub_flatbuffer *f);
void hub_flatbuffer_put(struct hub_flatbuffer *f, const void *data, size_t size);
void hub_flatbuffer_u32(struct hub_flatbuffer *f, uint32_t value);
/** Zeros until the position is `rest` modulo `unit`, which is at most 8. */
void hub_flatbuffer_align(struct hub_flatbuffer *f, size_t unit, size_t rest);
/** Write the first `size` bytes of a value over what stands at `at`. */
void hub_flatbuffer_patch(struct hub_flatbuffer *f, size_t at, uint64_t value, size_t size);

/** A field of a table. */
struct hub_flatbuffer_slot {
    size_t size; /* 0: the field is absent */
    uint64_t value;
    size_t at; /* where it was written, to be patched */
};

/** A table after its vtable: slots by descending size, so that each is aligned. Offsets to tables, strings
 * and vectors are slots of 4 bytes that are patched later. `from` refers to it (0: nothing does). */
void hub_flatbuffer_table(struct hub_flatbuffer *f, struct hub_flatbuffer_slot *slots, unsigned count,
                          size_t from);
/** Its `count` elements follow, each aligned to `unit`. */
void hub_flatbuffer_vector(struct hub_flatbuffer *f, size_t from, uint32_t count, size_t unit);
void hub_flatbuffer_string(struct hub_flatbuffer *f, size_t from, const char *text);

#endif
