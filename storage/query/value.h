/**
 * A value that is known of an episode, or that it is compared with: numbers compare by their value whatever
 * they are kept as, so that 2^64-1 and 0.1 are both exact; a truth is the number 0 or 1.
 */
#ifndef HUB_QUERY_VALUE_H
#define HUB_QUERY_VALUE_H

#include "storage/base/buf.h"

struct hub_value {
    enum { HUB_VALUE_INT, HUB_VALUE_UINT, HUB_VALUE_REAL, HUB_VALUE_TEXT } kind;
    bool computed; /* worked out of the rows; else the files state it */
    union {
        int64_t number;
        uint64_t large; /* above INT64_MAX only */
        double real;
        struct hub_view text; /* borrowed */
    };
};

enum hub_order { HUB_LESS = -1, HUB_EQUAL = 0, HUB_GREATER = 1, HUB_UNORDERED = 2 };

/** Unordered: one is text and the other is not, or one is NaN. Texts go by their bytes. A text that spells an
 * integer beyond 2^53 - 1 is that number beside a number. */
enum hub_order hub_value_compare(const struct hub_value *a, const struct hub_value *b);

/** Of a number. */
double hub_value_real_of(const struct hub_value *value);
struct hub_value hub_value_uint(uint64_t number);
struct hub_value hub_value_real(double real);
struct hub_value hub_value_text(struct hub_view text);
/** What our JSON writes as a text for want of doubles that hold it: an integer of 64 bits beyond 2^53 - 1. */
bool hub_value_wide(struct hub_view text, struct hub_value *out);

#endif
