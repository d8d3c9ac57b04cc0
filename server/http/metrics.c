/* Prometheus text (exposition format 0.0.4): see metrics.h. Labels are bounded: the route's label, the
 * method, the status class. */
#include "server/http/metrics.h"

#include <stdatomic.h>
#include <stdlib.h>

static const uint32_t bounds_us[] = {100,   250,    500,    1000,   2500,    5000,    10000,   25000,
                                     50000, 100000, 250000, 500000, 1000000, 2500000, 10000000};

#define BUCKETS (HUB_COUNT(bounds_us) + 1)
#define METHODS (HUB_PATCH + 1) /* 0: one we do not know */
#define CLASSES 5

struct route_counters {
    const char *label;
    atomic_uint_fast64_t requests[METHODS][CLASSES];
    atomic_uint_fast64_t buckets[BUCKETS];
    atomic_uint_fast64_t sum_us, bytes;
};

struct hub_metrics {
    const struct hub_route *routes;
    uint32_t *row_of; /* of a route: routes with the same label share a row */
    uint32_t count;   /* rows; the last is for what no route matched */
    struct route_counters rows[];
};

enum hub_status hub_metrics_new(const struct hub_route *routes, struct hub_metrics **out,
                                struct hub_error *err)
{
    uint32_t count = 0;
    while (routes[count].pattern)
        count++;
    struct hub_metrics *metrics = calloc(1, sizeof *metrics + (count + 1) * sizeof metrics->rows[0]);
    uint32_t *row_of = calloc(count + 1, sizeof *row_of);
    if (!metrics || !row_of) {
        free(metrics);
        free(row_of);
        return hub_no_memory(err);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = 0;
        while (row < metrics->count && strcmp(metrics->rows[row].label, routes[i].label) != 0)
            row++;
        if (row == metrics->count)
            metrics->rows[metrics->count++].label = routes[i].label;
        row_of[i] = row;
    }
    metrics->rows[metrics->count++].label = "none";
    metrics->routes = routes;
    metrics->row_of = row_of;
    *out = metrics;
    return HUB_OK;
}

void hub_metrics_free(struct hub_metrics *metrics)
{
    if (!metrics)
        return;
    free(metrics->row_of);
    free(metrics);
}

