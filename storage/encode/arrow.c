/*
 * Apache Arrow's IPC stream (https://arrow.apache.org/docs/format/Columnar.html): a schema, a record batch
 * a block of rows, and an end. Messages are flatbuffers.
 *
 * Numbers are as they are, little-endian; more dimensions are fixed-size lists in each other; a complex
 * number is a list of two; text and padded JSON are utf8, bytes and pictures binary, sequences lists. Where
 * a value is null its element is: of a row of more dimensions the innermost.
 */
#include "storage/encode/arrow.h"

#include <string.h>

enum { /* Message.fbs, Schema.fbs */
       HEADER_SCHEMA = 1,
       HEADER_BATCH = 3,
       TYPE_INT = 2,
       TYPE_FLOAT = 3,
       TYPE_BINARY = 4,
       TYPE_UTF8 = 5,
       TYPE_BOOL = 6,
       TYPE_LIST = 12,
       TYPE_FIXED_LIST = 16,
       NODE_BYTES = 16,   /* length and nulls */
       BUFFER_BYTES = 16, /* offset and length */
};

/* A message before its header: what encapsulates it, the root and the table. `slots` are of Message. */
static struct hub_flatbuffer begin_message(struct hub_buf *out, struct hub_flatbuffer_slot slots[4],
                                           unsigned header, struct hub_error *err)
{
    static const char prefix[8] = {-1, -1, -1, -1};
    struct hub_flatbuffer f = {.out = out, .err = err};
    hub_flatbuffer_put(&f, prefix, sizeof prefix);
    f.base = hub_flatbuffer_here(&f);
    hub_flatbuffer_u32(&f, 0);
    slots[0] = (struct hub_flatbuffer_slot){.size = 2, .value = HUB_ARROW_V5};
    slots[1] = (struct hub_flatbuffer_slot){.size = 1, .value = header};
    slots[2] = (struct hub_flatbuffer_slot){.size = 4};
    slots[3] = (struct hub_flatbuffer_slot){.size = 8};
    hub_flatbuffer_table(&f, slots, 4, f.base);
    return f;
}

static void end_message(struct hub_flatbuffer *f)
{
    hub_flatbuffer_align(f, 8, 0);
    hub_flatbuffer_patch(f, f->base - 4, hub_flatbuffer_here(f) - f->base, 4);
}

/* ---- types ---- */

/* A column as a chain of lists, outermost first, and the leaf. */
struct chain {
    uint32_t sizes[HUB_MAX_RANK + 2]; /* of fixed-size lists */
    unsigned lists;
    bool sequence;             /* a list of any length between them and the leaf */
    unsigned leaf;             /* TYPE_… */
    struct hub_variant number; /* of a leaf that is one */
    unsigned buffers;          /* of all of it in a batch */
};

static struct chain chain_of(const struct hub_stream_column *column)
{
    const struct hub_variant *v = &column->variant;
    const enum hub_field_type type = column->type;
    struct chain chain = {.number = hub_variant_item(v)};
    const bool text = type == HUB_FIELD_TEXT || type == HUB_FIELD_PADDED_JSON;
    const bool items = v->kind == HUB_KIND_FIXED && type != HUB_FIELD_PADDED_JSON;
    chain.sequence = v->kind == HUB_KIND_VAR && v->sequence && !text;
    if (text || (hub_encode_as_bytes(type, v) && !chain.sequence))
        chain.leaf = text ? TYPE_UTF8 : TYPE_BINARY;
    else if (chain.number.kind == HUB_KIND_BOOL)
        chain.leaf = TYPE_BOOL;
    else
        chain.leaf =
            chain.number.kind == HUB_KIND_INT || chain.number.kind == HUB_KIND_UINT ? TYPE_INT : TYPE_FLOAT;
    if (column->windowed)
        chain.sizes[chain.lists++] = column->window;
    const bool nested =
        items || chain.leaf == TYPE_BOOL || chain.leaf == TYPE_INT || chain.leaf == TYPE_FLOAT;
    for (unsigned i = 0; nested && !chain.sequence && i < v->rank; i++)
        chain.sizes[chain.lists++] = v->dims[i];
    chain.buffers =
        chain.lists + 2U * chain.sequence + (chain.leaf == TYPE_UTF8 || chain.leaf == TYPE_BINARY ? 3 : 2);
    return chain;
}

