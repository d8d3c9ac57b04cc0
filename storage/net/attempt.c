/* One attempt of a request: its options, what it brings, and whether there is another. See attempt.h. */
#include "storage/net/attempt.h"

#include "storage/net/authorities.h"
#include "storage/net/problem.h"
#include "storage/net/redirect.h"
#include "storage/text/time.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROBLEM_BYTES = 64 * 1024, MAX_REDIRECTS = 5 };
enum { PROGRESS_BYTES = 48 * 1024 }; /* an attempt that brought so much was not in vain: it does not count */

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
    struct hub_transport_slot *s = user;
    hub_answer_line(&s->fetch->answer, (struct hub_view){data, size * count}, hub_time_now_s());
    return size * count;
}

/* The head is complete: the body begins, or there is none. */
static enum hub_status begin_body(struct hub_transport_slot *s)
{
    struct hub_fetch *f = s->fetch;
    s->head_done = true;
    s->transport->answered_before = true;
    if (!is_success(f->answer.status))
        return HUB_OK;
    s->transport->heard_ms = hub_time_mono_ms();
    return !f->head ? HUB_OK : f->head(f, &f->answer, &s->error);
}

static enum hub_status take_body(struct hub_transport_slot *s, struct hub_view bytes)
{
    struct hub_fetch *f = s->fetch;
    if (!is_success(f->answer.status)) {
        const size_t room = s->problem.limit - s->problem.size;
        return hub_buf_add(&s->problem, bytes.data, HUB_MIN(room, bytes.size), &s->error);
    }
    const uint64_t limit = f->limit ? f->limit : f->count;
    if (limit && (bytes.size > limit || f->done > limit - bytes.size))
        return hub_fail_as(&s->error, HUB_TOO_BIG, HUB_PROBLEM_TOO_LONG,
                           "the answer is longer than %" PRIu64 " bytes", limit);
    const enum hub_status st = f->body ? f->body(f, bytes, &s->error) : HUB_OK;
    if (!st)
        f->done += bytes.size;
    s->transport->heard_bytes += bytes.size;
    return st;
}

static size_t on_body(char *data, size_t size, size_t count, void *user)
{
    struct hub_transport_slot *s = user;
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
    struct hub_transport_slot *s = user;
    if (purpose == CURLSOCKTYPE_IPCXN && s->only_public && hub_address_private(&address->addr)) {
        s->was_private = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* ---- its beginning ---- */

static enum hub_status set_up(struct hub_transport_slot *s)
{
    const struct hub_transport *t = s->transport;
    const struct hub_transport_options *o = &t->options;
    if (!s->easy && !(s->easy = curl_easy_init()))
        return hub_no_memory(&s->error);
    CURL *e = s->easy;
    curl_easy_reset(e); /* connections and the DNS cache stay */
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    hub_set_authorities(e);
    curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L); /* see `redirect` */
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    /* one transfer a connection: parallel ranges are meant to be parallel */
    curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(e, CURLOPT_BUFFERSIZE, t->rate->per_s ? 16L * 1024 : 512L * 1024);
    curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)o->connect_timeout_ms);
    curl_easy_setopt(e, CURLOPT_LOW_SPEED_LIMIT, (long)HUB_LOW_SPEED);
    const unsigned stall_ms = s->fetch->stall_timeout_ms ? s->fetch->stall_timeout_ms : o->stall_timeout_ms;
    curl_easy_setopt(e, CURLOPT_LOW_SPEED_TIME, (long)((stall_ms + 999) / 1000));
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

static enum hub_status set_request(struct hub_transport_slot *s)
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
        HUB_TRY(hub_attempt_header(s, "If-Range", f->if_range));
    if (f->accept)
        HUB_TRY(hub_attempt_header(s, "Accept", f->accept));
    if (f->as_stored) /* by hand: set as an option, the library would decode */
        HUB_TRY(hub_attempt_header(s, "Accept-Encoding", "gzip"));
    if (f->head_only)
        curl_easy_setopt(s->easy, CURLOPT_NOBODY, 1L);
    if (f->sends)
        HUB_TRY(hub_sends_begin(s));
    if (f->removes)
        curl_easy_setopt(s->easy, CURLOPT_CUSTOMREQUEST, "DELETE");
    if (f->post) {
        curl_easy_setopt(s->easy, CURLOPT_POST, 1L);
        curl_easy_setopt(s->easy, CURLOPT_POSTFIELDS, f->form ? f->form : "");
        if (f->form_type)
            HUB_TRY(hub_attempt_header(s, "Content-Type", f->form_type));
        if (f->key)
            HUB_TRY(hub_attempt_header(s, "Idempotency-Key", f->key));
    }
    curl_easy_setopt(s->easy, CURLOPT_HTTPHEADER, s->headers);
    if (curl_easy_setopt(s->easy, CURLOPT_URL, s->location ? s->location : f->url))
        return hub_no_memory(&s->error);
    return HUB_OK;
}

