/** What the files of measuring share: who measures, what is wanted of it, and one dataset's measuring. */
#ifndef HUB_MEASURER_MEASURE_STATE_H
#define HUB_MEASURER_MEASURE_STATE_H

#include "storage/base/thread.h"
#include "storage/episodes/measures.h"
#include "storage/io/fetch.h"
#include "storage/measure/ends.h"
#include "storage/measurer/measure_turn.h"

enum { HUB_MEASURE_WANTED = 64, HUB_MEASURE_WAITS = 1024, HUB_MEASURE_ID = 1024 };

/** What somebody asked for: all of a dataset, the histogram of a field, or a row of it. */
struct hub_measure_wanted {
    char id[HUB_MEASURE_ID], field[512];
    uint32_t bins; /* 0: no histogram */
    bool row;      /* `end` */
    struct hub_row_end end;
};

/** A request that waits until more of a dataset is measured. */
struct hub_measure_wait {
    uint64_t id; /* of the dataset: a hash; of two with the same both end */
    struct hub_file_fetch *fetch;
};

struct hub_measurer {
    struct hub_measure_turn turn; /* the thread's own, but for `stop` */
    struct hub_thread thread;
    struct hub_measure_wanted wanted[HUB_MEASURE_WANTED]; /* the last one is next */
    unsigned wanted_count;
    struct hub_measure_wanted current; /* or an empty id */
    uint64_t done, of;                 /* parts of it */
    int64_t started_ms;
    struct hub_measure_wait waits[HUB_MEASURE_WAITS];
    unsigned wait_count;
    bool stopped;   /* nobody may wait any more */
    bool preempted; /* another was wanted since this one was chosen */

    /* the thread's own */
    uint64_t generation; /* of the snapshot that the last pass went over */
    int64_t since_ms, retry_ms;
    bool through;
    bool yielded; /* the last dataset is not through: another is wanted first */
};

/** Measure a dataset, as far as it is not, count its histogram, or read first or last rows. */
HUB_MUST_USE enum hub_status hub_measure_dataset(struct hub_measurer *m, const struct hub_summary *summary,
                                                 enum hub_measured how_far, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_measure_histograms(struct hub_measurer *m, const struct hub_summary *summary,
                                                    const struct hub_measure_wanted *wanted,
                                                    struct hub_error *err);

HUB_MUST_USE enum hub_status hub_measure_rows(struct hub_measurer *m, const struct hub_summary *summary,
                                              const struct hub_measure_wanted *wanted, struct hub_error *err);

/** Whether another dataset was wanted since this one began: it goes first, between two parts of this one. */
bool hub_measure_yields(struct hub_measurer *m);
/** End the waits for this dataset, of which more is measured; NULL: end all waits and admit no more. */
void hub_measure_wake(struct hub_measurer *m, const char *id);

#endif