static bool is_complex(const struct chain *chain)
{
    return chain->leaf == TYPE_FLOAT && chain->number.kind == HUB_KIND_COMPLEX;
}

static unsigned depth_of(const struct chain *chain)
{
    return chain->lists + chain->sequence + is_complex(chain) + 1U;
}

/* Type and parameters of a leaf. */
static void put_leaf_type(struct hub_flatbuffer *f, const struct chain *chain, size_t from)
{
    const uint32_t size = chain->number.item_size;
    struct hub_flatbuffer_slot slots[2] = {{0}};
    if (chain->leaf == TYPE_INT) {
        slots[0] = (struct hub_flatbuffer_slot){.size = 4, .value = size * 8};
        slots[1] = (struct hub_flatbuffer_slot){.size = 1, .value = chain->number.kind == HUB_KIND_INT};
    } else if (chain->leaf == TYPE_FLOAT) {
        const uint32_t width = is_complex(chain) ? size / 2 : size;
        slots[0] = (struct hub_flatbuffer_slot){.size = 2, .value = width == 8 ? 2 : width == 4 ? 1 : 0};
    }
    hub_flatbuffer_table(f, slots, chain->leaf == TYPE_INT ? 2 : chain->leaf == TYPE_FLOAT ? 1 : 0, from);
}

/* The field at `level` of a chain, and those within it; `from` refers to it. */
static void put_field(struct hub_flatbuffer *f, const char *name, const struct chain *chain, unsigned level,
                      size_t from)
{
    const bool leaf = level + 1 == depth_of(chain);
    const bool any = !leaf && chain->sequence && level == chain->lists;
    struct hub_flatbuffer_slot slots[6] = {
        {.size = 4}, {.size = 1, .value = 1}, {.size = 1}, {.size = 4}, {0}, {.size = 4},
    };
    slots[2].value = leaf ? chain->leaf : any ? TYPE_LIST : TYPE_FIXED_LIST;
    hub_flatbuffer_table(f, slots, 6, from);
    hub_flatbuffer_string(f, slots[0].at, level ? "item" : name);
    if (leaf) {
        put_leaf_type(f, chain, slots[3].at);
        hub_flatbuffer_vector(f, slots[5].at, 0, 4);
        return;
    }
    struct hub_flatbuffer_slot size = {.size = any ? 0 : 4,
                                       .value = level < chain->lists ? chain->sizes[level] : 2};
    hub_flatbuffer_table(f, &size, any ? 0 : 1, slots[3].at);
    hub_flatbuffer_vector(f, slots[5].at, 1, 4);
    const size_t child = hub_flatbuffer_here(f);
    hub_flatbuffer_u32(f, 0);
    put_field(f, NULL, chain, level + 1, child);
}

void hub_arrow_schema(struct hub_flatbuffer *f, const struct hub_table_stream *table, size_t from)
{
    struct hub_flatbuffer_slot schema[2] = {{.size = 2}, {.size = 4}};
    hub_flatbuffer_table(f, schema, 2, from);
    hub_flatbuffer_vector(f, schema[1].at, table->count, 4);
    const size_t first = hub_flatbuffer_here(f);
    for (uint32_t i = 0; i < table->count; i++)
        hub_flatbuffer_u32(f, 0);
    for (uint32_t i = 0; i < table->count; i++) {
        const struct chain chain = chain_of(&table->columns[i]);
        put_field(f, table->columns[i].name, &chain, 0, first + 4 * (size_t)i);
    }
}

static enum hub_status begin(struct hub_table_stream *table, struct hub_buf *out, struct hub_error *err)
{
    struct hub_flatbuffer_slot message[4];
    struct hub_flatbuffer f = begin_message(out, message, HEADER_SCHEMA, err);
    hub_arrow_schema(&f, table, message[2].at);
    end_message(&f);
    return f.status;
}

/* ---- batches ---- */

