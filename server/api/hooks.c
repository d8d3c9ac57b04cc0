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
    MOST_WAITING = 1000,
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

struct waiting {
    struct waiting *next;
    int64_t due_ms;
    unsigned tries;
    char *text;
};

struct hub_hooks {
    struct hub_thread thread; /* its lock: of all below but the first three */
    const char *url;
    struct hub_log *log;
    struct hub_transport *transport;
    struct waiting *first, *last;
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
    hub_time_rfc3339_ns(hub_time_now_ns(), at);
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

static struct waiting *make(const struct hub_hook_event *event)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(EVENT_BYTES);
    struct waiting *one = calloc(1, sizeof *one);
    if (one && !write_event(event, &text))
        one->text = strndup(text.data, text.size);
    if (one && one->text)
        return one;
    free(one);
    return NULL;
}

void hub_hooks_send(struct hub_hooks *h, const struct hub_hook_event *event)
{
    if (!h)
        return;
    pthread_mutex_lock(&h->thread.lock);
    if (!is_repeated(h, event)) {
        struct waiting *one = h->figures.waiting < MOST_WAITING ? make(event) : NULL;
        if (one) {
            *(h->first ? &h->last->next : &h->first) = one;
            h->last = one;
            h->figures.waiting++;
            pthread_cond_signal(&h->thread.wake);
        } else {
            h->figures.dropped++;
        }
    }
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

/* With the lock. */
static void remove_first(struct hub_hooks *h)
{
    struct waiting *one = h->first;
    h->first = one->next;
    h->figures.waiting--;
    free(one->text);
    free(one);
}

static int64_t wait_of(unsigned tries)
{
    const int64_t wait_ms = (int64_t)FIRST_WAIT_MS << (tries - 1);
    return HUB_MIN(wait_ms, (int64_t)LONGEST_WAIT_MS);
}

/* With the lock. */
static void note_failure(struct hub_hooks *h, const struct hub_error *why)
{
    static const struct hub_log_event failed = {HUB_LOG_WARNING, "hook-failed", NULL},
                                      dropped = {HUB_LOG_ERROR, "hook-dropped", NULL};
    struct waiting *one = h->first;
    const bool over = ++one->tries == MOST_TRIES;
    h->figures.failed++;
    snprintf(h->figures.trouble, sizeof h->figures.trouble, "%.399s", why->detail);
    if (over)
        hub_log_event(h->log, &dropped, "an event was not taken in %d tries, and is dropped: %s (%.300s)",
                      MOST_TRIES, why->detail, one->text);
    else if (one->tries == 1)
        hub_log_event(h->log, &failed, "an event is sent again, later: %s", why->detail);
    one->due_ms = hub_time_mono_ms() + wait_of(one->tries);
    if (!over)
        return;
    h->figures.dropped++;
    remove_first(h);
}

/* With the lock, which is not held while it sends. */
static void send_first(struct hub_hooks *h)
{
    struct hub_error why = {0};
    const char *text = h->first->text; /* nobody else removes it */
    pthread_mutex_unlock(&h->thread.lock);
    const enum hub_status st = post(h, text, &why);
    pthread_mutex_lock(&h->thread.lock);
    if (st && h->thread.stop)
        return;
    if (st) {
        note_failure(h, &why);
        return;
    }
    h->figures.delivered++;
    h->figures.trouble[0] = '\0';
    remove_first(h);
}

static void *run(void *arg)
{
    struct hub_hooks *h = arg;
    pthread_mutex_lock(&h->thread.lock);
    while (!h->thread.stop) {
        const int64_t left_ms = h->first ? h->first->due_ms - hub_time_mono_ms() : TICK_MS;
        if (left_ms > 0)
            hub_thread_wait(&h->thread, (unsigned)HUB_MIN(left_ms, (int64_t)TICK_MS));
        else
            send_first(h);
    }
    pthread_mutex_unlock(&h->thread.lock);
    return NULL;
}

static int is_stopped(void *user)
{
    const struct hub_hooks *h = user;
    return h->thread.stop;
}

/* ---- its life ---- */

enum hub_status hub_hooks_start(const char *url, struct hub_log *log, struct hub_hooks **out,
                                struct hub_error *err)
{
    struct hub_hooks *h;
    HUB_TRY(hub_new(&h, 1, sizeof *h, err));
    h->url = url;
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
    if (h->first)
        hub_log_event(h->log, &(struct hub_log_event){HUB_LOG_WARNING, "hook-dropped", NULL},
                      "the hub ends: %llu events were not sent", (unsigned long long)h->figures.waiting);
    while (h->first)
        remove_first(h);
    free(h);
}

bool hub_hooks_figures(struct hub_hooks *h, struct hub_hook_figures *out)
{
    if (!h)
        return false;
    pthread_mutex_lock(&h->thread.lock);
    *out = h->figures;
    pthread_mutex_unlock(&h->thread.lock);
    return true;
}
