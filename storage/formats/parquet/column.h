/**
 * A column of a Parquet file on its way to a layout: the pages of its row groups, and what its rows are.
 */
#ifndef HUB_FORMATS_PARQUET_COLUMN_H
#define HUB_FORMATS_PARQUET_COLUMN_H

#include "storage/formats/parquet/decode.h"

struct hub_parquet_column {
    struct hub_parquet_pages *groups; /* by row group; those without rows stay empty */
    uint32_t count;
    struct hub_parquet_shape shape;
    enum hub_field_type type;
    struct hub_variant variant; /* of lists without a row to tell, the dims are 0: `shape.known` says */
};

/** Walk the pages of a leaf and find out what its rows are; says why they cannot be read. */
HUB_MUST_USE enum hub_status hub_parquet_column_read(const struct hub_parquet *parquet, uint32_t leaf,
                                                     struct hub_parquet_decoder *d,
                                                     struct hub_parquet_column *out, struct hub_error *err);
/** Add its pieces, one a row group, to the array that was begun last. */
HUB_MUST_USE enum hub_status hub_parquet_column_place(struct hub_parquet_column *column,
                                                      const struct hub_parquet *parquet, uint32_t file,
                                                      struct hub_layout_builder *builder,
                                                      struct hub_error *err);
void hub_parquet_column_dispose(struct hub_parquet_column *column);

#endif
