/* Element types, field types, roles and axes: see dtype.h. The names here appear in documents and .npy
 * headers. */
#include "storage/model/dtype.h"

#include "storage/text/number.h"

#define MAX_ROW_BYTES GIB

static bool number_size_valid(unsigned kind, uint32_t n)
{
    switch (kind) {
    case HUB_KIND_BOOL:
        return n == 1;
    case HUB_KIND_INT:
    case HUB_KIND_UINT:
        return n == 1 || n == 2 || n == 4 || n == 8;
    case HUB_KIND_FLOAT:
        return n == 2 || n == 4 || n == 8;
    case HUB_KIND_COMPLEX:
        return n == 8 || n == 16;
    default:
        return false;
    }
}

static bool item_size_valid(const struct hub_variant *v)
{
    const uint32_t n = v->item_size;
    if (v->kind == HUB_KIND_VAR)
        return v->rank == 0 && (v->sequence ? number_size_valid(v->sequence, n) : n == 0);
    if (v->kind == HUB_KIND_FIXED)
        return v->padding < HUB_PAD_COUNT && n >= 1 && n <= MAX_ROW_BYTES;
    return v->padding == 0 && number_size_valid(v->kind, n);
}

bool hub_variant_valid(const struct hub_variant *v)
{
    if (v->big_endian > 1 || v->rank > HUB_MAX_RANK || !item_size_valid(v))
        return false;
    /* The bound must hold for the dimensions other than zero as well: no product of a part may overflow. */
    uint64_t bytes = HUB_MAX(v->item_size, 1);
    for (unsigned i = 0; i < v->rank; i++) {
        if (v->dims[i] > 1)
            bytes *= v->dims[i];
        if (bytes > MAX_ROW_BYTES)
            return false;
    }
    for (unsigned i = v->rank; i < HUB_MAX_RANK; i++)
        if (v->dims[i])
            return false;
    return true;
}

uint64_t hub_variant_row_items(const struct hub_variant *v)
{
    uint64_t items = 1;
    for (unsigned i = 0; i < v->rank; i++)
        items *= v->dims[i];
    return items;
}

uint64_t hub_variant_row_bytes(const struct hub_variant *v)
{
    return v->kind == HUB_KIND_VAR ? 0 : hub_variant_row_items(v) * v->item_size;
}

struct hub_variant hub_variant_item(const struct hub_variant *v)
{
    return v->kind == HUB_KIND_VAR && v->sequence ? (struct hub_variant){.kind = v->sequence,
                                                                         .big_endian = v->big_endian,
                                                                         .item_size = v->item_size}
                                                  : *v;
}

size_t hub_variant_text_size(const struct hub_variant *v, const void *item)
{
    const char *text = item;
    size_t size = v->item_size;
    if (v->padding == HUB_PAD_FIRST_NUL)
        return strnlen(text, size);
    while (v->padding == HUB_PAD_BLANKS && size && text[size - 1] == ' ')
        size--;
    while (size && !text[size - 1])
        size--;
    return size;
}

