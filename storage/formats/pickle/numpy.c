/*
 * What the few known globals of a pickle mean: numpy's arrays, scalars and dtypes, ordered dictionaries, and
 * bytes of protocol 2. They are recognised by name and turned into plain values; nothing is ever imported or
 * called. Also: values as rows.
 */
#include "storage/formats/pickle/numpy.h"

#include "storage/formats/npy.h"
#include "storage/formats/pickle/values.h"

#include <stdio.h>
#include <stdlib.h>

static bool is_global(const struct hub_pickle *p, uint32_t value, const char *module, const char *name)
{
    const struct hub_pickle_value *v = hub_pickle_at(p, value);
    return v && v->kind == HUB_PICKLE_GLOBAL && hub_view_is(hub_pickle_text(p, v->a), module) &&
           hub_view_is(hub_pickle_text(p, v->b), name);
}

/* numpy 2 moved numpy.core to numpy._core. */
static bool is_numpy(const struct hub_pickle *p, uint32_t value, const char *module, const char *name)
{
    char old[64], new[64];
    snprintf(old, sizeof old, "numpy.core.%s", module);
    snprintf(new, sizeof new, "numpy._core.%s", module);
    return is_global(p, value, old, name) || is_global(p, value, new, name);
}

static enum hub_status reduce_dtype(struct hub_pickle *p, uint32_t args, uint32_t *out, struct hub_error *err)
{
    const uint32_t name = hub_pickle_item(p, args, 0);
    HUB_TRY(hub_pickle_new(p, HUB_PICKLE_DTYPE, out, err));
    struct hub_pickle_value *v = &p->values[*out];
    v->a = name;
    v->known = !hub_npy_dtype(hub_pickle_text(p, name), &v->item, NULL);
    return HUB_OK;
}

static enum hub_status reduce_array(struct hub_pickle *p, uint32_t data, uint32_t dtype, uint32_t shape,
                                    uint32_t order, uint32_t *out, struct hub_error *err)
{
    HUB_TRY(hub_pickle_new(p, HUB_PICKLE_ARRAY, out, err));
    struct hub_pickle_value *v = &p->values[*out];
    v->a = dtype;
    v->b = data;
    v->c = shape;
    v->fortran = hub_view_is(hub_pickle_text(p, order), "F");
    return HUB_OK;
}

static enum hub_status reduce_scalar(struct hub_pickle *p, uint32_t args, uint32_t *out,
                                     struct hub_error *err)
{
    const uint32_t dtype = hub_pickle_item(p, args, 0), data = hub_pickle_item(p, args, 1);
    HUB_TRY(hub_pickle_new(p, HUB_PICKLE_SCALAR, out, err));
    p->values[*out].a = dtype;
    p->values[*out].b = data;
    return HUB_OK;
}

/* _codecs.encode(text, "latin1"): how Python 3 writes bytes in protocol 2. */
static enum hub_status reduce_latin1(struct hub_pickle *p, uint32_t text, uint32_t *out,
                                     struct hub_error *err)
{
    const struct hub_pickle_value from = p->values[text];
    HUB_TRY(hub_pickle_new(p, HUB_PICKLE_LATIN1, out, err));
    struct hub_pickle_value *v = &p->values[*out];
    v->offset = from.offset;
    v->size = from.size;
    v->copied = from.copied;
    v->text = from.text;
    return HUB_OK;
}

static enum hub_status reduce_opaque(struct hub_pickle *p, uint32_t callable, uint32_t args, uint32_t *out,
                                     struct hub_error *err)
{
    HUB_TRY(hub_pickle_new(p, HUB_PICKLE_OBJECT, out, err));
    p->values[*out].a = callable;
    p->values[*out].b = args;
    return HUB_OK;
}

