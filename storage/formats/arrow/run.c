/* From the rows of Arrow columns down to their values, through structs and lists: see run.h. */
#include "storage/formats/arrow/run.h"

#include "storage/codec/codec.h"

#include <stdlib.h>

/* Fields from a column to its leaf. */
struct way {
    uint32_t fields[HUB_ARROW_MAX_DEPTH + 1];
    unsigned count;
};

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

struct hub_arrow_shape hub_arrow_shape_of(const struct hub_arrow *a, const struct hub_arrow_rows *rows)
{
    const struct way way = way_of(a, rows->column);
    struct hub_arrow_shape s = {.rank = 0};
    for (unsigned i = rows->inner; i + 1 < way.count; i++) {
        const struct hub_arrow_field *f = &a->fields[way.fields[i]];
        if (f->type == HUB_ARROW_FIXED_LIST) {
            s.dims[s.rank] = f->width;
            s.known[s.rank++] = true;
        } else if (hub_arrow_lists(f->type)) {
            s.rank++;
        }
    }
    return s;
}

/* ---- buffers ---- */

static void use_file(struct hub_arrow *a, const struct hub_arrow_batch *b)
{
    if (!a->source.files || a->source.number == b->file)
        return;
    hub_byte_source_file(&a->source, a->source.files, b->file);
    a->plain_at = UINT64_MAX;
}

enum hub_status hub_arrow_body_find(struct hub_arrow *a, const struct hub_arrow_batch *b, uint32_t buffer,
                                    struct hub_arrow_body *out, struct hub_error *err)
{
    const struct hub_arrow_buffer *at = &a->buffers[b->buffers + buffer];
    int64_t size = -1;
    *out = (struct hub_arrow_body){at->offset, at->size, at->size, false};
    if (b->codec == HUB_PAGE_PLAIN || at->size == 0)
        return HUB_OK;
    use_file(a, b);
    if (at->size < sizeof size)
        return hub_fail(err, HUB_CORRUPT, "a compressed buffer of %llu bytes", (unsigned long long)at->size);
    HUB_TRY(hub_byte_source_read(&a->source, at->offset, &size, sizeof size, err));
    out->offset += sizeof size;
    out->stored -= sizeof size;
    out->size = size == -1 ? out->stored : (uint64_t)size; /* -1: not worth it, left as it is */
    out->packed = size != -1;
    if (out->packed && (out->size > HUB_MAX_CHUNK_BYTES || out->stored > HUB_MAX_CHUNK_BYTES))
        return hub_fail(err, HUB_TOO_BIG, "a compressed buffer of %lld bytes; write smaller batches",
                        (long long)size);
    return HUB_OK;
}

enum hub_status hub_arrow_unpack(struct hub_arrow *a, const struct hub_arrow_batch *b,
                                 const struct hub_arrow_body *body, struct hub_error *err)
{
    const struct hub_column column = {.codec = b->codec};
    const struct hub_page page = {.stored = (uint32_t)body->stored, .decoded = (uint32_t)body->size};
    use_file(a, b);
    if (a->plain_at == body->offset)
        return HUB_OK;
    a->plain_at = UINT64_MAX;
    a->stored.limit = a->plain.limit = HUB_MAX_CHUNK_BYTES + 64;
    a->stored.size = a->plain.size = 0;
    HUB_TRY(hub_buf_reserve(&a->stored, body->stored + 1, err));
    HUB_TRY(hub_buf_reserve(&a->plain, body->size + 1, err));
    HUB_TRY(hub_byte_source_read(&a->source, body->offset, a->stored.data, body->stored, err));
    HUB_TRY(hub_page_unpack(&column, &page, a->stored.data, a->plain.data, err));
    a->plain_at = body->offset;
    return HUB_OK;
}

enum hub_status hub_arrow_body_check(const struct hub_arrow_body *body, uint64_t from, uint64_t size,
                                     struct hub_error *err)
{
    if (from > body->size || size > body->size - from)
        return hub_fail(err, HUB_CORRUPT, "a buffer of %llu bytes, too short for its rows",
                        (unsigned long long)body->size);
    return HUB_OK;
}

enum hub_status hub_arrow_load(struct hub_arrow *a, const struct hub_arrow_batch *b, uint32_t buffer,
                               uint64_t from, uint64_t size, void *out, struct hub_error *err)
{
    struct hub_arrow_body body;
    HUB_TRY(hub_arrow_body_find(a, b, buffer, &body, err));
    HUB_TRY(hub_arrow_body_check(&body, from, size, err));
    use_file(a, b);
    if (!body.packed)
        return hub_byte_source_read(&a->source, body.offset + from, out, size, err);
    HUB_TRY(hub_arrow_unpack(a, b, &body, err));
    if (size)
        memcpy(out, a->plain.data + from, size);
    return HUB_OK;
}

enum hub_status hub_arrow_allot(uint64_t count, size_t item, void *out, struct hub_error *err)
{
    if (count > HUB_MAX_CHUNK_BYTES / item)
        return hub_fail(err, HUB_TOO_BIG, "a record batch of %llu values; write smaller batches",
                        (unsigned long long)count);
    return hub_new(out, count * item + 1, 1, err);
}

/* `count` bits from `first` on, a byte each. */
static enum hub_status load_bits(struct hub_arrow *a, const struct hub_arrow_run *r, uint32_t buffer,
                                 uint8_t *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint8_t *bits = NULL;
    const uint64_t from = r->first / 8, size = r->count ? (r->first + r->count + 7) / 8 - from : 0;
    HUB_TRY(hub_arrow_allot(size, 1, &bits, err));
    HUB_TRY(hub_arrow_load(a, r->batch, buffer, from, size, bits, err));
    for (uint64_t i = 0, bit = r->first % 8; i < r->count; i++, bit++)
        out[i] = bits[bit / 8] >> (bit % 8) & 1;
    return HUB_OK;
}

