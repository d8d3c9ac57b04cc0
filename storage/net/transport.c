/* HTTP over libcurl: see transport.h. One curl multi handle, one easy handle a connection. */
#include "storage/net/transport.h"

#include "storage/net/problem.h"
#include "storage/net/redirect.h"
#include "storage/text/time.h"

#include <assert.h>
#include <curl/curl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { POLL_MS = 100, PROBLEM_BYTES = 64 * 1024, MAX_REDIRECTS = 5 };
enum { LOW_SPEED = 1024 };           /* bytes a second: what is slower for the stall timeout is given up */
enum { PROGRESS_BYTES = 48 * 1024 }; /* an attempt that brought so much was not in vain: it does not count */

enum slot_state { IDLE, RUNNING, WAITING };

/* One connection and the fetch it works on. */
struct transport_slot {
    struct hub_transport *transport;
    CURL *easy;
    struct curl_slist *headers;
    enum slot_state state;
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
    struct transport_slot slots[HUB_MAX_CONNECTIONS];
    pthread_mutex_t lock;
    struct hub_fetch *first, *last; /* submitted and not begun; by the lock */
    bool answered_before;
    uint64_t random;
    struct hub_rate own, *rate;
    uint64_t heard_ms, heard_bytes; /* when something useful came last in this drive; what came since */
    atomic_bool driven;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void initialise(void)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}

static char *copy_of(const char *text)
{
    return text && *text ? strdup(text) : NULL;
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
        struct transport_slot *s = &t->slots[i];
        if (s->easy && s->state == RUNNING)
            curl_multi_remove_handle(t->multi, s->easy);
        curl_easy_cleanup(s->easy);
        curl_slist_free_all(s->headers);
        hub_buf_dispose(&s->problem);
        free(s->location);
    }
    curl_multi_cleanup(t->multi);
    pthread_mutex_destroy(&t->lock);
    free(t->token);
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
    free(t->token);
    t->token = copy;
    return HUB_OK;
}

static uint32_t next_random(struct hub_transport *t)
{
    t->random ^= t->random << 13;
    t->random ^= t->random >> 7;
    t->random ^= t->random << 17;
    return (uint32_t)(t->random >> 32);
}

/* ---- what curl calls ---- */

static bool is_success(unsigned status)
{
    return status >= 200 && status < 300;
}

static size_t on_header(char *data, size_t size, size_t count, void *user)
{
    struct transport_slot *s = user;
    hub_answer_line(&s->fetch->answer, (struct hub_view){data, size * count}, hub_time_now_s());
    return size * count;
}

/* The head is complete: the body begins, or there is none. */
static enum hub_status begin_body(struct transport_slot *s)
{
    struct hub_fetch *f = s->fetch;
    s->head_done = true;
    s->transport->answered_before = true;
    if (!is_success(f->answer.status))
        return HUB_OK;
    s->transport->heard_ms = hub_time_mono_ms();
    return !f->head ? HUB_OK : f->head(f, &f->answer, &s->error);
}

static enum hub_status take_body(struct transport_slot *s, struct hub_view bytes)
{
    struct hub_fetch *f = s->fetch;
    if (!is_success(f->answer.status)) {
        const size_t room = s->problem.limit - s->problem.size;
        return hub_buf_add(&s->problem, bytes.data, HUB_MIN(room, bytes.size), &s->error);
    }
    const uint64_t limit = f->limit ? f->limit : f->count;
    if (limit && (bytes.size > limit || f->done > limit - bytes.size))
        return hub_fail_as(&s->error, HUB_TOO_BIG, "too-long", "the answer is longer than %" PRIu64 " bytes",
                           limit);
    const enum hub_status st = f->body ? f->body(f, bytes, &s->error) : HUB_OK;
    if (!st)
        f->done += bytes.size;
    s->transport->heard_bytes += bytes.size;
    return st;
}

static size_t on_body(char *data, size_t size, size_t count, void *user)
{
    struct transport_slot *s = user;
    const struct hub_view bytes = {data, size * count};
    s->fetch->bytes_seen += bytes.size;
    s->attempt_bytes += bytes.size;
    hub_rate_add(s->transport->rate, bytes.size);
    if (!s->head_done)
        s->refused = begin_body(s);
    if (!s->refused)
        s->refused = take_body(s, bytes);
    return s->refused ? CURL_WRITEFUNC_ERROR : bytes.size;
}