bool hub_variant_equal(const struct hub_variant *a, const struct hub_variant *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* ---- elements ---- */

struct hub_scalar hub_variant_scalar(const struct hub_variant *v, const void *item)
{
    struct hub_scalar n = {0};
    const uint8_t *at = item;
    float single;
    if (v->item_size == 0 || v->item_size > sizeof n.bits)
        return n; /* not a number of one word */
    const unsigned unused = 64 - 8 * v->item_size;
    if (!v->big_endian)
        memcpy(&n.bits, at, v->item_size);
    for (uint32_t i = 0; v->big_endian && i < v->item_size; i++)
        n.bits = n.bits << 8 | at[i];
    n.integer = v->kind == HUB_KIND_INT ? (int64_t)(n.bits << unused) >> unused : (int64_t)n.bits;
    n.real = v->kind == HUB_KIND_INT ? (double)n.integer : (double)n.bits;
    if (v->kind != HUB_KIND_FLOAT)
        return n;
    memcpy(&single, &n.bits, sizeof single); /* the host is little-endian */
    memcpy(&n.real, &n.bits, sizeof n.real);
    if (v->item_size < 8)
        n.real = (double)(v->item_size == 4 ? single : hub_half_value((uint16_t)n.bits));
    return n;
}

void hub_variant_json(const struct hub_variant *v, const void *item, struct hub_json *json)
{
    if (v->kind == HUB_KIND_COMPLEX) {
        const struct hub_variant half = {
            .kind = HUB_KIND_FLOAT, .big_endian = v->big_endian, .item_size = v->item_size / 2};
        hub_json_array(json);
        hub_variant_json(&half, item, json);
        hub_variant_json(&half, (const uint8_t *)item + half.item_size, json);
        hub_json_end_array(json);
        return;
    }
    const struct hub_scalar n = hub_variant_scalar(v, item);
    if (v->kind == HUB_KIND_BOOL)
        hub_json_bool(json, n.bits != 0);
    else if (v->kind == HUB_KIND_INT)
        hub_json_safe_int(json, n.integer);
    else if (v->kind == HUB_KIND_UINT)
        hub_json_safe_uint(json, n.bits);
    else
        hub_json_double(json, n.real);
}

/* ---- names ---- */

static char kind_letter(uint8_t kind)
{
    static const char letters[HUB_KIND_COUNT] = {
        [HUB_KIND_NONE] = 'V',  [HUB_KIND_BOOL] = 'b',    [HUB_KIND_INT] = 'i',   [HUB_KIND_UINT] = 'u',
        [HUB_KIND_FLOAT] = 'f', [HUB_KIND_COMPLEX] = 'c', [HUB_KIND_FIXED] = 'S', [HUB_KIND_VAR] = 'O'};
    return kind < HUB_KIND_COUNT ? letters[kind] : 'V';
}

/* Without printf, which is a good part of what a small answer costs. */
static void put_number(char *out, uint32_t value)
{
    char digits[HUB_NUMBER_CHARS];
    const size_t size = hub_number_u64(value, digits);
    memcpy(out, digits, size);
    out[size] = '\0';
}

void hub_variant_npy(const struct hub_variant *v, char out[16])
{
    if (v->kind == HUB_KIND_VAR) {
        memcpy(out, "|O", 3);
        return;
    }
    const bool ordered = v->item_size > 1 && v->kind != HUB_KIND_FIXED;
    const char order = !ordered ? '|' : v->big_endian ? '>' : '<';
    out[0] = order;
    out[1] = kind_letter(v->kind);
    put_number(out + 2, v->item_size);
}

void hub_variant_name(const struct hub_variant *v, enum hub_field_type type, char out[24])
{
    static const char *const words[HUB_KIND_COUNT] = {[HUB_KIND_BOOL] = "bool",
                                                      [HUB_KIND_INT] = "int",
                                                      [HUB_KIND_UINT] = "uint",
                                                      [HUB_KIND_FLOAT] = "float",
                                                      [HUB_KIND_COMPLEX] = "complex"};
    const uint8_t kind = hub_variant_item(v).kind;
    const char *word = kind < HUB_KIND_COUNT ? words[kind] : NULL;
    if (kind == HUB_KIND_BOOL)
        strcpy(out, word);
    else if (type == HUB_FIELD_PADDED_JSON || !word)
        strcpy(out, type == HUB_FIELD_PADDED_JSON ? "json" : type == HUB_FIELD_TEXT ? "text" : "bytes");
    else
        put_number(stpcpy(out, word), v->item_size * 8);
}

const char *hub_field_type_name(enum hub_field_type type)
{
    static const char *const names[HUB_FIELD_TYPE_COUNT] = {[HUB_FIELD_NUMBER] = "number",
                                                            [HUB_FIELD_BOOL] = "bool",
                                                            [HUB_FIELD_TEXT] = "text",
                                                            [HUB_FIELD_BYTES] = "bytes",
                                                            [HUB_FIELD_IMAGE_JPEG] = "image",
                                                            [HUB_FIELD_IMAGE_PNG] = "image",
                                                            [HUB_FIELD_IMAGE_RAW] = "image",
                                                            [HUB_FIELD_IMAGE_NUMBER] = "image",
                                                            [HUB_FIELD_PADDED_JSON] = "padded-json",
                                                            [HUB_FIELD_OPAQUE] = "opaque"};
    return type < HUB_FIELD_TYPE_COUNT && names[type] ? names[type] : "opaque";
}

const char *hub_role_name(enum hub_role role)
{
    static const char *const names[HUB_ROLE_COUNT] = {"other",  "observation", "action",
                                                      "reward", "done",        "info"};
    return role < HUB_ROLE_COUNT ? names[role] : "other";
}

const char *hub_axis_name(enum hub_axis axis)
{
    static const char *const names[HUB_AXIS_COUNT] = {"none", "step", "state", "shifted"};
    return axis < HUB_AXIS_COUNT ? names[axis] : "none";
}
