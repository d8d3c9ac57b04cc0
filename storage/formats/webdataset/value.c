/* Members of a tar shard as values: plain ones by their extension, pickled ones by what is in them. */
#include "storage/formats/webdataset/webdataset.h"

#include "storage/formats/npy.h"
#include "storage/text/utf8.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_NESTING = 8, SMALL_ROW = 512 };

/* ---- plain members ---- */

static bool one_of(struct hub_view word, const char *const *words)
{
    for (; *words; words++)
        if (hub_view_is(word, *words))
            return true;
    return false;
}

static bool is_text(struct hub_byte_source *source, const struct hub_tar_member *m)
{
    const uint8_t *at;
    size_t got;
    if (m->size > HUB_BYTE_SOURCE_WINDOW)
        return true; /* nobody looks into it: as its name says */
    return !hub_byte_source_peek(source, m->offset, (size_t)m->size, &at, &got, NULL) &&
           hub_utf8_valid((struct hub_view){(const char *)at, got});
}

static enum hub_field_type image_type(struct hub_byte_source *source, const struct hub_tar_member *m)
{
    const uint8_t *at;
    size_t got;
    return hub_byte_source_peek(source, m->offset, (size_t)HUB_MIN(m->size, 8), &at, &got, NULL)
               ? HUB_FIELD_BYTES
               : hub_image_type(at, got);
}

static enum hub_field_type number_type(const struct hub_variant *v)
{
    return v->kind == HUB_KIND_BOOL    ? HUB_FIELD_BOOL
           : v->kind == HUB_KIND_FIXED ? HUB_FIELD_BYTES
                                       : HUB_FIELD_NUMBER;
}

enum hub_status hub_wds_npy_value(const struct hub_npy *npy, uint32_t file, struct hub_wds_value *out,
                                  struct hub_error *err)
{
    *out = (struct hub_wds_value){.file = file, .offset = npy->data_offset, .size = npy->data_bytes};
    HUB_TRY(hub_npy_variant(&npy->item, npy->shape, npy->rank, &out->variant, err));
    if (npy->text && npy->rank == 0) /* as long as it is */
        out->variant = (struct hub_variant){.kind = HUB_KIND_VAR};
    out->type = npy->text ? HUB_FIELD_TEXT : number_type(&out->variant);
    out->fortran = npy->fortran && npy->rank > 1 && npy->data_bytes;
    return HUB_OK;
}

void hub_wds_member_value(struct hub_byte_source *source, struct hub_view field,
                          const struct hub_tar_member *m, struct hub_wds_value *out)
{
    static const char *const texts[] = {"txt", "text", "transcript", "cls",  "cls2", "index",
                                        "inx", "id",   "count",      "json", "jsn",  NULL};
    static const char *const images[] = {"jpg", "jpeg", "png", NULL};
    const struct hub_view last = hub_view_behind(field, '.');
    *out = (struct hub_wds_value){.type = HUB_FIELD_BYTES,
                                  .variant = {.kind = HUB_KIND_VAR},
                                  .file = source->number,
                                  .offset = m->offset,
                                  .size = m->size};
    if (one_of(last, texts) && is_text(source, m))
        out->type = HUB_FIELD_TEXT;
    else if (one_of(last, images))
        out->type = image_type(source, m);
}

/* ---- pickled members ---- */

/* Rows that do not lie in the file as they are to be served. */
static enum hub_status copy_row(struct hub_wds_pickled *r, const struct hub_pickle_data *data,
                                struct hub_wds_value *out, struct hub_error *err)
{
    const uint64_t bytes = hub_variant_row_bytes(&data->variant);
    HUB_CLEANUP(hub_freep) uint8_t *row = malloc((size_t)bytes + 1);
    HUB_TRY(hub_allocated(row, err));
    HUB_TRY(hub_pickle_copy(r->source, data, row, err));
    out->file = HUB_SIDE_FILE;
    return hub_files_side_add(r->files, row, (size_t)bytes, &out->offset, err);
}

/* A member takes at least a header and a block. Rows smaller than one are moved together, while there is
 * room: where they lie, a slice would read many times its size. */
static bool is_small(const struct hub_wds_pickled *r, const struct hub_wds_value *row)
{
    return row->size && row->size <= SMALL_ROW && r->files->side_size + SMALL_ROW < r->files->side_budget / 2;
}

static enum hub_status array_value(struct hub_wds_pickled *r, uint32_t value, struct hub_wds_value *out,
                                   struct hub_error *err)
{
    struct hub_pickle_data data;
    HUB_TRY(hub_pickle_array(r->p, value, &data, err));
    *out = (struct hub_wds_value){.type = number_type(&data.variant),
                                  .variant = data.variant,
                                  .file = r->source->number,
                                  .offset = data.offset,
                                  .size = data.size};
    if (data.variant.rank == 0 && data.variant.item_size <= sizeof out->scalar) {
        out->held = true;
        return hub_pickle_copy(r->source, &data, out->scalar, err);
    }
    out->size = hub_variant_row_bytes(&data.variant);
    if (data.latin1 || is_small(r, out))
        return copy_row(r, &data, out, err);
    out->fortran = data.fortran && data.variant.rank > 1 && out->size;
    return HUB_OK;
}

