/** When to ask again: pure decisions, without a clock or a socket. */
#ifndef HUB_NET_RETRY_H
#define HUB_NET_RETRY_H

#include <stdbool.h>
#include <stdint.h>

struct hub_retry {
    unsigned attempts;       /* of one request, the first included */
    unsigned first_attempts; /* while the peer never answered: a wrong address should not take a minute to be
                                 reported */
    unsigned stalled_attempts; /* while nothing comes: each takes the whole stall timeout; 0: as `attempts` */
    unsigned base_ms, cap_ms;  /* of the exponential wait */
    unsigned longest_advice_s; /* a longer Retry-After is not waited for */
};

#define HUB_RETRY_DEFAULT                                                                                    \
    (struct hub_retry)                                                                                       \
    {                                                                                                        \
        .attempts = 12, .first_attempts = 3, .stalled_attempts = 4, .base_ms = 250, .cap_ms = 15000,         \
        .longest_advice_s = 120                                                                              \
    }

enum hub_failure {
    HUB_FAILURE_STATUS,  /* an answer came: its status decides */
    HUB_FAILURE_CONNECT, /* no address, or nobody there */
    HUB_FAILURE_BROKEN,  /* cut or garbled on the way */
    HUB_FAILURE_STALLED, /* nothing came, or next to nothing, for the stall timeout */
    HUB_FAILURE_FATAL,   /* the same again would fail again */
};

/** One attempt that failed. */
struct hub_attempt {
    unsigned number; /* 1 for the first */
    enum hub_failure failure;
    unsigned http_status;
    unsigned retry_after_s; /* 0: no advice */
    bool answered_before;   /* the peer has answered something before */
    uint32_t random;
};

/** Whether to try again, and after how long: full jitter below an exponential, never before the advice. */
bool hub_retry_decide(const struct hub_retry *policy, const struct hub_attempt *attempt, uint64_t *wait_ms);

#endif
