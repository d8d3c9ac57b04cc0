/**
 * What opening, checking and building a layout share and nobody else needs: the magic and the size of a
 * table's entries.
 */
#ifndef HUB_MODEL_LAYOUT_TABLE_H
#define HUB_MODEL_LAYOUT_TABLE_H

#include "storage/model/layout.h"

#define HUB_LAYOUT_MAGIC "HLY1"
#define HUB_MAX_ROWS                                                                                         \
    (UINT64_C(1) << 48) /* of an array: far above anything stored, far below any overflow                    \
                         */

extern const uint32_t hub_layout_entry_bytes[HUB_T_COUNT];

#endif
