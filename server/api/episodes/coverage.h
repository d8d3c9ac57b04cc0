/** How much of a dataset was measured: it stands in every answer that depends on it. */
#ifndef HUB_API_EPISODES_COVERAGE_H
#define HUB_API_EPISODES_COVERAGE_H

#include "server/api/resolve.h"
#include "storage/episodes/measures.h"

struct hub_coverage {
    uint64_t parts, of_parts, episodes, of, rows, of_rows;
    struct hub_lost lost; /* of parts that are measured; they are not among the episodes and rows */
    uint64_t failed;      /* parts that could not be measured, and for which nobody waits */
    bool stale;           /* ranges of the dataset changed since some of it was measured */
    bool complete;        /* nothing is to be waited for; `lost` and `failed` may be missing nevertheless */
    bool named;           /* names of the request are measured: hub_coverage_require */
    bool rows_alone;      /* ... and all of them are first or last rows of fields */
    uint64_t state; /* differs once anything was measured again: part of the ETags of what depends on it */
};

/** Of the parts that are as far as this. Blocking. */
HUB_MUST_USE enum hub_status hub_coverage_read(const struct hub_state *state, enum hub_measured how_far,
                                               struct hub_coverage *out, struct hub_error *err);
/** "unreadable", where there are such, and "complete". */
void hub_coverage_put_end(struct hub_json *json, const struct hub_coverage *coverage);
/** "coverage" and "measure", the mode. */
void hub_coverage_put(struct hub_json *json, const struct hub_app *app, const struct hub_coverage *coverage);
/** As hub_resolve_headers; what is not complete is not to be stored, and comes with Retry-After while it is
 * being measured, which is done next. */
HUB_MUST_USE enum hub_status hub_coverage_headers(struct hub_request *request,
                                                  const struct hub_target *target,
                                                  const struct hub_coverage *coverage,
                                                  struct hub_response *response, struct hub_error *err);

/**
 * Require that the dataset has the names in where, sort and `columns` (hub_query_check), and that their
 * values are measured. Call it before memory is reserved. With partial=1 values that are known are enough.
 *
 * @param[out] out  `named`: a measure is among the names; if none is, `complete`, and `state` 0
 * @return HUB_AGAIN: the request waits for values; HUB_BUSY "pending" with done and of, once wait= is over;
 *         HUB_UNSUPPORTED "not-measured" of a hub that measures nothing
 */
HUB_MUST_USE enum hub_status hub_coverage_require(struct hub_request *request, struct hub_response *response,
                                                  const struct hub_target *target,
                                                  const struct hub_property *columns, unsigned count,
                                                  struct hub_coverage *out, struct hub_error *err);
/** HUB_AGAIN: the request waits for more to be measured, which was asked for; HUB_OK: wait= is over, or
 * partial=1 takes what there is. */
HUB_MUST_USE enum hub_status hub_coverage_await(struct hub_request *request, const struct hub_target *target);
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