/* A batch whose body is being written: its nodes and buffers were set aside in the message. */
struct arrow_batch {
    struct hub_flatbuffer f;
    size_t node, buffer; /* the next ones, in `out` */
    size_t body;         /* where it begins */
};

static void add_node(struct arrow_batch *b, uint64_t length, uint64_t nulls)
{
    hub_flatbuffer_patch(&b->f, b->node, length, 8);
    hub_flatbuffer_patch(&b->f, b->node + 8, nulls, 8);
    b->node += NODE_BYTES;
}

/* End a buffer: the bytes written since `from`. */
static void end_buffer(struct arrow_batch *b, size_t from)
{
    hub_flatbuffer_patch(&b->f, b->buffer, from - b->body, 8);
    hub_flatbuffer_patch(&b->f, b->buffer + 8, hub_flatbuffer_here(&b->f) - from, 8);
    b->buffer += BUFFER_BYTES;
    hub_flatbuffer_align(&b->f, 8, 0);
}

/* A bit a value, from a byte each. */
static void put_bits(struct arrow_batch *b, const uint8_t *bytes, uint64_t count)
{
    const size_t from = hub_flatbuffer_here(&b->f), size = (size_t)(count + 7) / 8;
    if (!b->f.status)
        b->f.status = hub_buf_reserve(b->f.out, size, b->f.err);
    if (b->f.status)
        return;
    uint8_t *to = (uint8_t *)b->f.out->data + from;
    memset(to, 0, size + 1);
    for (uint64_t i = 0; i < count; i++)
        to[i / 8] |= (uint8_t)((bytes[i] != 0) << (i % 8));
    b->f.out->size += size;
    end_buffer(b, from);
}

/* The validity of `count` elements, a byte each `stride` bytes apart (NULL: all are there); and the node. */
static void put_validity(struct arrow_batch *b, const uint8_t *valid, uint64_t count)
{
    uint64_t nulls = 0;
    for (uint64_t i = 0; valid && i < count; i++)
        nulls += !valid[i];
    add_node(b, count, nulls);
    if (nulls)
        put_bits(b, valid, count);
    else
        end_buffer(b, hub_flatbuffer_here(&b->f));
}

/* The offsets of items of text or bytes, and these. */
static void put_items(struct arrow_batch *b, const struct hub_rows *rows, enum hub_field_type type,
                      uint64_t count)
{
    struct hub_buf *out = b->f.out;
    const size_t offsets = hub_flatbuffer_here(&b->f);
    for (uint64_t i = 0; i <= count; i++)
        hub_flatbuffer_u32(&b->f, 0);
    end_buffer(b, offsets);
    const size_t from = hub_flatbuffer_here(&b->f);
    for (uint64_t i = 0; i < count && !b->f.status; i++) {
        struct hub_view item = type == HUB_FIELD_TEXT ? hub_item_text(rows, i) : hub_item_at(rows, i);
        if (type == HUB_FIELD_PADDED_JSON)
            item.size = strnlen(item.data, item.size);
        b->f.status = type == HUB_FIELD_TEXT || type == HUB_FIELD_PADDED_JSON
                          ? hub_item_add_utf8(item, out, b->f.err)
                          : hub_buf_add_view(out, item, b->f.err);
        hub_flatbuffer_patch(&b->f, offsets + 4 * (size_t)(i + 1), hub_flatbuffer_here(&b->f) - from, 4);
    }
    end_buffer(b, from);
}

static void put_numbers(struct arrow_batch *b, const struct chain *chain, const struct hub_rows *rows,
                        uint64_t count)
{
    const size_t from = hub_flatbuffer_here(&b->f);
    if (chain->leaf == TYPE_BOOL) {
        put_bits(b, rows->data, count);
        return;
    }
    hub_flatbuffer_put(&b->f, rows->data, (size_t)count * chain->number.item_size);
    end_buffer(b, from);
}

/* Offsets of a sequence's numbers, and how many there are. */
static uint64_t put_sequence(struct arrow_batch *b, const struct chain *chain, const struct hub_rows *rows,
                             uint64_t count)
{
    const size_t from = hub_flatbuffer_here(&b->f);
    const uint32_t unit = chain->number.item_size;
    for (uint64_t i = 0; i <= count; i++)
        hub_flatbuffer_u32(&b->f, (uint32_t)(rows->offsets[i] / unit));
    end_buffer(b, from);
    return rows->offsets[count] / unit;
}

