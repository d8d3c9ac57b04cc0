/* Which representation a field has: the table of the API's documentation, and the words of a refusal. */
#include "storage/encode/encode.h"

#include <stdio.h>

enum cell { NO = 0, YES, ONE_ROW, DECODE };

enum { FORMATS = HUB_AS_IMAGE + 1 };

/* clang-format off */
static const enum cell table[HUB_FIELD_TYPE_COUNT][FORMATS] = {
    /*                              json  npy     npz     raw      image */
    [HUB_FIELD_NUMBER]      = {NO,  YES,  YES,    YES,    YES,     NO},
    [HUB_FIELD_BOOL]        = {NO,  YES,  YES,    YES,    YES,     NO},
    [HUB_FIELD_TEXT]        = {NO,  YES,  YES,    YES,    NO,      NO},
    [HUB_FIELD_BYTES]       = {NO,  YES,  NO,     YES,    ONE_ROW, NO},
    [HUB_FIELD_IMAGE_JPEG]  = {NO,  YES,  DECODE, YES,    ONE_ROW, ONE_ROW},
    [HUB_FIELD_IMAGE_PNG]   = {NO,  YES,  DECODE, YES,    ONE_ROW, ONE_ROW},
    [HUB_FIELD_IMAGE_RAW]   = {NO,  YES,  YES,    YES,    YES,     ONE_ROW},
    [HUB_FIELD_PADDED_JSON] = {NO,  YES,  YES,    YES,    YES,     NO},
    [HUB_FIELD_OPAQUE]      = {NO,  YES,  NO,     YES,    ONE_ROW, NO},
};
/* clang-format on */

static const char *const format_names[FORMATS] = {"", "json", "npy", "npz", "raw", "image"};

/* The table, and what the variant takes back: varying rows have no common size, few shapes are pictures. */
static enum cell cell_of(enum hub_field_type type, const struct hub_variant *variant, enum hub_format_id as)
{
    const enum cell cell = table[type][as];
    const bool var = variant->kind == HUB_KIND_VAR;
    if (cell != YES && cell != ONE_ROW)
        return cell;
    if (as == HUB_AS_NPY && var && type != HUB_FIELD_TEXT)
        return NO;
    if (as == HUB_AS_RAW && var)
        return ONE_ROW;
    if (as == HUB_AS_IMAGE && type == HUB_FIELD_IMAGE_RAW && !hub_png_possible(variant))
        return NO;
    return cell;
}

bool hub_encode_as_bytes(enum hub_field_type type, const struct hub_variant *variant)
{
    switch (type) {
    case HUB_FIELD_BYTES:
    case HUB_FIELD_OPAQUE:
    case HUB_FIELD_IMAGE_JPEG:
    case HUB_FIELD_IMAGE_PNG:
        return true;
    default:
        return variant->kind == HUB_KIND_VAR && type != HUB_FIELD_TEXT;
    }
}

enum hub_status hub_encode_check(enum hub_field_type type, const struct hub_variant *variant,
                                 enum hub_format_id as, uint64_t rows, struct hub_error *err)
{
    char others[64] = "";
    if (type < HUB_FIELD_NUMBER || type >= HUB_FIELD_TYPE_COUNT || as < HUB_AS_JSON || as > HUB_AS_IMAGE)
        return hub_fail(err, HUB_INVALID, "no such representation");
    const enum cell cell = cell_of(type, variant, as);
    if (cell == YES || (cell == ONE_ROW && rows == 1))
        return HUB_OK;
    if (cell == ONE_ROW)
        return hub_fail_as(err, HUB_NOT_ACCEPTABLE, "not-acceptable",
                           "%s rows are available as %s one at a time: ask with row=",
                           hub_field_type_name(type), format_names[as]);
    for (enum hub_format_id other = HUB_AS_JSON; other <= HUB_AS_IMAGE; other++) {
        const enum cell c = cell_of(type, variant, other);
        const size_t n = strlen(others);
        if (c == YES || c == ONE_ROW)
            snprintf(others + n, sizeof(others) - n, "%s%s%s", n ? ", " : "", format_names[other],
                     c == ONE_ROW ? " (one row)" : "");
    }
    return hub_fail_as(err, HUB_NOT_ACCEPTABLE, cell == DECODE ? "needs-decoding" : "not-acceptable",
                       "%s rows are not available as %s, but as %s", hub_field_type_name(type),
                       format_names[as], others);
}