/* A name is looked up before this: the address is what counts. */
static curl_socket_t on_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct transport_slot *s = user;
    if (purpose == CURLSOCKTYPE_IPCXN && s->only_public && hub_address_private(&address->addr)) {
        s->was_private = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* ---- one attempt ---- */

static enum hub_status set_up(struct transport_slot *s)
{
    const struct hub_transport *t = s->transport;
    const struct hub_transport_options *o = &t->options;
    if (!s->easy && !(s->easy = curl_easy_init()))
        return hub_no_memory(&s->error);
    CURL *e = s->easy;
    curl_easy_reset(e); /* connections and the DNS cache stay */
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L); /* see `redirect` */
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    /* one transfer a connection: parallel ranges are meant to be parallel */
    curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(e, CURLOPT_BUFFERSIZE, t->rate->per_s ? 16L * 1024 : 512L * 1024);
    curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)o->connect_timeout_ms);
    curl_easy_setopt(e, CURLOPT_LOW_SPEED_LIMIT, (long)LOW_SPEED);
    curl_easy_setopt(e, CURLOPT_LOW_SPEED_TIME, (long)((o->stall_timeout_ms + 999) / 1000));
    curl_easy_setopt(e, CURLOPT_USERAGENT, t->user_agent);
    if (t->unix_socket)
        curl_easy_setopt(e, CURLOPT_UNIX_SOCKET_PATH, t->unix_socket);
    if (t->proxy)
        curl_easy_setopt(e, CURLOPT_PROXY, t->proxy);
    else if (!o->environment_proxy)
        curl_easy_setopt(e, CURLOPT_PROXY, ""); /* not even what the environment says */
    if (t->token && !s->elsewhere) {
        curl_easy_setopt(e, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        curl_easy_setopt(e, CURLOPT_XOAUTH2_BEARER, t->token);
    }
    s->was_private = false;
    s->only_public = s->elsewhere && o->other_hosts == HUB_OTHER_HOSTS_PUBLIC && !t->proxy &&
                     !o->environment_proxy && !hub_redirect_same_host(s->fetch->url, s->location);
    curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, s);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, s);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, s);
    curl_easy_setopt(e, CURLOPT_PRIVATE, s);
    return HUB_OK;
}

static enum hub_status add_header(struct transport_slot *s, const char *name, const char *value)
{
    char line[2048];
    const int n = snprintf(line, sizeof line, "%s: %s", name, value);
    struct curl_slist *list = n > 0 && n < (int)sizeof line ? curl_slist_append(s->headers, line) : NULL;
    HUB_TRY(hub_allocated(list, &s->error));
    s->headers = list;
    return HUB_OK;
}

static enum hub_status set_request(struct transport_slot *s)
{
    struct hub_fetch *f = s->fetch;
    char range[64];
    curl_slist_free_all(s->headers);
    s->headers = NULL;
    const uint64_t from = f->first + f->done;
    const bool ranged = f->by_range || from;
    if (ranged && f->count)
        snprintf(range, sizeof range, "%" PRIu64 "-%" PRIu64, from, f->first + f->count - 1);
    else
        snprintf(range, sizeof range, "%" PRIu64 "-", from);
    if (ranged)
        curl_easy_setopt(s->easy, CURLOPT_RANGE, range);
    if (ranged && *f->if_range)
        HUB_TRY(add_header(s, "If-Range", f->if_range));
    if (f->accept)
        HUB_TRY(add_header(s, "Accept", f->accept));
    if (f->as_stored) /* by hand: set as an option, the library would decode */
        HUB_TRY(add_header(s, "Accept-Encoding", "gzip"));
    if (f->head_only)
        curl_easy_setopt(s->easy, CURLOPT_NOBODY, 1L);
    if (f->post) {
        curl_easy_setopt(s->easy, CURLOPT_POST, 1L);
        curl_easy_setopt(s->easy, CURLOPT_POSTFIELDS, f->form ? f->form : "");
        if (f->form_type)
            HUB_TRY(add_header(s, "Content-Type", f->form_type));
    }
    curl_easy_setopt(s->easy, CURLOPT_HTTPHEADER, s->headers);
    if (curl_easy_setopt(s->easy, CURLOPT_URL, s->location ? s->location : f->url))
        return hub_no_memory(&s->error);
    return HUB_OK;
}

static enum hub_status start(struct transport_slot *s)
{
    s->state = RUNNING;
    s->head_done = false;
    s->refused = HUB_OK;
    s->attempt++;
    s->attempt_bytes = 0;
    s->problem.limit = PROBLEM_BYTES;
    s->problem.size = 0;
    s->fetch->answer = (struct hub_answer){0};
    if (!s->fetch->resumable)
        s->fetch->done = 0;
    enum hub_status st = set_up(s);
    if (!st)
        st = set_request(s);
    if (!st && curl_multi_add_handle(s->transport->multi, s->easy))
        st = hub_no_memory(&s->error);
    if (st)
        s->state = IDLE;
    return st;
}

