/*
 * Messages of Arrow IPC: a length, a FlatBuffer, a body. A stream is messages until one of no length, or the
 * end; a file has the same between its magic words, and a footer that says where each lies. Record batches
 * are kept as their nodes and buffers, each inside the message's body.
 */
#include "storage/formats/arrow/schema.h"

#include <stdlib.h>

/* Tables of Message.fbs and File.fbs, by the numbers of their fields. */
enum { MESSAGE_VERSION, MESSAGE_HEADER_TYPE, MESSAGE_HEADER, MESSAGE_BODY_LENGTH };
enum { HEADER_SCHEMA = 1, HEADER_DICTIONARY, HEADER_BATCH };
enum { BATCH_LENGTH, BATCH_NODES, BATCH_BUFFERS, BATCH_COMPRESSION, BATCH_VARIADIC };
enum { FOOTER_VERSION, FOOTER_SCHEMA, FOOTER_DICTIONARIES, FOOTER_BATCHES };
enum { VERSION_4 = 3, VERSION_5 };
enum { NODE_BYTES = 16, BUFFER_BYTES = 16, BLOCK_BYTES = 24, COMPRESSED_HEAD = 8 };

static const char magic[] = "ARROW1";

struct message {
    struct hub_buf bytes; /* of the FlatBuffer */
    uint64_t body, body_size, end;
    bool last; /* the mark behind the last message of a stream */
};

/* ---- one message ---- */

static uint64_t range_end(const struct hub_byte_source *source, uint64_t offset, int64_t size)
{
    const bool fits = size >= 0 && offset <= source->size && (uint64_t)size <= source->size - offset;
    return fits ? offset + (uint64_t)size : UINT64_MAX;
}

static enum hub_status load_flat(struct hub_byte_source *source, uint64_t offset, int64_t size,
                                 struct hub_buf *out, struct hub_error *err)
{
    if (size <= 0 || range_end(source, offset, size) == UINT64_MAX)
        return hub_fail(err, HUB_CORRUPT, "cut short: metadata of %lld bytes at %llu, in a file of %llu",
                        (long long)size, (unsigned long long)offset, (unsigned long long)source->size);
    if (size > (int64_t)HUB_ARROW_MAX_METADATA)
        return hub_fail(err, HUB_TOO_BIG, "a message whose metadata is %lld bytes", (long long)size);
    *out = HUB_BUF_INIT(HUB_ARROW_MAX_METADATA);
    HUB_TRY(hub_buf_reserve(out, (size_t)size, err));
    HUB_TRY(hub_byte_source_read(source, offset, out->data, (size_t)size, err));
    out->size = (size_t)size;
    return HUB_OK;
}

static enum hub_status load_message(struct hub_byte_source *source, uint64_t offset, struct message *m,
                                    struct hub_error *err)
{
    const uint8_t *at;
    size_t got;
    int32_t word[2] = {0, 0};
    HUB_TRY(hub_byte_source_peek(source, offset, sizeof word, &at, &got, err));
    memcpy(word, at, got);
    const bool marked = word[0] == -1; /* not before Arrow 0.15 */
    const int32_t size = marked ? word[1] : word[0];
    const unsigned head = marked ? 8 : 4;
    m->last = got < 4 || (got >= head && size == 0);
    if (m->last)
        return HUB_OK;
    if (got < head)
        return hub_fail(err, HUB_CORRUPT, "cut short within a message's length");
    HUB_TRY(load_flat(source, offset + head, size, &m->bytes, err));
    m->body = offset + head + (uint64_t)size;
    return HUB_OK;
}

/* The table a message holds, and which. */
static enum hub_status open_message(const struct hub_byte_source *source, struct message *m,
                                    struct hub_flat *flat, struct hub_flat_table *header, int64_t *type,
                                    struct hub_error *err)
{
    *flat = hub_flat_of(m->bytes.data, m->bytes.size);
    const struct hub_flat_table root = hub_flat_root(flat);
    const int64_t version = hub_flat_int(&root, MESSAGE_VERSION, 2, 0),
                  body = hub_flat_int(&root, MESSAGE_BODY_LENGTH, 8, 0);
    *type = hub_flat_int(&root, MESSAGE_HEADER_TYPE, 1, 0);
    *header = hub_flat_table(&root, MESSAGE_HEADER);
    m->end = range_end(source, m->body, body);
    if (flat->failed || !header->in)
        return hub_fail(err, HUB_CORRUPT, "a damaged message");
    if (version != VERSION_4 && version != VERSION_5)
        return hub_fail(err, HUB_UNSUPPORTED, "metadata of version %lld; write it with Arrow 1.0 or later",
                        (long long)version + 1);
    if (m->end == UINT64_MAX)
        return hub_fail(err, HUB_CORRUPT,
                        "cut short: a message's body of %lld bytes at %llu, in a file of %llu",
                        (long long)body, (unsigned long long)m->body, (unsigned long long)source->size);
    m->body_size = (uint64_t)body;
    return HUB_OK;
}

