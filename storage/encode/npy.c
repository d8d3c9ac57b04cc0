/*
 * .npy, version 1.0, byte for byte as numpy writes it:
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 * Headers leave room for the first dimension to grow, as numpy's do.
 */
#include "storage/encode/representation.h"
#include "storage/text/number.h"
#include "storage/text/utf8.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    MAGIC_BYTES = 10, /* magic, version, header length */
    GROWTH_CHARS = 21,
    HEADER_CHARS = 512, /* ten dimensions of 20 digits and a type fit */
};

#define TEXT_LIMIT (64 * MIB)

/* The axes of an array: windows, where rows stand in some, rows (unless a single row stands `bare`), those
 * of the variant, and perhaps one more. */
struct axes {
    uint64_t dims[HUB_MAX_RANK + 3];
    unsigned count;
};

static struct axes axes_of(const struct hub_rows *rows, bool bare)
{
    struct axes axes = {.count = 0};
    if (rows->windows)
        axes.dims[axes.count++] = rows->windows;
    if (!bare)
        axes.dims[axes.count++] = rows->windows ? rows->rows / rows->windows : rows->rows;
    for (unsigned i = 0; i < rows->variant.rank; i++)
        axes.dims[axes.count++] = rows->variant.dims[i];
    return axes;
}

static enum hub_status put_header(const char *descr, const struct axes *axes, struct hub_buf *out,
                                  struct hub_error *err)
{
    char text[HEADER_CHARS] = "\x93NUMPY\x01";
    char *const start = text + MAGIC_BYTES, *end = start;
    size_t growth = 0;
    end = stpcpy(stpcpy(stpcpy(end, "{'descr': '"), descr), "', 'fortran_order': False, 'shape': (");
    for (unsigned i = 0; i < axes->count; i++) {
        const size_t n = hub_number_u64(axes->dims[i], end);
        end = stpcpy(end + n, i + 1 < axes->count ? ", " : i ? "" : ",");
        growth = i ? growth : GROWTH_CHARS - n;
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

/* ---- arrays ---- */

static bool is_sequence(const struct hub_variant *variant)
{
    return variant->kind == HUB_KIND_VAR && variant->sequence;
}

/* Bytes of what a run is made of: numbers, or bytes. */
static uint64_t unit_of(const struct hub_variant *variant)
{
    return is_sequence(variant) ? variant->item_size : 1;
}

static uint64_t items_of(const struct hub_variant *variant)
{
    return variant->kind == HUB_KIND_FIXED ? hub_variant_row_items(variant) : 1;
}

enum hub_npy_array hub_npy_array_of(enum hub_field_type type, const struct hub_variant *variant)
{
    return type == HUB_FIELD_TEXT               ? HUB_NPY_TEXT
           : hub_encode_as_bytes(type, variant) ? HUB_NPY_BYTES
                                                : HUB_NPY_VALUES;
}

/* Of text in characters; numpy has no <U0 data. */
static uint64_t width_of(enum hub_npy_array as, uint64_t longest)
{
    return as == HUB_NPY_TEXT ? HUB_MAX(longest, (uint64_t)1) : longest;
}

uint64_t hub_npy_row_bytes(enum hub_npy_array as, const struct hub_variant *variant, uint64_t longest)
{
    if (as == HUB_NPY_VALUES)
        return hub_variant_row_bytes(variant);
    const uint64_t item = as == HUB_NPY_TEXT ? 4 * width_of(as, longest) : longest;
    return items_of(variant) * (as == HUB_NPY_LENGTHS ? sizeof(int64_t) : item);
}

enum hub_status hub_npy_array_header(enum hub_npy_array as, const struct hub_rows *shape, bool bare,
                                     uint64_t longest, struct hub_buf *out, struct hub_error *err)
{
    struct hub_rows of = *shape;
    char descr[24] = "<i8";
    if (as == HUB_NPY_VALUES && of.variant.kind == HUB_KIND_VAR)
        return hub_fail_as(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE,
                           "rows of varying length have no npy form");
    if (as == HUB_NPY_TEXT && of.variant.kind != HUB_KIND_FIXED && of.variant.kind != HUB_KIND_VAR)
        return hub_fail(err, HUB_INVALID, "these rows are not text");
    if ((as == HUB_NPY_BYTES || as == HUB_NPY_LENGTHS) && of.variant.kind != HUB_KIND_FIXED)
        of.variant.rank = 0;
    struct axes axes = axes_of(&of, bare);
    const struct hub_variant number = hub_variant_item(&of.variant);
    if (as == HUB_NPY_TEXT)
        snprintf(descr, sizeof descr, "<U%" PRIu64, width_of(as, longest));
    else if (as == HUB_NPY_BYTES && !is_sequence(&of.variant))
        snprintf(descr, sizeof descr, "|u1");
    else if (as != HUB_NPY_LENGTHS)
        hub_variant_npy(&number, descr);
    if (as == HUB_NPY_BYTES)
        axes.dims[axes.count++] = longest / unit_of(&of.variant);
    return put_header(descr, &axes, out, err);
}

/* ---- items of bytes ---- */

static size_t count_chars(struct hub_view text)
{
    size_t count = 0;
    for (; text.size; count++)
        hub_utf8_next(&text);
    return count;
}

uint64_t hub_npy_longest(const struct hub_rows *rows, bool text)
{
    const uint64_t items = hub_item_count(rows);
    uint64_t width = 0;
    for (uint64_t i = 0; i < items; i++)
        width = HUB_MAX(width, text ? count_chars(hub_item_text(rows, i)) : hub_item_at(rows, i).size);
    return width;
}

/* Room for `items` of `width` bytes behind the header, zeroed. */
static enum hub_status open_items(struct hub_buf *out, uint64_t items, uint64_t width, uint8_t **to,
                                  struct hub_error *err)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(items, width, &bytes) || bytes >= out->limit)
        return hub_fail(err, HUB_TOO_BIG,
                        "rows padded to the longest take %" PRIu64
                        " bytes, which is too much: request fewer rows",
                        width);
    HUB_TRY(hub_buf_reserve(out, (size_t)bytes, err));
    *to = (uint8_t *)out->data + out->size;
    memset(*to, 0, (size_t)bytes + 1);
    out->size += (size_t)bytes;
    return HUB_OK;
}