static enum hub_failure failure_of(CURLcode code)
{
    switch (code) {
    case CURLE_OK:
        return HUB_FAILURE_STATUS;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
        return HUB_FAILURE_CONNECT;
    case CURLE_OPERATION_TIMEDOUT:
        return HUB_FAILURE_STALLED;
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_SSL_CONNECT_ERROR:
        return HUB_FAILURE_BROKEN;
    default:
        return HUB_FAILURE_FATAL;
    }
}

static enum hub_status transport_error(struct transport_slot *s, CURLcode code)
{
    const char *url = s->location ? s->location : s->fetch->url;
    struct hub_error *e = &s->error;
    if (s->was_private)
        return hub_fail_as(e, HUB_DENIED, "private-address",
                           "a redirect to %.200s leads to an address of this machine or of a private network "
                           "and is not followed",
                           url);
    if (code == CURLE_SSL_CONNECT_ERROR && !s->transport->answered_before)
        return hub_fail_as(e, HUB_IO, "no-tls",
                           "there is no secure connection to %.200s (%s): check whether it speaks https; a "
                           "hub itself speaks http://",
                           url, curl_easy_strerror(code));
    switch (failure_of(code)) {
    case HUB_FAILURE_STATUS:
    case HUB_FAILURE_CONNECT:
    case HUB_FAILURE_BROKEN:
    case HUB_FAILURE_STALLED:
        return hub_fail_as(e, HUB_IO, "unreachable", "%s: %s (%.200s)",
                           s->transport->answered_before ? "the remote stopped answering"
                                                         : "the remote cannot be reached",
                           curl_easy_strerror(code), url);
    case HUB_FAILURE_FATAL:
        break;
    }
    if (code == CURLE_OUT_OF_MEMORY)
        return hub_no_memory(e);
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CERTPROBLEM)
        return hub_fail_as(e, HUB_IO, "unreachable", "the certificate of %.200s is not valid: %s", url,
                           curl_easy_strerror(code));
    return hub_fail_as(e, HUB_CORRUPT, "protocol", "%s (%.200s)", curl_easy_strerror(code), url);
}

/* A well-formed success is complete when what was announced came. */
static enum hub_status check_complete(struct transport_slot *s)
{
    const struct hub_fetch *f = s->fetch;
    if (f->count && !f->head_only && f->done != f->count)
        return hub_fail_as(&s->error, HUB_IO, "unreachable",
                           "the answer ends after %" PRIu64 " of %" PRIu64 " bytes", f->done, f->count);
    return HUB_OK;
}

static bool may_repeat(const struct transport_slot *s)
{
    const struct hub_fetch *f = s->fetch;
    return f->resumable || f->restartable || (!f->post && f->done == 0);
}

/* An answer that sends us elsewhere: the next request goes there, if it may. */
static enum hub_status redirect(struct transport_slot *s)
{
    char *to = NULL, *copy;
    bool elsewhere = true;
    const char *from = s->fetch->url;
    if (curl_easy_getinfo(s->easy, CURLINFO_REDIRECT_URL, &to) || !to)
        return hub_fail_as(&s->error, HUB_CORRUPT, "protocol", "the server answered %u without a Location",
                           s->fetch->answer.status);
    if (s->redirects++ == MAX_REDIRECTS)
        return hub_fail_as(&s->error, HUB_CORRUPT, "protocol", "more than %d redirects from %.200s",
                           MAX_REDIRECTS, from);
    if (!hub_redirect_allowed(s->location ? s->location : from, to, &elsewhere))
        return hub_fail_as(&s->error, HUB_CORRUPT, "protocol", "a redirect to %.200s is not followed", to);
    if (elsewhere && s->transport->options.other_hosts == HUB_OTHER_HOSTS_NONE)
        return hub_fail_as(&s->error, HUB_DENIED, "other-host",
                           "the remote redirects to another host, and this is not followed: %.200s", to);
    HUB_TRY(hub_dup(&copy, to, &s->error));
    free(s->location);
    s->location = copy;
    s->elsewhere = s->elsewhere || elsewhere;
    return HUB_OK;
}