/* ---- a record batch ---- */

static enum hub_status batch_codec(const struct hub_flat_table *batch, uint8_t *codec, struct hub_error *err)
{
    const struct hub_flat_table compression = hub_flat_table(batch, BATCH_COMPRESSION);
    *codec = HUB_PAGE_PLAIN;
    if (!compression.in)
        return HUB_OK;
    const int64_t kind = hub_flat_int(&compression, 0, 1, 0), method = hub_flat_int(&compression, 1, 1, 0);
    if (kind < 0 || kind > 1 || method != 0)
        return hub_fail(err, HUB_UNSUPPORTED, "compression %lld; write it with zstd, lz4 or none",
                        (long long)kind);
    *codec = kind == 0 ? HUB_PAGE_LZ4_FRAME : HUB_PAGE_ZSTD;
    return HUB_OK;
}

/* Views have buffers behind their own, as many as the batch says: those are left out. */
static uint32_t next_buffer(const struct hub_arrow *a, const struct hub_flat_vector *variadic, uint32_t field,
                            uint32_t *views)
{
    const uint8_t type = a->fields[field].type;
    if (type != HUB_ARROW_BINARY_VIEW && type != HUB_ARROW_UTF8_VIEW)
        return 0;
    const int64_t count = *views < variadic->count ? hub_flat_number(variadic, (size_t)*views * 8, 8) : 0;
    ++*views;
    return count > 0 && count < HUB_ARROW_MAX_BUFFERS ? (uint32_t)count : 0;
}

static enum hub_status add_buffer(struct hub_arrow *a, const struct hub_flat_vector *buffers, uint32_t i,
                                  const struct message *m, struct hub_error *err)
{
    const int64_t offset = hub_flat_number(buffers, (size_t)i * BUFFER_BYTES, 8),
                  size = hub_flat_number(buffers, (size_t)i * BUFFER_BYTES + 8, 8);
    if (offset < 0 || size < 0 || (uint64_t)offset > m->body_size ||
        (uint64_t)size > m->body_size - (uint64_t)offset)
        return hub_fail(err, HUB_CORRUPT, "a buffer outside its message");
    if (a->buffers_used == HUB_ARROW_MAX_BUFFERS)
        return hub_fail(err, HUB_TOO_BIG, "more than %d buffers; write fewer, larger batches",
                        HUB_ARROW_MAX_BUFFERS);
    HUB_TRY(hub_grow(&a->buffers, a->buffers_used, &a->buffer_capacity, sizeof *a->buffers, err));
    a->buffers[a->buffers_used++] = (struct hub_arrow_buffer){m->body + (uint64_t)offset, (uint64_t)size};
    return HUB_OK;
}

static enum hub_status add_buffers(struct hub_arrow *a, const struct hub_flat_table *batch,
                                   const struct message *m, struct hub_error *err)
{
    const struct hub_flat_vector buffers = hub_flat_vector(batch, BATCH_BUFFERS, BUFFER_BYTES),
                                 variadic = hub_flat_vector(batch, BATCH_VARIADIC, 8);
    uint32_t next = 0, views = 0;
    for (uint32_t i = 0; i < a->field_count; i++) {
        const uint32_t until = i + 1 < a->field_count ? a->fields[i + 1].buffer : a->buffer_count,
                       own = until - a->fields[i].buffer;
        if (own > buffers.count || next > buffers.count - own)
            return hub_fail(err, HUB_CORRUPT, "a record batch of only %u buffers", buffers.count);
        for (uint32_t k = 0; k < own; k++)
            HUB_TRY(add_buffer(a, &buffers, next + k, m, err));
        next += own + next_buffer(a, &variadic, i, &views);
    }
    if (next != buffers.count)
        return hub_fail(err, HUB_CORRUPT, "a record batch of %u buffers instead of %u", buffers.count, next);
    return HUB_OK;
}

