/*
 * HDF5 datatypes and dataspaces into the catalogue's words. A datatype is class and version in one byte, 24
 * class bits, a size, then properties that depend on the class. What has no word here is kept by name, so
 * that the field can say why it is unreadable: references, opaque, bitfield, time, compound other than
 * complex, odd floats, sequences of sequences.
 */
#include "storage/formats/hdf5/h5_parse.h"

#include <stdio.h>

enum { MAX_TYPE_DEPTH = 8, MAX_MEMBERS = 4096 };

static enum hub_status parse(struct hub_cursor *c, struct hub_h5_type *t, unsigned depth,
                             struct hub_error *err);

static HUB_PRINTF(2, 3) void refuse(struct hub_h5_type *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (!t->unreadable[0])
        vsnprintf(t->unreadable, sizeof t->unreadable, fmt, args);
    va_end(args);
}

/* Compilers that fill unreadable learn its bounds here; text from files is cut and made printable. */
static void printable(char *out, size_t size, struct hub_view text)
{
    size_t n = 0;
    for (; n + 1 < size && n < text.size; n++) {
        const unsigned char b = (unsigned char)text.data[n];
        out[n] = b >= 0x20 && b < 0x7F ? (char)b : '?';
    }
    out[n] = '\0';
}

static void parse_integer(struct hub_cursor *c, struct hub_h5_type *t, uint32_t bits)
{
    const uint16_t offset = hub_cursor_u16(c), precision = hub_cursor_u16(c);
    const uint32_t n = t->size;
    t->variant = (struct hub_variant){
        .kind = bits & 8 ? HUB_KIND_INT : HUB_KIND_UINT, .big_endian = (bits & 1) && n > 1, .item_size = n};
    t->field = HUB_FIELD_NUMBER;
    if (n != 1 && n != 2 && n != 4 && n != 8)
        refuse(t, "integer of %u bytes", n);
    else if (precision == 0 || precision > 8 * n || offset > 8 * n - precision)
        refuse(t, "integer of %u bits at bit %u", precision, offset);
    else
        t->convert = precision != 8 * n;
}

static void parse_float(struct hub_cursor *c, struct hub_h5_type *t, uint32_t bits)
{
    const uint16_t offset = hub_cursor_u16(c), precision = hub_cursor_u16(c);
    const uint8_t exp_at = hub_cursor_u8(c), exp_bits = hub_cursor_u8(c), man_at = hub_cursor_u8(c),
                  man_bits = hub_cursor_u8(c);
    const uint32_t bias = hub_cursor_u32(c), n = t->size;
    static const struct {
        uint8_t size, exp_at, exp_bits, man_bits;
        uint32_t bias;
    } ieee[] = {{2, 10, 5, 10, 15}, {4, 23, 8, 23, 127}, {8, 52, 11, 52, 1023}};
    t->variant = (struct hub_variant){.kind = HUB_KIND_FLOAT, .big_endian = bits & 1, .item_size = n};
    t->field = HUB_FIELD_NUMBER;
    for (size_t i = 0; i < HUB_COUNT(ieee); i++)
        if (ieee[i].size == n && offset == 0 && precision == 8 * n && exp_at == ieee[i].exp_at &&
            exp_bits == ieee[i].exp_bits && man_at == 0 && man_bits == ieee[i].man_bits &&
            bias == ieee[i].bias && !(bits & 0x40))
            return;
    refuse(t, "float of %u bits that is not IEEE 754", precision);
}

/* Padding: 0 ends at the first NUL, 1 padded with NULs, 2 with blanks */
static void parse_string(struct hub_h5_type *t, uint32_t bits)
{
    static const uint8_t paddings[] = {HUB_PAD_FIRST_NUL, HUB_PAD_NULS, HUB_PAD_BLANKS};
    const uint32_t padding = bits & 15;
    t->variant = (struct hub_variant){.kind = HUB_KIND_FIXED,
                                      .padding = padding < HUB_COUNT(paddings) ? paddings[padding] : 0,
                                      .item_size = t->size};
    t->field = HUB_FIELD_TEXT;
    if (padding >= HUB_COUNT(paddings))
        refuse(t, "string padded in way %u", padding);
    if (t->size == 0)
        refuse(t, "string of no bytes");
}

/* A member or enumeration name: padded to 8 before version 3. */
static struct hub_view take_name(struct hub_cursor *c, uint8_t version)
{
    const char *at = (const char *)c->at;
    const char *end = c->failed ? NULL : memchr(at, 0, hub_cursor_left(c));
    if (!end) {
        c->failed = true;
        return HUB_VIEW("");
    }
    const size_t size = (size_t)(end - at);
    hub_cursor_skip(c, version < 3 ? (size + 8) / 8 * 8 : size + 1);
    return (struct hub_view){at, size};
}

