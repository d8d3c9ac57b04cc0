/*
 * Rows of Arrow columns put into a layout. Plain numbers lie in place; packed booleans are what a Parquet
 * page of booleans is, and a compressed buffer is a compressed page, so both stay where they are too; texts
 * have an extent each. Only rows with nulls among them, and what a compressed buffer holds in rows of varying
 * length, and what is JSON, are copied, into side data.
 */
#include "storage/formats/arrow/json.h"

#include <stdlib.h>

enum { EXTENTS_AT_ONCE = 4096 };

struct laying_out {
    struct hub_arrow *a;
    const struct hub_arrow_rows *rows;
    struct hub_files *files;
    struct hub_layout_builder *builder;
    const struct hub_arrow_run *r;
};

static enum hub_status add_strided(const struct laying_out *p, uint32_t file, uint64_t offset,
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

static enum hub_status add_page(const struct laying_out *p, uint32_t file, struct hub_column column,
                                struct hub_page page, struct hub_error *err)
{
    struct hub_piece piece = {.kind = HUB_PIECE_PAGES, .file = file, .rows = p->r->rows, .count = 1};
    column.dictionary = HUB_NONE;
    HUB_TRY(hub_layout_column(p->builder, &column, &piece.geometry, err));
    HUB_TRY(hub_layout_pages(p->builder, &page, 1, &piece.table, err));
    return hub_layout_piece(p->builder, &piece, err);
}

/* What the values of a page are, as Parquet calls it: of these all are bytes as they lie, or bits. */
static struct hub_column column_of(const struct laying_out *p)
{
    const struct hub_variant *v = &p->rows->variant;
    if (v->kind == HUB_KIND_VAR)
        return (struct hub_column){.physical = HUB_PHYS_BYTE_ARRAY};
    return v->kind == HUB_KIND_BOOL ? (struct hub_column){.physical = HUB_PHYS_BOOLEAN}
                                    : (struct hub_column){.physical = HUB_PHYS_FIXED, .width = v->item_size};
}

/* Values with nulls among them, as a page of side data: which are there, a bit each behind the head of such a
 * run, then those that are. */
static enum hub_status add_nullable(const struct laying_out *p, struct hub_buf *page, size_t levels,
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

static enum hub_status begin_nullable(const struct laying_out *p, struct hub_buf *page, struct hub_error *err)
{
    *page = HUB_BUF_INIT(HUB_MAX_CHUNK_BYTES);
    for (uint64_t head = (p->r->count + 7) / 8 << 1 | 1; head; head >>= 7) {
        const uint8_t byte = (uint8_t)((head & 0x7f) | (head > 0x7f ? 0x80 : 0));
        HUB_TRY(hub_buf_add(page, &byte, 1, err));
    }
    return add_bits(page, p->r->valid, p->r->count, err);
}

/* ---- rows of one size ---- */

static enum hub_status copy_fixed(const struct laying_out *p, const struct hub_arrow_field *leaf,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint8_t *values = NULL;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf page = {0};
    const uint32_t size = leaf->item.item_size;
    uint64_t there = 0, offset;
    HUB_TRY(hub_arrow_load_values(p->a, p->r, leaf, &values, err));
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

static enum hub_status lay_out_fixed(const struct laying_out *p, const struct hub_arrow_field *leaf,
                                     struct hub_error *err)
{
    const bool bits = leaf->item.kind == HUB_KIND_BOOL;
    const uint64_t size = leaf->item.item_size, first = p->r->first, count = p->r->count,
                   from = bits ? first / 8 : first * size,
                   end = bits ? (first + count + 7) / 8 : (first + count) * size;
    struct hub_arrow_body body;
    HUB_TRY(hub_arrow_body_find(p->a, p->r->batch, leaf->buffer + HUB_ARROW_VALUES, &body, err));
    if (count)
        HUB_TRY(hub_arrow_body_check(&body, from, end - from, err));
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
static enum hub_status lay_out_bytes(const struct laying_out *p, uint32_t buffer, uint64_t from, uint64_t end,
                                     uint32_t *file, uint64_t *base, struct hub_error *err)
{
    struct hub_arrow_body body;
    HUB_TRY(hub_arrow_body_find(p->a, p->r->batch, buffer, &body, err));
    HUB_TRY(hub_arrow_body_check(&body, from, end - from, err));
    *file = body.packed ? HUB_SIDE_FILE : p->r->batch->file;
    *base = body.offset + from;
    if (!body.packed)
        return HUB_OK;
    HUB_TRY(hub_arrow_unpack(p->a, p->r->batch, &body, err));
    return hub_files_side_add(p->files, p->a->plain.data + from, end - from, base, err);
}

/* Rows between offsets that count in items of `size` bytes. */
static enum hub_status add_extents(const struct laying_out *p, uint32_t buffer, const uint64_t *offsets,
                                   uint64_t size, struct hub_error *err)
{
    struct hub_extent extents[EXTENTS_AT_ONCE];
    struct hub_piece piece = {.kind = HUB_PIECE_EXTENTS, .rows = p->r->count, .count = (uint32_t)p->r->count};
    const uint64_t count = p->r->count;
    uint64_t base;
    if (offsets[count] > HUB_MAX_STEPS / HUB_MAX(size, 1) || count > UINT32_MAX)
        return hub_fail(err, HUB_CORRUPT, "rows that end behind their file");
    HUB_TRY(lay_out_bytes(p, buffer, offsets[0] * size, offsets[count] * size, &piece.file, &base, err));
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

static enum hub_status copy_texts(const struct laying_out *p, const struct hub_arrow_field *leaf,
                                  const uint64_t *offsets, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint8_t *bytes = NULL;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf page = {0};
    const uint64_t size = offsets[p->r->count] - offsets[0];
    HUB_TRY(hub_arrow_allot(size, 1, &bytes, err));
    HUB_TRY(hub_arrow_load(p->a, p->r->batch, leaf->buffer + HUB_ARROW_TEXT, offsets[0], size, bytes, err));
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

static enum hub_status lay_out_texts(const struct laying_out *p, const struct hub_arrow_field *leaf,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint64_t *offsets = NULL;
    if (leaf->type == HUB_ARROW_FIXED_BINARY) { /* offsets that nobody wrote */
        if (p->r->valid)
            return hub_fail(err, HUB_UNSUPPORTED,
                            "nulls among bytes of a fixed length; write them as binary");
        HUB_TRY(hub_arrow_allot(p->r->count + 1, sizeof *offsets, &offsets, err));
        for (uint64_t i = 0; i <= p->r->count; i++)
            offsets[i] = p->r->first + i;
        return add_extents(p, leaf->buffer + HUB_ARROW_VALUES, offsets, leaf->width, err);
    }
    HUB_TRY(hub_arrow_load_offsets(p->a, p->r, leaf, &offsets, err));
    return p->r->valid ? copy_texts(p, leaf, offsets, err)
                       : add_extents(p, leaf->buffer + HUB_ARROW_TEXT, offsets, 1, err);
}

static enum hub_status lay_out_batch(struct laying_out p, const struct hub_arrow_batch *b,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_arrow_run_dispose) struct hub_arrow_run r = {.valid = NULL};
    HUB_CLEANUP(hub_freep) uint64_t *offsets = NULL;
    const struct hub_arrow_field *leaf = &p.a->fields[p.a->columns[p.rows->column].leaf];
    const uint32_t until = p.rows->sequences ? leaf->parent : p.a->columns[p.rows->column].leaf;
    HUB_TRY(hub_arrow_follow(p.a, p.rows, b, until, NULL, &r, err));
    p.r = &r;
    if (r.rows == 0)
        return HUB_OK;
    if (p.rows->sequences) {
        HUB_TRY(hub_arrow_load_offsets(p.a, &r, &p.a->fields[leaf->parent], &offsets, err));
        return add_extents(&p, leaf->buffer + HUB_ARROW_VALUES, offsets, leaf->item.item_size, err);
    }
    return p.rows->variant.kind == HUB_KIND_VAR ? lay_out_texts(&p, leaf, err) : lay_out_fixed(&p, leaf, err);
}

/* ---- rows of JSON ---- */

static enum hub_status lay_out_json(void *user, const struct hub_arrow_batch *b, uint8_t *valid,
                                    uint32_t rows, struct hub_view texts, struct hub_error *err)
{
    struct laying_out p = *(const struct laying_out *)user;
    const struct hub_arrow_run r = {.batch = b, .count = rows, .rows = rows, .valid = valid};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf page = {0};
    p.r = &r;
    HUB_TRY(begin_nullable(&p, &page, err));
    const size_t levels = page.size;
    HUB_TRY(hub_buf_add_view(&page, texts, err));
    return add_nullable(&p, &page, levels, err);
}

enum hub_status hub_arrow_lay_out(struct hub_arrow *a, const struct hub_arrow_rows *rows,
                                  struct hub_files *files, struct hub_layout_builder *builder,
                                  struct hub_error *err)
{
    struct laying_out p = {a, rows, files, builder, NULL};
    if (rows->json)
        return hub_arrow_json_rows(a, rows, &(struct hub_arrow_json_sink){lay_out_json, &p}, err);
    for (uint32_t i = 0; i < a->batch_count; i++)
        HUB_TRY(lay_out_batch(p, &a->batches[i], err));
    return HUB_OK;
}
