/*
 * Rows of Arrow columns as JSON text: lists of structs, of texts or of bytes, and lists of numbers that are
 * neither arrays nor plain sequences. Bytes are base64; a struct is an object; numbers are as everywhere
 * (text/json.h). They are written into side data as pages of texts, as those of Parquet are.
 */
#include "storage/formats/arrow/json.h"

#include "storage/text/base64.h"
#include "storage/text/json.h"

#include <stdlib.h>

enum { MAX_FIELDS = 256, MAX_ROW = 16 * MIB, PAGE_BYTES = MIB, PAGE_ROWS = 65536 };

/* What a batch has of one field. */
struct batch_slots {
    uint64_t count;
    uint8_t *valid;    /* a byte a slot; NULL: all are there */
    uint64_t *offsets; /* lists, texts and bytes */
    uint8_t *values;   /* numbers; the bytes that offsets count */
};

struct arrow_json {
    struct hub_arrow *a;
    uint32_t root;
    struct batch_slots *slots; /* of the root, and all that is below it */
    struct hub_json json;
};

static bool is_bytes(uint8_t type)
{
    return type == HUB_ARROW_UTF8 || type == HUB_ARROW_LARGE_UTF8 || type == HUB_ARROW_BINARY ||
           type == HUB_ARROW_LARGE_BINARY;
}

static bool is_text(uint8_t type)
{
    return type == HUB_ARROW_UTF8 || type == HUB_ARROW_LARGE_UTF8;
}

uint32_t hub_arrow_json_root(const struct hub_arrow *a, const struct hub_arrow_rows *rows)
{
    uint32_t root = a->columns[rows->column].leaf;
    for (uint32_t at = root; at != HUB_NONE; at = a->fields[at].parent) {
        const struct hub_arrow_field *f = &a->fields[at];
        const bool peeled = rows->inner && f->parent == HUB_NONE;
        if (!peeled && (hub_arrow_lists(f->type) || f->type == HUB_ARROW_FIXED_LIST))
            root = at;
    }
    return root;
}

const char *hub_arrow_json_trouble(const struct hub_arrow *a, uint32_t root)
{
    if (a->fields[root].end - root > MAX_FIELDS)
        return "lists of structs with too many members";
    for (uint32_t i = root; i < a->fields[root].end; i++)
        if (a->fields[i].trouble && a->fields[i].type != HUB_ARROW_NULL)
            return a->fields[i].trouble;
    return NULL;
}

/* ---- a batch ---- */

static enum hub_status load(struct arrow_json *r, uint32_t at, struct hub_arrow_run run,
                            struct hub_error *err);

static enum hub_status load_below(struct arrow_json *r, uint32_t at, struct hub_arrow_run run,
                                  struct hub_error *err)
{
    const struct hub_arrow_field *f = &r->a->fields[at];
    for (uint32_t child = at + 1; child < f->end; child = r->a->fields[child].end)
        HUB_TRY(load(r, child, run, err));
    return HUB_OK;
}

static enum hub_status load_bytes(struct arrow_json *r, uint32_t at, const struct hub_arrow_run *run,
                                  struct hub_error *err)
{
    const struct hub_arrow_field *f = &r->a->fields[at];
    struct batch_slots *s = &r->slots[at - r->root];
    const bool fixed = f->type == HUB_ARROW_FIXED_BINARY;
    const uint64_t from = fixed ? run->first * f->width : s->offsets[0],
                   size = fixed ? run->count * f->width : s->offsets[run->count] - from;
    HUB_TRY(hub_arrow_allot(size, 1, &s->values, err));
    return size ? hub_arrow_load(r->a, run->batch, f->buffer + (fixed ? HUB_ARROW_VALUES : HUB_ARROW_TEXT),
                                 from, size, s->values, err)
                : HUB_OK;
}

/* The slots of a field, and those of the fields below it that they lead to. */
static enum hub_status load(struct arrow_json *r, uint32_t at, struct hub_arrow_run run,
                            struct hub_error *err)
{
    const struct hub_arrow_field *f = &r->a->fields[at];
    struct batch_slots *s = &r->slots[at - r->root];
    run.valid = NULL;
    if (f->type == HUB_ARROW_NULL)
        return HUB_OK;
    HUB_TRY(hub_arrow_enter(r->a, &run, f, err));
    s->valid = run.valid;
    s->count = run.count;
    if (hub_arrow_lists(f->type) || is_bytes(f->type))
        HUB_TRY(hub_arrow_load_offsets(r->a, &run, f, &s->offsets, err));
    if (hub_arrow_lists(f->type)) {
        run.first = s->offsets[0];
        run.count = s->offsets[s->count] - run.first;
    } else if (f->type == HUB_ARROW_FIXED_LIST || f->type == HUB_ARROW_FIXED_BINARY) {
        if (f->width && run.first + run.count > HUB_MAX_STEPS / f->width)
            return hub_fail(err, HUB_CORRUPT, "lists with more items than possible");
        if (f->type == HUB_ARROW_FIXED_LIST) {
            run.first *= f->width;
            run.count *= f->width;
        }
    }
    if (is_bytes(f->type) || f->type == HUB_ARROW_FIXED_BINARY)
        return load_bytes(r, at, &run, err);
    return f->children                   ? load_below(r, at, run, err)
           : f->type == HUB_ARROW_STRUCT ? HUB_OK
                                         : hub_arrow_load_values(r->a, &run, f, &s->values, err);
}

