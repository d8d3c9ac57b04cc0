/**
 * A stored number as text, at the end of a caller's buffer: what json and csv share. In a header, for it is
 * what their time goes into.
 */
#ifndef HUB_ENCODE_DIGITS_H
#define HUB_ENCODE_DIGITS_H

#include "storage/model/dtype.h"
#include "storage/text/number.h"

#include <math.h>

enum {
    HUB_DIGITS_CHARS = 2 * HUB_NUMBER_CHARS + 8, /* a complex number */
    HUB_DIGITS_NS_BYTE = 6                       /* of numbers: about 50 ns each */
};

/* What numbers that are none are called, and what stands around and between the halves of a complex one
 * ('\0': nothing before it; '+': the sign of the second will do). */
struct hub_digits {
    const char *nan, *infinity, *minus_infinity;
    char open, between, close;
    uint64_t nonfinite; /* counted */
};

static inline uint64_t hub_digits_load(const uint8_t *item, size_t size, bool swap)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (size) { /* sizes known to the compiler: no calls */
    case 1:
        return *item;
    case 2:
        memcpy(&two, item, sizeof(two));
        return swap ? __builtin_bswap16(two) : two;
    case 4:
        memcpy(&four, item, sizeof(four));
        return swap ? __builtin_bswap32(four) : four;
    default:
        memcpy(&eight, item, sizeof(eight));
        return swap ? __builtin_bswap64(eight) : eight;
    }
}

static inline size_t hub_digits_nonfinite(struct hub_digits *d, double value, char *to)
{
    const char *name = isnan(value) ? d->nan : value > 0 ? d->infinity : d->minus_infinity;
    const size_t size = strlen(name);
    d->nonfinite++;
    memcpy(to, name, size);
    return size;
}

static inline size_t hub_digits_float(struct hub_digits *d, const uint8_t *item, size_t size, bool swap,
                                      char *to)
{
    const uint64_t bits = hub_digits_load(item, size, swap);
    if (size == 8) {
        double value;
        memcpy(&value, &bits, 8);
        return isfinite(value) ? hub_number_double(value, to) : hub_digits_nonfinite(d, value, to);
    }
    if (size == 4) {
        const uint32_t narrow = (uint32_t)bits;
        float value;
        memcpy(&value, &narrow, 4);
        return isfinite(value) ? hub_number_float(value, to) : hub_digits_nonfinite(d, (double)value, to);
    }
    return hub_half_is_finite((uint16_t)bits)
               ? hub_number_half((uint16_t)bits, to)
               : hub_digits_nonfinite(d, (double)hub_half_value((uint16_t)bits), to);
}

static inline size_t hub_digits_complex(struct hub_digits *d, const uint8_t *item, size_t half, bool swap,
                                        char *to)
{
    size_t n = 0;
    if (d->open)
        to[n++] = d->open;
    n += hub_digits_float(d, item, half, swap, to + n);
    to[n++] = d->between;
    const size_t m = hub_digits_float(d, item + half, half, swap, to + n);
    if (d->between == '+' && to[n] == '-') /* 1.0-2.0j */
    {
        n--;
        memmove(to + n, to + n + 1, m);
    }
    n += m;
    to[n++] = d->close;
    return n;
}

/** The text of one element, not terminated: `to` has HUB_DIGITS_CHARS. Returns its bytes. */
static inline size_t hub_digits(struct hub_digits *d, const struct hub_variant *v, const uint8_t *item,
                                char *to)
{
    const size_t size = v->item_size;
    const bool swap = v->big_endian;
    switch (v->kind) {
    case HUB_KIND_BOOL:
        memcpy(to, *item ? "true" : "false", 5);
        return *item ? 4 : 5;
    case HUB_KIND_INT: {
        const unsigned unused = (unsigned)(64 - 8 * size);
        return hub_number_i64((int64_t)(hub_digits_load(item, size, swap) << unused) >> unused, to);
    }
    case HUB_KIND_UINT:
        return hub_number_u64(hub_digits_load(item, size, swap), to);
    case HUB_KIND_FLOAT:
        return hub_digits_float(d, item, size, swap, to);
    default: /* complex */
        return hub_digits_complex(d, item, size / 2, swap, to);
    }
}

#endif
