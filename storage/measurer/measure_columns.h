/**
 * Measures of a part on their way into the catalogue: packed columns of its episodes, and texts of
 * its fields, each by name. Of one thread.
 */
#ifndef HUB_MEASURER_MEASURE_COLUMNS_H
#define HUB_MEASURER_MEASURE_COLUMNS_H

#include "storage/episodes/measures.h"
#include "storage/measure/measure.h"

struct hub_named_blob;

struct hub_measure_columns {
    uint32_t episodes; /* values of a column */

    /* inside */
    struct hub_buf fields; /* packed */
    struct hub_named_blob *blobs;
    uint32_t count, capacity;
};

void hub_measure_columns_init(struct hub_measure_columns *columns, uint32_t episodes);
void hub_measure_columns_dispose(struct hub_measure_columns *columns);

/** An empty blob of this name and of what behind it, to be filled before the next one is made. */
HUB_MUST_USE enum hub_status hub_measure_columns_new(struct hub_measure_columns *columns, const char *name,
                                                     const char *of, struct hub_buf **out,
                                                     struct hub_error *err);
/** What a field's values come to, an episode. */
HUB_MUST_USE enum hub_status hub_measure_columns_add_field(struct hub_measure_columns *columns,
                                                           const struct hub_measured_field *field,
                                                           struct hub_error *err);
/** A value for each episode, of a word and a field; NaN is none. */
HUB_MUST_USE enum hub_status hub_measure_columns_add_values(struct hub_measure_columns *columns,
                                                            const char *word, const char *field,
                                                            const struct hub_value *values,
                                                            struct hub_error *err);
/** After all fields: the returns and what else the rewards say of the episodes. */
HUB_MUST_USE enum hub_status hub_measure_columns_add_part(struct hub_measure_columns *columns,
                                                          const struct hub_measured_part *measured,
                                                          struct hub_error *err);
/** The metrics for which a part has to be measured so far, no less and no further. */
HUB_MUST_USE enum hub_status hub_measure_columns_add_metrics(struct hub_measure_columns *columns,
                                                             const struct hub_measured_part *measured,
                                                             enum hub_measured how_far,
                                                             struct hub_error *err);
/** Into the catalogue, as those of the part in this row, with the problems that measuring it met
 * (hub_measures_write). */
HUB_MUST_USE enum hub_status hub_measure_columns_keep(const struct hub_measure_columns *columns,
                                                      struct hub_catalog *catalog, int64_t part_row,
                                                      const struct hub_measured_state *state,
                                                      const struct hub_findings *found,
                                                      struct hub_error *err);

#endif
