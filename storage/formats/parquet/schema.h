/* The schema of a Parquet file as its leaves: the part of footer.c that knows about lists, structs and
 * logical types. */
#ifndef HUB_FORMATS_PARQUET_SCHEMA_H
#define HUB_FORMATS_PARQUET_SCHEMA_H

#include "storage/formats/parquet/footer.h"
#include "storage/formats/parquet/thrift.h"

/** Read the list of SchemaElement (field 2 of FileMetaData) and append the leaves to `out`. */
HUB_MUST_USE enum hub_status hub_parquet_read_schema(struct hub_thrift *t,
                                                     const struct hub_thrift_field *field,
                                                     struct hub_parquet *out, struct hub_error *err);

#endif
