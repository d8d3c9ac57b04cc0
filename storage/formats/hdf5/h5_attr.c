/*
 * Attributes, compact (messages in the header) and dense (in a fractal heap), and their values as text,
 * numbers and JSON.
 *
 *   version 1: version, 0, name bytes, type bytes, space bytes (u16), then name, type, space, each padded to
 *   8,
 *              then the data
 *   version 2: version, flags (1: shared type), sizes as above, no padding version 3: and a character set
 *   before the name
 */
#include "storage/base/digest.h"
#include "storage/formats/hdf5/h5_parse.h"
#include "storage/text/base64.h"
#include "storage/text/json.h"
#include "storage/text/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { MAX_ITEMS = 4096 };

static struct hub_cursor take(struct hub_cursor *c, size_t size, bool padded)
{
    const uint8_t *at = hub_cursor_bytes(c, size);
    if (padded && size % 8)
        hub_cursor_skip(c, 8 - size % 8);
    return hub_cursor_of(at ? at : (const uint8_t *)"", at ? size : 0);
}

static enum hub_status parse_type(struct hub_h5 *file, struct hub_cursor *c, bool shared,
                                  struct hub_h5_type *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf bytes = HUB_BUF_INIT(H5_MAX_HEADER);
    if (!shared)
        return h5_type_parse(c, out, err);
    HUB_TRY(h5_shared_type(file, c, &bytes, err));
    struct hub_cursor elsewhere = hub_cursor_of(bytes.data, bytes.size);
    return h5_type_parse(&elsewhere, out, err);
}

static enum hub_status parse_value(struct hub_h5 *file, struct hub_cursor *c, struct hub_cursor *type,
                                   bool shared, struct hub_cursor *space, struct hub_h5_attribute *a,
                                   struct hub_error *err)
{
    HUB_TRY(parse_type(file, type, shared, &a->type, err));
    HUB_TRY(h5_space_parse(file, space, &a->rank, a->dims, NULL, err));
    a->items = a->rank == HUB_NONE ? 0 : 1;
    for (uint32_t i = 0; a->rank != HUB_NONE && i < a->rank; i++) {
        if (a->dims[i] && a->items > UINT32_MAX / a->dims[i])
            return hub_fail(err, HUB_CORRUPT, "an attribute of too many elements");
        a->items *= a->dims[i];
    }
    const uint64_t size = a->items * a->type.size;
    if (size > hub_cursor_left(c))
        return hub_fail(err, HUB_CORRUPT, "an attribute is cut short");
    a->data = (struct hub_view){(const char *)c->at, (size_t)size};
    return HUB_OK;
}

/* One attribute message. What is wrong with its value is said in type.unreadable; without a name there is no
 * attribute. */
static enum hub_status parse_attribute(struct hub_h5 *file, struct hub_cursor c, struct hub_h5_attribute *a,
                                       struct hub_error *err)
{
    const uint8_t version = hub_cursor_u8(&c), flags = hub_cursor_u8(&c);
    const uint16_t name_size = hub_cursor_u16(&c), type_size = hub_cursor_u16(&c),
                   space_size = hub_cursor_u16(&c);
    if (version < 1 || version > 3)
        return hub_fail(err, HUB_CORRUPT, "attribute of version %u", version);
    if (version == 3)
        hub_cursor_skip(&c, 1);
    const struct hub_cursor name = take(&c, name_size, version == 1);
    struct hub_cursor type = take(&c, type_size, version == 1), space = take(&c, space_size, version == 1);
    if (c.failed || name_size == 0)
        return hub_fail(err, HUB_CORRUPT, "an attribute is cut short");
    *a =
        (struct hub_h5_attribute){.name = {(const char *)name.at, strnlen((const char *)name.at, name_size)}};
    struct hub_error why = {0};
    const enum hub_status st = version > 1 && flags & 2
                                   ? hub_fail(&why, HUB_UNSUPPORTED, "a shared dataspace")
                                   : parse_value(file, &c, &type, version > 1 && flags & 1, &space, a, &why);
    if (st) {
        snprintf(a->type.unreadable, sizeof a->type.unreadable, "%.90s", why.detail);
        a->items = 0;
        a->data = HUB_VIEW("");
    }
    return HUB_OK;
}

