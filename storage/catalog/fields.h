/** The fields of a part as the index keeps them, and of all parts together. */
#ifndef HUB_CATALOG_FIELDS_H
#define HUB_CATALOG_FIELDS_H

#include "storage/catalog/blobs.h"
#include "storage/model/findings.h"

#include <stdio.h>

#define HUB_DIMS_VARIES UINT32_MAX

/** Element type and trailing shape as far as all variants agree. */
struct hub_shape {
    char dtype[24]; /* "": no rows yet */
    bool known;     /* ranks agree */
    uint32_t rank;
    uint32_t dims[HUB_MAX_RANK]; /* HUB_DIMS_VARIES */
};

/** A field of a part, or of the parts so far. */
struct hub_kept_field {
    char *path, *unreadable;
    enum hub_field_type type;
    enum hub_role role;
    enum hub_axis axis;
    uint32_t episodes; /* that have it */
    bool readable;     /* in one part at least */
    struct hub_shape shape;
};

/** Texts and all are of one allocation. Zero it first. */
struct hub_fields {
    struct hub_kept_field *items;
    uint32_t count;
};

/** The name of the blob of windows of that number. */
#define HUB_WINDOWS_NAME 16
static inline void hub_windows_name(uint32_t number, char name[HUB_WINDOWS_NAME])
{
    snprintf(name, HUB_WINDOWS_NAME, "%u", number);
}

void hub_shape_add(struct hub_shape *shape, const struct hub_shape *more);
/** With their layouts. */
HUB_MUST_USE enum hub_status hub_fields_write(struct hub_db *db, int64_t part,
                                              const struct hub_findings *found, struct hub_error *err);
/** HUB_NOT_FOUND: the part is gone. */
HUB_MUST_USE enum hub_status hub_fields_read(struct hub_catalog *catalog, struct hub_db *db, int64_t part,
                                             struct hub_fields *out, struct hub_error *err);
void hub_fields_dispose(struct hub_fields *fields);

#endif
