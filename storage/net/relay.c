/* Requests passed on: see relay.h. */
#include "storage/net/relay.h"

#include "storage/base/thread.h"
#include "storage/net/authorities.h"
#include "storage/text/time.h"

#include <ctype.h>
#include <curl/curl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <strings.h>

enum {
    CONNECT_MS = 5000,
    TICK_MS = 500, /* to see that nobody waits */
    IDLE_MS = 60000,
    PAUSED_TICK_MS = 50,   /* to see whether there is memory */
    MEMORY_WAIT_MS = 5000, /* for that */
    SHARES = 256,          /* clients whose numbers fall together share a turn */
};
#define HEADER_BYTES (64 * KIB)
#define SMALL_BYTES (256 * KIB) /* of an answer of unknown length: a longer one takes all that one may have */

struct hub_relayed {
    atomic_uint refs; /* one for the client, one for the relay until it is done */
    struct hub_file_fetch *fetch;
    CURL *easy;
    struct curl_slist *headers;
    struct hub_buf body, answer, lines; /* what is sent; what came: its body, its header */
    struct hub_buf_meter meter;         /* of the answer */
    struct hub_relay_memory memory;
    uint32_t client;
    uint64_t reserved;        /* of that memory */
    int64_t until_ms;         /* to begin, or to find memory; 0: neither is waited for */
    bool begun, paused;       /* paused: there is no memory for what came */
    struct hub_relayed *next; /* of those that are new, then of those under way */
    enum hub_status refused;
    unsigned status;
};

struct hub_relay {
    CURLM *multi;
    char *user_agent;
    struct hub_thread thread; /* its lock guards the members below */
    struct hub_relayed *fresh;
    unsigned count; /* fresh and under way */
    uint16_t of_client[SHARES];
    bool stops;
    /* its thread's own */
    struct hub_relayed *under_way;
    unsigned running;
    uint16_t running_of[SHARES];
    struct hub_relay_memory memory;
};

/* May a client that has `own` of the `count` taken places have one more? */
static bool is_fair(unsigned count, unsigned own, unsigned places)
{
    return count < places && own < (places - (count - own) + 1) / 2;
}

/* ---- one ---- */

void hub_relayed_put(struct hub_relayed *r)
{
    if (!r || atomic_fetch_sub(&r->refs, 1) != 1)
        return;
    if (r->easy)
        curl_easy_cleanup(r->easy);
    curl_slist_free_all(r->headers);
    hub_buf_dispose(&r->body);
    hub_buf_dispose(&r->answer);
    hub_buf_dispose(&r->lines);
    hub_fetch_put(r->fetch);
    if (r->reserved)
        r->memory.give(r->memory.user, r->client, r->reserved);
    free(r);
}

static void relayed_putp(struct hub_relayed **r)
{
    hub_relayed_put(*r);
}

struct hub_file_fetch *hub_relayed_fetch(const struct hub_relayed *r)
{
    return r->fetch;
}

unsigned hub_relayed_status(const struct hub_relayed *r)
{
    return r->status;
}

void hub_relayed_take(struct hub_relayed *r, struct hub_buf *out, uint64_t *reserved)
{
    *out = r->answer;
    out->meter = NULL;
    *reserved = r->reserved;
    r->answer = HUB_BUF_INIT(HUB_RELAYED_BYTES);
    r->reserved = 0;
}

/* Of the last header that came: there is one for each answer, 1xx too. */
struct hub_view hub_relayed_header(const struct hub_relayed *r, const char *name)
{
    const size_t size = strlen(name);
    const char *at = r->lines.data, *end = at + r->lines.size;
    while (at && at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        const char *stop = line_end ? line_end : end;
        if ((size_t)(stop - at) > size && at[size] == ':' && strncasecmp(at, name, size) == 0) {
            const char *value = at + size + 1;
            while (value < stop && isspace((unsigned char)*value))
                value++;
            while (stop > value && isspace((unsigned char)stop[-1]))
                stop--;
            return (struct hub_view){value, (size_t)(stop - value)};
        }
        at = stop + 1;
    }
    return (struct hub_view){0};
}