enum hub_status hub_attempt_begin(struct hub_transport_slot *s)
{
    s->state = HUB_SLOT_RUNNING;
    s->head_done = false;
    s->refused = HUB_OK;
    s->attempt++;
    s->attempt_bytes = 0;
    s->problem.limit = s->fetch->problem ? s->fetch->problem->limit : PROBLEM_BYTES;
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
        s->state = HUB_SLOT_IDLE;
    return st;
}

/* ---- its end ---- */

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

static enum hub_status transport_error(struct hub_transport_slot *s, CURLcode code)
{
    const char *url = s->location ? s->location : s->fetch->url;
    struct hub_error *e = &s->error;
    if (s->was_private)
        return hub_fail_as(e, HUB_DENIED, HUB_PROBLEM_PRIVATE_ADDRESS,
                           "a redirect to %.200s leads to an address of this machine or of a private network "
                           "and is not followed",
                           url);
    if (code == CURLE_SSL_CONNECT_ERROR && !s->transport->answered_before)
        return hub_fail_as(e, HUB_IO, HUB_PROBLEM_NO_TLS,
                           "there is no secure connection to %.200s (%s): check whether it speaks https; a "
                           "hub itself speaks http://",
                           url, curl_easy_strerror(code));
    switch (failure_of(code)) {
    case HUB_FAILURE_STATUS:
    case HUB_FAILURE_CONNECT:
    case HUB_FAILURE_BROKEN:
    case HUB_FAILURE_STALLED:
        return hub_fail_as(e, HUB_IO, HUB_PROBLEM_UNREACHABLE, "%s: %s (%.200s)",
                           s->transport->answered_before ? "the remote stopped answering"
                                                         : "the remote cannot be reached",
                           curl_easy_strerror(code), url);
    case HUB_FAILURE_FATAL:
        break;
    }
    if (code == CURLE_OUT_OF_MEMORY)
        return hub_no_memory(e);
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CERTPROBLEM)
        return hub_fail_as(e, HUB_IO, HUB_PROBLEM_UNREACHABLE, "the certificate of %.200s is not valid: %s",
                           url, curl_easy_strerror(code));
    return hub_fail_as(e, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL, "%s (%.200s)", curl_easy_strerror(code), url);
}

/* A well-formed success is complete when what was announced came. */
static enum hub_status check_complete(struct hub_transport_slot *s)
{
    const struct hub_fetch *f = s->fetch;
    if (f->count && !f->head_only && f->done != f->count)
        return hub_fail_as(&s->error, HUB_IO, HUB_PROBLEM_UNREACHABLE,
                           "the answer ends after %" PRIu64 " of %" PRIu64 " bytes", f->done, f->count);
    return HUB_OK;
}

static bool may_repeat(const struct hub_transport_slot *s)
{
    const struct hub_fetch *f = s->fetch;
    return f->resumable || f->restartable || (!f->post && !f->removes && !f->sends && f->done == 0);
}