static void hold(struct hub_wds_value *out, enum hub_kind kind, uint32_t size, const void *bytes)
{
    *out = (struct hub_wds_value){.type = kind == HUB_KIND_BOOL ? HUB_FIELD_BOOL : HUB_FIELD_NUMBER,
                                  .variant = {.kind = (uint8_t)kind, .item_size = size},
                                  .held = true};
    memcpy(out->scalar, bytes, size);
}

static enum hub_status string_value(struct hub_wds_pickled *r, const struct hub_pickle_value *v,
                                    enum hub_field_type type, struct hub_wds_value *out)
{
    *out = (struct hub_wds_value){.type = type,
                                  .variant = {.kind = HUB_KIND_VAR},
                                  .file = r->source->number,
                                  .offset = v->offset,
                                  .size = v->size};
    return HUB_OK;
}

static enum hub_status leaf_value(struct hub_wds_pickled *r, uint32_t value, struct hub_wds_value *out,
                                  struct hub_error *err)
{
    const struct hub_pickle_value *v = hub_pickle_at(r->p, value);
    const uint8_t truth = v->integer != 0;
    switch ((enum hub_pickle_kind)v->kind) {
    case HUB_PICKLE_BOOL:
        hold(out, HUB_KIND_BOOL, 1, &truth);
        return HUB_OK;
    case HUB_PICKLE_INT:
        if (!v->known)
            break;
        hold(out, HUB_KIND_INT, 8, &v->integer);
        return HUB_OK;
    case HUB_PICKLE_FLOAT:
        hold(out, HUB_KIND_FLOAT, 8, &v->real);
        return HUB_OK;
    case HUB_PICKLE_TEXT:
        return string_value(r, v, HUB_FIELD_TEXT, out);
    case HUB_PICKLE_BYTES:
        return string_value(r, v, HUB_FIELD_BYTES, out);
    case HUB_PICKLE_ARRAY:
    case HUB_PICKLE_SCALAR:
        return array_value(r, value, out, err);
    default:
        break;
    }
    return hub_fail(err, HUB_UNSUPPORTED, "%s", hub_pickle_what(v));
}

static enum hub_status give_leaf(struct hub_wds_pickled *r, struct hub_view path, uint32_t value,
                                 unsigned depth, struct hub_error *err)
{
    struct hub_wds_column *column;
    struct hub_wds_value out;
    struct hub_error why = {0};
    HUB_TRY(hub_wds_column(r->columns, path, r->row, &column, err));
    const enum hub_status st = leaf_value(r, value, &out, &why);
    if (!st)
        return hub_wds_give(r->columns, column, r->row, &out, err);
    if (!hub_is_local(st))
        return hub_pass(st, &why, err);
    if (depth == 0 && st == HUB_UNSUPPORTED) { /* a whole member that is no row is kept as the pickle it is */
        out = (struct hub_wds_value){.type = r->plain ? HUB_FIELD_BYTES : HUB_FIELD_OPAQUE,
                                     .variant = {.kind = HUB_KIND_VAR},
                                     .file = r->source->number,
                                     .offset = r->member->offset,
                                     .size = r->member->size};
        return hub_wds_give(r->columns, column, r->row, &out, err);
    }
    hub_wds_spoil(column, "%s", why.detail);
    return HUB_OK;
}

/* np.save of a dictionary makes it the one item of an array without dimensions. */
static uint32_t unwrapped(const struct hub_pickle *p, uint32_t value)
{
    const struct hub_pickle_value *v = hub_pickle_at(p, value);
    const struct hub_pickle_value *items = v->kind == HUB_PICKLE_ARRAY ? hub_pickle_at(p, v->b) : NULL;
    const struct hub_pickle_value *shape = items ? hub_pickle_at(p, v->c) : NULL;
    uint32_t cell, item;
    if (!shape || shape->kind != HUB_PICKLE_TUPLE || shape->count || items->kind != HUB_PICKLE_LIST)
        return value;
    cell = items->first;
    return items->count == 1 && hub_pickle_next(p, &cell, &item) ? item : value;
}

static enum hub_status give_value(struct hub_wds_pickled *r, struct hub_view path, uint32_t value,
                                  unsigned depth, struct hub_error *err)
{
    uint32_t key, item;
    value = unwrapped(r->p, value);
    const struct hub_pickle_value *v = hub_pickle_at(r->p, value);
    if (v->kind != HUB_PICKLE_DICT || depth == MAX_NESTING)
        return give_leaf(r, path, value, depth, err);
    uint32_t cell = v->first;
    while (hub_pickle_next(r->p, &cell, &key) && hub_pickle_next(r->p, &cell, &item)) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf below = HUB_BUF_INIT(HUB_MAX_PATH);
        const struct hub_view name = hub_pickle_text(r->p, key);
        if (name.size == 0 || memchr(name.data, '\0', name.size))
            continue; /* not a name */
        HUB_TRY(hub_buf_add_view(&below, path, err));
        HUB_TRY(hub_buf_add_text(&below, "/", err));
        HUB_TRY(hub_buf_add_view(&below, name, err));
        HUB_TRY(give_value(r, hub_buf_view(&below), item, depth + 1, err));
    }
    return HUB_OK;
}

enum hub_status hub_wds_pickle_values(struct hub_wds_pickled *r, struct hub_view path, struct hub_error *err)
{
    HUB_TRY(hub_pickle_read(r->p, r->source, r->member->offset, r->member->size, err));
    return give_value(r, path, r->p->root, 0, err);
}
