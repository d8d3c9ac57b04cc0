/* The reaper of slow connections: see deadline.h. */
#include "server/http/deadline.h"

#include <linux/sockios.h>
#include <linux/tcp.h> /* not netinet/tcp.h: its struct tcp_info ends before tcpi_bytes_acked */
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

enum { TICK_MS = 250 };

struct hub_deadline {
    struct hub_deadline_options options;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    pthread_t thread;
    struct hub_watch *first;
    atomic_uint_fast64_t ended;
    bool stopping;
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void hub_deadline_phase(struct hub_watch *watch, enum hub_phase phase)
{
    /* the time first: seen with the old phase it only makes that deadline later */
    atomic_store_explicit(&watch->since_ms, now_ms(), memory_order_relaxed);
    atomic_store_explicit(&watch->received, 0, memory_order_relaxed);
    atomic_store_explicit(&watch->phase, phase, memory_order_release);
}

static bool acknowledged(int fd, uint64_t *bytes)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    memset(&info, 0, sizeof info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size))
        return false;
    *bytes = info.tcpi_bytes_acked;
    return true;
}

/* The peer took less than it must in the last window, though there was something for it to take all along. */
static bool reads_too_slowly(const struct hub_deadline *deadline, struct hub_watch *watch, int64_t since,
                             int64_t now)
{
    int waiting = 0;
    uint64_t acked = 0;
    if (deadline->options.min_rate == 0 || ioctl(watch->fd, SIOCOUTQ, &waiting) ||
        !acknowledged(watch->fd, &acked))
        return false;
    if (waiting == 0 || watch->window_ms < since) { /* it is we who are slow, or a new answer began */
        watch->window_ms = now;
        watch->acked = acked;
        return false;
    }
    if (now - watch->window_ms < deadline->options.rate_ms)
        return false;
    uint64_t rate = (acked - watch->acked) * 1000 / (uint64_t)(now - watch->window_ms);
    watch->window_ms = now;
    watch->acked = acked;
    return rate < deadline->options.min_rate;
}

static bool is_over(const struct hub_deadline *deadline, struct hub_watch *watch, int64_t now)
{
    const struct hub_deadline_options *options = &deadline->options;
    enum hub_phase phase = atomic_load_explicit(&watch->phase, memory_order_acquire);
    int64_t since = atomic_load_explicit(&watch->since_ms, memory_order_relaxed);
    uint64_t received = atomic_load_explicit(&watch->received, memory_order_relaxed);
    int64_t age = now - since;
    switch (phase) {
    case HUB_PHASE_HEADER:
        return age > options->header_ms;
    case HUB_PHASE_BODY:
        return age > options->body_ms ||
               (age > options->rate_ms && received * 1000 / (uint64_t)age < options->min_rate);
    case HUB_PHASE_WORK:
        return false;
    case HUB_PHASE_SEND:
        return reads_too_slowly(deadline, watch, since, now);
    case HUB_PHASE_IDLE:
        return age > options->idle_ms;
    }
    return false;
}

static void end(struct hub_deadline *deadline, struct hub_watch *watch)
{
    /* what is still unsent is dropped with the connection instead of being kept by the kernel for a peer that
     * takes nothing */
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    (void)setsockopt(watch->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    (void)shutdown(watch->fd, SHUT_RDWR);
    watch->ended = true;
    atomic_fetch_add_explicit(&deadline->ended, 1, memory_order_relaxed);
}

static void *reaper(void *arg)
{
    struct hub_deadline *deadline = arg;
    pthread_mutex_lock(&deadline->mutex);
    while (!deadline->stopping) {
        int64_t now = now_ms();
        for (struct hub_watch *watch = deadline->first; watch; watch = watch->next)
            if (!watch->ended && is_over(deadline, watch, now))
                end(deadline, watch);
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += TICK_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&deadline->wake, &deadline->mutex, &until);
    }
    pthread_mutex_unlock(&deadline->mutex);
    return NULL;
}

enum hub_status hub_deadline_start(const struct hub_deadline_options *options, struct hub_deadline **out,
                                   struct hub_error *err)
{
    struct hub_deadline *deadline = calloc(1, sizeof *deadline);
    if (!deadline)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for the deadlines");
    deadline->options = *options;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&deadline->mutex, NULL);
    pthread_cond_init(&deadline->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    int errnum = pthread_create(&deadline->thread, NULL, reaper, deadline);
    if (errnum) {
        free(deadline);
        return hub_fail_errno(err, errnum, "cannot start the deadline thread");
    }
    *out = deadline;
    return HUB_OK;
}

void hub_deadline_stop(struct hub_deadline *deadline)
{
    if (!deadline)
        return;
    pthread_mutex_lock(&deadline->mutex);
    deadline->stopping = true;
    pthread_cond_signal(&deadline->wake);
    pthread_mutex_unlock(&deadline->mutex);
    pthread_join(deadline->thread, NULL);
    pthread_cond_destroy(&deadline->wake);
    pthread_mutex_destroy(&deadline->mutex);
    free(deadline);
}

void hub_deadline_add(struct hub_deadline *deadline, struct hub_watch *watch, int fd)
{
    watch->fd = fd;
    watch->ended = false;
    watch->previous = NULL;
    watch->window_ms = 0;
    hub_deadline_phase(watch, HUB_PHASE_HEADER);
    pthread_mutex_lock(&deadline->mutex);
    watch->next = deadline->first;
    if (watch->next)
        watch->next->previous = watch;
    deadline->first = watch;
    pthread_mutex_unlock(&deadline->mutex);
}

void hub_deadline_remove(struct hub_deadline *deadline, struct hub_watch *watch)
{
    pthread_mutex_lock(&deadline->mutex);
    if (watch->previous)
        watch->previous->next = watch->next;
    else
        deadline->first = watch->next;
    if (watch->next)
        watch->next->previous = watch->previous;
    pthread_mutex_unlock(&deadline->mutex);
}

uint64_t hub_deadline_ended(struct hub_deadline *deadline)
{
    return atomic_load_explicit(&deadline->ended, memory_order_relaxed);
}