enum hub_status hub_pickle_reduce(struct hub_pickle *p, uint32_t callable, uint32_t args, uint32_t *out,
                                  struct hub_error *err)
{
    const uint32_t first = hub_pickle_item(p, args, 0);
    if (p->values[args].kind != HUB_PICKLE_TUPLE)
        return hub_fail(err, HUB_CORRUPT, "a pickled call without a tuple of arguments");
    if (is_numpy(p, callable, "multiarray", "_reconstruct"))
        return reduce_array(p, HUB_PICKLE_NONE, HUB_PICKLE_NONE, HUB_PICKLE_NONE, HUB_PICKLE_NONE, out, err);
    if (is_numpy(p, callable, "numeric", "_frombuffer"))
        return reduce_array(p, first, hub_pickle_item(p, args, 1), hub_pickle_item(p, args, 2),
                            hub_pickle_item(p, args, 3), out, err);
    if (is_numpy(p, callable, "multiarray", "scalar"))
        return reduce_scalar(p, args, out, err);
    if (is_global(p, callable, "numpy", "dtype"))
        return reduce_dtype(p, args, out, err);
    if (is_global(p, callable, "collections", "OrderedDict") && p->values[args].count == 0)
        return hub_pickle_new(p, HUB_PICKLE_DICT, out, err);
    if (is_global(p, callable, "collections", "defaultdict"))
        return hub_pickle_new(p, HUB_PICKLE_DICT, out, err);
    const struct hub_pickle_value *text = hub_pickle_at(p, first);
    if (is_global(p, callable, "_codecs", "encode") && text && text->kind == HUB_PICKLE_TEXT &&
        hub_view_is(hub_pickle_text(p, hub_pickle_item(p, args, 1)), "latin1"))
        return reduce_latin1(p, first, out, err);
    if (p->values[args].count == 0 &&
        (is_global(p, callable, "__builtin__", "bytes") || is_global(p, callable, "builtins", "bytes"))) {
        HUB_TRY(hub_pickle_new(p, HUB_PICKLE_BYTES, out, err));
        return HUB_OK;
    }
    return reduce_opaque(p, callable, args, out, err);
}

/* dtype state: (3, byte order, subarray, names, fields, size, alignment, flags) */
static void build_dtype(struct hub_pickle *p, struct hub_pickle_value *v, uint32_t state)
{
    const struct hub_view order = hub_pickle_text(p, hub_pickle_item(p, state, 1));
    for (uint32_t i = 2; i <= 4; i++) {
        const struct hub_pickle_value *part = hub_pickle_at(p, hub_pickle_item(p, state, i));
        if (part && part->kind != HUB_PICKLE_NULL)
            v->known = false;
    }
    v->item.big_endian = hub_view_is(order, ">") && v->item.item_size > 1 && v->item.kind != HUB_KIND_FIXED;
}

enum hub_status hub_pickle_build(struct hub_pickle *p, uint32_t object, uint32_t state, struct hub_error *err)
{
    struct hub_pickle_value *v = &p->values[object];
    switch ((enum hub_pickle_kind)v->kind) {
    case HUB_PICKLE_DTYPE:
        build_dtype(p, v, state);
        return HUB_OK;
    case HUB_PICKLE_ARRAY: { /* (1, shape, dtype, is_fortran, raw bytes or a list) */
        const struct hub_pickle_value *fortran = hub_pickle_at(p, hub_pickle_item(p, state, 3));
        v->c = hub_pickle_item(p, state, 1);
        v->a = hub_pickle_item(p, state, 2);
        v->fortran = fortran && fortran->integer != 0;
        v->b = hub_pickle_item(p, state, 4);
        return HUB_OK;
    }
    case HUB_PICKLE_OBJECT:
        v->c = state;
        return HUB_OK;
    case HUB_PICKLE_DICT: /* an OrderedDict's own attributes: nobody asks for them */
        return HUB_OK;
    default:
        return hub_fail(err, HUB_CORRUPT, "a pickled state for a plain value");
    }
}

/* ---- values as rows ---- */

const char *hub_pickle_what(const struct hub_pickle_value *v)
{
    switch ((enum hub_pickle_kind)v->kind) {
    case HUB_PICKLE_NULL:
        return "None";
    case HUB_PICKLE_TUPLE:
        return "a tuple";
    case HUB_PICKLE_LIST:
        return "a list";
    case HUB_PICKLE_LATIN1:
        return "bytes of pickle protocol 2";
    case HUB_PICKLE_INT:
        return "an integer of more than 64 bits";
    case HUB_PICKLE_TEXT:
        return "a text";
    case HUB_PICKLE_BYTES:
        return "bytes";
    case HUB_PICKLE_DICT:
        return "a dictionary";
    case HUB_PICKLE_ARRAY:
        return "an array";
    case HUB_PICKLE_BOOL:
    case HUB_PICKLE_FLOAT:
    case HUB_PICKLE_SCALAR:
        return "a single number";
    default:
        return "an object";
    }
}