struct dense {
    struct hub_h5 *file;
    struct h5_fractal heap;
    struct hub_buf message;
    hub_h5_attribute_fn fn;
    void *user;
};

/* Record of the name index: heap id, message flags u8, creation order u32, hash u32 */
static enum hub_status take_dense(void *user, struct hub_cursor *record, struct hub_error *err)
{
    struct dense *w = user;
    struct hub_h5_attribute a;
    const uint8_t *id = hub_cursor_bytes(record, w->heap.id_length);
    const uint8_t flags = hub_cursor_u8(record);
    if (!id || record->failed)
        return hub_fail(err, HUB_CORRUPT, "an attribute record is too short");
    if (flags & 2)
        return hub_fail(err, HUB_UNSUPPORTED, "a shared attribute");
    HUB_TRY(h5_fractal_get(w->file, &w->heap, id, &w->message, err));
    HUB_TRY(parse_attribute(w->file, hub_cursor_of(w->message.data, w->message.size), &a, err));
    return w->fn(w->user, &a, err);
}

/* Attribute info message: version 0, flags, [max order u16], heap, name index, [order index] */
static enum hub_status read_dense(struct hub_h5 *file, struct hub_cursor c, hub_h5_attribute_fn fn,
                                  void *user, struct hub_error *err)
{
    hub_cursor_skip(&c, 1);
    const uint8_t flags = hub_cursor_u8(&c);
    hub_cursor_skip(&c, flags & 1 ? 2 : 0);
    const uint64_t heap = h5_offset(file, &c), tree = h5_offset(file, &c);
    if (c.failed)
        return hub_fail(err, HUB_CORRUPT, "an attribute info message is cut short");
    if (heap == H5_UNDEFINED || tree == H5_UNDEFINED)
        return HUB_OK;
    struct dense w = {.file = file, .message = HUB_BUF_INIT(H5_MAX_HEADER), .fn = fn, .user = user};
    enum hub_status st = h5_fractal_open(file, heap, &w.heap, err);
    if (!st)
        st = h5_btree2_walk(file, tree, 8, NULL, take_dense, &w, err);
    hub_buf_dispose(&w.message);
    return st;
}

enum hub_status hub_h5_attributes(struct hub_h5 *file, const struct hub_h5_object *object,
                                  hub_h5_attribute_fn fn, void *user, struct hub_error *err)
{
    for (uint32_t i = 0; i < object->count; i++) {
        const struct hub_h5_message *m = &object->messages[i];
        if (m->type == H5_MSG_ATTRIBUTE_INFO)
            HUB_TRY(read_dense(file, h5_body(object, m), fn, user, err));
        if (m->type != H5_MSG_ATTRIBUTE)
            continue;
        if (m->flags & 2)
            return hub_fail(err, HUB_UNSUPPORTED, "a shared attribute");
        struct hub_h5_attribute a;
        HUB_TRY(parse_attribute(file, h5_body(object, m), &a, err));
        HUB_TRY(fn(user, &a, err));
    }
    return object->damaged[0] ? hub_fail(err, HUB_CORRUPT, "%s", object->damaged) : HUB_OK;
}

/* ---- values ---- */

/* The bytes of the items that a reference of variable length leads to, appended. */
static enum hub_status add_sequence(struct hub_h5 *file, const struct hub_h5_type *t, const char *reference,
                                    struct hub_buf *out, struct hub_error *err)
{
    struct hub_extent extent;
    if (t->size != 8u + file->offset_size)
        return hub_fail(err, HUB_CORRUPT, "references of %u bytes", t->size);
    HUB_TRY(h5_heap_item(file, t, (const uint8_t *)reference, &extent, err));
    HUB_TRY(hub_buf_reserve(out, extent.length, err));
    HUB_TRY(h5_get_raw(file, extent.offset, out->data + out->size, extent.length, err));
    out->size += extent.length;
    out->data[out->size] = '\0';
    return HUB_OK;
}

