/* Parquet's footer: see footer.h. FileMetaData, RowGroup, ColumnChunk and ColumnMetaData of
 * parquet.thrift. */
#include "storage/formats/parquet/footer.h"

#include "storage/formats/parquet/schema.h"
#include "storage/text/base64.h"

#include <stdlib.h>

struct column_meta {
    bool present, elsewhere, encrypted;
    int64_t type, codec, values, compressed, data_offset, dictionary_offset, nulls;
};

static void read_column_meta(struct hub_thrift *t, const struct hub_thrift_field *field,
                             struct column_meta *m)
{
    int64_t *const statistics[] = {[3] = &m->nulls};
    int64_t *const targets[] = {[1] = &m->type,       [4] = &m->codec,       [5] = &m->values,
                                [7] = &m->compressed, [9] = &m->data_offset, [11] = &m->dictionary_offset};
    if (!hub_thrift_enter(t, field))
        return;
    m->present = true;
    for (struct hub_thrift_field f = {0}; hub_thrift_next(t, &f);)
        if (f.id != 12)
            hub_thrift_take(t, &f, targets, HUB_COUNT(targets));
        else if (hub_thrift_enter(t, &f))
            for (struct hub_thrift_field s = {0}; hub_thrift_next(t, &s);)
                hub_thrift_take(t, &s, statistics, HUB_COUNT(statistics));
}

static const char *codec_trouble(int64_t codec)
{
    switch (codec) {
    case HUB_PAGE_PLAIN:
    case HUB_PAGE_SNAPPY:
    case HUB_PAGE_GZIP:
    case HUB_PAGE_ZSTD:
    case HUB_PAGE_LZ4_RAW:
        return NULL;
    case 3:
        return "codec 3 (LZO)";
    case 4:
        return "codec 4 (BROTLI)";
    case 5:
        return "codec 5 (LZ4 of Hadoop)";
    default:
        return "an unknown codec";
    }
}

/* What the chunk's metadata says, proven against its leaf and the file's data range. */
static const char *chunk_trouble(const struct column_meta *m, const struct hub_parquet_leaf *leaf,
                                 uint64_t data_end, struct hub_parquet_chunk *out)
{
    if (m->elsewhere)
        return "column data in another file";
    if (m->encrypted || !m->present)
        return "encrypted";
    if (m->type != leaf->physical)
        return "column type differs from the schema";
    int64_t start = m->data_offset;
    if (m->dictionary_offset > 0 && (m->dictionary_offset < start || m->values == 0))
        start = m->dictionary_offset; /* without values there may be a dictionary alone */
    if (start < 4 && m->values == 0 && m->compressed == 0)
        start = 4;
    if (start < 4 || m->compressed < 0 || m->values < 0 || (uint64_t)start > data_end ||
        (uint64_t)m->compressed > data_end - (uint64_t)start)
        return "column data outside the file";
    if (codec_trouble(m->codec))
        return codec_trouble(m->codec);
    *out = (struct hub_parquet_chunk){.codec = (uint8_t)m->codec,
                                      .offset = (uint64_t)start,
                                      .size = (uint64_t)m->compressed,
                                      .values = (uint64_t)m->values,
                                      .nulls = m->nulls};
    return NULL;
}

static void read_chunk(struct hub_thrift *t, const struct hub_thrift_field *field,
                       const struct hub_parquet_leaf *leaf, uint64_t data_end, struct hub_parquet_chunk *out)
{
    struct column_meta m = {.nulls = -1};
    if (!hub_thrift_enter(t, field))
        return;
    for (struct hub_thrift_field f = {0}; hub_thrift_next(t, &f);)
        switch (f.id) {
        case 1:
            m.elsewhere = hub_thrift_binary(t, &f).size > 0;
            break;
        case 3:
            read_column_meta(t, &f, &m);
            break;
        case 8:
        case 9:
            m.encrypted = true;
            hub_thrift_skip(t, &f);
            break;
        default:
            hub_thrift_skip(t, &f);
        }
    out->trouble = chunk_trouble(&m, leaf, data_end, out);
}