static bool is_redirect(unsigned status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* Where redirects led to is forgotten. */
static void go_back(struct transport_slot *s)
{
    free(s->location);
    s->location = NULL;
    s->redirects = 0;
    s->elsewhere = false;
}

/* A signed address that has run out: the way to it is gone once more. */
static bool ran_out(const struct transport_slot *s)
{
    const unsigned status = s->fetch->answer.status;
    return s->location && !s->asked_anew && s->fetch->done &&
           (status == 401 || status == 403 || status == 410);
}

static void wait_for(struct transport_slot *s, uint64_t ms)
{
    s->state = WAITING;
    s->wake_ms = hub_time_mono_ms() + ms;
}

static void trace(const struct transport_slot *s, CURLcode code)
{
    const struct hub_transport_options *o = &s->transport->options;
    char line[1024];
    curl_off_t us = 0;
    if (!o->trace)
        return;
    curl_easy_getinfo(s->easy, CURLINFO_TOTAL_TIME_T, &us);
    snprintf(line, sizeof line, "%s %.800s: %u%s%s, %" PRIu64 " bytes, %ld ms",
             s->fetch->head_only ? "HEAD" : "GET", s->location ? s->location : s->fetch->url,
             s->fetch->answer.status, code ? " " : "", code ? curl_easy_strerror(code) : "", s->attempt_bytes,
             (long)(us / 1000));
    o->trace(line, o->user);
}

/* The attempt is over: the fetch's outcome, unless another one was scheduled. */
static enum hub_status conclude(struct transport_slot *s, CURLcode code, bool *again)
{
    struct hub_transport *t = s->transport;
    enum hub_failure failure = failure_of(code);
    *again = false;
    trace(s, code);
    if (code == CURLE_OK && !s->head_done)
        s->refused = begin_body(s);
    if (s->refused)
        return s->refused;
    enum hub_status st = HUB_OK;
    if (code == CURLE_OK && is_redirect(s->fetch->answer.status)) {
        st = redirect(s);
        if (st)
            return st;
        s->attempt--;
        wait_for(s, 0);
        *again = true;
        return HUB_OK;
    }
    if (code == CURLE_OK && ran_out(s)) {
        s->asked_anew = true;
        go_back(s);
        wait_for(s, 0);
        *again = true;
        return HUB_OK;
    }
    if (code != CURLE_OK) {
        st = transport_error(s, code);
        if (s->was_private)
            failure = HUB_FAILURE_FATAL;
        if (code == CURLE_SSL_CONNECT_ERROR && !t->answered_before)
            failure = HUB_FAILURE_FATAL;
    } else if (!is_success(s->fetch->answer.status)) {
        st = hub_problem_read(&s->fetch->answer, hub_buf_view(&s->problem), &s->error);
    } else {
        st = check_complete(s);
        failure = HUB_FAILURE_BROKEN;
    }
    if (!st || !may_repeat(s))
        return st;
    if (s->error.of &&
        failure == HUB_FAILURE_STATUS) /* the server has waited, and says how far it is: who asks decides */
        return st;
    if (s->attempt_bytes >= PROGRESS_BYTES && s->fetch->resumable)
        s->attempt = 1;
    const struct hub_attempt attempt = {.number = s->attempt,
                                        .failure = failure,
                                        .http_status = s->fetch->answer.status,
                                        .retry_after_s = s->fetch->answer.retry_after_s,
                                        .answered_before = t->answered_before,
                                        .random = next_random(t)};
    uint64_t wait_ms = 0;
    if (!hub_retry_decide(&t->options.retry, &attempt, &wait_ms))
        return st;
    if (t->options.waiting)
        t->options.waiting(s->error.detail, s->attempt, wait_ms, t->options.user);
    wait_for(s, wait_ms);
    *again = true;
    return st;
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

static enum hub_status finish(struct transport_slot *s, enum hub_status st, struct hub_error *err)
{
    struct hub_fetch *fetch = s->fetch;
    s->state = IDLE;
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
        struct transport_slot *s = &t->slots[i];
        s->transport = t;
        if (s->state == IDLE) {
            s->fetch = take_submitted(t);
            if (!s->fetch)
                continue;
            s->attempt = 0;
            s->asked_anew = false;
            go_back(s);
            s->state = WAITING;
            s->wake_ms = now;
        }
        (*busy)++;
        if (s->state != WAITING || s->wake_ms > now)
            continue;
        const enum hub_status st = start(s);
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
        struct transport_slot *s = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        const CURLcode code = message->data.result; /* the message goes with the handle */
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&s);
        curl_multi_remove_handle(t->multi, s->easy);
        *any = true;
        bool again = false;
        const enum hub_status st = conclude(s, code, &again);
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
    if (t->heard_bytes * 1000 >= LOW_SPEED * (now - t->heard_ms)) {
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
        if (t->slots[i].state == WAITING)
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
        struct transport_slot *s = &t->slots[i];
        struct hub_fetch *fetch = s->fetch;
        if (s->state == RUNNING)
            curl_multi_remove_handle(t->multi, s->easy);
        s->state = IDLE;
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
