/* numpy's dtype names and .npy headers: see npy.h. */
#include "storage/formats/npy.h"

#include "storage/base/cursor.h"
#include "storage/text/number.h"

#define NPY_MAX_HEADER (64 * KIB)

enum hub_status hub_npy_dtype(struct hub_view text, struct hub_variant *out, struct hub_error *err)
{
    static const char letters[] = "biufcS"; /* in the order of enum hub_kind */
    struct hub_view rest = text;
    struct hub_variant v = {0};
    uint64_t size = 0;
    if (rest.size && memchr("<>|=", rest.data[0], 4)) {
        v.big_endian = rest.data[0] == '>';
        rest = (struct hub_view){rest.data + 1, rest.size - 1};
    }
    const char *letter = rest.size ? memchr(letters, rest.data[0], sizeof letters - 1) : NULL;
    if (letter && hub_number_read((struct hub_view){rest.data + 1, rest.size - 1}, 1 << 30, &size)) {
        v.kind = (uint8_t)(HUB_KIND_BOOL + (letter - letters));
        v.item_size = (uint32_t)size;
    }
    if (rest.size > 2 && (hub_view_starts(rest, "M8[") || hub_view_starts(rest, "m8["))) {
        v.kind = HUB_KIND_INT;
        v.item_size = (uint32_t)(size = 8);
    }
    if (!hub_variant_valid(&v))
        return hub_fail(err, HUB_UNSUPPORTED, "dtype %.*s", (int)HUB_MIN(text.size, 40), text.data);
    if (size == 1 || v.kind == HUB_KIND_FIXED)
        v.big_endian = 0;
    *out = v;
    return HUB_OK;
}

enum hub_status hub_npy_size(uint32_t item_size, const uint64_t *shape, uint32_t rank, uint64_t *out,
                             struct hub_error *err)
{
    uint64_t bytes = item_size;
    for (uint32_t i = 0; i < rank; i++)
        if (__builtin_mul_overflow(bytes, shape[i], &bytes))
            return hub_fail(err, HUB_CORRUPT, "an array shape overflows");
    *out = bytes;
    return HUB_OK;
}

enum hub_status hub_npy_variant(const struct hub_variant *item, const uint64_t *shape, uint32_t rank,
                                struct hub_variant *out, struct hub_error *err)
{
    struct hub_variant v = *item;
    uint64_t bytes = 0;
    if (rank > HUB_MAX_RANK)
        return hub_fail(err, HUB_UNSUPPORTED, "%u dimensions", rank);
    HUB_TRY(hub_npy_size(item->item_size, shape, rank, &bytes, err));
    if (bytes > GIB)
        return hub_fail(err, HUB_UNSUPPORTED, "a row of %llu bytes", (unsigned long long)bytes);
    v.rank = (uint8_t)rank;
    for (uint32_t i = 0; i < rank; i++) {
        if (shape[i] > UINT32_MAX)
            return hub_fail(err, HUB_UNSUPPORTED, "a dimension of %llu", (unsigned long long)shape[i]);
        v.dims[i] = (uint32_t)shape[i];
    }
    if (!hub_variant_valid(&v)) /* empty, but one dimension alone is too much */
        return hub_fail(err, HUB_UNSUPPORTED, "a row of impossible shape");
    *out = v;
    return HUB_OK;
}

#define OBJECTS "|O"

/* ---- the header: a Python dict literal of three keys ---- */

struct literal {
    const char *at, *end;
    bool failed;
};

static void skip_space(struct literal *l)
{
    while (l->at < l->end && (*l->at == ' ' || *l->at == '\n' || *l->at == '\t'))
        l->at++;
}

static bool take(struct literal *l, char c)
{
    skip_space(l);
    if (l->at == l->end || *l->at != c)
        return false;
    l->at++;
    return true;
}

static void expect(struct literal *l, char c)
{
    if (!take(l, c))
        l->failed = true;
}

static struct hub_view quoted(struct literal *l)
{
    const char quote = take(l, '\'') ? '\'' : '"';
    if (quote == '"')
        expect(l, '"');
    const char *start = l->at;
    const char *stop = l->failed ? NULL : memchr(start, quote, (size_t)(l->end - start));
    if (!stop) {
        l->failed = true;
        return HUB_VIEW("");
    }
    l->at = stop + 1;
    return (struct hub_view){start, (size_t)(stop - start)};
}

static bool word(struct literal *l, const char *text)
{
    skip_space(l);
    const size_t n = strlen(text);
    if ((size_t)(l->end - l->at) < n || memcmp(l->at, text, n) != 0)
        return false;
    l->at += n;
    return true;
}

static void read_shape(struct literal *l, struct hub_npy *out)
{
    expect(l, '(');
    out->rank = 0;
    while (!l->failed && !take(l, ')')) {
        skip_space(l);
        const char *start = l->at;
        while (l->at < l->end && *l->at >= '0' && *l->at <= '9')
            l->at++;
        uint64_t n = 0;
        if (out->rank == HUB_COUNT(out->shape) ||
            !hub_number_read((struct hub_view){start, (size_t)(l->at - start)}, (uint64_t)1 << 48, &n)) {
            l->failed = true;
            return;
        }
        out->shape[out->rank++] = n;
        (void)word(l, "L"); /* Python 2 wrote long integers so */
        if (!take(l, ',')) {
            expect(l, ')');
            return;
        }
    }
}

