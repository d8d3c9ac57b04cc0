/*
 * Rows of Arrow columns: followed from the table's rows down to their values through structs and lists, and
 * put into a layout. Plain numbers lie in place; packed booleans are what a Parquet page of booleans is, and
 * a compressed buffer is a compressed page, so both stay where they are too; texts have an extent each. Only
 * rows with nulls among them, and what a compressed buffer holds in rows of varying length, are copied, into
 * side data.
 */
#include "storage/codec/codec.h"
#include "storage/formats/arrow/arrow.h"
#include "storage/formats/kit/kit.h"

#include <math.h>
#include <stdlib.h>

enum { VALIDITY, VALUES, OFFSETS = 1, TEXT = 2 }; /* buffers of a field */
enum { EXTENTS_AT_ONCE = 4096 };

/* Slots of a field in one batch, on the way down. */
struct run {
    const struct hub_arrow_batch *batch;
    uint64_t first, count, rows; /* rows: those of the layout that they are */
    uint8_t *valid;              /* a byte a slot; NULL: no nulls */
};

/* Fields from a column to its leaf. */
struct way {
    uint32_t fields[HUB_ARROW_MAX_DEPTH + 1];
    unsigned count;
};

/* Lengths of the lists around a value, outermost first. */
struct shape {
    uint64_t dims[HUB_ARROW_MAX_DEPTH + 1];
    bool known[HUB_ARROW_MAX_DEPTH + 1];
    unsigned rank, varying; /* varying: how many are not of a fixed length by their type */
    bool ragged,
        null_lists; /* null_lists: among the varying ones; they may have no items to count as nulls */
};

static bool is_list(uint8_t type)
{
    return type == HUB_ARROW_LIST || type == HUB_ARROW_LARGE_LIST;
}

static bool is_large(uint8_t type)
{
    return type == HUB_ARROW_LARGE_LIST || type == HUB_ARROW_LARGE_UTF8 || type == HUB_ARROW_LARGE_BINARY;
}

static struct way way_of(const struct hub_arrow *a, uint32_t column)
{
    struct way way = {.count = 0};
    uint32_t chain[HUB_ARROW_MAX_DEPTH + 1];
    unsigned depth = 0;
    for (uint32_t at = a->columns[column].leaf; at != HUB_NONE; at = a->fields[at].parent)
        chain[depth++] = at;
    while (depth > 0)
        way.fields[way.count++] = chain[--depth];
    return way;
}

/* What the types say of it. */
static struct shape shape_of(const struct hub_arrow *a, const struct hub_arrow_rows *rows)
{
    const struct way way = way_of(a, rows->column);
    struct shape s = {.rank = 0};
    for (unsigned i = rows->inner; i + 1 < way.count; i++) {
        const struct hub_arrow_field *f = &a->fields[way.fields[i]];
        if (f->type == HUB_ARROW_FIXED_LIST) {
            s.dims[s.rank] = f->width;
            s.known[s.rank++] = true;
        } else if (is_list(f->type)) {
            s.rank++;
            s.varying++;
        }
    }
    return s;
}

/* ---- buffers ---- */

/* Where the bytes of a buffer are; packed: `stored` that become `size`. */
struct body {
    uint64_t offset, stored, size;
    bool packed;
};

static void use_file(struct hub_arrow *a, const struct hub_arrow_batch *b)
{
    if (!a->source.files || a->source.number == b->file)
        return;
    hub_source_file(&a->source, a->source.files, b->file);
    a->plain_at = UINT64_MAX;
}

static enum hub_status find_body(struct hub_arrow *a, const struct hub_arrow_batch *b, uint32_t buffer,
                                 struct body *out, struct hub_error *err)
{
    const struct hub_arrow_buffer *at = &a->buffers[b->buffers + buffer];
    int64_t size = -1;
    *out = (struct body){at->offset, at->size, at->size, false};
    if (b->codec == HUB_PAGE_PLAIN || at->size == 0)
        return HUB_OK;
    use_file(a, b);
    if (at->size < sizeof size)
        return hub_fail(err, HUB_CORRUPT, "a compressed buffer of %llu bytes", (unsigned long long)at->size);
    HUB_TRY(hub_source_read(&a->source, at->offset, &size, sizeof size, err));
    out->offset += sizeof size;
    out->stored -= sizeof size;
    out->size = size == -1 ? out->stored : (uint64_t)size; /* -1: not worth it, left as it is */
    out->packed = size != -1;
    if (out->packed && (out->size > HUB_MAX_CHUNK_BYTES || out->stored > HUB_MAX_CHUNK_BYTES))
        return hub_fail(err, HUB_TOO_BIG, "a compressed buffer of %lld bytes; write smaller batches",
                        (long long)size);
    return HUB_OK;
}

