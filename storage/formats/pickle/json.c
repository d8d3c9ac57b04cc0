/* A pickled value as JSON for metadata: see pickle.h. Arrays are described rather than listed: a space's
 * bounds are often one number 100,000 times. */
#include "storage/formats/pickle/pickle.h"

#include "storage/text/json.h"

#include <stdio.h>
#include <stdlib.h>

#define SHORT_ARRAY 64
#define LONG_ARRAY (4 * MIB) /* beyond it, not even looked at */
#define LONG_TEXT MIB

struct pickle_writer {
    const struct hub_pickle *p;
    struct hub_byte_source *source;
    struct hub_json json;
    struct hub_error *err;
};

static enum hub_status write_value(struct pickle_writer *w, uint32_t value, unsigned depth);

static bool plain_number(const struct hub_variant *item)
{
    return (item->kind == HUB_KIND_BOOL || item->kind == HUB_KIND_INT || item->kind == HUB_KIND_UINT ||
            (item->kind == HUB_KIND_FLOAT && item->item_size >= 4)) &&
           item->item_size <= 8;
}

static bool all_equal(const uint8_t *data, uint64_t items, uint32_t item_size)
{
    return items > 0 && memcmp(data, data + item_size, (size_t)((items - 1) * item_size)) == 0;
}

static enum hub_status write_array(struct pickle_writer *w, const struct hub_pickle_data *data)
{
    char name[24];
    const struct hub_variant *v = &data->variant;
    const uint64_t items = hub_variant_row_items(v), bytes = hub_variant_row_bytes(v);
    HUB_CLEANUP(hub_freep) uint8_t *raw = NULL;
    if (plain_number(v) && bytes <= LONG_ARRAY) {
        raw = malloc((size_t)bytes + 1);
        HUB_TRY(hub_allocated(raw, w->err));
        HUB_TRY(hub_pickle_copy(w->source, data, raw, w->err));
        if (v->rank == 0) {
            hub_variant_json(v, raw, &w->json);
            return HUB_OK;
        }
    }
    hub_variant_name(v, HUB_FIELD_NUMBER, name);
    hub_json_object(&w->json);
    hub_json_put_text(&w->json, "dtype", name);
    hub_json_put_array(&w->json, "shape");
    for (unsigned i = 0; i < v->rank; i++)
        hub_json_uint(&w->json, v->dims[i]);
    hub_json_end_array(&w->json);
    if (raw && items > 1 && all_equal(raw, items, v->item_size)) {
        hub_json_key(&w->json, HUB_VIEW("value"));
        hub_variant_json(v, raw, &w->json);
    } else if (raw && items <= SHORT_ARRAY) {
        hub_json_put_array(&w->json, "values");
        for (uint64_t i = 0; i < items; i++)
            hub_variant_json(v, raw + i * v->item_size, &w->json);
        hub_json_end_array(&w->json);
    }
    hub_json_end_object(&w->json);
    return HUB_OK;
}

static enum hub_status write_text(struct pickle_writer *w, const struct hub_pickle_value *v, uint32_t value)
{
    if (v->copied) {
        hub_json_string(&w->json, hub_pickle_text(w->p, value));
        return HUB_OK;
    }
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(LONG_TEXT);
    HUB_TRY(hub_buf_reserve(&text, (size_t)HUB_MIN(v->size, (uint64_t)SIZE_MAX / 2), w->err));
    HUB_TRY(hub_byte_source_read(w->source, v->offset, text.data, (size_t)v->size, w->err));
    hub_json_string(&w->json, (struct hub_view){text.data, (size_t)v->size});
    return HUB_OK;
}

static enum hub_status write_key(struct pickle_writer *w, uint32_t key)
{
    char text[32];
    const struct hub_pickle_value *v = hub_pickle_at(w->p, key);
    if (v->kind == HUB_PICKLE_TEXT || v->kind == HUB_PICKLE_BYTES) {
        hub_json_key(&w->json, hub_pickle_text(w->p, key));
        return HUB_OK;
    }
    snprintf(text, sizeof text, v->kind == HUB_PICKLE_INT ? "%lld" : "key %lld",
             (long long)(v->kind == HUB_PICKLE_INT ? v->integer : key));
    hub_json_key(&w->json, hub_view_of(text));
    return HUB_OK;
}

