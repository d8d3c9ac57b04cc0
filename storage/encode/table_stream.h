/**
 * Tables: a source has columns and reads their rows block by block; a writer turns the blocks into a
 * representation. One stream (table_stream.c) joins the two, in the memory of one block however many rows
 * there are. A column is a field, or a value that is known of each of many things. Of one thread at a time.
 */
#ifndef HUB_ENCODE_TABLE_STREAM_H
#define HUB_ENCODE_TABLE_STREAM_H

#include "storage/read/read.h"
#include "storage/text/json.h"

enum { HUB_STREAM_COLUMNS = 300 };

struct hub_stream_column {
    const char *name;
    enum hub_field_type type;
    struct hub_variant variant; /* of all its rows; text and bytes may come in other sizes, and as VAR */
    bool verbatim;              /* its texts are JSON already */
    bool bare;                  /* one row, without the leading axis */
    bool windowed;              /* `window` rows stand together as one */
    uint32_t window;
    bool apart; /* of writers by column: it has `rows` of its own, not those of the table */
    uint64_t rows;
    bool measured; /* where it is padded to the longest: that has so many characters of text, or bytes */
    uint64_t longest;
};

/** Rows [at, at + rows) of columns [first, first + count). */
struct hub_stream_part {
    uint32_t first, count;
    uint64_t at, rows;   /* the source may read fewer rows, but one: it sets `rows` */
    void *into;          /* of one column: where rows of one size may be put; or NULL */
    struct hub_rows *of; /* each column: set by the source, whose they are, and there until the next read */
};

struct hub_representation;
struct hub_table_stream;
/** Where the rows come from; NULL members: nothing is done there. */
struct hub_stream_source {
    /** Must. */
    enum hub_status (*read)(struct hub_table_stream *table, struct hub_stream_part *part,
                            struct hub_error *err);
    /** Around each run of reads, by whichever thread makes it; `leave` after a failed `enter` too. */
    enum hub_status (*enter)(struct hub_table_stream *table, struct hub_error *err);
    void (*leave)(struct hub_table_stream *table);
    /** May the rows of a column, padded to the longest, take so many bytes? */
    enum hub_status (*pad)(struct hub_table_stream *table, uint32_t column, uint64_t bytes,
                           struct hub_error *err);
    void (*dispose)(struct hub_table_stream *table); /* of all but the memory of the table itself */
};

/** The first member of a source's own struct; zeroed at first. */
struct hub_table_stream {
    /* set by the source: */
    const struct hub_stream_source *source;
    const struct hub_representation *as; /* with a table writer */
    struct hub_stream_column *columns;
    uint32_t count; /* up to HUB_STREAM_COLUMNS */
    uint64_t rows;
    uint64_t block;  /* rows that are read together, at most; 0: as many as fit */
    uint64_t memory; /* that writing it takes; 0: what follows from the sizes of rows */
    bool whole;      /* in one buffer, not in chunks */
    bool one_by_one; /* each column is read when it is written: all of them are too large together */
    enum hub_nonfinite nonfinite;
    const char *head; /* NULL, or members of the document of JSON, before the columns */

    /* inside */
    struct hub_rows *part; /* a block of all columns, or of one */
    uint32_t column;       /* of writers by column: the one that is being written ... */
    uint32_t read_column;  /* ... and the one whose rows `part` has, and which */
    uint64_t read_at, read_rows;
    uint64_t at; /* rows that were written */
    bool begun, open, lengths, complete, ended;
    uint64_t written;      /* bytes of the table so far, and ... */
    struct hub_buf places; /* ... of its batches, for the directory behind them */
    struct hub_npz_writer *zip;
};

/** How a writer takes values whose type is not known before they are read. */
enum hub_stream_cells {
    HUB_CELLS_TYPED, /* all of a column as one type, found out before */
    HUB_CELLS_ARRAY, /* the same, without nulls among integers; the longest text is known before */
    HUB_CELLS_TEXT,
    HUB_CELLS_JSON,
};