static enum hub_status add_nodes(struct hub_arrow *a, const struct hub_flat_table *batch,
                                 struct hub_error *err)
{
    const struct hub_flat_vector nodes = hub_flat_vector(batch, BATCH_NODES, NODE_BYTES);
    if (nodes.count != a->node_count)
        return hub_fail(err, HUB_CORRUPT, "a record batch of %u columns in a schema of %u", nodes.count,
                        a->node_count);
    for (uint32_t i = 0; i < nodes.count; i++) {
        const int64_t rows = hub_flat_number(&nodes, (size_t)i * NODE_BYTES, 8),
                      nulls = hub_flat_number(&nodes, (size_t)i * NODE_BYTES + 8, 8);
        if (rows < 0 || nulls < 0 || nulls > rows || rows > (int64_t)HUB_MAX_STEPS)
            return hub_fail(err, HUB_CORRUPT, "a column of %lld rows and %lld nulls", (long long)rows,
                            (long long)nulls);
        HUB_TRY(hub_grow(&a->nodes, a->nodes_used, &a->node_capacity, sizeof *a->nodes, err));
        a->nodes[a->nodes_used++] = (struct hub_arrow_node){(uint64_t)rows, (uint64_t)nulls};
    }
    return HUB_OK;
}

static enum hub_status add_batch(struct hub_arrow *a, const struct hub_flat_table *table,
                                 const struct message *m, struct hub_error *err)
{
    struct hub_arrow_batch batch = {
        .first_row = a->rows, .file = a->source.number, .nodes = a->nodes_used, .buffers = a->buffers_used};
    const int64_t rows = hub_flat_int(table, BATCH_LENGTH, 8, 0);
    if (rows < 0 || rows > (int64_t)HUB_MAX_STEPS - (int64_t)a->rows)
        return hub_fail(err, HUB_CORRUPT, "a record batch of %lld rows", (long long)rows);
    if (a->batch_count == HUB_ARROW_MAX_BATCHES)
        return hub_fail(err, HUB_TOO_BIG, "more than %d record batches", HUB_ARROW_MAX_BATCHES);
    batch.rows = (uint64_t)rows;
    HUB_TRY(batch_codec(table, &batch.codec, err));
    HUB_TRY(add_nodes(a, table, err));
    HUB_TRY(add_buffers(a, table, m, err));
    if (table->in->failed)
        return hub_fail(err, HUB_CORRUPT, "a damaged record batch");
    for (uint32_t at = 0; at < a->field_count; at = a->fields[at].end)
        if (a->nodes[batch.nodes + a->fields[at].node].rows != batch.rows)
            return hub_fail(err, HUB_CORRUPT, "columns of different lengths in a record batch");
    HUB_TRY(hub_grow(&a->batches, a->batch_count, &a->batch_capacity, sizeof *a->batches, err));
    a->batches[a->batch_count++] = batch;
    a->rows += batch.rows;
    return HUB_OK;
}

/* ---- files and streams ---- */

static void message_dispose(struct message *m)
{
    hub_buf_dispose(&m->bytes);
}

/* The schema of the first file is the table's; a further file must have the same. */
static enum hub_status take_schema(struct hub_arrow *a, const struct hub_flat_table *schema, bool first,
                                   struct hub_error *err)
{
    if (first)
        return hub_arrow_read_schema(a, schema, err);
    struct hub_arrow other = {0};
    enum hub_status st = hub_arrow_read_schema(&other, schema, err);
    if (!st && !hub_arrow_same_schema(a, &other))
        st = hub_fail(err, HUB_UNSUPPORTED, "its columns differ from those of the first file");
    hub_arrow_dispose(&other);
    return st;
}

static enum hub_status read_stream(struct hub_arrow *a, bool first, struct hub_error *err)
{
    bool schema = false;
    for (uint64_t offset = 0;;) {
        HUB_CLEANUP(message_dispose) struct message m = {0};
        struct hub_flat flat;
        struct hub_flat_table header;
        int64_t type;
        HUB_TRY(load_message(&a->source, offset, &m, err));
        if (m.last)
            return schema ? HUB_OK : hub_fail(err, HUB_CORRUPT, "no schema: not an Arrow stream");
        HUB_TRY(open_message(&a->source, &m, &flat, &header, &type, err));
        if ((type == HEADER_SCHEMA) == schema)
            return hub_fail(err, HUB_CORRUPT, schema ? "a second schema" : "no schema: not an Arrow stream");
        if (type == HEADER_SCHEMA)
            HUB_TRY(take_schema(a, &header, first, err));
        else if (type == HEADER_BATCH)
            HUB_TRY(add_batch(a, &header, &m, err));
        schema = true;
        offset = m.end;
    }
}