static enum hub_status write_items(struct pickle_writer *w, const struct hub_pickle_value *v, bool keyed,
                                   unsigned depth)
{
    uint32_t cell = v->first, value;
    if (keyed)
        hub_json_object(&w->json);
    else
        hub_json_array(&w->json);
    while (hub_pickle_next(w->p, &cell, &value)) {
        if (keyed) {
            HUB_TRY(write_key(w, value));
            if (!hub_pickle_next(w->p, &cell, &value))
                break;
        }
        HUB_TRY(write_value(w, value, depth + 1));
        HUB_TRY(hub_json_status(&w->json));
    }
    if (keyed)
        hub_json_end_object(&w->json);
    else
        hub_json_end_array(&w->json);
    return HUB_OK;
}

static void write_name(struct pickle_writer *w, uint32_t global)
{
    char name[256] = "?";
    const struct hub_pickle_value *v = hub_pickle_at(w->p, global);
    if (v && v->kind == HUB_PICKLE_GLOBAL) {
        const struct hub_view a = hub_pickle_text(w->p, v->a), b = hub_pickle_text(w->p, v->b);
        snprintf(name, sizeof name, "%.*s.%.*s", (int)HUB_MIN(a.size, 120), a.data, (int)HUB_MIN(b.size, 120),
                 b.data);
    }
    hub_json_string(&w->json, hub_view_of(name));
}

static enum hub_status write_object(struct pickle_writer *w, const struct hub_pickle_value *v, unsigned depth)
{
    hub_json_object(&w->json);
    hub_json_key(&w->json, HUB_VIEW("class"));
    write_name(w, v->a);
    if (v->b != HUB_PICKLE_NONE) {
        hub_json_key(&w->json, HUB_VIEW("args"));
        HUB_TRY(write_value(w, v->b, depth + 1));
    }
    if (v->c != HUB_PICKLE_NONE) {
        hub_json_key(&w->json, HUB_VIEW("state"));
        HUB_TRY(write_value(w, v->c, depth + 1));
    }
    hub_json_end_object(&w->json);
    return HUB_OK;
}

static enum hub_status write_numpy(struct pickle_writer *w, uint32_t value)
{
    struct hub_pickle_data data;
    struct hub_error why = {0};
    const enum hub_status st = hub_pickle_array(w->p, value, &data, &why);
    if (!st)
        return write_array(w, &data);
    hub_json_object(&w->json);
    hub_json_put_text(&w->json, "unreadable", why.detail);
    hub_json_end_object(&w->json);
    return HUB_OK;
}

static enum hub_status write_value(struct pickle_writer *w, uint32_t value, unsigned depth)
{
    const struct hub_pickle_value *v = hub_pickle_at(w->p, value);
    HUB_TRY(hub_json_status(&w->json));
    if (!v || depth > HUB_PICKLE_MAX_DEPTH / 2) { /* an object with its state takes two levels of JSON */
        hub_json_null(&w->json);
        return HUB_OK;
    }
    switch ((enum hub_pickle_kind)v->kind) {
    case HUB_PICKLE_NULL:
        hub_json_null(&w->json);
        return HUB_OK;
    case HUB_PICKLE_BOOL:
        hub_json_bool(&w->json, v->integer != 0);
        return HUB_OK;
    case HUB_PICKLE_INT:
        if (v->known)
            hub_json_safe_int(&w->json, v->integer);
        else
            hub_json_null(&w->json);
        return HUB_OK;
    case HUB_PICKLE_FLOAT:
        hub_json_double(&w->json, v->real);
        return HUB_OK;
    case HUB_PICKLE_TEXT:
        return write_text(w, v, value);
    case HUB_PICKLE_BYTES:
    case HUB_PICKLE_LATIN1:
        hub_json_object(&w->json);
        hub_json_put_uint(&w->json, "bytes", v->size);
        hub_json_end_object(&w->json);
        return HUB_OK;
    case HUB_PICKLE_TUPLE:
    case HUB_PICKLE_LIST:
        return write_items(w, v, false, depth);
    case HUB_PICKLE_DICT:
        return write_items(w, v, true, depth);
    case HUB_PICKLE_GLOBAL:
        write_name(w, value);
        return HUB_OK;
    case HUB_PICKLE_OBJECT:
        return write_object(w, v, depth);
    case HUB_PICKLE_DTYPE:
        hub_json_string(&w->json, hub_pickle_text(w->p, v->a));
        return HUB_OK;
    case HUB_PICKLE_ARRAY:
    case HUB_PICKLE_SCALAR:
        return write_numpy(w, value);
    }
    hub_json_null(&w->json);
    return HUB_OK;
}

enum hub_status hub_pickle_json(const struct hub_pickle *p, struct hub_byte_source *source, uint32_t value,
                                struct hub_buf *out, struct hub_error *err)
{
    struct pickle_writer w = {p, source, hub_json_to(out, err), err};
    HUB_TRY(write_value(&w, value, 0));
    return hub_json_status(&w.json);
}