static void unload(struct arrow_json *r)
{
    const uint32_t count = r->a->fields[r->root].end - r->root;
    for (uint32_t i = 0; r->slots && i < count; i++) {
        free(r->slots[i].valid);
        free(r->slots[i].offsets);
        free(r->slots[i].values);
        r->slots[i] = (struct batch_slots){.count = 0};
    }
}

static void dispose(struct arrow_json *r)
{
    unload(r);
    free(r->slots);
}

/* ---- a row ---- */

static enum hub_status put(struct arrow_json *r, uint32_t at, uint64_t slot, struct hub_error *err);

static enum hub_status put_bytes(struct arrow_json *r, const struct hub_arrow_field *f, struct hub_view bytes,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(2 * MAX_ROW);
    if (is_text(f->type)) {
        hub_json_string(&r->json, bytes);
        return HUB_OK;
    }
    HUB_TRY(hub_base64_encode(bytes, &text, err));
    hub_json_string(&r->json, hub_buf_view(&text));
    return HUB_OK;
}

static enum hub_status put_list(struct arrow_json *r, uint32_t at, uint64_t first, uint64_t end,
                                struct hub_error *err)
{
    hub_json_array(&r->json);
    for (uint64_t i = first; i < end; i++) {
        HUB_TRY(put(r, at + 1, i, err));
        HUB_TRY(hub_json_status(&r->json)); /* the row may be full */
    }
    hub_json_end_array(&r->json);
    return HUB_OK;
}

static enum hub_status put_struct(struct arrow_json *r, uint32_t at, uint64_t slot, struct hub_error *err)
{
    hub_json_object(&r->json);
    for (uint32_t child = at + 1; child < r->a->fields[at].end; child = r->a->fields[child].end) {
        hub_json_key(&r->json, hub_view_of(r->a->fields[child].name));
        HUB_TRY(put(r, child, slot, err));
    }
    hub_json_end_object(&r->json);
    return HUB_OK;
}

static enum hub_status put(struct arrow_json *r, uint32_t at, uint64_t slot, struct hub_error *err)
{
    const struct hub_arrow_field *f = &r->a->fields[at];
    const struct batch_slots *s = &r->slots[at - r->root];
    if (f->type == HUB_ARROW_NULL || (s->valid && !s->valid[slot])) {
        hub_json_null(&r->json);
        return HUB_OK;
    }
    if (f->type == HUB_ARROW_STRUCT)
        return put_struct(r, at, slot, err);
    if (f->type == HUB_ARROW_FIXED_LIST)
        return put_list(r, at, slot * f->width, (slot + 1) * f->width, err);
    if (f->type == HUB_ARROW_FIXED_BINARY)
        return put_bytes(r, f, (struct hub_view){(char *)s->values + slot * f->width, f->width}, err);
    if (!s->offsets) {
        hub_variant_json(&f->item, s->values + slot * f->item.item_size, &r->json);
        return HUB_OK;
    }
    const uint64_t from = s->offsets[slot] - s->offsets[0], end = s->offsets[slot + 1] - s->offsets[0];
    return hub_arrow_lists(f->type)
               ? put_list(r, at, from, end, err)
               : put_bytes(r, f, (struct hub_view){(char *)s->values + from, end - from}, err);
}

/* ---- a column ---- */

static enum hub_status put_rows(struct arrow_json *r, const struct hub_arrow_run *run,
                                const struct hub_arrow_json_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf page = HUB_BUF_INIT(PAGE_BYTES + 2 * (size_t)MAX_ROW), text = HUB_BUF_INIT(MAX_ROW);
    HUB_CLEANUP(hub_freep) uint8_t *valid = NULL;
    uint32_t rows = 0;
    HUB_TRY(hub_new(&valid, PAGE_ROWS, 1, err));
    for (uint64_t i = 0; i < run->count; i++) {
        valid[rows] = !run->valid || run->valid[i];
        if (valid[rows++]) {
            text.size = 0;
            r->json = hub_json_to(&text, err);
            HUB_TRY(put(r, r->root, i, err));
            HUB_TRY(hub_json_status(&r->json));
            const uint32_t length = (uint32_t)text.size;
            HUB_TRY(hub_buf_add(&page, &length, sizeof length, err));
            HUB_TRY(hub_buf_add(&page, text.data, length, err));
        }
        if (rows < PAGE_ROWS && page.size < PAGE_BYTES && i + 1 < run->count)
            continue;
        HUB_TRY(sink->page(sink->user, run->batch, valid, rows, hub_buf_view(&page), err));
        rows = 0;
        page.size = 0;
    }
    return HUB_OK;
}

enum hub_status hub_arrow_json_rows(struct hub_arrow *a, const struct hub_arrow_rows *rows,
                                    const struct hub_arrow_json_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct arrow_json r = {.a = a, .root = hub_arrow_json_root(a, rows)};
    HUB_TRY(hub_new(&r.slots, a->fields[r.root].end - r.root, sizeof *r.slots, err));
    for (uint32_t i = 0; i < a->batch_count; i++) {
        HUB_CLEANUP(hub_arrow_run_dispose) struct hub_arrow_run run = {.valid = NULL};
        HUB_TRY(hub_arrow_follow(a, rows, &a->batches[i], r.root, NULL, &run, err));
        HUB_TRY(load(&r, r.root, run, err));
        HUB_TRY(put_rows(&r, &run, sink, err));
        unload(&r);
    }
    return HUB_OK;
}
