/* storage/text/number.c: every text reads back as the same bits, and none could be shorter. */
#include "storage/text/number.h"

#include "storage/base/error.h"

#include <criterion/criterion.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

/* Fewest significant digits printf needs for the value to survive. */
static int fewest_digits(double value)
{
    char text[40];
    for (int n = 1; n < 17; n++) {
        snprintf(text, sizeof(text), "%.*e", n - 1, value);
        if (same(strtod(text, NULL), value))
            return n;
    }
    return 17;
}

static int significant(const char *text)
{
    int digits = 0, zeros = 0;
    bool leading = true;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9')
            continue;
        leading &= *text == '0';
        if (leading)
            continue;
        digits++;
        zeros = *text == '0' ? zeros + 1 : 0;
    }
    return digits - zeros;
}

static bool survives(double value, bool check_length)
{
    char text[HUB_NUMBER_CHARS + 1];
    if (!isfinite(value))
        return true;
    const size_t n = hub_number_double(value, text);
    if (n > 24)
        return false;
    text[n] = '\0';
    if (!same(strtod(text, NULL), value))
        return false;
    return !check_length || value == 0 || (fabs(value) < 0x1p53 && value == trunc(value)) ||
           significant(text) <= fewest_digits(value);
}

Test(number, random_doubles_survive)
{
    uint64_t state = 88172645463325252U;
    for (int i = 0; i < 200000; i++) {
        const double value = from_bits(next_random(&state));
        cr_assert(survives(value, i % 20 == 0), "%a", value);
    }
}

Test(number, every_exponent_survives)
{
    for (uint64_t exponent = 0; exponent < 2047; exponent++) {
        const uint64_t base = exponent << 52;
        const uint64_t around[] = {base, base + 1, base + 2, base + (1ULL << 51), base + (1ULL << 52) - 1};
        for (size_t i = 0; i < HUB_COUNT(around); i++) {
            cr_assert(survives(from_bits(around[i]), true), "%a", from_bits(around[i]));
            cr_assert(survives(-from_bits(around[i]), false), "%a", -from_bits(around[i]));
        }
    }
    for (uint64_t bit = 0; bit < 52; bit++)
        cr_assert(survives(from_bits(1ULL << bit), true));
}

Test(number, powers_of_ten)
{
    char want[16], text[HUB_NUMBER_CHARS + 1];
    for (int e = -323; e <= 308; e++) {
        snprintf(want, sizeof(want), "1e%d", e);
        const double value = strtod(want, NULL);
        text[hub_number_double(value, text)] = '\0';
        cr_assert(same(strtod(text, NULL), value), "%s", text);
        cr_assert_eq(significant(text), 1, "%s", text);
    }
}

Test(number, form)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1, "1.0"},
        {-1, "-1.0"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1e15, "1000000000000000.0"},
        {1e16, "1e+16"},
        {1.5e300, "1.5e+300"},
        {0.0001, "0.0001"},
        {0.00012345, "0.00012345"},
        {0.00001, "1e-05"},
        {1.25e-7, "1.25e-07"},
        {5e-324, "5e-324"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {-DBL_MIN, "-2.2250738585072014e-308"},
        {9007199254740993.0, "9007199254740992.0"},
        {123456789.125, "123456789.125"},
        {1e23, "1e+23"},
        {3.4028234663852886e+38, "3.4028234663852886e+38"},
        {-4.800000190734863, "-4.800000190734863"},
        {1234567890123456.7, "1234567890123456.8"},
        {2e-44, "2e-44"},
        {100, "100.0"},
    };
    char text[HUB_NUMBER_CHARS + 1];
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        text[hub_number_double(cases[i].value, text)] = '\0';
        cr_expect_str_eq(text, cases[i].text);
    }
}

Test(number, floats)
{
    static const struct {
        float value;
        const char *text;
    } cases[] = {
        {0.1F, "0.1"},
        {-4.8F, "-4.8"},
        {FLT_MAX, "3.4028235e+38"},
        {0x1p-149F, "1e-45"},
        {16777216.0F, "16777216.0"},
        {FLT_MIN, "1.1754944e-38"},
        {-0.0F, "-0.0"},
        {1.0F / 3, "0.33333334"},
        {1e10F, "10000000000.0"},
    };
    char text[HUB_NUMBER_CHARS + 1];
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        text[hub_number_float(cases[i].value, text)] = '\0';
        cr_expect_str_eq(text, cases[i].text);
    }
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 20011) {
        const uint32_t pattern = (uint32_t)bits;
        float value;
        memcpy(&value, &pattern, sizeof(value));
        if (!isfinite(value))
            continue;
        text[hub_number_float(value, text)] = '\0';
        const float back = strtof(text, NULL);
        cr_assert_eq(memcmp(&back, &value, sizeof(value)), 0, "%s", text);
    }
}

/* Round a positive double to the nearest half, ties to even, the slow way. */
static uint16_t nearest_half(double value)
{
    uint16_t low = 0, high = 0x7C00;
    while (high - low > 1) {
        const uint16_t middle = (uint16_t)((low + high) / 2);
        if ((double)hub_half_value(middle) <= value)
            low = middle;
        else
            high = middle;
    }
    const double below = value - (double)hub_half_value(low);
    const double above = (high == 0x7C00 ? 65536.0 : (double)hub_half_value(high)) - value;
    return below < above || (below == above && low % 2 == 0) ? low : high;
}

Test(number, every_half_survives)
{
    char text[HUB_NUMBER_CHARS + 1];
    for (uint32_t bits = 0; bits < 0x7C00; bits++) {
        text[hub_number_half((uint16_t)bits, text)] = '\0';
        cr_assert_eq(nearest_half(strtod(text, NULL)), bits, "%s", text);
        cr_assert_leq(strlen(text), 10, "%s", text);
    }
    text[hub_number_half(0x2E66, text)] = '\0';
    cr_expect_str_eq(text, "0.1");
    text[hub_number_half(0xFBFF, text)] = '\0';
    cr_expect_str_eq(text, "-65504.0");
    text[hub_number_half(0x8000, text)] = '\0';
    cr_expect_str_eq(text, "-0.0");
    cr_expect_not(hub_half_is_finite(0x7C00));
    cr_expect(isinf(hub_half_value(0xFC00)) && hub_half_value(0xFC00) < 0);
    cr_expect(isnan(hub_half_value(0x7E00)));
}

Test(number, integers)
{
    char text[HUB_NUMBER_CHARS + 1], want[32];
    uint64_t value = 1;
    for (int i = 0; i < 20; i++, value *= 10) {
        for (uint64_t v = value - 1; v != value + 2; v++) {
            text[hub_number_u64(v, text)] = '\0';
            snprintf(want, sizeof(want), "%" PRIu64, v);
            cr_expect_str_eq(text, want);
            text[hub_number_i64((int64_t)(0 - v), text)] = '\0';
            snprintf(want, sizeof(want), "%" PRId64, (int64_t)(0 - v));
            cr_expect_str_eq(text, want);
        }
    }
    text[hub_number_i64(INT64_MIN, text)] = '\0';
    cr_expect_str_eq(text, "-9223372036854775808");
    text[hub_number_u64(UINT64_MAX, text)] = '\0';
    cr_expect_str_eq(text, "18446744073709551615");
}