static void put_column(struct arrow_batch *b, const struct hub_stream_column *column,
                       const struct chain *chain, struct hub_rows *rows)
{
    uint64_t count = column->windowed ? rows->windows : rows->rows;
    const uint8_t *valid = rows->valid;
    hub_rows_little_endian(rows);
    for (unsigned i = 0; i < chain->lists; i++) {
        put_validity(b, NULL, count);
        count *= chain->sizes[i];
    }
    if (chain->sequence) {
        put_validity(b, valid, count);
        count = put_sequence(b, chain, rows, count);
        valid = NULL;
    }
    if (is_complex(chain)) {
        put_validity(b, valid, count);
        add_node(b, count * 2, 0);
        end_buffer(b, hub_flatbuffer_here(&b->f));
        put_numbers(b, chain, rows, count);
        return;
    }
    if (chain->leaf != TYPE_UTF8 && chain->leaf != TYPE_BINARY) {
        put_validity(b, valid, count);
        put_numbers(b, chain, rows, count);
        return;
    }
    /* a row of bytes or padded JSON is one element, and null when its first byte is */
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf there = HUB_BUF_INIT(1 * GIB);
    for (uint64_t i = 0; valid && i < count && !b->f.status; i++)
        b->f.status = hub_buf_add(&there, hub_item_null(rows, i) ? "\0" : "\1", 1, b->f.err);
    put_validity(b, (const uint8_t *)there.data, count);
    put_items(b, rows, column->type, count);
}

static enum hub_status add_rows(struct hub_table_stream *table, struct hub_rows *columns, uint64_t rows,
                                struct hub_buf *out, struct hub_error *err)
{
    struct hub_flatbuffer_slot message[4], fields[3] = {{.size = 8, .value = rows}, {.size = 4}, {.size = 4}};
    struct arrow_batch b = {.f = begin_message(out, message, HEADER_BATCH, err)};
    uint32_t nodes = 0, buffers = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct chain chain = chain_of(&table->columns[i]);
        nodes += depth_of(&chain);
        buffers += chain.buffers + is_complex(&chain);
    }
    hub_flatbuffer_table(&b.f, fields, 3, message[2].at);
    hub_flatbuffer_vector(&b.f, fields[1].at, nodes, 8);
    b.node = hub_flatbuffer_here(&b.f);
    for (uint32_t i = 0; i < nodes * (NODE_BYTES / 4); i++)
        hub_flatbuffer_u32(&b.f, 0);
    hub_flatbuffer_vector(&b.f, fields[2].at, buffers, 8);
    b.buffer = hub_flatbuffer_here(&b.f);
    for (uint32_t i = 0; i < buffers * (BUFFER_BYTES / 4); i++)
        hub_flatbuffer_u32(&b.f, 0);
    end_message(&b.f);
    b.body = hub_flatbuffer_here(&b.f);
    for (uint32_t i = 0; i < table->count && !b.f.status; i++) {
        const struct chain chain = chain_of(&table->columns[i]);
        if (table->one_by_one)
            b.f.status = hub_table_stream_read(table, i, UINT64_MAX, NULL, err);
        if (!b.f.status)
            put_column(&b, &table->columns[i], &chain, &columns[table->one_by_one ? 0 : i]);
    }
    hub_flatbuffer_patch(&b.f, message[3].at, hub_flatbuffer_here(&b.f) - b.body, 8);
    return b.f.status;
}

static enum hub_status end(struct hub_table_stream *table, struct hub_buf *out, struct hub_error *err)
{
    (void)table;
    return hub_buf_add(out, "\xFF\xFF\xFF\xFF\0\0\0\0", 8, err);
}

const struct hub_stream_writer hub_arrow_stream = {.begin = begin, .rows = add_rows, .end = end, .growth = 4};
const struct hub_writer hub_write_arrow = {.several = true,
                                           .memory = hub_encoding_table_memory,
                                           .write = hub_encoding_write_table,
                                           .table = &hub_arrow_stream};
