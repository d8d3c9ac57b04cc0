/* Numbers within rows of JSON text: see leaf.h. */
#include "storage/measure/leaf.h"

#include "storage/text/json.h"

#include <math.h>
#include <stdlib.h>

enum { KEY_BYTES = 256 };

bool hub_leaf_is_pointer(struct hub_view pointer)
{
    for (size_t i = 0; i < pointer.size; i++)
        if (pointer.data[i] == '~' &&
            (i + 1 == pointer.size || (pointer.data[i + 1] != '0' && pointer.data[i + 1] != '1')))
            return false;
    return !pointer.size || pointer.data[0] == '/';
}

/* Does this step of a pointer name a key, as it stands between its quotes? */
static bool names(struct hub_view step, struct hub_view key)
{
    char text[KEY_BYTES + 3];
    struct hub_json_unescape u = {0};
    if (key.size > KEY_BYTES)
        return false;
    size_t size = hub_json_unescape(&u, key.data, key.size, text), at = 0;
    if (size + 3 > sizeof text)
        return false;
    size += hub_json_unescape_end(&u, text + size);
    for (size_t i = 0; i < step.size; i++, at++) {
        char c = step.data[i];
        if (c == '~')
            c = step.data[++i] == '1' ? '/' : '~';
        if (at == size || text[at] != c)
            return false;
    }
    return at == size;
}

static bool is_index(struct hub_view step, uint64_t *out)
{
    const bool digits = step.size && step.size < 19 && strspn(step.data, "0123456789") >= step.size;
    *out = digits ? strtoull(step.data, NULL, 10) : 0;
    return digits && (step.data[0] != '0' || step.size == 1);
}

static bool enter_object(struct hub_view rest, struct hub_view step, struct hub_view *value)
{
    struct hub_view key, one;
    bool found = false;
    while (hub_json_take(&rest, &key, &one)) /* the last of equal keys counts */
        if (names(step, key)) {
            *value = one;
            found = true;
        }
    return found;
}

static bool enter_array(struct hub_view rest, struct hub_view step, struct hub_view *value)
{
    uint64_t index;
    if (!is_index(step, &index))
        return false;
    while (hub_json_take(&rest, NULL, value))
        if (!index--)
            return true;
    return false;
}

static bool number_at(struct hub_view text, const char *pointer, double *out)
{
    while (text.size && strchr(" \t\r\n", text.data[0]))
        text = (struct hub_view){text.data + 1, text.size - 1};
    while (text.size && strchr(" \t\r\n", text.data[text.size - 1]))
        text.size--;
    if (!hub_json_valid(text, HUB_JSON_VALUE))
        return false;
    struct hub_view value = text;
    while (*pointer == '/') {
        const struct hub_view step = {pointer + 1, strcspn(pointer + 1, "/")};
        const char kind = value.size ? value.data[0] : '\0';
        if (!(kind == '{' ? enter_object(value, step, &value)
                          : kind == '[' && enter_array(value, step, &value)))
            return false;
        pointer = step.data + step.size;
    }
    char digits[64];
    if (hub_view_is(value, "true") || hub_view_is(value, "false")) {
        *out = value.data[0] == 't';
        return true;
    }
    if (!value.size || value.size >= sizeof digits || !strchr("-0123456789", value.data[0]))
        return false;
    memcpy(digits, value.data, value.size);
    digits[value.size] = '\0';
    *out = strtod(digits, NULL);
    return true;
}

/* A row as it is stored; of fixed size, it ends before its padding. */
static struct hub_view text_of(const struct hub_rows *rows, uint64_t i)
{
    if (rows->offsets)
        return (struct hub_view){(const char *)rows->data + rows->offsets[i],
                                 (size_t)(rows->offsets[i + 1] - rows->offsets[i])};
    const uint64_t size = hub_variant_row_bytes(&rows->variant);
    const char *at = (const char *)rows->data + i * size;
    return (struct hub_view){at, strnlen(at, (size_t)size)};
}

uint64_t hub_leaf_numbers(const struct hub_rows *rows, const char *pointer, double *out)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < rows->rows; i++) {
        out[i] = NAN;
        found += !(rows->valid && !rows->valid[i]) && number_at(text_of(rows, i), pointer, &out[i]);
    }
    return found;
}