enum hub_status hub_h5_attribute_text(struct hub_h5 *file, const struct hub_h5_attribute *attribute,
                                      uint64_t item, struct hub_buf *out, struct hub_error *err)
{
    const struct hub_h5_type *t = &attribute->type;
    if (t->unreadable[0] || t->field != HUB_FIELD_TEXT || t->variant.rank || item >= attribute->items)
        return hub_fail(err, HUB_NOT_ACCEPTABLE, "attribute '%.*s' is not text",
                        (int)HUB_MIN(attribute->name.size, 80), attribute->name.data);
    const char *at = attribute->data.data + item * t->size;
    if (t->class == HUB_H5_STRING)
        return hub_buf_add(out, at, hub_variant_text_size(&t->variant, at), err);
    return add_sequence(file, t, at, out, err);
}

enum hub_status hub_h5_attribute_location(struct hub_h5 *file, const struct hub_h5_attribute *attribute,
                                          struct hub_location *out, struct hub_error *err)
{
    const struct hub_h5_type *t = &attribute->type;
    struct hub_extent extent;
    if (t->unreadable[0] || t->field != HUB_FIELD_TEXT || t->variant.rank || attribute->items != 1 ||
        t->class != HUB_H5_VLEN || t->size != 8u + file->offset_size)
        return hub_fail(err, HUB_NOT_ACCEPTABLE, "not a text of variable length");
    HUB_TRY(h5_heap_item(file, t, (const uint8_t *)attribute->data.data, &extent, err));
    *out = (struct hub_location){
        .file = file->number, .offset = extent.offset, .stored = extent.length, .decoded = extent.length};
    return HUB_OK;
}

/* Element 0 as a number; false when it is none. */
static bool number_of(const struct hub_h5_attribute *a, struct hub_scalar *out)
{
    const struct hub_variant *v = &a->type.variant;
    if (a->type.unreadable[0] || a->items == 0 || v->rank || v->item_size > 8 || v->kind < HUB_KIND_BOOL ||
        v->kind > HUB_KIND_FLOAT)
        return false;
    *out = hub_variant_scalar(v, a->data.data);
    return true;
}

bool hub_h5_attribute_int(const struct hub_h5_attribute *attribute, int64_t *out)
{
    const uint8_t kind = attribute->type.variant.kind;
    struct hub_scalar n;
    if (kind == HUB_KIND_FLOAT || !number_of(attribute, &n) || (kind != HUB_KIND_INT && n.bits > INT64_MAX))
        return false;
    *out = n.integer;
    return true;
}

bool hub_h5_attribute_double(const struct hub_h5_attribute *attribute, double *out)
{
    struct hub_scalar n;
    if (!number_of(attribute, &n))
        return false;
    *out = n.real;
    return true;
}

static void put_summary(struct hub_json *json, struct hub_view bytes)
{
    uint8_t digest[HUB_DIGEST_MAX];
    char hex[2 * HUB_SHA256_BYTES + 1];
    hub_json_object(json);
    hub_json_put_uint(json, "length", bytes.size);
    if (!hub_digest_of(HUB_SHA256, bytes, digest, NULL)) {
        hub_hex(digest, HUB_SHA256_BYTES, hex);
        hub_json_put_text(json, "sha256", hex);
    }
    hub_json_end_object(json);
}

static enum hub_status put_text(struct hub_h5 *file, const struct hub_h5_attribute *a, uint64_t item,
                                size_t limit, struct hub_json *json, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * MIB);
    HUB_TRY(hub_h5_attribute_text(file, a, item, &text, err));
    if (text.size > limit)
        put_summary(json, hub_buf_view(&text));
    else
        hub_json_string(json, hub_buf_view(&text));
    return HUB_OK;
}

/* The numbers of an element of variable length. */
static enum hub_status put_sequence(struct hub_h5 *file, const struct hub_h5_attribute *a, uint64_t item,
                                    struct hub_json *json, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf bytes = HUB_BUF_INIT(64 * MIB);
    const struct hub_variant number = hub_variant_item(&a->type.variant);
    HUB_TRY(add_sequence(file, &a->type, a->data.data + item * a->type.size, &bytes, err));
    if (bytes.size / number.item_size > MAX_ITEMS) {
        put_summary(json, hub_buf_view(&bytes));
        return HUB_OK;
    }
    hub_json_array(json);
    for (size_t at = 0; at < bytes.size; at += number.item_size)
        hub_variant_json(&number, bytes.data + at, json);
    hub_json_end_array(json);
    return HUB_OK;
}

