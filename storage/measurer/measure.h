/**
 * Measuring behind a serving hub (measure.c): what the numbers of every part come to, kept in the index
 * beside it. One thread, of the lowest priority. Every function is safe from any thread, and takes NULL
 * where measuring is off.
 */
#ifndef HUB_MEASURER_MEASURE_H
#define HUB_MEASURER_MEASURE_H

#include "storage/scan/scan.h"

struct hub_measurer;

struct hub_measurer_options {
    struct hub_catalog *catalog;
    struct hub_store *store;
    bool idle; /* all that is there, while no request waits; else rewards, and what is wanted */
    /** Does a request wait at this moment? And how many have come since the start. NULL: there are none. */
    bool (*requests)(void *user, uint64_t *served);
    /** Rows of a part cannot be decoded: once, when that is found. NULL: nobody asks. */
    void (*lost)(void *user, const char *dataset, const struct hub_found_problem *problem);
    void *user;
    /** Memory of requests that is used meanwhile; false: there is none now. NULL: it is not counted. */
    bool (*take)(void *memory, uint64_t bytes);
    void (*give)(void *memory, uint64_t bytes);
    void *memory;
};

HUB_MUST_USE enum hub_status hub_measurer_start(const struct hub_measurer_options *options,
                                                struct hub_measurer **out, struct hub_error *err);
/** End its thread and all waits: nothing is measured any more. Before what the options name is closed. */
void hub_measurer_stop(struct hub_measurer *measurer);
/** Free a stopped one, once no thread uses it any more. */
void hub_measurer_free(struct hub_measurer *measurer);
/** Measure all of this dataset next. Cheap; bounded queue. */
void hub_measurer_want(struct hub_measurer *measurer, const char *id);
/** Count the values of a field in so many bins next. As above. */
void hub_measurer_want_histogram(struct hub_measurer *measurer, const char *id, const char *field,
                                 unsigned bins);
/** Read one number of the first or the last row of a field in each episode next. As above. */
struct hub_row_end;
void hub_measurer_want_row(struct hub_measurer *measurer, const char *id, const char *field,
                           const struct hub_row_end *end);
/**
 * A fetch that ends when more of this dataset is measured than at this hub_measures_generation, at the latest
 * when the measurer stops. It is the caller's, to be put; NULL: it cannot be waited for now.
 */
struct hub_file_fetch *hub_measurer_await(struct hub_measurer *measurer, const char *id, uint64_t generation);
/** The dataset being measured and those that wait for it. */
void hub_measurer_jobs(struct hub_measurer *measurer, hub_scan_job_each each, void *user);

#endif
