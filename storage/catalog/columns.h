/**
 * The columns of a part's episodes: blobs of HUB_COLUMNS_ROWS rows each, read in place.
 *
 *   blob = count, size of the texts (32 bits each), rows, texts
 */
#ifndef HUB_CATALOG_COLUMNS_H
#define HUB_CATALOG_COLUMNS_H

#include "storage/catalog/blobs.h"
#include "storage/model/findings.h"

enum { HUB_COLUMNS_ROWS = 4096 };

struct hub_columns {
    uint32_t count;
    const char *rows, *texts;
};

HUB_MUST_USE enum hub_status hub_columns_write(struct hub_db *db, int64_t part,
                                               const struct hub_findings *found, struct hub_error *err);
/** False: it makes no sense. */
bool hub_columns_open(struct hub_view blob, struct hub_columns *out);
/** Texts point into the blob. */
void hub_columns_get(const struct hub_columns *columns, uint32_t row, struct hub_found_episode *out);
/** The name of the blob in which an episode of a part lies. */
void hub_columns_name(uint32_t episode, char name[16]);

#endif