static void put_chars(uint8_t *at, struct hub_view text)
{
    for (; text.size; at += 4) {
        const uint32_t code = hub_utf8_next(&text);
        memcpy(at, &code, sizeof(code)); /* the host is little-endian */
    }
}

static enum hub_status put_padded(const struct hub_rows *rows, bool text, uint64_t width, struct hub_buf *out,
                                  struct hub_error *err)
{
    const uint64_t items = hub_item_count(rows), bytes = width * (text ? 4 : 1);
    uint8_t *to;
    if (hub_npy_longest(rows, text) > width)
        return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_DATASET_CHANGING, "its rows became longer");
    HUB_TRY(open_items(out, items, bytes, &to, err));
    for (uint64_t i = 0; i < items; i++) {
        const struct hub_view item = text ? hub_item_text(rows, i) : hub_item_at(rows, i);
        if (text)
            put_chars(to + i * bytes, item);
        else if (item.size)
            memcpy(to + i * bytes, item.data, item.size);
    }
    return HUB_OK;
}

static enum hub_status put_lengths(const struct hub_rows *rows, struct hub_buf *out, struct hub_error *err)
{
    const uint64_t items = hub_item_count(rows);
    uint8_t *to;
    HUB_TRY(open_items(out, items, sizeof(int64_t), &to, err));
    for (uint64_t i = 0; i < items; i++) {
        const int64_t length = (int64_t)(hub_item_at(rows, i).size / unit_of(&rows->variant));
        memcpy(to + i * sizeof(length), &length, sizeof(length));
    }
    return HUB_OK;
}

enum hub_status hub_npy_array_rows(enum hub_npy_array as, const struct hub_rows *rows, uint64_t longest,
                                   struct hub_buf *out, struct hub_error *err)
{
    if (as == HUB_NPY_LENGTHS)
        return put_lengths(rows, out, err);
    if (as == HUB_NPY_VALUES)
        return hub_buf_add(out, rows->data, rows->rows * hub_variant_row_bytes(&rows->variant), err);
    return put_padded(rows, as == HUB_NPY_TEXT, width_of(as, longest), out, err);
}

/* ---- the representation ---- */

enum hub_status hub_encode_reserve_padded(struct hub_encoding *e, uint32_t i, uint64_t bytes, unsigned copies,
                                          struct hub_error *err)
{
    const size_t limit = e->fields[i].type == HUB_FIELD_TEXT ? TEXT_LIMIT : HUB_ENCODE_MAX_BYTES;
    if (bytes > limit)
        return hub_fail_as(err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LARGE,
                           "'%s' with its rows padded to the longest is %" PRIu64
                           " MiB; at most %zu: request fewer rows, json, or other fields",
                           e->fields[i].name, bytes / MIB, limit / MIB);
    return e->reserve(e, bytes * copies, err);
}

static enum hub_status write_text(struct hub_encoding *e, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows rows = {0};
    HUB_TRY(e->read(e, 0, NULL, &rows, err));
    const uint64_t longest = hub_npy_longest(&rows, true);
    HUB_TRY(hub_encode_reserve_padded(
        e, 0, rows.rows * hub_npy_row_bytes(HUB_NPY_TEXT, &rows.variant, longest), 1, err));
    HUB_TRY(hub_npy_array_header(HUB_NPY_TEXT, &rows, e->fields->bare, longest, out, err));
    return hub_npy_array_rows(HUB_NPY_TEXT, &rows, longest, out, err);
}

static enum hub_status write_npy(struct hub_encoding *e, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows rows = {0};
    const struct hub_encoding_field *c = e->fields;
    const struct hub_rows shape = {.variant = *c->plan->variant, .rows = c->plan->slice.count};
    const size_t size = (size_t)c->plan->bytes_out;
    if (c->type == HUB_FIELD_TEXT)
        return write_text(e, out, err);
    HUB_TRY(hub_buf_reserve(out, size + 256, err)); /* once, for header and rows together */
    HUB_TRY(hub_npy_array_header(HUB_NPY_VALUES, &shape, c->bare, 0, out, err));
    HUB_TRY(e->read(e, 0, out->data + out->size, &rows, err));
    out->size += size;
    return HUB_OK;
}

static enum hub_fit fit(enum hub_field_type type, const struct hub_variant *variant)
{
    if (type == HUB_FIELD_IMAGE_JPEG || type == HUB_FIELD_IMAGE_PNG)
        return HUB_FIT_DECODED;
    return hub_encode_as_bytes(type, variant) ? HUB_FIT_NONE : HUB_FIT_ROWS;
}

const struct hub_writer hub_write_npy = {.fit = fit, .write = write_npy};
