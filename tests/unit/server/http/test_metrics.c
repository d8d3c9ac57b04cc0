#include "server/http/metrics.h"
#include "server/http/server.h"

#include <criterion/criterion.h>

static const struct hub_route routes[] = {{"GET", "/a", NULL, "a", HUB_FOR_ANYBODY},
                                          {"GET", "/b", NULL, "b", HUB_FOR_ANYBODY},
                                          {"PUT", "/a", NULL, "a", HUB_FOR_ANYBODY},
                                          {0}};

static void has(const struct hub_buf *text, const char *line)
{
    cr_assert(strstr(text->data, line), "no \"%s\" in\n%s", line, text->data);
}

Test(metrics, text)
{
    struct hub_metrics *metrics = NULL;
    struct hub_buf out = HUB_BUF_INIT(MIB);
    const struct hub_http_gauges gauges = {.connections = 7,
                                           .in_flight = 2,
                                           .queue_depth = 3,
                                           .overloads = 4,
                                           .budget_used = 5,
                                           .budget_total = 6,
                                           .mhd_version = "1.2.3"};
    cr_assert_eq(hub_metrics_new(routes, &metrics, NULL), HUB_OK);
    hub_metrics_request(metrics, &routes[0], HUB_GET, 200, 100, 90);
    hub_metrics_request(metrics, &routes[0], HUB_GET, 206, 10, 100);
    hub_metrics_request(metrics, &routes[2], HUB_PUT, 507, 1, 99999999);
    hub_metrics_request(metrics, &routes[1], HUB_HEAD, 304, 0, 2000);
    hub_metrics_request(metrics, NULL, 0, 405, 0, 1);
    cr_assert_eq(hub_metrics_write(metrics, &gauges, &out, NULL), HUB_OK);
    has(&out, "minari_hub_http_requests_total{route=\"a\",method=\"GET\",status=\"2xx\"} 2\n");
    has(&out, "minari_hub_http_requests_total{route=\"a\",method=\"PUT\",status=\"5xx\"} 1\n");
    has(&out, "minari_hub_http_requests_total{route=\"b\",method=\"HEAD\",status=\"3xx\"} 1\n");
    has(&out, "minari_hub_http_requests_total{route=\"none\",method=\"other\",status=\"4xx\"} 1\n");
    has(&out, "minari_hub_http_response_bytes_total{route=\"a\"} 111\n");
    has(&out, "_bucket{route=\"a\",le=\"0.0001\"} 2\n"); /* a bound belongs to its bucket */
    has(&out, "_bucket{route=\"a\",le=\"10\"} 2\n");
    has(&out, "_bucket{route=\"a\",le=\"+Inf\"} 3\n");
    has(&out, "_count{route=\"a\"} 3\n");
    has(&out, "_sum{route=\"b\"} 0.002000\n");
    has(&out, "minari_hub_http_connections 7\n");
    has(&out, "minari_hub_memory_budget_bytes 6\n");
    has(&out, "libmicrohttpd=\"1.2.3\"} 1\n");
    cr_assert_eq(out.data[out.size - 1], '\n');
    hub_buf_dispose(&out);
    hub_metrics_free(metrics);
}
