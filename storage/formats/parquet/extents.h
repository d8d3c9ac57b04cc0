/** Where large values lie, when a reader can take them from the file without decoding a page. */
#ifndef HUB_FORMATS_PARQUET_EXTENTS_H
#define HUB_FORMATS_PARQUET_EXTENTS_H

#include "storage/formats/parquet/decode.h"

/**
 * Where the values of a chunk lie in the file, when they lie there as they are and are large: none is null,
 * none is compressed, their lengths stand before them. Of at most 65,536 values with one decoder: each
 * costs a read.
 *
 * @param[out] extents  one a value, the caller's to free, or NULL: read the pages
 */
HUB_MUST_USE enum hub_status hub_parquet_extents(struct hub_parquet_decoder *d,
                                                 const struct hub_parquet_pages *pages,
                                                 struct hub_extent **extents, struct hub_error *err);

#endif