/* ---- the way down ---- */

/* The slots are there; which are null. */
enum hub_status hub_arrow_enter(struct hub_arrow *a, struct hub_arrow_run *r, const struct hub_arrow_field *f,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint8_t *here = NULL;
    const struct hub_arrow_node *node = &a->nodes[r->batch->nodes + f->node];
    if (r->first > node->rows || r->count > node->rows - r->first)
        return hub_fail(err, HUB_CORRUPT, "a column that ends before its rows do");
    if (node->nulls == 0 || r->count == 0)
        return HUB_OK;
    HUB_TRY(hub_arrow_allot(r->count, 1, &here, err));
    HUB_TRY(load_bits(a, r, f->buffer + HUB_ARROW_VALIDITY, here, err));
    if (!memchr(here, 0, r->count))
        return HUB_OK;
    for (uint64_t i = 0; r->valid && i < r->count; i++)
        here[i] &= r->valid[i];
    free(r->valid);
    r->valid = here;
    here = NULL;
    return HUB_OK;
}

enum hub_status hub_arrow_load_offsets(struct hub_arrow *a, const struct hub_arrow_run *r,
                                       const struct hub_arrow_field *f, uint64_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint64_t *offsets = NULL;
    const unsigned width = is_large(f->type) ? 8 : 4;
    const uint64_t count = r->count + 1;
    HUB_TRY(hub_arrow_allot(count, sizeof *offsets, &offsets, err));
    offsets[0] = 0;
    if (r->count)
        HUB_TRY(hub_arrow_load(a, r->batch, f->buffer + HUB_ARROW_OFFSETS, r->first * width, count * width,
                               offsets, err));
    for (uint64_t i = count; width == 4 && r->count && i-- > 0;) { /* last first: they grow in place */
        int32_t offset;
        memcpy(&offset, (const uint8_t *)offsets + i * 4, sizeof offset);
        offsets[i] = (uint64_t)(int64_t)offset;
    }
    for (uint64_t i = 0; i < count; i++)
        if (offsets[i] > INT64_MAX || (i && offsets[i] < offsets[i - 1]))
            return hub_fail(err, HUB_CORRUPT, "offsets that decrease");
    *out = offsets;
    offsets = NULL;
    return HUB_OK;
}

/* Which items are valid: those of valid lists. */
static enum hub_status spread_valid(struct hub_arrow_run *r, const uint64_t *offsets, uint64_t width,
                                    uint64_t count, struct hub_error *err)
{
    uint8_t *below = NULL;
    if (!r->valid)
        return HUB_OK;
    HUB_TRY(hub_arrow_allot(count, 1, &below, err));
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
static void note_length(struct hub_arrow_shape *s, unsigned level, uint64_t length)
{
    if (!s)
        return;
    s->ragged |= s->known[level] && s->dims[level] != length;
    s->known[level] = true;
    s->dims[level] = length;
}

static enum hub_status go_into_list(struct hub_arrow *a, struct hub_arrow_run *r,
                                    const struct hub_arrow_field *f, struct hub_arrow_shape *s,
                                    unsigned level, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint64_t *offsets = NULL;
    HUB_TRY(hub_arrow_load_offsets(a, r, f, &offsets, err));
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

static enum hub_status go_into_fixed(struct hub_arrow_run *r, const struct hub_arrow_field *f,
                                     struct hub_error *err)
{
    const uint64_t width = f->width;
    if (width && (r->first + r->count) > HUB_MAX_STEPS / width)
        return hub_fail(err, HUB_CORRUPT, "lists with more items than possible");
    HUB_TRY(spread_valid(r, NULL, width, r->count * width, err));
    r->first *= width;
    r->count *= width;
    return HUB_OK;
}

enum hub_status hub_arrow_follow(struct hub_arrow *a, const struct hub_arrow_rows *rows,
                                 const struct hub_arrow_batch *b, uint32_t until, struct hub_arrow_shape *s,
                                 struct hub_arrow_run *r, struct hub_error *err)
{
    const struct way way = way_of(a, rows->column);
    const uint64_t wanted = rows->limit > b->first_row ? rows->limit - b->first_row : 0;
    *r = (struct hub_arrow_run){.batch = b, .count = HUB_MIN(b->rows, wanted)};
    unsigned level = 0;
    r->rows = r->count;
    for (unsigned i = 0; i < way.count; i++) {
        const struct hub_arrow_field *f = &a->fields[way.fields[i]];
        const bool peel = rows->inner && i == 0;
        HUB_TRY(hub_arrow_enter(a, r, f, err));
        if (way.fields[i] == until)
            break;
        if (hub_arrow_lists(f->type))
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

void hub_arrow_run_dispose(struct hub_arrow_run *r)
{
    free(r->valid);
}

enum hub_status hub_arrow_load_values(struct hub_arrow *a, const struct hub_arrow_run *r,
                                      const struct hub_arrow_field *leaf, uint8_t **out,
                                      struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint8_t *values = NULL;
    const uint32_t size = leaf->item.item_size;
    HUB_TRY(hub_arrow_allot(r->count, size, &values, err));
    if (leaf->item.kind == HUB_KIND_BOOL)
        HUB_TRY(load_bits(a, r, leaf->buffer + HUB_ARROW_VALUES, values, err));
    else
        HUB_TRY(hub_arrow_load(a, r->batch, leaf->buffer + HUB_ARROW_VALUES, r->first * size, r->count * size,
                               values, err));
    *out = values;
    values = NULL;
    return HUB_OK;
}