/* What a packed body holds, into a->plain. */
static enum hub_status unpack(struct hub_arrow *a, const struct hub_arrow_batch *b, const struct body *body,
                              struct hub_error *err)
{
    const struct hub_column column = {.codec = b->codec};
    const struct hub_page page = {.stored = (uint32_t)body->stored, .decoded = (uint32_t)body->size};
    if (a->plain_at == body->offset)
        return HUB_OK;
    a->plain_at = UINT64_MAX;
    a->stored.limit = a->plain.limit = HUB_MAX_CHUNK_BYTES + 64;
    a->stored.size = a->plain.size = 0;
    HUB_TRY(hub_buf_reserve(&a->stored, body->stored + 1, err));
    HUB_TRY(hub_buf_reserve(&a->plain, body->size + 1, err));
    HUB_TRY(hub_source_read(&a->source, body->offset, a->stored.data, body->stored, err));
    HUB_TRY(hub_page_unpack(&column, &page, a->stored.data, a->plain.data, err));
    a->plain_at = body->offset;
    return HUB_OK;
}

static enum hub_status check_size(const struct body *body, uint64_t from, uint64_t size,
                                  struct hub_error *err)
{
    if (from > body->size || size > body->size - from)
        return hub_fail(err, HUB_CORRUPT, "a buffer of %llu bytes where its rows take more",
                        (unsigned long long)body->size);
    return HUB_OK;
}

static enum hub_status load(struct hub_arrow *a, const struct hub_arrow_batch *b, uint32_t buffer,
                            uint64_t from, uint64_t size, void *out, struct hub_error *err)
{
    struct body body;
    HUB_TRY(find_body(a, b, buffer, &body, err));
    HUB_TRY(check_size(&body, from, size, err));
    use_file(a, b);
    if (!body.packed)
        return hub_source_read(&a->source, body.offset + from, out, size, err);
    HUB_TRY(unpack(a, b, &body, err));
    if (size)
        memcpy(out, a->plain.data + from, size);
    return HUB_OK;
}

/* At most what a chunk may be, so that nothing a file says is memory unbounded. */
static enum hub_status allot(uint64_t count, size_t item, void *out, struct hub_error *err)
{
    if (count > HUB_MAX_CHUNK_BYTES / item)
        return hub_fail(err, HUB_TOO_BIG, "a record batch of %llu values; write smaller batches",
                        (unsigned long long)count);
    return hub_new(out, count * item + 1, 1, err);
}

/* `count` bits from `first` on, a byte each. */
static enum hub_status load_bits(struct hub_arrow *a, const struct run *r, uint32_t buffer, uint8_t *out,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint8_t *bits = NULL;
    const uint64_t from = r->first / 8, size = r->count ? (r->first + r->count + 7) / 8 - from : 0;
    HUB_TRY(allot(size, 1, &bits, err));
    HUB_TRY(load(a, r->batch, buffer, from, size, bits, err));
    for (uint64_t i = 0, bit = r->first % 8; i < r->count; i++, bit++)
        out[i] = bits[bit / 8] >> (bit % 8) & 1;
    return HUB_OK;
}

/* ---- the way down ---- */

