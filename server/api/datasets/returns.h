/** How the returns of a dataset's episodes are spread, in few bins: small enough to stand in a list of
 * datasets. */
#ifndef HUB_API_DATASETS_RETURNS_H
#define HUB_API_DATASETS_RETURNS_H

#include "server/api/app.h"
#include "storage/catalog/summary.h"
#include "storage/text/json.h"

/** Episodes that one answer looks at; what is kept ready costs nothing. */
#define HUB_RETURNS_EPISODES 2000000

/** Of one answer. */
struct hub_returns {
    const struct hub_app *app;
    uint64_t left; /* episodes that it still looks at */
};

/** What they come to: of the episodes whose return is a finite number. */
struct hub_returns_summary {
    uint64_t count;
    double mean, least, greatest; /* NaN where there is none */
};
/** False: nothing is known of it, or the answer has looked at enough. Blocking. */
bool hub_returns_of(struct hub_returns *returns, const struct hub_summary *summary,
                    struct hub_returns_summary *out);

/**
 * "returns": {"edges", "counts", "count", "of", "mean"} of the episodes whose return is a finite number; null
 * where there is none; {"pending": true} where the answer has looked at enough, though at one dataset at
 * least, and the next one goes on. Blocking.
 */
void hub_returns_put(struct hub_json *json, struct hub_returns *returns, const struct hub_summary *summary);

#endif
