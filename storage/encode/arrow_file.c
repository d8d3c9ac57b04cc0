/*
 * Apache Arrow's IPC file (https://arrow.apache.org/docs/format/Columnar.html), which is also Feather version
 * 2: a magic word, the stream, and a footer that says where each record batch lies. It is written as it goes:
 * the footer comes last, and the table keeps the places until then.
 */
#include "storage/encode/arrow.h"

#define MAGIC "ARROW1"
#define MOST_PLACES_BYTES (12 * MIB) /* half a million batches; one block of an answer holds the footer */
enum { MAGIC_BYTES = 6, LENGTH_BYTES = 4, PREFIX_BYTES = 8 /* of a message, before its flatbuffer */ };

/* A Block of the footer (File.fbs). */
struct footer_block {
    int64_t offset;
    int32_t message_bytes; /* up to its body */
    int32_t padding;
    int64_t body_bytes;
};

static enum hub_status begin(struct hub_table_stream *table, struct hub_buf *out, struct hub_error *err)
{
    const size_t from = out->size;
    table->places = HUB_BUF_INIT(MOST_PLACES_BYTES);
    HUB_TRY(hub_buf_add(out, MAGIC "\0\0", MAGIC_BYTES + 2, err));
    HUB_TRY(hub_arrow_stream.begin(table, out, err));
    table->written = out->size - from;
    return HUB_OK;
}

static enum hub_status add_rows(struct hub_table_stream *table, struct hub_rows *columns, uint64_t rows,
                                struct hub_buf *out, struct hub_error *err)
{
    const size_t from = out->size;
    uint32_t flatbuffer;
    HUB_TRY(hub_arrow_stream.rows(table, columns, rows, out, err));
    const size_t size = out->size - from;
    memcpy(&flatbuffer, out->data + from + PREFIX_BYTES - LENGTH_BYTES, sizeof flatbuffer);
    const struct footer_block place = {.offset = (int64_t)table->written,
                                       .message_bytes = (int32_t)(PREFIX_BYTES + flatbuffer),
                                       .body_bytes = (int64_t)(size - PREFIX_BYTES - flatbuffer)};
    table->written += size;
    return hub_buf_add(&table->places, &place, sizeof place, err);
}

/* Footer: the version, the schema once more, no dictionaries, and the places of the batches. */
static enum hub_status put_footer(struct hub_table_stream *table, struct hub_buf *out, struct hub_error *err)
{
    const struct hub_buf *blocks = &table->places;
    struct hub_flatbuffer f = {.out = out, .base = out->size, .err = err};
    struct hub_flatbuffer_slot slots[4] = {{.size = 2, .value = HUB_ARROW_V5}, {.size = 4}, {0}, {.size = 4}};
    hub_flatbuffer_u32(&f, 0);
    hub_flatbuffer_table(&f, slots, 4, f.base);
    hub_arrow_schema(&f, table, slots[1].at);
    hub_flatbuffer_vector(&f, slots[3].at, (uint32_t)(blocks->size / sizeof(struct footer_block)), 8);
    hub_flatbuffer_put(&f, blocks->data, blocks->size);
    hub_flatbuffer_align(&f, 8, 0);
    const uint32_t size = (uint32_t)(hub_flatbuffer_here(&f) - f.base);
    hub_flatbuffer_u32(&f, size);
    return f.status;
}

static enum hub_status end(struct hub_table_stream *table, struct hub_buf *out, struct hub_error *err)
{
    HUB_TRY(hub_arrow_stream.end(table, out, err));
    HUB_TRY(put_footer(table, out, err));
    return hub_buf_add(out, MAGIC, MAGIC_BYTES, err);
}

static const struct hub_stream_writer table_writer = {
    .begin = begin, .rows = add_rows, .end = end, .growth = 4};
const struct hub_writer hub_write_arrow_file = {.several = true,
                                                .memory = hub_encoding_table_memory,
                                                .write = hub_encoding_write_table,
                                                .table = &table_writer};
