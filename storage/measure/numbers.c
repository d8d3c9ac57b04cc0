/* Numbers as doubles: a plain loop for each kind and size, which the compiler turns into vectors. */
#include "storage/measure/numbers.h"

#include <math.h>
#include <string.h>

bool hub_numbers_are(const struct hub_variant *variant)
{
    return variant->kind == HUB_KIND_BOOL || variant->kind == HUB_KIND_INT ||
           variant->kind == HUB_KIND_UINT || variant->kind == HUB_KIND_FLOAT;
}

bool hub_numbers_wide(const struct hub_variant *variant)
{
    return (variant->kind == HUB_KIND_INT || variant->kind == HUB_KIND_UINT) && variant->item_size == 8;
}

#define CONVERT(type)                                                                                        \
    for (uint64_t i = 0; i < n; i++) {                                                                       \
        type value;                                                                                          \
        memcpy(&value, at + i * sizeof value, sizeof value);                                                 \
        out[i] = (double)value;                                                                              \
    }

static void from_floats(unsigned size, const uint8_t *at, uint64_t n, double *out)
{
    if (size == 8)
        memcpy(out, at, n * sizeof *out);
    else
        CONVERT(float)
}

static void from_signed(unsigned size, const uint8_t *at, uint64_t n, double *out)
{
    if (size == 8)
        CONVERT(int64_t)
    else if (size == 4)
        CONVERT(int32_t)
    else if (size == 2)
        CONVERT(int16_t)
    else
        CONVERT(int8_t)
}

static void from_unsigned(unsigned size, const uint8_t *at, uint64_t n, double *out)
{
    if (size == 8)
        CONVERT(uint64_t)
    else if (size == 4)
        CONVERT(uint32_t)
    else if (size == 2)
        CONVERT(uint16_t)
    else
        CONVERT(uint8_t)
}

static void from_bools(const uint8_t *at, uint64_t n, double *out)
{
    for (uint64_t i = 0; i < n; i++)
        out[i] = at[i] != 0;
}

/* The other byte order and half floats are rare: one value after the other. */
static void one_by_one(const struct hub_variant *v, const uint8_t *at, uint64_t n, double *out)
{
    for (uint64_t i = 0; i < n; i++)
        out[i] = hub_variant_scalar(v, at + i * v->item_size).real;
}

void hub_numbers(const struct hub_variant *variant, const void *raw, const uint8_t *valid, uint64_t values,
                 double *out)
{
    if (variant->kind == HUB_KIND_BOOL)
        from_bools(raw, values, out);
    else if ((variant->big_endian && variant->item_size > 1) ||
             (variant->kind == HUB_KIND_FLOAT && variant->item_size == 2))
        one_by_one(variant, raw, values, out);
    else if (variant->kind == HUB_KIND_FLOAT)
        from_floats(variant->item_size, raw, values, out);
    else if (variant->kind == HUB_KIND_INT)
        from_signed(variant->item_size, raw, values, out);
    else
        from_unsigned(variant->item_size, raw, values, out);
    for (uint64_t i = 0; valid && i < values; i++)
        out[i] = valid[i] ? out[i] : NAN;
}

uint64_t hub_wide_key(const struct hub_variant *variant, const void *item)
{
    uint64_t bits;
    memcpy(&bits, item, sizeof bits);
    if (variant->big_endian)
        bits = __builtin_bswap64(bits);
    return variant->kind == HUB_KIND_INT ? bits ^ UINT64_C(1) << 63 : bits;
}
