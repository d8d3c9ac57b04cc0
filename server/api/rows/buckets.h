/** Curves: GET …/episodes/{n}/{field}?buckets= and …/episodes/{n}?fields=&buckets=, see
 * storage/measure/buckets.h. */
#ifndef HUB_API_ROWS_BUCKETS_H
#define HUB_API_ROWS_BUCKETS_H

#include "server/api/episodes/episode_selection.h"
#include "storage/measure/buckets.h"
#include "storage/measure/numbers.h"

/** One field of the answer. */
struct hub_curve {
    const struct hub_dataset_field *field;
    struct hub_selected_field *selected; /* all its rows */
    uint64_t rows;                       /* in this episode */
    char dtype[24];
    uint32_t dims[HUB_BUCKETS_DIMS]; /* that are asked for */
    struct hub_buckets buckets;
    struct hub_kept_level *level; /* NULL, or it is had from this */
};

/** An answer, whole. */
struct hub_curves {
    struct hub_target target;
    struct hub_selection selection;
    const char *leaf;            /* of a row of JSON, or NULL */
    bool single, raw, wide;      /* wide: float64 in raw */
    size_t prefix;               /* bytes of a group's path that names leave out */
    struct hub_bucket_grid grid; /* of the longest field; others have nothing in its last bucket */
    struct hub_curve *curves;
    uint32_t count;
    enum hub_buckets_of of;
    json_t *dimensions; /* what they are called, for a document (hub_dimensions_put) */
};

/** Fold all curves, spread over the request's helpers. */
HUB_MUST_USE enum hub_status hub_curves_fold(struct hub_request *request, struct hub_response *response,
                                             struct hub_curves *curves, struct hub_error *err);
/** The document, or little-endian numbers with X-Shape and X-Dtype. */
HUB_MUST_USE enum hub_status hub_curves_write(const struct hub_curves *curves, struct hub_response *response,
                                              struct hub_error *err);

#endif
