/** Rows of many episodes, or long ones of one, as the source of a table (storage/encode/table_stream.h). */
#ifndef HUB_ROWS_TABLE_ROWS_H
#define HUB_ROWS_TABLE_ROWS_H

#include "storage/rows/row_reader.h"

struct hub_row_table {
    struct hub_table_stream table; /* first */
    struct hub_row_reader reading; /* its columns are the table's, but for hidden ones */
    char *names;                   /* owned: what the names of columns lie in, or NULL */
    struct hub_stream_column columns[HUB_MAX_SELECTED + 1];
    uint32_t of[HUB_MAX_SELECTED + 1]; /* of each: in the reading */
};

/** On the heap; `reading` is the caller's to set. To be freed by hub_table_stream_free. */
HUB_MUST_USE enum hub_status hub_row_table_new(const struct hub_rows_context *context,
                                               const struct hub_representation *as,
                                               struct hub_row_table **out, struct hub_error *err);
/** Whether a column of the reading, which was looked at, may stand in the table: where rows are padded to the
 * longest, all of them are read. Blocking. HUB_TOO_BIG "too-large"; HUB_CANCELLED. */
HUB_MUST_USE enum hub_status hub_row_table_measure(struct hub_row_table *table, uint32_t column,
                                                   struct hub_error *err);
/** Set the columns, once those of the reading are final. */
void hub_row_table_set_columns(struct hub_row_table *table);

#endif
