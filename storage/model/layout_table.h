/**
 * What opening, checking and building a layout share: the magic, the size of a table's entries, and what may
 * be in one.
 */
#ifndef HUB_MODEL_LAYOUT_TABLE_H
#define HUB_MODEL_LAYOUT_TABLE_H

#include "storage/model/layout.h"

#define HUB_LAYOUT_MAGIC "HLY1"
/* Rows of an array: far above anything stored, far below any overflow. */
#define HUB_MAX_ROWS (UINT64_C(1) << 48)

extern const uint32_t hub_layout_entry_bytes[HUB_T_COUNT];

/** Can a chunk that decodes to `chunk_bytes` be stored in so many bytes? Without a filter that changes
 * lengths its stored size is known. */
bool hub_layout_stored_size_fits(const struct hub_pipeline *pipeline, const struct hub_chunk *chunk,
                                 uint64_t chunk_bytes);

#endif
