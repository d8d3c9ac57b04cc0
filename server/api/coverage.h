/** How much of a dataset was measured: it stands in every answer that depends on it. */
#ifndef HUB_API_COVERAGE_H
#define HUB_API_COVERAGE_H

#include "server/api/resolve.h"
#include "storage/catalog/measures.h"

struct hub_coverage {
    uint64_t parts, of_parts, episodes, of, rows, of_rows;
    bool stale; /* ranges of the dataset changed since some of it was measured */
    bool complete;
    bool named;     /* names of the request are measured: hub_coverage_require */
    uint64_t state; /* differs once anything was measured anew: part of the ETags of what depends on it */
};

/** Of the parts that are as far as this. Blocking. */
HUB_MUST_USE enum hub_status hub_coverage_read(const struct hub_state *state, enum hub_measured how_far,
                                               struct hub_coverage *out, struct hub_error *err);
/** "coverage" and "measure", the mode. */
void hub_coverage_put(struct hub_json *json, const struct hub_app *app, const struct hub_coverage *coverage);
/** As hub_resolve_headers; what is not complete is kept by nobody and comes with Retry-After while it is being measured, which
 * asking for it has done next. */
HUB_MUST_USE enum hub_status hub_coverage_headers(struct hub_request *request,
                                                  const struct hub_target *target,
                                                  const struct hub_coverage *coverage,
                                                  struct hub_response *response, struct hub_error *err);

/** wait= and partial=, for hub_request_known, with a comma behind. */
#define HUB_MEASURED_PARAMETERS "wait", "partial",

/**
 * The dataset must know what the request's where, sort and `columns` name (hub_known_check), and all of that
 * must be measured. While it is not: HUB_AGAIN, and once wait= is over HUB_BUSY "pending", with done and of;
 * HUB_UNSUPPORTED "not-measured" by a hub that measures nothing. With partial=1 what is measured so far is
 * enough. Call it before memory is reserved.
 *
 * @param[out] out  `named`: at least one of the names is measured; else it is complete, with state 0
 */
HUB_MUST_USE enum hub_status hub_coverage_require(struct hub_request *request, struct hub_response *response,
                                                  const struct hub_target *target,
                                                  const struct hub_property *columns, unsigned count,
                                                  struct hub_coverage *out, struct hub_error *err);
/** As hub_coverage_headers, with X-Measured where names are measured: of how many parts. */
HUB_MUST_USE enum hub_status hub_coverage_named_headers(struct hub_request *request,
                                                        const struct hub_target *target,
                                                        const struct hub_coverage *coverage,
                                                        struct hub_response *response, struct hub_error *err);
/** "done" and "of" of a problem: parts. */
void hub_coverage_extra(struct hub_response *response, const struct hub_coverage *coverage);
/** "measured": [done, of], where names are measured. */
void hub_coverage_named_put(struct hub_json *json, const struct hub_coverage *coverage);

#endif