static enum hub_status read_shape(const struct hub_pickle *p, uint32_t tuple, uint64_t *shape, uint32_t *rank,
                                  struct hub_error *err)
{
    const struct hub_pickle_value *v = hub_pickle_at(p, tuple);
    uint32_t value;
    if (!v || v->kind != HUB_PICKLE_TUPLE || v->count > HUB_PICKLE_MAX_RANK)
        return hub_fail(err, HUB_CORRUPT, "an array without a valid shape");
    uint32_t cell = v->first;
    *rank = 0;
    while (hub_pickle_next(p, &cell, &value)) {
        const struct hub_pickle_value *n = hub_pickle_at(p, value);
        if (n->kind != HUB_PICKLE_INT || n->integer < 0)
            return hub_fail(err, HUB_CORRUPT, "an array without a valid shape");
        shape[(*rank)++] = (uint64_t)n->integer;
    }
    return HUB_OK;
}

enum hub_status hub_pickle_array(const struct hub_pickle *p, uint32_t value, struct hub_pickle_data *out,
                                 struct hub_error *err)
{
    uint64_t shape[HUB_PICKLE_MAX_RANK] = {0};
    uint32_t rank = 0;
    const struct hub_pickle_value *v = hub_pickle_at(p, value);
    if (!v || (v->kind != HUB_PICKLE_ARRAY && v->kind != HUB_PICKLE_SCALAR))
        return hub_fail(err, HUB_UNSUPPORTED, "not a numpy array");
    const struct hub_pickle_value *dtype = hub_pickle_at(p, v->a), *data = hub_pickle_at(p, v->b);
    if (!dtype || dtype->kind != HUB_PICKLE_DTYPE || !data)
        return hub_fail(err, HUB_CORRUPT, "an array without dtype or data");
    if (!dtype->known) {
        const struct hub_view name = hub_pickle_text(p, dtype->a);
        return hub_fail(err, HUB_UNSUPPORTED, "dtype %.*s", (int)HUB_MIN(name.size, 40), name.data);
    }
    if (data->kind != HUB_PICKLE_BYTES && data->kind != HUB_PICKLE_LATIN1)
        return hub_fail(err, HUB_UNSUPPORTED, "an array of objects");
    if (v->kind == HUB_PICKLE_ARRAY)
        HUB_TRY(read_shape(p, v->c, shape, &rank, err));
    *out = (struct hub_pickle_data){.offset = data->offset,
                                    .size = data->size,
                                    .fortran = v->fortran && rank > 1,
                                    .latin1 = data->kind == HUB_PICKLE_LATIN1};
    HUB_TRY(hub_npy_variant(&dtype->item, shape, rank, &out->variant, err));
    const uint64_t bytes = hub_variant_row_bytes(&out->variant);
    if (out->latin1 ? data->size < bytes || data->size > 2 * bytes : data->size != bytes)
        return hub_fail(err, HUB_CORRUPT, "an array of %llu bytes instead of the %llu of its shape",
                        (unsigned long long)data->size, (unsigned long long)bytes);
    return HUB_OK;
}

/* UTF-8 of code points below 256, in place: each becomes its byte. */
static bool decode_latin1(uint8_t *text, size_t size, uint64_t expect)
{
    size_t to = 0;
    for (size_t i = 0; i < size; to++) {
        if (text[i] < 0x80) {
            text[to] = text[i++];
        } else if ((text[i] == 0xC2 || text[i] == 0xC3) && i + 1 < size && (text[i + 1] & 0xC0) == 0x80) {
            text[to] = (uint8_t)((text[i] & 3) << 6 | (text[i + 1] & 0x3F));
            i += 2;
        } else {
            return false;
        }
    }
    return to == expect;
}

enum hub_status hub_pickle_copy(struct hub_byte_source *source, const struct hub_pickle_data *data, void *out,
                                struct hub_error *err)
{
    const uint64_t bytes = hub_variant_row_bytes(&data->variant);
    if (!data->latin1 && !data->fortran)
        return hub_byte_source_read(source, data->offset, out, (size_t)bytes, err);
    HUB_CLEANUP(hub_freep) uint8_t *raw = malloc((size_t)data->size + 1);
    HUB_TRY(hub_allocated(raw, err));
    HUB_TRY(hub_byte_source_read(source, data->offset, raw, (size_t)data->size, err));
    if (data->latin1 && !decode_latin1(raw, (size_t)data->size, bytes))
        return hub_fail(err, HUB_CORRUPT, "the length of an array does not match its shape");
    if (data->fortran)
        hub_npy_transpose(&data->variant, raw, out);
    else
        memcpy(out, raw, (size_t)bytes);
    return HUB_OK;
}