static enum hub_status read_group(struct hub_thrift *t, const struct hub_thrift_field *field,
                                  struct hub_parquet *out, uint32_t group, uint64_t data_end,
                                  struct hub_error *err)
{
    int64_t rows = -1;
    uint32_t columns = 0;
    if (!hub_thrift_enter(t, field))
        return hub_fail(err, HUB_CORRUPT, "malformed row group");
    for (struct hub_thrift_field f = {0}; hub_thrift_next(t, &f);) {
        struct hub_thrift_field element;
        if (f.id == 1 && columns == 0) {
            columns = hub_thrift_list(t, &f, &element);
            if (columns != out->leaf_count)
                return hub_fail(err, HUB_CORRUPT, "row group %u has %u columns, the schema %u", group,
                                columns, out->leaf_count);
            for (uint32_t i = 0; i < columns && !hub_thrift_failed(t); i++)
                read_chunk(t, &element, &out->leaves[i], data_end, &out->chunks[(size_t)group * columns + i]);
        } else if (f.id == 3) {
            rows = hub_thrift_int(t, &f);
        } else {
            hub_thrift_skip(t, &f);
        }
    }
    if (hub_thrift_failed(t) || rows < 0 || rows > UINT32_MAX || (columns == 0 && out->leaf_count))
        return hub_fail(err, HUB_CORRUPT, "malformed row group %u", group);
    out->group_rows[group] = (uint64_t)rows;
    out->rows += (uint64_t)rows; /* at most 1e5 times 2^32 */
    return HUB_OK;
}

static enum hub_status read_groups(struct hub_thrift *t, const struct hub_thrift_field *field,
                                   struct hub_parquet *out, uint64_t data_end, struct hub_error *err)
{
    struct hub_thrift_field element;
    const uint32_t count = hub_thrift_list(t, field, &element);
    if (hub_thrift_failed(t) || out->group_rows || !out->leaves)
        return hub_fail(err, HUB_CORRUPT, "malformed row groups");
    if (count > HUB_PARQUET_MAX_GROUPS || (uint64_t)count * out->leaf_count > HUB_PARQUET_MAX_CHUNKS)
        return hub_fail(err, HUB_TOO_BIG, "%u row groups of %u columns", count, out->leaf_count);
    out->group_rows = calloc((size_t)count + 1, sizeof *out->group_rows);
    out->chunks = calloc((size_t)count * out->leaf_count + 1, sizeof *out->chunks);
    HUB_TRY(hub_allocated(out->group_rows && out->chunks, err));
    for (uint32_t i = 0; i < count; i++)
        HUB_TRY(read_group(t, &element, out, i, data_end, err));
    out->group_count = count;
    return HUB_OK;
}

/* It only adds to Parquet's own schema: a damaged one is none. */
static enum hub_status keep_schema(struct hub_view text, struct hub_buf *out, struct hub_error *err)
{
    *out = HUB_BUF_INIT(HUB_PARQUET_MAX_FOOTER);
    const enum hub_status st = hub_base64_decode(text, out, err);
    if (st == HUB_NO_MEMORY)
        return st;
    if (st)
        out->size = 0;
    return HUB_OK;
}

static enum hub_status read_pairs(struct hub_thrift *t, const struct hub_thrift_field *field,
                                  struct hub_parquet *out, struct hub_error *err)
{
    struct hub_thrift_field element;
    const uint32_t count = hub_thrift_list(t, field, &element);
    for (uint32_t i = 0; i < count && hub_thrift_enter(t, &element); i++) {
        struct hub_view text[2] = {HUB_VIEW(""), HUB_VIEW("")};
        for (struct hub_thrift_field f = {0}; hub_thrift_next(t, &f);)
            if ((f.id == 1 || f.id == 2) && f.type == HUB_THRIFT_BINARY) /* fastparquet has numbers there */
                text[f.id - 1] = hub_thrift_binary(t, &f);
            else
                hub_thrift_skip(t, &f);
        if (hub_view_is(text[0], "ARROW:schema") && !out->arrow_schema.size)
            HUB_TRY(keep_schema(text[1], &out->arrow_schema, err));
    }
    return HUB_OK;
}

