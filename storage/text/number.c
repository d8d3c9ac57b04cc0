/* Shortest digits by Schubfach (R. Giulietti, "The Schubfach way to render doubles", 2020): scale the value
 * and the two ends of its rounding interval by one table entry, then take the shortest decimal in between.
 * One core serves doubles, floats and halves: a value is c * 2^q, and only the interval's width depends on
 * the type. */
#include "storage/text/number.h"

#include "storage/text/number_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A decimal: digits * 10^exponent. */
struct decimal {
    uint64_t digits;
    int exponent;
};

static const char pairs[] = "0001020304050607080910111213141516171819"
                            "2021222324252627282930313233343536373839"
                            "4041424344454647484950515253545556575859"
                            "6061626364656667686970717273747576777879"
                            "8081828384858687888990919293949596979899";

static const char zeros[] = {'0', '.', '0', '0', '0', '0'};
static const char point_zero[] = {'.', '0'};

/* The high 128 bits of g * c, the lowest bit set if anything was cut off behind it (rounding to odd keeps
 * comparisons exact). */
static inline uint64_t scale(struct hub_power g, uint64_t c)
{
    const unsigned __int128 low = (unsigned __int128)g.low * c;
    const unsigned __int128 sum = (unsigned __int128)g.high * c + (uint64_t)(low >> 64);
    return (uint64_t)(sum >> 64) | ((uint64_t)sum > 1);
}

/* floor(e * log10(2)), floor(e * log10(2) + log10(3/4)) and floor(e * log2(10)), exact for the exponents of a
 * double. */
static inline int log10_of_pow2(int e)
{
    return (e * 1262611) >> 22;
}

static inline int log10_of_three_quarters_pow2(int e)
{
    return (e * 1262611 - 524031) >> 22;
}

static inline int log2_of_pow10(int e)
{
    return (e * 1741647) >> 19;
}

/**
 * The shortest decimal inside the rounding interval of c * 2^q, the nearest one to it among those.
 *
 * @param closer  the lower neighbour is half as far as the upper one (c is the smallest of its binade)
 */
static struct decimal shortest(uint64_t c, int q, bool closer)
{
    const uint64_t odd = c & 1; /* the interval's ends belong to it when c is even */
    const int k = closer ? log10_of_three_quarters_pow2(q) : log10_of_pow2(q);
    const int shift = q + log2_of_pow10(-k) + 1;
    const struct hub_power g = hub_powers_of_ten[-k - HUB_POWER_LOWEST];
    const uint64_t lower = scale(g, (4 * c - 2 + closer) << shift) + odd;
    const uint64_t middle = scale(g, (4 * c) << shift);
    const uint64_t upper = scale(g, (4 * c + 2) << shift) - odd;

    const uint64_t s = middle / 4;
    if (s >= 10) { /* one digit fewer */
        const uint64_t tens = s / 10;
        const bool down = lower <= 40 * tens, up = 40 * tens + 40 <= upper;
        if (down != up)
            return (struct decimal){tens + up, k + 1};
    }
    const bool down = lower <= 4 * s, up = 4 * s + 4 <= upper;
    if (down != up)
        return (struct decimal){s + up, k};
    const uint64_t half = 4 * s + 2;
    const bool round_up = middle > half || (middle == half && (s & 1));
    return (struct decimal){s + round_up, k};
}

static inline void put_pair(char *out, uint32_t value)
{
    memcpy(out, pairs + (size_t)value * 2, 2);
}

/* Eight digits with leading zeros. */
static inline void put_eight(char *out, uint32_t value)
{
    const uint32_t high = value / 10000, low = value % 10000;
    put_pair(out, high / 100);
    put_pair(out + 2, high % 100);
    put_pair(out + 4, low / 100);
    put_pair(out + 6, low % 100);
}

static inline unsigned digits_below_8(uint32_t v)
{
    return v < 10000 ? (v < 100 ? (v < 10 ? 1 : 2) : (v < 1000 ? 3 : 4))
                     : (v < 1000000 ? (v < 100000 ? 5 : 6) : (v < 10000000 ? 7 : 8));
}

/* A number of at most eight digits, without leading zeros; scribbles on up to eight bytes. */
static inline size_t put_short(char *out, uint32_t value)
{
    uint64_t text; /* little-endian: the first digit in the lowest byte */
    const unsigned n = digits_below_8(value);
    put_eight((char *)&text, value);
    text >>= 8 * (8 - n);
    memcpy(out, &text, sizeof(text));
    return n;
}

static size_t put_u64(char *out, uint64_t value)
{
    if (value < 100000000)
        return put_short(out, (uint32_t)value);
    if (value < 10000000000000000U) {
        const size_t n = put_short(out, (uint32_t)(value / 100000000));
        put_eight(out + n, (uint32_t)(value % 100000000));
        return n + 8;
    }
    const uint64_t low = value % 10000000000000000U;
    const size_t n = put_short(out, (uint32_t)(value / 10000000000000000U));
    put_eight(out + n, (uint32_t)(low / 100000000));
    put_eight(out + n + 8, (uint32_t)(low % 100000000));
    return n + 16;
}

size_t hub_number_u64(uint64_t value, char out[HUB_NUMBER_CHARS])
{
    return put_u64(out, value);
}

size_t hub_number_i64(int64_t value, char out[HUB_NUMBER_CHARS])
{
    if (value >= 0)
        return put_u64(out, (uint64_t)value);
    *out = '-';
    return 1 + put_u64(out + 1, 0 - (uint64_t)value);
}

