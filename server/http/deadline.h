/**
 * Deadlines of connections. libmicrohttpd has only an inactivity timer, which a byte a second keeps awake; so
 * each connection is watched here and one thread ends those that are too slow, by shutdown() of their socket.
 * Safe from any thread.
 *
 * Slow readers are judged by what the peer acknowledged (TCP_INFO), and only while it is the peer that keeps
 * us waiting.
 *
 * A peer that leaves while its answer is being made is noticed, which libmicrohttpd does not do for a
 * suspended connection. One that has closed its side after its request gets its whole answer if that is made
 * within a second; libmicrohttpd, whose epoll set is edge-triggered, may never look at that connection again,
 * so it is ended here as soon as it has nothing left to send. When nearly all connections are taken, those
 * that have been quiet for longest make room.
 */
#ifndef HUB_HTTP_DEADLINE_H
#define HUB_HTTP_DEADLINE_H

#include "storage/base/error.h"

#include <stdatomic.h>

struct hub_deadline_options {
    unsigned header_ms;                       /* connection (or first line) to the end of the header */
    unsigned body_ms;                         /* the whole body */
    unsigned idle_ms;                         /* between requests */
    uint32_t min_rate;                        /* bytes a second of a body or a reader; 0: any */
    unsigned rate_ms;                         /* ... over so long */
    unsigned crowded;                         /* connections from which on the longest quiet ones are ended */
    bool (*tick)(void *user, int64_t now_ms); /* with each look; true: memory is waited for. May be NULL */
    void *user;
};

enum hub_phase {
    HUB_PHASE_NEW, /* connected, and no request line yet */
    HUB_PHASE_HEADER,
    HUB_PHASE_BODY,
    HUB_PHASE_UPLOAD, /* a body that is taken as it comes: it may take as long as its bytes keep coming */
    HUB_PHASE_WORK,
    HUB_PHASE_SEND,
    HUB_PHASE_IDLE, /* between requests */
};

/** One connection; embedded in its owner, who removes it before the socket is closed. */
struct hub_deadline_entry {
    struct hub_deadline_entry *previous, *next;
    int fd;
    bool ended;
    atomic_bool abandoned; /* nobody waits for the answer: its client left, or the server ends */
    _Atomic(enum hub_phase) phase;
    _Atomic(int64_t) since_ms;
    _Atomic(uint64_t) received; /* of the body */
    /* the reaper's */
    _Atomic(uint64_t) holds; /* memory, until it is sent */
    int64_t window_ms;       /* when the window began that `acked` is of */
    uint64_t acked;
    int64_t closed_ms; /* `since_ms` of the phase in which the peer was seen to have closed its side */
};

struct hub_deadline;
HUB_MUST_USE enum hub_status hub_deadline_start(const struct hub_deadline_options *options,
                                                struct hub_deadline **out, struct hub_error *err);
void hub_deadline_stop(struct hub_deadline *deadline);
/** Begins in HUB_PHASE_NEW. */
void hub_deadline_add(struct hub_deadline *deadline, struct hub_deadline_entry *watch, int fd);
void hub_deadline_remove(struct hub_deadline *deadline, struct hub_deadline_entry *watch);
void hub_deadline_phase(struct hub_deadline_entry *watch, enum hub_phase phase);
/** Its request has ended: where the peer has closed its side, nothing more comes, and the connection is ended
 * now instead of at a next look. */
void hub_deadline_let_go(const struct hub_deadline_entry *watch);
/** Nothing was ever sent on it. */
bool hub_deadline_untouched(const struct hub_deadline_entry *watch);
/** What the answer holds in memory: the more that is, and while others wait for it, the faster it must be
 * read. */
void hub_deadline_holds(struct hub_deadline_entry *watch, uint64_t bytes);
/** The server ends: nobody waits for what is being made now. */
void hub_deadline_abandon(struct hub_deadline *deadline);
/** Connections ended since the start. */
uint64_t hub_deadline_ended(struct hub_deadline *deadline);
/** Bytes of the connection that its peer acknowledged, headers and all. False: not known (no TCP). */
bool hub_deadline_acknowledged(const struct hub_deadline_entry *watch, uint64_t *bytes);

#endif