/* The slots are there; which are null. */
static enum hub_status enter(struct hub_arrow *a, struct run *r, const struct hub_arrow_field *f,
                             struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint8_t *here = NULL;
    const struct hub_arrow_node *node = &a->nodes[r->batch->nodes + f->node];
    if (r->first > node->rows || r->count > node->rows - r->first)
        return hub_fail(err, HUB_CORRUPT, "a column that ends before its rows do");
    if (node->nulls == 0 || r->count == 0)
        return HUB_OK;
    HUB_TRY(allot(r->count, 1, &here, err));
    HUB_TRY(load_bits(a, r, f->buffer + VALIDITY, here, err));
    if (!memchr(here, 0, r->count))
        return HUB_OK;
    for (uint64_t i = 0; r->valid && i < r->count; i++)
        here[i] &= r->valid[i];
    free(r->valid);
    r->valid = here;
    here = NULL;
    return HUB_OK;
}

/* Where the items of lists, or the bytes of texts, begin: one more than there are slots. */
static enum hub_status load_offsets(struct hub_arrow *a, const struct run *r, const struct hub_arrow_field *f,
                                    uint64_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint64_t *offsets = NULL;
    const unsigned width = is_large(f->type) ? 8 : 4;
    const uint64_t count = r->count + 1;
    HUB_TRY(allot(count, sizeof *offsets, &offsets, err));
    offsets[0] = 0;
    if (r->count)
        HUB_TRY(load(a, r->batch, f->buffer + OFFSETS, r->first * width, count * width, offsets, err));
    for (uint64_t i = count; width == 4 && r->count && i-- > 0;) { /* last first: they grow in place */
        int32_t offset;
        memcpy(&offset, (const uint8_t *)offsets + i * 4, sizeof offset);
        offsets[i] = (uint64_t)(int64_t)offset;
    }
    for (uint64_t i = 0; i < count; i++)
        if (offsets[i] > INT64_MAX || (i && offsets[i] < offsets[i - 1]))
            return hub_fail(err, HUB_CORRUPT, "offsets that go back");
    *out = offsets;
    offsets = NULL;
    return HUB_OK;
}

/* Which items are valid: those of valid lists. */
static enum hub_status spread_valid(struct run *r, const uint64_t *offsets, uint64_t width, uint64_t count,
                                    struct hub_error *err)
{
    uint8_t *below = NULL;
    if (!r->valid)
        return HUB_OK;
    HUB_TRY(allot(count, 1, &below, err));
    for (uint64_t i = 0, at = 0; i < r->count; i++) {
        const uint64_t n = offsets ? offsets[i + 1] - offsets[i] : width;
        memset(below + at, r->valid[i], n);
        at += n;
    }
    free(r->valid);
    r->valid = below;
    return HUB_OK;
}

/* The length of a list at some level; `s` may be NULL. */
static void note_length(struct shape *s, unsigned level, uint64_t length)
{
    if (!s)
        return;
    s->ragged |= s->known[level] && s->dims[level] != length;
    s->known[level] = true;
    s->dims[level] = length;
}

static enum hub_status go_into_list(struct hub_arrow *a, struct run *r, const struct hub_arrow_field *f,
                                    struct shape *s, unsigned level, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint64_t *offsets = NULL;
    HUB_TRY(load_offsets(a, r, f, &offsets, err));
    const uint64_t items = offsets[r->count] - offsets[0];
    if (s && r->valid)
        s->null_lists = true;
    for (uint64_t i = 0; s && i < r->count; i++)
        note_length(s, level, offsets[i + 1] - offsets[i]);
    /* the items must be there before anything is made of their number */
    if (offsets[r->count] > a->nodes[r->batch->nodes + (f + 1)->node].rows)
        return hub_fail(err, HUB_CORRUPT, "lists that end behind their items");
    HUB_TRY(spread_valid(r, offsets, 0, items, err));
    r->first = offsets[0];
    r->count = items;
    return HUB_OK;
}

static enum hub_status go_into_fixed(struct run *r, const struct hub_arrow_field *f, struct hub_error *err)
{
    const uint64_t width = f->width;
    if (width && (r->first + r->count) > HUB_MAX_STEPS / width)
        return hub_fail(err, HUB_CORRUPT, "lists of more items than there can be");
    HUB_TRY(spread_valid(r, NULL, width, r->count * width, err));
    r->first *= width;
    r->count *= width;
    return HUB_OK;
}

/* From the wanted rows of a batch down to their values; with `lists` only to the innermost list. Lengths on
 * the way go to `s`, which may be NULL. */