/* An answer that sends us elsewhere: the next request goes there, if it may. */
static enum hub_status redirect(struct hub_transport_slot *s)
{
    char *to = NULL, *copy;
    bool elsewhere = true;
    const char *from = s->fetch->url;
    if (curl_easy_getinfo(s->easy, CURLINFO_REDIRECT_URL, &to) || !to)
        return hub_fail_as(&s->error, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                           "the server answered %u without a Location", s->fetch->answer.status);
    if (s->redirects++ == MAX_REDIRECTS)
        return hub_fail_as(&s->error, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL, "more than %d redirects from %.200s",
                           MAX_REDIRECTS, from);
    if (!hub_redirect_allowed(s->location ? s->location : from, to, &elsewhere))
        return hub_fail_as(&s->error, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                           "a redirect to %.200s is not followed", to);
    if (elsewhere && s->transport->options.other_hosts == HUB_OTHER_HOSTS_NONE)
        return hub_fail_as(&s->error, HUB_DENIED, HUB_PROBLEM_OTHER_HOST,
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
void hub_attempt_go_back(struct hub_transport_slot *s)
{
    free(s->location);
    s->location = NULL;
    s->redirects = 0;
    s->elsewhere = false;
}

/* A signed address that has run out: the way to it is gone once more. */
static bool ran_out(const struct hub_transport_slot *s)
{
    const unsigned status = s->fetch->answer.status;
    return s->location && !s->asked_anew && s->fetch->done &&
           (status == 401 || status == 403 || status == 410);
}

static void wait_for(struct hub_transport_slot *s, uint64_t ms)
{
    s->state = HUB_SLOT_WAITING;
    s->wake_ms = hub_time_mono_ms() + ms;
}

static const char *method_of(const struct hub_fetch *f)
{
    return f->head_only ? "HEAD" : f->sends ? "PUT" : f->removes ? "DELETE" : f->post ? "POST" : "GET";
}

static void trace(const struct hub_transport_slot *s, CURLcode code)
{
    const struct hub_transport_options *o = &s->transport->options;
    char line[1024];
    curl_off_t us = 0;
    if (!o->trace)
        return;
    curl_easy_getinfo(s->easy, CURLINFO_TOTAL_TIME_T, &us);
    snprintf(line, sizeof line, "%s %.800s: %u%s%s, %" PRIu64 " bytes, %ld ms", method_of(s->fetch),
             s->location ? s->location : s->fetch->url, s->fetch->answer.status, code ? " " : "",
             code ? curl_easy_strerror(code) : "", s->attempt_bytes, (long)(us / 1000));
    o->trace(line, o->user);
}

/* The same attempt goes on at once: the answer redirects it, or the address of a redirect has expired. */
static enum hub_status follow(struct hub_transport_slot *s, bool *again)
{
    if (is_redirect(s->fetch->answer.status)) {
        HUB_TRY(redirect(s));
        s->attempt--;
    } else if (ran_out(s)) {
        s->asked_anew = true;
        hub_attempt_go_back(s);
    } else {
        return HUB_OK;
    }
    wait_for(s, 0);
    *again = true;
    return HUB_OK;
}

/* For a caller who reads more of it than the error has. */
static enum hub_status keep_problem(struct hub_transport_slot *s)
{
    struct hub_buf *out = s->fetch->problem;
    if (!out)
        return HUB_OK;
    out->size = 0;
    return hub_buf_add_view(out, hub_buf_view(&s->problem), &s->error);
}

/* What is wrong with the answer, and what sort of failure that is. */
static enum hub_status judge(struct hub_transport_slot *s, CURLcode code, enum hub_failure *failure)
{
    *failure = failure_of(code);
    if (code != CURLE_OK) {
        if (s->was_private || (code == CURLE_SSL_CONNECT_ERROR && !s->transport->answered_before))
            *failure = HUB_FAILURE_FATAL;
        return transport_error(s, code);
    }
    if (!is_success(s->fetch->answer.status))
        HUB_TRY(keep_problem(s));
    if (!is_success(s->fetch->answer.status))
        return hub_problem_read(&s->fetch->answer, hub_buf_view(&s->problem), &s->error);
    *failure = HUB_FAILURE_BROKEN;
    return check_complete(s);
}

/* Schedule another attempt, if one is worth it. */
static bool try_again(struct hub_transport_slot *s, enum hub_failure failure)
{
    struct hub_transport *t = s->transport;
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
        return false;
    if (t->options.waiting)
        t->options.waiting(s->error.detail, s->attempt, wait_ms, t->options.user);
    wait_for(s, wait_ms);
    return true;
}

enum hub_status hub_attempt_end(struct hub_transport_slot *s, CURLcode code, bool *again)
{
    enum hub_failure failure;
    *again = false;
    trace(s, code);
    if (code == CURLE_OK && !s->head_done)
        s->refused = begin_body(s);
    if (s->refused)
        return s->refused;
    if (code == CURLE_OK)
        HUB_TRY(follow(s, again));
    if (*again)
        return HUB_OK;
    const enum hub_status st = judge(s, code, &failure);
    if (!st || !may_repeat(s))
        return st;
    /* a server that says how far it is has waited: the caller decides */
    *again = !(s->error.of && failure == HUB_FAILURE_STATUS) && try_again(s, failure);
    return st;
}
