/* Events for an address outside: see hooks.h. They are sent one after another, in their order. */
#include "server/api/hooks.h"

#include "server/log/log.h"
#include "storage/base/thread.h"
#include "storage/net/transport.h"
#include "storage/text/json.h"
#include "storage/text/time.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    MOST_TRIES = 12, /* within some 35 minutes */
    FIRST_WAIT_MS = 1000,
    LONGEST_WAIT_MS = 600 * 1000,
    TICK_MS = 1000,
    CONNECT_MS = 10000,
    STALL_MS = 30000,
    QUOTA_MS = 600 * 1000, /* for which one draft's quota is not named again */
    EVENT_BYTES = 16 * 1024,
    ANSWER_BYTES = 64 * 1024,
};

struct hub_hooks {
    struct hub_thread thread; /* its lock: of all below but the next four */
    const char *url;
    struct hub_truth *truth;
    struct hub_log *log;
    struct hub_transport *transport;
    bool woken;
    struct hub_hook_figures figures;
    char quota_draft[40]; /* the last one that was named */
    int64_t quota_ms;
};

/* ---- what is sent ---- */

static void put_if_set(struct hub_json *json, const char *name, const char *text)
{
    if (text && *text)
        hub_json_put_text(json, name, text);
}

static enum hub_status write_event(const struct hub_hook_event *event, struct hub_buf *out)
{
    char at[HUB_TIME_CHARS];
    struct hub_json json = hub_json_to(out, NULL);
    hub_time_rfc3339_ms(event->at_ms, at);
    hub_json_object(&json);
    hub_json_put_text(&json, "event", event->event);
    hub_json_put_text(&json, "at", at);
    put_if_set(&json, "dataset", event->dataset);
    put_if_set(&json, "draft", event->draft);
    put_if_set(&json, "commit", event->commit);
    put_if_set(&json, "who", event->who);
    put_if_set(&json, "reason", event->reason);
    if (event->files) {
        hub_json_put_uint(&json, "files", event->files);
        hub_json_put_uint(&json, "bytes", event->bytes);
    }
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

/* A client that sends a thousand files over its quota is one event. */
static bool is_repeated(struct hub_hooks *h, const struct hub_hook_event *event)
{
    const int64_t now_ms = hub_time_mono_ms();
    if (strcmp(event->event, "quota") != 0 || !event->draft)
        return false;
    if (strcmp(event->draft, h->quota_draft) == 0 && now_ms - h->quota_ms < QUOTA_MS)
        return true;
    snprintf(h->quota_draft, sizeof h->quota_draft, "%s", event->draft);
    h->quota_ms = now_ms;
    return false;
}

/* With the lock. */
static void wake(struct hub_hooks *h)
{
    h->woken = true;
    pthread_cond_signal(&h->thread.wake);
}

void hub_hooks_wake(struct hub_hooks *h)
{
    if (!h)
        return;
    pthread_mutex_lock(&h->thread.lock);
    wake(h);
    pthread_mutex_unlock(&h->thread.lock);
}

void hub_hooks_send(struct hub_hooks *h, const struct hub_hook_event *event)
{
    if (!h)
        return;
    pthread_mutex_lock(&h->thread.lock);
    const bool repeated = is_repeated(h, event);
    pthread_mutex_unlock(&h->thread.lock);
    if (repeated)
        return;
    const enum hub_status st = hub_hook_event_add(h->truth, event, NULL);
    pthread_mutex_lock(&h->thread.lock);
    h->figures.dropped += st != HUB_OK;
    wake(h);
    pthread_mutex_unlock(&h->thread.lock);
}

/* ---- sending ---- */

static enum hub_status take_answer(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err)
{
    (void)fetch, (void)bytes, (void)err;
    return HUB_OK;
}

static enum hub_status post(struct hub_hooks *h, const char *text, struct hub_error *err)
{
    struct hub_fetch fetch = {.url = h->url,
                              .post = true,
                              .form = text,
                              .form_type = "application/json",
                              .limit = ANSWER_BYTES,
                              .body = take_answer};
    return hub_transport_get(h->transport, &fetch, err);
}

static int64_t wait_of(unsigned tries)
{
    const int64_t wait_ms = (int64_t)FIRST_WAIT_MS << HUB_MIN(tries, MOST_TRIES);
    return HUB_MIN(wait_ms, (int64_t)LONGEST_WAIT_MS);
}

/* The event under way, of the thread alone. */
struct turn {
    struct hub_hook_event event; /* number 0: none */
    char *text;
    int64_t due_ms, after; /* this one and those before it came to their end, whatever the rows say */
};

static void turn_end(struct turn *t)
{
    t->after = t->event.number ? t->event.number : t->after;
    hub_hook_event_dispose(&t->event);
    free(t->text);
    t->text = NULL;
}

/* The next one that waits, and how many do. */
static void turn_begin(struct hub_hooks *h, struct turn *t)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(EVENT_BYTES);
    uint64_t waiting = 0;
    if (!t->event.number)
        t->due_ms = 0;
    if (!t->event.number && hub_hook_event_next(h->truth, t->after, &t->event, NULL))
        t->event = (struct hub_hook_event){0};
    if (t->event.number && !t->text && !write_event(&t->event, &text))
        t->text = strndup(text.data, text.size);
    if (hub_hook_events_count(h->truth, &waiting, NULL) == HUB_OK) {
        pthread_mutex_lock(&h->thread.lock);
        h->figures.waiting = waiting;
        pthread_mutex_unlock(&h->thread.lock);
    }
}