static enum hub_status follow(struct hub_arrow *a, const struct hub_arrow_rows *rows,
                              const struct hub_arrow_batch *b, bool lists, struct shape *s, struct run *r,
                              struct hub_error *err)
{
    const struct way way = way_of(a, rows->column);
    const uint64_t wanted = rows->limit > b->first_row ? rows->limit - b->first_row : 0;
    *r = (struct run){.batch = b, .count = HUB_MIN(b->rows, wanted)};
    unsigned level = 0;
    r->rows = r->count;
    for (unsigned i = 0; i + lists < way.count; i++) {
        const struct hub_arrow_field *f = &a->fields[way.fields[i]];
        const bool peel = rows->inner && i == 0;
        HUB_TRY(enter(a, r, f, err));
        if (i + lists + 1 == way.count)
            break;
        if (is_list(f->type))
            HUB_TRY(go_into_list(a, r, f, peel ? NULL : s, level, err));
        else if (f->type == HUB_ARROW_FIXED_LIST)
            HUB_TRY(go_into_fixed(r, f, err));
        if (peel)
            r->rows = r->count;
        else
            level += f->type != HUB_ARROW_STRUCT;
    }
    return HUB_OK;
}

static void run_dispose(struct run *r)
{
    free(r->valid);
}

/* ---- describing ---- */

static enum hub_status first_bytes(struct hub_arrow *a, const struct run *r, const struct hub_arrow_field *f,
                                   uint8_t head[8], size_t *got, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint64_t *offsets = NULL;
    HUB_TRY(load_offsets(a, r, f, &offsets, err));
    for (uint64_t i = 0; i < r->count && *got == 0; i++) {
        *got = (size_t)HUB_MIN(offsets[i + 1] - offsets[i], 8);
        if (*got)
            HUB_TRY(load(a, r->batch, f->buffer + TEXT, offsets[i], *got, head, err));
    }
    return HUB_OK;
}

static const char *list_trouble(const struct hub_arrow_field *leaf, const struct shape *s, bool sequences)
{
    if (leaf->item.kind == HUB_KIND_NONE && s->rank)
        return leaf->type == HUB_ARROW_UTF8 || leaf->type == HUB_ARROW_LARGE_UTF8 ? "a list of texts"
                                                                                  : "a list of bytes";
    if (s->rank > HUB_MAX_RANK)
        return "lists nested too deep";
    if (sequences && (s->rank > 1 || leaf->item.kind == HUB_KIND_BOOL))
        return "ragged lists";
    return NULL;
}

static enum hub_status decide_type(struct hub_arrow_rows *rows, const struct hub_arrow_field *leaf,
                                   const struct shape *s, const uint8_t *head, size_t got,
                                   struct hub_error *err)
{
    bool sequences = s->ragged;
    for (unsigned i = 0; i < s->rank; i++) /* without rows nothing tells */
        sequences |= !s->known[i];
    const char *trouble = list_trouble(leaf, s, sequences);
    if (trouble)
        return hub_fail(err, HUB_UNSUPPORTED, "%s", trouble);
    if (sequences && (rows->nulls || s->null_lists))
        return hub_fail(err, HUB_UNSUPPORTED, "nulls in ragged lists");
    rows->sequences = sequences;
    rows->variant = leaf->item;
    rows->type = leaf->item.kind == HUB_KIND_BOOL ? HUB_FIELD_BOOL : HUB_FIELD_NUMBER;
    if (leaf->item.kind == HUB_KIND_NONE) {
        const bool text = leaf->type == HUB_ARROW_UTF8 || leaf->type == HUB_ARROW_LARGE_UTF8;
        rows->variant = (struct hub_variant){.kind = HUB_KIND_VAR};
        rows->type = text ? HUB_FIELD_TEXT : hub_image_type(head, got);
    } else if (sequences) {
        rows->variant.kind = HUB_KIND_VAR;
        rows->variant.sequence = leaf->item.kind;
    } else {
        rows->variant.rank = (uint8_t)s->rank;
        for (unsigned i = 0; i < s->rank; i++)
            rows->variant.dims[i] = (uint32_t)HUB_MIN(s->dims[i], UINT32_MAX);
    }
    if (!hub_variant_valid(&rows->variant))
        return hub_fail(err, HUB_TOO_BIG, "a row of more than 1 GiB");
    return HUB_OK;
}

