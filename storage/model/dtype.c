/* Element types, field types, roles and axes: see dtype.h. The names here appear in documents and .npy
 * headers. */
#include "storage/model/dtype.h"

#include "storage/base/number.h"

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
    const char *word = NULL;
    switch (hub_variant_item(v).kind) {
    case HUB_KIND_BOOL:
        strcpy(out, "bool");
        return;
    case HUB_KIND_INT:
        word = "int";
        break;
    case HUB_KIND_UINT:
        word = "uint";
        break;
    case HUB_KIND_FLOAT:
        word = "float";
        break;
    case HUB_KIND_COMPLEX:
        word = "complex";
        break;
    default:
        break;
    }
    if (type == HUB_FIELD_PADDED_JSON || !word) {
        strcpy(out, type == HUB_FIELD_PADDED_JSON ? "json" : type == HUB_FIELD_TEXT ? "text" : "bytes");
        return;
    }
    put_number(stpcpy(out, word), v->item_size * 8);
}

const char *hub_field_type_name(enum hub_field_type type)
{
    switch (type) {
    case HUB_FIELD_NUMBER:
        return "number";
    case HUB_FIELD_BOOL:
        return "bool";
    case HUB_FIELD_TEXT:
        return "text";
    case HUB_FIELD_BYTES:
        return "bytes";
    case HUB_FIELD_IMAGE_JPEG:
    case HUB_FIELD_IMAGE_PNG:
    case HUB_FIELD_IMAGE_RAW:
        return "image";
    case HUB_FIELD_PADDED_JSON:
        return "padded-json";
    case HUB_FIELD_OPAQUE:
    case HUB_FIELD_TYPE_COUNT:
        break;
    }
    return "opaque";
}

const char *hub_role_name(enum hub_role role)
{
    switch (role) {
    case HUB_ROLE_OBSERVATION:
        return "observation";
    case HUB_ROLE_ACTION:
        return "action";
    case HUB_ROLE_REWARD:
        return "reward";
    case HUB_ROLE_DONE:
        return "done";
    case HUB_ROLE_INFO:
        return "info";
    case HUB_ROLE_OTHER:
    case HUB_ROLE_COUNT:
        break;
    }
    return "other";
}

const char *hub_axis_name(enum hub_axis axis)
{
    switch (axis) {
    case HUB_AXIS_STEP:
        return "step";
    case HUB_AXIS_STATE:
        return "state";
    case HUB_AXIS_SHIFTED:
        return "shifted";
    case HUB_AXIS_NONE:
    case HUB_AXIS_COUNT:
        break;
    }
    return "none";
}
