#include "storage/query/value.h"

#include "storage/text/number.h"

#include <math.h>

#define SAFE_INTEGER ((UINT64_C(1) << 53) - 1)

struct hub_value hub_value_uint(uint64_t number)
{
    return number > INT64_MAX ? (struct hub_value){.kind = HUB_VALUE_UINT, .large = number}
                              : (struct hub_value){.kind = HUB_VALUE_INT, .number = (int64_t)number};
}

struct hub_value hub_value_real(double real)
{
    return (struct hub_value){.kind = HUB_VALUE_REAL, .real = real};
}

struct hub_value hub_value_text(struct hub_view text)
{
    return (struct hub_value){.kind = HUB_VALUE_TEXT, .text = text};
}

double hub_value_real_of(const struct hub_value *value)
{
    return value->kind == HUB_VALUE_REAL   ? value->real
           : value->kind == HUB_VALUE_UINT ? (double)value->large
                                           : (double)value->number;
}

bool hub_value_wide(struct hub_view text, struct hub_value *out)
{
    const bool negative = hub_view_starts(text, "-");
    const struct hub_view digits = {text.data + negative, text.size - negative};
    const uint64_t most = negative ? (uint64_t)INT64_MAX + 1 : UINT64_MAX;
    uint64_t number;
    if (digits.size < 16 || digits.data[0] == '0' || !hub_number_read(digits, most, &number) ||
        number <= SAFE_INTEGER)
        return false;
    *out = negative ? (struct hub_value){.kind = HUB_VALUE_INT, .number = (int64_t)(0 - number)}
                    : hub_value_uint(number);
    return true;
}

static enum hub_order compare_texts(struct hub_view a, struct hub_view b)
{
    const size_t size = HUB_MIN(a.size, b.size);
    const int order = size ? memcmp(a.data, b.data, size) : 0;
    if (order)
        return order < 0 ? HUB_LESS : HUB_GREATER;
    return a.size == b.size ? HUB_EQUAL : a.size < b.size ? HUB_LESS : HUB_GREATER;
}

static enum hub_order compare_reals(double a, double b)
{
    if (isnan(a) || isnan(b))
        return HUB_UNORDERED;
    return a == b ? HUB_EQUAL : a < b ? HUB_LESS : HUB_GREATER;
}

/* Beyond 2^53 a double is an integer, so that its integral part and what is left of it decide. */
static enum hub_order compare_mixed(const struct hub_value *whole, double real)
{
    const double two_63 = 9223372036854775808.0;
    if (isnan(real))
        return HUB_UNORDERED;
    if (real >= 2 * two_63)
        return HUB_LESS;
    if (real < -two_63)
        return HUB_GREATER;
    const double floor_of = floor(real);
    const struct hub_value near =
        floor_of < 0 ? (struct hub_value){.number = (int64_t)floor_of} : hub_value_uint((uint64_t)floor_of);
    const enum hub_order order = hub_value_compare(whole, &near);
    return order == HUB_EQUAL && real > floor_of ? HUB_LESS : order;
}

enum hub_order hub_value_compare(const struct hub_value *a, const struct hub_value *b)
{
    struct hub_value wide;
    if (a->kind == HUB_VALUE_TEXT && b->kind != HUB_VALUE_TEXT)
        return hub_value_wide(a->text, &wide) ? hub_value_compare(&wide, b) : HUB_UNORDERED;
    if (a->kind != HUB_VALUE_TEXT && b->kind == HUB_VALUE_TEXT)
        return hub_value_wide(b->text, &wide) ? hub_value_compare(a, &wide) : HUB_UNORDERED;
    if (a->kind == HUB_VALUE_TEXT)
        return compare_texts(a->text, b->text);
    if (a->kind == HUB_VALUE_REAL && b->kind == HUB_VALUE_REAL)
        return compare_reals(a->real, b->real);
    if (b->kind == HUB_VALUE_REAL)
        return compare_mixed(a, b->real);
    if (a->kind == HUB_VALUE_REAL) {
        const enum hub_order order = compare_mixed(b, a->real);
        return order == HUB_UNORDERED ? order : (enum hub_order) - order;
    }
    if (a->kind != b->kind)
        return a->kind == HUB_VALUE_UINT ? HUB_GREATER : HUB_LESS;
    if (a->kind == HUB_VALUE_UINT)
        return a->large == b->large ? HUB_EQUAL : a->large < b->large ? HUB_LESS : HUB_GREATER;
    return a->number == b->number ? HUB_EQUAL : a->number < b->number ? HUB_LESS : HUB_GREATER;
}
