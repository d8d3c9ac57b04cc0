/**
 * HTTP: requests over one or more connections, with limits, retries and resumption. Only transport.c knows
 * libcurl. One thread at a time.
 */
#ifndef HUB_NET_TRANSPORT_H
#define HUB_NET_TRANSPORT_H

#include "storage/net/answer.h"
#include "storage/net/retry.h"

struct hub_transport;

struct hub_transport_options {
    const char *token, *user_agent, *proxy; /* NULL: none */
    const char *unix_socket;                /* connect to it whatever host a URL names; NULL: over TCP */
    bool environment_proxy;
    bool other_hosts;     /* redirects may lead to other hosts; the token never goes there */
    uint64_t bytes_per_s; /* of all connections together; 0: no limit */
    unsigned connect_timeout_ms, stall_timeout_ms;
    struct hub_retry retry;
    /** NULL, or told before each wait for another attempt. */
    void (*waiting)(const char *why, unsigned attempt, uint64_t wait_ms, void *user);
    /** NULL, or told of each request that is over. */
    void (*trace)(const char *line, void *user);
    int (*interrupted)(void *user); /* NULL, or asked about five times a second: non-zero is HUB_CANCELLED */
    void *user;
};

HUB_MUST_USE enum hub_status hub_transport_new(const struct hub_transport_options *options,
                                               struct hub_transport **out, struct hub_error *err);
void hub_transport_free(struct hub_transport *transport);

/**
 * One GET, HEAD or POST. Zero it, fill the first group, hand it in; `answer`, `done` and `bytes_seen` are
 * results.
 *
 * Over one fetch the request may be made several times. `head` is called for each successful answer before
 * its body; it may refuse (that ends the fetch), and it must drop what came before when the answer is not a
 * continuation: it then sets `done` to 0.
 */
struct hub_fetch {
    const char *url, *accept; /* accept: NULL is anything */
    bool head_only;
    bool post;      /* POST without a body; made once */
    bool by_range;  /* ask for [first, first + count) from the beginning on, not only after a break */
    bool resumable; /* after a break, ask for the rest by range; else from the start, if `restartable` */
    bool restartable;
    uint64_t first, count; /* the range wanted; count 0: everything, however long */
    uint64_t limit;        /* more body bytes than this are HUB_TOO_BIG; 0: `count`, or none */
    char if_range[160];    /* the ETag that must hold for a part, or empty */
    enum hub_status (*head)(struct hub_fetch *fetch, const struct hub_answer *answer, struct hub_error *err);
    enum hub_status (*body)(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err);
    void *user;

    struct hub_answer answer;
    uint64_t done;       /* body bytes handed to `body` that count */
    uint64_t bytes_seen; /* all that came, over all attempts */
};

/** Where parallel fetches come from and go to. */
struct hub_fetch_source {
    /** The next one, or NULL when there is none now; asked again whenever one finished. */
    struct hub_fetch *(*next)(void *user);
    /** One is finished. Anything but HUB_OK ends the whole run with it. */
    enum hub_status (*finished)(void *user, struct hub_fetch *fetch, enum hub_status status,
                                struct hub_error *err);
    /** Several times a second; anything but HUB_OK ends the run. May be NULL. */
    enum hub_status (*tick)(void *user, struct hub_error *err);
    void *user;
};

/** Run all of a source over at most `parallel` connections. Fetches under way when it ends early are dropped
 * unfinished. */
HUB_MUST_USE enum hub_status hub_transport_run(struct hub_transport *transport,
                                               const struct hub_fetch_source *source, unsigned parallel,
                                               struct hub_error *err);

/** One fetch. HTTP errors are statuses with the problem document's name and detail. */
HUB_MUST_USE enum hub_status hub_transport_get(struct hub_transport *transport, struct hub_fetch *fetch,
                                               struct hub_error *err);

#endif
