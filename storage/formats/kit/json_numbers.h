/** Numbers inside one row of JSON: each value of its objects that is a number, a bool, or a list of them
 * nested to one shape, by its path. */
#ifndef HUB_FORMATS_JSON_NUMBERS_H
#define HUB_FORMATS_JSON_NUMBERS_H

#include "storage/model/dtype.h"
#include "storage/text/json.h"

enum {
    HUB_JSON_NUMBERS_DEPTH = 8,    /* objects within each other */
    HUB_JSON_NUMBERS_ITEMS = 4096, /* numbers of one value */
};

enum hub_json_number {
    HUB_JSON_NO_NUMBERS = 0, /* a text, a list of several shapes or without numbers, objects in a list */
    HUB_JSON_BOOLS,
    HUB_JSON_INTEGERS, /* of 64 bits */
    HUB_JSON_FLOATS,   /* all else: an integer beyond 64 bits, NaN and infinities, null in a list as NaN */
};

/** One element: as its kind says. */
union hub_json_item {
    int64_t integer; /* of a bool, too */
    double real;
};

/** A value, which lives until the next one. */
struct hub_json_value {
    struct hub_view path; /* "arm", "grasp/held" */
    enum hub_json_number kind;
    uint32_t rank, dims[HUB_MAX_RANK];
    uint32_t count; /* elements, in C order */
    union hub_json_item items[HUB_JSON_NUMBERS_ITEMS];
};

/** Called with each value in the order of the text; null is none. A non-OK answer ends the walk. */
typedef enum hub_status (*hub_json_value_fn)(void *user, const struct hub_json_value *value,
                                             struct hub_error *err);

/**
 * Walk the values of a text that hub_json_strict passes; nothing where it is no object. A key that no field
 * could be called by, and what lies deeper than HUB_JSON_NUMBERS_DEPTH, are passed over.
 *
 * @param value  scratch
 */
HUB_MUST_USE enum hub_status hub_json_numbers(struct hub_view text, struct hub_json_value *value,
                                              hub_json_value_fn fn, void *user, struct hub_error *err);

/** An integer as a float. */
static inline void hub_json_item_to_real(union hub_json_item *item)
{
    item->real = (double)item->integer;
}

#endif
