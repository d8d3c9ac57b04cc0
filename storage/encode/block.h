/**
 * Tables that are written a block of rows after another, in the memory of one block however many there are. A
 * column is a field: of csv it may be several. Pure functions, safe from any thread.
 */
#ifndef HUB_ENCODE_BLOCK_H
#define HUB_ENCODE_BLOCK_H

#include "storage/read/read.h"
#include "storage/text/json.h"

enum { HUB_BLOCK_COLUMNS = 300 };

struct hub_block_column {
    const char *name;
    enum hub_field_type type;
    struct hub_variant variant; /* of all its rows; text and bytes may come in other sizes, and as VAR */
    bool windowed;              /* of arrow alone: so many of its rows stand together as one: */
    uint32_t window;
};

/** What a writer keeps of the blocks that it wrote, where its table ends with a directory of them: the
 * caller's, zeroed before the first block. */
struct hub_block_trail {
    uint64_t written;      /* bytes of the table so far */
    struct hub_buf blocks; /* their places, as the directory has them */
};

static inline void hub_block_trail_dispose(struct hub_block_trail *trail)
{
    hub_buf_dispose(&trail->blocks);
    *trail = (struct hub_block_trail){0};
}

struct hub_block_table {
    const struct hub_block_column *columns;
    uint32_t count; /* up to HUB_BLOCK_COLUMNS */
    enum hub_nonfinite nonfinite;
    /** NULL, or of arrow: reads a column just before it is written; its rows are disposed of behind that. */
    enum hub_status (*read)(void *user, uint32_t column, struct hub_rows *rows, struct hub_error *err);
    void *user;
    struct hub_block_trail *trail;
};

/** All append. NULL members: nothing is written there. */
struct hub_block_writer {
    enum hub_status (*begin)(const struct hub_block_table *table, struct hub_buf *out, struct hub_error *err);
    /** Must. `columns`, one a column of `rows` rows each, may be turned round in place. */
    enum hub_status (*rows)(const struct hub_block_table *table, struct hub_rows *columns, uint64_t rows,
                            struct hub_buf *out, struct hub_error *err);
    enum hub_status (*end)(const struct hub_block_table *table, struct hub_buf *out, struct hub_error *err);
};

/** As RFC 4180 has it: in quotes where it has to be. */
HUB_MUST_USE enum hub_status hub_csv_text(struct hub_view text, struct hub_buf *out, struct hub_error *err);

#endif
