/**
 * Arrow IPC (https://arrow.apache.org/docs/format/Columnar.html), file and stream format, for inspection:
 * what columns there are, and where their rows lie. The batches of several files of one schema are one table.
 * Every count is bounded and every buffer proven to lie inside its file. Serving reads the same buffers from
 * the layout alone: in place where they can be, compressed ones and packed booleans as pages, and what holds
 * nulls as a page of side data.
 *
 * Not read, and said by name in `trouble`: dictionaries, unions, maps, views, run-end encoding, decimals,
 * intervals. Lists of structs, of texts or of bytes are JSON, and so are lists of different lengths but for
 * plain numbers.
 */
#ifndef HUB_FORMATS_ARROW_H
#define HUB_FORMATS_ARROW_H

#include "storage/formats/source.h"

enum {
    HUB_ARROW_MAX_FIELDS = 10000,
    HUB_ARROW_MAX_DEPTH = 16,
    HUB_ARROW_MAX_BATCHES = 1000000,
    HUB_ARROW_MAX_BUFFERS = 8000000, /* of all batches */
};
#define HUB_ARROW_MAX_METADATA (64 * MIB) /* of one message */

/** Numbers of Schema.fbs Type. */
enum hub_arrow_type {
    HUB_ARROW_NULL = 1,
    HUB_ARROW_INT,
    HUB_ARROW_FLOAT,
    HUB_ARROW_BINARY,
    HUB_ARROW_UTF8,
    HUB_ARROW_BOOL,
    HUB_ARROW_DECIMAL,
    HUB_ARROW_DATE,
    HUB_ARROW_TIME,
    HUB_ARROW_TIMESTAMP,
    HUB_ARROW_INTERVAL,
    HUB_ARROW_LIST,
    HUB_ARROW_STRUCT,
    HUB_ARROW_UNION,
    HUB_ARROW_FIXED_BINARY,
    HUB_ARROW_FIXED_LIST,
    HUB_ARROW_MAP,
    HUB_ARROW_DURATION,
    HUB_ARROW_LARGE_BINARY,
    HUB_ARROW_LARGE_UTF8,
    HUB_ARROW_LARGE_LIST,
    HUB_ARROW_RUN_END,
    HUB_ARROW_BINARY_VIEW,
    HUB_ARROW_UTF8_VIEW,
    HUB_ARROW_LIST_VIEW,
    HUB_ARROW_LARGE_LIST_VIEW,
};

/** A field of the schema. They stand in the order of the tree, children behind their parent. */
struct hub_arrow_field {
    char *name;
    char *shape;             /* of its metadata: trailing dims as Minari notes them, "2,3"; or NULL */
    const char *trouble;     /* NULL, or why neither it nor what is below can be read: static text */
    struct hub_variant item; /* numbers and booleans: one of them */
    uint32_t parent;         /* HUB_NONE: a column */
    uint32_t children, end;  /* how many; where the next field that is not below it stands */
    uint32_t node, buffer;   /* its first among a batch's */
    uint32_t width;          /* FIXED_LIST: items of a row; FIXED_BINARY: bytes; UNION: buffers */
    uint8_t type;            /* enum hub_arrow_type */
};

struct hub_arrow_node {
    uint64_t rows, nulls;
};

struct hub_arrow_buffer {
    uint64_t offset, size; /* in the batch's file */
};

struct hub_arrow_batch {
    uint64_t first_row, rows;
    uint32_t file;
    uint32_t nodes, buffers; /* its first */
    uint8_t codec;           /* enum hub_page_codec; not PLAIN: each buffer behind 8 bytes of its length */
};

/** What a reader sees of the schema: a leaf that has rows. */
struct hub_arrow_column {
    char *path; /* names of the structs it is in and its own, behind '/'; lists add nothing */
    uint32_t top, leaf;
    const char *trouble; /* NULL, or static text */
};

struct hub_arrow {
    struct hub_byte_source source; /* of the file read last */
    struct hub_arrow_field *fields;
    uint32_t field_count, field_capacity, node_count, buffer_count; /* the last two: of a batch */
    struct hub_arrow_column *columns;
    uint32_t column_count, column_capacity;
    struct hub_arrow_batch *batches;
    struct hub_arrow_node *nodes;
    struct hub_arrow_buffer *buffers;
    uint32_t batch_count, batch_capacity, nodes_used, node_capacity, buffers_used, buffer_capacity;
    uint64_t rows;
    struct hub_buf stored, plain; /* a compressed buffer, and what it holds */
    uint64_t plain_at;            /* its offset, where it is still there */
};

/** The batches of the first file, or of one more, which must have the same schema. HUB_CORRUPT,
 * HUB_UNSUPPORTED, HUB_TOO_BIG; then the table is as it was, but for the first file. */
HUB_MUST_USE enum hub_status hub_arrow_add(struct hub_arrow *arrow, const struct hub_byte_source *source,
                                           struct hub_error *err);
void hub_arrow_dispose(struct hub_arrow *arrow);
/** The column of this path, or HUB_NONE. */
uint32_t hub_arrow_find(const struct hub_arrow *arrow, const char *path);

/** The schema alone, of a message's bytes: Parquet files keep it beside their own. */
HUB_MUST_USE enum hub_status hub_arrow_schema_message(struct hub_arrow *arrow, const void *data, size_t size,
                                                      struct hub_error *err);

/* ---- rows.c ---- */

/** The rows of a column, on their way to a layout. */
struct hub_arrow_rows {
    uint32_t column;
    bool inner;     /* rows are the items of its outermost list: each row of the table is an episode */
    uint64_t limit; /* table rows that count: those behind are padding */
    uint64_t rows, nulls;
    enum hub_field_type type;
    struct hub_variant variant;
    bool sequences; /* lists of numbers, of different lengths */
    bool json;      /* each row is a text of JSON, as of lists of structs */
};

/** Find out what the rows are: `column`, `inner` and `limit` are given. Says why they cannot be read. */
HUB_MUST_USE enum hub_status hub_arrow_describe(struct hub_arrow *arrow, struct hub_arrow_rows *rows,
                                                struct hub_error *err);
/** Add their pieces to the array that was begun last. `files`: for side data. */
HUB_MUST_USE enum hub_status hub_arrow_lay_out(struct hub_arrow *arrow, const struct hub_arrow_rows *rows,
                                               struct hub_files *files, struct hub_layout_builder *builder,
                                               struct hub_error *err);
/** Is the column one whose rows are lists (not of a fixed length)? */
bool hub_arrow_is_list(const struct hub_arrow *arrow, uint32_t column);
/** Where the items of each row's list begin among all, `arrow->rows` + 1 numbers. */
HUB_MUST_USE enum hub_status hub_arrow_offsets(struct hub_arrow *arrow, uint32_t column, uint64_t *out,
                                               struct hub_error *err);
/** The single numbers or booleans of a column (with `inner`, of all its lists): `rows->rows` of them. Nulls
 * are NAN. */
HUB_MUST_USE enum hub_status hub_arrow_numbers(struct hub_arrow *arrow, const struct hub_arrow_rows *rows,
                                               double *out, struct hub_error *err);

#endif