/* A batch of a file, where its footer says. */
static enum hub_status read_block(struct hub_arrow *a, const struct hub_flat_vector *blocks, uint32_t i,
                                  struct hub_error *err)
{
    HUB_CLEANUP(message_dispose) struct message m = {0};
    struct hub_flat flat;
    struct hub_flat_table header;
    int64_t type;
    const int64_t offset = hub_flat_number(blocks, (size_t)i * BLOCK_BYTES, 8),
                  metadata = hub_flat_number(blocks, (size_t)i * BLOCK_BYTES + 8, 4),
                  body = hub_flat_number(blocks, (size_t)i * BLOCK_BYTES + 16, 8);
    if (offset < 0 || range_end(&a->source, (uint64_t)offset, metadata) == UINT64_MAX)
        return hub_fail(err, HUB_CORRUPT, "record batch %u outside the file", i);
    HUB_TRY(load_message(&a->source, (uint64_t)offset, &m, err));
    if (m.last)
        return hub_fail(err, HUB_CORRUPT, "there is no record batch %u", i);
    HUB_TRY(open_message(&a->source, &m, &flat, &header, &type, err));
    if (type != HEADER_BATCH || m.body != (uint64_t)(offset + metadata) || (int64_t)m.body_size != body)
        return hub_fail(err, HUB_CORRUPT, "the footer and record batch %u contradict each other", i);
    return add_batch(a, &header, &m, err);
}

static enum hub_status read_file(struct hub_arrow *a, bool first, struct hub_error *err)
{
    enum { TAIL = 10 }; /* the footer's length and the magic word */
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf bytes = {0};
    uint8_t tail[TAIL] = {0};
    int32_t size;
    if (a->source.size < 8 + TAIL)
        return hub_fail(err, HUB_CORRUPT, "cut short: a file of %llu bytes",
                        (unsigned long long)a->source.size);
    HUB_TRY(hub_byte_source_read(&a->source, a->source.size - TAIL, tail, TAIL, err));
    if (memcmp(tail + 4, magic, 6) != 0)
        return hub_fail(err, HUB_CORRUPT,
                        "cut short, or never closed by its writer: %llu bytes without ARROW1 at the end",
                        (unsigned long long)a->source.size);
    memcpy(&size, tail, sizeof size);
    if (size <= 0 || (uint64_t)size > a->source.size - 8 - TAIL)
        return hub_fail(err, HUB_CORRUPT, "a footer of %d bytes", (int)size);
    HUB_TRY(load_flat(&a->source, a->source.size - TAIL - (uint32_t)size, size, &bytes, err));
    struct hub_flat flat = hub_flat_of(bytes.data, bytes.size);
    const struct hub_flat_table footer = hub_flat_root(&flat),
                                schema = hub_flat_table(&footer, FOOTER_SCHEMA);
    const struct hub_flat_vector blocks = hub_flat_vector(&footer, FOOTER_BATCHES, BLOCK_BYTES);
    if (flat.failed)
        return hub_fail(err, HUB_CORRUPT, "a damaged footer");
    HUB_TRY(take_schema(a, &schema, first, err));
    for (uint32_t i = 0; i < blocks.count; i++)
        HUB_TRY(read_block(a, &blocks, i, err));
    return HUB_OK;
}

enum hub_status hub_arrow_add(struct hub_arrow *a, const struct hub_byte_source *source,
                              struct hub_error *err)
{
    const bool first = a->field_count == 0 && a->batch_count == 0;
    const uint32_t batches = a->batch_count, nodes = a->nodes_used, buffers = a->buffers_used;
    const uint64_t rows = a->rows;
    const uint8_t *at;
    size_t got;
    a->source = *source;
    a->plain_at = UINT64_MAX;
    HUB_TRY(hub_byte_source_peek(&a->source, 0, 6, &at, &got, err));
    const bool file = got == 6 && memcmp(at, magic, 6) == 0;
    const enum hub_status st = file ? read_file(a, first, err) : read_stream(a, first, err);
    if (st) {
        a->batch_count = batches;
        a->nodes_used = nodes;
        a->buffers_used = buffers;
        a->rows = rows;
    }
    return st;
}

enum hub_status hub_arrow_schema_message(struct hub_arrow *a, const void *data, size_t size,
                                         struct hub_error *err)
{
    HUB_CLEANUP(message_dispose) struct message m = {0};
    struct hub_flat flat;
    struct hub_flat_table header;
    int64_t type;
    hub_byte_source_memory(&a->source, data, size);
    HUB_TRY(load_message(&a->source, 0, &m, err));
    if (m.last)
        return hub_fail(err, HUB_CORRUPT, "no schema");
    HUB_TRY(open_message(&a->source, &m, &flat, &header, &type, err));
    return type == HEADER_SCHEMA ? hub_arrow_read_schema(a, &header, err)
                                 : hub_fail(err, HUB_CORRUPT, "no schema");
}