/* "<U12": texts of 12 characters of UTF-32. */
static bool is_utf32(struct hub_view descr, struct hub_variant *item)
{
    uint64_t size = 0;
    if (descr.size < 3 || descr.data[1] != 'U' || (descr.data[0] != '<' && descr.data[0] != '>') ||
        !hub_number_read((struct hub_view){descr.data + 2, descr.size - 2}, 1 << 28, &size) || size == 0)
        return false;
    *item = (struct hub_variant){
        .kind = HUB_KIND_FIXED, .item_size = (uint32_t)(4 * size), .big_endian = descr.data[0] == '>'};
    return true;
}

static enum hub_status read_literal(struct literal *l, struct hub_npy *out, struct hub_error *err)
{
    unsigned seen = 0;
    expect(l, '{');
    while (!l->failed && !take(l, '}')) {
        const struct hub_view key = quoted(l);
        expect(l, ':');
        if (hub_view_is(key, "descr")) {
            skip_space(l);
            if (!l->failed && l->at < l->end && *l->at == '[')
                return hub_fail(err, HUB_UNSUPPORTED, "a structured dtype");
            const struct hub_view descr = quoted(l);
            out->objects = !l->failed && hub_view_is(descr, OBJECTS);
            out->utf32 = !l->failed && is_utf32(descr, &out->item);
            if (!l->failed && !out->objects && !out->utf32)
                HUB_TRY(hub_npy_dtype(descr, &out->item, err));
            seen |= 1;
        } else if (hub_view_is(key, "fortran_order")) {
            out->fortran = word(l, "True");
            if (!out->fortran && !word(l, "False"))
                l->failed = true;
            seen |= 2;
        } else if (hub_view_is(key, "shape")) {
            read_shape(l, out);
            seen |= 4;
        } else {
            l->failed = true;
        }
        if (!take(l, ',')) {
            expect(l, '}');
            break;
        }
    }
    if (l->failed || seen != 7)
        return hub_fail(err, HUB_CORRUPT, "malformed npy header");
    return HUB_OK;
}

enum hub_status hub_npy_read(struct hub_byte_source *source, uint64_t offset, uint64_t size,
                             struct hub_npy *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(NPY_MAX_HEADER);
    const uint8_t *at;
    size_t got;
    HUB_TRY(hub_byte_source_peek(source, offset, (size_t)HUB_MIN(size, 12), &at, &got, err));
    if (got < 10 || memcmp(at, "\x93NUMPY", 6) != 0)
        return hub_fail(err, HUB_CORRUPT, "not a npy file");
    const bool wide = at[6] >= 2;
    if (at[6] < 1 || at[6] > 3 || got < (wide ? 12u : 10u))
        return hub_fail(err, HUB_UNSUPPORTED, "npy version %u", at[6]);
    struct hub_cursor c = hub_cursor_of(at + 8, got - 8);
    const uint32_t length = wide ? hub_cursor_u32(&c) : hub_cursor_u16(&c);
    const uint64_t before = (wide ? 12u : 10u) + (uint64_t)length;
    if (length > NPY_MAX_HEADER || before > size)
        return hub_fail(err, HUB_CORRUPT, "npy header of %u bytes", length);
    HUB_TRY(hub_buf_reserve(&text, length, err));
    HUB_TRY(hub_byte_source_read(source, offset + before - length, text.data, length, err));
    struct literal l = {text.data, text.data + length, false};
    *out = (struct hub_npy){.data_offset = offset + before};
    HUB_TRY(read_literal(&l, out, err));
    out->data_bytes = size - before;
    if (out->objects)
        return hub_npy_dtype(HUB_VIEW(OBJECTS), &out->item, err);
    HUB_TRY(hub_npy_size(out->item.item_size, out->shape, out->rank, &out->data_bytes, err));
    if (out->data_bytes > size - before)
        return hub_fail(err, HUB_CORRUPT, "an array of %llu bytes in %llu",
                        (unsigned long long)out->data_bytes, (unsigned long long)(size - before));
    if (out->utf32)
        return hub_fail(err, HUB_UNSUPPORTED, "dtype %cU%u", out->item.big_endian ? '>' : '<',
                        out->item.item_size / 4);
    return HUB_OK;
}

void hub_npy_transpose(const struct hub_variant *variant, const uint8_t *in, uint8_t *out)
{
    const size_t item = variant->item_size;
    const uint64_t items = hub_variant_row_items(variant);
    uint64_t stride[HUB_MAX_RANK] = {0}, index[HUB_MAX_RANK] = {0};
    uint64_t step = 1;
    for (unsigned d = 0; d < variant->rank; d++) {
        stride[d] = step;
        step *= variant->dims[d];
    }
    uint64_t from = 0;
    for (uint64_t i = 0; i < items; i++) {
        memcpy(out + i * item, in + from * item, item);
        for (unsigned d = variant->rank; d-- > 0;) { /* the next index in C order */
            from += stride[d];
            if (++index[d] < variant->dims[d])
                break;
            from -= stride[d] * variant->dims[d];
            index[d] = 0;
        }
    }
}
