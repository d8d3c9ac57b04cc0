/**
 * Deadlines of connections. libmicrohttpd has only an inactivity timer, which a byte a second keeps awake; so
 * each connection is watched here and one thread ends those that are too slow, by shutdown() of their socket.
 * Safe from any thread.
 *
 * Slow readers are judged by what the peer acknowledged (TCP_INFO), and only while it is the peer that keeps
 * us waiting.
 */
#ifndef HUB_HTTP_DEADLINE_H
#define HUB_HTTP_DEADLINE_H

#include "storage/base/error.h"

#include <stdatomic.h>

struct hub_deadline_options {
    unsigned header_ms; /* connection (or first line) to the end of the header */
    unsigned body_ms;   /* the whole body */
    unsigned idle_ms;   /* between requests */
    uint32_t min_rate;  /* bytes a second of a body or a reader; 0: any */
    unsigned rate_ms;   /* ... over so long */
};

enum hub_phase { HUB_PHASE_HEADER, HUB_PHASE_BODY, HUB_PHASE_WORK, HUB_PHASE_SEND, HUB_PHASE_IDLE };

/** One connection; embedded in its owner, who removes it before the socket is closed. */
struct hub_watch {
    struct hub_watch *previous, *next;
    int fd;
    bool ended;
    _Atomic(enum hub_phase) phase;
    _Atomic(int64_t) since_ms;
    _Atomic(uint64_t) received; /* of the body */
    int64_t window_ms;          /* the reaper's: when the window began that `acked` is of */
    uint64_t acked;
};

struct hub_deadline;
HUB_MUST_USE enum hub_status hub_deadline_start(const struct hub_deadline_options *options,
                                                struct hub_deadline **out, struct hub_error *err);
void hub_deadline_stop(struct hub_deadline *deadline);
/** Begins in HUB_PHASE_HEADER. */
void hub_deadline_add(struct hub_deadline *deadline, struct hub_watch *watch, int fd);
void hub_deadline_remove(struct hub_deadline *deadline, struct hub_watch *watch);
void hub_deadline_phase(struct hub_watch *watch, enum hub_phase phase);
/** Connections ended since the start. */
uint64_t hub_deadline_ended(struct hub_deadline *deadline);

#endif
