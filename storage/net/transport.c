/* HTTP over libcurl: see transport.h. One curl multi handle, one easy handle a connection. */
#include "storage/net/attempt.h"

#include "storage/text/time.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

enum { POLL_MS = 100 };

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void initialise(void)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}

static char *copy_of(const char *text)
{
    return text && *text ? strdup(text) : NULL;
}

/* Nothing of it stays in freed memory. */
static void free_secret(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

enum hub_status hub_transport_new(const struct hub_transport_options *options, struct hub_transport **out,
                                  struct hub_error *err)
{
    pthread_once(&once, initialise);
    struct hub_transport *t = calloc(1, sizeof *t);
    if (!t || !(t->multi = curl_multi_init())) {
        free(t);
        return hub_no_memory(err);
    }
    t->options = *options;
    t->own.per_s = options->bytes_per_s;
    t->rate = options->rate ? options->rate : &t->own;
    t->token = copy_of(options->token);
    t->user_agent = copy_of(options->user_agent);
    t->proxy = copy_of(options->proxy);
    t->unix_socket = copy_of(options->unix_socket);
    if (getrandom(&t->random, sizeof t->random, GRND_NONBLOCK) != sizeof t->random)
        t->random = hub_time_mono_us();
    t->random |= 1;
    pthread_mutex_init(&t->lock, NULL);
    *out = t;
    return HUB_OK;
}

void hub_transport_free(struct hub_transport *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < HUB_MAX_CONNECTIONS; i++) {
        struct hub_transport_slot *s = &t->slots[i];
        if (s->easy && s->state == HUB_SLOT_RUNNING)
            curl_multi_remove_handle(t->multi, s->easy);
        curl_easy_cleanup(s->easy);
        curl_slist_free_all(s->headers);
        hub_buf_dispose(&s->problem);
        free(s->location);
    }
    curl_multi_cleanup(t->multi);
    pthread_mutex_destroy(&t->lock);
    free_secret(t->token);
    free(t->user_agent);
    free(t->proxy);
    free(t->unix_socket);
    free(t);
}

enum hub_status hub_transport_set_token(struct hub_transport *t, const char *token, struct hub_error *err)
{
    char *copy = copy_of(token);
    if (token && *token && !copy)
        return hub_no_memory(err);
    free_secret(t->token);
    t->token = copy;
    return HUB_OK;
}

/* ---- submission and completion ---- */

void hub_transport_submit(struct hub_transport *t, struct hub_fetch *fetch)
{
    fetch->behind = NULL;
    pthread_mutex_lock(&t->lock);
    *(t->first ? &t->last->behind : &t->first) = fetch;
    t->last = fetch;
    pthread_mutex_unlock(&t->lock);
    (void)curl_multi_wakeup(t->multi);
}

static struct hub_fetch *take_submitted(struct hub_transport *t)
{
    pthread_mutex_lock(&t->lock);
    struct hub_fetch *fetch = t->first;
    if (fetch)
        t->first = fetch->behind;
    pthread_mutex_unlock(&t->lock);
    return fetch;
}

/* It will not be finished. */
static void drop(struct hub_fetch *fetch)
{
    struct hub_error err = {0};
    if (fetch->awaited)
        (void)fetch->finished(fetch, hub_fail(&err, HUB_CANCELLED, "the transfer has ended"), &err);
}

void hub_transport_drop(struct hub_transport *t)
{
    pthread_mutex_lock(&t->lock);
    struct hub_fetch *fetch = t->first, *behind;
    t->first = NULL;
    pthread_mutex_unlock(&t->lock);
    for (; fetch; fetch = behind) {
        behind = fetch->behind; /* the callback may free it */
        drop(fetch);
    }
}

static enum hub_status finish(struct hub_transport_slot *s, enum hub_status st, struct hub_error *err)
{
    struct hub_fetch *fetch = s->fetch;
    s->state = HUB_SLOT_IDLE;
    s->fetch = NULL;
    if (st && err)
        *err = s->error;
    return fetch->finished ? fetch->finished(fetch, st, err) : st;
}

/* Put idle connections to work and wake those whose wait is over. `busy` counts what is then under way. */
static enum hub_status fill(struct hub_transport *t, unsigned *busy, struct hub_error *err)
{
    const uint64_t now = hub_time_mono_ms();
    *busy = 0;
    for (unsigned i = 0; i < HUB_MAX_CONNECTIONS; i++) {
        struct hub_transport_slot *s = &t->slots[i];
        s->transport = t;
        if (s->state == HUB_SLOT_IDLE) {
            s->fetch = take_submitted(t);
            if (!s->fetch)
                continue;
            s->attempt = 0;
            s->asked_anew = false;
            hub_attempt_go_back(s);
            s->state = HUB_SLOT_WAITING;
            s->wake_ms = now + s->fetch->wait_ms;
        }
        (*busy)++;
        if (s->state != HUB_SLOT_WAITING || s->wake_ms > now)
            continue;
        const enum hub_status st = hub_attempt_begin(s);
        if (st)
            HUB_TRY(finish(s, st, err));
    }
    return HUB_OK;
}

