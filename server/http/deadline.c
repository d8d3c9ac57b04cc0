/* The reaper of slow connections: see deadline.h. */
#include "server/http/deadline.h"

#include "storage/base/thread.h"

#include <linux/sockios.h>
#include <linux/tcp.h> /* not netinet/tcp.h: its struct tcp_info ends before tcpi_bytes_acked */
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

enum {
    TICK_MS = 250,
    CROWDED_TICK_MS = 50,
    QUIET_MS = 250,
    HALF_CLOSED_MS = 1000,
    PATIENCE_S = 3600,
    SHORT_S = 60
};

/* So much of an answer is left to the kernel when its connection is ended. */
#define LAST_BYTES (16 * KIB)

struct hub_deadline {
    struct hub_deadline_options options;
    struct hub_thread thread;
    struct hub_deadline_entry *first;
    unsigned count;
    atomic_uint_fast64_t ended;
    bool is_short; /* memory */
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void hub_deadline_phase(struct hub_deadline_entry *watch, enum hub_phase phase)
{
    /* the time first: seen with the old phase it only makes that deadline later */
    atomic_store_explicit(&watch->since_ms, now_ms(), memory_order_relaxed);
    atomic_store_explicit(&watch->received, 0, memory_order_relaxed);
    atomic_store_explicit(&watch->phase, phase, memory_order_release);
}

static bool tcp_info_of(int fd, struct tcp_info *info)
{
    socklen_t size = sizeof *info;
    memset(info, 0, sizeof *info);
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &size) == 0;
}

void hub_deadline_holds(struct hub_deadline_entry *watch, uint64_t bytes)
{
    atomic_store_explicit(&watch->holds, bytes, memory_order_relaxed);
}

static bool acknowledged(int fd, uint64_t *bytes)
{
    struct tcp_info info;
    if (!tcp_info_of(fd, &info))
        return false;
    *bytes = info.tcpi_bytes_acked;
    return true;
}

bool hub_deadline_untouched(const struct hub_deadline_entry *watch)
{
    struct tcp_info info;
    return tcp_info_of(watch->fd, &info) && info.tcpi_bytes_sent == 0;
}

static size_t unsent(const struct hub_deadline_entry *watch)
{
    int waiting = 0;
    return ioctl(watch->fd, SIOCOUTQ, &waiting) == 0 && waiting > 0 ? (size_t)waiting : 0;
}

/* Memory comes back within an hour, or within a minute while others wait for it. */
static uint64_t least_rate(const struct hub_deadline *deadline, const struct hub_deadline_entry *watch)
{
    const uint64_t holds = atomic_load_explicit(&watch->holds, memory_order_relaxed);
    return HUB_MAX((uint64_t)deadline->options.min_rate, holds / (deadline->is_short ? SHORT_S : PATIENCE_S));
}

/* The peer took less than it must in the last window, though there was something for it to take all along. */
static bool reads_too_slowly(const struct hub_deadline *deadline, struct hub_deadline_entry *watch,
                             int64_t since, int64_t now)
{
    uint64_t acked = 0;
    if (deadline->options.min_rate == 0 || !acknowledged(watch->fd, &acked))
        return false;
    if (unsent(watch) == 0 || watch->window_ms < since) { /* it is we who are slow, or a new answer began */
        watch->window_ms = now;
        watch->acked = acked;
        return false;
    }
    if (now - watch->window_ms < deadline->options.rate_ms / (deadline->is_short ? 4 : 1))
        return false;
    uint64_t rate = (acked - watch->acked) * 1000 / (uint64_t)(now - watch->window_ms);
    watch->window_ms = now;
    watch->acked = acked;
    return rate < least_rate(deadline, watch);
}

static bool comes_too_slowly(const struct hub_deadline_options *options, uint64_t received, int64_t age)
{
    return age > options->rate_ms && received * 1000 / (uint64_t)age < options->min_rate;
}

