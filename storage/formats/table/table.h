/**
 * One file of columns, Arrow IPC or Parquet by its first bytes: what its rows are and where they lie, the
 * same questions for both.
 */
#ifndef HUB_FORMATS_TABLE_H
#define HUB_FORMATS_TABLE_H

#include "storage/formats/arrow/arrow.h"
#include "storage/formats/parquet/column.h"

struct hub_table {
    struct hub_byte_source source;
    bool is_parquet;
    struct hub_arrow arrow; /* of Parquet: the schema beside its own, where there is one */
    struct hub_parquet parquet;
    struct hub_parquet_decoder decoder;
    uint64_t rows;
    uint32_t count; /* columns; those that are only a part of another have no path */
};

/** The rows of a column on their way to a layout. */
struct hub_table_column {
    uint32_t index;
    uint64_t rows, nulls;
    enum hub_field_type type;
    struct hub_variant variant;
    bool unshaped; /* refused for its lists' shape alone, which no row tells: their dims are 0 */
    struct hub_arrow_rows arrow;
    struct hub_parquet_column parquet;
};

/** HUB_CORRUPT, HUB_UNSUPPORTED, HUB_TOO_BIG, or what hub_byte_source_usable says; to be disposed of whatever
 * it says. */
HUB_MUST_USE enum hub_status hub_table_open(struct hub_files *files, uint32_t number, struct hub_table *out,
                                            struct hub_error *err);
/** The same of a file that is to be Parquet, without the schema that Arrow's writers keep beside its own. */
HUB_MUST_USE enum hub_status hub_table_open_parquet(struct hub_files *files, uint32_t number,
                                                    struct hub_table *out, struct hub_error *err);
void hub_table_dispose(struct hub_table *table);
/** Have a table of Parquet be `count` row groups of `whole` alone, which is what it was; says which row they
 * begin with. To be given back all of them before it is disposed of. */
uint64_t hub_table_narrow(struct hub_table *table, const struct hub_parquet *whole, uint32_t first,
                          uint32_t count);

/** NULL: no column of its own. */
const char *hub_table_path(const struct hub_table *table, uint32_t index);
/** The index of a path, or HUB_NONE. */
uint32_t hub_table_find(const struct hub_table *table, const char *path);
/** The trailing shape its writer noted, "2,3", or NULL. */
const char *hub_table_shape(const struct hub_table *table, uint32_t index);

/** Are the rows of a column lists, in Arrow of no fixed length? */
bool hub_table_is_list(const struct hub_table *table, uint32_t index);

/** Find out what the rows are; those behind the first `limit` are padding. Says why they cannot be read; to
 * be disposed of whatever it says. */
HUB_MUST_USE enum hub_status hub_table_read(struct hub_table *table, uint32_t index, uint64_t limit,
                                            struct hub_table_column *out, struct hub_error *err);
/** The same of lists whose rows are their items, one behind the other: the items of row i are offsets[i] up
 * to offsets[i + 1] (room for table->rows + 1). What is no list has an item a row. */
HUB_MUST_USE enum hub_status hub_table_items_read(struct hub_table *table, uint32_t index, uint64_t *offsets,
                                                  struct hub_table_column *out, struct hub_error *err);
void hub_table_column_dispose(struct hub_table_column *column);
/** Begin an array, which `variant` may give another trailing shape, and put the rows there. */
HUB_MUST_USE enum hub_status hub_table_lay_out(struct hub_table *table, struct hub_table_column *column,
                                               struct hub_files *files, struct hub_layout_builder *builder,
                                               uint32_t *array, struct hub_error *err);
/** The numbers of a column of single ones, a NULL there is NAN or 0; with `offsets` of the items of its
 * lists, as hub_table_items_read has it. The caller frees them. NULL: there are none, more than `most`, or
 * they cannot be read, as its field says. */
HUB_MUST_USE enum hub_status hub_table_numbers(struct hub_table *table, const char *path, uint64_t *offsets,
                                               uint64_t most, double **out, struct hub_error *err);

#endif