static unsigned bytes_to_hold(uint32_t size)
{
    return size < 0x100 ? 1 : size < 0x10000 ? 2 : size < 0x1000000 ? 3 : 4;
}

/* Up to 4 dimensions of a member, which before HDF5 1.4 stood for an array type: rank u8, 3 zeros,
 * permutation u32, 4 zeros, sizes u32 */
static void take_dims(struct hub_cursor *c, uint32_t dims[4], uint8_t *rank)
{
    *rank = hub_cursor_u8(c);
    hub_cursor_skip(c, 11);
    for (unsigned i = 0; i < 4; i++)
        dims[i] = hub_cursor_u32(c);
    if (*rank > 4)
        c->failed = true;
}

static void wrap_array(struct hub_h5_type *t, const uint32_t *dims, uint8_t rank);

/* Name, offset, [dimensions], type */
static enum hub_status take_member(struct hub_cursor *c, uint8_t version, uint32_t size, unsigned depth,
                                   struct h5_member *out, struct hub_error *err)
{
    uint32_t dims[4] = {0};
    uint8_t rank = 0;
    *out = (struct h5_member){.name = take_name(c, version)};
    out->at = (uint32_t)hub_cursor_uint(c, version < 3 ? 4 : bytes_to_hold(size));
    if (version == 1)
        take_dims(c, dims, &rank);
    out->bytes = *c;
    HUB_TRY(parse(c, &out->type, depth + 1, err));
    if (rank)
        wrap_array(&out->type, dims, rank);
    if (out->at > size || out->type.size > size - out->at)
        return hub_fail(err, HUB_CORRUPT, "a member of a compound type lies beyond it");
    return HUB_OK;
}

/* h5py's complex numbers: members r and i of one float, one behind the other. */
static bool is_complex(const struct h5_member part[2], uint32_t size)
{
    const struct hub_variant *v = &part[0].type.variant;
    return hub_view_is(part[0].name, "r") && hub_view_is(part[1].name, "i") && !part[0].type.unreadable[0] &&
           hub_variant_equal(v, &part[1].type.variant) && v->kind == HUB_KIND_FLOAT && v->rank == 0 &&
           (size == 8 || size == 16) && part[0].type.size == size / 2 && part[0].at == 0 &&
           part[1].at == size / 2;
}

static enum hub_status parse_compound(struct hub_cursor *c, struct hub_h5_type *t, uint8_t version,
                                      uint32_t bits, unsigned depth, struct hub_error *err)
{
    const uint32_t members = bits & 0xFFFF;
    struct h5_member part[2] = {0}, member;
    char names[72] = "", name[24];
    size_t used = 0;
    for (uint32_t i = 0; i < members && !c->failed; i++) {
        HUB_TRY(take_member(c, version, t->size, depth, &member, err));
        if (i < 2)
            part[i] = member;
        printable(name, sizeof name, member.name);
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", name);
    }
    if (members == 2 && is_complex(part, t->size)) {
        t->variant = (struct hub_variant){
            .kind = HUB_KIND_COMPLEX, .big_endian = part[0].type.variant.big_endian, .item_size = t->size};
        t->field = HUB_FIELD_NUMBER;
    } else {
        refuse(t, "compound type (%s)", names);
    }
    return HUB_OK;
}

/* h5py's bool: an enumeration of int8 with FALSE 0 and TRUE 1. Any other enumeration is its integer. */
static enum hub_status parse_enum(struct hub_cursor *c, struct hub_h5_type *t, uint8_t version, uint32_t bits,
                                  unsigned depth, struct hub_error *err)
{
    const uint32_t members = bits & 0xFFFF;
    struct hub_h5_type base = {0};
    HUB_TRY(parse(c, &base, depth + 1, err));
    struct hub_view first[2] = {{0}};
    for (uint32_t i = 0; i < members && !c->failed; i++) {
        const struct hub_view name = take_name(c, version);
        if (i < 2)
            first[i] = name;
    }
    const uint8_t *values = hub_cursor_bytes(c, (size_t)members * base.size);
    t->variant = base.variant;
    t->field = base.field;
    t->convert = base.convert;
    if (base.unreadable[0] || base.class != HUB_H5_INT || base.size != t->size)
        refuse(t, "an enumeration whose type is not an integer");
    else if (values && members == 2 && base.size == 1 &&
             ((hub_view_is(first[0], "FALSE") && hub_view_is(first[1], "TRUE") && values[0] == 0 &&
               values[1] == 1) ||
              (hub_view_is(first[0], "TRUE") && hub_view_is(first[1], "FALSE") && values[0] == 1 &&
               values[1] == 0))) {
        t->variant = (struct hub_variant){.kind = HUB_KIND_BOOL, .item_size = 1};
        t->field = HUB_FIELD_BOOL;
    }
    return HUB_OK;
}