static enum hub_status collect(struct hub_transport *t, bool *any, struct hub_error *err)
{
    CURLMsg *message;
    int left;
    *any = false;
    while ((message = curl_multi_info_read(t->multi, &left))) {
        struct hub_transport_slot *s = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        const CURLcode code = message->data.result; /* the message goes with the handle */
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&s);
        curl_multi_remove_handle(t->multi, s->easy);
        *any = true;
        bool again = false;
        const enum hub_status st = hub_attempt_end(s, code, &again);
        if (!again)
            HUB_TRY(finish(s, st, err));
    }
    return HUB_OK;
}

static enum hub_status tick(struct hub_transport *t, const struct hub_drive *drive, uint64_t *last,
                            struct hub_error *err)
{
    const uint64_t now = hub_time_mono_ms();
    if (now - *last < POLL_MS && *last)
        return HUB_OK;
    *last = now;
    if (t->heard_bytes * 1000 >= HUB_LOW_SPEED * (now - t->heard_ms)) {
        t->heard_ms = now;
        t->heard_bytes = 0;
    }
    if (t->options.interrupted && t->options.interrupted(t->options.user))
        return hub_fail(err, HUB_CANCELLED, "interrupted");
    return drive->tick ? drive->tick(drive->user, err) : HUB_OK;
}

/* How long to sleep at most: until the next wake-up or tick. */
static int pause_ms(const struct hub_transport *t)
{
    const uint64_t now = hub_time_mono_ms();
    uint64_t ms = POLL_MS;
    for (unsigned i = 0; i < HUB_MAX_CONNECTIONS; i++)
        if (t->slots[i].state == HUB_SLOT_WAITING)
            ms = HUB_MIN(ms, t->slots[i].wake_ms > now ? t->slots[i].wake_ms - now : 0);
    return (int)ms;
}

/* Whether more came than the rate allows by now: then nothing is read for a moment, and the peers have to
 * wait. */
static bool too_fast(const struct hub_transport *t)
{
    const uint64_t ahead_us = hub_rate_ahead_us(t->rate);
    if (ahead_us < 1000)
        return false;
    nanosleep(&(struct timespec){.tv_nsec = (long)HUB_MIN(ahead_us, (uint64_t)POLL_MS * 1000) * 1000}, NULL);
    return true;
}

static enum hub_status loop(struct hub_transport *t, const struct hub_drive *drive, struct hub_error *err)
{
    uint64_t last_tick = 0;
    t->heard_ms = hub_time_mono_ms();
    t->heard_bytes = 0;
    while (true) {
        unsigned busy = 0;
        int running = 0;
        bool any = false;
        HUB_TRY(tick(t, drive, &last_tick, err));
        HUB_TRY(fill(t, &busy, err));
        if (too_fast(t))
            continue;
        if (!busy && !drive->stays)
            return HUB_OK;
        if (curl_multi_perform(t->multi, &running))
            return hub_fail(err, HUB_IO, "the HTTP library failed");
        HUB_TRY(collect(t, &any, err));
        if (!any)
            (void)curl_multi_poll(t->multi, NULL, 0, pause_ms(t), NULL);
    }
}

enum hub_status hub_transport_drive(struct hub_transport *t, const struct hub_drive *drive,
                                    struct hub_error *err)
{
    const bool driven = atomic_exchange(&t->driven, true);
    assert(!driven);
    (void)driven;
    const enum hub_status st = loop(t, drive, err);
    for (unsigned i = 0; i < HUB_MAX_CONNECTIONS; i++) {
        struct hub_transport_slot *s = &t->slots[i];
        struct hub_fetch *fetch = s->fetch;
        if (s->state == HUB_SLOT_RUNNING)
            curl_multi_remove_handle(t->multi, s->easy);
        s->state = HUB_SLOT_IDLE;
        s->fetch = NULL;
        if (fetch)
            drop(fetch);
    }
    if (st)
        hub_transport_drop(t);
    atomic_store(&t->driven, false);
    return st;
}

uint64_t hub_transport_silent_ms(const struct hub_transport *t)
{
    return atomic_load(&t->driven) ? hub_time_mono_ms() - t->heard_ms : 0;
}

enum hub_status hub_transport_get(struct hub_transport *t, struct hub_fetch *fetch, struct hub_error *err)
{
    hub_transport_submit(t, fetch);
    return hub_transport_drive(t, &(struct hub_drive){0}, err);
}
