/** A value inside rows of JSON: shared by json_rows.c, which reads them, and json_fields.c, which makes
 * fields of them. */
#ifndef HUB_FORMATS_JSON_LEAF_H
#define HUB_FORMATS_JSON_LEAF_H

#include "storage/formats/kit/json_rows.h"

#define HUB_MOST_NARROW 16777216.0 /* 2^24 */

/* The rows of an episode, as they lie in the side data. */
struct hub_json_run {
    uint32_t episode;
    struct hub_variant variant;
    uint64_t rows, offset;
    double most; /* the largest magnitude */
};

struct hub_json_refusal {
    uint32_t episode;
    char why[48];
};

/* A value, by its path below the column's. */
struct hub_json_leaf {
    char *path;
    /* of the episode that is read */
    bool seen, inner; /* inner: in a row between the first and the last one */
    enum hub_json_number kind;
    uint32_t rank, dims[HUB_MAX_RANK], count;
    uint64_t filled; /* rows that `items` has */
    union hub_json_item *items;
    char why[48]; /* it cannot be read */
    /* of the part */
    bool too_much; /* some episode has more numbers than may be kept */
    struct hub_json_run *runs;
    uint32_t run_count, run_capacity;
    struct hub_json_refusal *refusals;
    uint32_t refusal_count, refusal_capacity;
};

/** Its rows in this episode cannot be read. */
HUB_MUST_USE enum hub_status hub_json_leaf_refuse(struct hub_json_leaf *leaf, uint32_t episode,
                                                  const char *why, struct hub_error *err);

#endif