enum hub_status hub_arrow_describe(struct hub_arrow *a, struct hub_arrow_rows *rows, struct hub_error *err)
{
    const struct hub_arrow_column *column = &a->columns[rows->column];
    const struct hub_arrow_field *leaf = &a->fields[column->leaf];
    const bool binary = leaf->type == HUB_ARROW_BINARY || leaf->type == HUB_ARROW_LARGE_BINARY;
    struct shape s = shape_of(a, rows);
    uint8_t head[8];
    size_t got = 0;
    if (column->trouble)
        return hub_fail(err, HUB_UNSUPPORTED, "%s", column->trouble);
    rows->rows = rows->nulls = 0;
    for (uint32_t i = 0; i < a->batch_count; i++) {
        HUB_CLEANUP(run_dispose) struct run r = {.valid = NULL};
        HUB_TRY(follow(a, rows, &a->batches[i], false, &s, &r, err));
        rows->rows += r.rows;
        for (uint64_t k = 0; r.valid && k < r.count; k++)
            rows->nulls += !r.valid[k];
        if (binary && got == 0)
            HUB_TRY(first_bytes(a, &r, leaf, head, &got, err));
    }
    return decide_type(rows, leaf, &s, head, got, err);
}

bool hub_arrow_is_list(const struct hub_arrow *a, uint32_t column)
{
    const struct hub_arrow_field *f = &a->fields[a->columns[column].top];
    return is_list(f->type) && !f->trouble;
}

enum hub_status hub_arrow_offsets(struct hub_arrow *a, uint32_t column, uint64_t *out, struct hub_error *err)
{
    const struct hub_arrow_field *f = &a->fields[a->columns[column].top];
    uint64_t base = 0;
    out[0] = 0;
    for (uint32_t i = 0; i < a->batch_count; i++) {
        HUB_CLEANUP(hub_freep) uint64_t *offsets = NULL;
        const struct hub_arrow_batch *b = &a->batches[i];
        const struct run r = {.batch = b, .count = b->rows};
        HUB_TRY(load_offsets(a, &r, f, &offsets, err));
        for (uint64_t k = 1; k <= b->rows; k++)
            out[b->first_row + k] = base + offsets[k] - offsets[0];
        base += offsets[b->rows] - offsets[0];
    }
    return HUB_OK;
}

/* ---- placing ---- */

struct placing {
    struct hub_arrow *a;
    const struct hub_arrow_rows *rows;
    struct hub_files *files;
    struct hub_layout_builder *builder;
    const struct run *r;
};

static enum hub_status add_strided(const struct placing *p, uint32_t file, uint64_t offset,
                                   struct hub_error *err)
{
    return hub_layout_piece(
        p->builder,
        &(struct hub_piece){.kind = HUB_PIECE_STRIDED,
                            .file = file,
                            .rows = p->r->rows,
                            .offset = offset,
                            .row_stride = (int64_t)hub_variant_row_bytes(&p->rows->variant),
                            .geometry = HUB_NONE},
        err);
}

static enum hub_status add_page(const struct placing *p, uint32_t file, struct hub_column column,
                                struct hub_page page, struct hub_error *err)
{
    struct hub_piece piece = {.kind = HUB_PIECE_PAGES, .file = file, .rows = p->r->rows, .count = 1};
    column.dictionary = HUB_NONE;
    HUB_TRY(hub_layout_column(p->builder, &column, &piece.geometry, err));
    HUB_TRY(hub_layout_pages(p->builder, &page, 1, &piece.table, err));
    return hub_layout_piece(p->builder, &piece, err);
}

/* What the values of a page are, as Parquet calls it: of these all are bytes as they lie, or bits. */
static struct hub_column column_of(const struct placing *p)
{
    const struct hub_variant *v = &p->rows->variant;
    if (v->kind == HUB_KIND_VAR)
        return (struct hub_column){.physical = HUB_PHYS_BYTE_ARRAY};
    return v->kind == HUB_KIND_BOOL ? (struct hub_column){.physical = HUB_PHYS_BOOLEAN}
                                    : (struct hub_column){.physical = HUB_PHYS_FIXED, .width = v->item_size};
}

