/**
 * HTTP: requests over parallel connections, with limits, retries and resumption. Only transport.c, attempt.c
 * and sends.c know libcurl. Requests are submitted from any thread and finish on the one that drives.
 */
#ifndef HUB_NET_TRANSPORT_H
#define HUB_NET_TRANSPORT_H

#include "storage/net/answer.h"
#include "storage/net/rate.h"
#include "storage/net/retry.h"

struct hub_transport;

struct hub_transport_options {
    const char *token, *user_agent, *proxy; /* NULL: none */
    const char *unix_socket;                /* connect to it whatever host a URL names; NULL: over TCP */
    bool environment_proxy;
    /* Redirects to other hosts; the token never goes there. A public host has an address that is neither of
     * this machine nor of a private network; the name that the request was made to counts as one. */
    enum hub_other_hosts { HUB_OTHER_HOSTS_NONE, HUB_OTHER_HOSTS_PUBLIC, HUB_OTHER_HOSTS_ANY } other_hosts;
    uint64_t bytes_per_s;  /* of all connections together; 0: no limit */
    struct hub_rate *rate; /* borrowed: shared with other transports, instead of that; NULL: none */
    unsigned connect_timeout_ms, stall_timeout_ms;
    struct hub_retry retry;
    /** NULL, or called before each wait for another attempt. */
    void (*waiting)(const char *why, unsigned attempt, uint64_t wait_ms, void *user);
    /** NULL, or called for each request that is over. */
    void (*trace)(const char *line, void *user);
    int (*interrupted)(void *user); /* NULL, or asked about five times a second: non-zero is HUB_CANCELLED */
    void *user;
};

enum { HUB_MAX_CONNECTIONS = 32 }; /* at once; what is submitted beyond them waits */

HUB_MUST_USE enum hub_status hub_transport_new(const struct hub_transport_options *options,
                                               struct hub_transport **out, struct hub_error *err);
void hub_transport_free(struct hub_transport *transport);

/** Another token from the next attempt on; NULL: none. On the thread that drives, or while nobody does. */
HUB_MUST_USE enum hub_status hub_transport_set_token(struct hub_transport *transport, const char *token,
                                                     struct hub_error *err);

struct hub_fetch;

/** The body of a PUT: bytes of an open file, or of whatever `read` makes, as the connection takes them. Zero
 * it and fill it in; `sent` is a result. */
struct hub_sends {
    int fd; /* the caller's; not used where there is `read` */
    /** NULL, or makes bytes from offset `at` on: at least one, at most `size`. They may be asked for again
     * from an earlier offset. */
    enum hub_status (*read)(struct hub_fetch *fetch, uint64_t at, char *out, size_t size, size_t *got,
                            struct hub_error *err);
    uint64_t first, count; /* these bytes of it */
    uint64_t size;         /* of the whole file: what is not all of it says so in Content-Range */
    const char *digest;    /* Repr-Digest of the whole file; NULL: not said */
    const char *type;      /* NULL: application/octet-stream */
    /* Only where nothing is at the address yet, or only where something is: else the answer is 412 */
    enum hub_sends_over { HUB_SENDS_OVER_ANY, HUB_SENDS_OVER_NOTHING, HUB_SENDS_OVER_SOMETHING } over;
    /** NULL, or gets the bytes from offset `at` of the file on as they go out. They may go out again from
     * an earlier offset. */
    void (*passing)(struct hub_fetch *fetch, uint64_t at, struct hub_view bytes);
    uint64_t sent; /* by the last attempt, as far as the connection took it */
};

/**
 * One GET, HEAD, POST, PUT or DELETE. Zero it, fill the first group, hand it in; `answer`, `done` and
 * `bytes_seen` are results.
 *
 * Over one fetch the request may be made several times. `head` is called for each successful answer before
 * its body; it may refuse (that ends the fetch), and it must drop what came before when the answer is not a
 * continuation: it then sets `done` to 0.
 */
struct hub_fetch {
    const char *url, *accept; /* accept: NULL is anything */
    bool head_only;
    bool post;               /* POST of `form`; made once, unless it may be repeated */
    bool removes;            /* DELETE; made once */
    struct hub_sends *sends; /* PUT of these bytes; made once, unless `restartable` */
    const char *form;        /* its body; NULL: none */
    const char *key;         /* Idempotency-Key of a POST; NULL: none */
    const char *form_type;   /* of `form`; NULL: application/x-www-form-urlencoded */
    bool as_stored; /* take the bytes as they are kept, compressed or not: the server is not to decode them */
    bool by_range;  /* ask for [first, first + count) from the beginning on, not only after a break */
    bool resumable; /* after a break, ask for the rest by range; else from the start, if `restartable` */
    bool restartable;
    uint64_t first, count;     /* the range wanted; count 0: everything, however long */
    uint64_t limit;            /* more body bytes than this are HUB_TOO_BIG; 0: `count`, or none */
    char if_range[160];        /* the ETag that must hold for a part, or empty */
    unsigned wait_ms;          /* before its first attempt */
    unsigned stall_timeout_ms; /* instead of the transport's; 0: that */
    struct hub_buf *problem;   /* NULL, or gets the body of an answer that is no success, up to its limit */
    bool awaited; /* `finished` also gets HUB_CANCELLED when the drive ends early: for those who submit on
                   * another thread than the one that drives, and do not see its end */
    enum hub_status (*head)(struct hub_fetch *fetch, const struct hub_answer *answer, struct hub_error *err);
    enum hub_status (*body)(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err);
    /** It is over, said on the thread that drives; may submit more, this one too. Anything but HUB_OK ends
     * the drive with it. NULL: what is no success ends the drive. */
    enum hub_status (*finished)(struct hub_fetch *fetch, enum hub_status status, struct hub_error *err);
    void *user;

    struct hub_fetch *behind; /* the transport's, while it waits for a connection */
    struct hub_answer answer;
    uint64_t done;       /* body bytes handed to `body` that count */
    uint64_t bytes_seen; /* all that came, over all attempts */
};

/**
 * Hand a fetch in, from any thread; it is begun by whoever drives, over a connection of its own, as soon as
 * one of them is free. It stays the caller's, untouched until it is finished.
 */
void hub_transport_submit(struct hub_transport *transport, struct hub_fetch *fetch);

/** Forget what is submitted and not begun; what is `awaited` is finished with that status. */
void hub_transport_drop(struct hub_transport *transport);

struct hub_drive {
    bool stays; /* also while there is nothing to do, until `tick` or a fetch ends it */
    /** Several times a second; anything but HUB_OK ends the drive with it. May be NULL. */
    enum hub_status (*tick)(void *user, struct hub_error *err);
    void *user;
};

/** Work on all that is submitted, here and now, until it is finished; one thread at a time. What is under
 * way or waits when the drive ends early is dropped unfinished, unless `awaited`; what is submitted later
 * waits for the next drive. */
HUB_MUST_USE enum hub_status hub_transport_drive(struct hub_transport *transport,
                                                 const struct hub_drive *drive, struct hub_error *err);

/** Milliseconds for which this drive has received nothing, or next to nothing: neither a successful answer
 * nor bytes of one. On the thread that drives: for `interrupted`. */
uint64_t hub_transport_silent_ms(const struct hub_transport *transport);

/** One fetch, begun and awaited. HTTP errors are statuses with the problem document's name and detail. */
HUB_MUST_USE enum hub_status hub_transport_get(struct hub_transport *transport, struct hub_fetch *fetch,
                                               struct hub_error *err);

#endif
