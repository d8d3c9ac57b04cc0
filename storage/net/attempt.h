/** One attempt of a request over libcurl: what transport.c and attempt.c share. */
#ifndef HUB_NET_ATTEMPT_H
#define HUB_NET_ATTEMPT_H

#include "storage/net/transport.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>

enum { HUB_LOW_SPEED = 1024 }; /* bytes a second: what is slower for the stall timeout is given up */

enum hub_slot_state { HUB_SLOT_IDLE, HUB_SLOT_RUNNING, HUB_SLOT_WAITING };

/* One connection and the fetch it works on. */
struct hub_transport_slot {
    struct hub_transport *transport;
    CURL *easy;
    struct curl_slist *headers;
    enum hub_slot_state state;
    struct hub_fetch *fetch;
    struct hub_buf problem;  /* the body of an error answer */
    struct hub_error error;  /* of a callback, or the last attempt's */
    enum hub_status refused; /* what a callback returned */
    bool head_done;
    unsigned attempt;
    uint64_t attempt_bytes, wake_ms;
    char *location;                /* where redirects led to, or NULL */
    bool elsewhere;                /* which is another host */
    bool only_public, was_private; /* its address must not be private; but it was */
    bool asked_anew; /* what the redirects led to was refused, and the way there was gone again */
    unsigned redirects;
};

struct hub_transport {
    CURLM *multi;
    char *token, *user_agent, *proxy, *unix_socket;
    struct hub_transport_options options;
    struct hub_transport_slot slots[HUB_MAX_CONNECTIONS];
    pthread_mutex_t lock;
    struct hub_fetch *first, *last; /* submitted and not begun; by the lock */
    bool answered_before;
    uint64_t random;
    struct hub_rate own, *rate;
    uint64_t heard_ms, heard_bytes; /* when something useful came last in this drive; what came since */
    atomic_bool driven;
};

/** Begin another attempt of the slot's fetch. */
HUB_MUST_USE enum hub_status hub_attempt_begin(struct hub_transport_slot *slot);
/** The attempt is over: the fetch's outcome, unless another one was scheduled. */
HUB_MUST_USE enum hub_status hub_attempt_end(struct hub_transport_slot *slot, CURLcode code, bool *again);
/** One more header of the attempt that begins. */
HUB_MUST_USE enum hub_status hub_attempt_header(struct hub_transport_slot *slot, const char *name,
                                                const char *value);
/** Where redirects led to is forgotten. */
void hub_attempt_go_back(struct hub_transport_slot *slot);

/** Its request is a PUT of what the fetch sends: see sends.c. */
HUB_MUST_USE enum hub_status hub_sends_begin(struct hub_transport_slot *slot);

#endif