static void note_failure(struct hub_hooks *h, struct turn *t, const struct hub_error *why)
{
    static const struct hub_log_event failed = {HUB_LOG_WARNING, "hook-failed", NULL},
                                      dropped = {HUB_LOG_ERROR, "hook-dropped", NULL};
    const bool over = t->event.tries + 1 >= MOST_TRIES;
    if (over)
        hub_log_event(h->log, &dropped, "an event was not taken in %d tries, and is dropped: %s (%.300s)",
                      MOST_TRIES, why->detail, t->text);
    else if (!t->event.tries)
        hub_log_event(h->log, &failed, "an event is sent again, later: %s", why->detail);
    if (over)
        (void)!hub_hook_event_done(h->truth, &t->event, NULL);
    else
        (void)!hub_hook_event_failed(h->truth, &t->event, NULL);
    pthread_mutex_lock(&h->thread.lock);
    h->figures.failed++;
    h->figures.dropped += over;
    snprintf(h->figures.trouble, sizeof h->figures.trouble, "%.399s", why->detail);
    pthread_mutex_unlock(&h->thread.lock);
    t->due_ms = hub_time_mono_ms() + wait_of(t->event.tries++);
    if (over)
        turn_end(t);
}

/* An event that was taken, and whose row cannot be removed, is sent once more after a restart. */
static void send_one(struct hub_hooks *h, struct turn *t)
{
    struct hub_error why = {0};
    const enum hub_status st = t->text ? post(h, t->text, &why) : hub_no_memory(&why);
    if (st && h->thread.stop)
        return;
    if (st) {
        note_failure(h, t, &why);
        return;
    }
    (void)!hub_hook_event_done(h->truth, &t->event, NULL);
    turn_end(t);
    pthread_mutex_lock(&h->thread.lock);
    h->figures.delivered++;
    h->figures.trouble[0] = '\0';
    pthread_mutex_unlock(&h->thread.lock);
}

/* Until something happens, or the event under way is due. */
static void rest(struct hub_hooks *h, const struct turn *t)
{
    const int64_t left_ms = t->event.number ? t->due_ms - hub_time_mono_ms() : TICK_MS;
    pthread_mutex_lock(&h->thread.lock);
    if (left_ms > 0 && !h->woken && !h->thread.stop)
        hub_thread_wait(&h->thread, (unsigned)HUB_MIN(left_ms, (int64_t)TICK_MS));
    h->woken = false;
    pthread_mutex_unlock(&h->thread.lock);
}

static void *run(void *arg)
{
    struct hub_hooks *h = arg;
    struct turn t = {0};
    while (!h->thread.stop) {
        turn_begin(h, &t);
        if (t.event.number && t.due_ms <= hub_time_mono_ms())
            send_one(h, &t);
        else
            rest(h, &t);
    }
    turn_end(&t);
    return NULL;
}

static int is_stopped(void *user)
{
    const struct hub_hooks *h = user;
    return h->thread.stop;
}

/* ---- its life ---- */

enum hub_status hub_hooks_start(const char *url, struct hub_truth *truth, struct hub_log *log,
                                struct hub_hooks **out, struct hub_error *err)
{
    struct hub_hooks *h;
    HUB_TRY(hub_new(&h, 1, sizeof *h, err));
    h->url = url;
    h->truth = truth;
    h->log = log;
    const struct hub_transport_options options = {.user_agent = "minari-hub/" HUB_VERSION,
                                                  .environment_proxy = true,
                                                  .connect_timeout_ms = CONNECT_MS,
                                                  .stall_timeout_ms = STALL_MS,
                                                  .retry = {.attempts = 1, .first_attempts = 1},
                                                  .interrupted = is_stopped,
                                                  .user = h};
    enum hub_status st = hub_transport_new(&options, &h->transport, err);
    if (!st)
        st = hub_thread_start(&h->thread, run, h, "the hook", err);
    if (st) {
        hub_transport_free(h->transport);
        free(h);
        return st;
    }
    hub_hook_events_keep(truth);
    *out = h;
    return HUB_OK;
}

void hub_hooks_stop(struct hub_hooks *h)
{
    if (!h)
        return;
    hub_thread_stop(&h->thread);
    hub_thread_dispose(&h->thread);
    hub_transport_free(h->transport);
    free(h);
}

bool hub_hooks_figures(struct hub_hooks *h, struct hub_hook_figures *out)
{
    if (!h)
        return false;
    pthread_mutex_lock(&h->thread.lock);
    *out = h->figures;
    out->dropped += hub_hook_events_dropped(h->truth);
    pthread_mutex_unlock(&h->thread.lock);
    return true;
}
