/* An answer as it comes: into a sink, a buffer or memory; after a break it goes on where it was, where the
 * remote gives parts of it. */
#include "client/lib/internal.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- what the head says of the rows ---- */

/* "10,39" or "(10, 39)" as numbers; an empty text is no shape, "()" one of no dimensions. */
static int read_shape(const char *text, int64_t out[MINARI_MAX_DIMS])
{
    int n = 0;
    if (!*text)
        return -1;
    for (const char *at = text; *at;) {
        char *end;
        if (*at < '0' || *at > '9') {
            if (!strchr("(), ", *at))
                return -1;
            at++;
            continue;
        }
        const long long value = strtoll(at, &end, 10);
        if (n == MINARI_MAX_DIMS || value == LLONG_MAX)
            return -1;
        out[n++] = value;
        at = end;
    }
    return n;
}

static void read_info(const struct hub_answer *head, struct minari_rows_info *info)
{
    *info = (struct minari_rows_info){.nonfinite = head->nonfinite};
    memcpy(info->media_type, head->type, sizeof info->media_type);
    info->ndim = !*head->shape && *head->dtype ? 0 /* one element alone */
                                               : read_shape(head->shape, info->shape);
    memcpy(info->dtype, head->dtype, sizeof info->dtype);
}

/* ---- going on ---- */

/* "\"e116f8\"" of a URL as "1a2b3c4d-e116f8"; empty where it cannot be part of a file's name. */
static enum hub_status write_tag(const char *url, const char *etag, char out[MINARI_TAG_CHARS],
                                 struct hub_error *err)
{
    enum { URL_BYTES = 4 };
    static const char fit[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._-";
    uint8_t digest[HUB_DIGEST_MAX];
    const size_t size = strspn(etag + (*etag == '"'), fit);
    *out = '\0';
    if (!size || etag[1 + size] != '"' || 2 * URL_BYTES + 1 + size >= MINARI_TAG_CHARS)
        return HUB_OK;
    HUB_TRY(hub_digest_of(HUB_SHA256, hub_view_of(url), digest, err));
    hub_hex(digest, URL_BYTES, out);
    snprintf(out + 2 * URL_BYTES, MINARI_TAG_CHARS - 2 * URL_BYTES, "-%.*s", (int)size, etag + 1);
    return HUB_OK;
}

/* Ask for the rest, if the part that is there is of this URL. */
static enum hub_status request_rest(const struct minari_resume *resume, struct hub_fetch *fetch,
                                    struct hub_error *err)
{
    char etag[MINARI_TAG_CHARS + 2], tag[MINARI_TAG_CHARS];
    const char *dash = resume ? strchr(resume->tag, '-') : NULL;
    if (!dash || !resume->offset)
        return HUB_OK;
    snprintf(etag, sizeof etag, "\"%s\"", dash + 1);
    HUB_TRY(write_tag(fetch->url, etag, tag, err));
    if (strcmp(tag, resume->tag) != 0)
        return HUB_OK;
    fetch->by_range = true;
    fetch->first = resume->offset;
    memcpy(fetch->if_range, etag, sizeof etag);
    return HUB_OK;
}

static void begin_anew(struct hub_taken *a, struct hub_fetch *fetch)
{
    fetch->by_range = false;
    fetch->first = fetch->done = 0;
    *fetch->if_range = '\0';
    a->used = 0;
    if (a->memory)
        a->memory->size = 0;
}

/* What a sink without a way back has taken stays taken. */
static bool goes_back(const struct hub_taken *a)
{
    return a->resume || !a->sink;
}

static enum hub_status report_head(const struct hub_taken *a, const struct hub_fetch *fetch,
                                   const struct hub_answer *head, struct hub_error *err)
{
    struct minari_resume *resume = a->resume;
    *resume->tag = '\0';
    if (fetch->resumable)
        HUB_TRY(write_tag(fetch->url, head->etag, resume->tag, err));
    resume->offset = fetch->first + fetch->done;
    resume->total = head->has_range ? head->total : head->has_length ? head->length : 0;
    return resume->begin && resume->begin(resume) ? hub_fail(err, HUB_CANCELLED, "stopped") : HUB_OK;
}

static enum hub_status answer_head(struct hub_fetch *fetch, const struct hub_answer *head,
                                   struct hub_error *err)
{
    struct hub_taken *a = fetch->user;
    const uint64_t from = fetch->first + fetch->done;
    if (head->status == 206 && (!head->has_range || head->first != from || head->last + 1 != head->total))
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                           "the server sent another part than the one from byte %" PRIu64, from);
    if (head->status != 206 && from && !goes_back(a))
        return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_CHANGED, "the answer broke off, and %s",
                           strcmp(head->etag, fetch->if_range) == 0 ? "the server no longer sends parts of it"
                                                                    : "the file has changed");
    if (head->status != 206)
        begin_anew(a, fetch);
    fetch->resumable = !fetch->post && *head->etag && (head->parts || head->status == 206);
    memcpy(fetch->if_range, head->etag, sizeof fetch->if_range);
    if (a->info)
        read_info(head, a->info);
    return a->resume ? report_head(a, fetch, head, err) : HUB_OK;
}

static enum hub_status answer_body(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err)
{
    struct hub_taken *a = fetch->user;
    if (a->sink)
        return a->sink(bytes.data, bytes.size, a->user) ? hub_fail(err, HUB_CANCELLED, "stopped") : HUB_OK;
    if (a->memory)
        return hub_buf_add(a->memory, bytes.data, bytes.size, err);
    if (bytes.size > a->capacity - a->used)
        return hub_fail(err, HUB_TOO_BIG, "the answer takes more than the buffer's %zu bytes", a->capacity);
    memcpy(a->buffer + a->used, bytes.data, bytes.size);
    a->used += bytes.size;
    return HUB_OK;
}

enum hub_status hub_take(struct minari_client *client, const char *url, const char *json, struct hub_taken *a,
                         struct hub_error *err)
{
    if (a->sink) {
        a->resume = client->resume;
        client->resume = NULL;
    }
    struct hub_fetch fetch = {.url = url,
                              .post = json,
                              .form = json,
                              .form_type = "application/json",
                              .restartable = goes_back(a),
                              .limit = a->memory ? a->memory->limit : 0,
                              .head = answer_head,
                              .body = answer_body,
                              .user = a};
    HUB_TRY(request_rest(a->resume, &fetch, err));
    enum hub_status st = hub_transport_get(client->remote.transport, &fetch, err);
    if (st && fetch.answer.status == 416 && goes_back(a)) { /* nothing follows what is there */
        begin_anew(a, &fetch);
        st = hub_transport_get(client->remote.transport, &fetch, err);
    }
    if (!st && a->info)
        a->info->bytes = fetch.first + fetch.done;
    return st;
}
