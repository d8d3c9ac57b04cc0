/** Stored numbers as doubles, block by block. */
#ifndef HUB_MEASURE_NUMBERS_H
#define HUB_MEASURE_NUMBERS_H

#include "storage/model/dtype.h"

/** Its values are bools, integers or floats of one size: they can be measured. */
bool hub_numbers_are(const struct hub_variant *variant);
/** They are integers that a double may not hold. */
bool hub_numbers_wide(const struct hub_variant *variant);

/**
 * @param raw    values as they are stored, any alignment
 * @param valid  a byte a value, 0: it is null and becomes NaN. NULL: none is
 */
void hub_numbers(const struct hub_variant *variant, const void *raw, const uint8_t *valid, uint64_t values,
                 double *out);

/** Wide integers as keys that are ordered as they are, and back. */
uint64_t hub_wide_key(const struct hub_variant *variant, const void *item);
static inline int64_t hub_wide_signed(uint64_t key)
{
    return (int64_t)(key ^ UINT64_C(1) << 63);
}

#endif
