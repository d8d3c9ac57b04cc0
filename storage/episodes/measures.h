/**
 * Measures of the episodes of parts (storage/measure): blobs of a part, written together, found by
 * their names and removed with the part. Columns have one cell an episode of the part; the other blobs are
 * opaque here.
 *
 * `jerk`, `return` and what else is measured of whole episodes are columns of these names; sum("F") is the
 * column `sum:F`.
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
    const char *name;
    struct hub_view data;
    /* as hub_measures_pack makes them: kept in runs, so that one episode's cell is near at hand */
    bool is_column;
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

/* ---- columns ---- */

/** Append a column as it is kept: of doubles, where NaN is no value ... */
HUB_MUST_USE enum hub_status hub_measures_pack(const double *values, uint32_t count, struct hub_buf *out,
                                               struct hub_error *err);
/** ... or of 64-bit integers, of which those without a `valid` byte are none. */
HUB_MUST_USE enum hub_status hub_measures_pack_wide(const uint64_t *bits, const uint8_t *valid,
                                                    uint32_t count, bool is_signed, struct hub_buf *out,
                                                    struct hub_error *err);

/** Cells of a run, which is what is read at once. */
#define HUB_MEASURE_RUN 16384
/** One run of a column of one part in memory, counted. */
struct hub_measure_column;
/** The run with this cell, mostly that of hub_dataset_episode.index. Blocking. HUB_NOT_FOUND: it was not
 * measured there. */
HUB_MUST_USE enum hub_status hub_measure_column_get(const struct hub_state *state, uint32_t part,
                                                    struct hub_view name, uint32_t cell,
                                                    struct hub_measure_column **out, struct hub_error *err);
/** Of a cell of this run. False: it has no value. */
bool hub_measure_value(const struct hub_measure_column *column, uint32_t cell, struct hub_value *out);
/** Of NULL: nothing. */
void hub_measure_column_put(struct hub_measure_column *column);

/** What an episode has of a measure, whatever its part: keeps a run of the column at hand. Zeroed at first;
 * of one thread, and of a state that outlives it. */
struct hub_measure_reader {
    const struct hub_state *state;
    struct hub_measure_column *column;
    uint32_t part, run;
    bool at;
    char name[512];
};
/** Its run has the episode. */
static inline bool hub_measure_reader_has(const struct hub_measure_reader *reader,
                                          const struct hub_dataset_episode *episode)
{
    return reader->at && reader->part == episode->part && reader->run == episode->index / HUB_MEASURE_RUN;
}
/** @return HUB_OK with *found false where it was not measured or has none */
HUB_MUST_USE enum hub_status hub_measure_of(struct hub_measure_reader *reader, struct hub_view name,
                                            const struct hub_dataset_episode *episode, struct hub_value *out,
                                            bool *found, struct hub_error *err);
void hub_measure_reader_dispose(struct hub_measure_reader *reader);

#endif
