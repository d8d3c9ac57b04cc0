/**
 * Measures of the episodes of parts (storage/measure): blobs of a part, written together, found by
 * their names and removed with the part. Columns (column_cursor.h) have one cell an episode of the part; the
 * other blobs are opaque here.
 */
#ifndef HUB_EPISODES_MEASURES_H
#define HUB_EPISODES_MEASURES_H

#include "storage/catalog/dataset.h"
#include "storage/catalog/measure_failures.h"
#include "storage/model/findings.h"
#include "storage/model/problem.h"

/** Of one part. `stamp` grows with each writing; 0: there was none. */
struct hub_measured_state {
    enum hub_measured how_far;
    uint64_t stamp;
    uint64_t ranges; /* what HUB_MEASURED_ALL was measured with, as a number that the measurer knows */
    enum hub_measured failed;           /* it could not be measured so far: hub_measures_fail */
    struct hub_lost rewards_lost, lost; /* of rewards; of any field */
};
/** Of all parts of a dataset, by part; to be freed. Blocking. */
HUB_MUST_USE enum hub_status hub_measures_states(const struct hub_state *state,
                                                 struct hub_measured_state **out, struct hub_error *err);

struct hub_measure_blob {
    const char
        *name; /* of a run of a column as hub_column_name has it, which begins with a digit, or another */
    struct hub_view data;
};
/** Write them together, in place of those of the same names, beside the others; the problems of `found` are
 * then those that measuring the part met (NULL: they stay as they are), and problems of its dataset.
 * HUB_NOT_FOUND: the part is gone. */
HUB_MUST_USE enum hub_status hub_measures_write(struct hub_catalog *catalog, int64_t part,
                                                const struct hub_measured_state *state,
                                                const struct hub_measure_blob *blobs, uint32_t count,
                                                const struct hub_findings *found, struct hub_error *err);
/** How often any were written since the start: what is derived from them is as old as this number. */
uint64_t hub_measures_generation(const struct hub_catalog *catalog);
/** Rows of the datasets with a part that is not as far, ascending; to be freed. */
HUB_MUST_USE enum hub_status hub_measures_due(struct hub_catalog *catalog, enum hub_measured how_far,
                                              int64_t **rows, uint32_t *count, struct hub_error *err);
/** How many parts there are, and how many are as far. */
HUB_MUST_USE enum hub_status hub_measures_count(struct hub_catalog *catalog, enum hub_measured how_far,
                                                uint64_t *parts, uint64_t *done, struct hub_error *err);

/** A blob of a part into `out`. HUB_NOT_FOUND. */
HUB_MUST_USE enum hub_status hub_measures_read(const struct hub_state *state, uint32_t part, const char *name,
                                               struct hub_buf *out, struct hub_error *err);

/** When it was written last; 0: there was none. */
HUB_MUST_USE enum hub_status hub_measures_stamp(const struct hub_state *state, uint32_t part, uint64_t *out,
                                                struct hub_error *err);

#endif