/* Values with nulls among them, as a page of side data: which are there, a bit each behind the head of such a
 * run, then those that are. */
static enum hub_status add_nullable(const struct placing *p, struct hub_buf *page, size_t levels,
                                    struct hub_error *err)
{
    struct hub_column column = column_of(p);
    uint64_t offset;
    column.max_def = 1;
    HUB_TRY(hub_files_side_add(p->files, page->data, page->size, &offset, err));
    return add_page(p, HUB_SIDE_FILE, column,
                    (struct hub_page){.offset = offset,
                                      .stored = (uint32_t)page->size,
                                      .decoded = (uint32_t)page->size,
                                      .values = (uint32_t)p->r->count,
                                      .version = 2,
                                      .def_bytes = (uint32_t)levels},
                    err);
}

static enum hub_status add_bits(struct hub_buf *out, const uint8_t *bytes, uint64_t count,
                                struct hub_error *err)
{
    for (uint64_t i = 0; i < count; i += 8) {
        uint8_t byte = 0;
        for (uint64_t k = 0; k < 8 && i + k < count; k++)
            byte |= (uint8_t)(bytes[i + k] << k);
        HUB_TRY(hub_buf_add(out, &byte, 1, err));
    }
    return HUB_OK;
}

static enum hub_status begin_nullable(const struct placing *p, struct hub_buf *page, struct hub_error *err)
{
    *page = HUB_BUF_INIT(HUB_MAX_CHUNK_BYTES);
    for (uint64_t head = (p->r->count + 7) / 8 << 1 | 1; head; head >>= 7) {
        const uint8_t byte = (uint8_t)((head & 0x7f) | (head > 0x7f ? 0x80 : 0));
        HUB_TRY(hub_buf_add(page, &byte, 1, err));
    }
    return add_bits(page, p->r->valid, p->r->count, err);
}

/* ---- rows of one size ---- */

/* All values of the run in memory, booleans a byte each. */
static enum hub_status load_values(struct hub_arrow *a, const struct run *r,
                                   const struct hub_arrow_field *leaf, uint8_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint8_t *values = NULL;
    const uint32_t size = leaf->item.item_size;
    HUB_TRY(allot(r->count, size, &values, err));
    if (leaf->item.kind == HUB_KIND_BOOL)
        HUB_TRY(load_bits(a, r, leaf->buffer + VALUES, values, err));
    else
        HUB_TRY(load(a, r->batch, leaf->buffer + VALUES, r->first * size, r->count * size, values, err));
    *out = values;
    values = NULL;
    return HUB_OK;
}

static enum hub_status copy_fixed(const struct placing *p, const struct hub_arrow_field *leaf,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint8_t *values = NULL;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf page = {0};
    const uint32_t size = leaf->item.item_size;
    uint64_t there = 0, offset;
    HUB_TRY(load_values(p->a, p->r, leaf, &values, err));
    if (!p->r->valid) {
        HUB_TRY(hub_files_side_add(p->files, values, p->r->count * size, &offset, err));
        return add_strided(p, HUB_SIDE_FILE, offset, err);
    }
    HUB_TRY(begin_nullable(p, &page, err));
    const size_t levels = page.size;
    for (uint64_t i = 0; i < p->r->count; i++)
        if (p->r->valid[i])
            memmove(values + there++ * size, values + i * size, size);
    HUB_TRY(leaf->item.kind == HUB_KIND_BOOL ? add_bits(&page, values, there, err)
                                             : hub_buf_add(&page, values, there * size, err));
    return add_nullable(p, &page, levels, err);
}