static enum hub_status read_metadata(struct hub_view text, uint64_t data_end, struct hub_parquet *out,
                                     struct hub_error *err)
{
    struct hub_thrift t = hub_thrift_of(text.data, text.size);
    int64_t rows = -1;
    for (struct hub_thrift_field f = {0}; hub_thrift_next(&t, &f);)
        switch (f.id) {
        case 2:
            HUB_TRY(hub_parquet_read_schema(&t, &f, out, err));
            break;
        case 3:
            rows = hub_thrift_int(&t, &f);
            break;
        case 4:
            HUB_TRY(read_groups(&t, &f, out, data_end, err));
            break;
        case 5:
            HUB_TRY(read_pairs(&t, &f, out, err));
            break;
        case 8:
            return hub_fail(err, HUB_UNSUPPORTED, "encrypted columns");
        default:
            hub_thrift_skip(&t, &f);
        }
    if (hub_thrift_failed(&t) || !out->leaves || !out->group_rows)
        return hub_fail(err, HUB_CORRUPT, "malformed footer");
    if (rows < 0 || (uint64_t)rows != out->rows)
        return hub_fail(err, HUB_CORRUPT, "the footer says %lld rows, the row groups hold %llu",
                        (long long)rows, (unsigned long long)out->rows);
    return HUB_OK;
}

enum hub_status hub_parquet_open(struct hub_byte_source *source, struct hub_parquet *out,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(HUB_PARQUET_MAX_FOOTER);
    uint8_t head[4], tail[8];
    *out = (struct hub_parquet){0};
    if (source->size < 12)
        return hub_fail(err, HUB_CORRUPT, "not a Parquet file: %llu bytes", (unsigned long long)source->size);
    HUB_TRY(hub_byte_source_read(source, 0, head, 4, err));
    HUB_TRY(hub_byte_source_read(source, source->size - 8, tail, 8, err));
    if (memcmp(tail + 4, "PARE", 4) == 0)
        return hub_fail(err, HUB_UNSUPPORTED, "encrypted footer");
    if (memcmp(head, "PAR1", 4) != 0)
        return hub_fail(err, HUB_CORRUPT, "not a Parquet file: no PAR1 at its start");
    if (memcmp(tail + 4, "PAR1", 4) != 0) /* how long it was stood in what is lost */
        return hub_fail(err, HUB_CORRUPT, "the file was cut short: %llu bytes without PAR1 at the end",
                        (unsigned long long)source->size);
    struct hub_cursor c = hub_cursor_of(tail, 4);
    const uint32_t size = hub_cursor_u32(&c);
    if (size > source->size - 12)
        return hub_fail(err, HUB_CORRUPT, "a footer of %u bytes in a file of %llu", size,
                        (unsigned long long)source->size);
    const uint64_t start = source->size - 8 - size;
    HUB_TRY(hub_buf_reserve(&text, size, err));
    HUB_TRY(hub_byte_source_read(source, start, text.data, size, err));
    const enum hub_status st = read_metadata((struct hub_view){text.data, size}, start, out, err);
    if (st)
        hub_parquet_dispose(out);
    return st;
}

void hub_parquet_dispose(struct hub_parquet *parquet)
{
    for (uint32_t i = 0; i < parquet->leaf_count; i++)
        free(parquet->leaves[i].path);
    free(parquet->leaves);
    free(parquet->nodes);
    hub_buf_dispose(&parquet->names);
    free(parquet->group_rows);
    free(parquet->chunks);
    hub_buf_dispose(&parquet->arrow_schema);
    *parquet = (struct hub_parquet){0};
}

uint32_t hub_parquet_find(const struct hub_parquet *parquet, const char *path)
{
    for (uint32_t i = 0; i < parquet->leaf_count; i++)
        if (!parquet->leaves[i].part && strcmp(parquet->leaves[i].path, path) == 0)
            return i;
    return HUB_NONE;
}
