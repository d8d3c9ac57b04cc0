/**
 * A bounded reader of Thrift's compact protocol
 * (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md), as far as Parquet's
 * metadata needs it. Nothing is allocated; after the first contradiction everything reads as zero and
 * `failed` says so, so that a whole struct is read and tested once. Containers never claim more elements than
 * bytes are left.
 *
 *   for (struct hub_thrift_field f = {0}; hub_thrift_next(&t, &f);)
 *       switch (f.id) {
 *       case 1: rows = hub_thrift_int(&t, &f); break;
 *       default: hub_thrift_skip(&t, &f);
 *       }
 */
#ifndef HUB_FORMATS_PARQUET_THRIFT_H
#define HUB_FORMATS_PARQUET_THRIFT_H

#include "storage/base/cursor.h"

#define HUB_THRIFT_MAX_DEPTH 16

enum hub_thrift_type {
    HUB_THRIFT_STOP = 0,
    HUB_THRIFT_TRUE,
    HUB_THRIFT_FALSE,
    HUB_THRIFT_BYTE,
    HUB_THRIFT_I16,
    HUB_THRIFT_I32,
    HUB_THRIFT_I64,
    HUB_THRIFT_DOUBLE,
    HUB_THRIFT_BINARY,
    HUB_THRIFT_LIST,
    HUB_THRIFT_SET,
    HUB_THRIFT_MAP,
    HUB_THRIFT_STRUCT,
};

struct hub_thrift {
    struct hub_cursor in;
};

/** The field a struct's loop stands at; zeroed before the struct's first. A list's elements use one with only
 * `type` set. */
struct hub_thrift_field {
    int16_t id;
    uint8_t type;
};

struct hub_thrift hub_thrift_of(const void *data, size_t size);
static inline bool hub_thrift_failed(const struct hub_thrift *t)
{
    return t->in.failed;
}

/** The next field of the struct; false at its end and after a failure. */
bool hub_thrift_next(struct hub_thrift *t, struct hub_thrift_field *field);
/** A value of another type than asked for is a failure. */
int64_t hub_thrift_int(struct hub_thrift *t, const struct hub_thrift_field *field);
/** Reads the field into the integer that `targets` has for its number, or passes over it. */
void hub_thrift_take(struct hub_thrift *t, const struct hub_thrift_field *field, int64_t *const *targets,
                     size_t count);
bool hub_thrift_bool(struct hub_thrift *t, const struct hub_thrift_field *field);
struct hub_view hub_thrift_binary(struct hub_thrift *t, const struct hub_thrift_field *field);
/** Elements that follow, and their type in `element`. */
uint32_t hub_thrift_list(struct hub_thrift *t, const struct hub_thrift_field *field,
                         struct hub_thrift_field *element);
/** The field is a struct whose fields follow; else a failure. */
bool hub_thrift_enter(struct hub_thrift *t, const struct hub_thrift_field *field);
void hub_thrift_skip(struct hub_thrift *t, const struct hub_thrift_field *field);

#endif