static enum hub_status place_fixed(const struct placing *p, const struct hub_arrow_field *leaf,
                                   struct hub_error *err)
{
    const bool bits = leaf->item.kind == HUB_KIND_BOOL;
    const uint64_t size = leaf->item.item_size, first = p->r->first, count = p->r->count,
                   from = bits ? first / 8 : first * size,
                   end = bits ? (first + count + 7) / 8 : (first + count) * size;
    struct body body;
    HUB_TRY(find_body(p->a, p->r->batch, leaf->buffer + VALUES, &body, err));
    if (count)
        HUB_TRY(check_size(&body, from, end - from, err));
    if (p->r->valid || (body.packed ? first != 0 : bits && first % 8))
        return copy_fixed(p, leaf, err);
    if (!bits && !body.packed)
        return add_strided(p, p->r->batch->file, body.offset + from, err);
    if (count > HUB_MAX_CHUNK_BYTES)
        return hub_fail(err, HUB_TOO_BIG, "a record batch of %llu booleans; write smaller batches",
                        (unsigned long long)count);
    struct hub_column column = column_of(p);
    struct hub_page page = {.offset = body.offset + from, .values = (uint32_t)count, .version = 1};
    column.codec = body.packed ? p->r->batch->codec : HUB_PAGE_PLAIN;
    page.stored = (uint32_t)(body.packed ? body.stored : end - from);
    page.decoded = (uint32_t)(body.packed ? body.size : end - from);
    return add_page(p, p->r->batch->file, column, page, err);
}

/* ---- rows of varying length ---- */

/* Where the bytes of the rows are: in the file, or unpacked into side data. */
static enum hub_status place_bytes(const struct placing *p, uint32_t buffer, uint64_t from, uint64_t end,
                                   uint32_t *file, uint64_t *base, struct hub_error *err)
{
    struct body body;
    HUB_TRY(find_body(p->a, p->r->batch, buffer, &body, err));
    HUB_TRY(check_size(&body, from, end - from, err));
    *file = body.packed ? HUB_SIDE_FILE : p->r->batch->file;
    *base = body.offset + from;
    if (!body.packed)
        return HUB_OK;
    use_file(p->a, p->r->batch);
    HUB_TRY(unpack(p->a, p->r->batch, &body, err));
    return hub_files_side_add(p->files, p->a->plain.data + from, end - from, base, err);
}

/* Rows between offsets that count in items of `size` bytes. */
static enum hub_status add_extents(const struct placing *p, uint32_t buffer, const uint64_t *offsets,
                                   uint64_t size, struct hub_error *err)
{
    struct hub_extent extents[EXTENTS_AT_ONCE];
    struct hub_piece piece = {.kind = HUB_PIECE_EXTENTS, .rows = p->r->count, .count = (uint32_t)p->r->count};
    const uint64_t count = p->r->count;
    uint64_t base;
    if (offsets[count] > HUB_MAX_STEPS / HUB_MAX(size, 1) || count > UINT32_MAX)
        return hub_fail(err, HUB_CORRUPT, "rows that end behind their file");
    HUB_TRY(place_bytes(p, buffer, offsets[0] * size, offsets[count] * size, &piece.file, &base, err));
    for (uint64_t i = 0; i < count; i += EXTENTS_AT_ONCE) {
        const uint32_t n = (uint32_t)HUB_MIN(count - i, EXTENTS_AT_ONCE);
        uint32_t table;
        for (uint32_t k = 0; k < n; k++) {
            const uint64_t at = offsets[i + k], length = (offsets[i + k + 1] - at) * size;
            if (length > GIB)
                return hub_fail(err, HUB_TOO_BIG, "a row of more than 1 GiB");
            extents[k] = (struct hub_extent){base + (at - offsets[0]) * size, (uint32_t)length, 0};
        }
        HUB_TRY(hub_layout_extents(p->builder, extents, n, &table, err));
        if (i == 0)
            piece.table = table;
    }
    return hub_layout_piece(p->builder, &piece, err);
}

