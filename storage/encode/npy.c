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

enum hub_status hub_npy_rows_header(const struct hub_rows *rows, bool bare, struct hub_buf *out,
                                    struct hub_error *err)
{
    char descr[16];
    if (rows->variant.kind == HUB_KIND_VAR)
        return hub_fail_as(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE,
                           "rows of varying length have no npy form");
    hub_variant_npy(&rows->variant, descr);
    const struct axes axes = axes_of(rows, bare);
    return put_header(descr, &axes, out, err);
}

enum hub_status hub_npy_header(const struct hub_variant *variant, uint64_t rows, bool bare,
                               struct hub_buf *out, struct hub_error *err)
{
    const struct hub_rows shape = {.variant = *variant, .rows = rows};
    return hub_npy_rows_header(&shape, bare, out, err);
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

uint64_t hub_npy_padded(const struct hub_rows *rows, bool text)
{
    uint64_t bytes;
    return __builtin_mul_overflow(hub_item_count(rows), hub_npy_longest(rows, text) * (text ? 4 : 1), &bytes)
               ? UINT64_MAX
               : bytes;
}

static void put_chars(uint8_t *at, struct hub_view text)
{
    for (; text.size; at += 4) {
        const uint32_t code = hub_utf8_next(&text);
        memcpy(at, &code, sizeof(code)); /* the host is little-endian */
    }
}

enum hub_status hub_npy_padded_rows(const struct hub_rows *rows, bool text, uint64_t width,
                                    struct hub_buf *out, struct hub_error *err)
{
    const uint64_t items = hub_item_count(rows), bytes = width * (text ? 4 : 1);
    uint8_t *to;
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

enum hub_status hub_npy_header_of(const char *descr, uint64_t rows, uint64_t inner, bool has_inner,
                                  struct hub_buf *out, struct hub_error *err)
{
    const struct axes axes = {.dims = {rows, inner}, .count = has_inner ? 2 : 1};
    return put_header(descr, &axes, out, err);
}

enum hub_status hub_npy_text(const struct hub_rows *rows, bool bare, struct hub_buf *out,
                             struct hub_error *err)
{
    const struct hub_variant *v = &rows->variant;
    if (v->kind != HUB_KIND_FIXED && v->kind != HUB_KIND_VAR)
        return hub_fail(err, HUB_INVALID, "these rows are not text");
    const uint64_t items = hub_item_count(rows),
                   width = HUB_MAX(hub_npy_longest(rows, true), 1); /* numpy has no <U0 data */
    if (items && width > TEXT_LIMIT / 4 / items)
        return hub_fail(err, HUB_TOO_BIG, "more than %zu bytes of text", TEXT_LIMIT);
    char descr[16];
    const struct axes axes = axes_of(rows, bare);
    snprintf(descr, sizeof(descr), "<U%u", (unsigned)width);
    HUB_TRY(put_header(descr, &axes, out, err));
    return hub_npy_padded_rows(rows, true, width, out, err);
}

static bool is_sequence(const struct hub_rows *rows)
{
    return rows->variant.kind == HUB_KIND_VAR && rows->variant.sequence;
}

/* Bytes of what a run is made of: numbers, or bytes. */
static uint64_t unit_of(const struct hub_rows *rows)
{
    return is_sequence(rows) ? rows->variant.item_size : 1;
}

static struct axes axes_of_items(const struct hub_rows *rows, bool bare)
{
    struct hub_rows items = {.variant = rows->variant, .rows = rows->rows, .windows = rows->windows};
    if (items.variant.kind != HUB_KIND_FIXED)
        items.variant.rank = 0;
    return axes_of(&items, bare);
}

enum hub_status hub_npy_bytes(const struct hub_rows *rows, bool bare, struct hub_buf *out,
                              struct hub_error *err)
{
    const uint64_t width = hub_npy_longest(rows, false);
    struct axes axes = axes_of_items(rows, bare);
    const struct hub_variant number = hub_variant_item(&rows->variant);
    char descr[16] = "|u1";
    if (is_sequence(rows))
        hub_variant_npy(&number, descr);
    axes.dims[axes.count++] = width / unit_of(rows);
    HUB_TRY(put_header(descr, &axes, out, err));
    return hub_npy_padded_rows(rows, false, width, out, err);
}

enum hub_status hub_npy_lengths(const struct hub_rows *rows, bool bare, struct hub_buf *out,
                                struct hub_error *err)
{
    const uint64_t items = hub_item_count(rows);
    const struct axes axes = axes_of_items(rows, bare);
    uint8_t *to;
    HUB_TRY(put_header("<i8", &axes, out, err));
    HUB_TRY(open_items(out, items, sizeof(int64_t), &to, err));
    for (uint64_t i = 0; i < items; i++) {
        const int64_t length = (int64_t)(hub_item_at(rows, i).size / unit_of(rows));
        memcpy(to + i * sizeof(length), &length, sizeof(length));
    }
    return HUB_OK;
}

/* ---- the representation ---- */

enum hub_status hub_encode_reserve_padded(struct hub_encoding *e, uint32_t i, const struct hub_rows *rows,
                                          bool text, unsigned copies, struct hub_error *err)
{
    const uint64_t padded = hub_npy_padded(rows, text);
    const size_t limit = text ? TEXT_LIMIT : HUB_ENCODE_MAX_BYTES;
    if (padded > limit)
        return hub_fail_as(err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LARGE,
                           "'%s' with its rows padded to the longest is %" PRIu64
                           " MiB; at most %zu: request fewer rows, json, or other fields",
                           e->fields[i].name, padded / MIB, limit / MIB);
    return e->reserve(e, padded * copies, err);
}

enum hub_status hub_npy_field(struct hub_encoding *e, uint32_t i, unsigned copies, struct hub_buf *out,
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows rows = {0};
    const struct hub_encoding_field *c = &e->fields[i];
    if (c->type == HUB_FIELD_TEXT) {
        HUB_TRY(e->read(e, i, NULL, &rows, err));
        HUB_TRY(hub_encode_reserve_padded(e, i, &rows, true, copies, err));
        return hub_npy_text(&rows, c->bare, out, err);
    }
    const size_t size = (size_t)c->plan->bytes_out;
    HUB_TRY(hub_buf_reserve(out, size + 256, err)); /* once, for header and rows together */
    HUB_TRY(hub_npy_header(c->plan->variant, c->plan->slice.count, c->bare, out, err));
    HUB_TRY(e->read(e, i, out->data + out->size, &rows, err));
    out->size += size;
    return HUB_OK;
}

static enum hub_fit fit(enum hub_field_type type, const struct hub_variant *variant)
{
    if (type == HUB_FIELD_IMAGE_JPEG || type == HUB_FIELD_IMAGE_PNG)
        return HUB_FIT_DECODED;
    return hub_encode_as_bytes(type, variant) ? HUB_FIT_NONE : HUB_FIT_ROWS;
}

static enum hub_status write_npy(struct hub_encoding *e, struct hub_buf *out, struct hub_error *err)
{
    return hub_npy_field(e, 0, 1, out, err);
}

const struct hub_writer hub_write_npy = {.fit = fit, .write = write_npy};
