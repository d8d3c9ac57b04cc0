/**
 * A column of a Parquet file on its way to a layout: the pages of its row groups, and what its rows are.
 */
#ifndef HUB_FORMATS_PARQUET_COLUMN_H
#define HUB_FORMATS_PARQUET_COLUMN_H

#include "storage/formats/parquet/json.h"

struct hub_parquet_column {
    struct hub_parquet_pages *groups; /* by row group; those without rows stay empty */
    uint32_t count;
    struct hub_parquet_shape shape;
    enum hub_field_type type;
    bool items;                  /* its rows are the items of the lists */
    bool json;                   /* its rows are in `texts` */
    struct hub_extent **extents; /* NULL, or by row group: NULL, or where each of its rows lies in the file */
    struct hub_parquet_texts texts;
    struct hub_variant variant; /* of lists without a row to tell, the dims are 0: `shape.known` says */
};

/** Walk the pages of a leaf and find out what its rows are; says why they cannot be read. */
HUB_MUST_USE enum hub_status hub_parquet_column_read(const struct hub_parquet *parquet, uint32_t leaf,
                                                     struct hub_parquet_decoder *d,
                                                     struct hub_parquet_column *out, struct hub_error *err);
/** The same of lists whose rows are their items, one behind the other: the items of row i are offsets[i] up
 * to offsets[i + 1] (room for parquet->rows + 1). HUB_UNSUPPORTED where one is empty or null. */
HUB_MUST_USE enum hub_status hub_parquet_items_read(const struct hub_parquet *parquet, uint32_t leaf,
                                                    struct hub_parquet_decoder *d, uint64_t *offsets,
                                                    struct hub_parquet_column *out, struct hub_error *err);
/** Numbers of the rows of a column that was read, `count` of them, a NULL there is NAN or 0. */
HUB_MUST_USE enum hub_status hub_parquet_column_numbers(const struct hub_parquet_column *column,
                                                        const struct hub_parquet_leaf *leaf,
                                                        struct hub_parquet_decoder *d, uint64_t count,
                                                        double *out, struct hub_error *err);
/** Add its pieces, one a row group, to the array that was begun last. */
HUB_MUST_USE enum hub_status hub_parquet_column_lay_out(struct hub_parquet_column *column,
                                                        const struct hub_parquet *parquet, uint32_t file,
                                                        struct hub_layout_builder *builder,
                                                        struct hub_error *err);
void hub_parquet_column_dispose(struct hub_parquet_column *column);

#endif
