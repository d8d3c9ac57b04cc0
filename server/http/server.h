/** The server: its options, its start and its end, and what it counts. */
#ifndef HUB_HTTP_SERVER_H
#define HUB_HTTP_SERVER_H

#include "server/http/http.h"

/** The socket for the admin of this machine: HTTP as over TCP, mode 0600, only for our own user and root. */
#define HUB_CONTROL_SOCKET "control.sock"

struct hub_words {
    const char *const *items;
    unsigned count;
};

/** Origins, host names and proxies that are accepted. The texts must live as long as the server. */
struct hub_trust_options {
    struct hub_words cors; /* {"*"} (as is none): pages of any origin may read; {"off"}; else these origins */
    struct hub_words hosts;   /* that `Host` may name; none: any */
    struct hub_words proxies; /* addresses and networks whose X-Forwarded-* fields are believed; or {"off"} */
    const char *public_url;   /* what links begin with; NULL: what was asked */
    /* headers in which a proxy names the user and the groups, with commas between them; NULL: none does */
    const char *user_header, *groups_header;
    bool insecure_writes; /* changes may come from other machines without TLS */
    bool read_only;       /* no change is accepted, whoever asks for it */
};

struct hub_http_options {
    struct hub_app *app;
    const struct hub_route *routes;       /* ends with a NULL pattern */
    const struct hub_protocol *protocols; /* ends with a NULL address; NULL: none but ours */
    struct hub_budget *budget;            /* for blocks of streamed files and for metrics; may be NULL */
    const char *address;                  /* "127.0.0.1", "::1", "0.0.0.0" */
    uint16_t port;                        /* 0: any free one */
    const char *control;                  /* instead of both: the directory to make HUB_CONTROL_SOCKET in */
    unsigned event_threads;               /* default: cores */
    unsigned workers;                     /* default: cores */
    unsigned queue;                       /* waiting requests before 503 "overloaded"; default 1024 */
    unsigned connections;                 /* default 4096 */
    unsigned connections_per_client;      /* of one address; default 0: any number */
    unsigned header_ms, body_ms, idle_ms; /* deadlines: default 10,000; 30,000; 60,000 */
    uint32_t min_rate;                    /* bytes a second of a body or a reader; default 1024 */
    unsigned rate_ms;                     /* ... over so long; default 10,000 */
    /* the table of access that decides on a request, counted; NULL: everybody may read everything */
    struct hub_access_table *(*access)(struct hub_app *app);
    struct hub_trust_options trust;
    struct hub_tries_options tries; /* of tokens that are not valid */
    struct hub_log *log;            /* a line a request; NULL: none. The caller's: it ends after the server */
};
struct hub_http;
/** *out is written before the first request can come, so that it may be a member of the app. */
HUB_MUST_USE enum hub_status hub_http_start(const struct hub_http_options *options, struct hub_http **out,
                                            struct hub_error *err);
/** Those of its options. */
const struct hub_route *hub_http_routes(const struct hub_http *http);
uint16_t hub_http_port(const struct hub_http *http);
/** Orderly: stop accepting, readyz 503, let running answers finish up to grace_ms, then end. */
void hub_http_stop(struct hub_http *http, unsigned grace_ms);
bool hub_http_draining(const struct hub_http *http);
/** Once: the address of a peer whose connections tell of different clients (X-Forwarded-For) and that is not
 * among the trusted proxies, so that they all share one turn. `out` has HUB_ADDRESS_CHARS bytes. */
bool hub_http_untrusted_proxy(struct hub_http *http, char *out);
/** Version of libmicrohttpd at run time. */
const char *hub_http_library(void);
/** What is now, and counters since the start. */
struct hub_http_gauges {
    uint64_t connections, in_flight, begun, queue_depth, overloads, deadlines, budget_used, budget_total;
    uint64_t dropped_users; /* names of users from peers that are no trusted proxies */
    const char *mhd_version;
};
void hub_http_gauges(struct hub_http *http, struct hub_http_gauges *out);
/** Prometheus text of requests, durations, queue, connections, budget. */
HUB_MUST_USE enum hub_status hub_http_metrics(struct hub_http *http, struct hub_buf *out,
                                              struct hub_error *err);

#endif
