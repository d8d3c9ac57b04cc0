/** Counters of the HTTP floor and their Prometheus text. Counting is lock-free. */
#ifndef HUB_HTTP_METRICS_H
#define HUB_HTTP_METRICS_H

#include "server/http/server.h"

struct hub_metrics;

HUB_MUST_USE enum hub_status hub_metrics_new(const struct hub_route *routes, struct hub_metrics **out,
                                             struct hub_error *err);
void hub_metrics_free(struct hub_metrics *metrics);
/** `route` NULL: none matched. */
void hub_metrics_request(struct hub_metrics *metrics, const struct hub_route *route, enum hub_method method,
                         unsigned status, uint64_t bytes, uint64_t duration_us);

HUB_MUST_USE enum hub_status hub_metrics_write(const struct hub_metrics *metrics,
                                               const struct hub_http_gauges *gauges, struct hub_buf *out,
                                               struct hub_error *err);

/** A metric without labels. */
struct hub_plain_metric {
    const char *name, *type, *help;
    double value;
};
HUB_MUST_USE enum hub_status hub_metric_rows(const struct hub_plain_metric *rows, size_t count,
                                             struct hub_buf *out, struct hub_error *err);

#endif