static size_t on_header(char *data, size_t size, size_t count, void *user)
{
    struct hub_relayed *r = user;
    const struct hub_view line = {data, size * count};
    if (hub_view_starts(line, "HTTP/"))
        r->lines.size = 0;
    r->refused = hub_buf_add_view(&r->lines, line, NULL);
    return r->refused ? 0 : line.size;
}

/* Before the answer's buffer grows. */
static enum hub_status take_memory(struct hub_buf_meter *meter, size_t capacity, struct hub_error *err)
{
    struct hub_relayed *r = HUB_CONTAINER_OF(meter, struct hub_relayed, meter);
    (void)err;
    if (capacity <= r->reserved)
        return HUB_OK;
    if (!r->memory.take(r->memory.user, r->client, capacity - r->reserved))
        return HUB_AGAIN;
    r->reserved = capacity;
    return HUB_OK;
}

/* All of it at once, so that no two answers wait for the memory that the other has. */
static enum hub_status make_room(struct hub_relayed *r, size_t more)
{
    curl_off_t length = -1;
    curl_easy_getinfo(r->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    if (length > (curl_off_t)HUB_RELAYED_BYTES)
        return HUB_TOO_BIG;
    if (!r->answer.size && length > (curl_off_t)more)
        more = (size_t)length;
    if (length < 0 && more <= HUB_RELAYED_BYTES - r->answer.size && r->answer.size + more > SMALL_BYTES)
        more = HUB_RELAYED_BYTES - r->answer.size;
    const size_t end_of_line = r->answer.size + more < HUB_RELAYED_BYTES;
    return hub_buf_reserve(&r->answer, more + end_of_line, NULL);
}

static size_t on_body(char *data, size_t size, size_t count, void *user)
{
    struct hub_relayed *r = user;
    enum hub_status st = make_room(r, size * count);
    if (st == HUB_AGAIN) {
        r->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    if (!st)
        st = hub_buf_add(&r->answer, data, size * count, NULL);
    r->refused = st;
    r->until_ms = 0;
    return st ? 0 : size * count;
}

static enum hub_status set_up(const struct hub_relay *relay, struct hub_relayed *r,
                              const struct hub_relay_request *request, struct hub_error *err)
{
    for (const char *const *line = request->headers; *line; line++) {
        struct curl_slist *list = curl_slist_append(r->headers, *line);
        HUB_TRY(hub_allocated(list, err));
        r->headers = list;
    }
    CURL *e = r->easy = curl_easy_init();
    HUB_TRY(hub_allocated(e, err));
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    hub_set_authorities(e);
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(e, CURLOPT_USERAGENT, relay->user_agent);
    curl_easy_setopt(e, CURLOPT_HTTPHEADER, r->headers);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, r);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, r);
    curl_easy_setopt(e, CURLOPT_PRIVATE, r);
    if (strcmp(request->method, "HEAD") == 0)
        curl_easy_setopt(e, CURLOPT_NOBODY, 1L);
    if (strcmp(request->method, "POST") == 0) {
        HUB_TRY(hub_buf_add_view(&r->body, request->body, err));
        curl_easy_setopt(e, CURLOPT_POST, 1L);
        curl_easy_setopt(e, CURLOPT_POSTFIELDS, r->body.data ? r->body.data : "");
        curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.size);
    }
    return hub_allocated(curl_easy_setopt(e, CURLOPT_URL, request->url) ? NULL : e, err);
}

/* What it took and did not need. */
static void give_rest(struct hub_relayed *r)
{
    hub_buf_fit(&r->answer, SMALL_BYTES);
    if (r->reserved > r->answer.capacity)
        r->memory.give(r->memory.user, r->client, r->reserved - r->answer.capacity);
    r->reserved = HUB_MIN(r->reserved, r->answer.capacity);
}

