/** Numbers within rows of JSON text. */
#ifndef HUB_MEASURE_LEAF_H
#define HUB_MEASURE_LEAF_H

#include "storage/read/read.h"

/** A text that is a JSON pointer (RFC 6901): empty, or "/" and names. */
bool hub_leaf_is_pointer(struct hub_view pointer);

/**
 * Of each row the number that the pointer names, true as 1 and false as 0; NaN where there is none: the row
 * is null, cut off by its writer, or has something else in that place.
 *
 * @return how many have one
 */
uint64_t hub_leaf_numbers(const struct hub_rows *rows, const char *pointer, double *out);

#endif