static void count(atomic_uint_fast64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static uint64_t value(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void hub_metrics_request(struct hub_metrics *metrics, const struct hub_route *route, enum hub_method method,
                         unsigned status, uint64_t bytes, uint64_t duration_us)
{
    uint32_t row = route ? metrics->row_of[route - metrics->routes] : metrics->count - 1;
    struct route_counters *counters = &metrics->rows[row];
    unsigned class = status / 100;
    size_t bucket = 0;
    while (bucket < HUB_COUNT(bounds_us) && duration_us > bounds_us[bucket])
        bucket++;
    count(&counters->requests[method <= HUB_OPTIONS ? method : 0]
                             [class >= 1 && class <= CLASSES ? class - 1 : CLASSES - 1],
          1);
    count(&counters->buckets[bucket], 1);
    count(&counters->sum_us, duration_us);
    count(&counters->bytes, bytes);
}

static enum hub_status head(struct hub_buf *out, const char *name, const char *type, const char *help,
                            struct hub_error *err)
{
    return hub_buf_addf(out, err, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static enum hub_status write_requests(const struct hub_metrics *metrics, struct hub_buf *out,
                                      struct hub_error *err)
{
    static const char *const methods[METHODS] = {"other", "GET",    "HEAD",    "POST",
                                                 "PUT",   "DELETE", "OPTIONS", "PATCH"};
    HUB_TRY(head(out, "minari_hub_http_requests_total", "counter", "Answered requests.", err));
    for (uint32_t i = 0; i < metrics->count; i++)
        for (unsigned method = 0; method < METHODS; method++)
            for (unsigned class = 0; class < CLASSES; class ++) {
                uint64_t n = value(&metrics->rows[i].requests[method][class]);
                if (n)
                    HUB_TRY(hub_buf_addf(
                        out, err,
                        "minari_hub_http_requests_total{route=\"%s\",method=\"%s\",status=\"%uxx\"} %llu\n",
                        metrics->rows[i].label, methods[method], class + 1, (unsigned long long)n));
            }
    HUB_TRY(head(out, "minari_hub_http_response_bytes_total", "counter", "Bytes of response bodies.", err));
    for (uint32_t i = 0; i < metrics->count; i++)
        HUB_TRY(hub_buf_addf(out, err, "minari_hub_http_response_bytes_total{route=\"%s\"} %llu\n",
                             metrics->rows[i].label, (unsigned long long)value(&metrics->rows[i].bytes)));
    return HUB_OK;
}

static enum hub_status write_histogram(const struct route_counters *row, struct hub_buf *out,
                                       struct hub_error *err)
{
    static const char name[] = "minari_hub_http_request_duration_seconds";
    uint64_t total = 0;
    for (size_t i = 0; i < HUB_COUNT(bounds_us); i++) {
        total += value(&row->buckets[i]);
        HUB_TRY(hub_buf_addf(out, err, "%s_bucket{route=\"%s\",le=\"%g\"} %llu\n", name, row->label,
                             bounds_us[i] / 1e6, (unsigned long long)total));
    }
    total += value(&row->buckets[BUCKETS - 1]);
    HUB_TRY(hub_buf_addf(out, err, "%s_bucket{route=\"%s\",le=\"+Inf\"} %llu\n", name, row->label,
                         (unsigned long long)total));
    HUB_TRY(hub_buf_addf(out, err, "%s_sum{route=\"%s\"} %.6f\n", name, row->label,
                         (double)value(&row->sum_us) / 1e6));
    return hub_buf_addf(out, err, "%s_count{route=\"%s\"} %llu\n", name, row->label,
                        (unsigned long long)total);
}

enum hub_status hub_metric_rows(const struct hub_plain_metric *rows, size_t count, struct hub_buf *out,
                                struct hub_error *err)
{
    for (size_t i = 0; i < count; i++) {
        HUB_TRY(head(out, rows[i].name, rows[i].type, rows[i].help, err));
        HUB_TRY(hub_buf_addf(out, err, "%s %.16g\n", rows[i].name, rows[i].value));
    }
    return HUB_OK;
}

enum hub_status hub_metrics_write(const struct hub_metrics *metrics, const struct hub_http_gauges *gauges,
                                  struct hub_buf *out, struct hub_error *err)
{
    HUB_TRY(head(out, "minari_hub_build_info", "gauge",
                 "Versions of the program and of the HTTP library it runs with.", err));
    HUB_TRY(hub_buf_addf(out, err, "minari_hub_build_info{version=\"%s\",libmicrohttpd=\"%s\"} 1\n",
                         HUB_VERSION, gauges->mhd_version));
    HUB_TRY(write_requests(metrics, out, err));
    HUB_TRY(head(out, "minari_hub_http_request_duration_seconds", "histogram",
                 "From the end of the header to the end of the answer.", err));
    for (uint32_t i = 0; i < metrics->count; i++)
        HUB_TRY(write_histogram(&metrics->rows[i], out, err));
    const struct hub_plain_metric rows[] = {
        {"minari_hub_http_connections", "gauge", "Open connections.", (double)gauges->connections},
        {"minari_hub_http_requests_in_flight", "gauge", "Requests being answered.",
         (double)gauges->in_flight},
        {"minari_hub_http_queue_depth", "gauge", "Requests that wait for a worker.",
         (double)gauges->queue_depth},
        {"minari_hub_http_overloads_total", "counter",
         "Requests refused because the queue or the connections were full.", (double)gauges->overloads},
        {"minari_hub_http_deadlines_total", "counter", "Connections ended because they were too slow.",
         (double)gauges->deadlines},
        {"minari_hub_dropped_user_headers_total", "counter",
         "Names of users that came from peers which are not trusted proxies.", (double)gauges->dropped_users},
        {"minari_hub_memory_budget_used_bytes", "gauge", "Memory reserved by answers.",
         (double)gauges->budget_used},
        {"minari_hub_memory_budget_bytes", "gauge", "The ceiling: --memory.", (double)gauges->budget_total},
    };
    return hub_metric_rows(rows, HUB_COUNT(rows), out, err);
}
