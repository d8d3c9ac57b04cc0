/**
 * Numbers as text: the shortest decimal digits that read back as the same value, in the form Python's repr
 * gives them (so that integral floats end in ".0" and exponents in at least two digits). All of it is valid
 * JSON. Locale-free, no memory.
 */
#ifndef HUB_TEXT_NUMBER_H
#define HUB_TEXT_NUMBER_H

#include "storage/base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Room for any number's text; it is not terminated. Up to this many bytes may be scribbled on. */
enum { HUB_NUMBER_CHARS = 40 };

/** Write a finite number at `out`; returns the bytes of its text. */
size_t hub_number_double(double value, char out[HUB_NUMBER_CHARS]);
/** Shortest among floats, so usually fewer digits than of the same value as a double. */
size_t hub_number_float(float value, char out[HUB_NUMBER_CHARS]);
/** The same for an IEEE half given by its bits. */
size_t hub_number_half(uint16_t bits, char out[HUB_NUMBER_CHARS]);
size_t hub_number_u64(uint64_t value, char out[HUB_NUMBER_CHARS]);
size_t hub_number_i64(int64_t value, char out[HUB_NUMBER_CHARS]);

/** A text that is nothing but decimal digits, one at least, of a number up to `most`. */
bool hub_number_read(struct hub_view text, uint64_t most, uint64_t *out);

/** The half's value. */
float hub_half_value(uint16_t bits);

static inline bool hub_half_is_finite(uint16_t bits)
{
    return (bits & 0x7C00) != 0x7C00;
}

/** What makes "datasets" of "dataset", where there is any number of them but one. */
static inline const char *hub_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

enum { HUB_SIZE_CHARS = 32 };

/** Bytes as people read them, terminated: "7.1 MB", "1.10 GB", "1.23 TB"; a MB is 10^6. */
void hub_number_size(uint64_t bytes, char out[HUB_SIZE_CHARS]);

#endif