/* Nested arrays over the dataspace's dimensions and then those of an array type. */
struct attribute_shape {
    uint32_t rank;
    uint64_t dims[2 * HUB_MAX_RANK];
};

struct attribute_items {
    struct hub_h5 *file;
    const struct hub_h5_attribute *attribute;
    struct attribute_shape shape;
    uint64_t next;
    size_t text_limit;
    struct hub_json *json;
};

/* Bytes of variable length: no type beside them says that the text is base64. */
static enum hub_status put_bytes(struct attribute_items *t, uint64_t item, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf bytes = HUB_BUF_INIT(64 * MIB), text = HUB_BUF_INIT(2 * t->text_limit + 4);
    const struct hub_h5_attribute *a = t->attribute;
    HUB_TRY(add_sequence(t->file, &a->type, a->data.data + item * a->type.size, &bytes, err));
    if (bytes.size > t->text_limit) {
        put_summary(t->json, hub_buf_view(&bytes));
        return HUB_OK;
    }
    HUB_TRY(hub_base64_encode(hub_buf_view(&bytes), &text, err));
    hub_json_object(t->json);
    hub_json_put_text(t->json, "base64", text.size ? text.data : "");
    hub_json_end_object(t->json);
    return HUB_OK;
}

static void put_unreadable(struct hub_json *json, const char *why)
{
    hub_json_object(json);
    hub_json_put_text(json, "unreadable", why);
    hub_json_end_object(json);
}

static enum hub_status put_items(struct attribute_items *t, uint32_t axis, struct hub_error *err)
{
    const struct hub_h5_attribute *a = t->attribute;
    struct hub_json *json = t->json;
    const struct hub_variant *v = &a->type.variant;
    if (axis == t->shape.rank) {
        const uint64_t item = t->next++;
        if (a->type.field == HUB_FIELD_TEXT && v->rank == 0)
            return put_text(t->file, a, item, t->text_limit, json, err);
        if (v->kind == HUB_KIND_VAR && v->sequence)
            return put_sequence(t->file, a, item, json, err);
        if (v->kind == HUB_KIND_VAR)
            return put_bytes(t, item, err);
        if (v->kind == HUB_KIND_FIXED)
            put_unreadable(json, "bytes");
        else
            hub_variant_json(v, a->data.data + item * v->item_size, json);
        return HUB_OK;
    }
    hub_json_array(json);
    for (uint64_t i = 0; i < t->shape.dims[axis]; i++)
        HUB_TRY(put_items(t, axis + 1, err));
    hub_json_end_array(json);
    return HUB_OK;
}

enum hub_status hub_h5_attribute_json(struct hub_h5 *file, const struct hub_h5_attribute *attribute,
                                      size_t text_limit, struct hub_buf *out, struct hub_error *err)
{
    const struct hub_h5_attribute *a = attribute;
    struct hub_json json = hub_json_to(out, err);
    if (a->type.unreadable[0]) {
        put_unreadable(&json, a->type.unreadable);
        return hub_json_status(&json);
    }
    if (a->rank == HUB_NONE) {
        hub_json_null(&json);
        return hub_json_status(&json);
    }
    struct attribute_items items = {.file = file, .attribute = a, .text_limit = text_limit, .json = &json};
    struct attribute_shape *shape = &items.shape;
    uint64_t count = a->items;
    shape->rank = a->rank + a->type.variant.rank;
    for (uint32_t i = 0; i < shape->rank; i++)
        shape->dims[i] = i < a->rank ? a->dims[i] : a->type.variant.dims[i - a->rank];
    count *= hub_variant_row_items(&a->type.variant);
    if (count == 0) { /* an axis of none: the others may be of any length */
        hub_json_array(&json);
        hub_json_end_array(&json);
    } else if (count > MAX_ITEMS)
        put_summary(&json, a->data);
    else
        HUB_TRY(put_items(&items, 0, err));
    return hub_json_status(&json);
}