static enum hub_status copy_texts(const struct placing *p, const struct hub_arrow_field *leaf,
                                  const uint64_t *offsets, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint8_t *bytes = NULL;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf page = {0};
    const uint64_t size = offsets[p->r->count] - offsets[0];
    HUB_TRY(allot(size, 1, &bytes, err));
    HUB_TRY(load(p->a, p->r->batch, leaf->buffer + TEXT, offsets[0], size, bytes, err));
    HUB_TRY(begin_nullable(p, &page, err));
    const size_t levels = page.size;
    for (uint64_t i = 0; i < p->r->count; i++) {
        const uint32_t length = (uint32_t)(offsets[i + 1] - offsets[i]);
        if (!p->r->valid[i])
            continue;
        HUB_TRY(hub_buf_add(&page, &length, sizeof length, err));
        HUB_TRY(hub_buf_add(&page, bytes + (offsets[i] - offsets[0]), length, err));
    }
    return add_nullable(p, &page, levels, err);
}

static enum hub_status place_texts(const struct placing *p, const struct hub_arrow_field *leaf,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint64_t *offsets = NULL;
    if (leaf->type == HUB_ARROW_FIXED_BINARY) { /* offsets that nobody wrote */
        if (p->r->valid)
            return hub_fail(err, HUB_UNSUPPORTED,
                            "nulls among bytes of a fixed length; write them as binary");
        HUB_TRY(allot(p->r->count + 1, sizeof *offsets, &offsets, err));
        for (uint64_t i = 0; i <= p->r->count; i++)
            offsets[i] = p->r->first + i;
        return add_extents(p, leaf->buffer + VALUES, offsets, leaf->width, err);
    }
    HUB_TRY(load_offsets(p->a, p->r, leaf, &offsets, err));
    return p->r->valid ? copy_texts(p, leaf, offsets, err)
                       : add_extents(p, leaf->buffer + TEXT, offsets, 1, err);
}

static enum hub_status place_batch(struct placing p, const struct hub_arrow_batch *b, struct hub_error *err)
{
    HUB_CLEANUP(run_dispose) struct run r = {.valid = NULL};
    HUB_CLEANUP(hub_freep) uint64_t *offsets = NULL;
    const struct hub_arrow_field *leaf = &p.a->fields[p.a->columns[p.rows->column].leaf];
    HUB_TRY(follow(p.a, p.rows, b, p.rows->sequences, NULL, &r, err));
    p.r = &r;
    if (r.rows == 0)
        return HUB_OK;
    if (p.rows->sequences) {
        HUB_TRY(load_offsets(p.a, &r, &p.a->fields[leaf->parent], &offsets, err));
        return add_extents(&p, leaf->buffer + VALUES, offsets, leaf->item.item_size, err);
    }
    return p.rows->variant.kind == HUB_KIND_VAR ? place_texts(&p, leaf, err) : place_fixed(&p, leaf, err);
}

enum hub_status hub_arrow_place(struct hub_arrow *a, const struct hub_arrow_rows *rows,
                                struct hub_files *files, struct hub_layout_builder *builder,
                                struct hub_error *err)
{
    const struct placing p = {a, rows, files, builder, NULL};
    for (uint32_t i = 0; i < a->batch_count; i++)
        HUB_TRY(place_batch(p, &a->batches[i], err));
    return HUB_OK;
}

/* ---- numbers ---- */

enum hub_status hub_arrow_numbers(struct hub_arrow *a, const struct hub_arrow_rows *rows, double *out,
                                  struct hub_error *err)
{
    const struct hub_arrow_field *leaf = &a->fields[a->columns[rows->column].leaf];
    if (rows->variant.kind == HUB_KIND_VAR || hub_variant_row_items(&rows->variant) != 1 ||
        (leaf->item.kind == HUB_KIND_FLOAT && leaf->item.item_size < 4))
        return hub_fail(err, HUB_UNSUPPORTED, "not a column of single numbers");
    for (uint32_t i = 0; i < a->batch_count; i++) {
        HUB_CLEANUP(run_dispose) struct run r = {.valid = NULL};
        HUB_CLEANUP(hub_freep) uint8_t *values = NULL;
        HUB_TRY(follow(a, rows, &a->batches[i], false, NULL, &r, err));
        HUB_TRY(load_values(a, &r, leaf, &values, err));
        for (uint64_t k = 0; k < r.count; k++)
            *out++ = r.valid && !r.valid[k]
                         ? NAN
                         : hub_variant_scalar(&leaf->item, values + k * leaf->item.item_size).real;
    }
    return HUB_OK;
}
