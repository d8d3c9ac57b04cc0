/**
 * A bounded reader of FlatBuffers (https://flatbuffers.dev/internals/), as far as Arrow's metadata needs it:
 * tables, vectors, texts. Nothing is allocated. What lies outside the buffer makes it `failed` and reads as
 * absent, so that a whole table is read and tested once. Offsets may lead to one place twice: whoever follows
 * them counts what it makes.
 */
#ifndef HUB_FORMATS_ARROW_FLAT_H
#define HUB_FORMATS_ARROW_FLAT_H

#include "storage/base/buf.h"

struct hub_flat {
    const uint8_t *data;
    size_t size;
    bool failed;
};

/** A table, or nothing: `in` is NULL. Its fields are numbered as its schema lists them, a union being two. */
struct hub_flat_table {
    struct hub_flat *in;
    size_t at, vtable;
    unsigned vtable_size, size;
};

struct hub_flat_vector {
    struct hub_flat *in;
    size_t at; /* of the first item */
    uint32_t count;
};

struct hub_flat hub_flat_of(const void *data, size_t size);
struct hub_flat_table hub_flat_root(struct hub_flat *in);

/** A number of 1, 2, 4 or 8 bytes, sign extended; `absent` where the table does not have it. */
int64_t hub_flat_int(const struct hub_flat_table *t, unsigned field, unsigned width, int64_t absent);
struct hub_flat_table hub_flat_table(const struct hub_flat_table *t, unsigned field);
struct hub_view hub_flat_text(const struct hub_flat_table *t, unsigned field);
/** All its items lie inside the buffer; an absent one is empty. `item`: bytes of one. */
struct hub_flat_vector hub_flat_vector(const struct hub_flat_table *t, unsigned field, unsigned item);
/** An item of a vector of tables (its items are 4 bytes). */
struct hub_flat_table hub_flat_item(const struct hub_flat_vector *v, uint32_t i);
/** A number at `offset` in a vector's items. */
int64_t hub_flat_number(const struct hub_flat_vector *v, size_t offset, unsigned width);

#endif