static enum hub_status outcome(struct hub_relayed *r, CURLcode code)
{
    struct hub_error *err = &r->fetch->err;
    long status = 0;
    if (r->refused == HUB_TOO_BIG)
        return hub_fail_as(err, HUB_TOO_BIG, HUB_PROBLEM_UPSTREAM_FAILED,
                           "the upstream's answer is longer than %d MiB", (int)(HUB_RELAYED_BYTES / MIB));
    if (r->refused)
        return hub_no_memory(err);
    curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
    if (code || status < 100)
        return hub_fail_as(err, HUB_IO, HUB_PROBLEM_UPSTREAM_UNAVAILABLE, "the upstream does not answer: %s",
                           curl_easy_strerror(code));
    r->status = (unsigned)status;
    give_rest(r);
    return HUB_OK;
}

/* ---- all of them ---- */

static void finish(struct hub_relay *relay, struct hub_relayed *r, enum hub_status status)
{
    pthread_mutex_lock(&relay->thread.lock);
    relay->count--;
    relay->of_client[r->client % SHARES]--;
    pthread_mutex_unlock(&relay->thread.lock);
    if (r->begun) {
        relay->running--;
        relay->running_of[r->client % SHARES]--;
        curl_multi_remove_handle(relay->multi, r->easy);
    }
    hub_fetch_done(r->fetch, status); /* which puts its reference */
    hub_relayed_put(r);
}

static void unlink_one(struct hub_relayed **first, struct hub_relayed *r)
{
    while (*first && *first != r)
        first = &(*first)->next;
    if (*first)
        *first = r->next;
}

/* Behind those that came before. */
static void take_fresh(struct hub_relay *relay)
{
    pthread_mutex_lock(&relay->thread.lock);
    struct hub_relayed *fresh = relay->fresh, *in_order = NULL, **end = &relay->under_way;
    relay->fresh = NULL;
    pthread_mutex_unlock(&relay->thread.lock);
    while (fresh) { /* the newest is the first */
        struct hub_relayed *r = fresh;
        fresh = r->next;
        r->next = in_order;
        in_order = r;
    }
    while (*end)
        end = &(*end)->next;
    *end = in_order;
}

static void begin_waiting(struct hub_relay *relay)
{
    for (struct hub_relayed *r = relay->under_way, *next; r && relay->running < HUB_RELAYED_AT_ONCE;
         r = next) {
        next = r->next;
        uint16_t *own = &relay->running_of[r->client % SHARES];
        if (r->begun || !is_fair(relay->running, *own, HUB_RELAYED_AT_ONCE))
            continue;
        /* what is left of the time that whoever asks has: waiting for a connection took some of it */
        const int64_t left = r->until_ms - hub_time_mono_ms();
        curl_easy_setopt(r->easy, CURLOPT_TIMEOUT_MS, (long)HUB_MAX(left, 1));
        if (curl_multi_add_handle(relay->multi, r->easy)) {
            unlink_one(&relay->under_way, r);
            finish(relay, r, hub_no_memory(&r->fetch->err));
            continue;
        }
        r->begun = true;
        r->until_ms = 0;
        relay->running++;
        ++*own;
    }
}

static void finish_done(struct hub_relay *relay)
{
    const CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(relay->multi, &left))) {
        struct hub_relayed *r = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        const CURLcode code = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&r);
        unlink_one(&relay->under_way, r);
        finish(relay, r, outcome(r, code));
    }
}

static enum hub_status no_room(struct hub_relayed *r)
{
    return hub_fail_as(&r->fetch->err, HUB_BUSY, HUB_PROBLEM_OVERLOADED,
                       r->begun ? "no memory was free for the upstream's answer within a few seconds"
                                : "too many requests wait for the upstream");
}

static void finish_left(struct hub_relay *relay, bool all)
{
    const int64_t now = hub_time_mono_ms();
    for (struct hub_relayed *r = relay->under_way, *next; r; r = next) {
        next = r->next;
        const bool over = r->until_ms && now >= r->until_ms;
        if (!all && !over && atomic_load(&r->refs) > 1)
            continue;
        unlink_one(&relay->under_way, r);
        finish(relay, r,
               over ? no_room(r)
                    : hub_fail(&r->fetch->err, HUB_CANCELLED, "all requests for the upstream have ended"));
    }
}