static size_t put_exponent(char *out, int exponent)
{
    char *at = out;
    *at++ = 'e';
    *at++ = exponent < 0 ? '-' : '+';
    const uint32_t e = (uint32_t)(exponent < 0 ? -exponent : exponent);
    if (e >= 100)
        *at++ = (char)('0' + e / 100);
    put_pair(at, e % 100);
    return (size_t)(at + 2 - out);
}

/* Python's repr: plain digits when the leading one stands for 10^-4 to 10^15, else one digit before the point
 * and an exponent. */
static size_t put_decimal(char *out, struct decimal d)
{
    enum { MOST = 17 }; /* digits; copied all at once, which is quicker than copying as many as there are */
    char text[2 * MOST + 8] = {0};
    size_t n = put_u64(text, d.digits);
    const int lead = d.exponent + (int)n - 1; /* power of ten of the first digit */
    while (n > 1 && text[n - 1] == '0')
        n--;
    if (lead < -4 || lead > 15) {
        out[0] = text[0];
        out[1] = '.';
        memcpy(out + 2, text + 1, MOST);
        const size_t size = n > 1 ? n + 1 : 1;
        return size + put_exponent(out + size, lead);
    }
    if (lead < 0) {
        memcpy(out, zeros, sizeof(zeros));
        const size_t before = (size_t)(1 - lead); /* "0." and the zeros behind it */
        memcpy(out + before, text, MOST);
        return before + n;
    }
    const size_t whole = (size_t)lead + 1;
    memcpy(out, text, MOST);
    if (whole >= n) {
        memset(out + n, '0', whole - n);
        memcpy(out + whole, point_zero, sizeof(point_zero));
        return whole + 2;
    }
    out[whole] = '.';
    memcpy(out + whole + 1, text + whole, MOST);
    return n + 1;
}

/* A sign, an integer below 2^53 and ".0". */
static size_t put_integral(char *out, uint64_t value)
{
    const size_t n = put_u64(out, value);
    memcpy(out + n, point_zero, sizeof(point_zero));
    return n + 2;
}

/* The number of these bits, whose magnitude is a double's too. Integers below `limit` are common in data, and
 * quick; the format has all of their digits. */
static inline size_t put_number(uint64_t bits, unsigned fraction_bits, unsigned exponent_bits,
                                double magnitude, double limit, char *out)
{
    const uint64_t one = UINT64_C(1) << fraction_bits, fraction = bits & (one - 1);
    const unsigned exponent = (unsigned)(bits >> fraction_bits) & ((1U << exponent_bits) - 1);
    const int bias = (1 << (exponent_bits - 1)) - 1 + (int)fraction_bits;
    const size_t sign = (size_t)(bits >> (fraction_bits + exponent_bits));
    out[0] = '-';
    out += sign;
    if (magnitude < limit) {
        const uint64_t whole = (uint64_t)magnitude;
        if ((double)whole == magnitude)
            return sign + put_integral(out, whole);
    }
    const struct decimal d = exponent
                                 ? shortest(fraction | one, (int)exponent - bias, !fraction && exponent > 1)
                                 : shortest(fraction, 1 - bias, false);
    return sign + put_decimal(out, d);
}

size_t hub_number_double(double value, char out[HUB_NUMBER_CHARS])
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return put_number(bits, 52, 11, fabs(value), 0x1p53, out);
}

size_t hub_number_float(float value, char out[HUB_NUMBER_CHARS])
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return put_number(bits, 23, 8, (double)fabsf(value), 0x1p24, out);
}

/* Every half from 1024 on is an integer: all its digits, not fewer. */
size_t hub_number_half(uint16_t bits, char out[HUB_NUMBER_CHARS])
{
    return put_number(bits, 10, 5, (double)hub_half_value(bits & 0x7FFF), 0x1p16, out);
}

bool hub_number_read(struct hub_view text, uint64_t most, uint64_t *out)
{
    uint64_t n = 0;
    for (size_t i = 0; i < text.size; i++) {
        const unsigned digit = (unsigned char)text.data[i] - (unsigned)'0';
        if (digit > 9 || __builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, digit, &n) ||
            n > most)
            return false;
    }
    *out = n;
    return text.size > 0;
}

float hub_half_value(uint16_t bits)
{
    const uint32_t sign = (uint32_t)(bits >> 15) << 31;
    const uint32_t exponent = bits >> 10 & 0x1F;
    const uint32_t fraction = bits & 0x3FFU;
    float value;
    if (exponent == 0) {
        value = (float)fraction * 0x1p-24F;
        return sign ? -value : value;
    }
    const uint32_t wide = sign | (exponent == 31 ? 0xFFU : exponent + 112) << 23 | fraction << 13;
    memcpy(&value, &wide, sizeof(value));
    return value;
}

void hub_number_size(uint64_t bytes, char out[HUB_SIZE_CHARS])
{
    const double mb = (double)bytes / 1e6;
    if (mb < 1e3)
        snprintf(out, HUB_SIZE_CHARS, "%.1f MB", mb);
    else if (mb < 1e6)
        snprintf(out, HUB_SIZE_CHARS, "%.2f GB", mb / 1e3);
    else
        snprintf(out, HUB_SIZE_CHARS, "%.2f TB", mb / 1e6);
}