/** All append. NULL members: nothing is written there. */
struct hub_stream_writer {
    enum hub_stream_cells cells;
    bool lists; /* lists of documents come so as well: whole, or a line an item */
    enum hub_status (*begin)(struct hub_table_stream *table, struct hub_buf *out, struct hub_error *err);
    /** A block of all columns, of `rows` rows each, which may be changed to little-endian in place. */
    enum hub_status (*rows)(struct hub_table_stream *table, struct hub_rows *columns, uint64_t rows,
                            struct hub_buf *out, struct hub_error *err);
    /** Or, where columns stand one after another: some of table->column, from table->at on, which it moves;
     * behind the last rows, on to the next column. */
    enum hub_status (*column)(struct hub_table_stream *table, struct hub_buf *out, struct hub_error *err);
    enum hub_status (*end)(struct hub_table_stream *table, struct hub_buf *out, struct hub_error *err);
    /** Bytes of all of it, where that is known before. */
    enum hub_status (*length)(const struct hub_table_stream *table, uint64_t *out, struct hub_error *err);
    unsigned growth; /* of rows: a byte of them takes at most so many, and 100 a column */
};

/** Append the next rows of it, until `out` has grown by `enough` bytes or so; table->ended says when it is
 * complete. Blocking, as its source is. */
HUB_MUST_USE enum hub_status hub_table_stream_more(struct hub_table_stream *table, size_t enough,
                                                   struct hub_buf *out, struct hub_error *err);
/** All of one that has not begun. */
HUB_MUST_USE enum hub_status hub_table_stream_write(struct hub_table_stream *table, struct hub_buf *out,
                                                    struct hub_error *err);
/** To its start. */
void hub_table_stream_rewind(struct hub_table_stream *table);
/** What it holds, and by its source what that holds. */
void hub_table_stream_dispose(struct hub_table_stream *table);
/** The same of one on the heap, and its memory. */
void hub_table_stream_free(struct hub_table_stream *table);
void hub_table_stream_freep(struct hub_table_stream **table);
/** Bytes of all of it; UINT64_MAX: they are not known before. */
HUB_MUST_USE enum hub_status hub_table_stream_length(const struct hub_table_stream *table, uint64_t *out,
                                                     struct hub_error *err);
/** Bytes of a row of a column as it is read; a guess where lengths vary. */
uint64_t hub_table_stream_row_bytes(const struct hub_stream_column *column);
/** Bytes of a row as it is read, a guess where lengths vary, and at most as it is written; of writers by
 * column those of the largest column. */
uint64_t hub_table_stream_row_read(const struct hub_table_stream *table);
uint64_t hub_table_stream_row_written(const struct hub_table_stream *table);
/** Bytes of memory that writing it takes, besides one chunk of it. */
uint64_t hub_table_stream_memory(const struct hub_table_stream *table);
/** It has more than `bytes` bytes, whatever its rows are. */
bool hub_table_stream_is_longer(const struct hub_table_stream *table, uint64_t bytes);

/** Find the longest text or run of bytes of a column, where padding needs it: all of them are read. */
HUB_MUST_USE enum hub_status hub_table_stream_measure(struct hub_table_stream *table, uint32_t column,
                                                      struct hub_error *err);

/** How many rows of so many bytes each are read together for a writer of rows. */
uint64_t hub_table_stream_fitting_rows(const struct hub_representation *as, uint64_t row_bytes);

/* ---- within writers by column ---- */

uint64_t hub_table_stream_column_rows(const struct hub_table_stream *table, uint32_t column);
/** How many rows of a column are read together. */
uint64_t hub_table_stream_block_rows(const struct hub_table_stream *table, uint32_t column);
/** Up to `most` rows of a column from table->at on: table->part has them, and table->read_rows says how many.
 * `into` may be NULL. */
HUB_MUST_USE enum hub_status hub_table_stream_read(struct hub_table_stream *table, uint32_t column,
                                                   uint64_t most, void *into, struct hub_error *err);
void hub_table_stream_next_column(struct hub_table_stream *table);

#endif