/* Those that found no memory try again. True: some still have to. */
static bool resume_paused(struct hub_relay *relay)
{
    bool paused = false;
    for (struct hub_relayed *r = relay->under_way; r; r = r->next) {
        if (!r->paused)
            continue;
        if (!r->until_ms)
            r->until_ms = hub_time_mono_ms() + MEMORY_WAIT_MS;
        r->paused = false;
        curl_easy_pause(r->easy, CURLPAUSE_CONT); /* which calls on_body */
        paused |= r->paused;
    }
    return paused;
}

static void *run(void *arg)
{
    struct hub_relay *relay = arg;
    while (!relay->thread.stop) {
        int running;
        take_fresh(relay);
        begin_waiting(relay);
        curl_multi_perform(relay->multi, &running);
        finish_done(relay);
        const bool paused = resume_paused(relay);
        finish_left(relay, false);
        curl_multi_poll(relay->multi, NULL, 0,
                        paused             ? PAUSED_TICK_MS
                        : relay->under_way ? TICK_MS
                                           : IDLE_MS,
                        NULL);
    }
    take_fresh(relay);
    finish_left(relay, true);
    return NULL;
}

enum hub_status hub_relay_send(struct hub_relay *relay, const struct hub_relay_request *request,
                               struct hub_relayed **out, struct hub_error *err)
{
    HUB_CLEANUP(relayed_putp) struct hub_relayed *r = NULL;
    HUB_TRY(hub_new(&r, 1, sizeof *r, err));
    atomic_init(&r->refs, 1);
    r->body = HUB_BUF_INIT(HUB_RELAYED_BYTES);
    r->answer = HUB_BUF_INIT(HUB_RELAYED_BYTES);
    r->lines = HUB_BUF_INIT(HEADER_BYTES);
    r->meter.grow = take_memory;
    r->answer.meter = &r->meter;
    r->memory = relay->memory;
    r->client = request->client;
    r->until_ms = hub_time_mono_ms() + HUB_RELAYED_MS;
    HUB_TRY(set_up(relay, r, request, err));
    HUB_TRY(hub_fetch_new(&r->fetch, err));
    pthread_mutex_lock(&relay->thread.lock);
    uint16_t *own = &relay->of_client[r->client % SHARES];
    const bool taken = !relay->thread.stop && is_fair(relay->count, *own, HUB_RELAYED_MOST);
    if (taken) {
        ++*own;
        atomic_fetch_add(&r->refs, 1);
        r->next = relay->fresh;
        relay->fresh = r;
        relay->count++;
    }
    pthread_mutex_unlock(&relay->thread.lock);
    if (!taken) {
        hub_fetch_done(r->fetch, HUB_BUSY); /* the relay's reference to it */
        return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_OVERLOADED, "too many requests wait for the upstream");
    }
    curl_multi_wakeup(relay->multi);
    *out = r;
    r = NULL;
    return HUB_OK;
}

enum hub_status hub_relay_start(const char *user_agent, const struct hub_relay_memory *memory,
                                struct hub_relay **out, struct hub_error *err)
{
    struct hub_relay *relay;
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    HUB_TRY(hub_new(&relay, 1, sizeof *relay, err));
    relay->memory = *memory;
    enum hub_status st = hub_dup(&relay->user_agent, user_agent, err);
    if (!st)
        st = hub_allocated((relay->multi = curl_multi_init()), err);
    if (!st) {
        curl_multi_setopt(relay->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)HUB_RELAYED_AT_ONCE);
        st = hub_thread_start(&relay->thread, run, relay, "the upstream", err);
    }
    if (!st) {
        *out = relay;
        return HUB_OK;
    }
    curl_multi_cleanup(relay->multi);
    free(relay->user_agent);
    free(relay);
    return st;
}

void hub_relay_stop(struct hub_relay *relay)
{
    if (!relay)
        return;
    relay->thread.stop = true;
    curl_multi_wakeup(relay->multi);
    hub_thread_stop(&relay->thread);
    curl_multi_cleanup(relay->multi);
    hub_thread_dispose(&relay->thread);
    free(relay->user_agent);
    free(relay);
}