static enum hub_status parse_vlen(struct hub_cursor *c, struct hub_h5_type *t, uint32_t bits, unsigned depth,
                                  struct hub_error *err)
{
    struct hub_h5_type base = {0};
    HUB_TRY(parse(c, &base, depth + 1, err));
    const bool string = (bits & 0xF) == 1, bytes = !string && base.class == HUB_H5_INT && base.size == 1;
    t->variant = (struct hub_variant){.kind = HUB_KIND_VAR};
    t->field = string ? HUB_FIELD_TEXT : HUB_FIELD_BYTES;
    t->vlen_item = string ? 1 : base.size;
    if (string || (bytes && !base.convert))
        return HUB_OK;
    char name[24] = "?";
    if (!base.unreadable[0] && hub_variant_valid(&base.variant))
        hub_variant_name(&base.variant, base.field, name);
    const bool numbers = base.field == HUB_FIELD_NUMBER || base.field == HUB_FIELD_BOOL;
    if (base.unreadable[0] || !numbers || base.convert || base.variant.rank ||
        base.variant.kind == HUB_KIND_VAR) {
        refuse(t, "variable-length sequences of %s", base.unreadable[0] ? base.unreadable : name);
        return HUB_OK;
    }
    t->variant.sequence = base.variant.kind;
    t->variant.big_endian = base.variant.big_endian;
    t->variant.item_size = base.variant.item_size;
    t->field = base.field;
    return HUB_OK;
}

/* `t` becomes an array of `base`; its size is known. */
static void make_array(struct hub_h5_type *t, const struct hub_h5_type *base, const uint32_t *dims,
                       uint8_t rank)
{
    t->variant = base->variant;
    t->field = base->field;
    t->convert = base->convert;
    if (base->unreadable[0])
        refuse(t, "array of %.80s", base->unreadable);
    else if (base->variant.kind == HUB_KIND_VAR)
        refuse(t, "array of variable-length items");
    else if (rank + base->variant.rank > HUB_MAX_RANK)
        refuse(t, "array type of %u dimensions", rank + base->variant.rank);
    else {
        memmove(t->variant.dims + rank, t->variant.dims, base->variant.rank * sizeof *dims);
        memcpy(t->variant.dims, dims, rank * sizeof *dims);
        t->variant.rank = (uint8_t)(rank + base->variant.rank);
        if (!hub_variant_valid(&t->variant) || hub_variant_row_bytes(&t->variant) != t->size)
            refuse(t, "array type whose size is not that of its items");
    }
}

static void wrap_array(struct hub_h5_type *t, const uint32_t *dims, uint8_t rank)
{
    const struct hub_h5_type base = *t;
    uint64_t size = base.size;
    for (unsigned i = 0; i < rank && size <= UINT32_MAX; i++)
        size *= dims[i];
    *t = (struct hub_h5_type){.class = HUB_H5_ARRAY, .size = (uint32_t)HUB_MIN(size, (uint64_t)UINT32_MAX)};
    make_array(t, &base, dims, rank);
}

static enum hub_status parse_array(struct hub_cursor *c, struct hub_h5_type *t, uint8_t version,
                                   unsigned depth, struct hub_error *err)
{
    uint32_t dims[32] = {0};
    const uint8_t rank = hub_cursor_u8(c);
    if (rank > 32)
        return hub_fail(err, HUB_CORRUPT, "array type of %u dimensions", rank);
    if (version < 3)
        hub_cursor_skip(c, 3);
    for (unsigned i = 0; i < rank; i++)
        dims[i] = hub_cursor_u32(c);
    if (version < 3)
        hub_cursor_skip(c, 4u * rank);
    struct hub_h5_type base = {0};
    HUB_TRY(parse(c, &base, depth + 1, err));
    make_array(t, &base, dims, rank);
    return HUB_OK;
}