static bool is_over(const struct hub_deadline *deadline, struct hub_deadline_entry *watch, int64_t now)
{
    const struct hub_deadline_options *options = &deadline->options;
    enum hub_phase phase = atomic_load_explicit(&watch->phase, memory_order_acquire);
    int64_t since = atomic_load_explicit(&watch->since_ms, memory_order_relaxed);
    uint64_t received = atomic_load_explicit(&watch->received, memory_order_relaxed);
    int64_t age = now - since;
    switch (phase) {
    case HUB_PHASE_NEW:
    case HUB_PHASE_HEADER:
        return age > options->header_ms;
    case HUB_PHASE_BODY:
        return age > options->body_ms || comes_too_slowly(options, received, age);
    case HUB_PHASE_UPLOAD:
        return comes_too_slowly(options, received, age);
    case HUB_PHASE_WORK:
        return false;
    case HUB_PHASE_SEND:
        return reads_too_slowly(deadline, watch, since, now);
    case HUB_PHASE_IDLE: /* the end of the last answer may still be on its way */
        return age > options->idle_ms &&
               (unsent(watch) == 0 || reads_too_slowly(deadline, watch, since, now));
    }
    return false;
}

/* Has the peer left while its answer is being made? One that only closed its sending side, as scripts of
 * HTTP/1.0 do, looks like one that is gone: it gets its answer if that is made soon. */
static void look_for_peer(struct hub_deadline_entry *watch, int64_t now)
{
    struct pollfd peer = {.fd = watch->fd, .events = POLLRDHUP};
    if (atomic_load_explicit(&watch->phase, memory_order_acquire) != HUB_PHASE_WORK || poll(&peer, 1, 0) <= 0)
        return;
    const int64_t age = now - atomic_load_explicit(&watch->since_ms, memory_order_relaxed);
    if (peer.revents & (POLLERR | POLLHUP) || age > HALF_CLOSED_MS)
        atomic_store_explicit(&watch->abandoned, true, memory_order_relaxed);
}

/* Nothing more will come from the peer, and it has nearly all that we had for it. (Not all: a peer that has
 * gone may leave the last bytes unacknowledged for minutes.) Believed when it is seen twice in the same
 * phase, as the event thread may be about to look at what it has just read. */
