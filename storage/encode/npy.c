/* .npy, version 1.0, byte for byte as numpy writes it:
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html Headers leave room for the first
 * dimension to grow, as numpy's do. */
#include "storage/base/number.h"
#include "storage/base/utf8.h"
#include "storage/encode/encode.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    MAGIC_BYTES = 10, /* magic, version, header length */
    GROWTH_CHARS = 21,
    HEADER_CHARS = 512, /* nine dimensions of 20 digits and a type fit */
};

#define TEXT_LIMIT (64 * MIB)

static enum hub_status put_header(const char *descr, const struct hub_variant *variant, uint64_t rows,
                                  struct hub_buf *out, struct hub_error *err)
{
    char text[HEADER_CHARS] = "\x93NUMPY\x01";
    char *const start = text + MAGIC_BYTES, *end = start;
    size_t growth = 0;
    end = stpcpy(stpcpy(stpcpy(end, "{'descr': '"), descr), "', 'fortran_order': False, 'shape': (");
    if (rows != HUB_NPY_SCALAR) {
        const size_t first = hub_number_u64(rows, end);
        growth = GROWTH_CHARS - first;
        end += first;
        for (unsigned i = 0; i < variant->rank; i++) {
            end = stpcpy(end, ", ");
            end += hub_number_u64(variant->dims[i], end);
        }
        end = stpcpy(end, variant->rank ? "" : ",");
    }
    end = stpcpy(end, "), }");
    const size_t unpadded = (size_t)(end - text) + growth + 1;
    const size_t blanks = growth + (64 - unpadded % 64) % 64;
    memset(end, ' ', blanks);
    end += blanks;
    *end++ = '\n';
    const size_t length = (size_t)(end - start);
    text[MAGIC_BYTES - 2] = (char)(length & 0xFF);
    text[MAGIC_BYTES - 1] = (char)(length >> 8);
    return hub_buf_add(out, text, (size_t)(end - text), err);
}

enum hub_status hub_npy_header(const struct hub_variant *variant, uint64_t rows, struct hub_buf *out,
                               struct hub_error *err)
{
    char descr[16];
    if (variant->kind == HUB_KIND_VAR)
        return hub_fail_as(err, HUB_NOT_ACCEPTABLE, "not-acceptable",
                           "rows of varying length have no npy form");
    hub_variant_npy(variant, descr);
    return put_header(descr, variant, rows, out, err);
}

/* Item `i` of text rows; a null is empty, fixed text ends before its padding. */
static struct hub_view text_item(const struct hub_rows *rows, uint64_t i)
{
    if (rows->valid && !rows->valid[i])
        return (struct hub_view){"", 0};
    if (rows->offsets)
        return (struct hub_view){(const char *)rows->data + rows->offsets[i],
                                 (size_t)(rows->offsets[i + 1] - rows->offsets[i])};
    const size_t size = rows->variant.item_size;
    struct hub_view text = {(const char *)rows->data + i * size, size};
    while (text.size && !text.data[text.size - 1])
        text.size--;
    return text;
}

/* Characters of a text, or SIZE_MAX when it is not UTF-8. */
static size_t count_chars(struct hub_view text)
{
    size_t count = 0;
    if (!hub_utf8_valid(text))
        return SIZE_MAX;
    for (size_t i = 0; i < text.size; i++)
        count += (text.data[i] & 0xC0) != 0x80;
    return count;
}

static void put_chars(struct hub_view text, uint8_t *out)
{
    while (text.size) {
        uint32_t code = 0;
        const size_t n = hub_utf8_decode(text, &code);
        memcpy(out, &code, sizeof(code)); /* the host is little-endian */
        out += sizeof(code);
        text.data += n;
        text.size -= n;
    }
}

enum hub_status hub_npy_text(const struct hub_rows *rows, struct hub_buf *out, struct hub_error *err)
{
    const struct hub_variant *v = &rows->variant;
    if (v->kind != HUB_KIND_FIXED && v->kind != HUB_KIND_VAR)
        return hub_fail(err, HUB_INVALID, "these rows are no text");
    const uint64_t per_row = hub_variant_row_items(v);
    uint64_t items = 0;
    size_t width = 1; /* numpy has no empty text type */
    if (__builtin_mul_overflow(rows->rows, per_row, &items) || items > TEXT_LIMIT / 4)
        return hub_fail(err, HUB_TOO_BIG, "more than %zu bytes of text", TEXT_LIMIT);
    for (uint64_t i = 0; i < items; i++) {
        const size_t chars = count_chars(text_item(rows, i));
        if (chars == SIZE_MAX)
            return hub_fail(err, HUB_CORRUPT, "text of row %" PRIu64 " is not UTF-8", i / per_row);
        width = HUB_MAX(width, chars);
    }
    if (items && width > TEXT_LIMIT / 4 / items)
        return hub_fail(err, HUB_TOO_BIG, "more than %zu bytes of text", TEXT_LIMIT);
    char descr[16];
    snprintf(descr, sizeof(descr), "<U%u", (unsigned)width);
    HUB_TRY(put_header(descr, v, rows->rows, out, err));
    const size_t bytes = (size_t)items * width * 4;
    HUB_TRY(hub_buf_reserve(out, bytes, err));
    uint8_t *to = (uint8_t *)out->data + out->size;
    memset(to, 0, bytes + 1);
    for (uint64_t i = 0; i < items; i++)
        put_chars(text_item(rows, i), to + i * width * 4);
    out->size += bytes;
    return HUB_OK;
}