/* Properties of a class; those refused are passed over only as far as needed to know the class. */
static enum hub_status parse_class(struct hub_cursor *c, struct hub_h5_type *t, uint8_t version,
                                   uint32_t bits, unsigned depth, struct hub_error *err)
{
    switch (t->class) {
    case HUB_H5_INT:
        parse_integer(c, t, bits);
        return HUB_OK;
    case HUB_H5_FLOAT:
        parse_float(c, t, bits);
        return HUB_OK;
    case HUB_H5_STRING:
        parse_string(t, bits);
        return HUB_OK;
    case HUB_H5_COMPOUND:
        return parse_compound(c, t, version, bits, depth, err);
    case HUB_H5_ENUM:
        return parse_enum(c, t, version, bits, depth, err);
    case HUB_H5_VLEN:
        return parse_vlen(c, t, bits, depth, err);
    case HUB_H5_ARRAY:
        return parse_array(c, t, version, depth, err);
    case HUB_H5_TIME:
        hub_cursor_skip(c, 2);
        refuse(t, "time type");
        return HUB_OK;
    case HUB_H5_BITFIELD:
        hub_cursor_skip(c, 4);
        refuse(t, "bitfield type");
        return HUB_OK;
    case HUB_H5_OPAQUE:
        hub_cursor_skip(c, bits & 0xFF);
        refuse(t, "opaque type");
        return HUB_OK;
    case HUB_H5_REFERENCE:
        refuse(t, "reference type");
        return HUB_OK;
    case HUB_H5_COMPLEX:
        refuse(t, "complex type of HDF5 2.0");
        return HUB_OK;
    }
    return hub_fail(err, HUB_CORRUPT, "datatype of unknown class %d", (int)t->class);
}

static enum hub_status parse(struct hub_cursor *c, struct hub_h5_type *t, unsigned depth,
                             struct hub_error *err)
{
    if (depth > MAX_TYPE_DEPTH)
        return hub_fail(err, HUB_UNSUPPORTED, "a datatype is nested more than %d deep", MAX_TYPE_DEPTH);
    const uint32_t head = hub_cursor_u32(c);
    *t = (struct hub_h5_type){.class = head & 15, .field = HUB_FIELD_OPAQUE};
    t->size = hub_cursor_u32(c);
    if (c->failed)
        return hub_fail(err, HUB_CORRUPT, "a datatype is cut short");
    HUB_TRY(parse_class(c, t, head >> 4 & 15, head >> 8, depth, err));
    return c->failed ? hub_fail(err, HUB_CORRUPT, "a datatype is cut short") : HUB_OK;
}

enum hub_status h5_type_parse(struct hub_cursor *c, struct hub_h5_type *out, struct hub_error *err)
{
    HUB_TRY(parse(c, out, 0, err));
    if (!out->unreadable[0] && !hub_variant_valid(&out->variant))
        refuse(out, "elements of %u bytes", out->size);
    return HUB_OK;
}

enum hub_status h5_type_members(struct hub_cursor *c, h5_type_member_fn fn, void *user, struct hub_error *err)
{
    const uint32_t head = hub_cursor_u32(c), size = hub_cursor_u32(c), members = head >> 8 & 0xFFFF;
    if ((head & 15) != HUB_H5_COMPOUND)
        return hub_fail(err, HUB_CORRUPT, "a type without members");
    for (uint32_t i = 0; i < members && !c->failed; i++) {
        struct h5_member member;
        HUB_TRY(take_member(c, head >> 4 & 15, size, 0, &member, err));
        if (!c->failed)
            HUB_TRY(fn(user, &member, err));
    }
    return c->failed ? hub_fail(err, HUB_CORRUPT, "a datatype is cut short") : HUB_OK;
}

enum hub_status h5_space_parse(const struct hub_h5 *file, struct hub_cursor *c, uint32_t *rank,
                               uint64_t *dims, uint64_t *max_dims, struct hub_error *err)
{
    const uint8_t version = hub_cursor_u8(c), count = hub_cursor_u8(c), flags = hub_cursor_u8(c);
    if (version != 1 && version != 2)
        return hub_fail(err, HUB_CORRUPT, "dataspace of version %u", version);
    const uint8_t kind = version == 2 ? hub_cursor_u8(c) : count ? 1 : 0;
    if (version == 1)
        hub_cursor_skip(c, 5);
    if (kind == 2) {
        *rank = HUB_NONE;
        return HUB_OK;
    }
    if (count > HUB_MAX_RANK)
        return hub_fail(err, HUB_UNSUPPORTED, "%u dimensions, more than %d", count, HUB_MAX_RANK);
    *rank = count;
    for (unsigned i = 0; i < count; i++)
        dims[i] = h5_length(file, c);
    for (unsigned i = 0; max_dims && i < count; i++)
        max_dims[i] = flags & 1 ? h5_length(file, c) : dims[i];
    return c->failed ? hub_fail(err, HUB_CORRUPT, "a dataspace is cut short") : HUB_OK;
}