static bool is_left(struct hub_deadline_entry *watch)
{
    enum hub_phase phase = atomic_load_explicit(&watch->phase, memory_order_acquire);
    int64_t since = atomic_load_explicit(&watch->since_ms, memory_order_relaxed);
    char byte;
    if (phase == HUB_PHASE_WORK || phase == HUB_PHASE_SEND ||
        recv(watch->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0 || unsent(watch) > LAST_BYTES)
        return false;
    bool again = watch->closed_ms == since;
    watch->closed_ms = since;
    return again;
}

/* The socket stays libmicrohttpd's, which sees the end and closes it. What the kernel still has to send goes
 * out. */
static void end(struct hub_deadline_entry *watch)
{
    (void)shutdown(watch->fd, SHUT_RDWR);
    watch->ended = true;
}

/* What is still unsent is dropped with the connection instead of being kept by the kernel for a peer that
 * takes nothing. */
static void end_at_once(struct hub_deadline *deadline, struct hub_deadline_entry *watch)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    (void)setsockopt(watch->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    end(watch);
    atomic_fetch_add_explicit(&deadline->ended, 1, memory_order_relaxed);
}

void hub_deadline_let_go(const struct hub_deadline_entry *watch)
{
    char byte;
    if (recv(watch->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
        (void)shutdown(watch->fd, SHUT_RDWR);
}

/* ---- making room ---- */

/* Quiet: between requests, or before the first, and not only for a moment. */
static bool is_quiet_since(const struct hub_deadline_entry *watch, int64_t when)
{
    enum hub_phase phase = atomic_load_explicit(&watch->phase, memory_order_acquire);
    return !watch->ended && (phase == HUB_PHASE_NEW || phase == HUB_PHASE_IDLE) &&
           atomic_load_explicit(&watch->since_ms, memory_order_relaxed) <= when;
}

static unsigned quiet_since(const struct hub_deadline *deadline, int64_t when)
{
    unsigned n = 0;
    for (const struct hub_deadline_entry *watch = deadline->first; watch; watch = watch->next)
        n += is_quiet_since(watch, when);
    return n;
}

/* End the `excess` connections that have been quiet for longest: the latest moment since which so many are is
 * found by halving. */
static void make_room(struct hub_deadline *deadline, unsigned excess, int64_t now)
{
    int64_t low = now - (int64_t)HUB_MAX(deadline->options.idle_ms, deadline->options.header_ms);
    int64_t high = now - QUIET_MS;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (quiet_since(deadline, middle) >= excess)
            high = middle;
        else
            low = middle + 1;
    }
    for (struct hub_deadline_entry *watch = deadline->first; watch && excess > 0; watch = watch->next) {
        if (!is_quiet_since(watch, high))
            continue;
        end(watch);
        atomic_fetch_add_explicit(&deadline->ended, 1, memory_order_relaxed);
        excess--;
    }
}

static void look_at_all(struct hub_deadline *deadline)
{
    int64_t now = now_ms();
    unsigned open = 0;
    for (struct hub_deadline_entry *watch = deadline->first; watch; watch = watch->next) {
        if (watch->ended)
            continue;
        look_for_peer(watch, now);
        if (is_over(deadline, watch, now))
            end_at_once(deadline, watch);
        else if (is_left(watch))
            end(watch);
        else
            open++;
    }
    if (open > deadline->options.crowded)
        make_room(deadline, open - deadline->options.crowded, now);
}

static void *reaper(void *arg)
{
    struct hub_deadline *deadline = arg;
    pthread_mutex_lock(&deadline->thread.lock);
    while (!deadline->thread.stop) {
        if (deadline->options.tick) {
            /* it may end what waits, and so resume connections */
            pthread_mutex_unlock(&deadline->thread.lock);
            deadline->is_short = deadline->options.tick(deadline->options.user, now_ms());
            pthread_mutex_lock(&deadline->thread.lock);
        }
        look_at_all(deadline);
        bool crowded = deadline->count > deadline->options.crowded / 4 * 3;
        hub_thread_wait(&deadline->thread, crowded ? CROWDED_TICK_MS : TICK_MS);
    }
    pthread_mutex_unlock(&deadline->thread.lock);
    return NULL;
}

enum hub_status hub_deadline_start(const struct hub_deadline_options *options, struct hub_deadline **out,
                                   struct hub_error *err)
{
    struct hub_deadline *deadline;
    HUB_TRY(hub_new(&deadline, 1, sizeof *deadline, err));
    deadline->options = *options;
    const enum hub_status st = hub_thread_start(&deadline->thread, reaper, deadline, "deadlines", err);
    if (st)
        free(deadline);
    else
        *out = deadline;
    return st;
}

void hub_deadline_stop(struct hub_deadline *deadline)
{
    if (!deadline)
        return;
    hub_thread_stop(&deadline->thread);
    hub_thread_dispose(&deadline->thread);
    free(deadline);
}

void hub_deadline_add(struct hub_deadline *deadline, struct hub_deadline_entry *watch, int fd)
{
    watch->fd = fd;
    watch->ended = false;
    watch->previous = NULL;
    watch->window_ms = 0;
    watch->closed_ms = 0;
    hub_deadline_phase(watch, HUB_PHASE_NEW);
    pthread_mutex_lock(&deadline->thread.lock);
    watch->next = deadline->first;
    if (watch->next)
        watch->next->previous = watch;
    deadline->first = watch;
    deadline->count++;
    pthread_mutex_unlock(&deadline->thread.lock);
}

void hub_deadline_remove(struct hub_deadline *deadline, struct hub_deadline_entry *watch)
{
    pthread_mutex_lock(&deadline->thread.lock);
    if (watch->previous)
        watch->previous->next = watch->next;
    else
        deadline->first = watch->next;
    if (watch->next)
        watch->next->previous = watch->previous;
    deadline->count--;
    pthread_mutex_unlock(&deadline->thread.lock);
}

void hub_deadline_abandon(struct hub_deadline *deadline)
{
    pthread_mutex_lock(&deadline->thread.lock);
    for (struct hub_deadline_entry *watch = deadline->first; watch; watch = watch->next)
        atomic_store_explicit(&watch->abandoned, true, memory_order_relaxed);
    pthread_mutex_unlock(&deadline->thread.lock);
}

uint64_t hub_deadline_ended(struct hub_deadline *deadline)
{
    return atomic_load_explicit(&deadline->ended, memory_order_relaxed);
}

bool hub_deadline_acknowledged(const struct hub_deadline_entry *watch, uint64_t *bytes)
{
    return acknowledged(watch->fd, bytes);
}
