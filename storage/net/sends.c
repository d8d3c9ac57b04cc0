/* The body of a PUT: see hub_sends in transport.h. */
#include "storage/net/attempt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { ASK_FIRST = 1024 * 1024 }; /* bytes: a larger body waits until the server wants it */

static enum hub_status read_file(const struct hub_sends *b, uint64_t at, char *out, size_t size, size_t *got,
                                 struct hub_error *err)
{
    const ssize_t n = pread(b->fd, out, size, (off_t)at);
    if (n < 0)
        return hub_fail_errno(err, errno, "it cannot be read");
    *got = (size_t)n;
    return n ? HUB_OK
             : hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_CHANGED,
                           "it has become shorter than %" PRIu64 " bytes while it was sent",
                           b->first + b->count);
}

static size_t on_read(char *out, size_t size, size_t count, void *user)
{
    struct hub_transport_slot *s = user;
    struct hub_sends *b = s->fetch->sends;
    const size_t want = (size_t)HUB_MIN((uint64_t)(size * count), b->count - b->sent);
    const uint64_t at = b->first + b->sent;
    size_t n = 0;
    if (!want)
        return 0;
    s->refused = b->read ? b->read(s->fetch, at, out, want, &n, &s->error)
                         : read_file(b, at, out, want, &n, &s->error);
    if (s->refused)
        return CURL_READFUNC_ABORT;
    if (b->passing)
        b->passing(s->fetch, at, (struct hub_view){out, n});
    b->sent += n;
    s->attempt_bytes += n;
    s->transport->heard_bytes += n;
    hub_rate_add(s->transport->rate, n);
    return n;
}

/* The library sends it again, as where a connection that it kept was closed. */
static int on_seek(void *user, curl_off_t offset, int origin)
{
    struct hub_transport_slot *s = user;
    if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > s->fetch->sends->count)
        return CURL_SEEKFUNC_FAIL;
    s->fetch->sends->sent = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

static enum hub_status add_headers(struct hub_transport_slot *s)
{
    const struct hub_sends *b = s->fetch->sends;
    char range[96];
    HUB_TRY(hub_attempt_header(s, "Content-Type", b->type ? b->type : "application/octet-stream"));
    if (b->over != HUB_SENDS_OVER_ANY)
        HUB_TRY(hub_attempt_header(s, b->over == HUB_SENDS_OVER_NOTHING ? "If-None-Match" : "If-Match", "*"));
    HUB_TRY(hub_attempt_header(s, "Expect", b->count > ASK_FIRST ? "100-continue" : ""));
    if (b->digest)
        HUB_TRY(hub_attempt_header(s, "Repr-Digest", b->digest));
    if (b->count == b->size)
        return HUB_OK;
    snprintf(range, sizeof range, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, b->first, b->first + b->count - 1,
             b->size);
    return hub_attempt_header(s, "Content-Range", range);
}

enum hub_status hub_sends_begin(struct hub_transport_slot *s)
{
    CURL *e = s->easy;
    s->fetch->sends->sent = 0;
    curl_easy_setopt(e, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(e, CURLOPT_INFILESIZE_LARGE, (curl_off_t)s->fetch->sends->count);
    curl_easy_setopt(e, CURLOPT_UPLOAD_BUFFERSIZE, s->transport->rate->per_s ? 16L * 1024 : 512L * 1024);
    curl_easy_setopt(e, CURLOPT_READFUNCTION, on_read);
    curl_easy_setopt(e, CURLOPT_READDATA, s);
    curl_easy_setopt(e, CURLOPT_SEEKFUNCTION, on_seek);
    curl_easy_setopt(e, CURLOPT_SEEKDATA, s);
    return add_headers(s);
}
