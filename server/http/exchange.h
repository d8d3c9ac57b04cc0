/**
 * One connection and the request it is answering. libmicrohttpd handles one request of a connection at a
 * time, so everything is kept and used again from request to request. Knows nothing of libmicrohttpd:
 * mhd_glue.c drives it.
 */
#ifndef HUB_HTTP_EXCHANGE_H
#define HUB_HTTP_EXCHANGE_H

#include "server/http/body_stream.h"
#include "server/http/budget.h"
#include "server/http/deadline.h"
#include "server/http/guard.h"
#include "server/http/metrics.h"
#include "server/http/pool.h"
#include "server/http/server.h"
#include "server/http/stream.h"
#include "server/http/trust.h"
#include "server/http/waits.h"
#include "server/log/log.h"

#include <pthread.h>

/** A peer that passes on what several clients ask, and is not believed. */
struct hub_untrusted_proxy {
    pthread_mutex_t lock;
    uint32_t address,
        client;       /* the last connection that named one: numbers made of the peer's and its client's */
    unsigned changes; /* of the client, from one connection of that peer to the next */
    bool known;
    char text[HUB_ADDRESS_CHARS]; /* the peer; empty once it was reported */
};

struct hub_http {
    struct hub_http_options options;
    struct hub_trust trust;
    void *daemon;
    struct hub_pool *pool;
    struct hub_deadline *deadline;
    struct hub_metrics *metrics;
    uint16_t port;
    uint64_t id_seed;
    atomic_uint_fast64_t ids, overloads, dropped_users;
    struct hub_tries *tries;
    atomic_uint connections, in_flight;
    atomic_uint suspended;      /* connections that somebody else will resume */
    atomic_uint_fast64_t begun; /* requests since the start */
    atomic_bool draining;
    struct hub_untrusted_proxy proxy;
    struct hub_waits waits; /* for fetched bytes */
};

enum hub_step {
    HUB_STEP_IDLE,     /* no request, or its header is not complete */
    HUB_STEP_OPEN,     /* a worker opens the sink of its body */
    HUB_STEP_OPENED,   /* and has done so */
    HUB_STEP_BODY,     /* its body is coming */
    HUB_STEP_READY,    /* complete; to be given to the handler */
    HUB_STEP_ANSWERED, /* the response is made; to be queued */
    HUB_STEP_SENDING,
};

/** The next block of a body that is made as it is sent, and who takes it. */
enum hub_ahead {
    HUB_AHEAD_NONE,
    HUB_AHEAD_BUSY,    /* a worker makes it */
    HUB_AHEAD_AWAITED, /* and resumes the connection */
    HUB_AHEAD_LEFT,    /* and frees the exchange, whose connection is gone */
    HUB_AHEAD_READY,
};

struct hub_exchange {
    struct hub_deadline_entry watch;
    struct hub_task task; /* the handler on a worker, or a cold block of `stream` */
    struct hub_parallel parallel;
    uint32_t address;                 /* a number made of the peer's */
    struct hub_budget_wait wait;      /* for memory */
    struct hub_bytes_wait fetch_wait; /* for bytes, of the answer or of `stream` */
    int64_t storage_until_ms;         /* how long the answer waits for storage */
    struct hub_http *http;
    void *connection;
    enum hub_step step;
    bool counted; /* in http->in_flight */
    bool close;   /* after this answer */
    struct hub_address peer;
    const char *misnamed;   /* what the client calls this server, where that is not allowed */
    bool names_server;      /* the answer holds its name ... */
    bool is_known_name;     /* ... which the admin said */
    bool proxied;           /* the peer is a proxy whose X-Forwarded-* fields are believed */
    bool introduced;        /* a request came on this connection before */
    bool named;             /* the client gave the request its id */
    bool folded;            /* a header field went on in a second line */
    bool hidden;            /* the header has bytes that the library does not show */
    const char *target_end; /* in the library's buffer, for its glue */
    const char *method_name;
    const struct hub_route *route;
    enum hub_status parsed; /* what hub_request_init said, with `error` */
    struct hub_error error;
    struct hub_request request;
    struct hub_response response;
    struct hub_param headers[HUB_MAX_HEADERS];
    struct hub_buf body;
    struct hub_buf_meter body_meter;
    uint64_t body_reserved; /* of the memory budget, until the request ends */
    uint64_t body_size;     /* as the client states it, or HUB_BODY_SIZE_UNKNOWN; of one with a sink */
    uint64_t body_dropped;  /* bytes that came after it was refused */
    bool refused_early;     /* the answer is on its way, though its body is still coming */
    struct hub_stream stream;
    struct hub_body_stream made;
    atomic_int ahead;   /* enum hub_ahead */
    uint64_t stream_at; /* where the worker reads */
    int64_t start_us;
    uint64_t bytes_out;
    uint64_t bytes_before; /* of bodies, on this connection, before this answer */
};

/** The exchange that a member of it lies in. */
#define HUB_EXCHANGE_OF(pointer, member) HUB_CONTAINER_OF(pointer, struct hub_exchange, member)

/** The request line is there. */
void hub_exchange_begin(struct hub_exchange *x, const char *target);
/** The header is there: x->headers and x->request.header_count. The step is then BODY, READY, or ANSWERED
 * when the request is refused. True: send that answer now, before any body, and close. */
bool hub_exchange_header(struct hub_exchange *x, const char *method, const char *version);
/** Body bytes. False: far too many, drop the connection. */
bool hub_exchange_body(struct hub_exchange *x, const char *data, size_t size);
/** Call the handler; HUB_AGAIN: put it in the queue of the workers (again). Else the step is ANSWERED. */
enum hub_status hub_exchange_run(struct hub_exchange *x);
/** Wait for the memory the handler wants, without a thread; x->wait.end is set. False: too many do. */
HUB_MUST_USE bool hub_exchange_wait(struct hub_exchange *x);
/** Wait for what is fetched, without a thread; x->fetch_wait.end is set. False: there is nothing to wait
 * for. */
HUB_MUST_USE bool hub_exchange_wait_for(struct hub_exchange *x, struct hub_file_fetch *fetch);
/** The response is the problem of x->error. Where the machine keeps its files is for its admin only: the
 * log has the whole text. */
void hub_exchange_problem(struct hub_exchange *x, enum hub_status status);
/** Answer with an error instead of what the handler made. */
void hub_exchange_fail(struct hub_exchange *x, enum hub_status status, enum hub_problem_code problem,
                       const char *detail);
/** The answer is out, or nobody waits for it any more. */
void hub_exchange_end(struct hub_exchange *x, bool complete);
/** The connection is gone: free it, now or when the worker is done that still makes what nobody will read. */
void hub_exchange_leave(struct hub_exchange *x);
/** By that worker. */
void hub_exchange_free(struct hub_exchange *x);

#endif
